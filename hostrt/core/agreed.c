/* agreed.c - what both sides of a mapping had when they last agreed, for OMPGPU_CHECK=stale.
 *
 * Of each GRANULE bytes there is a sum of 8, no copy, which is half the memory.  Mostly the host
 * or the device still has these bytes, and the sum says so.  Where both have changed something in
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

static size_t end_of(const struct ompgpu_entry *e) { return e->end - e->begin; }

/* `size` bytes, with zeros behind them where a mapping ends. */
static void get(const char *from, size_t size, char bytes[GRANULE])
{
    size_t n = size < GRANULE ? size : GRANULE;
    memset(bytes + n, 0, GRANULE - n);
    memcpy(bytes, from, n);
}

static uint64_t sum_of_next(const char *from, size_t size)
{
    char bytes[GRANULE];
    if (size >= GRANULE)
        return sum_of(from);
    get(from, size, bytes);
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

/* The granule at that offset. */
static bool recall(const struct ompgpu_entry *e, size_t at, char bytes[GRANULE])
{
    char host[GRANULE], device[GRANULE];
    uint64_t sum = e->agreed[at / GRANULE];
    get((const char *)e->begin + at, end_of(e) - at, host);
    get((const char *)e->device + at, end_of(e) - at, device);
    if (sum == UNKNOWN)
        return false;
    if (sum_of(host) == sum || sum_of(device) == sum) {
        memcpy(bytes, sum_of(host) == sum ? host : device, GRANULE);
        return true;
    }
    return mix(sum, host, device, 4, bytes) || mix(sum, host, device, 2, bytes);
}

/* What the rest of a granule was: as it is, if both sides have the same. */
static bool recall_rest(const struct ompgpu_entry *e, size_t at, size_t from, size_t to,
                        char bytes[GRANULE])
{
    char device[GRANULE];
    if (recall(e, at, bytes))
        return true;
    get((const char *)e->begin + at, end_of(e) - at, bytes);
    get((const char *)e->device + at, end_of(e) - at, device);
    return memcmp(bytes, device, from) == 0 && memcmp(bytes + to, device + to, GRANULE - to) == 0;
}

/* The bytes [from, to) of the granule at that offset. */
static void set_part(struct ompgpu_entry *e, size_t at, size_t from, size_t to, const char *value)
{
    char bytes[GRANULE];
    bool known = recall_rest(e, at, from, to, bytes);
    memcpy(bytes + from, value, to - from);
    e->agreed[at / GRANULE] = known ? sum_of(bytes) : UNKNOWN;
}

void ompgpu_agreed_set(struct ompgpu_entry *e, uintptr_t begin, size_t size, const void *value)
{
    const char *next = value;
    for (size_t at = begin - e->begin, end = at + size, n; at < end; at += n, next += n) {
        size_t from = at % GRANULE, left = end_of(e) - at;
        n = end - at < GRANULE - from ? end - at : GRANULE - from;
        if (from == 0 && (n == GRANULE || n == left))
            e->agreed[at / GRANULE] = sum_of_next(next, n);
        else
            set_part(e, at - from, from, from + n, next);
    }
}

bool ompgpu_agreed_start(struct ompgpu_entry *e, const void *all)
{
    size_t n = (end_of(e) + GRANULE - 1) / GRANULE;
    if (!e->agreed && !(e->agreed = ompgpu_xalloc(n * sizeof *e->agreed)))
        return false;
    ompgpu_agreed_set(e, e->begin, end_of(e), all);
    return true;
}

struct ompgpu_agreed ompgpu_agreed_at(const struct ompgpu_entry *e, uintptr_t host)
{
    struct ompgpu_agreed a;
    char bytes[GRANULE];
    size_t offset = host - e->begin, in = offset % GRANULE, at = offset - in;
    a.size = (end_of(e) - at < GRANULE ? end_of(e) - at : GRANULE) - in;
    a.known = recall(e, at, bytes);
    memcpy(a.bytes, bytes + in, a.known ? a.size : 0);
    return a;
}

size_t ompgpu_agreed_same(const struct ompgpu_entry *e, const void *side, size_t from, size_t to)
{
    size_t at = from - from % GRANULE;
    while (at < to &&
           sum_of_next((const char *)side + at, end_of(e) - at) == e->agreed[at / GRANULE])
        at += GRANULE;
    return at < from ? from : at < to ? at : to;
}
