/* known.c - sets of accesses that came before: entries "all that X did up to epoch E", where X is a
 * team, a warp or a thread.  A set is an array sorted by key, in which nothing is said twice: a
 * team's entry covers those of its warps and threads that are no later. */
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/race/race.h"

/* Keys: the team, then 0 for all of it, 1 … 32 for a warp, 33 … 1056 for a thread. */
enum { CODE_BITS = 11, WARP_CODE = 1, THREAD_CODE = WARP_CODE + WARP };
struct entry {
    uint64_t key;
    uint32_t epoch;
};
struct known {
    unsigned references, n;
    struct entry entries[];
};

static uint64_t key_of(unsigned team, unsigned code) { return (uint64_t)team << CODE_BITS | code; }
static unsigned team_of(const struct entry *e) { return (unsigned)(e->key >> CODE_BITS); }
static unsigned code_of(const struct entry *e)
{
    return (unsigned)e->key & ((1u << CODE_BITS) - 1);
}

struct known *race_hold(struct known *k)
{
    if (k)
        k->references++;
    return k;
}
void race_drop(struct known *k)
{
    if (k && !--k->references)
        free(k);
}

/* ------------------------------------------------------------------ union */
/* What an entry's own team has said before it, in the order of the keys. */
struct coverage {
    unsigned team;
    uint32_t all, warps[WARP];
};
static bool is_covered(struct coverage *c, const struct entry *e)
{
    unsigned code = code_of(e);
    if (c->team != team_of(e))
        *c = (struct coverage){ .team = team_of(e) };
    if (e->epoch <= c->all)
        return true;
    if (code == 0)
        c->all = e->epoch;
    else if (code < THREAD_CODE)
        c->warps[code - WARP_CODE] = e->epoch;
    else
        return e->epoch <= c->warps[(code - THREAD_CODE) / WARP];
    return false;
}

static struct entry next_entry(const struct entry **a, const struct entry *a_end,
                               const struct entry **b, const struct entry *b_end)
{
    if (*b == b_end || (*a < a_end && (*a)->key < (*b)->key))
        return *(*a)++;
    if (*a == a_end || (*b)->key < (*a)->key)
        return *(*b)++;
    struct entry e = **a;
    if ((*b)->epoch > e.epoch)
        e.epoch = (*b)->epoch;
    ++*a;
    ++*b;
    return e;
}

static bool is_same(const struct known *k, const struct known *result)
{
    if (k->n != result->n)
        return false;
    for (unsigned i = 0; i < k->n; i++)
        if (k->entries[i].key != result->entries[i].key ||
            k->entries[i].epoch != result->entries[i].epoch)
            return false;
    return true;
}

static struct known *unite(const struct known *a, const struct entry *b, unsigned n)
{
    unsigned most = (a ? a->n : 0) + n;
    struct known *r = malloc(sizeof *r + most * sizeof *r->entries);
    if (!r)
        abort();
    r->references = 1;
    r->n = 0;
    const struct entry *x = a ? a->entries : b, *x_end = a ? x + a->n : b, *b_end = b + n;
    struct coverage c = { .team = ~0u };
    while (x < x_end || b < b_end) {
        struct entry e = next_entry(&x, x_end, &b, b_end);
        if (!is_covered(&c, &e))
            r->entries[r->n++] = e;
    }
    return r;
}

/* A set that adds nothing is not kept: those who spin for a value learn the same again and again.
 */
static void replace(struct known **k, struct known *result)
{
    if (*k && is_same(*k, result)) {
        race_drop(result);
        return;
    }
    race_drop(*k);
    *k = result;
}

void race_learn(struct known **k, struct known *more)
{
    if (!more || *k == more)
        return;
    if (!*k)
        *k = race_hold(more);
    else
        replace(k, unite(*k, more->entries, more->n));
}

static void learn_one(struct known **k, uint64_t key, uint32_t epoch)
{
    struct entry e = { .key = key, .epoch = epoch };
    replace(k, unite(*k, &e, 1));
}
void race_learn_team(struct known **k, unsigned team, uint32_t epoch)
{
    learn_one(k, key_of(team, 0), epoch);
}
void race_learn_warp(struct known **k, unsigned team, unsigned warp, uint32_t epoch)
{
    learn_one(k, key_of(team, WARP_CODE + warp), epoch);
}
void race_learn_thread(struct known **k, unsigned team, unsigned thread, uint32_t epoch)
{
    learn_one(k, key_of(team, THREAD_CODE + thread), epoch);
}

/* ------------------------------------------------------------------ questions */
/* The first entry whose key is not below `key`. */
static const struct entry *seek(const struct known *k, uint64_t key)
{
    unsigned low = 0, high = k->n;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (k->entries[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return &k->entries[low];
}
static uint32_t epoch_of(const struct known *k, uint64_t key)
{
    const struct entry *e = seek(k, key);
    return e < k->entries + k->n && e->key == key ? e->epoch : 0;
}

lanes race_unknown(const struct known *k, unsigned team, unsigned warp, lanes m, uint32_t epoch)
{
    if (!k)
        return m;
    if (epoch_of(k, key_of(team, 0)) >= epoch ||
        epoch_of(k, key_of(team, WARP_CODE + warp)) >= epoch)
        return 0;
    lanes unknown = 0;
    EACH_LANE(l, m)
        if (epoch_of(k, key_of(team, THREAD_CODE + warp * WARP + l)) < epoch)
            unknown |= 1u << l;
    return unknown;
}
