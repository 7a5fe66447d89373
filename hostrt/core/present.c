/* present.c - the present table of a device: look-ups, and regions that need no lock for it.
 *
 * It is in parts (parts.c).  A treap (ranges.c) has the mappings of each in their order.  Before it
 * stands an index: what was found last, by a hash of the address.  Who only asks where something is
 * has a table of his own (first.c).
 *
 * In its steady state a region finds all of its items mapped and only counts them, and host threads
 * that do so with data of their own should not wait for each other.  So this needs no lock: the
 * index is read, what it names is checked and counted with one compare-and-swap.  That is safe
 * since
 *   - the struct of a mapping is not given back before its device is closed: what the index names
 *     is a mapping, or was one, or is another one by now;
 *   - `count` tells which.  Besides the references it has the number of the struct's life, which
 *     grows with each mapping that it is, and whether the mapping is READY: its data is there, as a
 *     construct has seen that held the lock and had not made it.  A mapping that is about to go has
 *     no references.  While `count` stays as it is, what was read of the struct belongs to it.
 * Anything else is done with the lock (data.c), the end of the last reference above all. */
#include <string.h>
#include "hostrt/core/core.h"

#define READY OMPGPU_READY
#define NEXT_LIFE ((uint64_t)1 << 33)
#define LOAD(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define STORE(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
static int32_t refs_of(uint64_t count) { return (int32_t)count; }
static uint64_t life_of(uint64_t count) { return count & ~(READY - 1); } /* with READY */

/* ------------------------------------------------------------------ structs of mappings */
/* They are made in blocks, each twice as large as the one before it.  What a look-up reads of one
 * lies in its first two lines.  Who makes a mapping has the lock of its part; who gives one back
 * need not have it. */
enum { FIRST_BLOCK = 16, LARGEST_BLOCK = 1 << 15, LINE = 64 };
struct ompgpu_block {
    struct ompgpu_block *next;
    unsigned n;
};
enum { ENTRY_BYTES = (sizeof(struct ompgpu_entry) + LINE - 1) / LINE * LINE };
_Static_assert(offsetof(struct ompgpu_entry, listed) < 2 * LINE, "the first two lines");

static void make_spares(struct ompgpu_spares *s)
{
    unsigned before = s->blocks ? s->blocks->n : 0, n = !before                  ? FIRST_BLOCK
                                                        : before < LARGEST_BLOCK ? 2 * before
                                                                                 : before;
    struct ompgpu_block *b = ompgpu_xalloc(sizeof *b + LINE + (size_t)n * ENTRY_BYTES);
    if (!b)
        return;
    char *first = (char *)(((uintptr_t)(b + 1) + LINE - 1) & ~(uintptr_t)(LINE - 1));
    ompgpu_use_large_pages(first, (size_t)n * ENTRY_BYTES);
    b->n = n, b->next = s->blocks, s->blocks = b;
    while (n-- > 0) {
        struct ompgpu_entry *e = (struct ompgpu_entry *)(first + (size_t)n * ENTRY_BYTES);
        e->spare = s->first, s->first = e;
    }
}

/* A struct is all its lives one of the same part's mappings, or a wide one: so who has the lock of
 * a part may read what the index names there, whatever that is by now. */
static struct ompgpu_spares *spares_for(struct ompgpu_device *dev, uintptr_t begin, size_t size)
{
    return ompgpu_in_granule(begin, size) ? &ompgpu_part_make(dev, begin)->spares
                                          : &dev->wide_spares;
}

/* The same as when it was made. */
static struct ompgpu_spares *spares_of(struct ompgpu_device *dev, const struct ompgpu_entry *e)
{
    return ompgpu_in_granule(e->begin, e->end - e->begin) ? &ompgpu_part_at(dev, e->begin)->spares
                                                          : &dev->wide_spares;
}

