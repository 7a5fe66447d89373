/* geometry.c - how many teams and threads a region gets.
 *
 * A clause decides; only what the device cannot do is cut.  An environment variable stands in for a
 * missing clause.  Otherwise:
 *
 *   region                             threads a team   teams
 *   no parallel in reach               1                as below
 *   generic                            128              one per iteration of `distribute`, at most
 *                                                       4 waves
 *   SPMD, iterations shared by league  256 *            an iteration a thread, up to the grid limit
 *   the same with a reduction          256 *            the same, at most one wave: the last team
 *                                                       combines a slot of each
 *   … with a scan                      256 *            one wave
 *   … of arrays in global memory       fewer            as many as their copies are worth
 *   SPMD, iterations not known         256              one wave
 *   teams without distribute           256              one per multiprocessor
 *   no teams construct                 256 *            1
 *   * fewer for short loops; on SPMD leagues another number, where registers and shared memory of
 *     the kernel leave room for more threads on a multiprocessor with it
 *
 * A wave is what runs at the same time: multiprocessors × teams that fit on one.  Team sizes of our
 * choice are whole warps.
 *
 * Where that makes a thread or more for each iteration, the region's covering kernel is launched,
 * if it has one, else the strided one.  Without a strided one (OMPGPU_LAUNCH_COVERS: nothing tells
 * how many teams there are) the launch covers the loop: OMP_NUM_TEAMS makes larger teams, where
 * these are enough.  More than 2^31 iterations are launched in parts. */
#include <math.h>
#include "hostrt/core/core.h"
#include "hostrt/occupancy.h"

#define MOST_COVERED ((uint64_t)1 << 31) /* iterations of a launch */
enum { GRID_LIMIT = 0x7fffffff, PLANES_LIMIT = 65535, GENERIC_WAVES = 4, MOST_WARPS = 32 };

static unsigned smaller(unsigned long long a, unsigned b) { return a < b ? (unsigned)a : b; }

static unsigned warp_size(const struct ompgpu_device *dev)
{
    return dev->info.warp_size ? dev->info.warp_size : 32;
}

static unsigned multiprocessors(const struct ompgpu_device *dev)
{
    return dev->info.multiprocessors ? dev->info.multiprocessors : 1;
}

/* ------------------------------------------------------------------ threads */
/* Each thread has copies of reduced arrays in global memory.  The more threads there are, the more
 * time it takes to fill and to combine these, and the less the loop takes; the sum is the least
 * where both are equal.  Measured on an H100: an iteration takes a thread as long as a hundred
 * thousand bytes of copies take the GPU. */
static unsigned worth_copies(const struct ompgpu_launch *l)
{
    const double bytes_per_iteration = 1e5;
    double n = l->copy_bytes && l->trip
                   ? sqrt((double)l->trip * bytes_per_iteration / (double)l->copy_bytes)
                   : GRID_LIMIT;
    return n < 1 ? 1 : n < GRID_LIMIT ? (unsigned)n : GRID_LIMIT;
}

static unsigned most_threads(const struct ompgpu_device *dev, const struct ompgpu_function *f)
{
    unsigned most = dev->info.max_threads_per_team ? dev->info.max_threads_per_team : 1024;
    if (f->max_threads)
        most = smaller(f->max_threads, most);
    if (f->entry->max_threads)
        most = smaller(f->entry->max_threads, most);
    /* A kernel whose constant clauses are whole warps counts on them (__ompgpu_whole_warps). */
    if (f->entry->max_threads && f->entry->max_threads % warp_size(dev) == 0 &&
        most > warp_size(dev))
        most -= most % warp_size(dev);
    return most;
}

static bool has_league_loop(const struct ompgpu_launch *l)
{
    return (l->flags & (OMPGPU_LAUNCH_TEAMS | OMPGPU_LAUNCH_DISTRIBUTE)) ==
           (OMPGPU_LAUNCH_TEAMS | OMPGPU_LAUNCH_DISTRIBUTE);
}

static bool is_spmd(const struct ompgpu_function *f, const struct ompgpu_launch *l)
{
    return f->entry->mode == OMPGPU_MODE_SPMD && (l->flags & OMPGPU_LAUNCH_SPMD);
}

