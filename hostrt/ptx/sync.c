/* sync.c - barriers of a team, and what the lanes of a warp do together (PTX ISA 8.x, sections
 * 9.7.9.6 and 9.7.13).
 *
 * Barrier.  Threads arrive one by one; a group that waits is not run until the barrier is complete:
 * all threads of the team that have not exited or, with a count, as many, where a warp whose lanes
 * have all arrived counts for 32.  An aligned barrier is for whole warps: its lanes wait for each
 * other first, since code that is convergent in the source may come to it in parts here.
 *
 * Warp.  An operation with a member mask waits until all members have come to the same instruction
 * with the same mask, in any number of groups, and is then done for all of them at once.
 *
 * Neither waits for threads that have exited or that the warp never had: an exit may be what the
 * others were waiting for. */
#include <string.h>
#include "hostrt/ptx/isa.h"
#include "hostrt/ptx/race/race.h"
#include "hostrt/ptx/weak.h"

/* ------------------------------------------------------------------ barriers of the team */
static bool waits_at_barrier(const struct group *g, unsigned number)
{
    return g->state == G_BARRIER && g->barrier == number;
}

/* Threads that have arrived, a complete warp counted for 32. */
static unsigned arrived_in_warps(const struct team *t, unsigned number)
{
    unsigned n = t->barriers[number].arrived + t->barriers[number].absent;
    for (unsigned w = 0; w < t->nwarps; w++) {
        const struct warp *warp = &t->warps[w];
        lanes here = 0;
        for (unsigned k = 0; k < warp->ngroups; k++)
            if (waits_at_barrier(warp->groups[k], number))
                here |= warp->groups[k]->mask;
        if (here && here == warp->live)
            n += (unsigned)(WARP - __builtin_popcount(here));
    }
    return n;
}

static void write_reduction(const struct group *g, const struct barrier *b)
{
    const struct instruction *i = g->waits_at;
    lanes m = g->mask;
    if (i->op == OP_POPC) {
        EACH_LANE(l, m)
            target_of(g, &i->s[0])[l] = b->yes;
        set_poison(g, &i->s[0], m, 0);
        return;
    }
    bool r = i->op == OP_AND ? b->yes == b->arrived : b->yes != 0;
    lanes *p = &g->frame->preds[i->s[0].index];
    *p = r ? *p | m : *p & ~m;
    set_poison(g, &i->s[0], m, 0);
}

void ptx_barrier_check(struct team *t, unsigned number)
{
    struct barrier *b = &t->barriers[number];
    bool complete =
        b->expected ? arrived_in_warps(t, number) >= b->expected : b->arrived >= t->live;
    if (!b->arrived || !complete)
        return;
    if (ptx_racing)
        ptx_race_barrier_complete(t, b, number);
    for (unsigned w = 0; w < t->nwarps; w++)
        for (unsigned k = 0; k < t->warps[w].ngroups; k++) {
            struct group *g = t->warps[w].groups[k];
            if (!waits_at_barrier(g, number))
                continue;
            if (g->waits_at->op2 == OP_RED)
                write_reduction(g, b);
            g->state = G_READY;
        }
    *b = (struct barrier){ 0 };
}

static handler barrier;

/* Operands: [result,] [number [, count]] [, predicate].  bar.red has its result first. */
static unsigned operand_value(const struct group *g, const struct operand *o, lanes m)
{
    return (unsigned)source(g, o)[__builtin_ctz(m)];
}

static bool is_aligned(const struct instruction *i)
{
    return i->aligned || (i->row->operation == I_BAR && i->run == barrier);
}

static void wait_for_warp(struct group *g, const struct instruction *i, lanes m, lanes members)
{
    struct group *waiting = g;
    if (m != g->mask) {
        g->mask &= ~m;
        waiting = ptx_group_add(g->warp, g->frame, g->pc, m);
    }
    waiting->state = G_WARP_SYNC;
    waiting->waits_at = i;
    waiting->members = members;
    g->yield = true;
}

static bool waits_with(const struct group *g, const struct instruction *i, lanes members)
{
    return g->state == G_WARP_SYNC && g->waits_at == i && g->members == members;
}

/* The lanes that wait for the other members at i. */
static lanes waiting_lanes(const struct warp *w, const struct instruction *i, lanes members)
{
    lanes here = 0;
    for (unsigned k = 0; k < w->ngroups; k++)
        if (waits_with(w->groups[k], i, members))
            here |= w->groups[k]->mask;
    return here;
}

/* Lanes m come to an aligned barrier.  True when they were the last of the warp: those that came
 * before them go on with them.  Different aligned barriers in one warp are a fault. */
