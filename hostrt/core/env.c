/* env.c - environment variables: one row each.  A value that cannot be used gives one warning that
 * lists the valid ones, and the default is taken. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "hostrt/core/core.h"

struct ompgpu_settings ompgpu_settings;

static const struct variable {
    const char *name;
    size_t field;
    const char *words[4]; /* word i means i; none: a number */
    int min;
    const char *valid; /* as the warning lists it */
    bool bytes;        /* a unit may follow */
} variables[] = {
#define FIELD(f) offsetof(struct ompgpu_settings, f)
    { "OMPGPU_DEVICE",
      FIELD(device_kind),
      { "", "cuda", "emu", "ptx" },
      0,
      "cuda, emu, ptx",
      false },
    { "OMP_TARGET_OFFLOAD",
      FIELD(offload),
      { "DEFAULT", "MANDATORY", "DISABLED" },
      0,
      "MANDATORY, DISABLED, DEFAULT",
      false },
    { "OMP_DEFAULT_DEVICE",
      FIELD(default_device),
      { NULL },
      0,
      "a device number, 0 or more",
      false },
    { "OMPGPU_INFO", FIELD(info), { "0", "1" }, 0, "0, 1", false },
    { "OMP_NUM_TEAMS", FIELD(num_teams), { NULL }, 1, "a number of teams, 1 or more", false },
    { "OMP_TEAMS_THREAD_LIMIT",
      FIELD(teams_thread_limit),
      { NULL },
      1,
      "a number of threads, 1 or more",
      false },
    { "OMPGPU_TEAM_HEAP",
      FIELD(team_heap),
      { NULL },
      1,
      "bytes, with K, M or G after the number for multiples of 1024",
      true },
    { "OMPGPU_STACK_SIZE",
      FIELD(stack_size),
      { NULL },
      1,
      "bytes, with K, M or G after the number for multiples of 1024",
      true },
#undef FIELD
};

static char *trimmed(char *buffer, size_t size, const char *value)
{
    snprintf(buffer, size, "%s", value + strspn(value, " \t"));
    for (size_t n = strlen(buffer); n && strchr(" \t", buffer[n - 1]);)
        buffer[--n] = 0;
    return buffer;
}

static bool parse_word(const struct variable *v, const char *value, int *out)
{
    for (int i = 0; i < 4 && v->words[i]; i++)
        if (strcasecmp(value, v->words[i]) == 0)
            return *out = i, true;
    return false;
}

static bool parse_number(const struct variable *v, const char *value, int *out)
{
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);
    const char *units = "KMG",
               *unit = v->bytes && end > value && *end ? strchr(units, *end & ~32) : NULL;
    if (unit && *unit) {
        n = n > INT_MAX ? -1 : n << 10 * (unit - units + 1);
        end++;
    }
    if (end == value || *end || errno || n < v->min || n > INT_MAX)
        return false;
    return *out = (int)n, true;
}

void ompgpu_read_environment(struct ompgpu_settings *settings)
{
    *settings = (struct ompgpu_settings){ 0 };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const struct variable *v = &variables[i];
        const char *value = getenv(v->name);
        char buffer[64];
        if (!value || !*value)
            continue;
        int *field = (int *)((char *)settings + v->field);
        if (!(v->words[0] ? parse_word : parse_number)(v, trimmed(buffer, sizeof buffer, value),
                                                       field))
            ompgpu_say(NULL, "warning", "%s=%s is ignored; valid: %s", v->name, value, v->valid);
    }
}
