/* info.c - OMPGPU_INFO=1: one line on standard error per launch and per transfer.  Callers ask ompgpu_settings.info first. */
#include <time.h>
#include "hostrt/core.h"

double ompgpu_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static struct ompgpu_where place_only(const struct ompgpu_where *w)
{
    return (struct ompgpu_where){ w->file, w->line, NULL, NULL };
}

void ompgpu_info_launch(const struct ompgpu_where *where, const struct ompgpu_device *dev, const struct ompgpu_function *fn,
                        struct ompgpu_geometry g, double ms)
{
    struct ompgpu_where place = place_only(where);
    ompgpu_say(&place, "", "launch %s on %s:%d: %u team%s x %u thread%s, %s, %.2f ms%s", where->region, dev->plugin->name, dev->number,
               g.teams, g.teams == 1 ? "" : "s", g.threads, g.threads == 1 ? "" : "s", fn->entry->mode ? "SPMD" : "generic", ms,
               dev->plugin->counts ? dev->plugin->counts() : "");
}

void ompgpu_info_copy(const struct ompgpu_where *where, const char *direction, const char *name, size_t bytes)
{
    struct ompgpu_where place = place_only(where);
    ompgpu_say(&place, "", "copy %s device: %s, %zu bytes", direction, name ? name : "?", bytes);
}