static bool whole_warp(struct group *g, const struct instruction *i, lanes m)
{
    struct warp *w = g->warp;
    for (unsigned k = 0; k < w->ngroups; k++) {
        const struct group *o = w->groups[k];
        if (o->state == G_WARP_SYNC && is_aligned(o->waits_at) && o->waits_at != i) {
            ptx_fault(
                g, i, (unsigned)__builtin_ctz(m), CUDA_ERROR_ILLEGAL_INSTRUCTION,
                "an aligned barrier by lanes 0x%x; lanes 0x%x of the warp wait at another one", m,
                o->mask);
            return false;
        }
    }
    if ((m | waiting_lanes(w, i, ALL_LANES)) == w->live)
        return true;
    wait_for_warp(g, i, m, ALL_LANES);
    return false;
}

static void wait_at_barrier(struct group *g, const struct instruction *i, lanes m, unsigned number)
{
    struct group *waiting = g;
    if (i->op2 == OP_ARRIVE) {
        if (ptx_racing)
            ptx_race_barrier_arrive(g, &g->warp->team->barriers[number], m);
        g->yield |= g->state != G_READY;
        g->state = G_READY;
        return;
    }
    if (m != g->mask) {
        g->mask &= ~m;
        waiting = ptx_group_add(g->warp, g->frame, g->pc, m);
    }
    waiting->state = G_BARRIER;
    waiting->waits_at = i;
    waiting->barrier = number;
    g->yield = true;
}

static void arrive_at_barrier(struct group *g, const struct instruction *i, lanes m,
                              unsigned number)
{
    struct barrier *b = &g->warp->team->barriers[number];
    b->arrived += (unsigned)__builtin_popcount(m);
    if (ptx_weak)
        ptx_weak_drain(g->warp, m);
    if (i->op2 == OP_RED)
        b->yes += (unsigned)__builtin_popcount(predicate(g, &i->s[i->nsources - 1]) & m);
    wait_at_barrier(g, i, m, number);
}

/* False after a fault. */
static bool check_barrier(struct group *g, const struct instruction *i, lanes m, unsigned number,
                          unsigned count)
{
    const struct barrier *b = &g->warp->team->barriers[number % 16];
    unsigned lane = (unsigned)__builtin_ctz(m);
    if (number >= 16 || count % WARP) {
        ptx_fault(g, i, lane, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                  number >= 16 ? "barrier %u of 16"
                               : "barrier %u with %u threads, no multiple of 32",
                  number, count);
        return false;
    }
    if (b->arrived && b->expected != count) {
        ptx_fault(g, i, lane, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                  "barrier %u with a count of %u; other threads wait there with %u", number, count,
                  b->expected);
        return false;
    }
    return true;
}

/* Lanes m arrive; at an aligned barrier those of the warp that wait for them, too. */
static void come_to_barrier(struct group *g, const struct instruction *i, lanes m)
{
    unsigned first = i->op2 == OP_RED, last = i->nsources - first;
    unsigned number = i->nsources > first ? operand_value(g, &i->s[first], m) : 0;
    unsigned count = last > first + 1 ? operand_value(g, &i->s[first + 1], m) : 0;
    struct warp *w = g->warp;
    if (!check_barrier(g, i, m, number, count))
        return;
    struct barrier *b = &w->team->barriers[number];
    b->expected = count;
    if (is_aligned(i)) {
        for (unsigned k = 0; k < w->ngroups; k++)
            if (waits_with(w->groups[k], i, ALL_LANES))
                arrive_at_barrier(w->groups[k], i, w->groups[k]->mask, number);
        if (i->op2 == OP_ARRIVE)
            b->absent += (unsigned)(WARP - __builtin_popcount(w->live));
    }
    arrive_at_barrier(g, i, m, number);
    ptx_barrier_check(w->team, number);
}

static void barrier(struct group *g, const struct instruction *i, lanes m)
{
    for (unsigned k = i->op2 == OP_RED; k < i->nsources; k++)
        if (!ptx_operand_is_defined(g, i, &i->s[k], m, "an operand of the barrier"))
            return;
    if (!is_aligned(i) || whole_warp(g, i, m))
        come_to_barrier(g, i, m);
}

/* ------------------------------------------------------------------ operations of a warp */
struct gathered { /* of the members, by lane */
    const struct instruction *i;
    lanes members;
    uint64_t a[WARP], b[WARP], c[WARP], result[WARP];
    lanes predicates, result_predicates, undefined;
    unsigned char bytes[WARP]; /* of the lanes of undefined: which are */
};