/* Teams that fit on one multiprocessor.  The plugin is asked once per kernel and number of warps;
 * threads that ask at the same time get the same answer. */
static unsigned teams_at_once(const struct ompgpu_device *dev, struct ompgpu_function *f,
                              unsigned threads)
{
    unsigned warps = (threads + warp_size(dev) - 1) / warp_size(dev), n = 0;
    unsigned *cached = warps <= MOST_WARPS ? &f->teams_per_mp_cache[warps] : NULL;
    if (cached)
        n = __atomic_load_n(cached, __ATOMIC_RELAXED);
    if (!n) {
        n = dev->plugin->occupancy(dev->ordinal, f, threads);
        if (cached)
            __atomic_store_n(cached, n, __ATOMIC_RELAXED);
    }
    return n;
}

static unsigned warps_at_once(const struct ompgpu_device *dev, struct ompgpu_function *f,
                              unsigned warps)
{
    return warps * teams_at_once(dev, f, warps * warp_size(dev));
}

/* Warps a team so that a multiprocessor holds as many as it can of this kernel, less ROOM_LOST per
 * cent: `usual`, else the next larger number, else the next smaller one. */
static unsigned roomy_warps(const struct ompgpu_device *dev, struct ompgpu_function *f,
                            unsigned usual, unsigned most)
{
    enum { ROOM_LOST = 3 };
    unsigned all = dev->info.max_threads_per_mp / warp_size(dev), best = 0, below = usual;
    if (usual > most || warps_at_once(dev, f, usual) * 100 >= all * (100 - ROOM_LOST))
        return usual;
    for (unsigned w = 1; w <= most; w++)
        if (warps_at_once(dev, f, w) > best)
            best = warps_at_once(dev, f, w);
    for (unsigned w = usual; w <= most; w++)
        if (warps_at_once(dev, f, w) * 100 >= best * (100 - ROOM_LOST))
            return w;
    while (below > 1 && warps_at_once(dev, f, below) * 100 < best * (100 - ROOM_LOST))
        below--;
    return below;
}

static unsigned roomy_threads(const struct ompgpu_device *dev, struct ompgpu_function *f,
                              unsigned usual)
{
    unsigned warps = __atomic_load_n(&f->roomy_warps, __ATOMIC_RELAXED);
    if (!warps) {
        warps = roomy_warps(dev, f, usual / warp_size(dev),
                            smaller(most_threads(dev, f) / warp_size(dev), MOST_WARPS));
        __atomic_store_n(&f->roomy_warps, warps, __ATOMIC_RELAXED);
    }
    return warps * warp_size(dev);
}

static unsigned wanted_threads(const struct ompgpu_device *dev, struct ompgpu_function *f,
                               const struct ompgpu_launch *l)
{
    unsigned warp = warp_size(dev), threads = OMPGPU_SINGLE_TEAM_THREADS;
    if (l->flags & OMPGPU_LAUNCH_TEAMS)
        threads = roomy_threads(dev, f, OMPGPU_LEAGUE_THREADS);
    if (!l->trip)
        return threads;
    if (l->copy_bytes) /* rather on more multiprocessors */
        threads = smaller((worth_copies(l) / multiprocessors(dev) / warp + 1) * warp, threads);
    if (has_league_loop(l)) /* a short loop: rather use more multiprocessors than full teams */
        while (threads / 2 >= warp && (l->trip - 1) / threads + 1 < multiprocessors(dev))
            threads = threads / 2 / warp * warp;
    return smaller((l->trip + warp - 1) / warp * warp, threads);
}

/* A GPU's code counts on the number of threads that constant clauses give, and is launched with no
 * other (codegen/ir/passes/exact.c). */
