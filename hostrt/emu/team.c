/* team.c - one team of emulated threads.
 *
 * A kernel without barriers and warp operations has the loop over its threads in itself
 * (codegen/ir/passes/threads.c) and runs on one fiber; with the random schedule it is called for
 * one thread at a time, in an order of their own.  Otherwise a thread runs until it must wait.
 *
 * Where all waits are in the kernel itself (codegen/ir/passes/stackless.c), the thread then returns
 * to run_stackless, which goes on with the next ready one, all on one stack.  Elsewhere, and at
 * -O0, every thread has a fiber, and the next ready thread goes on directly from fiber to fiber:
 *
 *     home ──▶ thread 0 ──barrier──▶ thread 1 ──barrier──▶ … ──▶ the last: releases all,
 *     goes on ──▶ … ──▶ home
 *
 * A thread that ends takes the next thread that has not started onto its own stack, so a kernel in
 * which few threads wait needs few fibers.  Control comes home when nobody is ready: either all
 * threads have ended, or some wait for what cannot come, and then the launch fails with a message
 * that says who waits where and who is missing.
 *
 * A warp operation is a rendezvous of the lanes of its mask.  The last lane to come computes the
 * results of all lanes at once, so that it is free again before the first of them goes on.
 * Different operations of disjoint lanes may be in flight at once. */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "hostrt/emu/emu.h"

_Thread_local struct emu_worker *ompgpu_emu_worker;
_Thread_local struct ompgpu_emu_thread *ompgpu_emu_self;

/* ------------------------------------------------------------------ failure */
static _Noreturn void leave_team(struct emu_worker *w)
{
    w->current = NULL;
    ompgpu_emu_fiber_leave(&w->home);
}

_Noreturn void ompgpu_emu_thread_fail(struct emu_worker *w, const char *fmt, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    ompgpu_emu_launch_fail(w->launch, "%s (team %u, thread %u)", text, w->current->pub.team,
                           w->current->pub.tid);
    leave_team(w);
}

static bool launch_failed(const struct emu_worker *w)
{
    return atomic_load_explicit(&w->launch->failed, memory_order_relaxed);
}

