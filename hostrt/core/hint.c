/* hint.c - variables that were meant for us: nearly a name of ours, ICVs of devices that ours do
 * not have, or what other offloading runtimes call OMPGPU_INFO.  One line in all. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "hostrt/core/core.h"

extern char **environ;
const char *const ompgpu_variable_names[] = {
    "OMPGPU_CHECK",        "OMPGPU_COPY_THREADS", "OMPGPU_CUDA_DRIVER",  "OMPGPU_DEVICE",
    "OMPGPU_EMU_DEVICES",  "OMPGPU_EMU_MEMORY",   "OMPGPU_EMU_SCHEDULE", "OMPGPU_EMU_SPEED",
    "OMPGPU_EMU_STACK",    "OMPGPU_EMU_THREADS",  "OMPGPU_HANG_SECONDS", "OMPGPU_INFO",
    "OMPGPU_INFO_FILE",    "OMPGPU_LANES",        "OMPGPU_NODES",        "OMPGPU_NODES_TIMEOUT",
    "OMPGPU_ON_ERROR",     "OMPGPU_ON_FAILURE",   "OMPGPU_POOL",         "OMPGPU_PROFILE",
    "OMPGPU_PTX_ARCH",     "OMPGPU_PTX_DEVICES",  "OMPGPU_PTX_MEMORY",   "OMPGPU_PTX_PROFILE",
    "OMPGPU_PTX_SCHEDULE", "OMPGPU_PTX_THREADS",  "OMPGPU_RANK_DEVICE",  "OMPGPU_STACK_SIZE",
    "OMPGPU_TEAM_HEAP",    "OMPGPU_TEAM_MEMORY",  "OMPGPU_WAIT",         NULL,
};
static const char *const tracing[] = { "LIBOMPTARGET_INFO",         "LIBOMPTARGET_DEBUG",
                                       "LIBOMPTARGET_KERNEL_TRACE", "GOMP_DEBUG",
                                       "NVCOMPILER_ACC_NOTIFY",     "CRAY_ACC_DEBUG" };
enum { LONGEST = 32, FAR = 3 };

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* Characters to change, insert or delete. */
static unsigned distance(const char *a, size_t n, const char *b)
{
    unsigned row[LONGEST + 1], m = (unsigned)strlen(b);
    for (unsigned k = 0; k <= m; k++)
        row[k] = k;
    for (unsigned i = 1; i <= n; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned k = 1; k <= m; k++) {
            unsigned above = row[k];
            row[k] = least(least(above, row[k - 1]) + 1, diagonal + (a[i - 1] != b[k - 1]));
            diagonal = above;
        }
    }
    return row[m];
}

/* The name of ours that this one is nearly, or NULL. */
static const char *meant(const char *name, size_t n)
{
    const char *best = NULL;
    unsigned nearest = FAR;
    for (const char *const *ours = ompgpu_variable_names; n <= LONGEST && *ours; ours++) {
        unsigned d = distance(name, n, *ours);
        if (d < nearest) {
            best = *ours;
            nearest = d;
        }
    }
    return nearest ? best : NULL;
}

/* OMP_X_DEV, OMP_X_DEV_n: the length of OMP_X; 0: the name is none of these */
static size_t length_of_icv(const char *name, size_t n)
{
    static const char start[] = "OMP_", suffix[] = "_DEV";
    const size_t length = sizeof suffix - 1;
    size_t end = n;
    while (end && isdigit((unsigned char)name[end - 1]))
        end--;
    end = end < n && end && name[end - 1] == '_' ? end - 1 : n;
    bool is_one = end > sizeof start - 1 + length && !strncmp(name, start, sizeof start - 1) &&
                  !strncmp(name + end - length, suffix, length);
    return is_one ? end - length : 0;
}

void ompgpu_hint_variables(void)
{
    for (char **v = environ; v && *v; v++) {
        size_t n = strcspn(*v, "="), icv = length_of_icv(*v, n);
        if (icv && !ompgpu_is_device_icv(*v, icv)) {
            ompgpu_say(NULL, "warning",
                       "%.*s has no effect: devices have OMP_NUM_TEAMS, OMP_TEAMS_THREAD_LIMIT, "
                       "OMP_THREAD_LIMIT and OMP_NUM_THREADS with this ending",
                       (int)n, *v);
            return;
        }
        const char *best = strncmp(*v, "OMPGPU", 6) == 0 ? meant(*v, n) : NULL;
        if (best) {
            ompgpu_say(NULL, "warning", "%.*s is no variable of libompgpu; did you mean %s?",
                       (int)n, *v, best);
            return;
        }
    }
    for (size_t i = 0; i < sizeof tracing / sizeof *tracing; i++)
        if (secure_getenv(tracing[i]) && !ompgpu_settings.info) {
            ompgpu_say(NULL, "note",
                       "%s is not for libompgpu, where OMPGPU_INFO=1 shows launches "
                       "and transfers",
                       tracing[i]);
            return;
        }
}
