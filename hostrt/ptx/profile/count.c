/* count.c - what an access of a warp costs: sectors of global memory, passes through the banks of
 * shared memory, atomic updates that meet.  Called for each access while the machine counts. */
#include <stdlib.h>
#include "hostrt/ptx/machine.h"

bool ptx_counting;

/* ------------------------------------------------------------------ memory */
static int by_address(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Different 32-byte sectors that the lanes touch. */
static unsigned sectors(lanes m, const uint64_t *address, unsigned size)
{
    uint64_t s[2 * WARP];
    unsigned n = 0, distinct = 0;
    bool sorted = true;
    EACH_LANE(l, m) {
        s[n++] = address[l] / 32;
        if ((address[l] + size - 1) / 32 != address[l] / 32)
            s[n++] = (address[l] + size - 1) / 32;
    }
    for (unsigned k = 1; k < n; k++)
        sorted &= s[k - 1] <= s[k];
    if (!sorted)
        qsort(s, n, sizeof *s, by_address);
    for (unsigned k = 0; k < n; k++)
        distinct += !k || s[k] != s[k - 1];
    return distinct;
}

/* Passes beyond the first: the most different words that a bank has to give. */
static unsigned bank_conflicts(lanes m, const uint64_t *address, unsigned size)
{
    uint64_t words[WARP][WARP];
    unsigned n[WARP] = { 0 }, most = 0;
    EACH_LANE(l, m)
        for (uint64_t w = address[l] / 4; w <= (address[l] + size - 1) / 4; w++) {
            unsigned bank = w % WARP, k = 0;
            while (k < n[bank] && words[bank][k] != w)
                k++;
            if (k == n[bank] && k < WARP)
                words[bank][n[bank]++] = w;
            most = n[bank] > most ? n[bank] : most;
        }
    unsigned needed = (unsigned)__builtin_popcount(m) * size > 128 ? size / 4 : 1;
    return most > needed ? most - needed : 0;
}

/* Lanes that update an address which a lane before them updates, too. */
static unsigned meetings(lanes m, const uint64_t *address)
{
    uint64_t s[WARP] = { 0 };
    unsigned n = 0, met = 0;
    EACH_LANE(l, m)
        s[n++] = address[l];
    qsort(s, n, sizeof *s, by_address);
    for (unsigned k = 1; k < n; k++)
        met += s[k] == s[k - 1];
    return met;
}

/* Lanes whose address is not that of the lane before. */
static unsigned different_addresses(lanes m, const uint64_t *address)
{
    uint64_t before = ~address[__builtin_ctz(m)];
    unsigned n = 0;
    EACH_LANE(l, m) {
        n += address[l] != before;
        before = address[l];
    }
    return n;
}

/* The distance of neighbouring lanes, where it is the same for all; the first one seen stays. */
static void count_stride(struct counter *c, lanes m, const uint64_t *address, unsigned touched,
                         unsigned size)
{
    unsigned first = (unsigned)__builtin_ctz(m), before = first;
    lanes rest = m & (m - 1);
    if (!rest)
        return;
    unsigned second = (unsigned)__builtin_ctz(rest);
    int64_t stride = (int64_t)(address[second] - address[first]) / (int64_t)(second - first);
    EACH_LANE(l, rest) {
        if ((int64_t)(address[l] - address[before]) != stride * (int64_t)(l - before))
            return;
        before = l;
    }
    if (!c->strided) {
        c->stride = stride;
        c->element = size;
    }
    c->strided += c->stride == stride ? touched : 0;
}

static enum space space_of(uint64_t address)
{
    uint64_t window = address & WINDOW_MASK;
    return window == SHARED_WINDOW  ? S_SHARED
           : window == LOCAL_WINDOW ? S_LOCAL
           : window == PARAM_WINDOW ? S_PARAM
                                    : S_GLOBAL;
}

void ptx_count_access(struct group *g, const struct instruction *i, lanes m,
                      const uint64_t *address, unsigned size, enum space space)
{
    struct counter *c = &g->warp->team->worker->counters[i->index];
    unsigned n = (unsigned)__builtin_popcount(m);
    if (space == S_GENERIC)
        space = space_of(address[__builtin_ctz(m)]);
    if (space == S_PARAM || space == S_CONST)
        return;
    if (i->row->class == C_ATOMIC) {
        c->updates += n;
        c->met += meetings(m, address);
    }
    if (space == S_SHARED) {
        c->shared++;
        c->replays += bank_conflicts(m, address, size);
        return;
    }
    unsigned different = space == S_GLOBAL ? different_addresses(m, address) : n;
    /* local memory is interleaved by lane */
    unsigned touched = space == S_GLOBAL ? sectors(m, address, size) : (n * size + 31) / 32;
    c->requests++;
    c->needed += (uint64_t)different * size;
    c->sectors += touched;
    if (space == S_GLOBAL)
        count_stride(c, m, address, touched, size);
}
