/* stale.c - OMPGPU_CHECK=stale, stale-all, leak: data that gets lost between host and device, on
 * the emulated device, and values that one side reads after the other has changed them.
 *
 * Each side has its own copy of what is mapped, and a program may use both as it likes.  So a
 * mapping remembers what both sides had when they last agreed (agreed.c), or when the mapping was
 * made without a copy to the device (`agreed` of the host, `had` of the device).  From that it is
 * known who has changed what, by value: what is written again as it was is no change, but where
 * stores of the host are seen (reads.c): then `had` is what the device has at that time.
 *
 *   - lost: the copy back at the end of a mapping overwrites what the host has changed since the
 * copy to the device with the very bytes that the device got then.  They are compared in words, so
 * that two sides that change one value do not look like that.
 *   - lost: a construct is to copy an item back at its end, but something in it has removed the
 * mapping.
 *   - old: a region reads what only the host has changed.  Before it is launched, such bytes are
 * noted in the device's shadow, where checked code finds them (emu/check.c).
 *   - old: a region runs, and only the host has changed a declare target variable.
 *   - old: the host reads what only a region has changed (reads.c).
 *   - old: the device's value of a mapping that ends without a copy back, and an item of `update`
 * that is not mapped.
 *   - leak: a mapping is there when the program ends.
 *
 * A valid program may read an old copy on purpose, so such reads are no mistakes for certain, but
 * suspects (check.c).
 *
 * Pointers that are attached differ on both sides, and are left out. */
#define _GNU_SOURCE 1 /* dl_iterate_phdr */
#include <limits.h>
#include <link.h>
#include <string.h>
#include "hostrt/core/core.h"
#include "hostrt/core/deferred.h"

enum { WORD = 8 };

void ompgpu_stale_start(const struct ompgpu_plugin *plugin)
{
    if (plugin == &ompgpu_emu_plugin &&
        (ompgpu_checks(OMPGPU_CHECK_STALE) || ompgpu_checks(OMPGPU_CHECK_LEAK))) {
        ompgpu_settings.watch |= OMPGPU_WATCH_STALE;
        ompgpu_check_await_status(); /* ompgpu_stale_end comes too late for that */
    }
}

bool ompgpu_stale_watches(const struct ompgpu_device *dev)
{
    return (ompgpu_settings.watch & OMPGPU_WATCH_STALE) && dev->plugin == &ompgpu_emu_plugin &&
           !ompgpu_unified();
}

static const char *or_unknown(const char *text) { return text ? text : "?"; }

static void forget(struct ompgpu_entry *e)
{
    ompgpu_xfree(e->agreed);
    ompgpu_xfree(e->had);
    e->agreed = NULL, e->had = NULL, e->unsent = false;
}

bool ompgpu_stale_compares(const struct ompgpu_device *dev)
{
    return ompgpu_stale_watches(dev) && ompgpu_checks(OMPGPU_CHECK_STALE);
}

/* ------------------------------------------------------------------ what both sides had */
/* The device is about to get these bytes of the host.  What is not all of a mapping changes only
 * what is remembered already; later: nobody knows when they are read. */
void ompgpu_stale_sent(const struct ompgpu_device *dev, struct ompgpu_entry *e, uintptr_t begin,
                       size_t size, bool later)
{
    size_t all = e->end - e->begin, at = begin - e->begin;
    if (!ompgpu_stale_compares(dev))
        return;
    if (later || (size == all && e->had))
        forget(e);
    if (!later && size == all)
        ompgpu_agreed_start(e, (const void *)begin);
    else if (e->agreed)
        ompgpu_agreed_set(e, begin, size, (const void *)begin);
    if (e->had)
        memcpy(e->had + at, (const void *)begin, size);
}

/* Nothing is copied to the device: what the host has or had, and what the device's memory has. */
static void note_both(struct ompgpu_entry *e, const void *host)
{
    size_t all = e->end - e->begin;
    e->had = ompgpu_xalloc(all);
    if (!e->had || !ompgpu_agreed_start(e, host)) {
        forget(e);
        return;
    }
    memcpy(e->had, (const void *)e->device, all);
    e->unsent = true;
}

