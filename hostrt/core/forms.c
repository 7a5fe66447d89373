/* forms.c - which form of its kernel a region is launched with, and how the launch looks.
 *
 *   lanes      several lanes of a warp run an iteration             where the loops inside are long
 *   wide       a thread runs a group of iterations, with accesses   where what it streams turns
 *              of 16 bytes                                          out disjoint and aligned
 *   tiled      teams run tiles of a nest                            where tiles fit the nest
 *   covering   a thread runs an iteration                           where there are enough threads,
 *              or in several launches where there is no strided form
 *   strided    a thread runs as many as there are for it
 *
 * in this order; a region has the kernels for which its loop is fit (codegen/c/device/region.c).
 * Each has a geometry of its own (geometry.c), and its teams heaps, which may limit their number.
 */
#include <string.h>
#include "hostrt/core/running.h"

/* ------------------------------------------------------------------ heaps */
/* A team heap (devicertl/storage.c): locals, blocks, copies of reduced arrays in parallel regions.
 */
struct heap_parts {
    size_t fixed, blocks, copies;
};
/* Checked images take room after these (hostrt/emu/guard.c): more than most need. */
enum { GUARDS = 256 };
static bool has_guards(const struct ompgpu_device *dev)
{
    return dev->plugin == &ompgpu_emu_plugin && ompgpu_is_checked();
}
/* After the copies of so many threads. */
size_t ompgpu_guards_of(const struct ompgpu_device *dev, unsigned threads)
{
    return has_guards(dev) ? (size_t)threads * OMPGPU_EMU_GUARDS_OF_THREAD * OMPGPU_EMU_GUARD : 0;
}

static size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

/* Bytes for what has a size that is not known before it runs. */
static size_t unknown_bytes(size_t usual)
{
    return ompgpu_settings.team_heap > 0 ? round_up((size_t)ompgpu_settings.team_heap, 16) : usual;
}

/* The host evaluates sizes that the region might never evaluate, so they may be nonsense. */
static size_t copy_bytes_of(const struct running *r, const struct ompgpu_launch *launch,
                            unsigned threads)
{
    const struct ompgpu_kernel_entry *k = r->function->entry;
    const size_t most = r->dev->info.total_memory / 2 / threads;
    bool foreseen = launch->inner_bytes <= most;
    size_t copies = threads * ((size_t)k->copy_bytes + (foreseen ? launch->inner_bytes : 0));
    return copies + ((k->flags & OMPGPU_KERNEL_COPIES) || !foreseen
                         ? unknown_bytes((size_t)threads * OMPGPU_THREAD_COPIES)
                         : 0);
}

static struct heap_parts heap_parts_of(const struct running *r, const struct ompgpu_launch *launch,
                                       unsigned threads)
{
    const struct ompgpu_kernel_entry *k = r->function->entry;
    struct heap_parts s = { .fixed = round_up((size_t)k->heap_bytes, 16),
                            .blocks = (size_t)k->block_bytes,
                            .copies = copy_bytes_of(r, launch, threads) };
    if (!(launch->flags & OMPGPU_LAUNCH_SPMD)) /* the main threads' copies are as large as their
                                                  slots for the league */
        s.blocks += launch->reduce_bytes;
    if (k->flags & OMPGPU_KERNEL_HEAP)
        s.blocks += unknown_bytes(OMPGPU_TEAM_HEAP);
    s.blocks += s.blocks && has_guards(r->dev) ? GUARDS * OMPGPU_EMU_GUARD : 0;
    s.copies += s.copies ? ompgpu_guards_of(r->dev, threads) : 0;
    return s;
}

/* Private copies of reduced arrays take memory for every thread, heaps for every team: fewer teams,
 * where no clause says how many. */
static void limit_teams(const struct ompgpu_device *dev, struct ompgpu_geometry *g,
                        const struct ompgpu_launch *launch, size_t heap)
{
    const size_t eighth = dev->info.total_memory / 8,
                 most = eighth && eighth < (size_t)512 << 20 ? eighth : (size_t)512 << 20;
    size_t team = launch->copy_bytes * g->threads + heap;
    if (team && launch->num_teams == 0 && !(launch->flags & OMPGPU_LAUNCH_COVERS) &&
        g->teams > most / team)
        g->teams = team < most ? (unsigned)(most / team) : 1;
}