/* ------------------------------------------------------------------ ready threads */
static uint64_t next_random(struct emu_worker *w)
{
    uint64_t x = w->random += 0x9E3779B97F4A7C15u; /* splitmix64 */
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static void queue_add(struct emu_queue *q, const struct emu_thread *t)
{
    q->tid[(q->head + q->n++) % EMU_MAX_THREADS] = (uint16_t)t->pub.tid;
}

static unsigned queue_take(struct emu_queue *q)
{
    q->n--;
    return q->tid[q->head++ % EMU_MAX_THREADS];
}

/* All of `from` after what `to` has. */
static void queue_append(struct emu_queue *to, struct emu_queue *from)
{
    if (!to->n) {
        struct emu_queue empty = *to;
        *to = *from;
        *from = empty;
    }
    while (from->n)
        to->tid[(to->head + to->n++) % EMU_MAX_THREADS] = (uint16_t)queue_take(from);
}

/* The random schedule's ready threads: a bit a lane, and a bit a warp that has any. */
static void pool_add(struct emu_worker *w, const struct emu_thread *t)
{
    unsigned warp = t->pub.tid / EMU_WARP;
    w->pool[warp] |= 1u << t->pub.tid % EMU_WARP;
    w->warps |= 1u << warp;
}

static void make_ready(struct emu_worker *w, struct emu_thread *t)
{
    t->state = EMU_READY;
    if (w->shuffled)
        pool_add(w, t);
    else
        queue_add(&w->ready, t);
}

/* The first bit at or after a random one. */
static unsigned random_bit(uint32_t bits, unsigned from)
{
    return (from + (unsigned)__builtin_ctz(bits >> from | bits << (-from & 31))) & 31;
}

/* Any ready thread; but most of the time one warp is preferred for a while, so that warps come as
 * far apart as barriers let them. */
static __attribute__((noinline)) struct emu_thread *random_ready(struct emu_worker *w)
{
    uint64_t r = next_random(w);
    if (!w->ahead_left--) {
        /* the last one: no warp */
        w->ahead = (unsigned)(r >> 32) % ((w->nthreads + EMU_WARP - 1) / EMU_WARP + 1);
        w->ahead_left = 64 + (unsigned)(r >> 16) % 1024;
    }
    bool prefer = w->ahead < EMU_WARPS && w->pool[w->ahead] && (r >> 10 & 15);
    unsigned warp = prefer ? w->ahead : random_bit(w->warps, r & 31),
             one = random_bit(w->pool[warp], r >> 5 & 31);
    if (!(w->pool[warp] &= ~(1u << one)))
        w->warps &= ~(1u << warp);
    return &w->threads[warp * EMU_WARP + one];
}

/* Lanes that come from a warp operation go on first, so that a warp stays in the caches until it
 * waits for others.  Then threads that have not started: a thread that spins and yields must not
 * keep them from starting. */
static inline struct emu_thread *next_ready(struct emu_worker *w)
{
    if (w->shuffled)
        return w->warps ? random_ready(w) : NULL;
    if (w->released) {
        unsigned lane = (unsigned)__builtin_ctz(w->released);
        w->released &= w->released - 1;
        return &w->threads[w->first + lane];
    }
    if (w->started < w->nthreads)
        return &w->threads[w->started++];
    return w->ready.n ? &w->threads[queue_take(&w->ready)] : NULL;
}

static void set_current(struct emu_worker *w, struct emu_thread *t)
{
    w->current = t;
    if (t)
        ompgpu_emu_self = &t->pub;
}

static struct emu_fiber *take_fiber(struct emu_worker *w)
{
    struct emu_fiber *f = ompgpu_emu_fiber_take(w);
    if (!f)
        ompgpu_emu_launch_fail(w->launch,
                               "no memory for the stacks of a team of %u threads, %zu bytes each "
                               "(OMPGPU_EMU_STACK)",
                               w->nthreads, w->stack);
    return f;
}

/* Leave the fiber `from` for thread t, or for home when t is NULL. */
static void switch_to(struct emu_worker *w, struct emu_fiber *from, struct emu_thread *t)
{
    struct emu_fiber *to = &w->home;
    if (t) {
        if (!t->fiber && !(t->fiber = take_fiber(w))) {
            if (from == &w->home)
                return;
            leave_team(w);
        }
        to = t->fiber;
    }
    set_current(w, t);
    w->switches++;
    ompgpu_emu_fiber_switch(from, to);
}

/* The current thread waits, or is in the ready queue; returns when it may go on. */
static void block_thread(struct emu_worker *w)
{
    struct emu_thread *me = w->current;
    if (launch_failed(w))
        leave_team(w);
    struct emu_thread *t = next_ready(w);
    if (t != me)
        switch_to(w, me->fiber, t);
}

/* With the random schedule the one who released the others may have to wait for any of them; says
 * whether. */
static bool after_release(struct emu_worker *w)
{
    if (w->shuffled)
        make_ready(w, w->current);
    return w->shuffled;
}

/* ------------------------------------------------------------------ barriers */
static void barrier_release(struct emu_worker *w, unsigned id)
{
    struct emu_barrier *b = &w->barrier[id];
    w->barriers++;
    ompgpu_emu_race_barrier(w);
    if (!w->shuffled)
        queue_append(&w->ready, &b->waiting);
    while (b->waiting.n)
        make_ready(w, &w->threads[queue_take(&b->waiting)]);
    b->expected = b->arrived = 0;
    w->open &= ~(1u << id);
}

static bool is_wrong_barrier(const struct emu_worker *w, unsigned id, unsigned nthreads)
{
    if (w->form == EMU_SPAN || id >= EMU_BARRIERS || nthreads > w->nthreads)
        return true;
    const struct emu_barrier *b = &w->barrier[id];
    return b->arrived && b->expected != nthreads &&
           (nthreads ? nthreads : w->live) != ompgpu_emu_barrier_count(w, b);
}

__attribute__((cold)) static _Noreturn void fail_barrier(struct emu_worker *w, unsigned id,
                                                         unsigned nthreads, int line)
{
    const struct emu_barrier *b = &w->barrier[id];
    if (w->form == EMU_SPAN)
        ompgpu_emu_thread_fail(w, "barrier%s in a kernel that is marked as having none",
                               ompgpu_emu_place(line).text);
    if (id >= EMU_BARRIERS)
        ompgpu_emu_thread_fail(w, "barrier %u%s: there are barriers 0 to %d", id,
                               ompgpu_emu_place(line).text, EMU_BARRIERS - 1);
    if (nthreads > w->nthreads)
        ompgpu_emu_thread_fail(w, "barrier%s for %u threads in a team of %u",
                               ompgpu_emu_place(line).text, nthreads, w->nthreads);
    ompgpu_emu_thread_fail(
        w, "barrier%s for %u threads, but the threads that wait there (barrier%s) wait for %u",
        ompgpu_emu_place(line).text, nthreads ? nthreads : w->live,
        ompgpu_emu_place(ompgpu_emu_queue_first(w, &b->waiting)->line).text,
        ompgpu_emu_barrier_count(w, b));
}

static __attribute__((noinline)) bool last_at_barrier(struct emu_worker *w, unsigned id)
{
    barrier_release(w, id);
    return after_release(w);
}

/* Every thread comes through here at every barrier, so what few of them need is a tail call. */
static bool arrive_at_barrier(unsigned id, unsigned nthreads, int line)
{
    struct emu_worker *w = ompgpu_emu_worker;
    struct emu_thread *me = w->current;
    struct emu_barrier *b = &w->barrier[id % EMU_BARRIERS];
    ompgpu_emu_progress(w);
    if (id >= EMU_BARRIERS || !b->arrived || b->expected != nthreads) {
        if (w->form == EMU_SPAN && w->nthreads == 1 && nthreads <= 1)
            return false;
        if (is_wrong_barrier(w, id, nthreads))
            fail_barrier(w, id, nthreads, line);
        if (!b->arrived)
            b->expected = nthreads;
        w->open |= 1u << id;
    }
    if (++b->arrived == ompgpu_emu_barrier_count(w, b))
        return last_at_barrier(w, id);
    me->state = EMU_AT_BARRIER;
    me->barrier = (uint8_t)id;
    me->line = line;
    queue_add(&b->waiting, me);
    return true;
}

/* One thread fewer to wait for. */
static void barriers_after_exit(struct emu_worker *w)
{
    for (unsigned open = w->open; open; open &= open - 1) {
        struct emu_barrier *b = &w->barrier[__builtin_ctz(open)];
        if (!b->expected && b->arrived == w->live)
            barrier_release(w, (unsigned)(b - w->barrier));
    }
}

/* ------------------------------------------------------------------ warp operations */
/* The lanes of the mask have all come; their values and sources begin at the warp's first. */
static void finish_shuffle(uint32_t *value, const uint32_t *source, uint32_t mask, unsigned me)
{
    uint32_t before[EMU_WARP];
    (void)me;
    memcpy(before, value, sizeof before);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned i = (unsigned)__builtin_ctz(m);
        if (source[i] < EMU_WARP && (mask >> source[i] & 1))
            value[i] = before[source[i]];
    }
}