/* Has the device changed anything in the mapping? */
static bool device_has_changed(const struct ompgpu_entry *e)
{
    const void *device = (const void *)e->device;
    size_t all = e->end - e->begin;
    return e->had ? memcmp(device, e->had, all) != 0
                  : ompgpu_agreed_same(e, device, e->begin, e->end) < e->end;
}

/* From there on, no further than to `end`, the host has changed nothing: where that ends. */
static uintptr_t skip_unchanged(const struct ompgpu_entry *e, uintptr_t from, uintptr_t end)
{
    return ompgpu_agreed_same(e, (const void *)e->begin, from, end);
}

/* Some bytes of a mapping, from a place on: what both sides have and had. */
struct some {
    const char *host, *device, *host_had, *device_had;
    size_t size;
    struct ompgpu_agreed agreed;
};

static void look_at(struct some *s, const struct ompgpu_entry *e, uintptr_t at, size_t most)
{
    s->agreed = ompgpu_agreed_at(e, at);
    s->size = s->agreed.size < most ? s->agreed.size : most;
    s->host = (const char *)at, s->device = (const char *)e->device + (at - e->begin);
    s->host_had = s->agreed.bytes;
    s->device_had = e->had ? e->had + (at - e->begin) : s->agreed.bytes;
}

static bool only_host_changed(const struct some *s, size_t i)
{
    return s->agreed.known && s->host[i] != s->host_had[i] && s->device[i] == s->device_had[i];
}

/* Others would have to be compared for each region. */
static bool is_small(const struct ompgpu_entry *e)
{
    enum { SMALL = 4096 };
    return e->end - e->begin <= SMALL;
}

static int has_address(struct dl_phdr_info *object, size_t size, void *p)
{
    (void)size;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *s = &object->dlpi_phdr[i];
        if (s->p_type == PT_LOAD && *(uintptr_t *)p - object->dlpi_addr - s->p_vaddr < s->p_memsz)
            return 1;
    }
    return 0;
}

/* Not by dladdr(), which waits for who has the dynamic linker's lock. */
static bool is_address(const char *word)
{
    uintptr_t p;
    memcpy(&p, word, sizeof p);
    return dl_iterate_phdr(has_address, &p) != 0;
}

/* A declare target variable has its initialiser on the device.  So it had on the host, and what
 * differs now the host has changed, but for addresses of variables and functions. */
void ompgpu_stale_variable(const struct ompgpu_device *dev, struct ompgpu_entry *e)
{
    size_t all = e->end - e->begin;
    if (!ompgpu_stale_compares(dev) || (!is_small(e) && !ompgpu_reads_seen()))
        return;
    char *host = ompgpu_xalloc(all), *device = (char *)e->device;
    for (size_t at = 0; at < all && host; at += WORD) {
        size_t n = all - at < WORD ? all - at : WORD;
        memcpy(host + at, (const char *)e->begin + at, n);
        if (n < WORD || !is_address(host + at) || !is_address(device + at))
            memcpy(host + at, device + at, n);
    }
    if (host)
        note_both(e, host);
    if (e->agreed && memcmp(host, e->had, all) == 0) {
        ompgpu_xfree(e->had);
        e->had = NULL;
    }
    ompgpu_xfree(host);
}

/* ------------------------------------------------------------------ lost at the end */
struct pieces { /* of an entry, between attached pointers */
    const struct ompgpu_device *dev;
    struct ompgpu_entry *e;
    bool found;
    uintptr_t at; /* on the host */
};

/* To the next word, or to the end. */
static size_t rest_of_word(const struct some *s, size_t at)
{
    size_t n = WORD - (uintptr_t)(s->host + at) % WORD;
    return n < s->size - at ? n : s->size - at;
}

/* The first word that only the host has changed; SIZE_MAX: none. */
static size_t find_lost(const struct some *s)
{
    for (size_t at = 0, n; at < s->size && s->agreed.known; at += n) {
        n = rest_of_word(s, at);
        if (memcmp(s->host + at, s->host_had + at, n) != 0 &&
            memcmp(s->device + at, s->device_had + at, n) == 0)
            return at;
    }
    return SIZE_MAX;
}

