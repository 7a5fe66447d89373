/* team_memory.c - a pool of team-shared memory, for what allocators of a team allocate (alloc.c).
 *
 * The host says how large it is, 0 for none (OMPGPU_TEAM_MEMORY); it lies after what
 * ompx_dyn_cgroup_mem asks for.
 *
 *     | chunk | chunk | chunk | free       |
 *       each begins with its size          ^ top
 *
 * Nobody waits: one word has the top and the number of chunks.  The last chunk goes back to the
 * pool when it is freed, all of them do when none is left. */
#include "devicertl/arch.h"

enum { CHUNK_ALIGN = 16 };
static const u64 one_chunk = (u64)1 << 32; /* the top is below */

__attribute__((weak)) const u8 __ompgpu_cfg_team_memory = 1;
static __OMPGPU_SHARED u64 __ompgpu_state_memory_top __OMPGPU_SHARED_INIT;
__OMPGPU_SHARED u32 __ompgpu_state_memory_size __OMPGPU_SHARED_INIT;
static __OMPGPU_SHARED u32 __ompgpu_state_memory_offset __OMPGPU_SHARED_INIT;

/* A thread may allocate before thread 0 is here: a barrier, which in generic mode is the one for
 * which the workers wait. */
__attribute__((noinline)) void __ompgpu_team_memory_begin(u32 size, u32 end, int mode)
{
    if (!__ompgpu_cfg_team_memory)
        return;
    STATE_SET(__ompgpu_state_memory_size, size);
    STATE_SET(__ompgpu_state_memory_offset, end - size);
    if (__ompgpu_arch_tid() == 0)
        STATE_SET(__ompgpu_state_memory_top, 0);
    if (mode == __OMPGPU_SPMD && size)
        __ompgpu_arch_barrier(0);
}

static char *memory(void)
{
    return (char *)__ompgpu_arch_dynamic() + STATE_GET(__ompgpu_state_memory_offset);
}

static _Bool replace_top(u64 *before, u64 after)
{
    return __scoped_atomic_compare_exchange_n(&__ompgpu_state_memory_top, before, after, 0,
                                              __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                              __MEMORY_SCOPE_WRKGRP);
}

void *__ompgpu_team_memory_alloc(usize bytes)
{
    const usize all = (bytes + 2 * CHUNK_ALIGN - 1) & ~(usize)(CHUNK_ALIGN - 1);
    const u32 size = __ompgpu_cfg_team_memory ? STATE_GET(__ompgpu_state_memory_size) : 0;
    u64 top = size ? STATE_GET(__ompgpu_state_memory_top) : 0;
    do {
        if (all < bytes || all > size - (u32)top)
            return (void *)0;
    } while (!replace_top(&top, top + one_chunk + all));
    __ompgpu_arch_fence();
    __ompgpu_arch_acquired();
    char *chunk = memory() + (u32)top;
    *(u32 *)chunk = (u32)all;
    return chunk + CHUNK_ALIGN;
}

static u64 top_without(u64 top, u32 at, u32 size)
{
    if (top >> 32 == 1)
        return 0;
    return top - one_chunk - (at + size == (u32)top ? size : 0);
}

_Bool __ompgpu_team_memory_free(void *block)
{
    const u32 size = __ompgpu_cfg_team_memory ? STATE_GET(__ompgpu_state_memory_size) : 0;
    char *chunk = (char *)block - CHUNK_ALIGN;
    if (!size || (usize)(chunk - memory()) >= size)
        return 0;
    const u32 at = (u32)(chunk - memory()), bytes = *(u32 *)chunk;
    __ompgpu_arch_fence();
    u64 top = STATE_GET(__ompgpu_state_memory_top);
    while (!replace_top(&top, top_without(top, at, bytes))) {}
    return 1;
}