/* ------------------------------------------------------------------ the launch */
/* Team-shared memory that the launch asks for, and the pool where the kernel's own leave room for
 * it. */
static void add_shared(const struct running *r, const struct ompgpu_launch *launch,
                       struct ompgpu_env *env)
{
    env->dynamic_bytes = launch->flags & OMPGPU_LAUNCH_DYNAMIC
                             ? launch->dynamic_bytes
                             : (unsigned)ompgpu_settings.shared_memory;
    if (!(r->function->entry->uses & OMPGPU_USES_TEAM_MEMORY))
        return;
    size_t own = round_up((size_t)r->function->static_shared + env->dynamic_bytes, 16),
           pool = round_up((size_t)ompgpu_settings.team_memory, 16);
    if (own + pool > r->dev->info.shared_per_team)
        return;
    env->team_memory = (unsigned)pool;
    env->dynamic_bytes = (unsigned)round_up(env->dynamic_bytes, 16) + env->team_memory;
}

/* Fewer teams than g has where heaps would take too much memory. */
static struct ompgpu_geometry describe_launch(struct running *r, const struct ompgpu_launch *launch,
                                              struct ompgpu_geometry g, struct ompgpu_env *env)
{
    struct heap_parts s = heap_parts_of(r, launch, g.threads);
    size_t heap = round_up(s.fixed + s.blocks + s.copies, 256);
    limit_teams(r->dev, &g, launch, heap);
    *env = (struct ompgpu_env){ .device_num = (unsigned)r->dev->number,
                                .cancellation = ompgpu_settings.cancellation & 1,
                                .thread_limit = g.threads,
                                .heap_bytes = heap,
                                .heap_fixed = s.fixed,
                                .heap_copies = s.copies };
    add_shared(r, launch, env);
    return g;
}

static struct ompgpu_geometry shape_launch(struct running *r, const struct ompgpu_launch *launch,
                                           struct ompgpu_env *env)
{
    return describe_launch(r, launch, ompgpu_geometry(r->dev, r->function, launch), env);
}

static uintptr_t pointer_of(const struct running *r, const struct ompgpu_param *p)
{
    return p->map < 0 ? *(const uintptr_t *)p->value : r->addresses[p->map];
}

/* A wide form counts groups in 32 bits, and has a launch that covers them. */
static bool may_be_wide(const struct running *r, const struct ompgpu_launch *launch)
{
    return launch->nloops == 1 && launch->trips[0] > 0 && launch->trips[0] < INT32_MAX / 2 &&
           launch->num_teams <= 0 && ompgpu_team_icvs(r->dev).num_teams <= 0;
}

/* Enough iterations to fill the device with one for each thread: then a form with several of them
 * a thread has as much under way. */
static bool is_long(const struct running *r, uint64_t trip, const struct ompgpu_wide *w)
{
    const struct ompgpu_device_info *info = &r->dev->info;
    return w->lanes == 1 || trip >= (uint64_t)info->multiprocessors * info->max_threads_per_mp;
}

static bool choose_wide(struct running *r, struct ompgpu_region *region,
                        const struct ompgpu_param *params, const struct ompgpu_launch *launch,
                        struct ompgpu_geometry *g, struct ompgpu_env *env)
{
    struct ompgpu_function *f, *other = r->function;
    uintptr_t pointers[OMPGPU_STREAMS];
    uint64_t trip = launch->trips[0];
    if (!may_be_wide(r, launch) || ompgpu_function_get(region, r->dev, OMPGPU_FORM_WIDE, &f) ||
        !f || !is_long(r, trip, &f->wide))
        return false;
    for (unsigned i = 0; i < f->wide.n; i++)
        pointers[i] = pointer_of(r, &params[f->wide.streams[i].param]);
    if (!ompgpu_wide_suits(&f->wide, pointers, trip))
        return false;
    struct ompgpu_launch groups = *launch;
    groups.trip = (trip - 1) / f->wide.lanes + 1;
    r->function = f;
    *g = shape_launch(r, &groups, env);
    env->trip = (unsigned)(trip / f->wide.lanes);
    env->rest = (unsigned)(trip % f->wide.lanes);
    if ((uint64_t)g->teams * g->threads >= groups.trip)
        return true;
    r->function = other;
    return false;
}