static int find_lost_in(void *pieces, char *host, const char *device, size_t size)
{
    struct pieces *p = pieces;
    struct some s;
    uintptr_t end = (uintptr_t)host + size, at = (uintptr_t)host;
    (void)device;
    while (!p->found && (at = skip_unchanged(p->e, at, end)) < end) {
        look_at(&s, p->e, at, end - at);
        size_t in = find_lost(&s);
        p->found = in != SIZE_MAX;
        p->at = at + (p->found ? in : 0);
        at += s.size;
    }
    return p->found;
}

static void for_pieces(struct pieces *p, uintptr_t begin, size_t size,
                       int (*what)(void *, char *, const char *, size_t))
{
    const struct ompgpu_back_copy c = { .entry = p->e, .begin = begin, .size = size };
    ompgpu_back_pieces(&c, (const char *)p->e->device + (begin - p->e->begin), what, p);
}

/* What ends with it needs no more. */
static void note_fetched(const struct ompgpu_back_copy *c)
{
    struct ompgpu_entry *e = c->entry;
    size_t from = c->begin - e->begin;
    const char *device = (const char *)e->device + from;
    if (c->size == e->end - e->begin && !ompgpu_refs(e) && !e->holds)
        forget(e);
    if (e->agreed)
        ompgpu_agreed_set(e, c->begin, c->size, device);
    if (e->had)
        memcpy(e->had + from, device, c->size);
}

static void check_fetched(const struct ompgpu_device *dev, const struct ompgpu_where *where,
                          const struct ompgpu_back_copy *c)
{
    struct ompgpu_entry *e = c->entry;
    struct pieces p = { dev, e, false, 0 };
    if (e->agreed && !e->unsent && !ompgpu_refs(e) && !e->holds)
        for_pieces(&p, c->begin, c->size, find_lost_in);
    if (p.found)
        ompgpu_check_report(OMPGPU_CHECK_STALE, where,
                            "'%s': the host has changed byte %zu since the copy to the device "
                            "(%s:%u), and the copy back undoes that; 'target update to(…)' after "
                            "the change",
                            or_unknown(c->map->name), (size_t)(p.at - c->begin),
                            or_unknown(e->file), e->line);
}

/* Several of them may be of the same bytes. */
void ompgpu_stale_fetch(const struct ompgpu_device *dev, const struct ompgpu_where *where,
                        const struct ompgpu_back *b)
{
    for (unsigned i = 0; i < b->n && ompgpu_stale_watches(dev); i++)
        check_fetched(dev, where, &b->copies[i]);
    for (unsigned i = 0; i < b->n && ompgpu_stale_watches(dev); i++)
        note_fetched(&b->copies[i]);
}

/* ------------------------------------------------------------------ removed too early */
/* What the device had changed when its mapping was removed without a copy back, until the range is
 * mapped again: the last of them, of all devices.  Only a construct that wanted it back makes a
 * mistake of it. */
enum { LOST = 64 };
static pthread_mutex_t lost_lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct lost {
    const struct ompgpu_device *dev; /* NULL: free */
    uintptr_t begin, end;
    const char *file;
    unsigned line; /* of what removed it */
    unsigned suspect;
} lost[LOST];
static unsigned nlost; /* so far */

static void add_lost(struct lost l)
{
    pthread_mutex_lock(&lost_lock);
    lost[nlost++ % LOST] = l;
    pthread_mutex_unlock(&lost_lock);
}

/* The first of them in a range, which is forgotten; dev NULL: what is of any device. */
static struct lost take_lost(const struct ompgpu_device *dev, uintptr_t begin, uintptr_t end)
{
    struct lost found = { .dev = NULL };
    pthread_mutex_lock(&lost_lock);
    for (struct lost *l = lost; l < lost + LOST && !found.dev; l++)
        if (l->dev && (!dev || l->dev == dev) && begin < l->end && end > l->begin) {
            found = *l;
            l->dev = NULL;
        }
    pthread_mutex_unlock(&lost_lock);
    return found;
}