static void gather(struct gathered *x, const struct group *g, lanes m)
{
    const struct instruction *i = x->i;
    if (i->s[0].kind == O_PRED || (i->s[0].kind == O_CONST && i->row->operation == I_VOTE)) {
        x->predicates |= predicate(g, &i->s[0]) & m;
        x->undefined |= predicate_poison(g, &i->s[0]) & m;
    }
    if (i->s[0].kind == O_REG || i->s[0].kind == O_CONST) {
        EACH_LANE(l, m)
            x->a[l] = source(g, &i->s[0])[l], x->bytes[l] = undefined_bytes(g, &i->s[0], l, 8);
        x->undefined |= source_poison(g, &i->s[0]) & m;
    }
    if (i->row->operation == I_SHFL)
        EACH_LANE(l, m) {
            x->b[l] = source(g, &i->s[1])[l];
            x->c[l] = source(g, &i->s[2])[l];
        }
}

/* The lane that `lane` reads from; *in_range as PTX defines it. */
static unsigned shuffle_source(unsigned mode, unsigned lane, unsigned b, unsigned c, bool *in_range)
{
    unsigned segment = c >> 8 & 31, clamp = c & 31;
    unsigned low = lane & segment, high = low | (clamp & ~segment & 31), j = 0;
    b &= 31;
    switch (mode) {
    case OP_UP:
        j = lane - b;
        *in_range = (int)j >= (int)high;
        break;
    case OP_DOWN:
        j = lane + b;
        *in_range = j <= high;
        break;
    case OP_BFLY:
        j = lane ^ b;
        *in_range = j <= high;
        break;
    default:
        j = low | (b & ~segment & 31);
        *in_range = j <= high;
        break;
    }
    return *in_range ? j : lane;
}

/* What comes from a lane that takes no part is undefined; using it is the fault. */
static void shuffle(struct gathered *x)
{
    lanes undefined = 0;
    unsigned char bytes[WARP] = { 0 };
    EACH_LANE(l, x->members) {
        bool in_range;
        unsigned from =
            shuffle_source(x->i->op, l, (unsigned)x->b[l], (unsigned)x->c[l], &in_range);
        bool member = x->members >> from & 1;
        x->result[l] = member ? x->a[from] : 0xa5a5a5a5;
        x->result_predicates |= (lanes)in_range << l;
        bytes[l] = !member ? 0xff : x->undefined >> from & 1 ? x->bytes[from] : 0;
        undefined |= (lanes)(bytes[l] != 0) << l;
    }
    x->undefined = undefined;
    memcpy(x->bytes, bytes, sizeof bytes);
}

static void vote(struct gathered *x)
{
    lanes yes = x->predicates & x->members;
    bool r = x->i->op == OP_ALL   ? yes == x->members
             : x->i->op == OP_ANY ? yes != 0
                                  : yes == x->members || !yes;
    x->result_predicates = r ? ALL_LANES : 0;
    for (unsigned l = 0; l < WARP; l++)
        x->result[l] = yes;
}

static void match(struct gathered *x)
{
    bool wide = ptx_type_size(x->i->type) == 8;
    lanes equal = 0;
    EACH_LANE(l, x->members) {
        equal = 0;
        EACH_LANE(k, x->members)
            equal |= (lanes)(wide ? x->a[k] == x->a[l] : (uint32_t)x->a[k] == (uint32_t)x->a[l])
                     << k;
        x->result[l] = equal;
        if (x->i->op == OP_ALL && equal != x->members)
            x->result[l] = 0;
    }
    x->result_predicates = equal == x->members ? ALL_LANES : 0;
}

static void redux(struct gathered *x)
{
    bool is_signed = ptx_type_is_signed(x->i->type), first = true;
    uint32_t r = 0;
    EACH_LANE(l, x->members) {
        uint32_t v = (uint32_t)x->a[l];
        bool less = is_signed ? (int32_t)v < (int32_t)r : v < r;
        switch (x->i->op) {
        case OP_ADD: r += v; break;
        case OP_AND: r = first ? v : r & v; break;
        case OP_OR: r |= v; break;
        case OP_XOR: r ^= v; break;
        case OP_MIN: r = first || less ? v : r; break;
        default: r = first || (!less && v != r) ? v : r; break;
        }
        first = false;
    }
    for (unsigned l = 0; l < WARP; l++)
        x->result[l] = r;
}

static void elect(struct gathered *x)
{
    unsigned leader = (unsigned)__builtin_ctz(x->members);
    x->result_predicates = 1u << leader;
    for (unsigned l = 0; l < WARP; l++)
        x->result[l] = leader;
}

/* What all members' values decide is undefined if one of them is. */
static void spread_undefined(struct gathered *x)
{
    if (x->undefined & x->members) {
        x->undefined = ALL_LANES;
        memset(x->bytes, 0xff, sizeof x->bytes);
    }
}

