/* data.c - device data environments: the actions of map clauses (section 5.8 of OpenMP 5.2) and of
 * target update.
 *
 * A construct counts each mapping once, however many of its list items lie in it.  Entering goes
 * through the items in order and creates what is missing, then sets attached pointers (the pointee
 * may follow the pointer or precede it).  Leaving counts down in reverse order, then copies back
 * what has reached zero or is `always`, then frees: an item mapped twice in one construct with
 * different map types gets the effects of both.
 *
 * Items with OMPGPU_MAP_BLOCK are reached through one base (blocks.c): the first that is not mapped
 * creates one mapping for all of them.
 *
 * Attached pointers: the device copy of a pointer holds a device address, the host's copy a host
 * address.  The mapping that holds the pointer remembers both, so that copying the storage around
 * it in either direction leaves each side with its own.
 *
 * A variable that a region only reduces into (OMPGPU_MAP_RESULT) and that is not mapped gets no
 * mapping: it travels in a cell of memory that host and device share (scratch.c).
 *
 * With `requires unified_shared_memory` nothing is created: only declare target variables and what
 * the program associates have storage of their own on the device.
 *
 * Several threads: a part of the table is changed under its lock (parts.c), but for references
 * (present.c), and what is copied without it is busy meanwhile (fill.c), so no thread finds a
 * mapping half made.  But copies to the device are only ordered for the thread that makes them.
 * Once a second thread is known, a region that copied waits for its copies; while there is one
 * thread only that wait is saved, and the state is kept in device->unsynced: should the second
 * thread turn up just then, it waits until the first one's region has ended.
 *
 * Deferred constructs (`nowait`): the table is changed when they are put into their queue, as if
 * they ended there and then, and the copies go into the queue.  So a mapping remembers the
 * construct that fills it and those that use it: who comes later waits for the first before it uses
 * the mapping, and for all of them before it copies it back and frees it.  Who makes a mapping of
 * what a deferred construct will still copy to the host waits for that (returning.c). */
#include <stdio.h>
#include <string.h>
#include "hostrt/core/deferred.h"
#include "hostrt/core/work.h"

/* Its list is large: only what is used of it is set. */
static void begin_work(struct work *w, struct ompgpu_device *dev, struct ompgpu_where *where,
                       const struct ompgpu_map *maps, unsigned n, struct ompgpu_task *task)
{
    w->dev = dev, w->where = where, w->maps = maps, w->n = n, w->task = task;
    w->thread = NULL, w->number = w->counted = 0, w->held = 0, w->wrong = false;
    w->fill.copies = w->fill.few, w->fill.room = OMPGPU_FEW_FILL;
    w->fill.n = w->fill.done = 0, w->fill.failed = NULL;
    w->holds = false;
    for (unsigned i = 0; i < n; i++)
        w->holds |= (maps[i].flags & OMPGPU_MAP_HOLD) != 0;
    w->fill.packing = false, w->fill.pack = NULL;
}

/* ------------------------------------------------------------------ messages */
#define LOST "its value is lost with the device"
#define NOT_PRESENT "not mapped, but the `present` modifier requires it: map it before"
/* What a construct returns. */
static int result_of(const struct work *w, int bad)
{
    return !bad ? 0 : w->wrong ? OMPGPU_MISTAKE : -1;
}

static int copy_failed(struct work *w, const struct ompgpu_map *m)
{
    return m ? ompgpu_item_failed(w, m) : -1;
}

/* ------------------------------------------------------------------ copies */
/* The part of an item that is mapped; all of it but for implicit maps of a variable that is mapped
 * in part. */
struct part {
    uintptr_t begin;
    size_t size;
};
static struct part mapped_part(const struct ompgpu_entry *e, const struct ompgpu_map *m)
{
    uintptr_t begin = (uintptr_t)m->begin, end = begin + m->size;
    if (begin < e->begin)
        begin = e->begin;
    if (end > e->end)
        end = e->end;
    return (struct part){ begin, end - begin };
}

/* ------------------------------------------------------------------ looking up */
/* With unified shared memory everything has storage that the device can use: its own. */
static bool must_be_mapped(const struct ompgpu_map *m)
{
    return (m->flags & OMPGPU_MAP_PRESENT) && !ompgpu_unified();
}

/* Of exit data or update: that is allowed, but for `present`, and in a chunk of a spread construct
 * where other parts of it are mapped: then its sections are wrong. */
static int item_missing(struct work *w, const struct ompgpu_map *m)
{
    ompgpu_watch_item(w->where, OMPGPU_ITEM_MISSING, m, NULL);
    const struct ompgpu_entry *e = w->where->chunk && m->size && !(m->flags & OMPGPU_MAP_DELETE)
                                       ? ompgpu_present_reach(w->dev, (uintptr_t)m->base, true)
                                       : NULL;
    if (e)
        return ompgpu_item_outside(w, m, e);
    if (ompgpu_watched() && !must_be_mapped(m))
        ompgpu_stale_absent(w->dev, w->where, m);
    return must_be_mapped(m) ? ompgpu_item_wrong(w, m, NOT_PRESENT) : 0;
}

/* Neither a mere lookup nor a private copy.  A section of length zero counts where its address is
 * mapped, and makes no mapping. */
static inline bool is_counted(const struct ompgpu_map *m)
{
    return !(m->flags & (OMPGPU_MAP_LOOKUP | OMPGPU_MAP_PRIVATE_COPY));
}

