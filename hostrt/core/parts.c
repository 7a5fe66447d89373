/* parts.c - the present table of a device is in parts, each with a lock of its own.
 *
 * The address space is cut into granules.  One belongs to the host thread that has first mapped
 * something in it, or rather to that thread's part of the table, for good: so threads that map data
 * of their own (their stacks, what they have allocated) do not meet.
 *
 * A mapping lies in the part of its granule.  One that lies in several granules is wide: it is in a
 * set of its own, which is changed by who has the whole table only.  To have the whole table is to
 * have dev->lock and then the locks of all parts, of which there are as many as threads have mapped
 * something, at most OMPGPU_PARTS.
 *
 *      a construct all of whose items lie in one granule each,    the locks of these parts
 *      and in nothing wide
 *      any other                                                  the whole table
 *
 * The first kind reads the set of the wide ones, and changes none of them.  Where an address may be
 * that of a pointer which a mapping far away has as its base (OpenMP 5.2, 1.2.6), it is of the
 * other kind.
 *
 * Who finds that something is being copied (fill.c) gives its locks up, and waits for a round. */
#include "hostrt/core/core.h"

#define LOAD(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)

/* Who has the whole table has all parts that there are then: no more of them come meanwhile. */
static void use_part(struct ompgpu_device *dev, unsigned number)
{
    if (number < ompgpu_parts_in_use(dev))
        return;
    pthread_mutex_lock(&dev->lock);
    if (number >= ompgpu_parts_in_use(dev))
        __atomic_store_n(&dev->more_parts, number, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&dev->lock);
}