static void compute(struct gathered *x)
{
    if (x->i->row->operation != I_SHFL)
        spread_undefined(x);
    switch (x->i->row->operation) {
    case I_SHFL: shuffle(x); break;
    case I_VOTE: vote(x); break;
    case I_MATCH: match(x); break;
    case I_REDUX: redux(x); break;
    case I_ELECT: elect(x); break;
    default: break; /* bar.warp.sync */
    }
}

static void write_results(const struct group *g, const struct gathered *x, lanes m)
{
    const struct instruction *i = x->i;
    const struct operand *p = i->d.kind == O_PRED ? &i->d : &i->d2;
    if (i->d.kind == O_REG) {
        EACH_LANE(l, m)
            target_of(g, &i->d)[l] = x->result[l];
        set_undefined_bytes(g, &i->d, m, x->undefined, x->bytes);
    }
    if (p->kind == O_PRED) {
        lanes *to = &g->frame->preds[p->index];
        *to = (*to & ~m) | (x->result_predicates & m);
        set_poison(g, p, m, i->row->operation == I_SHFL ? 0 : x->undefined);
    }
}

static const struct operand *mask_operand(const struct instruction *i)
{
    return &i->s[i->nsources - 1];
}

static bool is_warp_barrier(const struct instruction *i)
{
    return i->row->operation == I_BAR || i->row->operation == I_BARRIER;
}

/* All members that live have come: it is done for those that wait and, unless g is NULL, for its
 * lanes m, which were the last. */
static void operate(struct warp *w, const struct instruction *i, lanes members, struct group *g,
                    lanes m)
{
    struct gathered x = { .i = i, .members = members & w->live };
    if (g)
        gather(&x, g, m);
    for (unsigned k = 0; k < w->ngroups; k++)
        if (waits_with(w->groups[k], i, members))
            gather(&x, w->groups[k], w->groups[k]->mask);
    compute(&x);
    if (ptx_racing && is_warp_barrier(i))
        ptx_race_warp_sync(w, x.members);
    if (g)
        write_results(g, &x, m);
    for (unsigned k = 0; k < w->ngroups; k++)
        if (waits_with(w->groups[k], i, members)) {
            write_results(w->groups[k], &x, w->groups[k]->mask);
            w->groups[k]->state = G_READY;
            if (g)
                g->yield = true;
        }
}

/* Lanes m, all with the same mask, have come: do it when they were the last, else wait. */
static void arrive(struct group *g, const struct instruction *i, lanes m, lanes members)
{
    if (ptx_weak && is_warp_barrier(i))
        ptx_weak_drain(g->warp, m);
    if ((m | waiting_lanes(g->warp, i, members)) == (members & g->warp->live))
        operate(g->warp, i, members, g, m);
    else
        wait_for_warp(g, i, m, members);
}

void ptx_exit_release(struct warp *w)
{
    for (unsigned k = 0; k < w->ngroups; k++) {
        struct group *g = w->groups[k];
        const struct instruction *i = g->waits_at;
        if (g->state != G_WARP_SYNC || waiting_lanes(w, i, g->members) != (g->members & w->live))
            continue;
        if (is_aligned(i)) {
            g->state = G_READY;
            come_to_barrier(g, i, g->mask);
        } else {
            operate(w, i, g->members, NULL, 0);
        }
    }
}

HANDLER(warp_operation)
{
    const uint64_t *mask = source(g, mask_operand(i));
    lanes undefined = source_poison(g, mask_operand(i)) & m;
    for (lanes rest = m, some; rest; rest &= ~some) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        lanes members = (lanes)mask[lane];
        some = 0;
        EACH_LANE(l, rest)
            some |= (lanes)((lanes)mask[l] == members) << l;
        if (undefined || (some & ~members)) {
            ptx_fault(g, i, lane, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                      undefined ? "the member mask was never written"
                                : "lanes 0x%x execute it with the mask 0x%x, in which they are not",
                      some, members);
            return;
        }
        arrive(g, i, some, members);
    }
}

HANDLER(activemask)
{
    EACH_LANE(l, m)
        target_of(g, &i->d)[l] = m;
    set_poison(g, &i->d, m, 0);
}

bool ptx_select_barrier(struct instruction *i)
{
    bool warp = i->op == OP_ALL;
    i->run = warp ? warp_operation : barrier;
    return i->op2 && i->nsources >= (warp ? 1u : 0u) && i->scope <= SC_CTA;
}

bool ptx_select_warp(struct instruction *i)
{
    i->run = i->row->operation == I_ACTIVEMASK ? activemask : warp_operation;
    return i->row->operation == I_ACTIVEMASK || (i->sync && i->nsources >= 1);
}
