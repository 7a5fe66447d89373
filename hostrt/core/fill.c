/* fill.c - copies to the device, and mappings that are busy.
 *
 * A construct changes the present table first and lists its copies meanwhile; it makes them when
 * the table is as it should be.  To do so it gives up the table: other host threads go on
 * with data of their own.  What is being copied, in either direction, is busy: another construct
 * waits for it before it begins, and holds nothing then.  So no thread finds a mapping whose data
 * is not there yet, or one that is half gone, and threads never wait for each other in a circle. */
#include <string.h>
#include "hostrt/core/core.h"
#include "hostrt/core/deferred.h"

/* ------------------------------------------------------------------ the list */
static struct ompgpu_fill_copy *new_copy(struct ompgpu_fill *f)
{
    if (!f->copies)
        f->copies = f->few, f->room = OMPGPU_FEW_FILL;
    if (f->n == f->room) {
        struct ompgpu_fill_copy *more = ompgpu_xalloc(2 * (size_t)f->room * sizeof *more);
        if (!more)
            return NULL;
        memcpy(more, f->copies, f->n * sizeof *more);
        if (f->copies != f->few)
            ompgpu_xfree(f->copies);
        f->copies = more, f->room *= 2;
    }
    return &f->copies[f->n++];
}

int ompgpu_fill_add(struct ompgpu_fill *f, struct ompgpu_entry *e, const struct ompgpu_map *m,
                    uintptr_t begin, size_t size)
{
    struct ompgpu_fill_copy *c = new_copy(f);
    if (c)
        *c = (struct ompgpu_fill_copy){ .entry = e, .map = m, .begin = begin, .size = size };
    return c ? 0 : -1;
}

int ompgpu_fill_add_pointer(struct ompgpu_fill *f, struct ompgpu_entry *e,
                            const struct ompgpu_map *m, uintptr_t host, uintptr_t value,
                            uintptr_t before)
{
    struct ompgpu_fill_copy *c = new_copy(f);
    if (c)
        *c = (struct ompgpu_fill_copy){
            .entry = e, .map = m, .begin = host, .value = value, .before = before
        };
    return c ? 0 : -1;
}

void ompgpu_fill_free(struct ompgpu_device *dev, struct ompgpu_fill *f)
{
    if (f->pack)
        ompgpu_pack_release(dev, f->pack);
    if (f->copies != f->few)
        ompgpu_xfree(f->copies);
}

/* ------------------------------------------------------------------ copying */
struct sender {
    struct ompgpu_device *dev;
    struct ompgpu_task *task; /* into its queue; NULL: now */
    struct ompgpu_pack *pack; /* goes there before the rest; NULL: none */
};

static int send(const struct sender *s, const struct ompgpu_entry *e, uintptr_t host,
                const void *src, size_t size)
{
    const struct ompgpu_plugin *plugin = s->dev->plugin;
    if (ompgpu_pack_add(s->pack, e, host, src, size))
        return 0;
    void *dst = (void *)(e->device + (host - e->begin));
    return s->task
               ? plugin->queue_to_device(s->dev->ordinal, s->task->queue->handle, dst, src, size)
               : plugin->to_device(s->dev->ordinal, dst, src, size);
}

static int send_pointer(const struct sender *s, const struct ompgpu_entry *e, uintptr_t host,
                        uintptr_t value)
{
    const void *src = s->task ? ompgpu_task_keep(s->task, &value, sizeof value) : &value;
    return src ? send(s, e, host, src, sizeof value) : -1;
}

/* Then the pointers in it that were attached before this construct; its own are in the list. */
static int send_bytes(const struct sender *s, const struct ompgpu_fill_copy *c, uint64_t number)
{
    const struct ompgpu_attachment *a;
    if (send(s, c->entry, c->begin, (const void *)c->begin, c->size))
        return -1;
    for (unsigned i = ompgpu_first_attachment(c->entry, c->begin);
         (a = ompgpu_attachment_before(c->entry, i, c->begin + c->size)); i++)
        if (ompgpu_is_attached(a) && a->construct != number &&
            send_pointer(s, c->entry, a->host, a->value))
            return -1;
    return 0;
}

static int watch(const struct sender *s, const struct ompgpu_where *where,
                 const struct ompgpu_fill_copy *c, double start)
{
    return c->size && ompgpu_watched() &&
                   ompgpu_watch_copy(where, s->dev, true, c->map, c->size, start)
               ? -1
               : 0;
}

/* All that was gathered for the block; the time is the first one's. */
static int send_pack(struct ompgpu_fill *f, const struct sender *s,
                     const struct ompgpu_where *where)
{
    double start = ompgpu_watch_clock();
    f->failed = f->n ? f->copies[0].map : NULL;
    if (ompgpu_pack_send(s->dev, s->pack))
        return -1;
    for (unsigned i = 0; i < f->n; i++, start = ompgpu_watch_clock())
        if (f->copies[i].entry->pack == s->pack && watch(s, where, &f->copies[i], start))
            return -1;
    return 0;
}

