/* storage.c - the team heap: a team's storage in global memory, for locals of sequential code that
 * do not fit into shared memory, and for private copies of reduced arrays that do not fit on a
 * thread's stack.
 *
 *   env->heap + number * heap_bytes                                               + heap_bytes
 *   | fixed: locals, at offsets   | blocks, of sizes known    | copies: a slice for each       |
 *   | that the compiler assigned  | at run time ->     ^ top  | thread of the parallel region  |
 *     heap_fixed bytes                                          heap_copies bytes
 *
 * The blocks are a stack: a function remembers the top when it starts and goes back to it when it
 * returns.  Only thread 0 of a team moves the top; it publishes what it gets as it does the
 * addresses of other variables.
 *
 * `here` is false where the function turns out to run inside a parallel region: there each thread
 * uses its stack.
 *
 * Copies that sequential code makes are blocks.  In a parallel region of n threads each has the
 * n-th part of the copies, its slice, as a stack.  So no thread waits for another: threads that
 * encounter a construct together use the same offset of their slices, and a thread that is the only
 * one there (a serialised region, `single`) uses its slice.  A region's copies are freed before it
 * ends; between regions, which may have different numbers of threads and so other slices, there is
 * a barrier.
 *
 * There is a heap for each team that can run at a time.  Where there are more teams, they claim one
 * when they begin. */
#include "devicertl/arch.h"

typedef char *address;
static __OMPGPU_SHARED address __ompgpu_state_heap __OMPGPU_SHARED_INIT;
static __OMPGPU_SHARED address __ompgpu_state_heap_top __OMPGPU_SHARED_INIT;
static __OMPGPU_SHARED address __ompgpu_state_heap_end __OMPGPU_SHARED_INIT;
/* In units. */
static __OMPGPU_SHARED u32 __ompgpu_state_copies __OMPGPU_SHARED_INIT;
/* of the thread's slice, by the thread itself */
static __OMPGPU_SHARED u32 __ompgpu_state_copies_used[MAX_TEAM] __OMPGPU_SHARED_INIT;

__attribute__((weak)) const u8 __ompgpu_cfg_storage = 1;
static __OMPGPU_SHARED u32 __ompgpu_state_heap_number __OMPGPU_SHARED_INIT; /* thread 0's */

/* With fewer heaps than teams: one that no running team has.  A team that has one waits for no
 * other team, so there will be one. */
static u32 claim_heap(const struct __ompgpu_env *env)
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
    address base = (address)env->heap + at * env->heap_bytes;
    STATE_SET(__ompgpu_state_heap, base);
    STATE_SET(__ompgpu_state_heap_end, base + env->heap_bytes - env->heap_copies);
    if (__ompgpu_arch_tid() == 0)
        __ompgpu_state_heap_top = base + env->heap_fixed;
}

/* Every thread stores the same base, and reads only after its store; only thread 0 uses the top.  A
 * heap that must be claimed is claimed and stored by thread 0; a barrier follows, which in generic
 * mode is the one for which the workers wait. */
void __ompgpu_heap_begin(struct __ompgpu_env *env, int mode)
{
    STATE_SET(__ompgpu_state_copies, (u32)(env->heap_copies / __OMPGPU_COPY_UNIT));
    __ompgpu_state_copies_used[__ompgpu_arch_tid()] = 0;
    if (!__ompgpu_cfg_storage || !env->heap_locks) {
        set_base(env, __ompgpu_arch_team());
        return;
    }
    if (__ompgpu_arch_tid() == 0)
        set_base(env, __ompgpu_state_heap_number = claim_heap(env));
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
        __ompgpu_unlock(&env->heap_locks[__ompgpu_state_heap_number]);
}

void *__ompgpu_heap_slot(_Bool here, unsigned long at)
{
    return here ? STATE_GET(__ompgpu_state_heap) + at : (address)0;
}

void *__ompgpu_heap_mark(_Bool here) { return here ? __ompgpu_state_heap_top : (address)0; }

/* Where the next object may lie: as far from this one as the room allows. */
static address after(address p, usize size, usize room, const char *what)
{
    usize all = size + __ompgpu_cfg_guard;
    address end = p + (all < room ? all : room);
    if (__ompgpu_cfg_guard)
        __ompgpu_arch_object(p, size, end, what, 1);
    return end;
}

static void *get_block(usize size, usize align, const char *what, const char *message, int line)
{
    address top = __ompgpu_state_heap_top;
    usize skip = -(usize)top & (align - 1),
          room = (usize)(STATE_GET(__ompgpu_state_heap_end) - top);
    if (skip > room || size > room - skip)
        __ompgpu_fail(message, line);
    __ompgpu_state_heap_top = after(top + skip, size, room - skip, what);
    return top + skip;
}

void *__ompgpu_heap_alloc(_Bool here, unsigned long size, unsigned long align, const char *message,
                          int line)
{
    return here ? get_block(size, align, "a variable of the team", message, line) : (void *)0;
}

void __ompgpu_heap_release(_Bool here, void *mark)
{
    if (here && __ompgpu_cfg_guard)
        __ompgpu_arch_object(mark, 0, __ompgpu_state_heap_top, "", 1);
    if (here)
        __ompgpu_state_heap_top = mark;
}

/* ------------------------------------------------------------- private copies of reduced arrays */
static const char copies[] = "the private copies";
/* 0 outside of a parallel region, where a thread's copies are in a block of their own. */
static u32 slice_units(void)
{
    const u32 threads = __ompgpu_outer_size();
    return threads ? STATE_GET(__ompgpu_state_copies) / threads : 0;
}
static address slice_of(unsigned tid)
{
    return STATE_GET(__ompgpu_state_heap_end) + (usize)tid * slice_units() * __OMPGPU_COPY_UNIT;
}

void *__ompgpu_copy_alloc(_Bool sequential, unsigned long units, const char *message, int line)
{
    unsigned tid = __ompgpu_arch_tid();
    if (units != (u32)units)
        __ompgpu_fail(message, line);
    if (sequential)
        return get_block(units * __OMPGPU_COPY_UNIT, __OMPGPU_COPY_UNIT, copies, message, line);
    u32 room = slice_units(), used = __ompgpu_state_copies_used[tid];
    if (units > room - used)
        __ompgpu_fail(message, line);
    address p = slice_of(tid) + (usize)used * __OMPGPU_COPY_UNIT;
    usize bytes = units * __OMPGPU_COPY_UNIT;
    address end = after(p, bytes, (usize)(room - used) * __OMPGPU_COPY_UNIT, copies);
    __ompgpu_state_copies_used[tid] = used + (u32)((usize)(end - p) / __OMPGPU_COPY_UNIT);
    return p;
}

void __ompgpu_copy_free(_Bool sequential, void *p, unsigned long units)
{
    const unsigned tid = __ompgpu_arch_tid();
    if (sequential)
        __ompgpu_heap_release(1, p);
    else if (__ompgpu_cfg_guard)
        __ompgpu_state_copies_used[tid] =
            (u32)((usize)((address)p - slice_of(tid)) / __OMPGPU_COPY_UNIT);
    else
        __ompgpu_state_copies_used[tid] -= (u32)units;
}

unsigned long __ompgpu_copy_distance(void) { return (usize)slice_units() * __OMPGPU_COPY_UNIT; }