/* A list from that of those which threads have given back. */
static struct ompgpu_entry *take_back(struct ompgpu_spares *s)
{
    struct ompgpu_entry *e = LOAD(&s->back);
    if (!e)
        return NULL;
    if (!__libc_single_threaded)
        return __atomic_exchange_n(&s->back, NULL, __ATOMIC_ACQUIRE);
    s->back = NULL;
    return e;
}

static void give_back(struct ompgpu_spares *s, struct ompgpu_entry *e)
{
    e->spare = LOAD(&s->back);
    if (__libc_single_threaded)
        s->back = e;
    else
        while (!__atomic_compare_exchange_n(&s->back, &e->spare, e, true, __ATOMIC_RELEASE,
                                            __ATOMIC_RELAXED))
            ;
}

struct ompgpu_entry *ompgpu_entry_new(struct ompgpu_device *dev, uintptr_t begin, size_t size,
                                      uintptr_t device, long refs)
{
    struct ompgpu_spares *s = spares_for(dev, begin, size);
    if (!s->first)
        s->first = take_back(s);
    if (!s->first)
        make_spares(s);
    struct ompgpu_entry *e = s->first;
    if (!e)
        return NULL;
    s->first = e->spare;
    memset(&e->holds, 0, sizeof *e - offsetof(struct ompgpu_entry, holds));
    STORE(&e->begin, begin);
    STORE(&e->end, begin + size);
    STORE(&e->device, device);
    e->base = 0;
    STORE(&e->count, LOAD(&e->count) | (uint32_t)refs);
    return e;
}

void ompgpu_entry_free(struct ompgpu_device *dev, struct ompgpu_entry *e)
{
    struct ompgpu_spares *s = spares_of(dev, e);
    void *const owned[] = { e->uses,   e->attached.list, e->pointers.list,
                            e->agreed, e->had,           e->shadow };
    for (unsigned i = 0; i < sizeof owned / sizeof *owned; i++)
        if (owned[i]) /* seldom */
            ompgpu_xfree(owned[i]);
    STORE(&e->count, (LOAD(&e->count) & ~(NEXT_LIFE - 1)) + NEXT_LIFE);
    STORE(&e->begin, 0);
    STORE(&e->end, 0);
    give_back(s, e);
}

long ompgpu_refs_take_all(struct ompgpu_entry *e)
{
    return refs_of(__atomic_fetch_and(&e->count, ~(READY - 1), __ATOMIC_ACQ_REL));
}

