/* omp_api.c - the omp_* routines in device code (chapter 18 of OpenMP 5.2; 3 of 6.0).
 *
 * Internal control variables that a region could change stay what they are: nested regions are
 * serialised here.  Only these have effect: nthreads-var, for the next regions of a generic
 * kernel's team, run-sched-var, for schedule(runtime), and the device's two about teams, for the
 * next kernels.
 */
#include "devicertl/arch.h"

/* One row a routine that needs no more than an expression. */
#define OMP_API(type, name, params, value)                                                         \
    type name params;                                                                              \
    type name params { return value; }

static unsigned level(void) { return __ompgpu_level(); }
static unsigned outer_size(void) { return __ompgpu_outer_size(); }
static int active(void) { return level() >= 1 && outer_size() > 1; }
static int next_region_size(void)
{
    if (level() != 0)
        return 1;
    unsigned limit = __ompgpu_thread_limit(), n = __ompgpu_state_nthreads;
    return (int)(n && n < limit ? n : limit);
}
/* Section 18.2.18: the thread's number, a team's size, at an enclosing level; -1 where there is no
 * such level. */
static int ancestor(int at)
{
    if (at < 0 || (unsigned)at > level())
        return -1;
    return at == 1 ? (int)__ompgpu_arch_tid() : 0;
}
static int size_at(int at)
{
    if (at < 0 || (unsigned)at > level())
        return -1;
    return at == 1 ? (int)outer_size() : 1;
}

/* nteams-var and teams-thread-limit-var of the device, 0: not set.  The host has set the pointer,
 * which only images have that call what is below, to memory of the device's, and reads there what
 * a kernel has set (hostrt/core/icvs.c). */
int *__ompgpu_team_icvs;
static int team_icv(unsigned i)
{
    int *at = __ompgpu_team_icvs;
    return at ? __scoped_atomic_load_n(&at[i], __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM) : 0;
}
static void set_team_icv(unsigned i, int value)
{
    int *at = __ompgpu_team_icvs;
    if (at && value > 0)
        __scoped_atomic_store_n(&at[i], value, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM);
}

/* ------------------------------------------------------------------ threads, teams, levels */
OMP_API(int, omp_get_thread_num, (void), __ompgpu_thread_id())
OMP_API(int, omp_get_num_threads, (void), __ompgpu_num_threads())
OMP_API(int, omp_get_max_threads, (void), next_region_size())
OMP_API(int, omp_get_thread_limit, (void), (int)__ompgpu_thread_limit())
OMP_API(int, omp_get_num_procs, (void), (int)__ompgpu_arch_ntid())
OMP_API(int, omp_get_team_num, (void), __ompgpu_team_id())
OMP_API(int, omp_get_num_teams, (void), __ompgpu_num_teams())
OMP_API(int, omp_get_max_teams, (void), team_icv(0))
OMP_API(int, omp_get_teams_thread_limit, (void), team_icv(1))
OMP_API(int, omp_in_parallel, (void), active())
OMP_API(int, omp_get_level, (void), (int)level())
OMP_API(int, omp_get_active_level, (void), active())
OMP_API(int, omp_get_ancestor_thread_num, (int at), ancestor(at))
OMP_API(int, omp_get_team_size, (int at), size_at(at))
OMP_API(int, omp_get_dynamic, (void), 0)
OMP_API(int, omp_get_nested, (void), 0)
OMP_API(int, omp_get_max_active_levels, (void), 1)
OMP_API(int, omp_get_supported_active_levels, (void), 1)
OMP_API(int, omp_get_cancellation, (void), (int)STATE_GET(__ompgpu_state_cancellation))
OMP_API(int, omp_in_final, (void), __ompgpu_state_task[__ompgpu_own_place()] >> 1 & 1)
OMP_API(int, omp_in_explicit_task, (void), __ompgpu_state_task[__ompgpu_own_place()] & 1)
OMP_API(int, omp_get_proc_bind, (void), 0)
OMP_API(int, omp_get_num_places, (void), 0)
OMP_API(int, omp_get_place_num, (void), -1)
OMP_API(int, omp_get_place_num_procs, (int place), ((void)place, 0))
OMP_API(int, omp_get_partition_num_places, (void), 0)
OMP_API(int, omp_get_max_task_priority, (void), 0)
OMP_API(int, omp_is_free_agent, (void), 0)
OMP_API(int, omp_ancestor_is_free_agent, (int at), ((void)at, 0))
OMP_API(int, omp_get_max_progress_width, (int device), (device == -1 ? 1 : 32))
OMP_API(int, omp_control_tool, (int command, int modifier, void *data),
        ((void)command, (void)modifier, (void)data, -2)) /* omp_control_tool_notool */