static inline bool contains_item(const struct ompgpu_entry *e, const struct ompgpu_map *m)
{
    uintptr_t begin = (uintptr_t)m->begin;
    return begin >= e->begin && begin < e->end && m->size <= e->end - begin;
}

/* A deferred construct uses it, also while it is in the queue. */
static int note_use(struct work *w, struct ompgpu_entry *e)
{
    unsigned left = 0;
    for (unsigned i = 0; i < e->nuses; i++)
        if (e->uses[i].task == w->task && e->uses[i].serial == w->task->serial)
            return 0;
        else if (ompgpu_under_way(e->uses[i]))
            e->uses[left++] = e->uses[i];
    e->nuses = left;
    if (e->nuses == e->room_for_uses) {
        unsigned room = 2 * e->room_for_uses + 2;
        struct ompgpu_ticket *more = ompgpu_xalloc(room * sizeof *more);
        if (!more)
            return -1;
        if (left)
            memcpy(more, e->uses, left * sizeof *more);
        ompgpu_xfree(e->uses);
        e->uses = more, e->room_for_uses = room;
    }
    e->uses[e->nuses++] = ompgpu_ticket_of(w->task);
    return 0;
}

/* Before a construct uses a mapping. */
static int take_entry(struct work *w, struct ompgpu_entry *e)
{
    if (__builtin_expect(e->filling.task != NULL, 0)) {
        if (ompgpu_task_await(w->task, e->filling))
            return -1;
        if (!ompgpu_under_way(e->filling))
            e->filling.task = NULL;
    }
    return w->task ? note_use(w, e) : 0;
}

/* Host threads may use it without the lock from now on, but for what this construct has created. */
static void now_ready(const struct work *w, struct ompgpu_entry *e)
{
    if (!e->filling.task && e->created != w->number)
        ompgpu_entry_ready(e);
}

/* Before it is copied back for the last time, and freed. */
static int await_uses(struct work *w, const struct ompgpu_entry *e)
{
    for (unsigned i = 0; i < e->nuses; i++)
        if (ompgpu_task_await(w->task, e->uses[i]))
            return -1;
    return 0;
}

/* What is mapped of the item, but not all that it names. */
static inline bool is_partial(const struct ompgpu_entry *e, const struct ompgpu_map *m)
{
    return !contains_item(e, m) && !(m->flags & OMPGPU_MAP_IMPLICIT);
}

enum { PARTLY_MAPPED = 1 };

/* The entry of an item, NULL: it is not mapped; or PARTLY_MAPPED, and the entry of a part. */
static inline int find_entry(struct work *w, const struct ompgpu_map *m, struct ompgpu_entry **out)
{
    struct ompgpu_entry *e = *out = ompgpu_present_find(w->dev, (uintptr_t)m->begin, m->size);
    if (e && is_partial(e, m))
        return PARTLY_MAPPED;
    return e && take_entry(w, e) ? ompgpu_item_failed(w, m) : 0;
}

/* -------------------------------------------------------------- creating and removing a mapping */
void ompgpu_data_release(struct ompgpu_device *dev, struct ompgpu_entry *e)
{
    if (e->pack)
        ompgpu_pack_release(dev, e->pack);
    else if (e->memory)
        dev->plugin->free(dev->ordinal, e->memory);
    e->pack = NULL, e->memory = NULL;
}

void ompgpu_data_drop(struct ompgpu_device *dev, struct ompgpu_entry *e)
{
    if (!e->owner && !e->associated && !e->shadow) {
        ompgpu_tool_memory((const void *)e->begin, NULL);
        ompgpu_watch_free(e);
        ompgpu_data_release(dev, e);
    }
    for (struct ompgpu_entry *k; (k = e->covered);) {
        e->covered = k->next_covered;
        ompgpu_data_drop(dev, k);
    }
    ompgpu_entry_free(dev, e);
}

void ompgpu_data_put(struct work *w, struct ompgpu_entry *e)
{
    if (w->task) {
        e->range.left = (struct ompgpu_range *)w->task->dropped;
        w->task->dropped = e;
    } else
        ompgpu_data_drop(w->dev, e);
}

static void remove_entry(struct work *w, struct ompgpu_entry *e)
{
    if (ompgpu_pointers_held(w->dev, e, w->held)) /* else after a failure */
        ompgpu_detach(w->dev, e);
    ompgpu_present_remove(w->dev, e);
    ompgpu_uncover(w->dev, e, e->covered);
    e->covered = NULL;
    ompgpu_data_put(w, e);
}

/* declare target link: the variable's pointer on the device follows its mapping, also that of a
 * section of it. */
static int set_links(struct work *w, const struct ompgpu_entry *e)
{
    for (const struct ompgpu_link *l = w->dev->links; l; l = l->next) {
        uintptr_t at = (uintptr_t)l->var->address, address = device_address(e, at);
        if (at < e->end && at + l->var->size > e->begin &&
            w->dev->plugin->to_device(w->dev->ordinal, l->pointer, &address, sizeof address))
            return -1;
    }
    return 0;
}

static struct part block_of(const struct work *w, const struct ompgpu_map *m)
{
    uintptr_t begin = (uintptr_t)m->begin, end = begin + m->size;
    for (unsigned i = 0; (m->flags & OMPGPU_MAP_BLOCK) && i < w->n; i++) {
        const struct ompgpu_map *x = &w->maps[i];
        uintptr_t at = (uintptr_t)x->begin;
        if (!(x->flags & OMPGPU_MAP_BLOCK) || x->base != m->base || !x->size ||
            x->size > PTRDIFF_MAX)
            continue;
        begin = at < begin ? at : begin;
        end = at + x->size > end ? at + x->size : end;
    }
    return (struct part){ begin, end - begin };
}

