/* exec.c - teams, warps and diverged groups, and who runs when.
 *
 * A host thread takes teams of the launch, a few at a time, and runs a slice of each in turn, so
 * that teams that wait for each other make progress.  In a team the warps take turns, in a warp the
 * ready groups: the one with the deepest call and the lowest pc, so that lanes join again after a
 * branch, but a group that has waited for long comes first (it may be the one that another spins
 * for).  With OMPGPU_PTX_SCHEDULE all of these choices are random by the seed. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "hostrt/ptx/machine.h"
#include "hostrt/ptx/race/race.h"
#include "hostrt/ptx/weak.h"

enum {
    SLICE = 4096,       /* instructions of a group before the next warp's turn */
    TEAM_SLICE = 65536, /* … of a team before the next team's */
    PATIENCE = 256,     /* turns of other groups */
    RESIDENT = 4,       /* teams a worker runs at a time */
    FRAME_LIMIT = 20000
};

uint64_t ptx_random(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

uint64_t ptx_nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *checked(void *p)
{
    if (!p)
        abort();
    return p;
}

/* ------------------------------------------------------------------ frames */
static void frame_reserve(struct frame *f, const struct function *fn)
{
    size_t regs = fn->nregs + 1, preds = fn->npreds + 1,
           params = (size_t)fn->frame_params * WARP + 1;
    if (regs > f->room_regs) {
        free(f->regs);
        free(f->poison);
        free(f->poison_bytes);
        f->room_regs = regs;
        f->regs = checked(calloc(regs, sizeof *f->regs));
        f->poison = checked(malloc(regs * sizeof *f->poison));
        f->poison_bytes = checked(malloc(regs * WARP));
    }
    if (preds > f->room_preds) {
        free(f->preds);
        free(f->pred_poison);
        f->room_preds = preds;
        f->preds = checked(calloc(preds, sizeof *f->preds));
        f->pred_poison = checked(malloc(preds * sizeof *f->pred_poison));
    }
    if (params > f->room_params) {
        free(f->params);
        free(f->param_shadow);
        f->room_params = params;
        f->params = checked(malloc(params));
        f->param_shadow = checked(malloc(params));
    }
    memset(f->poison, 0xff, regs * sizeof *f->poison);
    memset(f->poison_bytes, 0xff, regs * WARP);
    memset(f->pred_poison, 0xff, preds * sizeof *f->pred_poison);
    memset(f->param_shadow, SHADOW_UNDEFINED, params);
}

static bool reserve_local(struct group *g, const struct instruction *i, struct frame *f, lanes m)
{
    struct warp *w = g->warp;
    const struct function *fn = f->function;
    uint32_t align = fn->local_align > 16 ? fn->local_align : 16;
    EACH_LANE(l, m) {
        uint32_t top = w->stack_top[l], base = (top + align - 1) / align * align;
        f->local_base[l] = base;
        if (!fn->local_bytes)
            continue;
        if (!ptx_local_reserve(g, i, l, (uint64_t)base + fn->local_bytes))
            return false;
        unsigned char *shadow = w->team->local_shadow[w->number * WARP + l];
        memset(shadow + top, SHADOW_NONE, base + fn->local_bytes - top);
        for (unsigned k = 0; k < fn->nlocals; k++) {
            const struct local *v = &fn->locals[k];
            unsigned char *s = shadow + base + v->offset;
            memset(s, SHADOW_UNDEFINED, v->size);
            memset(s + v->size, SHADOW_PADDING, v->room - v->size);
        }
        w->stack_top[l] = base + fn->local_bytes;
    }
    return true;
}

static void free_frame(struct worker *k, struct frame *f)
{
    f->next_free = k->free_frames;
    k->free_frames = f;
}

struct frame *ptx_frame_new(struct group *g, const struct instruction *i, struct function *fn,
                            lanes m)
{
    struct worker *k = g->warp->team->worker;
    struct frame *f = k->free_frames;
    if (f)
        k->free_frames = f->next_free;
    else
        f = checked(calloc(1, sizeof *f));
    f->function = fn;
    f->caller = g->frame;
    f->depth = g->frame ? g->frame->depth + 1 : 0;
    f->live = m;
    frame_reserve(f, fn);
    bool deep = f->depth > FRAME_LIMIT;
    if (deep)
        ptx_fault(g, i, (unsigned)__builtin_ctz(m), CUDA_ERROR_ILLEGAL_ADDRESS,
                  "stack overflow: %u calls deep", f->depth);
    if (deep || !reserve_local(g, i, f, m)) {
        free_frame(k, f);
        return NULL;
    }
    return f;
}

void ptx_frame_leave(struct warp *w, struct frame *f, lanes m)
{
    EACH_LANE(l, m)
        w->stack_top[l] = f->local_base[l];
    f->live &= ~m;
    if (!f->live)
        free_frame(w->team->worker, f);
}

/* ------------------------------------------------------------------ groups */
struct group *ptx_group_add(struct warp *w, struct frame *f, unsigned pc, lanes m)
{
    struct worker *k = w->team->worker;
    struct group *g = k->free_groups;
    if (g)
        k->free_groups = g->next_free;
    else
        g = checked(malloc(sizeof *g));
    *g = (struct group){ .warp = w, .frame = f, .pc = pc, .mask = m, .ran = w->turns };
    if (w->ngroups == w->room) {
        w->room = w->room ? 2 * w->room : 4;
        w->groups = checked(realloc(w->groups, w->room * sizeof *w->groups));
    }
    return w->groups[w->ngroups++] = g;
}

static void remove_group(struct warp *w, unsigned k)
{
    struct worker *worker = w->team->worker;
    w->groups[k]->next_free = worker->free_groups;
    worker->free_groups = w->groups[k];
    w->groups[k] = w->groups[--w->ngroups];
}

void ptx_group_retry(struct group *g, const struct instruction *i, lanes m)
{
    g->mask &= ~m;
    ptx_group_add(g->warp, g->frame, (unsigned)(i - g->frame->function->code), m);
    g->yield = true;
}

/* Frames of a group that exits inside of calls are left, too. */
void ptx_lanes_exit(struct group *g, lanes m)
{
    struct warp *w = g->warp;
    struct team *t = w->team;
    g->mask &= ~m;
    w->live &= ~m;
    t->live -= (unsigned)__builtin_popcount(m);
    g->yield = true;
    for (struct frame *f = g->frame, *next; f; f = next) {
        next = f->caller;
        ptx_frame_leave(w, f, m);
    }
    ptx_exit_release(w);
    for (unsigned b = 0; b < 16 && t->live; b++)
        ptx_barrier_check(t, b);
}

/* ------------------------------------------------------------------ a warp's turn */
static void join_groups(struct warp *w, struct group *g)
{
    for (unsigned k = w->ngroups; k-- > 0;) {
        struct group *o = w->groups[k];
        if (o == g || o->state != G_READY || o->frame != g->frame || o->pc != g->pc)
            continue;
        g->mask |= o->mask;
        remove_group(w, k);
    }
}

static bool comes_before(const struct group *a, const struct group *b)
{
    if (a->frame->depth != b->frame->depth)
        return a->frame->depth > b->frame->depth;
    return a->pc < b->pc;
}

static struct group *choose_group(struct warp *w)
{
    struct group *best = NULL, *oldest = NULL;
    unsigned ready = 0;
    uint64_t *random = &w->team->worker->random;
    for (unsigned k = w->ngroups; k-- > 0;)
        if (!w->groups[k]->mask)
            remove_group(w, k);
    for (unsigned k = 0; k < w->ngroups; k++) {
        struct group *g = w->groups[k];
        if (g->state != G_READY)
            continue;
        ready++;
        if (ptx_settings.scheduled ? ptx_random(random) % ready == 0
                                   : !best || comes_before(g, best))
            best = g;
        if (!oldest || g->ran < oldest->ran)
            oldest = g;
    }
    if (best && w->turns - oldest->ran > PATIENCE)
        best = oldest;
    if (best && w->ngroups > 1)
        join_groups(w, best);
    return best;
}

static void undefined_guard(struct group *g, const struct instruction *i, lanes bad)
{
    ptx_fault(g, i, (unsigned)__builtin_ctz(bad), CUDA_ERROR_LAUNCH_FAILED,
              "a branch depends on memory that was never written");
}

/* Up to `budget` instructions of one group. */
static unsigned run_group(struct group *g, unsigned budget)
{
    struct worker *k = g->warp->team->worker;
    unsigned left = budget;
    g->yield = false;
    while (left) {
        const struct instruction *i = &g->frame->function->code[g->pc++];
        lanes m = g->mask;
        left--;
        if (i->guard >= 0) {
            lanes p = g->frame->preds[i->guard], bad = g->frame->pred_poison[i->guard] & m;
            if (bad) {
                undefined_guard(g, i, bad);
                break;
            }
            m &= i->guard_negated ? ~p : p;
        }
        if (k->counters) {
            k->counters[i->index].warps++;
            k->counters[i->index].threads += (unsigned)__builtin_popcount(m);
        }
        if (i->uses)
            ptx_race_use(g, i, i->row->class == C_CONTROL ? g->mask : m);
        if (m)
            i->run(g, i, m);
        if (g->yield)
            break;
        if (g->warp->ngroups > 1 && g->frame->function->code[g->pc].is_target)
            break;
    }
    return budget - left;
}

/* ------------------------------------------------------------------ a team */
/* False when no group is ready. */
static bool run_warp(struct warp *w, unsigned budget)
{
    bool any = false;
    while (budget) {
        if (ptx_weak)
            ptx_weak_turn(w);
        struct group *g = choose_group(w);
        if (!g)
            break;
        any = true;
        g->ran = ++w->turns;
        unsigned n = run_group(g, budget);
        w->steps += n;
        budget -= n < budget ? n : budget;
        if (__atomic_load_n(&w->team->launch->error, __ATOMIC_RELAXED))
            break;
    }
    return any;
}

enum progress { P_GOES_ON, P_DONE };
static enum progress run_team(struct team *t)
{
    struct launch *l = t->launch;
    uint64_t *random = &t->worker->random;
    for (unsigned spent = 0; spent < TEAM_SLICE && t->live && !l->error;) {
        bool any = false;
        unsigned first = ptx_settings.scheduled ? (unsigned)ptx_random(random) % t->nwarps : 0;
        for (unsigned k = 0; k < t->nwarps && t->live && !l->error; k++) {
            unsigned slice =
                ptx_settings.scheduled ? 1 + (unsigned)ptx_random(random) % 200 : SLICE;
            any |= run_warp(&t->warps[(first + k) % t->nwarps], slice);
            spent += slice;
        }
        if (!any && t->live && !l->error)
            ptx_deadlock(t);
    }
    return t->live && !l->error ? P_GOES_ON : P_DONE;
}

static void start_warp(struct team *t, unsigned number)
{
    struct warp *w = &t->warps[number];
    unsigned threads = t->nthreads - number * WARP;
    w->team = t;
    w->number = number;
    w->live = threads >= WARP ? ALL_LANES : (1u << threads) - 1;
    struct group *g = ptx_group_add(w, NULL, 0, w->live);
    g->frame = ptx_frame_new(g, t->launch->entry->code, t->launch->entry, w->live);
    if (!g->frame)
        t->live = 0;
}

static void prepare_shared(struct team *t, size_t size)
{
    const struct function *f = t->launch->entry;
    memset(t->shared_shadow, SHADOW_NONE, size);
    for (unsigned i = 0; i < f->nreached; i++) {
        const struct variable *v = f->reached[i];
        unsigned char *s = t->shared_shadow + v->address;
        memset(s, SHADOW_UNDEFINED, v->size);
        memset(s + v->size, SHADOW_PADDING, v->room - v->size);
    }
    memset(t->shared_shadow + ((f->shared_end + 15) & ~15ull), SHADOW_UNDEFINED,
           t->launch->dynamic_shared);
}

static struct team *start_team(struct worker *k, unsigned number)
{
    struct launch *l = k->launch;
    struct team *t = checked(calloc(1, sizeof *t));
    size_t shared = ((l->entry->shared_end + 15) & ~15ull) + l->dynamic_shared + 16;
    t->launch = l;
    t->worker = k;
    t->number = number;
    t->id[0] = number % l->grid[0];
    t->id[1] = number / l->grid[0] % l->grid[1];
    t->id[2] = number / l->grid[0] / l->grid[1];
    t->nthreads = t->live = l->block[0] * l->block[1] * l->block[2];
    t->nwarps = (t->nthreads + WARP - 1) / WARP;
    t->warps = checked(calloc(t->nwarps, sizeof *t->warps));
    t->shared_size = shared;
    t->shared = checked(malloc(shared));
    t->shared_shadow = checked(malloc(shared));
    memset(t->shared, 0xa5, shared);
    prepare_shared(t, shared);
    t->local = checked(calloc(t->nwarps * WARP, sizeof *t->local));
    t->local_shadow = checked(calloc(t->nwarps * WARP, sizeof *t->local_shadow));
    t->local_room = checked(calloc(t->nwarps * WARP, sizeof *t->local_room));
    if (ptx_racing)
        ptx_race_team_begin(t);
    for (unsigned w = 0; w < t->nwarps && t->live; w++)
        start_warp(t, w);
    return t;
}

/* After a fault groups are where it found them. */
static void drop_groups(struct warp *w)
{
    while (w->ngroups) {
        struct group *g = w->groups[w->ngroups - 1];
        for (struct frame *f = g->mask ? g->frame : NULL, *next; f; f = next) {
            next = f->caller;
            ptx_frame_leave(w, f, g->mask);
        }
        remove_group(w, w->ngroups - 1);
    }
    free(w->groups);
}

static void end_team(struct team *t)
{
    if (ptx_racing)
        ptx_race_team_end(t);
    ptx_weak_team_end(t);
    for (unsigned w = 0; w < t->nwarps; w++) {
        drop_groups(&t->warps[w]);
        ptx_async_free(&t->warps[w]);
    }
    for (unsigned k = 0; k < t->nwarps * WARP; k++) {
        free(t->local[k]);
        free(t->local_shadow[k]);
    }
    free(t->local);
    free(t->local_shadow);
    free(t->local_room);
    free(t->shared);
    free(t->shared_shadow);
    free(t->warps);
    free(t);
}

/* ------------------------------------------------------------------ a launch */
static bool next_team(struct launch *l, unsigned *number)
{
    *number = __atomic_fetch_add(&l->next_team, 1, __ATOMIC_RELAXED);
    return *number < l->nteams && !__atomic_load_n(&l->error, __ATOMIC_RELAXED);
}

/* With a seed, the numbers are a permutation: teams start in an order of their own. */
static unsigned permuted(const struct launch *l, unsigned number)
{
    if (!ptx_settings.scheduled)
        return number;
    return (unsigned)((number + l->seed) % l->nteams);
}

/* A cooperative launch keeps all of its teams at work, another a few of them. */
static void run_worker(struct worker *k)
{
    unsigned n = 0, number, most = k->launch->cooperative ? k->launch->nteams : RESIDENT;
    struct team **teams = checked(malloc(most * sizeof *teams));
    bool more = true;
    while (more || n) {
        while (more && n < most && (more = next_team(k->launch, &number)))
            teams[n++] = start_team(k, permuted(k->launch, number));
        for (unsigned i = 0; i < n; i++)
            if (run_team(teams[i]) == P_DONE) {
                end_team(teams[i]);
                teams[i--] = teams[--n];
            }
    }
    free(teams);
}

static void *worker_thread(void *p)
{
    run_worker(p);
    return NULL;
}

static void free_worker(struct worker *k)
{
    while (k->free_frames) {
        struct frame *f = k->free_frames;
        k->free_frames = f->next_free;
        free(f->regs);
        free(f->poison);
        free(f->poison_bytes);
        free(f->preds);
        free(f->pred_poison);
        free(f->params);
        free(f->param_shadow);
        free(f);
    }
    while (k->free_groups) {
        struct group *g = k->free_groups;
        k->free_groups = g->next_free;
        free(g);
    }
    free(k->counters);
}

int ptx_run(struct launch *l)
{
    enum { MOST = 64 };
    struct worker workers[MOST] = { 0 };
    unsigned n = ptx_settings.workers < l->nteams ? ptx_settings.workers : l->nteams;
    unsigned instructions = l->entry->module->ninstructions;
    n = ptx_racing ? 1 : n < MOST ? n : MOST;
    if (ptx_racing)
        ptx_race_launch_begin(l);
    for (unsigned k = 0; k < n; k++) {
        workers[k] = (struct worker){ .launch = l, .random = l->seed * 31 + k };
        if (ptx_counting)
            workers[k].counters = checked(calloc(instructions, sizeof *workers[k].counters));
    }
    for (unsigned k = 1; k < n; k++)
        if (pthread_create(&workers[k].thread, NULL, worker_thread, &workers[k]))
            abort();
    run_worker(&workers[0]);
    for (unsigned k = 1; k < n; k++)
        pthread_join(workers[k].thread, NULL);
    for (unsigned k = 0; k < n; k++) {
        if (workers[k].counters)
            ptx_profile_launch(l, workers[k].counters);
        free_worker(&workers[k]);
    }
    if (ptx_racing)
        ptx_race_launch_end(l);
    return l->error;
}