static void set_values(uint32_t *value, uint32_t mask, uint32_t to)
{
    for (uint32_t m = mask; m; m &= m - 1)
        value[__builtin_ctz(m)] = to;
}

static void finish_ballot(uint32_t *value, const uint32_t *source, uint32_t mask, unsigned me)
{
    uint32_t votes = 0;
    (void)source, (void)me;
    for (uint32_t m = mask; m; m &= m - 1)
        votes |= value[__builtin_ctz(m)] << __builtin_ctz(m);
    set_values(value, mask, votes);
}

static void finish_nothing(uint32_t *value, const uint32_t *source, uint32_t mask, unsigned me)
{
    (void)value, (void)source, (void)mask, (void)me;
}

static uint32_t combine_words(enum ompgpu_emu_redux op, uint32_t a, uint32_t b)
{
    switch (op) {
    case OMPGPU_EMU_ADD: return a + b;
    case OMPGPU_EMU_AND: return a & b;
    case OMPGPU_EMU_OR: return a | b;
    case OMPGPU_EMU_XOR: return a ^ b;
    case OMPGPU_EMU_MIN: return (int32_t)b < (int32_t)a ? b : a;
    case OMPGPU_EMU_MAX: return (int32_t)b > (int32_t)a ? b : a;
    case OMPGPU_EMU_UMIN: return b < a ? b : a;
    default: return b > a ? b : a;
    }
}

static void finish_redux(uint32_t *value, const uint32_t *source, uint32_t mask, unsigned me)
{
    uint32_t result = value[me];
    for (uint32_t m = mask & ~(1u << me); m; m &= m - 1)
        result = combine_words(source[me], result, value[__builtin_ctz(m)]);
    set_values(value, mask, result);
}