/* What the mapping that is made for an item has to hold: all of its block, unless a part of that is
 * mapped already. */
static struct part storage_for(struct work *w, const struct ompgpu_map *m)
{
    struct part block = block_of(w, m);
    if (block.size > m->size && ompgpu_present_find(w->dev, block.begin, block.size))
        return (struct part){ (uintptr_t)m->begin, m->size };
    return block;
}

static int check_new_item(struct work *w, const struct ompgpu_map *m)
{
    if (!m->begin || !m->base)
        return ompgpu_item_wrong(w, m, "the pointer is null");
    if (m->size > UINTPTR_MAX - (uintptr_t)m->begin || m->size > PTRDIFF_MAX)
        return ompgpu_item_wrong(w, m, IMPOSSIBLE_SIZE);
    return 0;
}

enum { NOTED = 64 }; /* items: bits of work.counted */
/* A construct counts a mapping once: with `ompx_hold` where any of the items in it has that. */
static bool holds(const struct work *w, const struct ompgpu_entry *e)
{
    for (unsigned i = 0; w->holds && i < w->n; i++) {
        uintptr_t begin = (uintptr_t)w->maps[i].begin;
        if ((w->maps[i].flags & OMPGPU_MAP_HOLD) && begin >= e->begin && begin < e->end)
            return true;
    }
    return false;
}

static void add_references(const struct work *w, struct ompgpu_entry *e, long n)
{
    if (holds(w, e))
        e->holds += n;
    else
        ompgpu_refs_add(e, n);
}

static void count(struct work *w, struct ompgpu_entry *e, const struct ompgpu_map *m, long n)
{
    add_references(w, e, n);
    if (m->flags & OMPGPU_MAP_POINTER)
        e->pointees += n;
    e->counted = w->number;
    if (m - w->maps < NOTED)
        w->counted |= (uint64_t)1 << (m - w->maps);
}

/* For item i a mapping was counted.  Others may have counted it, too, since the lock was given up,
 * which a construct with many items does not do. */
static bool has_counted(const struct work *w, const struct ompgpu_entry *e, unsigned i)
{
    return i < NOTED ? w->counted >> i & 1 : e->counted == w->number;
}

/* No clause names the storage of a pointer that leads to a list item of enter or exit data: it ends
 * no mapping that a clause has made. */
static bool is_counted_in(const struct ompgpu_entry *e, const struct ompgpu_map *m)
{
    return !(m->flags & OMPGPU_MAP_POINTER) || e->pointer;
}

static bool has_an_end(const struct ompgpu_entry *e)
{
    return ompgpu_refs(e) != OMPGPU_REFS_INFINITE;
}
static bool is_unused(const struct ompgpu_entry *e) { return ompgpu_refs(e) == 0 && e->holds == 0; }

static int fill_later(struct work *w, struct ompgpu_entry *e)
{
    e->filling = ompgpu_ticket_of(w->task);
    return note_use(w, e);
}

/* A member begins where the host has it within 16 bytes, so that the struct that device code sees
 * is aligned as its type says; other items begin where the memory does. */
static size_t space_before(const struct ompgpu_map *m, uintptr_t begin)
{
    return m->flags & OMPGPU_MAP_MEMBER ? begin % OMPGPU_LARGEST_ALIGNMENT : 0;
}

static int create_entry(struct work *w, const struct ompgpu_map *m, struct ompgpu_entry **out)
{
    void *memory;
    if (check_new_item(w, m))
        return -1;
    struct part p = storage_for(w, m);
    if (ompgpu_returning_await(w->dev, w->task, p.begin, p.size))
        return ompgpu_item_failed(w, m);
    ompgpu_tool_memory((const void *)p.begin, NULL);
    double start = ompgpu_watch_clock();
    size_t before = space_before(m, p.begin);
    struct ompgpu_pack *pack;
    if (ompgpu_pack_get(w, before + p.size, &memory, &pack))
        return ompgpu_item_failed(w, m);
    struct ompgpu_entry *e =
        ompgpu_entry_new(w->dev, p.begin, p.size, (uintptr_t)memory + before, 0);
    if (!e) {
        struct ompgpu_entry none = { .pack = pack, .memory = memory };
        ompgpu_data_release(w->dev, &none);
        return ompgpu_item_failed(w, m);
    }
    e->base = (uintptr_t)m->base;
    e->pack = pack;
    e->memory = pack ? NULL : memory;
    e->name = m->name, e->file = w->where->file, e->line = m->line ? m->line : w->where->line;
    count(w, e, m, 1);
    e->created = w->number;
    e->pointer = m->flags & OMPGPU_MAP_POINTER;
    ompgpu_watch_alloc(w->where, e, start);
    if (ompgpu_watched())
        ompgpu_stale_created(w->dev, e, m->flags);
    ompgpu_present_insert(w->dev, e);
    if ((w->task && fill_later(w, e)) || (w->dev->links && set_links(w, e))) {
        remove_entry(w, e);
        return ompgpu_item_failed(w, m);
    }
    *out = e;
    return 0;
}

/* Created by this construct, and nothing has copied all of it. */
static bool is_fresh(const struct work *w, const struct ompgpu_entry *e)
{
    return e->created == w->number && e->filled != w->number;
}

