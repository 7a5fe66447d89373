/* state.c - what a team knows of itself: mode, nesting, who a thread is.
 *
 * A thread's level counts the parallel regions around it.  An SPMD kernel starts at level 1, with
 * all launched threads; a generic one at level 0, with the main thread: the workers are seen at
 * level 1 only, and the main thread is there while region_threads is not 0.  At level 1 a thread is
 * one of region_threads; deeper regions are serialised, so there it is thread 0 of 1.  nest[]
 * counts those, and is not there in a program that has none.  While thread 0 of an SPMD kernel
 * calls functions on behalf of all threads, its nest is -1: level 0 (codegen/ir/spmd/rewrite.c).
 */
#include "devicertl/arch.h"

__attribute__((weak)) const u8 __ompgpu_cfg_nested = 1;
__attribute__((weak)) const u8 __ompgpu_cfg_generic = 1;
__attribute__((weak)) const u8 __ompgpu_cfg_spmd = 1;
__attribute__((weak)) const u8 __ompgpu_cfg_partial = 1;
__attribute__((weak)) const u8 __ompgpu_cfg_queries = 1;
__attribute__((weak)) const u8 __ompgpu_cfg_leagues = 1;
__attribute__((weak)) const u8 __ompgpu_cfg_guard = 0;

static __OMPGPU_SHARED u8 __ompgpu_state_mode __OMPGPU_SHARED_INIT;
/* each by the thread itself */
static __OMPGPU_SHARED u16 __ompgpu_state_nest[MAX_TEAM] __OMPGPU_SHARED_INIT;
/* SPMD: threads of the region the thread is in */
static __OMPGPU_SHARED u16 __ompgpu_state_size[MAX_TEAM] __OMPGPU_SHARED_INIT;
__OMPGPU_SHARED u32 __ompgpu_state_region_threads __OMPGPU_SHARED_INIT;
__OMPGPU_SHARED u32 __ompgpu_state_nthreads __OMPGPU_SHARED_INIT;
__OMPGPU_SHARED struct schedule __ompgpu_state_schedule[MAX_TEAM + 1] __OMPGPU_SHARED_INIT;
__OMPGPU_SHARED u64 __ompgpu_state_allocator[MAX_TEAM + 1] __OMPGPU_SHARED_INIT;
__OMPGPU_SHARED u8 __ompgpu_state_task[MAX_TEAM + 1] __OMPGPU_SHARED_INIT;
__OMPGPU_SHARED u32 __ompgpu_state_device __OMPGPU_SHARED_INIT;
__OMPGPU_SHARED u32 __ompgpu_state_cancellation __OMPGPU_SHARED_INIT;
__OMPGPU_SHARED u64 __ompgpu_state_mailbox __OMPGPU_SHARED_INIT;

_Bool __ompgpu_is_spmd(void)
{
    if (__ompgpu_cfg_generic && __ompgpu_cfg_spmd)
        return STATE_GET(__ompgpu_state_mode) == __OMPGPU_SPMD;
    return !__ompgpu_cfg_generic;
}

unsigned __ompgpu_level(void)
{
    unsigned base =
        __ompgpu_is_spmd() || __ompgpu_arch_tid() != 0 || __ompgpu_state_region_threads != 0;
    return __ompgpu_cfg_nested ? (u16)(base + __ompgpu_state_nest[__ompgpu_arch_tid()]) : base;
}

unsigned __ompgpu_outer_size(void)
{
    if (!__ompgpu_is_spmd())
        return __ompgpu_state_region_threads;
    return __ompgpu_cfg_partial ? __ompgpu_state_size[__ompgpu_arch_tid()] : __ompgpu_arch_ntid();
}

void __ompgpu_set_size(unsigned n)
{
    if (__ompgpu_cfg_partial)
        __ompgpu_state_size[__ompgpu_arch_tid()] = (u16)n;
}

void __ompgpu_nest_enter(void) { __ompgpu_state_nest[__ompgpu_arch_tid()]++; }
void __ompgpu_nest_leave(void) { __ompgpu_state_nest[__ompgpu_arch_tid()]--; }

/* A league whose teams run one after the other: the one that runs, their number, 0: there is none,
 * and the limit of its threads, 0: that of the launch.  Only generic kernels have one
 * (codegen/ir/spmd/known.c). */
static __OMPGPU_SHARED u32 __ompgpu_state_team __OMPGPU_SHARED_INIT;
static __OMPGPU_SHARED u32 __ompgpu_state_teams __OMPGPU_SHARED_INIT;
static __OMPGPU_SHARED u32 __ompgpu_state_team_limit __OMPGPU_SHARED_INIT;

static u32 serial_teams(void)
{
    return __ompgpu_cfg_leagues && !__ompgpu_is_spmd() ? __ompgpu_state_teams : 0;
}

unsigned __ompgpu_thread_limit(void)
{
    unsigned limit = serial_teams() ? __ompgpu_state_team_limit : 0, n = __ompgpu_arch_ntid();
    return limit && limit < n ? limit : n;
}