/* A loop may find the same again and again. */
static bool is_new(const struct ompgpu_where *where, const char *name)
{
    enum { PLACES = 64 };
    static struct place {
        const char *file, *name;
        unsigned line;
    } places[PLACES];
    static unsigned n;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* devices have tables of their own */
    unsigned i = 0;
    pthread_mutex_lock(&lock);
    while (i < n && (places[i].line != where->line || places[i].file != where->file ||
                     places[i].name != name))
        i++;
    bool new = i == n && n < PLACES;
    if (new)
        places[n++] = (struct place){ where->file, name, where->line };
    pthread_mutex_unlock(&lock);
    return new;
}

void ompgpu_stale_removed(const struct ompgpu_device *dev, const struct ompgpu_where *where,
                          const struct ompgpu_entry *e)
{
    struct lost l = { dev, e->begin, e->end, where->file, where->line, UINT_MAX };
    ompgpu_mapping_gone(dev, where, e);
    if (!ompgpu_stale_compares(dev) || !e->agreed || e->unsent || e->attached.n ||
        !device_has_changed(e))
        return;
    if (is_new(where, e->name))
        l.suspect =
            ompgpu_check_suspect(where,
                                 "what the device has changed of '%s' (%s:%u) is lost, since its "
                                 "mapping ends here without a copy back: 'map(from: …)', or "
                                 "'map(tofrom: …)'",
                                 or_unknown(e->name), or_unknown(e->file), e->line);
    add_lost(l);
}

void ompgpu_stale_result(const struct ompgpu_device *dev, const struct ompgpu_where *where,
                         const struct ompgpu_map *m, const void *result)
{
    if (ompgpu_stale_compares(dev) && memcmp(m->begin, result, m->size) != 0 &&
        is_new(where, m->name))
        ompgpu_check_suspect(where,
                             "the result for '%s' is lost, since nothing copies it back: "
                             "'map(tofrom: …)'",
                             or_unknown(m->name));
}

void ompgpu_stale_absent(const struct ompgpu_device *dev, const struct ompgpu_where *where,
                         const struct ompgpu_map *m)
{
    if (ompgpu_stale_compares(dev) && m->size && (m->flags & (OMPGPU_MAP_TO | OMPGPU_MAP_FROM)) &&
        is_new(where, m->name))
        ompgpu_check_suspect(where, "'%s' is not mapped here, so nothing is copied",
                             or_unknown(m->name));
}

void ompgpu_stale_created(const struct ompgpu_device *dev, struct ompgpu_entry *e, unsigned flags)
{
    if (!ompgpu_stale_compares(dev))
        return;
    if ((flags & (OMPGPU_MAP_TO | OMPGPU_MAP_FROM)) == OMPGPU_MAP_FROM && ompgpu_reads_seen())
        note_both(e, (const void *)e->begin);
    while (take_lost(NULL, e->begin, e->end).dev)
        ;
}

void ompgpu_stale_missing(const struct ompgpu_device *dev, const struct ompgpu_where *where,
                          const struct ompgpu_map *m)
{
    uintptr_t begin = (uintptr_t)m->begin;
    struct lost l;
    while ((m->flags & OMPGPU_MAP_FROM) && (l = take_lost(dev, begin, begin + m->size)).dev) {
        ompgpu_check_forget(l.suspect);
        ompgpu_check_report(OMPGPU_CHECK_STALE, where,
                            "'%s' is to be copied back here, but its mapping was removed inside of "
                            "this construct, at %s:%u; what the device computed is lost",
                            or_unknown(m->name), or_unknown(l.file), l.line);
    }
}

/* ------------------------------------------------------------------ around a region */
/* What is busy belongs to the construct of another thread. */
static struct ompgpu_entry *next_watched(struct ompgpu_device *dev, uintptr_t after)
{
    struct ompgpu_entry *e = ompgpu_present_next(dev, after);
    while (e && (e->busy || !e->agreed || e->lost))
        e = ompgpu_present_next(dev, e->end);
    return e;
}

static void mark(const struct pieces *p, uintptr_t from, uintptr_t to)
{
    const struct ompgpu_entry *e = p->e;
    if (to > from)
        p->dev->plugin->outdate(p->dev->ordinal, (void *)(e->device + (from - e->begin)), to - from,
                                true);
}