static bool limit_applies(const struct ompgpu_device *dev, const struct ompgpu_function *f)
{
    static bool said;
    long limit = dev->icvs.thread_limit;
    if (limit <= 0)
        return false;
    if (!(f->entry->flags & OMPGPU_KERNEL_EXACT) || !dev->info.arch)
        return true;
    if (limit < (long)f->entry->max_threads && !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        ompgpu_say(NULL, "warning",
                   "the limit of %ld threads (OMP_THREAD_LIMIT) does not apply to regions with "
                   "constant clauses thread_limit or num_threads, such as one with %u threads",
                   limit, f->entry->max_threads);
    return false;
}

static unsigned choose_threads(const struct ompgpu_device *dev, struct ompgpu_function *f,
                               const struct ompgpu_launch *l, int teams_thread_limit)
{
    const struct ompgpu_icvs *icvs = &dev->icvs;
    unsigned most = most_threads(dev, f);
    if (limit_applies(dev, f))
        most = smaller((unsigned)icvs->thread_limit, most);
    bool workers = f->entry->mode == OMPGPU_MODE_SPMD
                       ? (l->flags & OMPGPU_LAUNCH_PARALLEL) != 0
                       : (f->entry->flags & OMPGPU_KERNEL_WORKERS) != 0;
    if (!workers)
        return 1;
    if (l->thread_limit > 0)
        return smaller((unsigned)l->thread_limit, most);
    if (teams_thread_limit > 0)
        return smaller((unsigned)teams_thread_limit, most);
    if (icvs->num_threads > 0 && is_spmd(f, l))
        return smaller((unsigned)icvs->num_threads, most);
    return smaller(is_spmd(f, l) ? wanted_threads(dev, f, l) : OMPGPU_GENERIC_THREADS, most);
}

/* ------------------------------------------------------------------ teams */
unsigned ompgpu_wave(const struct ompgpu_device *dev, struct ompgpu_function *f, unsigned threads)
{
    unsigned n = teams_at_once(dev, f, threads);
    return smaller((unsigned long long)(n ? n : 1) * multiprocessors(dev), GRID_LIMIT);
}

static unsigned wanted_teams(const struct ompgpu_device *dev, struct ompgpu_function *f,
                             const struct ompgpu_launch *l, unsigned threads)
{
    if (!(l->flags & OMPGPU_LAUNCH_DISTRIBUTE))
        return smaller(multiprocessors(dev), GRID_LIMIT);
    if (!l->trip)
        return ompgpu_wave(dev, f, threads);
    if (!is_spmd(f, l)) {
        unsigned most = ompgpu_wave(dev, f, threads);
        if (!(l->flags & OMPGPU_LAUNCH_REDUCTION))
            most = smaller((unsigned long long)most * GENERIC_WAVES, GRID_LIMIT);
        return smaller(l->trip, most);
    }
    unsigned teams = smaller((l->trip - 1) / threads + 1, GRID_LIMIT);
    if (l->copy_bytes)
        teams = smaller(teams, (worth_copies(l) - 1) / threads + 1);
    return l->flags & OMPGPU_LAUNCH_REDUCTION ? smaller(teams, ompgpu_wave(dev, f, threads))
                                              : teams;
}

static bool covers(const struct ompgpu_launch *l) { return l->flags & OMPGPU_LAUNCH_COVERS; }

/* The threads of a league have numbers below 2^31, which device code relies on: smaller teams where
 * it was said how many there are, else fewer. */
static struct ompgpu_geometry numbered(const struct ompgpu_device *dev,
                                       const struct ompgpu_function *f,
                                       const struct ompgpu_launch *l, struct ompgpu_geometry g)
{
    if ((uint64_t)g.teams * g.threads <= GRID_LIMIT + (uint64_t)covers(l))
        return g;
    unsigned most = GRID_LIMIT / g.teams, warp = warp_size(dev);
    bool said = l->num_teams > 0 || ompgpu_team_icvs(dev).num_teams > 0;
    if (said && most >= warp && !(f->entry->flags & OMPGPU_KERNEL_EXACT))
        g.threads = most / warp * warp;
    else
        g.teams = GRID_LIMIT / g.threads;
    return g;
}

static bool limits_threads(const struct ompgpu_device *dev, const struct ompgpu_launch *l)
{
    return l->thread_limit > 0 || ompgpu_team_icvs(dev).thread_limit > 0 ||
           dev->icvs.thread_limit > 0 || dev->icvs.num_threads > 0;
}

static uint64_t most_covered(const struct ompgpu_launch *, unsigned threads);

/* A thread for each iteration, on as many teams as the program allows if they can be so large; of
 * teams of a power of two there are no more threads than can be numbered. */
static struct ompgpu_geometry cover(const struct ompgpu_device *dev, struct ompgpu_function *f,
                                    const struct ompgpu_launch *l, unsigned threads, int teams)
{
    const unsigned warp = warp_size(dev),
                   trip = smaller(l->trip, (unsigned)most_covered(l, threads));
    const unsigned most = limits_threads(dev, l) ? threads : most_threads(dev, f);
    const uint64_t needed = (uint64_t)threads * (unsigned)(teams > 0 ? teams : 0);
    if (teams > 0 && needed < trip) {
        unsigned larger = ((trip - 1) / (unsigned)teams / warp + 1) * warp;
        threads = larger <= most ? larger : threads;
    }
    if (trip > MOST_COVERED - threads && !(f->entry->flags & OMPGPU_KERNEL_EXACT))
        threads = 1u << (31 - __builtin_clz(threads));
    return (struct ompgpu_geometry){ trip ? (trip - 1) / threads + 1 : 1, threads };
}

struct ompgpu_geometry ompgpu_geometry(const struct ompgpu_device *dev, struct ompgpu_function *f,
                                       const struct ompgpu_launch *l)
{
    struct ompgpu_team_icvs icvs = ompgpu_team_icvs(dev);
    struct ompgpu_geometry g = { 1, choose_threads(dev, f, l, icvs.thread_limit) };
    if (!(l->flags & OMPGPU_LAUNCH_TEAMS))
        return g;
    if (covers(l))
        return numbered(dev, f, l, cover(dev, f, l, g.threads, icvs.num_teams));
    if (l->num_teams > 0)
        g.teams = (unsigned)l->num_teams;
    else if (icvs.num_teams > 0)
        g.teams = (unsigned)icvs.num_teams;
    else
        g.teams = wanted_teams(dev, f, l, g.threads);
    return numbered(dev, f, l, g);
}

/* ------------------------------------------------------------------ the covering form
 * Iterations are taken apart into those of the nest's loops by a multiplication (Granlund and
 * Montgomery, "Division by invariant integers using multiplication", 1994): for a < 2^31 and
 * 2^(s-1) < d <= 2^s, a / d is a * m / 2^(31+s), with m the next number above 2^(31+s) / d, which
 * has 32 bits.  d: 1 … 2^31. */
static struct ompgpu_divisor divisor(unsigned d)
{
    unsigned s = d > 1 ? 32 - (unsigned)__builtin_clz(d - 1) : 0;
    return (struct ompgpu_divisor){ (unsigned)(((uint64_t)1 << (31 + s)) / d + 1), 31 + s };
}

/* A team for each tile.  Not where a clause or a variable says how many there are, or how large,
 * where tiles would not occupy the device, or where many of their iterations would not exist. */
static bool is_free(const struct ompgpu_device *dev, const struct ompgpu_launch *l)
{
    return l->num_teams <= 0 && ompgpu_team_icvs(dev).num_teams <= 0 && !limits_threads(dev, l);
}

unsigned ompgpu_tiles(const struct ompgpu_device *dev, const struct ompgpu_function *f,
                      const struct ompgpu_launch *l, struct ompgpu_env *env)
{
    const unsigned n = l->nloops, width = 1u << f->tile_shift, height = OMPGPU_TILE / width;
    if (n < 2 || !is_free(dev, l) || most_threads(dev, f) < OMPGPU_TILE)
        return 0;
    const uint64_t columns = l->trips[n - 1], rows = l->trips[n - 2];
    if (!columns || columns > GRID_LIMIT || !rows || rows > GRID_LIMIT)
        return 0;
    const uint64_t across = (columns - 1) / width + 1, down = (rows - 1) / height + 1,
                   all = across * width * down * height, useful = columns * rows;
    uint64_t planes = 1;
    for (unsigned i = 0; i + 2 < n; i++) {
        if (!l->trips[i] || l->trips[i] > PLANES_LIMIT)
            return 0;
        planes *= l->trips[i];
        if (i)
            env->inner[i - 1] = divisor((unsigned)l->trips[i]);
    }
    if (down > PLANES_LIMIT || planes > PLANES_LIMIT || across * down * planes > GRID_LIMIT ||
        across * down * planes < multiprocessors(dev) || all - useful > useful / 4)
        return 0;
    env->trip = (unsigned)down;
    env->rest = (unsigned)planes;
    return (unsigned)(across * down * planes);
}

/* A part of a loop or nest: `rows` iterations of loop `cut`, each with all `inside` that the loops
 * in it have, in one iteration of the loops around it. */
struct part {
    unsigned cut;
    uint64_t rows, inside;
};

/* A grid has fewer than 2^31 teams.  A kernel for a single loop that has no more iterations than
 * that knows nothing of parts. */
static uint64_t most_covered(const struct ompgpu_launch *l, unsigned threads)
{
    bool whole = !covers(l) || (l->nloops == 1 && l->trips[0] <= MOST_COVERED);
    return threads > 1 || whole ? MOST_COVERED : MOST_COVERED / 2;
}

/* Whether a launch of teams of so many threads takes parts of the loops, all of which have
 * iterations. */
static bool has_parts(const struct ompgpu_launch *l, unsigned threads, struct part *p)
{
    const uint64_t most = most_covered(l, threads);
    unsigned loop = l->nloops;
    p->inside = 1;
    while (loop && l->trips[loop - 1] <= most / p->inside)
        p->inside *= l->trips[--loop];
    p->cut = loop - 1;
    p->rows = most / p->inside;
    return loop;
}

/* The part's first iteration of loop k. */
static uint64_t first_of(const struct ompgpu_launch *l, const struct ompgpu_env *env, unsigned k)
{
    if (l->nloops == 1)
        return env->first;
    return env->begin[k] - (k ? env->begin[k - 1] * (unsigned)l->trips[k] : 0);
}

bool ompgpu_next_part(const struct ompgpu_function *f, const struct ompgpu_launch *l,
                      unsigned threads, struct ompgpu_env *env)
{
    struct part p;
    if (!covers(l) || !env->trip || (f->entry->flags & OMPGPU_KERNEL_FORM) ||
        !has_parts(l, threads, &p))
        return false;
    unsigned loop = p.cut;
    uint64_t by = p.rows;
    for (; l->trips[loop] - first_of(l, env, loop) <= by; by = 1)
        if (!loop--)
            return false;
    env->first += by;                 /* of a single loop */
    env->begin[loop] += (unsigned)by; /* the loops inside start again */
    while (++loop < l->nloops)
        env->begin[loop] = env->begin[loop - 1] * (unsigned)l->trips[loop];
    const uint64_t left = l->trips[p.cut] - first_of(l, env, p.cut);
    env->trip = (unsigned)(p.inside * (left < p.rows ? left : p.rows));
    return true;
}

static bool is_empty(const struct ompgpu_launch *l)
{
    for (unsigned i = 0; i < l->nloops; i++)
        if (!l->trips[i])
            return true;
    return false;
}

bool ompgpu_takes_parts(const struct ompgpu_launch *l)
{
    struct part p;
    return covers(l) && !is_empty(l) && has_parts(l, 1, &p);
}

/* What a launch has at first, or 0; without a strided kernel that may be a part. */
static unsigned first_iterations(const struct ompgpu_launch *l, unsigned threads)
{
    struct part p;
    if (is_empty(l))
        return 0;
    if (!has_parts(l, threads, &p))
        return (unsigned)p.inside;
    return covers(l) ? (unsigned)(p.inside * p.rows) : 0;
}

/* Threads have numbers below 2^31, too.  Where there is a strided kernel, the covering one is for
 * loops that have iterations: it assumes so (codegen/c/device/loops.c). */
bool ompgpu_covers(const struct ompgpu_launch *l, struct ompgpu_geometry g, struct ompgpu_env *env)
{
    const uint64_t threads = (uint64_t)g.teams * g.threads;
    env->trip = first_iterations(l, g.threads);
    if (g.teams > GRID_LIMIT || threads > GRID_LIMIT + (uint64_t)covers(l) || env->trip > threads)
        return false;
    for (unsigned i = 1; i < l->nloops && env->trip; i++)
        env->inner[i - 1] = divisor((unsigned)l->trips[i]);
    return env->trip || covers(l);
}