/* ------------------------------------------------------------------ attached pointers */
/* Does nothing where the pointer itself is not mapped, or the pointee is not (a section of size
 * zero): then the device has the host's value. */
static int attach_pointer(struct work *w, const struct ompgpu_map *m)
{
    uintptr_t host = (uintptr_t)m->attach;
    struct ompgpu_entry *e = ompgpu_present_find(w->dev, host, sizeof(void *));
    struct ompgpu_entry *pointee = find_extended(w->dev, (uintptr_t)m->begin, w->held);
    if (!e || host < e->begin || e->end - host < sizeof(void *))
        return 0;
    if (!pointee)
        return is_fresh(w, e) &&
                       ompgpu_fill_add_pointer(&w->fill, e, m, host, (uintptr_t)m->base, 0)
                   ? ompgpu_item_failed(w, m)
                   : 0;
    uintptr_t value =
        device_address(pointee, (uintptr_t)m->begin) - ((uintptr_t)m->begin - (uintptr_t)m->base);
    struct ompgpu_attachment *a = ompgpu_attachment_get(e, host);
    if (!a)
        return ompgpu_item_failed(w, m);
    bool sent = a->pointee && a->value == value;
    if (sent && a->pointee == pointee)
        return 0;
    if (!sent && a->pointee && a->construct == w->number)
        return ompgpu_item_lies_apart(w, m, pointee);
    if (!ompgpu_pointer_note(w->dev, pointee, host, value) ||
        (!sent && ompgpu_fill_add_pointer(&w->fill, e, m, host, value, a->value))) {
        if (!a->value)
            ompgpu_attachment_drop(e, a);
        return ompgpu_item_failed(w, m);
    }
    a->value = value, a->pointee = pointee;
    if (!sent)
        a->construct = w->number;
    return 0;
}

/* Those that the device did not get. */
static void undo_attaching(struct work *w)
{
    for (unsigned i = w->fill.n; i-- > w->fill.done;) {
        const struct ompgpu_fill_copy *c = &w->fill.copies[i];
        struct ompgpu_attachment *a = ompgpu_attachment_in(c->entry, c->begin, c->begin + 1);
        if (c->size || !a || a->host != c->begin || a->construct != w->number)
            continue;
        if (c->before) /* what that led to may have gone meanwhile */
            a->value = c->before, a->pointee = NULL, a->construct = 0;
        else
            ompgpu_attachment_drop(c->entry, a);
    }
}

/* ------------------------------------------------------------------ entering */
/* A struct of which a part is mapped: does the region need more of it? */
static bool uses_more(const struct ompgpu_map *m, const struct ompgpu_entry *e)
{
    const unsigned long *used = m->flags & OMPGPU_MAP_ATTACH ? NULL : m->attach;
    uintptr_t base = (uintptr_t)m->base;
    return used && (base + used[0] < e->begin || base + used[1] > e->end);
}

static int check_used(struct work *w, const struct ompgpu_map *m, const struct ompgpu_entry *e)
{
    if (!uses_more(m, e))
        return 0;
    char place[256];
    w->wrong = true;
    ompgpu_plugin_error("the region uses more of it than is mapped: %s, %zu bytes, mapped%s",
                        e->name ? e->name : "?", e->end - e->begin,
                        ompgpu_entry_place(e, place, sizeof place));
    return ompgpu_item_failed(w, m);
}

static int enter_unmapped(struct work *w, const struct ompgpu_map *m, uintptr_t *address)
{
    uintptr_t begin = (uintptr_t)m->begin;
    if (!address || (m->flags & OMPGPU_MAP_PRIVATE_COPY))
        return 0;
    struct ompgpu_entry *e = find_extended(w->dev, begin, w->held);
    if (e && take_entry(w, e))
        return ompgpu_item_failed(w, m);
    if (e)
        now_ready(w, e);
    ompgpu_watch_item(w->where, OMPGPU_ITEM_POINTER, m, e);
    *address = (e ? device_address(e, begin) : begin) - (begin - (uintptr_t)m->base);
    return e && (m->flags & OMPGPU_MAP_LOOKUP) ? check_used(w, m, e) : 0;
}

/* An implicit item of which a part is mapped: there must be no other part elsewhere. */
static int check_parts(struct work *w, const struct ompgpu_map *m, const struct ompgpu_entry *e)
{
    if (check_used(w, m, e))
        return -1;
    uintptr_t end = (uintptr_t)m->begin + m->size;
    while (e->end < end) {
        const struct ompgpu_entry *next = ompgpu_present_find(w->dev, e->end, end - e->end);
        if (!next)
            return 0;
        if (next->device - next->begin != e->device - e->begin)
            return ompgpu_item_lies_apart(w, m, next);
        e = next;
    }
    return 0;
}

static int copy_in(struct work *w, const struct ompgpu_map *m, struct ompgpu_entry *e)
{
    struct part p = mapped_part(e, m);
    if (is_fresh(w, e) || (m->flags & OMPGPU_MAP_ALWAYS)) {
        if (p.size && ompgpu_fill_add(&w->fill, e, m, p.begin, p.size))
            return ompgpu_item_failed(w, m);
        if (p.size == e->end - e->begin)
            e->filled = w->number, e->lost = false;
    } else if (ompgpu_watched() && e->created != w->number && has_an_end(e) &&
               !(m->flags & OMPGPU_MAP_IMPLICIT))
        ompgpu_watch_reuse(w->where, m->name, m->size, e);
    return 0;
}