/* Runs of bytes that only the host has changed. */
static int mark_piece(void *pieces, char *host, const char *device, size_t size)
{
    struct pieces *p = pieces;
    struct some s;
    uintptr_t end = (uintptr_t)host + size, at = (uintptr_t)host, from = at, same;
    (void)device;
    while (at < end) {
        if ((same = skip_unchanged(p->e, at, end)) > at) {
            mark(p, from, at);
            from = at = same;
            continue;
        }
        look_at(&s, p->e, at, end - at);
        for (size_t i = 0; i < s.size; i++, at++)
            if (only_host_changed(&s, i))
                p->found = true;
            else {
                mark(p, from, at);
                from = at + 1;
            }
    }
    mark(p, from, at);
    return 0;
}

static void mark_outdated(struct ompgpu_device *dev, struct ompgpu_entry *e)
{
    struct pieces p = { dev, e, false, 0 };
    size_t all = e->end - e->begin;
    if (e->outdated)
        dev->plugin->outdate(dev->ordinal, (void *)e->device, all, false);
    if (skip_unchanged(e, e->begin, e->end) < e->end)
        for_pieces(&p, e->begin, all, mark_piece);
    e->outdated = p.found;
}

/* A region that runs already reads what it reads, whatever the host changes meanwhile. */
static unsigned running; /* atomic: regions, of all devices */

/* The offset of the first byte that only the host has changed; SIZE_MAX: none. */
static size_t find_outdated(const struct ompgpu_entry *e)
{
    struct some s;
    for (uintptr_t at = e->begin; (at = skip_unchanged(e, at, e->end)) < e->end; at += s.size) {
        look_at(&s, e, at, e->end - at);
        for (size_t i = 0; i < s.size; i++)
            if (only_host_changed(&s, i))
                return at - e->begin + i;
    }
    return SIZE_MAX;
}

/* Nobody knows whether the region reads it. */
static void check_variable(const struct ompgpu_where *where, const struct ompgpu_entry *e)
{
    size_t at = find_outdated(e);
    if (at != SIZE_MAX && is_new(&(struct ompgpu_where){ .file = e->file }, e->name))
        ompgpu_check_suspect(where,
                             "the host has changed byte %zu of '%s' (declare target), and the "
                             "device has the old value; 'target update to(…)' after the change",
                             at, or_unknown(e->name));
}

static void look_before(struct ompgpu_device *dev, const struct ompgpu_where *where,
                        struct ompgpu_entry *e)
{
    if (e->owner && is_small(e))
        check_variable(where, e);
    else if (!e->owner && (e->wanted || e->outdated))
        mark_outdated(dev, e);
    e->wanted = false;
}

static struct ompgpu_entry *want(struct ompgpu_device *dev, uintptr_t host)
{
    struct ompgpu_entry *e = ompgpu_present_reach(dev, host, true);
    if (e)
        e->wanted = true;
    return e;
}

/* What the region names, and what pointers in that lead to. */
static void want_item(struct ompgpu_device *dev, const struct ompgpu_map *m)
{
    const struct ompgpu_entry *e =
        m->flags & OMPGPU_MAP_PRIVATE_COPY ? NULL : want(dev, (uintptr_t)m->begin);
    for (unsigned i = 0; e && i < e->attached.n; i++)
        want(dev, *(const uintptr_t *)e->attached.list[i].host);
}

void ompgpu_stale_before(struct ompgpu_device *dev, const struct ompgpu_where *where,
                         const struct ompgpu_map *maps, unsigned n)
{
    if (!ompgpu_stale_compares(dev))
        return;
    ompgpu_reuse_look(dev, where, maps, n);
    unsigned held = ompgpu_tables_lock(dev);
    bool alone = !__atomic_fetch_add(&running, 1, __ATOMIC_ACQ_REL) && !ompgpu_any_deferred();
    for (unsigned i = 0; i < n && alone; i++)
        want_item(dev, &maps[i]);
    for (struct ompgpu_entry *e = alone ? next_watched(dev, 0) : NULL; e;
         e = next_watched(dev, e->end))
        look_before(dev, where, e);
    ompgpu_tables_unlock(dev, held);
}