static void (*const finish[])(uint32_t *, const uint32_t *, uint32_t, unsigned) = {
    [EMU_AT_SHUFFLE] = finish_shuffle,
    [EMU_AT_BALLOT] = finish_ballot,
    [EMU_AT_SYNCWARP] = finish_nothing,
    [EMU_AT_REDUX] = finish_redux,
};

static void release_lanes(struct emu_worker *w, unsigned first, uint32_t lanes)
{
    if (w->shuffled)
        for (; lanes; lanes &= lanes - 1)
            make_ready(w, &w->threads[first + (unsigned)__builtin_ctz(lanes)]);
    w->first = first; /* others than this warp's run only when none is left here */
    w->released |= lanes;
}

__attribute__((cold)) static _Noreturn void fail_warp(struct emu_worker *w, enum emu_state kind,
                                                      uint32_t mask, unsigned lane,
                                                      const struct emu_rendezvous *m)
{
    if (!(mask >> lane & 1))
        ompgpu_emu_thread_fail(w, "%s with mask 0x%08x, which leaves out the calling lane %u",
                               ompgpu_emu_state_names[kind], mask, lane);
    if (w->form == EMU_SPAN)
        ompgpu_emu_thread_fail(w, "%s in a kernel that is marked as having no warp operation",
                               ompgpu_emu_state_names[kind]);
    ompgpu_emu_thread_fail(w, "%s with mask 0x%08x, but lane %d waits in one with mask 0x%08x",
                           ompgpu_emu_state_names[kind], mask, __builtin_ctz(m->arrived), m->mask);
}

static __attribute__((noinline)) bool last_of_lanes(struct emu_worker *w, enum emu_state kind,
                                                    unsigned tid, uint32_t mask)
{
    unsigned lane = tid % EMU_WARP, first = tid - lane;
    ompgpu_emu_race_warp(w, tid / EMU_WARP, mask);
    if (kind == EMU_AT_MEETING) {
        w->value[tid] = 1;
        return false;
    }
    finish[kind](w->value + first, w->source + first, mask, lane);
    release_lanes(w, first, mask & ~(1u << lane));
    return after_release(w);
}

/* The caller waits for the other lanes of mask; its value is the result afterwards. */
static inline __attribute__((always_inline)) bool
join_rendezvous(enum emu_state kind, uint32_t mask, uint32_t value, uint32_t source)
{
    struct emu_worker *w = ompgpu_emu_worker;
    struct emu_thread *me = w->current;
    unsigned tid = me->pub.tid, lane = tid % EMU_WARP;
    ompgpu_emu_progress(w);
    struct emu_rendezvous *m = &w->rendezvous[tid / EMU_WARP][kind][__builtin_ctz(mask | 1u << 31)];
    w->value[tid] = value;
    w->source[tid] = source;
    if (mask == 1u << lane) { /* the only lane: also what a kernel without fibers may do */
        w->value[tid] = kind == EMU_AT_MEETING ? 1 : kind == EMU_AT_BALLOT && value ? mask : value;
        return false;
    }
    if (!(mask >> lane & 1) || (m->arrived ? m->mask != mask : w->form == EMU_SPAN))
        fail_warp(w, kind, mask, lane, m);
    m->mask = mask;
    m->arrived |= 1u << lane;
    if (m->arrived != mask) {
        me->state = kind;
        me->mask = mask;
        return true;
    }
    m->arrived = 0;
    return last_of_lanes(w, kind, tid, mask);
}

/* ------------------------------------------------------------------ waiting */
static bool let_others_run(uint32_t a, uint32_t b, uint32_t c)
{
    struct emu_worker *w = ompgpu_emu_worker;
    (void)a, (void)b, (void)c;
    if (launch_failed(w))
        leave_team(w); /* what it spins for may never come */
    if (++w->spins >
        w->live) { /* all threads here have run since: what is waited for is on another OS thread */
        ompgpu_emu_hang_check(w, w->spins, __builtin_frame_address(0));
        w->spins = 0;
        sched_yield();
    }
    if (w->form == EMU_SPAN)
        return false;
    make_ready(w, w->current);
    return true;
}

