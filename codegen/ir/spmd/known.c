/* known.c - functions without a body here that are known by name: those of the device runtime, and
 * of the C library. */
#include "codegen/ir/spmd/spmd.h"
#include <string.h>

static const struct known {
    const char *name;
    enum spmd_known_kind kind;
    unsigned value;
} known[] = {
    { "__ompgpu_thread_id", KNOWN_FOLD, 0 },
    { "__ompgpu_num_threads", KNOWN_FOLD, 1 },
    { "omp_get_thread_num", KNOWN_FOLD, 0 },
    { "omp_get_num_threads", KNOWN_FOLD, 1 },
    { "omp_in_parallel", KNOWN_FOLD, 0 },
    { "omp_get_level", KNOWN_FOLD, 0 },
    { "omp_get_active_level", KNOWN_FOLD, 0 },
    { "__ompgpu_reduce_parallel", KNOWN_FOLD, 1 },
    { "__ompgpu_reduce_array", KNOWN_FOLD, 1 },
    { "omp_get_max_threads", KNOWN_SIZE, 0 },
    { "omp_set_num_threads", KNOWN_SET, 0 },
    { "__ompgpu_barrier", KNOWN_DROP, 0 },
    { "__ompgpu_originals_read", KNOWN_DROP, 0 },
    { "__ompgpu_assume", KNOWN_DROP, 0 },
    { "__ompgpu_team_id", KNOWN_EVERY, 0 },
    { "__ompgpu_num_teams", KNOWN_EVERY, 0 },
    { "__ompgpu_league_begin", KNOWN_TEAMS, 0 },
    { "__ompgpu_league_next", KNOWN_TEAMS, 0 },
    { "__ompgpu_batch_size", KNOWN_EVERY, 0 },
    { "omp_get_team_num", KNOWN_EVERY, 0 },
    { "omp_get_num_teams", KNOWN_EVERY, 0 },
    { "omp_get_thread_limit", KNOWN_EVERY, 0 },
    { "omp_get_num_procs", KNOWN_EVERY, 0 },
    { "omp_get_max_teams", KNOWN_GUARD, 0 },
    { "omp_get_teams_thread_limit", KNOWN_GUARD, 0 },
    { "omp_set_num_teams", KNOWN_GUARD, 0 },
    { "omp_set_teams_thread_limit", KNOWN_GUARD, 0 },
    { "omp_is_initial_device", KNOWN_EVERY, 0 },
    { "omp_get_device_num", KNOWN_EVERY, 0 },
    { "omp_get_default_device", KNOWN_EVERY, 0 },
    { "omp_get_num_devices", KNOWN_EVERY, 0 },
    { "omp_get_initial_device", KNOWN_EVERY, 0 },
    { "omp_get_uid_from_device", KNOWN_EVERY, 0 },
    { "omp_get_device_from_uid", KNOWN_EVERY, 0 },
    { "omp_get_wtick", KNOWN_EVERY, 0 },
    { "omp_get_dynamic", KNOWN_EVERY, 0 },
    { "omp_get_max_active_levels", KNOWN_EVERY, 0 },
    { "omp_get_supported_active_levels", KNOWN_EVERY, 0 },
    { "omp_get_cancellation", KNOWN_EVERY, 0 },
    { "omp_get_nested", KNOWN_EVERY, 0 },
    { "omp_get_proc_bind", KNOWN_EVERY, 0 },
    { "omp_set_dynamic", KNOWN_DROP, 0 },
    { "omp_set_nested", KNOWN_DROP, 0 },
    { "omp_set_schedule", KNOWN_OWN, 0 }, /* a thread has its own: devicertl/omp_api.c */
    { "__ompgpu_schedule_begin", KNOWN_EVERY, 0 },
    { "__ompgpu_schedule_restore", KNOWN_EVERY, 0 },
    { "omp_get_schedule", KNOWN_LOCAL, 0 },
    { "__ompgpu_task_begin", KNOWN_EVERY, 0 },
    { "__ompgpu_task_end", KNOWN_EVERY, 0 },
    { "__ompgpu_taskgroup_begin", KNOWN_GUARD, 0 }, /* the main thread's are all that count */
    { "__ompgpu_implicit_task_begin", KNOWN_GUARD, 0 },
    { "__ompgpu_task_restore", KNOWN_GUARD, 0 },
    { "__ompgpu_cancel_taskgroup", KNOWN_GUARD, 0 },
    { "__ompgpu_event", KNOWN_QUERY, 0 },
    { "__ompgpu_event_await", KNOWN_QUERY, 0 },
    { "__ompgpu_events_wait", KNOWN_QUERY, 0 },
    { "__ompgpu_events_begin", KNOWN_QUERY, 0 },
    { "__ompgpu_events_end", KNOWN_QUERY, 0 },
    { "__ompgpu_events_task", KNOWN_QUERY, 0 },
    { "__ompgpu_events_task_end", KNOWN_QUERY, 0 },
    { "omp_fulfill_event", KNOWN_GUARD, 0 },
    { "omp_in_explicit_task", KNOWN_EVERY, 0 },
    { "omp_in_final", KNOWN_EVERY, 0 },
    { "strlen", KNOWN_READ, 0 },
    { "strcmp", KNOWN_READ, 0 },
    { "memcmp", KNOWN_READ, 0 },
    { "printf", KNOWN_PRINT, 0 },
    { "vprintf", KNOWN_PRINT, 0 },
    { "fprintf", KNOWN_PRINT, 0 },
    { "vfprintf", KNOWN_PRINT, 0 },
    { "__ompgpu_vprintf", KNOWN_PRINT, 0 },
    { "__ompgpu_vprintf_storing", KNOWN_GUARD, 0 },
    { "puts", KNOWN_PRINT, 0 },
    { "putchar", KNOWN_PRINT, 0 },
    { "__ompgpu_error", KNOWN_PRINT, 0 },
    { "omp_get_wtime", KNOWN_PRINT, 0 },
    { "__ompgpu_critical_begin", KNOWN_GUARD, 0 },
    { "__ompgpu_critical_end", KNOWN_GUARD, 0 },
    { "__ompgpu_lock", KNOWN_GUARD, 0 },
    { "__ompgpu_unlock", KNOWN_GUARD, 0 },
    { "__ompgpu_flush", KNOWN_GUARD, 0 },
    { "omp_init_lock", KNOWN_GUARD, 0 },
    { "omp_destroy_lock", KNOWN_GUARD, 0 },
    { "omp_set_lock", KNOWN_GUARD, 0 },
    { "omp_unset_lock", KNOWN_GUARD, 0 },
    { "omp_test_lock", KNOWN_GUARD, 0 },
    { "memcpy", KNOWN_GUARD, 0 },
    { "memmove", KNOWN_GUARD, 0 },
    { "memset", KNOWN_GUARD, 0 },
    { "free", KNOWN_GUARD, 0 },
    { "malloc", KNOWN_FRESH, 0 },
    { "calloc", KNOWN_FRESH, 0 },
    { "__ompgpu_reduce_teams", KNOWN_LOCAL, 0 },
    { "__ompgpu_teams_put", KNOWN_LOCAL, 0 },
    { "__ompgpu_teams_get", KNOWN_LOCAL, 0 },
    { "__ompgpu_teams_get_array", KNOWN_LOCAL, 0 },
    { "__ompgpu_put_array", KNOWN_LOCAL, 0 },
    { "__ompgpu_teams_last", KNOWN_GUARD, 0 },
    { "__ompgpu_copy_slice", KNOWN_FRESH, 0 },
    { "__ompgpu_copy_room", KNOWN_EVERY, 0 },
    { "__ompgpu_copy_begin", KNOWN_FRESH, 0 },
    { "__ompgpu_copy_end", KNOWN_EVERY, 0 },
    { "__ompgpu_hidden", KNOWN_EVERY, 0 },
    { "__ompgpu_emu_unwritten", KNOWN_EVERY, 0 },
    { "__ompgpu_level", KNOWN_FOLD, 0 },
    { "__ompgpu_copy_alloc", KNOWN_FRESH, 0 },
    { "__ompgpu_copy_free", KNOWN_FRESH, 0 },
    { "__ompgpu_copy_distance", KNOWN_EVERY, 0 },
    { "__ompgpu_combine_rows", KNOWN_QUERY, 0 },
    { "__ompgpu_deferred", KNOWN_EVERY, 0 },
    { "__ompgpu_deferred_begin", KNOWN_LOCAL, 0 },
    { "__ompgpu_deferred_add", KNOWN_LOCAL, 0 },
    { "__ompgpu_deferred_end", KNOWN_LOCAL, 0 },
    { "__ompgpu_deferred_last", KNOWN_GUARD, 0 },
    { "__ompgpu_deferred_get", KNOWN_LOCAL, 0 },
    { "__ompgpu_deferred_get_array", KNOWN_LOCAL, 0 },
    { "__ompgpu_dispatch_init", KNOWN_QUERY, 0 },
    { "__ompgpu_dispatch_next", KNOWN_QUERY, 0 },
    { "__ompgpu_runtime_init", KNOWN_QUERY, 0 },
    { "__ompgpu_runtime_next", KNOWN_QUERY, 0 },
    { "omp_get_ancestor_thread_num", KNOWN_QUERY, 0 },
    { "omp_get_team_size", KNOWN_QUERY, 0 },
    { "omp_alloc", KNOWN_FRESH, 0 },
    { "omp_aligned_alloc", KNOWN_FRESH, 0 },
    { "omp_calloc", KNOWN_FRESH, 0 },
    { "omp_aligned_calloc", KNOWN_FRESH, 0 },
    { "omp_free", KNOWN_GUARD, 0 },
    { "__ompgpu_heap_mark", KNOWN_FRESH, 0 },
    { "__ompgpu_heap_alloc", KNOWN_FRESH, 0 },
    { "__ompgpu_heap_release", KNOWN_GUARD, 0 }, /* others may read it still */
    { "__assert_fail", KNOWN_DIE, 0 },
    { "__assert", KNOWN_DIE, 0 },
    { "__ompgpu_fail", KNOWN_DIE, 0 },
    { "abort", KNOWN_DIE, 0 },
    { "llvm.trap", KNOWN_DIE, 0 },
    { "llvm.ubsantrap", KNOWN_DIE, 0 },
};

static const struct known *find_known(const char *name)
{
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            return &known[i];
    return NULL;
}

const char *spmd_callee(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    return LLVMIsAFunction(callee) ? ir_name(callee) : "";
}

/* Only what has no body here: the user may define a function of the same name. */
enum spmd_known_kind spmd_known(LLVMValueRef function, unsigned *value)
{
    const struct known *k = LLVMIsAFunction(function) && LLVMIsDeclaration(function)
                                ? find_known(ir_name(function))
                                : NULL;
    if (k && value)
        *value = k->value;
    return k ? k->kind : KNOWN_NOT;
}
