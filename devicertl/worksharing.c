/* worksharing.c - loops with a dynamic or guided schedule.  Static schedules are iterators in
 * ompgpu_device.h.
 *
 * The team's loop lives in shared memory: `next` counts chunks (dynamic; so it cannot overflow) or
 * iterations (guided).  Sequential code, which may have the team's loop in the body of its own, and
 * a serialised region have a team of one: its loop is a single chunk, and only "not yet taken" must
 * be kept, for each thread.  Since the whole loop is taken before its body runs, a loop nested in
 * the body can use the same place. */
#include "devicertl/arch.h"

static __OMPGPU_SHARED u64 __ompgpu_state_next __OMPGPU_SHARED_INIT;
static __OMPGPU_SHARED u64 __ompgpu_state_trip __OMPGPU_SHARED_INIT;
static __OMPGPU_SHARED u64 __ompgpu_state_chunk __OMPGPU_SHARED_INIT;
static __OMPGPU_SHARED u64 __ompgpu_state_chunks __OMPGPU_SHARED_INIT; /* guided: 0 */
static __OMPGPU_SHARED u32 __ompgpu_state_shift __OMPGPU_SHARED_INIT;
static __OMPGPU_SHARED u64 __ompgpu_state_pending[MAX_TEAM] __OMPGPU_SHARED_INIT;

static unsigned log2_ceil(unsigned n) { return n <= 1 ? 0 : 32 - (unsigned)__builtin_clz(n - 1); }

static void start_loop(int sched, u64 trip, u64 chunk, unsigned nthreads)
{
    __ompgpu_state_next = 0;
    __ompgpu_state_trip = trip;
    __ompgpu_state_chunk = chunk;
    __ompgpu_state_chunks = sched == __OMPGPU_GUIDED ? 0 : trip / chunk + (trip % chunk != 0);
    __ompgpu_state_shift = log2_ceil(nthreads);
}

static _Bool is_serial(void) { return __ompgpu_level() != 1; }

void __ompgpu_dispatch_init(int sched, unsigned long long trip, unsigned long long chunk)
{
    if (is_serial()) {
        __ompgpu_state_pending[__ompgpu_arch_tid()] = trip;
        return;
    }
    __ompgpu_barrier(0); /* every thread has left the loop before */
    if (__ompgpu_thread_id() == 0)
        start_loop(sched, trip, chunk ? chunk : 1, (unsigned)__ompgpu_num_threads());
    __ompgpu_barrier(0);
}

static _Bool next_serial(unsigned long long *lo, unsigned long long *hi)
{
    u64 *pending = (u64 *)&__ompgpu_state_pending[__ompgpu_arch_tid()];
    *lo = 0;
    *hi = *pending;
    *pending = 0;
    return *hi != 0;
}

static _Bool next_dynamic(unsigned long long *lo, unsigned long long *hi)
{
    u64 trip = __ompgpu_state_trip, chunk = __ompgpu_state_chunk;
    u64 c = __scoped_atomic_fetch_add(&__ompgpu_state_next, (u64)1, __ATOMIC_RELAXED,
                                      __MEMORY_SCOPE_WRKGRP);
    if (c >= __ompgpu_state_chunks)
        return 0;
    *lo = c * chunk;
    *hi = chunk < trip - *lo ? *lo + chunk : trip;
    return 1;
}

/* A chunk is what is left over the number of threads (rounded up to a power of two: no division),
 * at least `chunk`. */
static _Bool next_guided(unsigned long long *lo, unsigned long long *hi)
{
    u64 trip = __ompgpu_state_trip, chunk = __ompgpu_state_chunk;
    u64 from =
            __scoped_atomic_load_n(&__ompgpu_state_next, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP),
        size;
    do {
        if (from >= trip)
            return 0;
        u64 left = trip - from;
        size = left >> __ompgpu_state_shift;
        size = size < chunk ? chunk : size;
        size = size < left ? size : left;
    } while (!__scoped_atomic_compare_exchange_n(&__ompgpu_state_next, &from, from + size, 1,
                                                 __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                                 __MEMORY_SCOPE_WRKGRP));
    *lo = from;
    *hi = from + size;
    return 1;
}

_Bool __ompgpu_dispatch_next(unsigned long long *lo, unsigned long long *hi)
{
    if (is_serial())
        return next_serial(lo, hi);
    return __ompgpu_state_chunks ? next_dynamic(lo, hi) : next_guided(lo, hi);
}

/* ------------------------------------------------------------------ schedule(runtime)
 * Threads of a team have the same schedule when they come to a loop, as the specification asks.
 * With a static one each counts its own chunks, also while loops nested in the body run. */
enum { STATIC = 1, DYNAMIC = 2, GUIDED = 3 }; /* omp_sched_t */
static __OMPGPU_SHARED u64 __ompgpu_state_mine[MAX_TEAM] __OMPGPU_SHARED_INIT;
static __OMPGPU_SHARED u8 __ompgpu_state_static __OMPGPU_SHARED_INIT;

static void start_runtime_loop(u64 trip, unsigned nthreads)
{
    struct schedule s = __ompgpu_schedule();
    _Bool is_static = s.kind != DYNAMIC && s.kind != GUIDED;
    u64 block = (trip + nthreads - 1) / nthreads, chunk = s.chunk ? s.chunk : is_static ? block : 1;
    start_loop(s.kind == GUIDED ? __OMPGPU_GUIDED : __OMPGPU_DYNAMIC, trip, chunk ? chunk : 1,
               nthreads);
    __ompgpu_state_static = is_static;
}

void __ompgpu_runtime_init(unsigned long long trip)
{
    if (is_serial()) {
        __ompgpu_state_pending[__ompgpu_arch_tid()] = trip;
        return;
    }
    __ompgpu_barrier(0); /* every thread has left the loop before */
    __ompgpu_state_mine[__ompgpu_arch_tid()] = (u64)__ompgpu_thread_id();
    if (__ompgpu_thread_id() == 0)
        start_runtime_loop(trip, (unsigned)__ompgpu_num_threads());
    __ompgpu_barrier(0);
}

_Bool __ompgpu_runtime_next(unsigned long long *lo, unsigned long long *hi)
{
    if (is_serial() || !__ompgpu_state_static)
        return __ompgpu_dispatch_next(lo, hi);
    u64 *mine = (u64 *)&__ompgpu_state_mine[__ompgpu_arch_tid()];
    u64 trip = __ompgpu_state_trip, chunk = __ompgpu_state_chunk;
    if (*mine >= __ompgpu_state_chunks)
        return 0;
    *lo = *mine * chunk;
    *hi = chunk < trip - *lo ? *lo + chunk : trip;
    *mine += (u64)__ompgpu_num_threads();
    return 1;
}

/* omp-device replaces the calls of these. */
__attribute__((noinline, const)) unsigned __ompgpu_tile_column(unsigned n) { return n; }
__attribute__((noinline, const)) unsigned __ompgpu_tile_row(unsigned n) { return n; }
__attribute__((noinline)) unsigned __ompgpu_tile_shift(void) { return 0; }
__attribute__((noinline)) unsigned __ompgpu_batch_size(_Bool by_team)
{
    (void)by_team;
    return 1;
}