static int fill_all(struct ompgpu_fill *f, struct ompgpu_device *dev, struct ompgpu_task *task,
                    uint64_t number, const struct ompgpu_where *where)
{
    const struct sender s = { dev, task, f->pack };
    for (; f->done < f->n; f->done++) {
        const struct ompgpu_fill_copy *c = &f->copies[f->done];
        double start = task ? 0 : ompgpu_watch_clock();
        bool packed = s.pack && c->entry->pack == s.pack;
        if (c->size && ompgpu_watched())
            ompgpu_stale_sent(dev, c->entry, c->begin, c->size, task != NULL);
        if ((c->size ? send_bytes(&s, c, number)
                     : send_pointer(&s, c->entry, c->begin, c->value)) ||
            (!packed && watch(&s, where, c, start))) {
            f->failed = c->map;
            return -1;
        }
    }
    return s.pack ? send_pack(f, &s, where) : 0;
}

int ompgpu_fill_run(struct ompgpu_fill *f, struct ompgpu_device *dev, struct ompgpu_task *task,
                    uint64_t number, const struct ompgpu_where *where)
{
    ompgpu_copying = where;
    int bad = fill_all(f, dev, task, number, where);
    ompgpu_copying = NULL;
    return bad;
}

/* ------------------------------------------------------------------ busy mappings */
static void set_busy(struct ompgpu_device *dev, struct ompgpu_entry *e, bool busy)
{
    unsigned *n = ompgpu_is_wide(e) ? &dev->wide_busy : &ompgpu_part_at(dev, e->begin)->nbusy;
    if (e->busy != busy)
        *n += busy ? 1 : -1;
    e->busy = busy;
}

void ompgpu_busy_set(struct ompgpu_device *dev, const struct ompgpu_fill *f,
                     const struct ompgpu_back *b, bool busy)
{
    for (unsigned i = 0; f && i < f->n; i++)
        set_busy(dev, f->copies[i].entry, busy);
    for (unsigned i = 0; b && i < b->n; i++)
        set_busy(dev, b->copies[i].entry, busy);
    if (!busy)
        ompgpu_tables_copied(dev);
}

/* In all that is mapped of a range, or where only an extended range has its address. */
static bool is_busy(struct ompgpu_device *dev, uintptr_t begin, size_t size, bool whole)
{
    uintptr_t at = begin, end = begin + size;
    const struct ompgpu_entry *e = ompgpu_present_find(dev, at, size);
    if (!e)
        e = ompgpu_present_reach(dev, at, whole);
    for (; e && !e->busy; at = e->end, e = ompgpu_present_find(dev, at, end - at))
        if (e->end >= end)
            return false;
    return e != NULL;
}

/* In what is held. */
static bool anything_busy(const struct ompgpu_device *dev, unsigned held)
{
    unsigned n = held & OMPGPU_WHOLE ? dev->wide_busy : 0;
    for (unsigned left = held & ~OMPGPU_WHOLE; left; left &= left - 1)
        n += dev->parts[__builtin_ctz(left)].nbusy;
    return n;
}

bool ompgpu_any_busy(struct ompgpu_device *dev, const struct ompgpu_map *maps, unsigned n,
                     unsigned held)
{
    const bool any = anything_busy(dev, held), whole = held & OMPGPU_WHOLE;
    for (unsigned i = 0; any && i < n; i++) {
        const struct ompgpu_map *m = &maps[i];
        if (m->begin && is_busy(dev, (uintptr_t)m->begin, m->size, whole))
            return true;
        if ((m->flags & OMPGPU_MAP_ATTACH) &&
            is_busy(dev, (uintptr_t)m->attach, sizeof(void *), whole))
            return true;
    }
    return false;
}

/* In a child of fork: nobody makes those copies.  NULL: there are none left. */
static struct ompgpu_entry *find_abandoned(struct ompgpu_device *dev)
{
    struct ompgpu_entry *e = ompgpu_present_next(dev, 0);
    for (; e && (ompgpu_refs(e) || e->holds); e = ompgpu_present_next(dev, e->end))
        set_busy(dev, e, false);
    return e;
}

void ompgpu_busy_vanished(struct ompgpu_device *dev)
{
    unsigned held = ompgpu_tables_lock(dev);
    bool any = anything_busy(dev, held);
    for (struct ompgpu_entry *e; any && (e = find_abandoned(dev));) {
        set_busy(dev, e, false);
        ompgpu_detach(dev, e);
        ompgpu_present_remove(dev, e);
        ompgpu_data_drop(dev, e);
    }
    ompgpu_tables_unlock(dev, held);
}