/* A variable that the region only reduces into: no storage of its own, no copy. */
static bool enter_result(struct work *w, const struct ompgpu_map *m, uintptr_t *address)
{
    unsigned i = (unsigned)(m - w->maps);
    void *cell;
    if (!(m->flags & OMPGPU_MAP_RESULT) || !w->thread || m->size > OMPGPU_RESULT_BYTES ||
        !(cell = ompgpu_result_get(w->dev, &w->thread->devices[w->dev->number], i)))
        return false;
    if (m->flags & OMPGPU_MAP_TO)
        memcpy(cell, m->begin, m->size);
    w->thread->results |= (uint64_t)1 << i;
    *address = (uintptr_t)cell;
    return true;
}

static void store_results(const struct work *w)
{
    const struct ompgpu_thread *t = w->thread;
    for (uint64_t left = t->results; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        if (t->maps[i].flags & OMPGPU_MAP_FROM)
            memcpy((void *)t->maps[i].begin, (const void *)t->addresses[i], t->maps[i].size);
        else if (ompgpu_watched())
            ompgpu_stale_result(w->dev, w->where, &t->maps[i], (const void *)t->addresses[i]);
    }
}

/* Pointers that make way for the item's block, of which they are a part, or for a variable of which
 * the region uses more. */
static struct ompgpu_entry *cover(struct work *w, const struct ompgpu_map *m)
{
    if (!m->size || !(m->flags & (OMPGPU_MAP_BLOCK | OMPGPU_MAP_IMPLICIT)))
        return NULL;
    struct part all = block_of(w, m);
    const struct ompgpu_entry *e = ompgpu_present_find(w->dev, all.begin, all.size);
    bool lacks =
        e && e->pointer &&
        ((m->flags & OMPGPU_MAP_BLOCK) ? e->begin > all.begin || e->end < all.begin + all.size
                                       : uses_more(m, e));
    return lacks ? ompgpu_cover(w->dev, all.begin, all.size) : NULL;
}

static int make_entry(struct work *w, const struct ompgpu_map *m, struct ompgpu_entry *covered,
                      struct ompgpu_entry **out)
{
    if (create_entry(w, m, out)) {
        ompgpu_uncover(w->dev, NULL, covered);
        return -1;
    }
    (*out)->covered = covered;
    return ompgpu_cover_attach(w, m, *out) ? ompgpu_item_failed(w, m) : 0;
}

static void count_present(struct work *w, const struct ompgpu_map *m, struct ompgpu_entry *e)
{
    now_ready(w, e);
    if (!is_counted_in(e, m))
        ompgpu_covered_enter(w, e, m);
    else if (e->counted != w->number && has_an_end(e))
        count(w, e, m, 1);
}

/* What the item needs of its entry, which is there now. */
static int use_entry(struct work *w, const struct ompgpu_map *m, struct ompgpu_entry *e,
                     uintptr_t *address)
{
    e->pointer &= e->created != w->number || (m->flags & OMPGPU_MAP_POINTER);
    if (address && (m->flags & OMPGPU_MAP_IMPLICIT) && !contains_item(e, m) && check_parts(w, m, e))
        return -1;
    ompgpu_watch_item(w->where, e->created == w->number ? OMPGPU_ITEM_NEW : OMPGPU_ITEM_PRESENT, m,
                      e);
    if ((m->flags & OMPGPU_MAP_TO) && copy_in(w, m, e))
        return -1;
    if ((m->flags & OMPGPU_MAP_FROM) && w->thread && e->created == w->number)
        ompgpu_back_expect(w->thread, e);
    if (address)
        *address =
            device_address(e, (uintptr_t)m->begin) - ((uintptr_t)m->begin - (uintptr_t)m->base);
    return 0;
}

static int enter_item(struct work *w, const struct ompgpu_map *m, uintptr_t *address)
{
    struct ompgpu_entry *e, *covered = NULL;
    if (!is_counted(m))
        return enter_unmapped(w, m, address);
    if ((m->flags & OMPGPU_MAP_SELF) && !ompgpu_unified())
        return ompgpu_item_wrong(w, m,
                                 "`self` needs memory that host and device share: 'requires "
                                 "unified_shared_memory' or 'self_maps'");
    covered = cover(w, m);
    const int found = find_entry(w, m, &e);
    if (found < 0)
        return -1;
    if (found && !(covered = ompgpu_cover(w->dev, (uintptr_t)m->begin, m->size)))
        return ompgpu_item_partly_mapped(w, m, e);
    e = found ? NULL : e;
    if (must_be_mapped(m) && (!e || e->created == w->number)) /* by a clause without `present` */
        return ompgpu_item_wrong(w, m, NOT_PRESENT);
    if (!e && (!m->size || ompgpu_unified()))
        return enter_unmapped(w, m, address);
    if (!e && !covered && enter_result(w, m, address))
        return 0;
    if (e)
        count_present(w, m, e);
    else if (make_entry(w, m, covered, &e))
        return -1;
    return use_entry(w, m, e, address);
}

/* Takes back what the first n items did. */
static void undo_entering(struct work *w, const struct ompgpu_map *maps, unsigned n)
{
    undo_attaching(w);
    while (n-- > 0) {
        const struct ompgpu_map *m = &maps[n];
        struct ompgpu_entry *e =
            is_counted(m) ? ompgpu_present_find(w->dev, (uintptr_t)m->begin, m->size) : NULL;
        if (!e || !has_counted(w, e, n))
            continue;
        count(w, e, m, -1);
        e->counted = 0;
        if (e->created == w->number)
            remove_entry(w, e);
    }
}