/* Whether the calling thread has to wait, by what it waits in; the operands of each. */
static bool arrive_barrier(uint32_t id, uint32_t nthreads, uint32_t line)
{
    return arrive_at_barrier(id, nthreads, (int)line);
}
static bool arrive_shuffle(uint32_t mask, uint32_t value, uint32_t source)
{
    return join_rendezvous(EMU_AT_SHUFFLE, mask, value, source);
}
static bool arrive_ballot(uint32_t mask, uint32_t vote, uint32_t unused)
{
    return join_rendezvous(EMU_AT_BALLOT, mask, vote != 0, unused);
}
static bool arrive_syncwarp(uint32_t mask, uint32_t unused, uint32_t unused_too)
{
    return join_rendezvous(EMU_AT_SYNCWARP, mask, unused, unused_too);
}
static bool arrive_redux(uint32_t op, uint32_t mask, uint32_t value)
{
    return join_rendezvous(EMU_AT_REDUX, mask, value, op);
}
static bool arrive_meeting(uint32_t mask, uint32_t unused, uint32_t unused_too)
{
    (void)unused, (void)unused_too;
    return join_rendezvous(EMU_AT_MEETING, mask, 0, 0);
}
static bool end_meeting(uint32_t mask, uint32_t unused, uint32_t unused_too)
{
    struct emu_worker *w = ompgpu_emu_worker;
    unsigned tid = w->current->pub.tid, lane = tid % EMU_WARP;
    (void)unused, (void)unused_too;
    if (mask == 1u << lane)
        return false;
    ompgpu_emu_race_warp(w, tid / EMU_WARP, mask);
    release_lanes(w, tid - lane, mask & ~(1u << lane));
    return after_release(w);
}

#define ARRIVALS                                                                                   \
    {                                                                                              \
        [OMPGPU_EMU_BARRIER] = arrive_barrier, [OMPGPU_EMU_SHUFFLE] = arrive_shuffle,              \
        [OMPGPU_EMU_BALLOT] = arrive_ballot,   [OMPGPU_EMU_SYNCWARP] = arrive_syncwarp,            \
        [OMPGPU_EMU_REDUX] = arrive_redux,     [OMPGPU_EMU_YIELD] = let_others_run,                \
        [OMPGPU_EMU_MEET] = arrive_meeting,    [OMPGPU_EMU_PART] = end_meeting,                    \
    }

/* On a fiber: returns when the thread may go on, with the result. */
static uint32_t wait_for(enum ompgpu_emu_wait wait, uint32_t a, uint32_t b, uint32_t c)
{
    struct emu_worker *w = ompgpu_emu_worker;
    unsigned tid = w->current->pub.tid;
    if (ompgpu_emu_ops.arrive[wait](a, b, c))
        block_thread(w);
    return w->value[tid];
}

static void op_barrier(unsigned id, unsigned nthreads, int line)
{
    wait_for(OMPGPU_EMU_BARRIER, id, nthreads, (uint32_t)line);
}

static uint32_t op_shuffle(uint32_t mask, uint32_t value, uint32_t source)
{
    return wait_for(OMPGPU_EMU_SHUFFLE, mask, value, source);
}

static uint32_t op_ballot(uint32_t mask, int predicate)
{
    return wait_for(OMPGPU_EMU_BALLOT, mask, predicate != 0, 0);
}

static void op_syncwarp(uint32_t mask) { wait_for(OMPGPU_EMU_SYNCWARP, mask, 0, 0); }

static uint32_t op_redux(uint32_t op, uint32_t mask, uint32_t value)
{
    return wait_for(OMPGPU_EMU_REDUX, op, mask, value);
}

static uint32_t op_meet(uint32_t mask) { return wait_for(OMPGPU_EMU_MEET, mask, 0, 0); }

static void op_part(uint32_t mask) { wait_for(OMPGPU_EMU_PART, mask, 0, 0); }

static void op_yield(void) { wait_for(OMPGPU_EMU_YIELD, 0, 0, 0); }

/* Emulated threads run one at a time, so no other lane is ever at the very same point. */
static uint32_t op_activemask(void) { return 1u << ompgpu_emu_worker->current->pub.tid % EMU_WARP; }

/* ------------------------------------------------------------------ other calls of device code */
static __attribute__((noreturn)) void op_fail(const char *message, int line)
{
    struct emu_worker *w = ompgpu_emu_worker;
    if (line > 0)
        ompgpu_emu_thread_fail(w, "%s at line %d", message, line);
    ompgpu_emu_thread_fail(w, "%s", message);
}

static void *op_alloc(size_t size)
{
    struct emu_memory *m = ompgpu_emu_worker->launch->memory;
    void *p;
    if (ompgpu_emu_memory_alloc(m, size, false, &p))
        return NULL;
    ompgpu_emu_memory_note_heap(m, p);
    if (ompgpu_emu_shadowed() && ompgpu_checks(OMPGPU_CHECK_ADDRESS))
        ompgpu_emu_memory_expose(m, p); /* a region may hand it to the host */
    return p;
}