void __ompgpu_league_begin(int num_teams, int thread_limit, int line)
{
    if (__ompgpu_level() || __ompgpu_arch_nteams() > 1 || serial_teams())
        __ompgpu_fail("a 'teams' region was encountered inside of a parallel or another teams "
                      "region",
                      line);
    __ompgpu_state_team = 0;
    __ompgpu_state_teams = num_teams > 1 ? (u32)num_teams : 1;
    const u32 most = 0x7fffffff / __ompgpu_state_teams; /* so that they can be numbered */
    __ompgpu_state_team_limit =
        thread_limit > 0 && (u32)thread_limit < most ? (u32)thread_limit : most;
}

_Bool __ompgpu_league_next(void)
{
    if (++__ompgpu_state_team < __ompgpu_state_teams)
        return 1;
    __ompgpu_state_teams = 0;
    return 0;
}

/* In an SPMD kernel all threads run the sequential code. */
unsigned __ompgpu_own_place(void)
{
    return __ompgpu_is_spmd() || __ompgpu_level() ? __ompgpu_arch_tid() : MAX_TEAM;
}

/* By every thread of an SPMD kernel, and by every thread of a generic one before it waits. */
void __ompgpu_state_begin(struct __ompgpu_env *env, int mode)
{
    if (__ompgpu_cfg_generic && __ompgpu_cfg_spmd)
        STATE_SET(__ompgpu_state_mode, (u8)mode);
    STATE_SET(__ompgpu_state_device, env->device_num);
    STATE_SET(__ompgpu_state_cancellation, env->cancellation);
    STATE_SET(__ompgpu_state_mailbox, (u64)env->mailbox);
    __ompgpu_state_schedule[__ompgpu_arch_tid()] = (struct schedule){ 0, 0 };
    __ompgpu_state_allocator[__ompgpu_arch_tid()] = 0;
    __ompgpu_state_task[__ompgpu_arch_tid()] = 0;
    if (mode == __OMPGPU_GENERIC && __ompgpu_arch_tid() == 0) {
        if (__ompgpu_cfg_leagues)
            __ompgpu_state_teams = 0;
        __ompgpu_state_schedule[MAX_TEAM] = (struct schedule){ 0, 0 };
        __ompgpu_state_allocator[MAX_TEAM] = 0;
        __ompgpu_state_task[MAX_TEAM] = 0;
    }
    __ompgpu_events_reset(mode);
    if (__ompgpu_cfg_nested)
        __ompgpu_state_nest[__ompgpu_arch_tid()] = 0;
    if (mode == __OMPGPU_SPMD)
        __ompgpu_set_size(__ompgpu_arch_ntid());
}

/* ------------------------------------------------------------------ tasks */
enum { TASKGROUP_CANCELLED = 4 };

unsigned __ompgpu_task_begin(_Bool is_final)
{
    u8 *task = (u8 *)&__ompgpu_state_task[__ompgpu_own_place()], before = *task;
    *task = (u8)(before | 1 | is_final << 1);
    return before;
}

/* The taskgroup stays cancelled. */
void __ompgpu_task_end(unsigned before)
{
    u8 *task = (u8 *)&__ompgpu_state_task[__ompgpu_own_place()];
    *task = (u8)(before | (*task & TASKGROUP_CANCELLED));
}

unsigned __ompgpu_taskgroup_begin(void)
{
    u8 *task = (u8 *)&__ompgpu_state_task[__ompgpu_own_place()], before = *task;
    *task = (u8)(before & ~TASKGROUP_CANCELLED);
    return before;
}

unsigned __ompgpu_implicit_task_begin(void)
{
    u8 *task = (u8 *)&__ompgpu_state_task[__ompgpu_own_place()], before = *task;
    *task = 0;
    return before;
}

void __ompgpu_task_restore(unsigned before)
{
    __ompgpu_state_task[__ompgpu_own_place()] = (u8)before;
}

_Bool __ompgpu_cancel_taskgroup(_Bool request)
{
    u8 *task = (u8 *)&__ompgpu_state_task[__ompgpu_own_place()];
    if (request && STATE_GET(__ompgpu_state_cancellation))
        *task |= TASKGROUP_CANCELLED;
    return *task & TASKGROUP_CANCELLED;
}

int __ompgpu_team_id(void)
{
    return (int)(serial_teams() ? __ompgpu_state_team : __ompgpu_arch_team());
}

int __ompgpu_num_teams(void)
{
    u32 teams = serial_teams();
    return (int)(teams ? teams : __ompgpu_arch_nteams());
}

/* In a region of one thread, or thread 0 of an SPMD kernel at level 0. */
static _Bool is_only_thread(void)
{
    return __ompgpu_cfg_nested && __ompgpu_state_nest[__ompgpu_arch_tid()] != 0;
}

/* Sequential code is thread 0's. */
int __ompgpu_thread_id(void) { return is_only_thread() ? 0 : (int)__ompgpu_arch_tid(); }

int __ompgpu_num_threads(void)
{
    if (is_only_thread())
        return 1;
    unsigned n = __ompgpu_outer_size();
    /* 0 in the sequential code of a generic kernel */
    return __ompgpu_is_spmd() || n ? (int)n : 1;
}

_Noreturn void __ompgpu_fail(const char *message, int line) { __ompgpu_arch_fail(message, line); }