/* Takes what the construct needs of the table, and numbers it: no two constructs that hold the same
 * part have the same number.  What a task needs is held already. */
static void enter_tables(struct work *w)
{
    enum { NUMBERS = 1 << 5 };
    _Static_assert(NUMBERS > OMPGPU_PARTS, "one for each, and one for the whole table");
    if (!__libc_single_threaded && !w->task)
        w->held = ompgpu_tables_lock_for(w->dev, w->maps, w->n, w->where->chunk != NULL);
    unsigned part = holds_whole(w->held) ? 0 : 1 + (unsigned)__builtin_ctz(w->held);
    w->number = ++*(part ? &w->dev->parts[part - 1].construct : &w->dev->construct);
    w->number = w->number * NUMBERS + part;
}

/* Gives it up while copies are made, and takes it again. */
static bool leave_tables(struct work *w, const struct ompgpu_back *back)
{
    if (!w->held || w->n > NOTED)
        return false;
    ompgpu_busy_set(w->dev, &w->fill, back, true);
    ompgpu_tables_unlock(w->dev, w->held);
    return true;
}

static void return_to_tables(struct work *w, const struct ompgpu_back *back, bool left)
{
    if (!left)
        return;
    w->held = ompgpu_tables_relock(w->dev, w->held);
    ompgpu_busy_set(w->dev, &w->fill, back, false);
}

/* A region's own launch is ordered after its copies.  Other threads must not use what they fill
 * before; while there are none, `unsynced` is enough. */
static int fill(struct work *w, bool region)
{
    const bool wait = !w->task && !(region && !ompgpu_many_threads());
    bool left = leave_tables(w, NULL);
    int bad = ompgpu_fill_run(&w->fill, w->dev, w->task, w->number, w->where);
    if ((wait || (bad && !w->task)) && w->dev->plugin->sync(w->dev->ordinal))
        bad = -1;
    return_to_tables(w, NULL, left);
    if (!wait && !w->task && !bad)
        __atomic_store_n(&w->dev->unsynced, ompgpu_self_, __ATOMIC_RELEASE);
    return bad ? copy_failed(w, w->fill.failed) : 0;
}

/* What a child of fork is to release when this thread has gone. */
static void note_region(struct ompgpu_device *dev, const struct ompgpu_map *maps, unsigned n)
{
    struct ompgpu_thread *self = ompgpu_self_;
    self->entered = dev, self->maps = maps, self->nmaps = n;
    self->quick = false, self->left = 0;
}

static int enter_items(struct work *w, uintptr_t *addresses, unsigned *done)
{
    unsigned flags = 0;
    int bad = 0;
    for (; *done < w->n && !bad; ++*done) {
        flags |= w->maps[*done].flags;
        bad = enter_item(w, &w->maps[*done], addresses ? &addresses[*done] : NULL);
    }
    if (!bad && addresses && (flags & OMPGPU_MAP_BLOCK))
        bad = ompgpu_check_blocks(w, addresses);
    for (unsigned i = 0; (flags & OMPGPU_MAP_ATTACH) && i < w->n && !bad; i++)
        if (w->maps[i].flags & OMPGPU_MAP_ATTACH)
            bad = attach_pointer(w, &w->maps[i]);
    if (w->thread)
        note_region(w->dev, w->maps, w->n);
    if (!bad && w->fill.n)
        bad = fill(w, addresses != NULL);
    if (bad && w->thread)
        note_region(NULL, NULL, 0);
    return bad;
}

/* What it has is not the host's, and a GPU's driver would copy between its own memory, or fail. */
static void check_for_device_memory(struct ompgpu_device *dev, const struct ompgpu_where *where,
                                    const struct ompgpu_map *maps, unsigned n)
{
    for (const struct ompgpu_map *m = maps; m < maps + n; m++)
        if ((uintptr_t)m->begin - OMPGPU_EMU_WINDOW < OMPGPU_EMU_STACKS_AT && m->size &&
            ompgpu_checks(OMPGPU_CHECK_ADDRESS) && ompgpu_is_device_only(dev, (uintptr_t)m->begin))
            ompgpu_check_report(OMPGPU_CHECK_ADDRESS, where,
                                "'%s' is memory of the device, which cannot be mapped; "
                                "is_device_ptr or has_device_addr passes its address",
                                m->name ? m->name : "?");
}

int ompgpu_data_enter(struct ompgpu_device *dev, struct ompgpu_where *where,
                      const struct ompgpu_map *maps, unsigned n, uintptr_t *addresses,
                      struct ompgpu_task *task)
{
    struct work w;
    unsigned done = 0;
    if (addresses && !task && ompgpu_present_enter(dev, where, maps, n, addresses))
        return 0;
    if (ompgpu_watched() && !task) {
        check_for_device_memory(dev, where, maps, n);
        if (!addresses) /* before a region ompgpu_stale_before() does */
            ompgpu_reuse_look(dev, where, maps, n);
    }
    begin_work(&w, dev, where, maps, n, task);
    w.thread = addresses && !task ? ompgpu_self_ : NULL;
    enter_tables(&w);
    int bad = enter_items(&w, addresses, &done);
    if (bad)
        undo_entering(&w, maps, done);
    unlock_tables(dev, w.held);
    ompgpu_fill_free(dev, &w.fill);
    return result_of(&w, bad);
}

