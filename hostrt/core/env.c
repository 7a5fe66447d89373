/* env.c - environment variables: one row each.  A value that cannot be used gives one warning that
 * lists the valid ones, and the default is taken. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "hostrt/core/core.h"

#define INITIAL { .pool = -1, .team_memory = 8 << 10 }
struct ompgpu_settings ompgpu_settings = INITIAL;

#define BYTES "bytes, with K, M, G or T after the number for multiples of 1024"
static const struct ompgpu_variable variables[] = {
#define FIELD(f) .field = offsetof(struct ompgpu_settings, f)
    { .name = "OMPGPU_DEVICE",
      FIELD(device_kind),
      .words = { "", "cuda", "emu", "ptx" },
      .valid = "cuda, emu, ptx" },
    { .name = "OMP_TARGET_OFFLOAD",
      FIELD(offload),
      .words = { "DEFAULT", "MANDATORY", "DISABLED" },
      .valid = "MANDATORY, DISABLED, DEFAULT" },
    { .name = "OMP_DEFAULT_DEVICE", FIELD(default_device), .valid = "a device number, 0 or more" },
    { .name = "OMPGPU_RANK_DEVICE",
      FIELD(rank_device),
      .words = { "off", "auto" },
      .valid = "off, auto" },
    { .name = "OMP_CANCELLATION",
      FIELD(cancellation),
      .words = { "FALSE", "TRUE", "0", "1" }, /* its lowest bit counts */
      .valid = "TRUE, FALSE" },
    { .name = "OMPGPU_INFO", FIELD(info), .words = { "0", "1", "2" }, .valid = "0, 1, 2" },
    { .name = "OMP_NUM_TEAMS",
      FIELD(num_teams),
      .least = 1,
      .valid = "a number of teams, 1 or more" },
    { .name = "OMP_TEAMS_THREAD_LIMIT",
      FIELD(teams_thread_limit),
      .least = 1,
      .valid = "a number of threads, 1 or more" },
    { .name = "OMPGPU_TEAM_HEAP",
      FIELD(team_heap),
      .least = 1,
      .most = LONG_MAX,
      .bytes = true,
      .valid = BYTES },
    { .name = "OMPGPU_TEAM_MEMORY",
      FIELD(team_memory),
      .most = OMPGPU_MOST_TEAM_MEMORY,
      .bytes = true,
      .valid = BYTES ", 64K at most" },
    { .name = "OMPGPU_STACK_SIZE", FIELD(stack_size), .least = 1, .bytes = true, .valid = BYTES },
    /* LLVM's, of programs that are written for it */
    { .name = "LIBOMPTARGET_SHARED_MEMORY_SIZE",
      FIELD(shared_memory),
      .bytes = true,
      .valid = BYTES },
    { .name = "OMPGPU_POOL", FIELD(pool), .most = LONG_MAX, .bytes = true, .valid = BYTES },
    { .name = "OMPGPU_WAIT",
      FIELD(wait),
      .words = { "auto", "spin", "block" },
      .valid = "auto, spin, block" },
    { .name = "OMPGPU_COPY_THREADS",
      FIELD(copy_threads),
      .least = 1,
      .most = OMPGPU_MOST_COPY_THREADS,
      .valid = "a number of threads, 1 to 64" },
    { .name = "OMPGPU_LANES",
      FIELD(lanes),
      .least = 1,
      .most = 32,
      .valid = "a number of lanes, 1 to 32" },
    { .name = "OMPGPU_ON_FAILURE",
      FIELD(on_failure),
      .words = { "stop", "host", "retry" },
      .valid = "stop, host, retry" },
    { .name = "OMPGPU_ON_ERROR",
      FIELD(on_error),
      .words = { "continue", "exit", "abort" },
      .valid = "continue, exit, abort" },
    { .name = "OMP_DISPLAY_ENV",
      FIELD(display),
      .words = { "FALSE", "TRUE", "VERBOSE", "1" },
      .valid = "TRUE, FALSE, VERBOSE" },
#undef FIELD
};
/* These names get a suffix. */
static const struct ompgpu_variable device_variables[] = {
#define FIELD(f) .field = offsetof(struct ompgpu_icvs, f), .least = 1
    { .name = "OMP_NUM_TEAMS", FIELD(num_teams), .valid = "a number of teams, 1 or more" },
    { .name = "OMP_TEAMS_THREAD_LIMIT",
      FIELD(teams_thread_limit),
      .valid = "a number of threads, 1 or more" },
    { .name = "OMP_THREAD_LIMIT", FIELD(thread_limit), .valid = "a number of threads, 1 or more" },
    { .name = "OMP_NUM_THREADS", FIELD(num_threads), .valid = "a number of threads, 1 or more" },
#undef FIELD
};