void ompgpu_stale_after(struct ompgpu_device *dev)
{
    uintptr_t begin = UINTPTR_MAX, end = 0;
    if (!ompgpu_stale_compares(dev))
        return;
    __atomic_fetch_sub(&running, 1, __ATOMIC_ACQ_REL);
    if (!ompgpu_reads_seen())
        return;
    unsigned held = ompgpu_tables_lock(dev);
    for (struct ompgpu_entry *e = next_watched(dev, 0); e; e = next_watched(dev, e->end)) {
        e->newer = device_has_changed(e);
        begin = e->newer && e->begin < begin ? e->begin : begin;
        end = e->newer && e->end > end ? e->end : end;
    }
    ompgpu_reads_watch(dev, begin, end);
    ompgpu_tables_unlock(dev, held);
}

/* A pointer that the region itself has stored. */
static bool is_device_address(const char *device, size_t size)
{
    uintptr_t value;
    if (size != sizeof value)
        return false;
    memcpy(&value, device, sizeof value);
    return value - OMPGPU_EMU_WINDOW < OMPGPU_EMU_WINDOW_BYTES;
}

/* Has only the device changed these bytes, which the host reads? */
static int compare_piece(void *pieces, char *host, const char *device, size_t size)
{
    struct pieces *p = pieces;
    bool same = true, changed = false;
    struct some s;
    for (size_t at = 0; at < size && same; at += s.size) {
        look_at(&s, p->e, (uintptr_t)host + at, size - at);
        same = s.agreed.known && memcmp(s.host, s.host_had, s.size) == 0;
        changed |= same && memcmp(s.device, s.device_had, s.size) != 0;
    }
    p->found |=
        same && changed && memcmp(device, host, size) != 0 && !is_device_address(device, size);
    return 0;
}

bool ompgpu_stale_is_old(const struct ompgpu_device *dev, struct ompgpu_entry *e, uintptr_t host,
                         size_t size)
{
    struct pieces p = { dev, e, false, 0 };
    if (e->agreed && e->newer && host >= e->begin && size <= e->end - host)
        for_pieces(&p, host, size, compare_piece);
    return p.found;
}

/* What is not known, both have changed. */
static void copy_agreed(struct ompgpu_entry *e)
{
    struct ompgpu_agreed a;
    for (uintptr_t at = e->begin; at < e->end; at += a.size) {
        char *to = e->had + (at - e->begin);
        a = ompgpu_agreed_at(e, at);
        memcpy(to, a.bytes, a.size);
        for (size_t i = 0; i < a.size && !a.known; i++)
            to[i] = (char)~((const char *)e->device)[at - e->begin + i];
    }
}

/* The host has a value of its own there, be it the same as before. */
void ompgpu_stale_stored(struct ompgpu_entry *e, uintptr_t host, size_t size)
{
    size_t all = e->end - e->begin, at = host - e->begin;
    if (!e->agreed || host < e->begin || size > e->end - host)
        return;
    if (!e->had && (e->had = ompgpu_xalloc(all)))
        copy_agreed(e);
    if (e->had)
        memcpy(e->had + at, (const char *)e->device + at, size);
}

/* ------------------------------------------------------------------ at the end of the program */
static void report_mapped(const struct ompgpu_entry *e)
{
    const struct ompgpu_where where = { .file = e->file, .line = e->line };
    bool newer = e->agreed && !e->attached.n && device_has_changed(e);
    if (ompgpu_refs(e) == OMPGPU_REFS_INFINITE || e->pointer)
        return;
    if (ompgpu_checks(OMPGPU_CHECK_LEAK))
        ompgpu_check_report(OMPGPU_CHECK_LEAK, &where,
                            "'%s' is mapped still when the program ends: 'target exit data "
                            "map(%s: …)'%s",
                            or_unknown(e->name), newer ? "from" : "release",
                            newer ? "; what the device has changed of it is lost" : "");
    else if (newer)
        ompgpu_check_suspect(&where,
                             "what the device has changed of '%s' is lost, since it is mapped "
                             "still when the program ends: 'target exit data map(from: …)'",
                             or_unknown(e->name));
}

void ompgpu_stale_end(struct ompgpu_device *dev)
{
    for (struct ompgpu_entry *e = ompgpu_present_next(dev, 0); e && ompgpu_stale_watches(dev);
         e = ompgpu_present_next(dev, e->end))
        report_mapped(e);
}
