/* lanes.c - how many lanes of a warp run an iteration of a league's loop, a row, together.
 *
 * simdlen says it, or OMPGPU_LANES, for tests.  Otherwise it is a matter of how long the loop
 * inside is that they share: the program says it by its bounds, or it is the mean of what an array
 * of row ends says.  That lies on the device; two of its elements are copied the first time that a
 * kernel sees an array with so many rows, and a few times only, since a copy takes longer than a
 * launch: a wrong guess costs time and nothing else.  On the emulated device a lane has nothing to
 * gain. */
#include "hostrt/core/core.h"

enum {
    FEW = 8,        /* lanes: as many elements fill a sector of memory or two */
    WHOLE = 32,     /* … a warp */
    SHORT = 16,     /* a row that one thread reads as well */
    LONG = 256,     /* one that is worth a warp */
    MOST_READS = 16 /* of row ends, by a kernel */
};

static int suiting(const struct ompgpu_device *dev, const struct ompgpu_launch *l, uint64_t trip)
{
    const uint64_t device = (uint64_t)dev->info.multiprocessors * dev->info.max_threads_per_mp;
    if (trip < SHORT)
        return 1;
    bool idle = l->trip && l->trip < device / FEW;
    return trip >= LONG || (idle && trip >= WHOLE) ? WHOLE : FEW;
}

static uint64_t key_of(const struct ompgpu_launch *l, uintptr_t e)
{
    uint64_t key = (e ^ l->trip * 0x9E3779B97F4A7C15u ^ (uint64_t)l->first) * 0x9E3779B97F4A7C15u;
    return key & ~(uint64_t)255;
}

/* 1: *n is how long rows are, on average; 0: the device does not give it; -1: the device failed. */
static int read_mean(const struct ompgpu_device *dev, const struct ompgpu_launch *l, uintptr_t e,
                     uint64_t *n)
{
    struct {
        int narrow;
        long long wide;
    } begin = { 0 }, end = { 0 };
    const bool wide = l->row_size == sizeof end.wide;
    const uintptr_t first = e + (uintptr_t)l->first * l->row_size;
    bool bad = dev->plugin->from_device(dev->ordinal, wide ? (void *)&begin.wide : &begin.narrow,
                                        (void *)first, l->row_size) ||
               dev->plugin->from_device(dev->ordinal, wide ? (void *)&end.wide : &end.narrow,
                                        (void *)(first + l->trip * l->row_size), l->row_size);
    if (dev->plugin->sync(dev->ordinal))
        return -1;
    long long all = wide ? end.wide - begin.wide : (long long)end.narrow - begin.narrow;
    *n = all > 0 ? (uint64_t)all / l->trip : 0;
    return !bad;
}

/* Lanes for the rows that end where e says. */
static int lanes_of_rows(const struct ompgpu_device *dev, struct ompgpu_function *f,
                         const struct ompgpu_launch *l, uintptr_t e, bool may_read)
{
    uint64_t known = __atomic_load_n(&f->lanes_known, __ATOMIC_RELAXED), key = key_of(l, e), n;
    int lanes = known & 255;
    if (!e || !l->trip)
        return 1;
    if (lanes && ((known & ~(uint64_t)255) == key || !may_read ||
                  __atomic_load_n(&f->lanes_reads, __ATOMIC_RELAXED) >= MOST_READS))
        return lanes;
    int read = may_read ? read_mean(dev, l, e, &n) : 0;
    if (read < 1)
        return read ? -1 : 1;
    __atomic_add_fetch(&f->lanes_reads, 1, __ATOMIC_RELAXED);
    lanes = suiting(dev, l, n);
    __atomic_store_n(&f->lanes_known, key | (unsigned)lanes, __ATOMIC_RELAXED);
    return lanes;
}

/* As many as the form has that was asked for. */
static unsigned power_below(unsigned n) { return n ? 1u << (31 - (unsigned)__builtin_clz(n)) : 1; }

int ompgpu_lanes(const struct ompgpu_device *dev, struct ompgpu_function *f,
                 const struct ompgpu_launch *l, uintptr_t e, bool may_read)
{
    const unsigned asked = (unsigned)ompgpu_settings.lanes;
    if (asked == 1 || (!asked && !dev->info.arch))
        return 1;
    if (l->lanes)
        return (int)l->lanes;
    if (asked)
        return power_below(asked);
    return l->inner_trip ? suiting(dev, l, l->inner_trip) : lanes_of_rows(dev, f, l, e, may_read);
}