/* The text without blanks at its ends. */
struct text {
    const char *start;
    size_t size;
};
static struct text trim_blanks(const char *value)
{
    struct text t = { value + strspn(value, " \t"), 0 };
    t.size = strlen(t.start);
    while (t.size && strchr(" \t", t.start[t.size - 1]))
        t.size--;
    return t;
}

static bool parse_word(const struct ompgpu_variable *v, struct text t, long *out)
{
    for (int i = 0; i < 4 && v->words[i]; i++)
        if (strlen(v->words[i]) == t.size && strncasecmp(t.start, v->words[i], t.size) == 0)
            return *out = i, true;
    return false;
}

static bool parse_number(const struct ompgpu_variable *v, struct text t, long *out)
{
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    long n = strtol(t.start, &end, 10);
    const char *unit = v->bytes && end > t.start && *end ? strchr(units, *end & ~32) : NULL;
    if (unit && __builtin_mul_overflow(n, 1L << 10 * (unit - units + 1), &n))
        return false;
    if (end == t.start || end + (unit != NULL) != t.start + t.size || errno || n < v->least ||
        n > (v->most ? v->most : INT_MAX))
        return false;
    return *out = n, true;
}

void ompgpu_warn_variable(const char *name, const char *valid)
{
    ompgpu_say(NULL, "warning", "%s=%s is ignored; valid: %s", name, secure_getenv(name), valid);
}

void ompgpu_read_variables(const struct ompgpu_variable *v, size_t n, void *settings)
{
    for (; n; n--, v++) {
        const char *value = secure_getenv(v->name);
        long *field = (long *)((char *)settings + v->field);
        if (value && *value &&
            !(v->words[0] ? parse_word : parse_number)(v, trim_blanks(value), field))
            ompgpu_warn_variable(v->name, v->valid);
    }
}

void ompgpu_read_environment(struct ompgpu_settings *settings)
{
    *settings = (struct ompgpu_settings)INITIAL;
    ompgpu_read_variables(variables, sizeof variables / sizeof *variables, settings);
    settings->checks = ompgpu_read_checks();
}

bool ompgpu_is_device_icv(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof device_variables / sizeof *device_variables; i++)
        if (strlen(device_variables[i].name) == length &&
            !strncmp(device_variables[i].name, name, length))
            return true;
    return false;
}

/* Without a suffix the variables are the host's; but the two about teams concern devices first. */
void ompgpu_read_icvs(int device, struct ompgpu_icvs *icvs)
{
    enum { SUFFIXES = 3 };
    *icvs = (struct ompgpu_icvs){ .num_teams = ompgpu_settings.num_teams,
                                  .teams_thread_limit = ompgpu_settings.teams_thread_limit };
    for (size_t i = 0; i < sizeof device_variables / sizeof *device_variables; i++) {
        struct ompgpu_variable v = device_variables[i];
        char names[SUFFIXES][64];
        snprintf(names[0], sizeof *names, "%s_DEV_%d", v.name, device);
        snprintf(names[1], sizeof *names, "%s_DEV", v.name);
        snprintf(names[2], sizeof *names, "%s_ALL", v.name);
        unsigned k = 0;
        while (k < SUFFIXES && !secure_getenv(names[k]))
            k++;
        if (k == SUFFIXES)
            continue;
        v.name = names[k];
        ompgpu_read_variables(&v, 1, icvs);
    }
}

/* ------------------------------------------------------------------ libraries of ours */
const char *ompgpu_library_path(const char *name, char *path, size_t size)
{
    Dl_info self;
    const char *slash = dladdr(&ompgpu_settings, &self) ? strrchr(self.dli_fname, '/') : NULL;
    if (!slash)
        return name;
    snprintf(path, size, "%.*s/%s", (int)(slash - self.dli_fname), self.dli_fname, name);
    return access(path, R_OK) == 0 ? path : name;
}

/* ------------------------------------------------------------------ ranks of an MPI job */
/* Of Open MPI, MPICH and its relatives, MVAPICH, and Slurm. */
static const char *const local_ranks[] = { "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                           "MV2_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID" };

void ompgpu_choose_rank_device(int ndevices)
{
    const char *set = secure_getenv("OMP_DEFAULT_DEVICE");
    if (!ompgpu_settings.rank_device || (set && *set))
        return;
    for (size_t i = 0; i < sizeof local_ranks / sizeof *local_ranks; i++) {
        const char *value = secure_getenv(local_ranks[i]);
        char *end;
        long rank = value ? strtol(value, &end, 10) : -1;
        if (rank < 0 || end == value || *end)
            continue;
        ompgpu_settings.default_device = rank % ndevices;
        return;
    }
}