/* ------------------------------------------------------------------ leaving */
static void take_reference(struct work *w, const struct ompgpu_map *m, struct ompgpu_entry *e)
{
    if (e->counted != w->number)
        e->taken.refs = e->taken.holds = 0;
    bool hold = e->counted != w->number && holds(w, e);
    if (e->counted != w->number && (hold ? e->holds : ompgpu_refs(e)) > 0) {
        count(w, e, m, -1);
        ++*(hold ? &e->taken.holds : &e->taken.refs);
    }
    if (m->flags & OMPGPU_MAP_DELETE)
        e->taken.refs += ompgpu_refs_take_all(e);
}

/* What was found for an item first is another mapping by now where the lock was given up. */
static inline struct ompgpu_entry *find_again(struct work *w, unsigned i)
{
    const struct ompgpu_map *m = &w->maps[i];
    struct ompgpu_entry *e = i < OMPGPU_FEW_LEFT ? w->found[i] : NULL;
    return ompgpu_maps(e, (uintptr_t)m->begin)
               ? e
               : ompgpu_present_find(w->dev, (uintptr_t)m->begin, m->size);
}

/* *more: there is more to do than counting. */
static int count_down(struct work *w, unsigned i, bool *more)
{
    const struct ompgpu_map *m = &w->maps[i];
    struct ompgpu_entry *e;
    const int found = find_entry(w, m, &e);
    if (i < OMPGPU_FEW_LEFT)
        w->found[i] = e;
    if (found < 0 || (found && w->how != OMPGPU_LEAVE_REGION))
        return found < 0 ? -1 : ompgpu_item_partly_mapped(w, m, e);
    if (found) /* what the construct mapped has gone since, and a part of it come back */
        e = NULL;
    if (!e && w->how == OMPGPU_LEAVE_REGION && ompgpu_watched())
        ompgpu_stale_missing(w->dev, w->where, m);
    if (!e)
        return w->how == OMPGPU_LEAVE_DATA ? item_missing(w, m) : 0;
    if (!is_counted_in(e, m))
        return ompgpu_covered_leave(w, e, m);
    if (has_an_end(e)) {
        take_reference(w, m, e);
        *more |= is_unused(e);
        if (e->nuses && is_unused(e) && await_uses(w, e))
            return ompgpu_item_failed(w, m);
    }
    *more |= (m->flags & OMPGPU_MAP_ALWAYS) != 0;
    ompgpu_watch_item(w->where, OMPGPU_ITEM_LEFT, m, e);
    return 0;
}

static void undo_counting(struct work *w, unsigned i)
{
    struct ompgpu_entry *e =
        ompgpu_present_find(w->dev, (uintptr_t)w->maps[i].begin, w->maps[i].size);
    if (e && e->counted == w->number) {
        ompgpu_refs_add(e, e->taken.refs);
        e->holds += e->taken.holds;
        e->taken.refs = e->taken.holds = 0;
    } else if (e && has_counted(w, e, i)) /* and others after us */
        add_references(w, e, 1);
}

static int fetch_part(struct work *w, const struct ompgpu_map *m, struct ompgpu_entry *e,
                      struct part p, struct ompgpu_back *back)
{
    const struct ompgpu_chunk *c = w->where->chunk;
    return (c && ompgpu_chunk_from(c, m, p.begin, p.size, &w->wrong)) ||
           ompgpu_back_add(back, e, m, p.begin, p.size);
}

static int add_copy_back(struct work *w, unsigned i, struct ompgpu_back *back)
{
    const struct ompgpu_map *m = &w->maps[i];
    struct ompgpu_entry *e = find_again(w, i);
    if (!e || is_partial(e, m) || !(m->flags & OMPGPU_MAP_FROM) ||
        (m->flags & (OMPGPU_MAP_DELETE | OMPGPU_MAP_RELEASE)))
        return 0;
    if (!is_unused(e) && !(m->flags & OMPGPU_MAP_ALWAYS))
        return 0;
    struct part p = mapped_part(e, m);
    if (e->lost)
        return ompgpu_item_wrong(w, m, LOST);
    return p.size && fetch_part(w, m, e, p, back) ? ompgpu_item_failed(w, m) : 0;
}

static int run_back(struct work *w, struct ompgpu_back *back)
{
    int bad = w->task ? ompgpu_back_enqueue(back, w->task)
                      : ompgpu_back_run(back, w->dev, ompgpu_self(), w->where);
    return bad ? copy_failed(w, back->failed) : 0;
}

/* What entering has counted, and is to be left still. */
static bool was_counted(const struct work *w, unsigned i)
{
    uint64_t others = w->thread ? w->thread->results | w->thread->left : 0;
    return is_counted(&w->maps[i]) && (i >= OMPGPU_RESULTS || !(others >> i & 1));
}

/* The host gets what the construct owes it, all or nothing. */
static int bring_back(struct work *w, bool more)
{
    struct ompgpu_back back;
    int bad = 0;
    if (more) {
        back.copies = NULL, back.n = 0, back.bytes = 0, back.attached = false, back.failed = NULL;
        back.pack = NULL, back.npacked = 0, back.waits = false;
        for (unsigned i = w->n; i-- > 0 && !bad;)
            if (was_counted(w, i))
                bad = add_copy_back(w, i, &back);
        bool left = !bad && back.n && leave_tables(w, &back);
        bad = bad || run_back(w, &back);
        return_to_tables(w, &back, left);
        ompgpu_back_free(&back);
    }
    if (!bad && w->thread && w->thread->results)
        store_results(w);
    return bad;
}

