/* storage.c - a team's storage in global memory, for locals of sequential code that do not fit into shared memory.
 *
 *      env->heap + team × heap_bytes                                                            + heap_bytes
 *      | fixed: places that the compiler has assigned | blocks of sizes known at run time ->  …       |
 *                                                                                     ^ top           ^ end
 *
 * The blocks are a stack: a function remembers the top when it starts and goes back to it when it returns.  Only thread 0 of a team
 * moves the top; what it gets it publishes as it does the addresses of other variables.
 *
 * `here` is false where the function turns out to run inside a parallel region: there each thread uses its own stack.            */
#include "devicertl/arch.h"

typedef char *place;
static __OMPGPU_SHARED place __ompgpu_state_heap __OMPGPU_SHARED_INIT;
static __OMPGPU_SHARED place __ompgpu_state_heap_top __OMPGPU_SHARED_INIT;
static __OMPGPU_SHARED place __ompgpu_state_heap_end __OMPGPU_SHARED_INIT;

/* Every thread stores the same base, and reads only after its own store; the top is thread 0's. */
void __ompgpu_heap_begin(struct __ompgpu_env *env)
{
    place base = (place)env->heap + (usize)__ompgpu_arch_team() * env->heap_bytes;
    __ompgpu_state_heap = base;
    if (__ompgpu_arch_tid() == 0) {
        __ompgpu_state_heap_top = base + env->heap_fixed;
        __ompgpu_state_heap_end = base + env->heap_bytes;
    }
}

void *__ompgpu_heap_slot(_Bool here, unsigned long at) { return here ? __ompgpu_state_heap + at : (place)0; }

void *__ompgpu_heap_mark(_Bool here) { return here ? __ompgpu_state_heap_top : (place)0; }

void *__ompgpu_heap_alloc(_Bool here, unsigned long size, unsigned long align, const char *message, int line)
{
    if (!here)
        return (place)0;
    place top = __ompgpu_state_heap_top;
    usize skip = -(usize)top & (align - 1), room = (usize)(__ompgpu_state_heap_end - top);
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