static void op_free(void *p)
{
    struct emu_worker *w = ompgpu_emu_worker;
    if (ompgpu_emu_memory_free(w->launch->memory, p))
        ompgpu_emu_thread_fail(w, "%s", ompgpu_plugin_message());
}

static size_t op_block_size(const void *p)
{
    struct emu_worker *w = ompgpu_emu_worker;
    size_t size;
    if (!ompgpu_emu_memory_size(w->launch->memory, p, &size))
        ompgpu_emu_thread_fail(w, "%s", ompgpu_plugin_message());
    return size;
}

static void *op_dynamic(void)
{
    const struct emu_worker *w = ompgpu_emu_worker;
    return w->launch->shared_bytes > w->launch->dynamic ? w->shared + w->launch->dynamic : NULL;
}

/* The room after each of the user's variables. */
static void guard_shared(const struct emu_worker *w)
{
    const struct emu_module *m = w->launch->module;
    for (const struct ompgpu_emu_object *o = m->objects; o && o->end; o++)
        ompgpu_emu_shadow_set(w->shared + o->end,
                              (o[1].end ? o[1].begin : m->storage_bytes) - o->end, EMU_GUARD);
}

static void renew_shared(struct emu_worker *w)
{
    const struct emu_launch *l = w->launch;
    if (!w->shared)
        return;
    memset(w->shared, EMU_POISON_SHARED, l->shared_bytes);
    ompgpu_emu_shadow_set(w->shared, l->module->storage_bytes, EMU_UNDEFINED);
    guard_shared(w);
    if (l->shared_bytes > l->dynamic)
        ompgpu_emu_shadow_set(w->shared + l->dynamic, l->shared_bytes - l->dynamic, EMU_UNDEFINED);
}

/* The teams' heaps, where each team has one of its own: no local has a value yet, and there are no
 * blocks and copies. */
static void renew_heaps(const struct emu_worker *w, unsigned team, unsigned end)
{
    const struct ompgpu_env *env = w->launch->params[0];
    for (; env->heap_bytes && !env->heap_locks && team < end; team++) {
        char *heap = (char *)env->heap + team * env->heap_bytes;
        ompgpu_emu_shadow_set(heap, env->heap_fixed, EMU_UNDEFINED);
        if (w->launch->module->guards)
            ompgpu_emu_shadow_set(heap + env->heap_fixed, env->heap_bytes - env->heap_fixed,
                                  EMU_GUARD);
    }
}

/* Frames are as far apart as an odd number of cache lines, so that they do not share a few sets. */
static void *op_frame(size_t size)
{
    enum { LINE = OMPGPU_EMU_FRAME_ALIGN };
    struct emu_worker *w = ompgpu_emu_worker;
    w->frame_size = ((size + LINE - 1) / LINE | 1) * LINE;
    if (w->frame_size * w->nthreads > w->frames_size) { /* the first thread of a launch */
        if (w->frames)
            munmap(w->frames, w->frames_size);
        w->frames_size = w->frame_size * EMU_MAX_THREADS;
        if (!(w->frames = ompgpu_emu_window_map(EMU_FOR_STACKS, w->frames_size))) {
            w->frames_size = 0;
            ompgpu_emu_thread_fail(
                w, "no memory for what threads keep while they wait, %zu bytes each", size);
        }
    }
    return w->frames + w->frame_size * w->current->pub.tid;
}

static void op_renew(void) { renew_shared(ompgpu_emu_worker); }

struct ompgpu_emu_ops ompgpu_emu_ops = {
    .abi = OMPGPU_EMU_ABI,
    .barrier = op_barrier,
    .shuffle = op_shuffle,
    .ballot = op_ballot,
    .syncwarp = op_syncwarp,
    .activemask = op_activemask,
    .yield = op_yield,
    .fail = op_fail,
    .redux = op_redux,
    .outside = ompgpu_emu_outside,
    .alloc = op_alloc,
    .free = op_free,
    .block_size = op_block_size,
    .dynamic = op_dynamic,
    .renew = op_renew,
    .arrive = ARRIVALS,
    .meet = op_meet,
    .part = op_part,
    .frame = op_frame,
    .check = ompgpu_emu_check,
    .check_copy = ompgpu_emu_check_copy,
    .check_text = ompgpu_emu_check_text,
    .check_bounds = ompgpu_emu_check_bounds,
    .unwritten = ompgpu_emu_unwritten,
    .written = ompgpu_emu_written,
    .race = ompgpu_emu_race,
    .fenced = ompgpu_emu_fenced,
    .in_team = ompgpu_emu_in_team,
    .block = ompgpu_emu_extent,
    .object = ompgpu_emu_object,
    .forget = ompgpu_emu_forget,
};