void omp_set_num_threads(int);
void omp_set_num_threads(int n)
{
    if (n > 0 && level() == 0)
        __ompgpu_state_nthreads = (u32)n;
}
/* num_threads with a list: inner regions have one thread (frontend/lower/threads.c). */
OMP_API(int, __kmpc_global_thread_num, (void *place), ((void)place, 0))
void __kmpc_push_num_threads_list(void *, int, unsigned, int *);
void __kmpc_push_num_threads_list(void *place, int thread, unsigned n, int *list)
{
    (void)place, (void)thread, (void)n, (void)list;
}
#define OMP_NO_EFFECT(name)                                                                        \
    void name(int);                                                                                \
    void name(int value) { (void)value; }
OMP_NO_EFFECT(omp_set_dynamic)
OMP_NO_EFFECT(omp_set_nested)
OMP_NO_EFFECT(omp_set_max_active_levels)
OMP_NO_EFFECT(omp_set_default_device)

void omp_set_num_teams(int), omp_set_teams_thread_limit(int);
void omp_set_num_teams(int n) { set_team_icv(0, n); }
void omp_set_teams_thread_limit(int n) { set_team_icv(1, n); }

/* There are no places. */
void omp_get_place_proc_ids(int, int *), omp_get_partition_place_nums(int *);
void omp_get_place_proc_ids(int place, int *ids) { (void)place, (void)ids; }
void omp_get_partition_place_nums(int *nums) { (void)nums; }

void omp_set_schedule(int, int);
void omp_get_schedule(int *, int *);
/* A thread that has set none has what the sequential code before the region has set. */
struct schedule __ompgpu_schedule(void)
{
    struct schedule s = __ompgpu_state_schedule[__ompgpu_own_place()];
    if (!s.kind && !__ompgpu_is_spmd())
        s = __ompgpu_state_schedule[MAX_TEAM];
    return s.kind ? s : (struct schedule){ 1, 0 }; /* omp_sched_static */
}
void omp_set_schedule(int kind, int chunk)
{
    __ompgpu_state_schedule[__ompgpu_own_place()] =
        (struct schedule){ (u32)kind & 0x7fffffff, chunk > 0 ? (u32)chunk : 0 };
}
unsigned long __ompgpu_schedule_begin(void)
{
    struct schedule s = __ompgpu_state_schedule[__ompgpu_own_place()];
    return (u64)s.kind << 32 | s.chunk;
}
void __ompgpu_schedule_restore(unsigned long before)
{
    __ompgpu_state_schedule[__ompgpu_own_place()] =
        (struct schedule){ (u32)(before >> 32), (u32)before };
}
void omp_get_schedule(int *kind, int *chunk)
{
    struct schedule s = __ompgpu_schedule();
    *kind = (int)s.kind;
    *chunk = (int)s.chunk;
}

