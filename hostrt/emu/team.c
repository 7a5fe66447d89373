/* team.c - one team of emulated threads.
 *
 * A kernel without barriers and warp operations has the loop over its threads in itself
 * (codegen/ir/passes/threads.c) and runs on one fiber; with the random schedule it is called for
 * one thread at a time, in an order of their own.  Otherwise every thread of the team runs on a
 * fiber until it must wait; then the next ready thread goes on, directly from fiber to fiber:
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
#include "hostrt/emu/emu.h"

_Thread_local struct emu_worker *ompgpu_emu_worker;
_Thread_local struct ompgpu_emu_thread *ompgpu_emu_self;

static const char *const state_names[] = {
    [EMU_AT_SHUFFLE] = "shuffle",
    [EMU_AT_BALLOT] = "ballot",
    [EMU_AT_SYNCWARP] = "syncwarp",
    [EMU_AT_REDUX] = "redux",
};

/* ------------------------------------------------------------------ failure */
static _Noreturn void leave_team(struct emu_worker *w)
{
    w->current = NULL;
    ompgpu_emu_fiber_leave(&w->home);
}

__attribute__((format(printf, 2, 3))) static _Noreturn void fail_thread(struct emu_worker *w,
                                                                        const char *fmt, ...)
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

static void queue_add(struct emu_queue *q, struct emu_thread *t)
{
    t->next = NULL;
    if (q->tail)
        q->tail->next = t;
    else
        q->head = t;
    q->tail = t;
}

static struct emu_thread *queue_take(struct emu_queue *q)
{
    struct emu_thread *t = q->head;
    if (!(q->head = t->next))
        q->tail = NULL;
    return t;
}

/* The random schedule's ready threads: a bit a lane, and a bit a warp that has any. */
static void pool_add(struct emu_worker *w, const struct emu_thread *t)
{
    unsigned warp = t->pub.tid / EMU_WARP;
    w->pool[warp] |= 1u << t->pub.tid % EMU_WARP;
    w->warps |= 1u << warp;
}

static void make_ready(struct emu_worker *w, struct emu_queue *q, struct emu_thread *t)
{
    t->state = EMU_READY;
    if (w->launch->random)
        pool_add(w, t);
    else
        queue_add(q, t);
}

/* The first bit at or after a random one. */
static unsigned random_bit(uint32_t bits, unsigned from)
{
    return (from + (unsigned)__builtin_ctz(bits >> from | bits << (-from & 31))) & 31;
}

/* Any ready thread; but most of the time one warp is preferred for a while, so that warps come as
 * far apart as barriers let them. */
