/* info.c - OMPGPU_INFO=1: one line on standard error per launch and per transfer.  Callers ask
 * ompgpu_settings.info first. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "hostrt/core/core.h"

double ompgpu_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static struct ompgpu_where without_region(const struct ompgpu_where *w)
{
    return (struct ompgpu_where){ .file = w->file, .line = w->line };
}

void ompgpu_info_launch(const struct ompgpu_where *where, const struct ompgpu_device *dev,
                        const struct ompgpu_function *fn, struct ompgpu_geometry g, double ms)
{
    struct ompgpu_where place = without_region(where);
    ompgpu_say(&place, "", "launch %s on %s:%d: %u team%s x %u thread%s, %s, %.2f ms%s",
               where->region, dev->plugin->name, dev->number, g.teams, g.teams == 1 ? "" : "s",
               g.threads, g.threads == 1 ? "" : "s",
               fn->entry->mode == OMPGPU_MODE_SPMD ? "SPMD" : "generic", ms,
               dev->plugin->counts ? dev->plugin->counts() : "");
}

/* The algorithms of devicertl/reduction.c that this geometry leads to. */
static const char *warps_of(const struct ompgpu_device *dev, unsigned flags, unsigned threads)
{
    if (threads == 1)
        return "one thread a team";
    if ((flags & OMPGPU_KERNEL_REDUX) && (!dev->info.arch || dev->info.arch >= 80))
        return "warps by redux.sync";
    return threads % 32 == 0 ? "full warps"
           : threads < 32    ? "a partial warp"
                             : "full warps and a partial one";
}

void ompgpu_info_reduction(const struct ompgpu_where *where, const struct ompgpu_device *dev,
                           const struct ompgpu_function *fn, struct ompgpu_geometry g,
                           size_t scratchpad)
{
    struct ompgpu_where place = without_region(where);
    unsigned flags = fn->entry->flags, variables = flags >> OMPGPU_KERNEL_VARIABLES & 255,
             arrays = flags >> (OMPGPU_KERNEL_VARIABLES + 8);
    char what[64], warps[32] = "", league[80] = "";
    if (!variables && !arrays)
        return;
    snprintf(what, sizeof what, "%u variable%s, %u array%s", variables, variables == 1 ? "" : "s",
             arrays, arrays == 1 ? "" : "s");
    if (!arrays)
        *strchr(what, ',') = 0;
    if (flags & OMPGPU_KERNEL_ATOMIC)
        snprintf(league, sizeof league, "; teams by atomic updates, no scratchpad");
    else if (scratchpad)
        snprintf(league, sizeof league,
                 "; the last team combines %u slot%s, scratchpad of %zu bytes", g.teams,
                 g.teams == 1 ? "" : "s", OMPGPU_SCRATCH_HEADER + scratchpad);
    if (g.threads > 32)
        snprintf(warps, sizeof warps, ", %u warps a team", (g.threads + 31) / 32);
    ompgpu_say(&place, "", "reduction in %s: %s; %s%s%s", where->region, what,
               warps_of(dev, flags, g.threads), warps, league);
}

void ompgpu_info_copy(const struct ompgpu_where *where, const char *direction, const char *name,
                      size_t bytes)
{
    struct ompgpu_where place = without_region(where);
    ompgpu_say(&place, "", "copy %s device: %s, %zu bytes", direction, name ? name : "?", bytes);
}

void ompgpu_info_reuse(const struct ompgpu_where *where, const char *name, size_t bytes,
                       const struct ompgpu_entry *e)
{
    struct ompgpu_where place = without_region(where);
    ompgpu_say(&place, "", "no copy to device: %s, %zu bytes: mapped as %s at %s:%u",
               name ? name : "?", bytes, e->name ? e->name : "?", e->file ? e->file : "?", e->line);
}