/* The part of an address, from now on if it had none. */
static unsigned part_for(struct ompgpu_device *dev, uintptr_t address, unsigned number)
{
    unsigned char *owner = ompgpu_owner_of(dev, address), none = 0, is = LOAD(owner);
    if (!is && __atomic_compare_exchange_n(owner, &none, (unsigned char)(number + 1), false,
                                           __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return number;
    return (is ? is : none) - 1u;
}

static unsigned own_number(void) { return ompgpu_self_ ? ompgpu_self_->number % OMPGPU_PARTS : 0; }

/* No lock is held. */
static unsigned part_of(struct ompgpu_device *dev, uintptr_t address)
{
    unsigned owner = LOAD(ompgpu_owner_of(dev, address)), own = own_number();
    if (owner)
        return owner - 1;
    use_part(dev, own);
    return part_for(dev, address, own);
}

struct ompgpu_part *ompgpu_part_make(struct ompgpu_device *dev, uintptr_t address)
{
    unsigned own = own_number();
    return &dev->parts[part_for(dev, address, own < ompgpu_parts_in_use(dev) ? own : 0)];
}

/* ------------------------------------------------------------------ locks */
unsigned ompgpu_tables_lock(struct ompgpu_device *dev)
{
    pthread_mutex_lock(&dev->lock);
    unsigned n = ompgpu_parts_in_use(dev);
    for (unsigned i = 0; i < n; i++)
        pthread_mutex_lock(&dev->parts[i].lock);
    return OMPGPU_WHOLE | ((1u << n) - 1);
}

unsigned ompgpu_tables_try(struct ompgpu_device *dev, const struct timespec *until)
{
    if (pthread_mutex_timedlock(&dev->lock, until))
        return 0;
    unsigned n = ompgpu_parts_in_use(dev), held = OMPGPU_WHOLE;
    for (unsigned i = 0; i < n && !pthread_mutex_timedlock(&dev->parts[i].lock, until); i++)
        held |= 1u << i;
    if (held == (OMPGPU_WHOLE | ((1u << n) - 1)))
        return held;
    ompgpu_tables_unlock(dev, held);
    return 0;
}

void ompgpu_tables_unlock(struct ompgpu_device *dev, unsigned held)
{
    for (unsigned left = held & ~OMPGPU_WHOLE; left; left &= left - 1)
        pthread_mutex_unlock(&dev->parts[__builtin_ctz(left)].lock);
    if (held & OMPGPU_WHOLE)
        pthread_mutex_unlock(&dev->lock);
}

unsigned ompgpu_tables_relock(struct ompgpu_device *dev, unsigned held)
{
    if (held & OMPGPU_WHOLE)
        return ompgpu_tables_lock(dev);
    for (unsigned left = held; left; left &= left - 1)
        pthread_mutex_lock(&dev->parts[__builtin_ctz(left)].lock);
    return held;
}

unsigned ompgpu_tables_lock_at(struct ompgpu_device *dev, uintptr_t address)
{
    return __libc_single_threaded ? 0 : ompgpu_tables_relock(dev, 1u << part_of(dev, address));
}

/* ------------------------------------------------------------------ a construct's parts */
enum { MOST_ITEMS = 64 };

static bool has_place(const struct ompgpu_map *m) { return !(m->flags & OMPGPU_MAP_PRIVATE_COPY); }

/* What items of a block have between them belongs to it. */
static bool lies_in_granules(const struct ompgpu_map *maps, unsigned n)
{
    const struct ompgpu_map *block = NULL;
    for (unsigned i = 0; i < n; i++) {
        const struct ompgpu_map *m = &maps[i];
        if (!has_place(m))
            continue;
        if (!ompgpu_in_granule((uintptr_t)m->begin, m->size) ||
            ((m->flags & OMPGPU_MAP_ATTACH) &&
             !ompgpu_in_granule((uintptr_t)m->attach, sizeof(void *))))
            return false;
        if (!(m->flags & OMPGPU_MAP_BLOCK))
            continue;
        if (block && ompgpu_granule((uintptr_t)block->begin) != ompgpu_granule((uintptr_t)m->begin))
            return false;
        block = m;
    }
    return true;
}

static unsigned parts_of(struct ompgpu_device *dev, const struct ompgpu_map *maps, unsigned n)
{
    unsigned parts = 0;
    for (unsigned i = 0; i < n; i++) {
        if (has_place(&maps[i]))
            parts |= 1u << part_of(dev, (uintptr_t)maps[i].begin);
        if (maps[i].flags & OMPGPU_MAP_ATTACH)
            parts |= 1u << part_of(dev, (uintptr_t)maps[i].attach);
    }
    return parts ? parts : OMPGPU_WHOLE;
}

/* With the whole table held. */
static void look_for_far(struct ompgpu_device *dev)
{
    unsigned far = 0;
    for (unsigned i = LOAD(&dev->far) ? ompgpu_parts_in_use(dev) : 0; i-- > 0;)
        far |= (unsigned)(dev->parts[i].nfar != 0) << i;
    if (LOAD(&dev->far) != far)
        __atomic_store_n(&dev->far, far, __ATOMIC_RELEASE);
}

/* With the locks of the parts held. */
static bool needs_whole(const struct ompgpu_device *dev, const struct ompgpu_map *maps, unsigned n)
{
    const struct ompgpu_ranges *wide = &dev->wide;
    bool far = wide->count || LOAD(&dev->far);
    if (dev->links)
        return true;
    for (unsigned i = 0; far && i < n; i++) {
        const struct ompgpu_map *m = &maps[i];
        if (!has_place(m))
            continue;
        if ((m->flags & OMPGPU_MAP_LOOKUP) || !m->size ||
            ompgpu_ranges_find(wide, (uintptr_t)m->begin, m->size) ||
            ((m->flags & OMPGPU_MAP_ATTACH) &&
             ompgpu_ranges_find(wide, (uintptr_t)m->attach, sizeof(void *))))
            return true;
    }
    return false;
}

static unsigned lock_for(struct ompgpu_device *dev, const struct ompgpu_map *maps, unsigned n,
                         bool whole)
{
    whole = whole || n > MOST_ITEMS || ompgpu_watched() || ompgpu_unified() ||
            ompgpu_is_rescued(dev) || !lies_in_granules(maps, n);
    unsigned held = ompgpu_tables_relock(dev, whole ? OMPGPU_WHOLE : parts_of(dev, maps, n));
    if ((held & OMPGPU_WHOLE) || !needs_whole(dev, maps, n))
        return held;
    ompgpu_tables_unlock(dev, held);
    held = ompgpu_tables_lock(dev);
    look_for_far(dev);
    return held;
}

/* ------------------------------------------------------------------ waiting */
uint64_t ompgpu_tables_round(const struct ompgpu_device *dev)
{
    return __atomic_load_n(&dev->rounds, __ATOMIC_SEQ_CST);
}

void ompgpu_tables_wait(struct ompgpu_device *dev, unsigned held, uint64_t round)
{
    pthread_mutex_lock(&dev->wait_lock);
    __atomic_add_fetch(&dev->nwaiting, 1, __ATOMIC_SEQ_CST);
    ompgpu_tables_unlock(dev, held);
    while (ompgpu_tables_round(dev) == round)
        pthread_cond_wait(&dev->synced, &dev->wait_lock);
    __atomic_sub_fetch(&dev->nwaiting, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&dev->wait_lock);
}

static void begin_round(struct ompgpu_device *dev)
{
    __atomic_add_fetch(&dev->rounds, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&dev->nwaiting, __ATOMIC_SEQ_CST))
        return;
    pthread_mutex_lock(&dev->wait_lock);
    pthread_cond_broadcast(&dev->synced);
    pthread_mutex_unlock(&dev->wait_lock);
}

/* Who waits for it counted itself before it gave up the locks that we have. */
void ompgpu_tables_copied(struct ompgpu_device *dev)
{
    if (__atomic_load_n(&dev->nwaiting, __ATOMIC_SEQ_CST))
        begin_round(dev);
}

void ompgpu_tables_synced(struct ompgpu_device *dev)
{
    __atomic_store_n(&dev->unsynced, NULL,
                     __libc_single_threaded ? __ATOMIC_RELAXED : __ATOMIC_SEQ_CST);
    if (!__libc_single_threaded)
        begin_round(dev);
}

static bool must_wait(struct ompgpu_device *dev, const struct ompgpu_map *maps, unsigned n,
                      unsigned held)
{
    const struct ompgpu_thread *first = __atomic_load_n(&dev->unsynced, __ATOMIC_SEQ_CST);
    return (first && first != ompgpu_self_) || ompgpu_any_busy(dev, maps, n, held);
}

unsigned ompgpu_tables_lock_for(struct ompgpu_device *dev, const struct ompgpu_map *maps,
                                unsigned n, bool whole)
{
    for (;;) {
        uint64_t round = ompgpu_tables_round(dev);
        unsigned held = lock_for(dev, maps, n, whole);
        if (!must_wait(dev, maps, n, held))
            return held;
        ompgpu_tables_wait(dev, held, round);
    }
}
