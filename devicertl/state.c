/* state.c - what a team knows of itself: mode, nesting, who a thread is.
 *
 * A thread's level counts the parallel regions around it.  An SPMD kernel starts at level 1, with all launched threads; a
 * generic one at level 0, with the main thread.  At level 1 a thread is one of region_threads; deeper regions are serialised, so
 * there it is thread 0 of 1.  Sequential code of an SPMD kernel that asks about its threads (in functions that could not be inlined) runs
 * on thread 0 between nest_leave and nest_enter: at level 0, as in a generic kernel.
 */
#include "devicertl/arch.h"

__attribute__((weak)) const u8 __ompgpu_cfg_uses_parallel = 1;
__attribute__((weak)) const u8 __ompgpu_cfg_generic = 1;
__attribute__((weak)) const u8 __ompgpu_cfg_spmd = 1;
__attribute__((weak)) const u8 __ompgpu_cfg_parts = 1;
__attribute__((weak)) const u8 __ompgpu_cfg_asks = 1;

static __OMPGPU_SHARED u8 __ompgpu_state_mode __OMPGPU_SHARED_INIT;
static __OMPGPU_SHARED u16 __ompgpu_state_nest[MAX_TEAM] __OMPGPU_SHARED_INIT;    /* regions entered, by the thread itself */
static __OMPGPU_SHARED u16 __ompgpu_state_size[MAX_TEAM] __OMPGPU_SHARED_INIT;    /* SPMD: threads of the region the thread is in */
__OMPGPU_SHARED u32 __ompgpu_state_region_threads __OMPGPU_SHARED_INIT;
__OMPGPU_SHARED u32 __ompgpu_state_nthreads __OMPGPU_SHARED_INIT;
__OMPGPU_SHARED u32 __ompgpu_state_device __OMPGPU_SHARED_INIT;

_Bool __ompgpu_is_spmd(void)
{
    if (__ompgpu_cfg_generic && __ompgpu_cfg_spmd)
        return __ompgpu_state_mode == __OMPGPU_SPMD;
    return !__ompgpu_cfg_generic;
}

unsigned __ompgpu_level(void)
{
    unsigned base = __ompgpu_is_spmd();
    return __ompgpu_cfg_uses_parallel ? (u16)(base + __ompgpu_state_nest[__ompgpu_arch_tid()]) : base;
}

unsigned __ompgpu_outer_size(void)
{
    if (!__ompgpu_is_spmd())
        return __ompgpu_state_region_threads;
    return __ompgpu_cfg_parts ? __ompgpu_state_size[__ompgpu_arch_tid()] : __ompgpu_arch_ntid();
}

void __ompgpu_set_size(unsigned n)
{
    if (__ompgpu_cfg_parts)
        __ompgpu_state_size[__ompgpu_arch_tid()] = (u16)n;
}

void __ompgpu_nest_enter(void) { __ompgpu_state_nest[__ompgpu_arch_tid()]++; }
void __ompgpu_nest_leave(void) { __ompgpu_state_nest[__ompgpu_arch_tid()]--; }
void __ompgpu_nest_clear(void)
{
    if (__ompgpu_cfg_uses_parallel)
        __ompgpu_state_nest[__ompgpu_arch_tid()] = 0;
}

/* By every thread of an SPMD kernel, and by every thread of a generic one before it waits. */
void __ompgpu_state_begin(struct __ompgpu_env *env, int mode)
{
    if (__ompgpu_cfg_generic && __ompgpu_cfg_spmd)
        __ompgpu_state_mode = (u8)mode;
    __ompgpu_state_device = env->device_num;
    __ompgpu_nest_clear();
    if (mode == __OMPGPU_SPMD)
        __ompgpu_set_size(__ompgpu_arch_ntid());
}

int __ompgpu_team_id(void) { return (int)__ompgpu_arch_team(); }
int __ompgpu_num_teams(void) { return (int)__ompgpu_arch_nteams(); }

int __ompgpu_thread_id(void) { return __ompgpu_level() == 1 ? (int)__ompgpu_arch_tid() : 0; }

int __ompgpu_num_threads(void)
{
    if (__ompgpu_level() != 1)
        return 1;
    return (int)__ompgpu_outer_size();
}

_Noreturn void __ompgpu_fail(const char *message, int line) { __ompgpu_arch_fail(message, line); }
