/* agreed.c - what both sides of a mapping had when they last agreed, for OMPGPU_CHECK=stale.
 *
 * Of each GRANULE bytes there is a sum of 8, no copy, which is half the memory.  A granule begins
 * at a multiple of its size on the host, so that no number lies in two.  Mostly the host or the
 * device still has these bytes, and the sum says so.  Where both have changed something in
 * a granule, it is put together from parts of the one and of the other until the sum fits; that
 * fails where both have changed the same part, and then nobody knows any more.  A sum that fits by
 * accident is one of 2^56. */
#include <string.h>
#include "hostrt/core/core.h"

enum { GRANULE = 16, UNKNOWN = 0 };

static uint64_t sum_of(const char *bytes)
{
    uint64_t a, b;
    memcpy(&a, bytes, sizeof a);
    memcpy(&b, bytes + sizeof a, sizeof b);
    __extension__ unsigned __int128 p =
        (unsigned __int128)(a ^ 0x9e3779b97f4a7c15) * (b ^ 0xd6e8feb86659fd93);
    uint64_t sum = (uint64_t)p ^ (uint64_t)(p >> 64);
    return sum == UNKNOWN ? 1 : sum;
}

static uintptr_t granule_of(uintptr_t host) { return host & ~(uintptr_t)(GRANULE - 1); }

static uint64_t *sum_at(const struct ompgpu_entry *e, uintptr_t granule)
{
    return &e->agreed[(granule - granule_of(e->begin)) / GRANULE];
}

/* Which bytes of a granule are in the mapping. */
struct part {
    size_t from, to;
};
static struct part part_in(const struct ompgpu_entry *e, uintptr_t granule)
{
    return (struct part){ granule < e->begin ? e->begin - granule : 0,
                          e->end - granule < GRANULE ? e->end - granule : GRANULE };
}

/* Of one side; zeros for what is not in the mapping. */
static void get(const struct ompgpu_entry *e, const char *side, uintptr_t granule,
                char bytes[GRANULE])
{
    struct part in = part_in(e, granule);
    memset(bytes, 0, GRANULE);
    memcpy(bytes + in.from, side + (granule + in.from - e->begin), in.to - in.from);
}

static uint64_t sum_of_side(const struct ompgpu_entry *e, const char *side, uintptr_t granule)
{
    char bytes[GRANULE];
    if (granule >= e->begin && e->end - granule >= GRANULE)
        return sum_of(side + (granule - e->begin));
    get(e, side, granule, bytes);
    return sum_of(bytes);
}

/* Parts of `unit` bytes, each from the one or the other. */
static bool mix(uint64_t sum, const char *one, const char *other, size_t unit, char bytes[GRANULE])
{
    unsigned parts = GRANULE / unit;
    for (unsigned from_other = 1; from_other < (1U << parts) - 1; from_other++) {
        for (unsigned i = 0; i < parts; i++)
            memcpy(bytes + i * unit, (from_other >> i & 1 ? other : one) + i * unit, unit);
        if (sum_of(bytes) == sum)
            return true;
    }
    return false;
}

static bool recall(const struct ompgpu_entry *e, uintptr_t granule, char bytes[GRANULE])
{
    char host[GRANULE], device[GRANULE];
    uint64_t sum = *sum_at(e, granule);
    get(e, (const char *)e->begin, granule, host);
    get(e, (const char *)e->device, granule, device);
    if (sum == UNKNOWN)
        return false;
    if (sum_of(host) == sum || sum_of(device) == sum) {
        memcpy(bytes, sum_of(host) == sum ? host : device, GRANULE);
        return true;
    }
    return mix(sum, host, device, 4, bytes) || mix(sum, host, device, 2, bytes);
}

/* What the rest of a granule was: as it is, if both sides have the same. */
static bool recall_rest(const struct ompgpu_entry *e, uintptr_t granule, struct part but,
                        char bytes[GRANULE])
{
    char device[GRANULE];
    if (recall(e, granule, bytes))
        return true;
    get(e, (const char *)e->begin, granule, bytes);
    get(e, (const char *)e->device, granule, device);
    return memcmp(bytes, device, but.from) == 0 &&
           memcmp(bytes + but.to, device + but.to, GRANULE - but.to) == 0;
}

static void set_part(struct ompgpu_entry *e, uintptr_t granule, struct part p, const char *value)
{
    char bytes[GRANULE] = { 0 };
    struct part all = part_in(e, granule);
    bool known = (p.from == all.from && p.to == all.to) || recall_rest(e, granule, p, bytes);
    memcpy(bytes + p.from, value, p.to - p.from);
    *sum_at(e, granule) = known ? sum_of(bytes) : UNKNOWN;
}

void ompgpu_agreed_set(struct ompgpu_entry *e, uintptr_t begin, size_t size, const void *value)
{
    const char *next = value;
    for (uintptr_t at = begin, end = begin + size, n; at < end; at += n, next += n) {
        uintptr_t granule = granule_of(at), from = at - granule;
        n = end - at < GRANULE - from ? end - at : GRANULE - from;
        if (n == GRANULE)
            *sum_at(e, granule) = sum_of(next);
        else
            set_part(e, granule, (struct part){ from, from + n }, next);
    }
}

bool ompgpu_agreed_start(struct ompgpu_entry *e, const void *all)
{
    size_t n = (e->end - granule_of(e->begin) + GRANULE - 1) / GRANULE;
    if (!e->agreed && !(e->agreed = ompgpu_xalloc(n * sizeof *e->agreed)))
        return false;
    ompgpu_agreed_set(e, e->begin, e->end - e->begin, all);
    return true;
}

struct ompgpu_agreed ompgpu_agreed_at(const struct ompgpu_entry *e, uintptr_t host)
{
    struct ompgpu_agreed a;
    char bytes[GRANULE];
    uintptr_t granule = granule_of(host), in = host - granule;
    a.size = part_in(e, granule).to - in;
    a.known = recall(e, granule, bytes);
    memcpy(a.bytes, bytes + in, a.known ? a.size : 0);
    return a;
}

uintptr_t ompgpu_agreed_same(const struct ompgpu_entry *e, const void *side, uintptr_t from,
                             uintptr_t to)
{
    uintptr_t at = granule_of(from);
    while (at < to && (*sum_at(e, at) == UNKNOWN || sum_of_side(e, side, at) == *sum_at(e, at)))
        at += GRANULE;
    return at < from ? from : at < to ? at : to;
}