static bool choose_tiled(struct running *r, struct ompgpu_region *region,
                         const struct ompgpu_launch *launch, struct ompgpu_geometry *g,
                         struct ompgpu_env *env)
{
    struct ompgpu_function *f, *other = r->function;
    struct ompgpu_env tiles; /* what a launch of tiles needs of it */
    if (launch->nloops < 2 || ompgpu_function_get(region, r->dev, OMPGPU_FORM_TILED, &f) || !f)
        return false;
    const unsigned teams = ompgpu_tiles(r->dev, f, launch, &tiles);
    if (!teams)
        return false;
    r->function = f;
    *g = describe_launch(r, launch, (struct ompgpu_geometry){ teams, OMPGPU_TILE }, env);
    memcpy(env->inner, tiles.inner, sizeof env->inner);
    env->trip = tiles.trip;
    env->rest = tiles.rest;
    if (g->teams == teams)
        return true;
    r->function = other;
    return false;
}

/* The form with so many lanes, or else with fewer; NULL: there is none. */
static struct ompgpu_function *form_with_lanes(const struct running *r,
                                               struct ompgpu_region *region, unsigned lanes)
{
    struct ompgpu_function *f = NULL;
    for (; lanes > 1 && !f; lanes /= 2)
        if (ompgpu_function_get(region, r->dev,
                                OMPGPU_FORM_LANES2 + (unsigned)__builtin_ctz(lanes) - 1, &f))
            return NULL;
    return f;
}

/* Several lanes for each iteration, which the teams of the launch hold whole.  1: chosen; 0: not;
 * -1: an error. */
static int choose_lanes(struct running *r, struct ompgpu_region *region,
                        const struct ompgpu_param *params, const struct ompgpu_launch *launch,
                        struct ompgpu_geometry *g, struct ompgpu_env *env)
{
    struct ompgpu_function *other = r->function, *f;
    if (!(launch->flags & OMPGPU_LAUNCH_LANES))
        return 0;
    const uintptr_t rows = launch->rows ? pointer_of(r, &params[launch->rows - 1]) : 0;
    const int lanes = ompgpu_lanes(r->dev, other, launch, rows, !r->task);
    if (lanes < 2 || !(f = form_with_lanes(r, region, (unsigned)lanes)))
        return lanes < 0 ? -1 : 0;
    struct ompgpu_launch wider = *launch;
    wider.trip *= f->lanes;
    r->function = f;
    *g = shape_launch(r, &wider, env);
    const struct ompgpu_geometry rows_at_once = { g->teams, g->threads / f->lanes };
    /* a part of a nest would be more rows than that */
    if (g->threads % f->lanes == 0 &&
        (!launch->nloops || (ompgpu_covers(launch, rows_at_once, env) && env->trip)))
        return 1;
    r->function = other;
    return 0;
}

static void say_unlimited(const struct running *r, struct ompgpu_geometry g)
{
    static bool said;
    const int teams = ompgpu_team_icvs(r->dev).num_teams;
    if (teams > 0 && g.teams > (unsigned)teams &&
        !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        ompgpu_say(&r->where, "warning",
                   "the limit of %d teams (OMP_NUM_TEAMS, omp_set_num_teams) does not apply to a "
                   "loop of which nothing tells how many run it: here, %u. With the flag "
                   "-fompgpu-team-limits it does",
                   teams, g.teams);
}

/* The geometry decides which form of the kernel suits, and a form has a geometry of its own. */
int ompgpu_choose_form(struct running *r, struct ompgpu_region *region,
                       const struct ompgpu_param *params, const struct ompgpu_launch *launch,
                       struct ompgpu_geometry *g, struct ompgpu_env *env)
{
    const int lanes = choose_lanes(r, region, params, launch, g, env);
    if (lanes)
        return lanes < 0 ? -1 : 0;
    if (region->strided &&
        (choose_wide(r, region, params, launch, g, env) || choose_tiled(r, region, launch, g, env)))
        return 0;
    *g = shape_launch(r, launch, env);
    if (launch->flags & OMPGPU_LAUNCH_COVERS)
        say_unlimited(r, *g);
    if (!region->strided || ompgpu_covers(launch, *g, env))
        return 0;
    if (launch->flags & OMPGPU_LAUNCH_COVERS) {
        ompgpu_plugin_error("the launch cannot have a thread for each of %u iterations", env->trip);
        return -1;
    }
    if (ompgpu_function_get(region, r->dev, OMPGPU_FORM_STRIDED, &r->function))
        return -1;
    *g = shape_launch(r, launch, env);
    return 0;
}
