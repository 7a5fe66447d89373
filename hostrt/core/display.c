/* display.c - OMP_DISPLAY_ENV and omp_display_env: what this runtime has read, after what the
 * OpenMP library shows of the host (section 21.7 of OpenMP 5.2). */
#include <stdio.h>
#include <stdlib.h>
#include "hostrt/core/core.h"

static void show_device(const struct ompgpu_device *dev)
{
    const struct ompgpu_icvs *v = &dev->icvs;
    const struct {
        const char *name;
        long value;
    } rows[] = { { "OMP_NUM_TEAMS", v->num_teams },
                 { "OMP_NUM_THREADS", v->num_threads },
                 { "OMP_TEAMS_THREAD_LIMIT", v->teams_thread_limit },
                 { "OMP_THREAD_LIMIT", v->thread_limit } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value)
            fprintf(stderr, "  [%d] %s='%ld'\n", dev->number, rows[i].name, rows[i].value);
        else
            fprintf(stderr, "  [%d] %s: value is not defined\n", dev->number, rows[i].name);
}

void ompgpu_display(bool verbose)
{
    static const char *const offload[] = { "DEFAULT", "MANDATORY", "DISABLED" };
    fprintf(stderr, "\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  libompgpu: %d devices%s%s\n",
            ompgpu_ndevices, ompgpu_ndevices ? " of kind " : "",
            ompgpu_ndevices ? ompgpu_devices[0].plugin->name : "");
    fprintf(stderr, "  [all] OMP_DEFAULT_DEVICE='%ld'\n  [all] OMP_TARGET_OFFLOAD='%s'\n",
            ompgpu_settings.default_device, offload[ompgpu_settings.offload]);
    if (secure_getenv("OMP_AVAILABLE_DEVICES"))
        fprintf(stderr, "  [all] OMP_AVAILABLE_DEVICES='%s'\n",
                secure_getenv("OMP_AVAILABLE_DEVICES"));
    for (int i = 0; i < ompgpu_ndevices; i++)
        show_device(&ompgpu_devices[i]);
    for (const char *const *name = ompgpu_variable_names; verbose && *name; name++) {
        const char *value = secure_getenv(*name);
        if (value)
            fprintf(stderr, "  [all] %s='%s'\n", *name, value);
        else
            fprintf(stderr, "  [all] %s: value is not defined\n", *name);
    }
    fprintf(stderr, "OPENMP DISPLAY ENVIRONMENT END\n");
}