/* ------------------------------------------------------------------ running a team */
static void end_thread(struct emu_worker *w)
{
    struct emu_thread *me = w->current;
    struct emu_fiber *f = me->fiber;
    me->state = EMU_EXITED;
    me->fiber = NULL;
    w->live--;
    ompgpu_emu_progress(w);
    barriers_after_exit(w);
    struct emu_thread *t = launch_failed(w) ? NULL : next_ready(w);
    if (t && !t->fiber) { /* not started: goes on here, on the same stack */
        t->fiber = f;
        set_current(w, t);
        return;
    }
    ompgpu_emu_fiber_give(w, f);
    switch_to(w, f, t);
}

/* All threads of w->span, which never wait. */
static void run_in_turn(struct emu_worker *w)
{
    struct emu_fiber *f = w->current->fiber;
    void (*run)(void **, const struct ompgpu_emu_span *) = w->launch->kernel->entry;
    run(w->launch->params, &w->span);
    w->live = 0;
    ompgpu_emu_fiber_give(w, f);
    set_current(w, NULL);
    ompgpu_emu_fiber_switch(f, &w->home);
}

static void end_stackless(struct emu_worker *w)
{
    w->live--;
    ompgpu_emu_progress(w);
    barriers_after_exit(w);
}

/* Threads without stacks of their own, all on this one.  The state of one that comes back says
 * whether it has ended: waiting changes it. */
static void run_stackless(struct emu_worker *w)
{
    struct emu_fiber *f = w->current->fiber;
    void *(*start)(void **) = w->launch->kernel->entry;
    unsigned long pieces = 0;
    for (struct emu_thread *t; !launch_failed(w) && (t = next_ready(w)); pieces++) {
        w->current = t;
        ompgpu_emu_self = &t->pub;
        t->state = EMU_EXITED;
        if (t->frame)
            (*(void (**)(void *))t->frame)(t->frame);
        else
            t->fiber = f, t->frame = start(w->launch->params);
        if (t->state == EMU_EXITED)
            end_stackless(w);
    }
    w->switches += pieces;
    ompgpu_emu_fiber_give(w, f);
    set_current(w, NULL);
    ompgpu_emu_fiber_switch(f, &w->home);
}

static void run_with_stack(struct emu_worker *w)
{
    void (*run)(void **) = w->launch->kernel->entry;
    run(w->launch->params);
    end_thread(w);
}

void ompgpu_emu_thread_loop(struct emu_worker *w)
{
    static void (*const run[])(struct emu_worker *) = { [EMU_SPAN] = run_in_turn,
                                                        [EMU_STACKLESS] = run_stackless,
                                                        [EMU_FIBERS] = run_with_stack };
    for (;;)
        run[w->form](w);
}

static void team_begin(struct emu_worker *w, unsigned team)
{
    const struct emu_launch *l = w->launch;
    w->nthreads = w->live = l->threads;
    w->started = w->warps = w->spins = w->open = w->ahead_left = 0;
    w->ready.n = w->released = 0;
    for (struct emu_barrier *b = w->barrier; b < w->barrier + EMU_BARRIERS; b++)
        b->expected = b->arrived = b->waiting.n = 0;
    memset(w->pool, 0, sizeof w->pool);
    w->random = l->seed ^ (team + 1) * 0xD1342543DE82EF95u;
    for (unsigned i = 0; i < l->threads; i++) {
        struct emu_thread *t = &w->threads[i];
        t->pub = (struct ompgpu_emu_thread){ .tid = i,
                                             .ntid = l->threads,
                                             .team = team,
                                             .nteams = l->teams,
                                             .value = &w->value[i],
                                             .records = w->records,
                                             .shared = w->shared };
        t->fiber = NULL;
        t->frame = NULL;
        t->state = EMU_READY;
        if (l->random)
            pool_add(w, t);
    }
    memset(w->rendezvous, 0, (l->threads + EMU_WARP - 1) / EMU_WARP * sizeof *w->rendezvous);
}