/* ------------------------------------------------------ devices: a device knows only itself */
OMP_API(int, omp_is_initial_device, (void), 0)
OMP_API(int, omp_get_device_num, (void), (int)STATE_GET(__ompgpu_state_device))
OMP_API(int, omp_get_default_device, (void), (int)STATE_GET(__ompgpu_state_device))
OMP_API(int, omp_get_num_devices, (void), (int)STATE_GET(__ompgpu_state_device) + 1)
OMP_API(int, omp_get_initial_device, (void), -1)
OMP_API(const char *, omp_get_uid_from_device, (int device), ((void)device, (const char *)0))
OMP_API(int, omp_get_device_from_uid, (const char *uid), ((void)uid, -2)) /* omp_invalid_device */

/* ------------------------------------------------------------------ time */
OMP_API(double, omp_get_wtime, (void), __ompgpu_arch_wtime())
OMP_API(double, omp_get_wtick, (void), __ompgpu_arch_wtick())

/* ------------------------------------------------------------------ locks
 * The storage is that of the host's omp.h, one pointer wide.  Simple: a word as for `critical`.
 * Nestable: owner and depth in one word of 64 bits, the depth in the low 22; only the
 * owner changes it while it is not 0. */
typedef struct {
    unsigned word[2];
} lock_t;
typedef struct {
    u64 word;
} nest_lock_t;

void omp_init_lock(lock_t *), omp_init_lock_with_hint(lock_t *, int), omp_destroy_lock(lock_t *),
    omp_set_lock(lock_t *), omp_unset_lock(lock_t *);
int omp_test_lock(lock_t *);
void omp_init_lock(lock_t *l) { __ompgpu_critical_end(&l->word[0]); }
void omp_init_lock_with_hint(lock_t *l, int hint)
{
    (void)hint;
    omp_init_lock(l);
}
void omp_destroy_lock(lock_t *l) { (void)l; }
void omp_set_lock(lock_t *l) { __ompgpu_critical_begin(&l->word[0]); }
void omp_unset_lock(lock_t *l) { __ompgpu_critical_end(&l->word[0]); }
int omp_test_lock(lock_t *l) { return __ompgpu_try_lock(&l->word[0]); }

#define DEPTH_BITS 22
static u64 owner(void)
{
    return ((u64)__ompgpu_arch_team() * MAX_TEAM + __ompgpu_arch_tid() + 1) << DEPTH_BITS;
}

void omp_init_nest_lock(nest_lock_t *), omp_init_nest_lock_with_hint(nest_lock_t *, int),
    omp_destroy_nest_lock(nest_lock_t *), omp_set_nest_lock(nest_lock_t *),
    omp_unset_nest_lock(nest_lock_t *);
int omp_test_nest_lock(nest_lock_t *);

static void nest_store(nest_lock_t *l, u64 value)
{
    __ompgpu_arch_fence();
    __scoped_atomic_store_n(&l->word, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
void omp_init_nest_lock(nest_lock_t *l) { nest_store(l, 0); }
void omp_init_nest_lock_with_hint(nest_lock_t *l, int hint)
{
    (void)hint;
    omp_init_nest_lock(l);
}
void omp_destroy_nest_lock(nest_lock_t *l) { (void)l; }
int omp_test_nest_lock(nest_lock_t *l)
{
    u64 me = owner(),
        now = __scoped_atomic_load_n(&l->word, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    if (now >> DEPTH_BITS == me >> DEPTH_BITS)
        nest_store(l, ++now);
    else {
        now = 0;
        if (!__scoped_atomic_compare_exchange_n(&l->word, &now, me + 1, 0, __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE))
            return 0;
        __ompgpu_arch_fence();
        __ompgpu_arch_acquired();
        now = me + 1;
    }
    return (int)(now & ((1u << DEPTH_BITS) - 1));
}
void omp_set_nest_lock(nest_lock_t *l)
{
    while (!omp_test_nest_lock(l))
        __ompgpu_arch_pause();
}
void omp_unset_nest_lock(nest_lock_t *l)
{
    u64 depth = ((u64)1 << DEPTH_BITS) - 1,
        now = __scoped_atomic_load_n(&l->word, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    nest_store(l, (now & depth) == 1 ? 0 : now - 1);
}
