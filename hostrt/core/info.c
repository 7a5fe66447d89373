/* info.c - what constructs have done, for OMPGPU_INFO and OMPGPU_PROFILE.  Callers ask
 * ompgpu_settings.watch first.
 *
 * OMPGPU_INFO=1: a line per launch and per transfer; 2: also what happens to each list item, to
 * device memory, and what is mapped still at the end.  They go to standard error or to
 * OMPGPU_INFO_FILE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "hostrt/core/core.h"

double ompgpu_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

void ompgpu_watch_start(void)
{
    struct ompgpu_settings *s = &ompgpu_settings;
    const char *file = secure_getenv("OMPGPU_INFO_FILE");
    if (s->info && file && *file)
        ompgpu_trace_to(ompgpu_open_output("OMPGPU_INFO_FILE", file));
    s->watch = (s->info ? OMPGPU_WATCH_INFO : 0) | (s->info > 1 ? OMPGPU_WATCH_ALL : 0) |
               (ompgpu_profile_start() ? OMPGPU_WATCH_PROFILE : 0);
}

static bool watches(long what) { return (ompgpu_settings.watch & what) != 0; }

static struct ompgpu_where without_region(const struct ompgpu_where *w)
{
    return (struct ompgpu_where){ .file = w->file, .line = w->line };
}

/* "4096 bytes", "1048576 bytes (1.0 MiB)" */
struct size_text {
    char text[64];
};
static struct size_text size_of(size_t bytes)
{
    struct size_text s;
    char human[32];
    snprintf(s.text, sizeof s.text, "%zu byte%s", bytes, bytes == 1 ? "" : "s");
    if (bytes >= 10 << 10)
        snprintf(s.text, sizeof s.text, "%zu bytes (%s)", bytes,
                 ompgpu_human_bytes(bytes, human, sizeof human));
    return s;
}

static const char *name_or_unknown(const char *name) { return name ? name : "?"; }

