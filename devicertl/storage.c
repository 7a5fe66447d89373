/* storage.c - a team's storage in global memory: for locals of sequential code that do not fit into
 * shared memory, and for private copies of reduced arrays that do not fit on a thread's stack.
 *
 *      env->heap + place × heap_bytes                                                                          + heap_bytes
 *      | fixed: places that the       | blocks of sizes known at run time ->  …   | copies, a slice for each thread    |
 *      | compiler has assigned        |                              ^ top        | of the parallel region  (heap_copies) |
 *
 * The blocks are a stack: a function remembers the top when it starts and goes back to it when it
 * returns.  Only thread 0 of a team moves the top; what it gets it publishes as it does the
 * addresses of other variables.
 *
 * `here` is false where the function turns out to run inside a parallel region: there each thread
 * uses its own stack.
 *
 * Copies that sequential code makes are blocks.  In a parallel region of n threads each has the
 * n-th part of the copies' storage, and in it a stack of its own.  So nobody waits for anybody:
 * threads that meet a construct together take the same place of their slices, and one that meets it
 * alone (a serialised region, `single`) only its own.  A region's copies are given back before it
 * ends; between regions, which may have different numbers of threads and so other slices, there is
 * a barrier.
 *
 * There is a place for each team that can run at a time.  Where there are more teams, they claim
 * one when they begin.               */
#include "devicertl/arch.h"

typedef char *place;
static __OMPGPU_SHARED place __ompgpu_state_heap __OMPGPU_SHARED_INIT;
static __OMPGPU_SHARED place __ompgpu_state_heap_top __OMPGPU_SHARED_INIT;
static __OMPGPU_SHARED place __ompgpu_state_heap_end __OMPGPU_SHARED_INIT;
/* In units. */
static __OMPGPU_SHARED u32 __ompgpu_state_copies __OMPGPU_SHARED_INIT;
/* of the thread's slice, by the thread itself */
static __OMPGPU_SHARED u32 __ompgpu_state_copies_used[MAX_TEAM] __OMPGPU_SHARED_INIT;

__attribute__((weak)) const u8 __ompgpu_cfg_storage = 1;
static __OMPGPU_SHARED u32 __ompgpu_state_heap_place __OMPGPU_SHARED_INIT; /* thread 0's */

/* With fewer places than teams: one that no running team has.  Those that have one wait for nobody,
 * so there will be one. */
static u32 claim(const struct __ompgpu_env *env)
{
    u32 at = __ompgpu_arch_team() % env->heap_places;
    while (!__ompgpu_try_lock(&env->heap_locks[at])) {
        at = at + 1 < env->heap_places ? at + 1 : 0;
        __ompgpu_arch_pause();
    }
    return at;
}

static void set_base(const struct __ompgpu_env *env, u32 at)
{
    place base = (place)env->heap + at * env->heap_bytes;
    STATE_SET(__ompgpu_state_heap, base);
    STATE_SET(__ompgpu_state_heap_end, base + env->heap_bytes - env->heap_copies);
    if (__ompgpu_arch_tid() == 0)
        __ompgpu_state_heap_top = base + env->heap_fixed;
}

/* Every thread stores the same base, and reads only after its own store; the top is thread 0's.  A
 * place that must be claimed thread 0 makes known: in generic mode by the barrier for which the
 * workers wait. */
void __ompgpu_heap_begin(struct __ompgpu_env *env, int mode)
{
    STATE_SET(__ompgpu_state_copies, (u32)(env->heap_copies / __OMPGPU_COPY_UNIT));
    __ompgpu_state_copies_used[__ompgpu_arch_tid()] = 0;
    if (!__ompgpu_cfg_storage || !env->heap_locks) {
        set_base(env, __ompgpu_arch_team());
        return;
    }
    if (__ompgpu_arch_tid() == 0)
        set_base(env, __ompgpu_state_heap_place = claim(env));
    if (mode == __OMPGPU_SPMD)
        __ompgpu_arch_barrier(0);
}

/* By all threads of an SPMD kernel, by the main thread of a generic one. */
void __ompgpu_heap_leave(struct __ompgpu_env *env, int mode)
{
    if (!__ompgpu_cfg_storage || !env->heap_locks)
        return;
    if (mode == __OMPGPU_SPMD)
        __ompgpu_arch_barrier(0);
    if (__ompgpu_arch_tid() == 0)
        __ompgpu_critical_end(&env->heap_locks[__ompgpu_state_heap_place]);
}

void *__ompgpu_heap_slot(_Bool here, unsigned long at)
{
    return here ? STATE_GET(__ompgpu_state_heap) + at : (place)0;
}

void *__ompgpu_heap_mark(_Bool here) { return here ? __ompgpu_state_heap_top : (place)0; }

void *__ompgpu_heap_alloc(_Bool here, unsigned long size, unsigned long align, const char *message,
                          int line)
{
    if (!here)
        return (place)0;
    place top = __ompgpu_state_heap_top;
    usize skip = -(usize)top & (align - 1),
          room = (usize)(STATE_GET(__ompgpu_state_heap_end) - top);
    if (skip > room || size > room - skip)
        __ompgpu_fail(message, line);
    __ompgpu_state_heap_top = top + skip + size;
    return top + skip;
}

void __ompgpu_heap_release(_Bool here, void *mark)
{
    if (here)
        __ompgpu_state_heap_top = mark;
}

/* ------------------------------------------------------------- private copies of reduced arrays */
static u32 slice(void) { return STATE_GET(__ompgpu_state_copies) / __ompgpu_outer_size(); }

void *__ompgpu_copy_alloc(_Bool sequential, unsigned long units, const char *message, int line)
{
    unsigned tid = __ompgpu_arch_tid();
    if (units != (u32)units)
        __ompgpu_fail(message, line);
    if (sequential)
        return __ompgpu_heap_alloc(1, units * __OMPGPU_COPY_UNIT, __OMPGPU_COPY_UNIT, message,
                                   line);
    u32 room = slice(), used = __ompgpu_state_copies_used[tid];
    if (units > room - used)
        __ompgpu_fail(message, line);
    __ompgpu_state_copies_used[tid] = used + (u32)units;
    return STATE_GET(__ompgpu_state_heap_end) + ((usize)tid * room + used) * __OMPGPU_COPY_UNIT;
}

void __ompgpu_copy_free(_Bool sequential, void *copies, unsigned long units)
{
    if (sequential)
        __ompgpu_heap_release(1, copies);
    else
        __ompgpu_state_copies_used[__ompgpu_arch_tid()] -= (u32)units;
}

unsigned long __ompgpu_copy_distance(void) { return (usize)slice() * __OMPGPU_COPY_UNIT; }
