/* stale.c - OMPGPU_CHECK=stale: data that gets lost between host and device, on the emulated
 * device.
 *
 * Each side has its own copy of what is mapped, and a program may use both as it likes.  What is
 * reported loses a value for good, and is nobody's intention:
 *
 *   - the copy back at the end of a mapping overwrites what the host has changed since the copy to
 *     the device with the very bytes that the device got then.  A mapping remembers those bytes;
 *     they are compared in words, so that two sides that change one value do not look like that.
 *   - a construct is to copy an item back at its end, but something in it has removed the mapping.
 */
#include <string.h>
#include "hostrt/core/core.h"

enum { WORD = 8 };

static bool is_watched(const struct ompgpu_device *dev)
{
    return (ompgpu_settings.watch & OMPGPU_WATCH_STALE) && dev->plugin == &ompgpu_emu_plugin;
}

/* The device has got these bytes of the host.  What is not all of a mapping changes only what is
 * remembered already; later: nobody knows when they are read. */
void ompgpu_stale_sent(const struct ompgpu_device *dev, struct ompgpu_entry *e, uintptr_t begin,
                       size_t size, bool later)
{
    size_t all = e->end - e->begin;
    if (!is_watched(dev))
        return;
    if (!e->sent && size == all)
        e->sent = ompgpu_xalloc(all);
    if (e->sent && later) {
        ompgpu_xfree(e->sent);
        e->sent = NULL;
    }
    if (e->sent)
        memcpy(e->sent + (begin - e->begin), (const void *)begin, size);
}

/* The first word that only the host has changed; size: none. */
static size_t find_lost(const char *host, const char *device, const char *sent, size_t size)
{
    for (size_t at = 0; at < size; at += WORD) {
        size_t n = size - at < WORD ? size - at : WORD;
        if (memcmp(host + at, sent + at, n) != 0 && memcmp(device + at, sent + at, n) == 0)
            return at;
    }
    return size;
}

void ompgpu_stale_fetch(const struct ompgpu_device *dev, const struct ompgpu_where *where,
                        const struct ompgpu_back_copy *c)
{
    const struct ompgpu_entry *e = c->entry;
    size_t from = c->begin - e->begin, at = c->size;
    if (!is_watched(dev) || !e->sent)
        return;
    if (!ompgpu_refs(e) && !e->holds)
        at = find_lost((const char *)c->begin, (const char *)e->device + from, e->sent + from,
                       c->size);
    memcpy(e->sent + from, (const char *)e->device + from, c->size);
    if (at < c->size)
        ompgpu_check_report(OMPGPU_CHECK_STALE, where,
                            "'%s': the host has changed byte %zu since the copy to the device "
                            "(%s:%u), and the copy back undoes that; 'target update to(…)' after "
                            "the change",
                            c->map->name ? c->map->name : "?", at, e->file ? e->file : "?",
                            e->line);
}

/* ------------------------------------------------------------------ removed too early */
/* What the device had changed when its mapping was removed without a copy back, until the range is
 * mapped again: the last of them, guarded by the whole table's locks.  Only a construct that wanted
 * it back makes a mistake of it. */
enum { LOST = 64 };
static struct lost {
    const struct ompgpu_device *dev; /* NULL: free */
    uintptr_t begin, end;
    const char *file;
    unsigned line; /* of what removed it */
} lost[LOST];

void ompgpu_stale_removed(const struct ompgpu_device *dev, const struct ompgpu_where *where,
                          const struct ompgpu_entry *e)
{
    static unsigned next;
    if (is_watched(dev) && e->sent && !e->nattachments &&
        memcmp((const void *)e->device, e->sent, e->end - e->begin) != 0)
        lost[next++ % LOST] = (struct lost){ dev, e->begin, e->end, where->file, where->line };
}

void ompgpu_stale_created(const struct ompgpu_entry *e)
{
    for (struct lost *l = lost; l < lost + LOST; l++)
        if (l->dev && e->begin < l->end && e->end > l->begin)
            l->dev = NULL;
}

void ompgpu_stale_missing(const struct ompgpu_device *dev, const struct ompgpu_where *where,
                          const struct ompgpu_map *m)
{
    uintptr_t begin = (uintptr_t)m->begin;
    for (struct lost *l = lost; l < lost + LOST && (m->flags & OMPGPU_MAP_FROM); l++)
        if (l->dev == dev && begin < l->end && begin + m->size > l->begin) {
            l->dev = NULL;
            ompgpu_check_report(OMPGPU_CHECK_STALE, where,
                                "'%s' is to be copied back here, but its mapping was removed "
                                "inside of this construct, at %s:%u; what the device computed is "
                                "lost",
                                m->name ? m->name : "?", l->file ? l->file : "?", l->line);
        }
}