static void run_fibers(struct emu_worker *w, unsigned team)
{
    team_begin(w, team);
    switch_to(w, &w->home, next_ready(w));
}

static void enter_fiber(struct emu_worker *w)
{
    struct emu_thread *t = &w->threads[0];
    if (!(t->fiber = take_fiber(w)))
        return;
    set_current(w, t);
    ompgpu_emu_fiber_switch(&w->home, t->fiber);
}

static void run_pieces(struct emu_worker *w, unsigned team)
{
    team_begin(w, team);
    enter_fiber(w);
}

static void run_span(struct emu_worker *w, struct ompgpu_emu_span span)
{
    const struct emu_launch *l = w->launch;
    w->span = span;
    w->nthreads = l->threads;
    w->live = 1;
    w->spins = 0;
    w->threads[0] = (struct emu_thread){ .pub = { .tid = span.tid,
                                                  .ntid = l->threads,
                                                  .team = span.team,
                                                  .nteams = l->teams,
                                                  .value = w->value + span.tid,
                                                  .records = w->records,
                                                  .shared = w->shared } };
    enter_fiber(w);
}

/* One by one, from any of them on. */
static void run_shuffled(struct emu_worker *w, unsigned team)
{
    unsigned n = w->launch->threads, stride, shift;
    w->random = w->launch->seed ^ (team + 1) * 0xD1342543DE82EF95u;
    shift = (unsigned)next_random(w) % n;
    stride = 1 + 2 * ((unsigned)next_random(w) % n);
    while (ompgpu_emu_common_divisor(stride, n) != 1)
        stride++;
    for (unsigned i = 0; i < n && !w->faulted && !launch_failed(w); i++) {
        unsigned tid = (unsigned)(((uint64_t)i * stride + shift) % n);
        run_span(w, (struct ompgpu_emu_span){ team, team + 1, tid, tid + 1 });
    }
}

static void run_plain(struct emu_worker *w, unsigned team, unsigned end)
{
    if (w->launch->random)
        run_shuffled(w, team);
    else
        run_span(w, (struct ompgpu_emu_span){ team, end, 0, w->launch->threads });
}

/* ------------------------------------------------------------------ faults */
/* One of several threads that ran at once has met a fault: which?  The launch has failed, so its
 * threads may run once more, one by one. */
static void find_faulted_thread(struct emu_worker *w)
{
    unsigned team = w->threads[0].pub.team;
    struct emu_fault first = w->fault;
    renew_shared(w);
    renew_heaps(w, team, team + 1);
    for (unsigned tid = 0; tid < w->nthreads; tid++) {
        w->faulted = false;
        run_span(w, (struct ompgpu_emu_span){ team, team + 1, tid, tid + 1 });
        if (w->faulted) {
            w->threads[0].pub.tid = tid;
            return;
        }
    }
    w->fault = first;
    w->threads[0].pub.tid = OMPGPU_EMU_SOME_THREAD;
}

static void report_fault(struct emu_worker *w)
{
    struct emu_launch *l = w->launch;
    struct emu_thread *t = w->current;
    char text[400], who[40] = "";
    if (t->pub.tid == OMPGPU_EMU_SOME_THREAD)
        find_faulted_thread(w);
    w->current = NULL;
    w->faulted = false;
    ompgpu_emu_fault_text(&w->fault, l, text, sizeof text);
    if (t->pub.tid != OMPGPU_EMU_SOME_THREAD)
        snprintf(who, sizeof who, ", thread %u", t->pub.tid);
    if (ompgpu_emu_launch_fail(l, "%s (team %u%s)", text, t->pub.team, who))
        l->has_address = ompgpu_emu_fault_address(&w->fault, &l->address);
}

void ompgpu_emu_teams_run(struct emu_worker *w, unsigned team, unsigned end)
{
    renew_shared(w);
    renew_heaps(w, team, end);
    w->form = w->launch->kernel->form;
    w->shuffled = w->launch->random;
    ompgpu_emu_hang_begin(w);
    if (w->form == EMU_SPAN)
        run_plain(w, team, end);
    else
        (w->form == EMU_FIBERS ? run_fibers : run_pieces)(w, team);
    ompgpu_emu_hang_end(w);
    if (w->faulted)
        report_fault(w);
    w->current = NULL;
    if (w->live && !launch_failed(w))
        ompgpu_emu_report_deadlock(w);
    if (launch_failed(w))
        ompgpu_emu_fiber_reset(w);
}