bool ompgpu_refs_take(struct ompgpu_entry *e, long n)
{
    uint64_t now = LOAD(&e->count);
    while (refs_of(now) == n)
        if (__atomic_compare_exchange_n(&e->count, &now, now & ~(READY - 1), true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return true;
    return false;
}

/* Until then only who has the lock changes the count. */
void ompgpu_entry_ready(struct ompgpu_entry *e)
{
    uint64_t is = LOAD(&e->count);
    if (!(is & READY))
        STORE(&e->count, is | READY);
}

/* ------------------------------------------------------------------ the index */
/* A set is a line of the cache.  A place has a mapping and, in the bits of its address that are 0,
 * some of the hash of the address that was looked up: so hardly another mapping is looked at. */
enum { WAYS = 8, FIRST_BITS = 6 };
typedef uintptr_t place; /* atomic */
struct ompgpu_quick {
    struct ompgpu_quick *older; /* who has no lock may read it still */
    void *memory;               /* it is in */
    unsigned bits;              /* log2 of the number of sets */
    place (*sets)[WAYS];        /* after it; of each set what was found last comes first */
};
_Static_assert(sizeof(place[WAYS]) == LINE, "a set is a line");

static place *set_of(struct ompgpu_quick *q, uint64_t hash)
{
    return q->sets[hash >> (64 - q->bits)];
}

static place tag_of(uint64_t hash) { return hash >> 20 & (LINE - 1); }

static inline bool may_be(const place *p, uint64_t hash)
{
    return (LOAD(p) & (LINE - 1)) == tag_of(hash);
}

/* Bit per place whose mapping may be the one.  But for the first, which it is where there are few
 * (and after which there is none where it is empty), without branches: a processor that guesses
 * where it is would guess wrong, and know it only when the line has come from memory.  Where the
 * first is a wrong one, the treap has the right one. */
static inline unsigned match(const place *set, uint64_t hash)
{
    unsigned found = 0;
    if (may_be(&set[0], hash))
        return 1;
    if (!LOAD(&set[0]))
        return 0;
    for (unsigned i = 1; i < WAYS; i++)
        found |= (unsigned)may_be(&set[i], hash) << i;
    return found;
}

static struct ompgpu_entry *mapping_in(place p)
{
    return (struct ompgpu_entry *)(p & -(uintptr_t)LINE);
}

static void note(struct ompgpu_quick *q, uintptr_t address, struct ompgpu_entry *e)
{
    uint64_t hash = ompgpu_hash(address);
    place *set = set_of(q, hash);
    for (unsigned i = WAYS; --i;)
        STORE(&set[i], set[i - 1]);
    STORE(&set[0], (uintptr_t)e | tag_of(hash));
}

/* That of an address, without the lock; NULL: there is none. */
static inline struct ompgpu_quick *quick_at(struct ompgpu_device *dev, uintptr_t address)
{
    struct ompgpu_part *part = ompgpu_part_at(dev, address);
    return part ? LOAD(&part->quick) : NULL;
}

/* ------------------------------------------------------------------ its size */
static struct ompgpu_quick *make_quick(unsigned bits)
{
    struct ompgpu_quick *q;
    size_t size = ((size_t)1 << bits) * sizeof *q->sets;
    char *memory = ompgpu_xalloc(sizeof *q + size + LINE);
    if (!memory)
        return NULL;
    q = (struct ompgpu_quick *)memory;
    q->memory = memory, q->bits = bits;
    q->sets = (place(*)[WAYS])(((uintptr_t)(q + 1) + LINE - 1) & ~(uintptr_t)(LINE - 1));
    ompgpu_use_large_pages(q->sets, size);
    return q;
}

/* To twice as many places as there are mappings, or more.  Where memory is out, it stays as it is.
 */
static void grow(struct ompgpu_part *part)
{
    struct ompgpu_quick *old = part->quick, *q = make_quick(old ? old->bits + 2 : FIRST_BITS);
    if (!q)
        return;
    q->older = old;
    for (size_t i = 0; old && i < (size_t)1 << old->bits; i++)
        for (unsigned k = WAYS; k-- > 0;) {
            struct ompgpu_entry *e = mapping_in(old->sets[i][k]);
            if (e && e->listed)
                note(q, e->begin, e);
        }
    STORE(&part->quick, q);
}

static struct ompgpu_entry *lower(struct ompgpu_entry *e, const struct ompgpu_ranges *in,
                                  uintptr_t begin, size_t size)
{
    struct ompgpu_entry *other = (struct ompgpu_entry *)ompgpu_ranges_find(in, begin, size);
    return !e || (other && other->begin < e->begin) ? other : e;
}

/* Without the index. */
static struct ompgpu_entry *search(struct ompgpu_device *dev, const struct ompgpu_part *part,
                                   uintptr_t begin, size_t size)
{
    struct ompgpu_entry *e = part ? lower(NULL, &part->present, begin, size) : NULL;
    for (unsigned i = ompgpu_in_granule(begin, size) ? 0 : ompgpu_parts_in_use(dev); i-- > 0;)
        e = lower(e, &dev->parts[i].present, begin, size);
    return dev->wide.count ? lower(e, &dev->wide, begin, size) : e;
}

/* What is not in the first place of its set. */
static __attribute__((noinline)) struct ompgpu_entry *find_further(struct ompgpu_device *dev,
                                                                   const struct ompgpu_part *part,
                                                                   uintptr_t begin, size_t size)
{
    struct ompgpu_quick *quick = part ? part->quick : NULL;
    const uint64_t hash = ompgpu_hash(begin);
    const place *set = quick ? set_of(quick, hash) : NULL;
    for (unsigned found = set ? match(set, hash) : 0; found; found &= found - 1) {
        struct ompgpu_entry *e = mapping_in(set[__builtin_ctz(found)]);
        if (ompgpu_maps(e, begin))
            return e;
    }
    struct ompgpu_entry *e = search(dev, part, begin, size);
    if (e && e->begin <= begin && quick)
        note(quick, begin, e);
    return e;
}

struct ompgpu_entry *ompgpu_present_find(struct ompgpu_device *dev, uintptr_t begin, size_t size)
{
    const struct ompgpu_part *part = ompgpu_part_at(dev, begin);
    if (part && part->quick) {
        const uint64_t hash = ompgpu_hash(begin);
        const place *first = set_of(part->quick, hash);
        if (may_be(first, hash) && ompgpu_maps(mapping_in(*first), begin))
            return mapping_in(*first);
    }
    return find_further(dev, part, begin, size);
}

struct ompgpu_entry *ompgpu_present_next(struct ompgpu_device *dev, uintptr_t after)
{
    return search(dev, NULL, after, SIZE_MAX - after);
}

size_t ompgpu_present_count(const struct ompgpu_device *dev)
{
    size_t n = dev->wide.count;
    for (unsigned i = ompgpu_parts_in_use(dev); i-- > 0;)
        n += dev->parts[i].present.count;
    return n;
}

struct ompgpu_entry *ompgpu_present_reach(struct ompgpu_device *dev, uintptr_t host, bool whole)
{
    struct ompgpu_part *own = ompgpu_part_at(dev, host);
    struct ompgpu_range *r = own ? ompgpu_ranges_reach(&own->present, host) : NULL;
    if (!r && whole)
        r = ompgpu_ranges_reach(&dev->wide, host);
    for (unsigned i = whole ? ompgpu_parts_in_use(dev) : 0; i-- > 0 && !r;)
        r = ompgpu_ranges_reach(&dev->parts[i].present, host);
    return (struct ompgpu_entry *)r;
}

/* Its base counts where it is another granule's. */
static void count_far(struct ompgpu_device *dev, struct ompgpu_part *part,
                      const struct ompgpu_entry *e, int n)
{
    unsigned bit = 1u << (part - dev->parts);
    if (!ompgpu_is_far(e))
        return;
    part->nfar += (unsigned)n;
    if (part->nfar && !(LOAD(&dev->far) & bit))
        __atomic_fetch_or(&dev->far, bit, __ATOMIC_ACQ_REL);
}

void ompgpu_present_insert(struct ompgpu_device *dev, struct ompgpu_entry *e)
{
    struct ompgpu_part *part = ompgpu_part_make(dev, e->begin);
    bool wide = ompgpu_is_wide(e), locked = ompgpu_reverse_lock();
    ompgpu_ranges_insert(wide ? &dev->wide : &part->present, &e->range);
    ompgpu_reverse_unlock(locked);
    e->listed = true;
    if (!wide)
        count_far(dev, part, e, 1);
    if (!part->quick || part->present.count + dev->wide.count > (size_t)4 << part->quick->bits)
        grow(part);
    if (part->quick)
        note(part->quick, e->begin, e);
}

/* The index may have it for addresses in it besides the first. */
static void forget(struct ompgpu_quick *q, const struct ompgpu_entry *e)
{
    place *set = set_of(q, ompgpu_hash(e->begin));
    unsigned i = 0;
    while (i < WAYS && mapping_in(set[i]) != e)
        i++;
    for (; i < WAYS; i++)
        STORE(&set[i], i + 1 < WAYS ? set[i + 1] : 0);
}

void ompgpu_present_remove(struct ompgpu_device *dev, struct ompgpu_entry *e)
{
    struct ompgpu_part *part = ompgpu_part_at(dev, e->begin);
    bool wide = ompgpu_is_wide(e);
    if (part->quick)
        forget(part->quick, e);
    ompgpu_first_forget(part, e);
    bool locked = ompgpu_reverse_lock();
    ompgpu_ranges_remove(wide ? &dev->wide : &part->present, &e->range);
    ompgpu_reverse_unlock(locked);
    e->listed = false;
    if (!wide)
        count_far(dev, part, e, -1);
}

static void close_spares(struct ompgpu_spares *s)
{
    s->first = s->back = NULL;
    for (struct ompgpu_block *b; (b = s->blocks);) {
        s->blocks = b->next;
        ompgpu_xfree(b);
    }
}

static void close_part(struct ompgpu_part *part)
{
    close_spares(&part->spares);
    ompgpu_firsts_close(part);
    for (struct ompgpu_quick *q; (q = part->quick);) {
        part->quick = q->older;
        ompgpu_xfree(q->memory);
    }
}

void ompgpu_entries_close(struct ompgpu_device *dev)
{
    for (unsigned i = 0; i < OMPGPU_PARTS; i++)
        close_part(&dev->parts[i]);
    close_spares(&dev->wide_spares);
}

/* ------------------------------------------------------------------ without the lock */
/* The index of the granule of a region's last item, which is that of the next one as a rule. */
struct nearby {
    struct ompgpu_device *dev;
    uintptr_t granule;
    struct ompgpu_quick *quick;
};
static inline struct ompgpu_quick *quick_near(struct nearby *n, uintptr_t address)
{
    if (!n->quick || ompgpu_granule(address) != n->granule)
        n->quick = quick_at(n->dev, address), n->granule = ompgpu_granule(address);
    return n->quick;
}

/* The mapping of an item, what its count was then, and the address for the kernel. */
static bool find_item(struct nearby *n, const struct ompgpu_map *m, struct ompgpu_held *found,
                      uintptr_t *address)
{
    uintptr_t at = (uintptr_t)m->begin;
    struct ompgpu_quick *q = quick_near(n, at);
    if (!q)
        return false;
    const uint64_t hash = ompgpu_hash(at);
    const place *set = set_of(q, hash);
    for (unsigned ways = match(set, hash); ways; ways &= ways - 1) {
        struct ompgpu_entry *e = mapping_in(LOAD(&set[__builtin_ctz(ways)]));
        if (!e)
            continue;
        uint64_t count = LOAD(&e->count);
        uintptr_t begin = LOAD(&e->begin), end = LOAD(&e->end);
        if (at < begin || at >= end)
            continue;
        *address = LOAD(&e->device) + (at - begin) - (at - (uintptr_t)m->base);
        *found = (struct ompgpu_held){ e, count };
        return (count & READY) && refs_of(count) && m->size <= end - at &&
               life_of(LOAD(&e->count)) == life_of(count);
    }
    return false;
}

/* Has it the bytes that the region surely uses? */
static bool has_used(const struct ompgpu_map *m, const struct ompgpu_entry *e)
{
    const unsigned long *used = m->attach;
    uintptr_t base = (uintptr_t)m->base;
    return !used || (base + used[0] >= LOAD(&e->begin) && base + used[1] <= LOAD(&e->end));
}

/* A construct counts each mapping once.  false: it is another one by now. */
static bool hold(struct ompgpu_thread *t, const struct ompgpu_held *found, signed char *by)
{
    unsigned k = 0;
    while (k < t->nheld && t->held[k].entry != found->entry)
        k++;
    if (k == t->nheld)
        t->held[t->nheld++] = *found;
    *by = (signed char)k;
    return life_of(t->held[k].count) == life_of(found->count);
}

static bool enter_item(struct ompgpu_thread *t, struct nearby *n, const struct ompgpu_map *m,
                       signed char *by, uintptr_t *address)
{
    const unsigned never = OMPGPU_MAP_ALWAYS | OMPGPU_MAP_BLOCK | OMPGPU_MAP_ATTACH |
                           OMPGPU_MAP_SELF | OMPGPU_MAP_HOLD | OMPGPU_MAP_POINTER;
    struct ompgpu_held found;
    *by = -1;
    if (m->flags & OMPGPU_MAP_PRIVATE_COPY)
        return true;
    if ((m->flags & never) || !find_item(n, m, &found, address))
        return false;
    if (m->flags & OMPGPU_MAP_LOOKUP)
        return has_used(m, found.entry);
    return refs_of(found.count) == OMPGPU_REFS_INFINITE || hold(t, &found, by);
}

static bool swap(struct ompgpu_entry *e, uint64_t *count, uint64_t other)
{
    if (!__libc_single_threaded)
        return __atomic_compare_exchange_n(&e->count, count, other, true, __ATOMIC_ACQ_REL,
                                           __ATOMIC_ACQUIRE);
    e->count = other;
    return true;
}

static bool is_current(const struct ompgpu_held *h, uint64_t now)
{
    return life_of(now) == life_of(h->count) && refs_of(now) > 0; /* `delete` ends it */
}

static bool count_up(const struct ompgpu_held *h)
{
    uint64_t now = LOAD(&h->entry->count);
    while (is_current(h, now))
        if (swap(h->entry, &now, now + 1))
            return true;
    return false;
}

static bool is_last(const struct ompgpu_held *h)
{
    uint64_t now = LOAD(&h->entry->count);
    return is_current(h, now) && refs_of(now) == 1;
}

/* false: it is the last. */
static bool count_down(const struct ompgpu_held *h)
{
    uint64_t now = LOAD(&h->entry->count);
    while (is_current(h, now))
        if (refs_of(now) == 1)
            return false;
        else if (swap(h->entry, &now, now - 1))
            return true;
    return true;
}

/* Of the n mappings that were counted; afterwards `left` has the items that need nothing more. */
static bool leave(struct ompgpu_thread *t, unsigned nmaps, unsigned n)
{
    unsigned k = 0;
    t->left = 0;
    while (k < n && count_down(&t->held[k]))
        k++;
    for (unsigned i = 0; k < n && i < nmaps; i++)
        if (t->held_by[i] < (int)k || t->held_by[i] >= (int)n)
            t->left |= (uint64_t)1 << i;
    return k == n;
}

/* The last reference of one has become ours meanwhile. */
static void leave_with_lock(struct ompgpu_device *dev, struct ompgpu_where *where,
                            const struct ompgpu_map *maps, unsigned n)
{
    ompgpu_self_->maps = maps, ompgpu_self_->quick = false;
    if (ompgpu_data_exit(dev, where, maps, n, OMPGPU_LEAVE_REGION, NULL))
        ompgpu_fatal(where, "%s", ompgpu_plugin_message());
}

bool ompgpu_present_enter(struct ompgpu_device *dev, struct ompgpu_where *where,
                          const struct ompgpu_map *maps, unsigned n, uintptr_t *addresses)
{
    struct ompgpu_thread *t = ompgpu_self_;
    unsigned k = 0;
    if (n > OMPGPU_QUICK_ITEMS || ompgpu_watched() || LOAD(&dev->unsynced))
        return false;
    t->nheld = 0;
    struct nearby near = { dev, 0, NULL };
    for (unsigned i = 0; i < n; i++)
        if (!enter_item(t, &near, &maps[i], &t->held_by[i], &addresses[i]))
            return false;
    while (k < t->nheld && count_up(&t->held[k]))
        k++;
    if (k < t->nheld) {
        if (!leave(t, n, k))
            leave_with_lock(dev, where, maps, n);
        return false;
    }
    t->quick = true, t->left = 0;
    t->maps = maps, t->nmaps = n, t->entered = dev;
    return true;
}

bool ompgpu_present_leave(struct ompgpu_thread *t, unsigned n)
{
    for (unsigned k = 0; k < t->nheld; k++)
        if (is_last(&t->held[k]))
            return false;
    t->entered = NULL;
    if (!leave(t, n, t->nheld))
        return false;
    t->maps = NULL;
    return true;
}