/* ------------------------------------------------------------------ launches */
void ompgpu_watch_launch(const struct ompgpu_where *where, const struct ompgpu_device *dev,
                         struct ompgpu_function *fn, struct ompgpu_geometry g, double start,
                         bool later)
{
    struct ompgpu_where place = without_region(where);
    double ms = ompgpu_clock() - start;
    if (watches(OMPGPU_WATCH_PROFILE))
        ompgpu_profile_launch(where, dev, fn, g, start, later);
    if (!watches(OMPGPU_WATCH_INFO))
        return;
    char lanes[40] = "";
    if (fn->lanes)
        snprintf(lanes, sizeof lanes, ", %u lanes an iteration", fn->lanes);
    ompgpu_trace(&place, "launch %s on %s:%d: %u team%s x %u thread%s, %s%s, %.2f ms%s",
                 where->region, dev->plugin->name, dev->number, g.teams, g.teams == 1 ? "" : "s",
                 g.threads, g.threads == 1 ? "" : "s",
                 fn->entry->mode == OMPGPU_MODE_SPMD ? "SPMD" : "generic", lanes, ms,
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

void ompgpu_watch_reduction(const struct ompgpu_where *where, const struct ompgpu_device *dev,
                            const struct ompgpu_function *fn, struct ompgpu_geometry g,
                            size_t scratchpad)
{
    struct ompgpu_where place = without_region(where);
    unsigned flags = fn->entry->flags, variables = flags >> OMPGPU_KERNEL_VARIABLES & 255,
             arrays = flags >> (OMPGPU_KERNEL_VARIABLES + 8) & OMPGPU_KERNEL_MOST_ARRAYS;
    char what[64], warps[32] = "", league[80] = "";
    if ((!variables && !arrays) || !watches(OMPGPU_WATCH_INFO))
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
    ompgpu_trace(&place, "reduction in %s: %s; %s%s%s", where->region, what,
                 warps_of(dev, flags, g.threads), warps, league);
}

/* ------------------------------------------------------------------ copies */
static const char *const ways[] = { [OMPGPU_FROM_DEVICE] = "from device",
                                    [OMPGPU_TO_DEVICE] = "to device",
                                    [OMPGPU_BETWEEN_DEVICES] = "between devices" };

int ompgpu_watch_transfer(const struct ompgpu_where *where, struct ompgpu_device *dev,
                          const struct ompgpu_transfer *t)
{
    static const struct ompgpu_where nowhere;
    where = where ? where : &nowhere;
    struct ompgpu_where place = without_region(where);
    if (watches(OMPGPU_WATCH_PROFILE)) {
        if (t->start > 0 && dev->plugin->sync(dev->ordinal))
            return -1;
        ompgpu_profile_copy(where, t);
    }
    if (watches(OMPGPU_WATCH_INFO))
        ompgpu_trace(&place, "copy %s: %s, %s%s", ways[t->way], name_or_unknown(t->name),
                     size_of(t->bytes).text,
                     t->implicit && watches(OMPGPU_WATCH_ALL) ? ", implicit" : "");
    return 0;
}

void ompgpu_watch_reuse(const struct ompgpu_where *where, const char *name, size_t bytes,
                        const struct ompgpu_entry *e)
{
    struct ompgpu_where place = without_region(where);
    if (watches(OMPGPU_WATCH_INFO))
        ompgpu_trace(&place, "no copy to device: %s, %s: mapped as %s at %s:%u",
                     name_or_unknown(name), size_of(bytes).text, name_or_unknown(e->name),
                     name_or_unknown(e->file), e->line);
}

/* ------------------------------------------------------------------ mappings */
static const char *reference_text(const struct ompgpu_entry *e, char *text, size_t size)
{
    if (ompgpu_refs(e) == OMPGPU_REFS_INFINITE)
        snprintf(text, size, "always mapped");
    else if (e->holds)
        snprintf(text, size, "references %ld, holds %ld", ompgpu_refs(e), e->holds);
    else
        snprintf(text, size, "references %ld", ompgpu_refs(e));
    return text;
}

void ompgpu_show_item(const struct ompgpu_where *where, enum ompgpu_item_event what,
                      const struct ompgpu_map *m, const struct ompgpu_entry *e)
{
    static const char *const words[] = { [OMPGPU_ITEM_NEW] = "map",
                                         [OMPGPU_ITEM_PRESENT] = "map",
                                         [OMPGPU_ITEM_POINTER] = "pointer",
                                         [OMPGPU_ITEM_LEFT] = "unmap",
                                         [OMPGPU_ITEM_MISSING] = "not mapped, nothing is done" };
    struct ompgpu_where place = without_region(where);
    char references[64] = "", from[256] = "";
    if (e)
        reference_text(e, references, sizeof references);
    if (!e && what == OMPGPU_ITEM_POINTER)
        snprintf(from, sizeof from, ", points to nothing that is mapped");
    if (e && e->file && (what == OMPGPU_ITEM_PRESENT || what == OMPGPU_ITEM_POINTER))
        snprintf(from, sizeof from, ", present, mapped as %.80s at %.100s:%u",
                 name_or_unknown(e->name), e->file, e->line);
    ompgpu_trace(&place, "%s: %s%s%s%s%s%s%s", words[what], name_or_unknown(m->name),
                 m->size ? ", " : "", m->size ? size_of(m->size).text : "",
                 m->flags & OMPGPU_MAP_IMPLICIT ? ", implicit" : "", from, *references ? ", " : "",
                 references);
}

/* An allocation of omp_target_alloc has its device address in `begin`. */
static void *device_memory(const struct ompgpu_entry *e)
{
    return (void *)(e->device ? e->device : e->begin);
}

void ompgpu_watch_alloc(const struct ompgpu_where *where, const struct ompgpu_entry *e,
                        double start)
{
    static const struct ompgpu_where nowhere;
    where = where ? where : &nowhere;
    struct ompgpu_where place = without_region(where);
    if (watches(OMPGPU_WATCH_PROFILE))
        ompgpu_profile_alloc(where, e->name, e->end - e->begin, start);
    if (watches(OMPGPU_WATCH_ALL))
        ompgpu_trace(&place, "alloc on device: %s, %s at %p", name_or_unknown(e->name),
                     size_of(e->end - e->begin).text, device_memory(e));
}

void ompgpu_watch_free(const struct ompgpu_entry *e)
{
    if (watches(OMPGPU_WATCH_PROFILE))
        ompgpu_profile_free(e->end - e->begin);
    if (watches(OMPGPU_WATCH_ALL))
        ompgpu_trace(NULL, "free on device: %s, %s at %p", name_or_unknown(e->name),
                     size_of(e->end - e->begin).text, device_memory(e));
}

void ompgpu_watch_host(const struct ompgpu_where *where)
{
    if (watches(OMPGPU_WATCH_PROFILE))
        ompgpu_profile_host(where);
}

/* ------------------------------------------------------------------ the end */
static void list_mapped(const struct ompgpu_entry *e)
{
    char references[64];
    if (ompgpu_refs(e) != OMPGPU_REFS_INFINITE) {
        const struct ompgpu_where place = { .file = e->file, .line = e->line };
        ompgpu_trace(&place, "mapped still at the end: %s, %s, %s", name_or_unknown(e->name),
                     size_of(e->end - e->begin).text,
                     reference_text(e, references, sizeof references));
    }
}

void ompgpu_watch_end(void)
{
    for (int i = 0; i < ompgpu_ndevices && watches(OMPGPU_WATCH_STALE); i++)
        ompgpu_stale_end(&ompgpu_devices[i]);
    for (int i = 0; i < ompgpu_ndevices && watches(OMPGPU_WATCH_ALL); i++)
        for (const struct ompgpu_entry *e = ompgpu_present_next(&ompgpu_devices[i], 0); e;
             e = ompgpu_present_next(&ompgpu_devices[i], e->end))
            list_mapped(e);
    if (watches(OMPGPU_WATCH_PROFILE))
        ompgpu_profile_end();
    ompgpu_settings.watch = 0;
    ompgpu_trace_to(NULL);
}