/* A construct that has found it before it goes may be copying it: then that is waited for.  And
 * pointers that lead to it may lie in other parts of the table. */
static struct ompgpu_entry *find_unused(struct work *w, unsigned i)
{
    struct ompgpu_entry *e;
    uint64_t round = ompgpu_tables_round(w->dev);
    while ((e = find_again(w, i)) && is_unused(e) && w->held) {
        bool held = ompgpu_pointers_held(w->dev, e, w->held);
        if (e->busy)
            ompgpu_tables_wait(w->dev, w->held, round);
        else if (!held)
            ompgpu_tables_unlock(w->dev, w->held);
        else
            break;
        w->held = ompgpu_tables_relock(w->dev, held ? w->held : OMPGPU_WHOLE);
        round = ompgpu_tables_round(w->dev);
    }
    return e && is_unused(e) ? e : NULL;
}

static void free_if_unused(struct work *w, unsigned i)
{
    struct ompgpu_entry *e = find_unused(w, i);
    if (!e)
        return;
    if (ompgpu_watched() && !w->task && w->how != OMPGPU_LEAVE_DISCARD)
        ompgpu_stale_removed(w->dev, w->where, e);
    remove_entry(w, e);
}

static void first_thread_is_done(struct ompgpu_device *dev)
{
    if (__atomic_load_n(&dev->unsynced, __ATOMIC_RELAXED) == ompgpu_self_ && ompgpu_self_)
        ompgpu_tables_synced(dev);
}

static bool left_quickly(const struct ompgpu_map *maps, unsigned n)
{
    struct ompgpu_thread *t = ompgpu_self_;
    bool quick = t && t->maps == maps && t->quick;
    if (quick)
        t->quick = false;
    return quick && ompgpu_present_leave(t, n);
}

static void take_region(struct work *w)
{
    if (ompgpu_self_ && ompgpu_self_->maps == w->maps)
        w->thread = ompgpu_self_, w->thread->entered = NULL;
}

int ompgpu_data_exit(struct ompgpu_device *dev, struct ompgpu_where *where,
                     const struct ompgpu_map *maps, unsigned n, enum ompgpu_leave how,
                     struct ompgpu_task *task)
{
    struct work w;
    int bad = 0;
    bool more = false;
    if (how == OMPGPU_LEAVE_REGION && left_quickly(maps, n))
        return 0;
    begin_work(&w, dev, where, maps, n, task);
    w.how = how;
    if (how == OMPGPU_LEAVE_DISCARD) /* copies may be under way still */
        dev->plugin->sync(dev->ordinal);
    enter_tables(&w);
    first_thread_is_done(dev);
    take_region(&w);
    for (unsigned i = n; i-- > 0 && !bad;)
        if (was_counted(&w, i))
            bad = count_down(&w, i, &more);
    if (how == OMPGPU_LEAVE_DISCARD)
        bad = 0;
    else
        bad = bad || bring_back(&w, more) ? -1 : 0;
    for (unsigned i = n; (bad || more) && i-- > 0;)
        if (was_counted(&w, i))
            (bad ? undo_counting : free_if_unused)(&w, i);
    if (w.thread && !bad)
        w.thread->maps = NULL, w.thread->results = w.thread->left = 0;
    unlock_tables(dev, w.held);
    return result_of(&w, bad);
}

/* ------------------------------------------------------------------ target update */
static int update_item(struct work *w, const struct ompgpu_map *m, struct ompgpu_back *back)
{
    struct ompgpu_entry *e;
    const int found = find_entry(w, m, &e);
    if (found < 0 || (found && must_be_mapped(m)))
        return found < 0 ? -1 : ompgpu_item_partly_mapped(w, m, e);
    if (!e || found) /* not all of it is present */
        return item_missing(w, m);
    if (!m->size)
        return 0;
    struct part p = mapped_part(e, m);
    if ((m->flags & OMPGPU_MAP_FROM) && e->lost)
        return ompgpu_item_wrong(w, m, LOST);
    if ((m->flags & OMPGPU_MAP_TO) && p.size == e->end - e->begin)
        e->lost = false;
    if (((m->flags & OMPGPU_MAP_TO) && ompgpu_fill_add(&w->fill, e, m, p.begin, p.size)) ||
        ((m->flags & OMPGPU_MAP_FROM) && fetch_part(w, m, e, p, back)))
        return ompgpu_item_failed(w, m);
    return 0;
}

int ompgpu_data_update(struct ompgpu_device *dev, struct ompgpu_where *where,
                       const struct ompgpu_map *maps, unsigned n, struct ompgpu_task *task)
{
    struct work w;
    struct ompgpu_back back = { 0 };
    int bad = 0;
    if (ompgpu_watched() && !task)
        ompgpu_reuse_look(dev, where, maps, n);
    begin_work(&w, dev, where, maps, n, task);
    enter_tables(&w);
    for (unsigned i = 0; i < n && !bad; i++)
        bad = update_item(&w, &maps[i], &back);
    bool left = !bad && leave_tables(&w, &back);
    if (!bad && ompgpu_fill_run(&w.fill, dev, task, 0, where))
        bad = copy_failed(&w, w.fill.failed);
    bad = bad || run_back(&w, &back);
    if (w.fill.done && (bad || !back.n) && !task && dev->plugin->sync(dev->ordinal))
        bad = -1;
    return_to_tables(&w, &back, left);
    unlock_tables(dev, w.held);
    ompgpu_back_free(&back);
    ompgpu_fill_free(dev, &w.fill);
    return result_of(&w, bad);
}