static struct emu_thread *random_ready(struct emu_worker *w)
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
static struct emu_thread *next_ready(struct emu_worker *w)
{
    if (w->launch->random)
        return w->warps ? random_ready(w) : NULL;
    if (w->released.head)
        return queue_take(&w->released);
    if (w->started < w->nthreads)
        return &w->threads[w->started++];
    return w->ready.head ? queue_take(&w->ready) : NULL;
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

/* With the random schedule the one who released the others may have to wait for any of them. */
static void after_release(struct emu_worker *w)
{
    if (w->launch->random) {
        make_ready(w, &w->ready, w->current);
        block_thread(w);
    }
}

/* ------------------------------------------------------------------ barriers */
/* " at line 23"; the device runtime's own barriers have no line. */
struct place {
    char text[32];
};
static struct place place_of(int line)
{
    struct place p = { " of the device runtime" };
    if (line > 0)
        snprintf(p.text, sizeof p.text, " at line %d", line);
    return p;
}

static unsigned barrier_count(const struct emu_worker *w, const struct emu_barrier *b)
{
    return b->expected ? b->expected : w->live;
}

static void barrier_release(struct emu_worker *w, unsigned id)
{
    struct emu_barrier *b = &w->barrier[id];
    w->barriers++;
    if (w->launch->random)
        for (struct emu_thread *t = b->waiting.head, *next; t; t = next) {
            next = t->next;
            make_ready(w, &w->ready, t);
        }
    else if (b->waiting.head) {
        for (struct emu_thread *t = b->waiting.head; t; t = t->next)
            t->state = EMU_READY;
        if (w->ready.tail)
            w->ready.tail->next = b->waiting.head;
        else
            w->ready.head = b->waiting.head;
        w->ready.tail = b->waiting.tail;
    }
    *b = (struct emu_barrier){ 0 };
    w->open &= ~(1u << id);
}

static void op_barrier(unsigned id, unsigned nthreads, int line)
{
    struct emu_worker *w = ompgpu_emu_worker;
    struct emu_thread *me = w->current;
    if (w->plain) {
        if (w->nthreads == 1 && nthreads <= 1)
            return;
        fail_thread(w, "barrier%s in a kernel that is marked as having none", place_of(line).text);
    }
    if (id >= EMU_BARRIERS)
        fail_thread(w, "barrier %u%s: there are barriers 0 to %d", id, place_of(line).text,
                    EMU_BARRIERS - 1);
    if (nthreads > w->nthreads)
        fail_thread(w, "barrier%s for %u threads in a team of %u", place_of(line).text, nthreads,
                    w->nthreads);
    struct emu_barrier *b = &w->barrier[id];
    if (!b->arrived)
        b->expected = nthreads;
    else if ((nthreads ? nthreads : w->live) != barrier_count(w, b))
        fail_thread(
            w, "barrier%s for %u threads, but the threads that wait there (barrier%s) wait for %u",
            place_of(line).text, nthreads ? nthreads : w->live,
            place_of(b->waiting.head->line).text, barrier_count(w, b));
    if (++b->arrived == barrier_count(w, b)) {
        barrier_release(w, id);
        after_release(w);
        return;
    }
    w->open |= 1u << id;
    me->state = EMU_AT_BARRIER;
    me->barrier = id;
    me->line = line;
    queue_add(&b->waiting, me);
    block_thread(w);
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
static struct emu_thread *thread_of_lane(struct emu_worker *w, const struct emu_thread *t,
                                         unsigned i)
{
    return &w->threads[(t->pub.tid & ~(EMU_WARP - 1u)) + i];
}

static void finish_shuffle(struct emu_worker *w, const struct emu_thread *me, uint32_t mask)
{
    uint32_t value[EMU_WARP];
    for (uint32_t m = mask; m; m &= m - 1)
        value[__builtin_ctz(m)] = thread_of_lane(w, me, __builtin_ctz(m))->value;
    for (uint32_t m = mask; m; m &= m - 1) {
        struct emu_thread *t = thread_of_lane(w, me, __builtin_ctz(m));
        if (t->source < EMU_WARP && (mask >> t->source & 1))
            t->value = value[t->source];
    }
}

static void finish_ballot(struct emu_worker *w, const struct emu_thread *me, uint32_t mask)
{
    uint32_t votes = 0;
    for (uint32_t m = mask; m; m &= m - 1)
        votes |= thread_of_lane(w, me, __builtin_ctz(m))->value << __builtin_ctz(m);
    for (uint32_t m = mask; m; m &= m - 1)
        thread_of_lane(w, me, __builtin_ctz(m))->value = votes;
}

static void finish_nothing(struct emu_worker *w, const struct emu_thread *me, uint32_t mask)
{
    (void)w, (void)me, (void)mask;
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

static void finish_redux(struct emu_worker *w, const struct emu_thread *me, uint32_t mask)
{
    uint32_t result = me->value;
    for (uint32_t m = mask & ~(1u << me->pub.tid % EMU_WARP); m; m &= m - 1)
        result = combine_words(me->source, result, thread_of_lane(w, me, __builtin_ctz(m))->value);
    for (uint32_t m = mask; m; m &= m - 1)
        thread_of_lane(w, me, __builtin_ctz(m))->value = result;
}

static void (*const finish[])(struct emu_worker *, const struct emu_thread *, uint32_t mask) = {
    [EMU_AT_SHUFFLE] = finish_shuffle,
    [EMU_AT_BALLOT] = finish_ballot,
    [EMU_AT_SYNCWARP] = finish_nothing,
    [EMU_AT_REDUX] = finish_redux,
};

/* The caller waits for the other lanes of mask; results are in `value` afterwards. */
static void join_rendezvous(struct emu_worker *w, enum emu_state kind, uint32_t mask)
{
    struct emu_thread *me = w->current;
    unsigned my_lane = me->pub.tid % EMU_WARP;
    if (!(mask >> my_lane & 1))
        fail_thread(w, "%s with mask 0x%08x, which leaves out the calling lane %u",
                    state_names[kind], mask, my_lane);
    if (mask == 1u << my_lane) { /* the only lane: also what a kernel without fibers may do */
        me->value = kind == EMU_AT_BALLOT && me->value ? mask : me->value;
        return;
    }
    if (w->plain)
        fail_thread(w, "%s in a kernel that is marked as having no warp operation",
                    state_names[kind]);
    struct emu_rendezvous *m = &w->rendezvous[me->pub.tid / EMU_WARP][kind][__builtin_ctz(mask)];
    if (!m->arrived)
        *m = (struct emu_rendezvous){ .mask = mask };
    else if (m->mask != mask)
        fail_thread(w, "%s with mask 0x%08x, but lane %d waits in one with mask 0x%08x",
                    state_names[kind], mask, __builtin_ctz(m->arrived), m->mask);
    m->arrived |= 1u << my_lane;
    if (m->arrived != mask) {
        me->state = kind;
        me->mask = mask;
        block_thread(w);
        return;
    }
    m->arrived = 0;
    finish[kind](w, me, mask);
    for (uint32_t others = mask & ~(1u << my_lane); others; others &= others - 1)
        make_ready(w, &w->released, thread_of_lane(w, me, __builtin_ctz(others)));
    after_release(w);
}

static uint32_t op_shuffle(uint32_t mask, uint32_t value, uint32_t source)
{
    struct emu_worker *w = ompgpu_emu_worker;
    struct emu_thread *me = w->current;
    me->value = value;
    me->source = source;
    join_rendezvous(w, EMU_AT_SHUFFLE, mask);
    return me->value;
}

static uint32_t op_ballot(uint32_t mask, int predicate)
{
    struct emu_worker *w = ompgpu_emu_worker;
    struct emu_thread *me = w->current;
    me->value = predicate != 0;
    join_rendezvous(w, EMU_AT_BALLOT, mask);
    return me->value;
}

static void op_syncwarp(uint32_t mask)
{
    join_rendezvous(ompgpu_emu_worker, EMU_AT_SYNCWARP, mask);
}

static uint32_t op_redux(uint32_t op, uint32_t mask, uint32_t value)
{
    struct emu_worker *w = ompgpu_emu_worker;
    struct emu_thread *me = w->current;
    me->value = value;
    me->source = op;
    join_rendezvous(w, EMU_AT_REDUX, mask);
    return me->value;
}

/* Emulated threads run one at a time, so no other lane is ever at the very same point. */
static uint32_t op_activemask(void) { return 1u << ompgpu_emu_worker->current->pub.tid % EMU_WARP; }

/* ------------------------------------------------------------------ other calls of device code */
static void op_yield(void)
{
    struct emu_worker *w = ompgpu_emu_worker;
    if (launch_failed(w))
        leave_team(w); /* what it spins for may never come */
    if (++w->spins >
        w->live) { /* all threads here have run since: what is waited for is on another OS thread */
        w->spins = 0;
        sched_yield();
    }
    if (w->plain)
        return;
    make_ready(w, &w->ready, w->current);
    block_thread(w);
}

static __attribute__((noreturn)) void op_fail(const char *message, int line)
{
    struct emu_worker *w = ompgpu_emu_worker;
    if (line > 0)
        fail_thread(w, "%s at line %d", message, line);
    fail_thread(w, "%s", message);
}

static void *op_alloc(size_t size)
{
    void *p;
    return ompgpu_emu_memory_alloc(ompgpu_emu_worker->launch->memory, size, &p) ? NULL : p;
}

static void op_free(void *p)
{
    struct emu_worker *w = ompgpu_emu_worker;
    if (ompgpu_emu_memory_free(w->launch->memory, p))
        fail_thread(w, "%s", ompgpu_plugin_message());
}

static void renew_shared(struct emu_worker *w)
{
    if (w->shared)
        memset(w->shared, EMU_POISON_SHARED, w->launch->module->shared_bytes);
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
    .renew = op_renew,
};

/* ------------------------------------------------------------------ who waits for whom */
static void describe_missing(const struct emu_thread *t, char *text, size_t size)
{
    if (t->state == EMU_EXITED)
        snprintf(text, size, "exited");
    else if (t->state == EMU_AT_BARRIER && t->line <= 0)
        snprintf(text, size, "waits at a barrier of the device runtime");
    else if (t->state == EMU_AT_BARRIER)
        snprintf(text, size, "waits at line %d", t->line);
    else
        snprintf(text, size, "waits in %s with mask 0x%08x", state_names[t->state], t->mask);
}

static void report_barrier(struct emu_worker *w, unsigned id)
{
    const struct emu_barrier *b = &w->barrier[id];
    char missing[120] = "";
    for (unsigned i = 0; i < w->nthreads; i++) {
        const struct emu_thread *t = &w->threads[i];
        if (t->state == EMU_AT_BARRIER && t->barrier == id)
            continue;
        size_t n = (size_t)snprintf(missing, sizeof missing, "first missing thread %u: ", i);
        describe_missing(t, missing + n, sizeof missing - n);
        break;
    }
    ompgpu_emu_launch_fail(w->launch, "barrier%s reached by %u of %u threads (%s) in team %u",
                           place_of(b->waiting.head->line).text, b->arrived, barrier_count(w, b),
                           missing, w->threads[0].pub.team);
}

static void report_warp(struct emu_worker *w, const struct emu_thread *waiting)
{
    const struct emu_rendezvous *m =
        &w->rendezvous[waiting->pub.tid / EMU_WARP][waiting->state][__builtin_ctz(waiting->mask)];
    unsigned first = waiting->pub.tid & ~(EMU_WARP - 1u),
             missing = first + (unsigned)__builtin_ctz(m->mask & ~m->arrived);
    char text[80];
    if (missing >= w->nthreads)
        snprintf(text, sizeof text, "not in the team of %u", w->nthreads);
    else
        describe_missing(&w->threads[missing], text, sizeof text);
    ompgpu_emu_launch_fail(w->launch,
                           "%s with mask 0x%08x reached by %d of %d lanes (first missing thread "
                           "%u: %s) in team %u, warp %u",
                           state_names[waiting->state], m->mask, __builtin_popcount(m->arrived),
                           __builtin_popcount(m->mask), missing, text, waiting->pub.team,
                           waiting->pub.tid / EMU_WARP);
}

/* No thread is ready, some have not ended: name the barrier with the most threads, or else the
 * first warp operation. */
static void report_deadlock(struct emu_worker *w)
{
    unsigned best = EMU_BARRIERS;
    for (unsigned i = 0; i < EMU_BARRIERS; i++)
        if (w->barrier[i].arrived &&
            (best == EMU_BARRIERS || w->barrier[i].arrived > w->barrier[best].arrived))
            best = i;
    if (best < EMU_BARRIERS) {
        report_barrier(w, best);
        return;
    }
    for (unsigned i = 0; i < w->nthreads; i++)
        if (w->threads[i].state != EMU_EXITED) {
            report_warp(w, &w->threads[i]);
            return;
        }
}

/* ------------------------------------------------------------------ running a team */
static void end_thread(struct emu_worker *w)
{
    struct emu_thread *me = w->current;
    struct emu_fiber *f = me->fiber;
    me->state = EMU_EXITED;
    me->fiber = NULL;
    w->live--;
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

void ompgpu_emu_thread_loop(struct emu_worker *w)
{
    for (;;)
        if (w->plain)
            run_in_turn(w);
        else {
            void (*run)(void **) = w->launch->kernel->entry;
            run(w->launch->params);
            end_thread(w);
        }
}

static void team_begin(struct emu_worker *w, unsigned team)
{
    const struct emu_launch *l = w->launch;
    w->nthreads = w->live = l->threads;
    w->started = w->warps = w->spins = w->open = w->ahead_left = 0;
    w->ready = w->released = (struct emu_queue){ 0 };
    memset(w->barrier, 0, sizeof w->barrier);
    memset(w->pool, 0, sizeof w->pool);
    w->random = l->seed ^ (team + 1) * 0xD1342543DE82EF95u;
    for (unsigned i = 0; i < l->threads; i++) {
        struct emu_thread *t = &w->threads[i];
        t->pub = (struct ompgpu_emu_thread){
            .tid = i, .ntid = l->threads, .team = team, .nteams = l->teams, .priv = w
        };
        t->fiber = NULL;
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
                                                  .priv = w } };
    if (!(w->threads[0].fiber = take_fiber(w)))
        return;
    set_current(w, &w->threads[0]);
    ompgpu_emu_fiber_switch(&w->home, w->threads[0].fiber);
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
    w->plain = !w->launch->kernel->waits;
    if (w->plain)
        run_plain(w, team, end);
    else
        run_fibers(w, team);
    if (w->faulted)
        report_fault(w);
    w->current = NULL;
    if (w->live && !launch_failed(w))
        report_deadlock(w);
    if (launch_failed(w))
        ompgpu_emu_fiber_reset(w);
}
