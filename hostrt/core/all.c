/* all.c - OMP_…_ALL, as far as the host goes: it counts where the name without an ending is not set
 * (chapter 4 of OpenMP 6.0).
 *
 * LLVM's library reads the names without endings when it begins, which is when it is first called.
 * So that call is made here, before the program's own constructors, with these names set for as
 * long as it takes: whom the program starts has its environment.  Libraries that have begun before
 * are left alone: gcc's, which knows the ending itself from version 13 on. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "hostrt/core/core.h"

/* Those whose ICVs a device has for itself. */
static const char *const names[] = {
    "OMP_AFFINITY_FORMAT", "OMP_ALLOCATOR",   "OMP_DYNAMIC",      "OMP_MAX_ACTIVE_LEVELS",
    "OMP_NUM_TEAMS",       "OMP_NUM_THREADS", "OMP_PLACES",       "OMP_PROC_BIND",
    "OMP_SCHEDULE",        "OMP_STACKSIZE",   "OMP_THREAD_LIMIT", "OMP_TEAMS_THREAD_LIMIT",
    "OMP_WAIT_POLICY",
};
enum { NAMES = sizeof names / sizeof *names };

static bool set_name(const char *name)
{
    char all[64];
    snprintf(all, sizeof all, "%s_ALL", name);
    const char *value = secure_getenv(all);
    return value && *value && !secure_getenv(name) && !setenv(name, value, 0);
}

void ompgpu_read_all(void)
{
    int (*begin)(void);
    bool set[NAMES], any = false;
    void *f = dlsym(RTLD_DEFAULT, "__kmpc_global_thread_num"), *routine;
    if (!f) /* LLVM's alone has it */
        return;
    for (unsigned i = 0; i < NAMES; i++)
        any |= set[i] = set_name(names[i]);
    if (any && (routine = dlsym(RTLD_DEFAULT, "omp_get_max_threads"))) {
        __builtin_memcpy(&begin, &routine, sizeof begin);
        begin();
    }
    for (unsigned i = 0; i < NAMES; i++)
        if (set[i])
            unsetenv(names[i]);
}
