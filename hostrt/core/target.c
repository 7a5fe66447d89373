/* target.c - the calls from generated code: target regions and data constructs.
 *
 * The steady state of a region (kernel known, data present) is: enter its data (no lock, one
 * look-up per item: present.c), launch, synchronise, leave its data (the same).  Nothing is
 * allocated: the thread's state has room for addresses and parameters.
 *
 * A region that fails is fatal, unless the host runs it or it is tried again (failure.c).  What it
 * mapped is given back first, with nothing copied to the host: the program's exit handlers, or the
 * host's version, see its data as it was before the region.  Handlers may even run regions
 * themselves. */
#include <stdio.h>
#include <string.h>
#include "hostrt/core/running.h"

/* ------------------------------------------------------------------ private copies */
static int send_copy(const struct running *r, void *dst, const struct ompgpu_map *m)
{
    const struct ompgpu_plugin *plugin = r->dev->plugin;
    double start = r->task ? 0 : ompgpu_watch_clock();
    if (!m->size)
        return 0;
    if (r->task ? plugin->queue_to_device(r->dev->ordinal, r->task->queue->handle, dst, m->begin,
                                          m->size)
                : plugin->to_device(r->dev->ordinal, dst, m->begin, m->size))
        return -1;
    return ompgpu_watch_copy(&r->where, r->dev, true, m, m->size, start);
}

/* Copies of firstprivate aggregates: one buffer per thread serves all of a region. */
static int make_private_copies(struct running *r)
{
    size_t total = 0;
    void *memory;
    for (unsigned i = 0; i < r->nmaps; i++)
        if (r->maps[i].flags & OMPGPU_MAP_PRIVATE_COPY)
            total += (r->maps[i].size + 255) & ~(size_t)255;
    if (!total)
        return 0;
    if (ompgpu_copies_get(r->dev, r->buffers, total, &memory))
        return -1;
    for (unsigned i = 0; i < r->nmaps; i++) {
        const struct ompgpu_map *m = &r->maps[i];
        if (!(m->flags & OMPGPU_MAP_PRIVATE_COPY))
            continue;
        r->addresses[i] = (uintptr_t)memory - ((uintptr_t)m->begin - (uintptr_t)m->base);
        if (send_copy(r, memory, m)) {
            ompgpu_plugin_error("%s, %zu bytes: %s", m->name ? m->name : "?", m->size,
                                ompgpu_plugin_message());
            return -1;
        }
        memory = (char *)memory + ((m->size + 255) & ~(size_t)255);
    }
    return 0;
}

/* ------------------------------------------------------------------ launch */
enum { SMALL_HEAPS = 1 << 20 }; /* bytes that are not worth claiming */

/* What a team claims has the values of the team before: where reads of what has none are looked
 * for, teams have their own as long as that is no waste. */
static size_t small_heaps(const struct ompgpu_device *dev)
{
    enum { CHECKED_HEAPS = 64 << 20 };
    bool checked = dev->plugin == &ompgpu_emu_plugin && ompgpu_checks(OMPGPU_CHECK_UNINIT);
    return checked ? CHECKED_HEAPS : SMALL_HEAPS;
}

/* A heap for each team; where there are more teams than run at a time, for those, and not more than
 * an eighth of the device's memory.  Then teams claim a heap. */
static int get_heaps(struct running *r, struct ompgpu_geometry g, struct ompgpu_env *env)
{
    size_t eighth = r->dev->info.total_memory / 8;
    if (!env->heap_bytes)
        return 0;
    env->heap_places = g.teams;
    if (g.teams > 1 && g.teams * env->heap_bytes > small_heaps(r->dev)) {
        unsigned wave = ompgpu_wave(r->dev, r->function, g.threads);
        size_t room = eighth > env->heap_bytes ? eighth / env->heap_bytes : 1,
               most = wave < OMPGPU_PLACES ? wave : OMPGPU_PLACES;
        env->heap_places =
            g.teams <= room && g.teams <= most ? g.teams : (unsigned)(most < room ? most : room);
    }
    if (env->heap_places < g.teams && ompgpu_locks_get(r->dev, r->buffers, &env->heap_locks))
        return -1;
    return ompgpu_heap_get(r->dev, r->buffers, env->heap_places * env->heap_bytes, &env->heap);
}

/* They are the same for all launches of the region. */
static __attribute__((noinline)) int note_sizes(struct ompgpu_function *f,
                                                const struct ompgpu_param *params, unsigned n)
{
    uint32_t *sizes = ompgpu_xalloc((n + 1) * sizeof *sizes);
    const uint32_t *none = NULL;
    if (!sizes)
        return -1;
    for (unsigned i = 0; i < n; i++)
        sizes[i] = params[i].map < 0 ? params[i].size : (uint32_t)sizeof(uintptr_t);
    if (!__atomic_compare_exchange_n(&f->sizes, &none, sizes, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        ompgpu_xfree(sizes); /* another thread has done it */
    return 0;
}

/* Where the tiles of a scan are not known, or there is no memory for them, one team does it. */
static void prepare_scan(struct running *r, const struct ompgpu_launch *launch,
                         struct ompgpu_geometry *g, struct ompgpu_env *env)
{
    const unsigned warp = r->dev->info.warp_size;
    if (!launch->trip || g->threads % warp ||
        (g->teams > 1 &&
         ompgpu_scan_get(r->dev, r->buffers, (launch->trip - 1) / g->threads + 1, &env->scratch)))
        g->teams = 1;
}

/* Geometry, buffers and arguments of the launch. */
static int prepare_launch(struct running *r, struct ompgpu_region *region,
                          const struct ompgpu_param *params, unsigned nparams,
                          const struct ompgpu_launch *launch, struct ompgpu_geometry *g,
                          struct ompgpu_env *env, size_t *reduce)
{
    void **out = r->arguments;
    if (ompgpu_choose_form(r, region, params, launch, g, env))
        return -1;
    if (r->dev->plugin->wants_sizes && !__atomic_load_n(&r->function->sizes, __ATOMIC_ACQUIRE) &&
        note_sizes(r->function, params, nparams))
        return -1;
    *reduce = ((r->function->entry->reduce_bytes + (size_t)15) & ~(size_t)15) +
              launch->reduce_bytes + launch->copy_bytes * g->threads +
              (launch->copy_bytes ? ompgpu_guards_of(r->dev, g->threads) : 0);
    if (make_private_copies(r) || ompgpu_reverse_mailbox(r->dev, &env->mailbox))
        return -1;
    if (*reduce && ompgpu_scratch_get(r->dev, r->buffers, g->teams, *reduce, &env->scratch))
        return -1;
    if (launch->flags & OMPGPU_LAUNCH_SCAN)
        prepare_scan(r, launch, g, env);
    if (get_heaps(r, *g, env))
        return -1;
    *out++ = env;
    for (unsigned i = 0; i < nparams; i++)
        *out++ = params[i].map < 0 ? (void *)params[i].value : (void *)&r->addresses[params[i].map];
    *out = NULL;
    return 0;
}

/* last: nothing of the region is launched after it. */
static int run_kernel(struct running *r, struct ompgpu_region *region,
                      const struct ompgpu_param *params, unsigned nparams,
                      const struct ompgpu_launch *launch, bool last)
{
    struct ompgpu_geometry g;
    struct ompgpu_env env;
    size_t reduce;
    if (prepare_launch(r, region, params, nparams, launch, &g, &env, &reduce))
        return -1;
    double start = ompgpu_watch_clock();
    if (ompgpu_watched())
        ompgpu_stale_before(r->dev, &r->where, r->maps, r->nmaps);
    int bad;
    do {
        bad =
            r->dev->plugin->launch(r->dev->ordinal, r->function, g.teams, g.threads, r->arguments);
        r->launched |= !bad;
    } while (!bad && ompgpu_next_part(r->function, launch, g.threads, &env));
    if (!bad && last && r->thread->nexpected && !env.mailbox)
        ompgpu_back_prefetch(r->thread, r->dev);
    if (!bad && (last || ompgpu_watched()))
        bad = r->dev->plugin->sync(r->dev->ordinal);
    if (ompgpu_watched() && !bad) {
        ompgpu_watch_launch(&r->where, r->dev, r->function, g, start, false);
        ompgpu_watch_reduction(&r->where, r->dev, r->function, g, g.teams * reduce);
    }
    if (ompgpu_watched())
        ompgpu_stale_after(r->dev);
    return bad;
}

static int find_kernel(struct running *r, const struct ompgpu_phase *p)
{
    return ompgpu_function_get(p->region, r->dev, OMPGPU_FORM_KERNEL, &r->function);
}

/* The loop that the phase is in, or NULL. */
static const struct ompgpu_repeat *loop_around(const struct sequence *s, unsigned phase)
{
    for (unsigned i = 0; i < s->nrepeats; i++)
        if (phase >= s->repeats[i].first && phase < s->repeats[i].end)
            return &s->repeats[i];
    return NULL;
}

/* Phases [first, end); last: nothing is launched after them. */
static __attribute__((noinline)) int run_in_order(struct running *r, unsigned first, unsigned end,
                                                  const struct ompgpu_param *params,
                                                  unsigned nparams, bool last)
{
    int bad = 0;
    for (unsigned i = first; i < end && !bad; i++) {
        const struct ompgpu_phase *p = &r->sequence->phases[i];
        r->where = ompgpu_at_region(p->region);
        bad = find_kernel(r, p) ||
              run_kernel(r, p->region, params, nparams, p->launch, last && i + 1 == end);
    }
    return bad;
}

static int run_repeat(struct running *r, const struct ompgpu_repeat *repeat, bool last)
{
    int bad = 0;
    for (unsigned long long k = 0; k < repeat->times && !bad; k++) {
        *repeat->counter = (unsigned long long)repeat->from + k * (unsigned long long)repeat->step;
        bad = run_in_order(r, repeat->first, repeat->end, repeat->params, repeat->nparams,
                           last && k + 1 == repeat->times);
    }
    return bad;
}

/* Where the last phase may not be run at all, nothing waits for the device. */
static bool may_end_early(const struct sequence *s)
{
    const struct ompgpu_repeat *last = s->nrepeats ? &s->repeats[s->nrepeats - 1] : NULL;
    return last && last->end == s->nphases && !last->times;
}

/* Buffers grow before the first kernel is launched: none that one uses is given back. */
static int prepare_phases(struct running *r, const struct ompgpu_param *params, unsigned nparams)
{
    const struct sequence *s = r->sequence;
    int bad = 0;
    for (unsigned i = 0; i < s->nphases && !bad; i++) {
        const struct ompgpu_phase *p = &s->phases[i];
        const struct ompgpu_repeat *loop = loop_around(s, i);
        struct ompgpu_geometry g;
        struct ompgpu_env env;
        size_t reduce;
        bad = find_kernel(r, p) ||
              prepare_launch(r, p->region, loop ? loop->params : params,
                             loop ? loop->nparams : nparams, p->launch, &g, &env, &reduce);
    }
    return bad;
}

static __attribute__((noinline)) int run_phases(struct running *r,
                                                const struct ompgpu_param *params, unsigned nparams)
{
    const struct sequence *s = r->sequence;
    const struct ompgpu_where whole = r->where;
    int bad = prepare_phases(r, params, nparams);
    unsigned at = 0;
    for (unsigned i = 0; i < s->nrepeats && !bad; i++) {
        const struct ompgpu_repeat *loop = &s->repeats[i];
        bad = run_in_order(r, at, loop->first, params, nparams, false) ||
              run_repeat(r, loop, loop->end == s->nphases);
        at = loop->end;
    }
    bad = bad || run_in_order(r, at, s->nphases, params, nparams, true);
    if (!bad && may_end_early(s))
        bad = r->dev->plugin->sync(r->dev->ordinal);
    if (!bad)
        r->where = whole;
    return bad;
}

static int run_region(struct running *r, struct ompgpu_region *region,
                      const struct ompgpu_param *params, unsigned nparams,
                      const struct ompgpu_launch *launch)
{
    return r->sequence ? run_phases(r, params, nparams)
                       : run_kernel(r, region, params, nparams, launch, true);
}

/* The same as __ompgpu_target(), but that all of it is put into the task's queue. */
int ompgpu_region_enqueue(struct ompgpu_task *t)
{
    struct running r = { .dev = t->dev,
                         .task = t,
                         .buffers = &t->queue->buffers,
                         .addresses = t->addresses,
                         .arguments = t->arguments,
                         .function = t->function,
                         .maps = t->maps,
                         .nmaps = t->nmaps,
                         .where = t->where };
    size_t reduce;
    if (t->nmaps && ompgpu_data_enter(t->dev, &t->where, t->maps, t->nmaps, t->addresses, t))
        return -1;
    if (prepare_launch(&r, t->region, t->params, t->nparams, &t->launch, &t->geometry, &t->env,
                       &reduce))
        return -1;
    t->function = r.function;
    if (t->dev->plugin->queue_launch(t->dev->ordinal, t->queue->handle, t->function,
                                     t->geometry.teams, t->geometry.threads, t->arguments))
        return -1;
    if (ompgpu_watched())
        ompgpu_watch_reduction(&t->where, t->dev, t->function, t->geometry,
                               t->geometry.teams * reduce);
    return t->nmaps ? ompgpu_data_exit(t->dev, &t->where, t->maps, t->nmaps, OMPGPU_LEAVE_REGION, t)
                    : 0;
}

/* Gives back what the region has entered, with nothing copied. */
static void leave_failed(struct running *r, const struct ompgpu_given *given, char *text,
                         size_t size)
{
    char source[512] = "", nearest[512] = ""; /* what comes first matters */
    uintptr_t address;
    int n = snprintf(text, size, "%s", ompgpu_plugin_message());
    if (r->dev->plugin->fault && r->dev->plugin->fault(&address)) {
        ompgpu_data_source(r->dev, address, given, source, sizeof source);
        ompgpu_data_nearest(r->dev, address, NULL, nearest, sizeof nearest);
    }
    struct ompgpu_where where = r->where;
    ompgpu_data_exit(r->dev, &where, r->maps, r->nmaps, OMPGPU_LEAVE_DISCARD, NULL);
    ompgpu_scratch_drop(r->dev, r->buffers);
    if (n >= 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, "%s%s", source, nearest);
}

/* Has the device anything that the host's version of the region may have to see?  A kernel may use
 * declare target variables, and what omp_target_alloc gave, which are not among its items. */
static bool device_has_data(const struct running *r)
{
    pthread_mutex_lock(&r->dev->lock);
    bool any = r->dev->allocations.count || __atomic_load_n(&ompgpu_generation, __ATOMIC_ACQUIRE);
    pthread_mutex_unlock(&r->dev->lock);
    return any || ompgpu_data_any_present(r->dev, r->maps, r->nmaps);
}

/* true: once more, on the device.  Otherwise the host runs it, or the program ends. */
static __attribute__((noinline)) bool region_failed(const struct running *r, const char *reason,
                                                    unsigned attempt)
{
    bool has_data = device_has_data(r), intact = !has_data || !r->launched;
    unsigned possible = intact ? 1u << OMPGPU_RETRY : 0;
    if (!has_data || (intact && ompgpu_can_rescue(r->dev)))
        possible |= 1u << OMPGPU_HOST;
    if (ompgpu_recover(&r->where, r->dev, reason, attempt, possible) == OMPGPU_RETRY)
        return true;
    ompgpu_failed_to_host(&r->where, reason);
    if (has_data && ompgpu_rescue(r->dev, &r->where))
        ompgpu_fatal(&r->where, "%s", ompgpu_plugin_message());
    return false;
}

/* No image for the device: the host may run the region, unless its data is on the device already.
 */
static __attribute__((noinline)) int run_without_image(const struct running *r,
                                                       const struct ompgpu_region *region)
{
    if (ompgpu_data_any_present(r->dev, r->maps, r->nmaps))
        ompgpu_fatal(&r->where,
                     "its data is mapped on device %d (%s), but its file has no image for that "
                     "device: compile "
                     "it with --gpu-arch= for this device",
                     r->dev->number, r->dev->info.name);
    ompgpu_on_host(&r->where,
                   ompgpu_unit_not_linked(region->unit)
                       ? "its file uses device code of other files and was not "
                         "device-linked: link with ompgpu-cc"
                       : "its file has no image that suits the device (--gpu-arch= adds one)");
    return 1;
}

static int keep_reason(char *reason, size_t size)
{
    snprintf(reason, size, "%s", ompgpu_plugin_message());
    return -1;
}

/* 0: done; else why not, and for the host all is as if it had never begun. */
static int try_region(struct running *r, struct ompgpu_region *region,
                      const struct ompgpu_param *params, unsigned nparams,
                      const struct ompgpu_launch *launch, char *reason, size_t size)
{
    r->thread->results = 0, r->thread->nexpected = 0;
    r->launched = false;
    int bad;
    if (ompgpu_thread_room(r->thread, r->nmaps, nparams + 3))
        return keep_reason(reason, size);
    r->addresses = r->thread->addresses, r->arguments = r->thread->params;
    if (r->nmaps &&
        (bad = ompgpu_data_enter(r->dev, &r->where, r->maps, r->nmaps, r->addresses, NULL))) {
        if (bad == OMPGPU_MISTAKE)
            ompgpu_fatal(&r->where, "%s", ompgpu_plugin_message());
        return keep_reason(reason, size);
    }
    bad = run_region(r, region, params, nparams, launch) ||
          (r->nmaps &&
           ompgpu_data_exit(r->dev, &r->where, r->maps, r->nmaps, OMPGPU_LEAVE_REGION, NULL));
    r->thread->nexpected = 0;
    if (bad)
        leave_failed(r,
                     &(struct ompgpu_given){ region, launch, params, r->maps, nparams, r->nmaps },
                     reason, size);
    return bad ? -1 : 0;
}

/* 1: the host is to run it. */
static int run_or_fail(struct running *r, struct ompgpu_region *region, int found,
                       const struct ompgpu_param *params, unsigned nparams,
                       const struct ompgpu_launch *launch)
{
    char reason[1536];
    for (unsigned attempt = 1;
         found ? keep_reason(reason, sizeof reason)
               : try_region(r, region, params, nparams, launch, reason, sizeof reason);
         attempt++) {
        if (!region_failed(r, reason, attempt))
            return 1;
        found = ompgpu_function_get(region, r->dev, OMPGPU_FORM_KERNEL, &r->function);
    }
    return 0;
}

static inline __attribute__((always_inline)) int
run_target(struct ompgpu_region *region, const struct ompgpu_map *maps, unsigned nmaps,
           const struct ompgpu_param *params, unsigned nparams, const struct ompgpu_launch *launch,
           const struct sequence *sequence)
{
    struct running r = {
        .maps = maps, .nmaps = nmaps, .where = ompgpu_at_region(region), .sequence = sequence
    };
    if (!(r.dev = ompgpu_device_get(&r.where, launch->device)))
        return 1;
    int found = ompgpu_function_get(region, r.dev, OMPGPU_FORM_KERNEL, &r.function);
    if (__builtin_expect(found > 0, 0))
        return run_without_image(&r, region);
    if (!(r.thread = ompgpu_self()))
        ompgpu_fatal(&r.where, "%s", ompgpu_plugin_message());
    if (__builtin_expect(ompgpu_has_tool, 0))
        ompgpu_tool_begin(OMPGPU_TOOL_TARGET, r.dev, __builtin_return_address(0));
    r.buffers = &r.thread->devices[r.dev->number];
    int on_host =
        ompgpu_is_rescued(r.dev) || run_or_fail(&r, region, found, params, nparams, launch);
    if (ompgpu_is_rescued(r.dev))
        ompgpu_rescued_begin(r.dev, &r.where, maps, nmaps, params, nparams);
    ompgpu_tool_end(OMPGPU_TOOL_TARGET, r.dev);
    return on_host;
}

int __ompgpu_target(struct ompgpu_region *region, const struct ompgpu_map *maps, unsigned nmaps,
                    const struct ompgpu_param *params, unsigned nparams,
                    const struct ompgpu_launch *launch)
{
    return run_target(region, maps, nmaps, params, nparams, launch, NULL);
}

/* A launch takes as long as one team takes for some thousand iterations. */
static bool is_worth_launches(const struct sequence *s)
{
    enum { WORTH_A_LAUNCH = 4096 };
    double trips = 0, launches = 0;
    for (unsigned i = 0; i < s->nphases; i++) {
        const struct ompgpu_repeat *loop = loop_around(s, i);
        const double times = loop ? (double)loop->times : 1;
        trips += times * (double)s->phases[i].launch->trip;
        launches += times;
    }
    return trips >= launches * WORTH_A_LAUNCH;
}

int __ompgpu_target_repeated(struct ompgpu_region *region, const struct ompgpu_map *maps,
                             unsigned nmaps, const struct ompgpu_param *params, unsigned nparams,
                             const struct ompgpu_launch *launch, const struct ompgpu_phase *phases,
                             unsigned n, const struct ompgpu_repeat *repeats, unsigned nrepeats)
{
    const struct sequence s = { phases, n, repeats, nrepeats };
    return run_target(region, maps, nmaps, params, nparams, launch,
                      is_worth_launches(&s) ? &s : NULL);
}

int __ompgpu_target_phases(struct ompgpu_region *region, const struct ompgpu_map *maps,
                           unsigned nmaps, const struct ompgpu_param *params, unsigned nparams,
                           const struct ompgpu_launch *launch, const struct ompgpu_phase *phases,
                           unsigned n)
{
    return __ompgpu_target_repeated(region, maps, nmaps, params, nparams, launch, phases, n, NULL,
                                    0);
}

/* ------------------------------------------------------------------ data constructs */
/* A data construct on its device, NULL: the host, which has nothing to do. */
static struct ompgpu_device *begin_data(const struct ompgpu_where *where, long number,
                                        enum ompgpu_tool_kind kind, const void *code)
{
    struct ompgpu_device *dev = ompgpu_device_get(where, number);
    if (dev && !ompgpu_self())
        ompgpu_fatal(where, "%s", ompgpu_plugin_message());
    if (dev)
        ompgpu_tool_begin(kind, dev, code);
    return dev;
}

/* Returns for another attempt. */
static void data_failed(const struct ompgpu_where *where, struct ompgpu_device *dev,
                        const char *reason, unsigned attempt)
{
    unsigned possible = 1u << OMPGPU_RETRY | (ompgpu_can_rescue(dev) ? 1u << OMPGPU_HOST : 0);
    if (ompgpu_recover(where, dev, reason, attempt, possible) == OMPGPU_RETRY)
        return;
    ompgpu_failed_to_host(where, reason);
    if (ompgpu_rescue(dev, where))
        ompgpu_fatal(where, "%s", ompgpu_plugin_message());
}

/* A construct that fails has changed nothing. */
typedef int data_action(struct ompgpu_device *, struct ompgpu_where *, const struct ompgpu_map *,
                        unsigned);

static void run_data(const struct ompgpu_where *at, struct ompgpu_device *dev,
                     const struct ompgpu_map *maps, unsigned n, data_action *run)
{
    struct ompgpu_where where = *at;
    int bad;
    for (unsigned attempt = 1; (bad = run(dev, &where, maps, n)); attempt++) {
        char reason[1024];
        keep_reason(reason, sizeof reason);
        if (bad == OMPGPU_MISTAKE)
            ompgpu_fatal(&where, "%s", reason);
        data_failed(&where, dev, reason, attempt);
        where = *at;
    }
}

static int enter_data(struct ompgpu_device *dev, struct ompgpu_where *where,
                      const struct ompgpu_map *maps, unsigned n)
{
    return ompgpu_data_enter(dev, where, maps, n, NULL, NULL);
}
static int end_data(struct ompgpu_device *dev, struct ompgpu_where *where,
                    const struct ompgpu_map *maps, unsigned n)
{
    return ompgpu_data_exit(dev, where, maps, n, OMPGPU_LEAVE_REGION, NULL);
}
static int exit_data(struct ompgpu_device *dev, struct ompgpu_where *where,
                     const struct ompgpu_map *maps, unsigned n)
{
    return ompgpu_data_exit(dev, where, maps, n, OMPGPU_LEAVE_DATA, NULL);
}
static int update_data(struct ompgpu_device *dev, struct ompgpu_where *where,
                       const struct ompgpu_map *maps, unsigned n)
{
    return ompgpu_data_update(dev, where, maps, n, NULL);
}

/* code: where the program called. */
static void data_construct(const struct ompgpu_place *place, long device,
                           const struct ompgpu_map *maps, unsigned n, enum ompgpu_tool_kind kind,
                           const void *code, data_action *run)
{
    struct ompgpu_where where = ompgpu_at_place(place);
    struct ompgpu_device *dev = begin_data(&where, device, kind, code);
    if (!dev)
        return;
    run_data(&where, dev, maps, n, run);
    ompgpu_tool_end(kind, dev);
}

void __ompgpu_data_begin(const struct ompgpu_place *place, long device,
                         const struct ompgpu_map *maps, unsigned n)
{
    data_construct(place, device, maps, n, OMPGPU_TOOL_ENTER, __builtin_return_address(0),
                   enter_data);
}

void __ompgpu_data_end(const struct ompgpu_place *place, long device, const struct ompgpu_map *maps,
                       unsigned n)
{
    data_construct(place, device, maps, n, OMPGPU_TOOL_EXIT, __builtin_return_address(0),
                   place->construct == OMPGPU_EXIT_DATA ? exit_data : end_data);
}

void __ompgpu_data_update(const struct ompgpu_place *place, long device,
                          const struct ompgpu_map *maps, unsigned n)
{
    const struct ompgpu_chunk *chunk = ompgpu_chunk_at(place->line);
    if (chunk && ompgpu_chunk_update(chunk, place, device, maps, n))
        return;
    data_construct(place, device, maps, n, OMPGPU_TOOL_UPDATE, __builtin_return_address(0),
                   update_data);
}

void *__ompgpu_use_device(long device, const void *host)
{
    static const struct ompgpu_where where = { .directive = "use_device" };
    struct ompgpu_device *dev = ompgpu_device_get(&where, device);
    uintptr_t address = dev ? ompgpu_data_translate(dev, (uintptr_t)host) : 0;
    if (address)
        ompgpu_expose(dev, address);
    return address ? (void *)address : (void *)host;
}

/* ------------------------------------------------------------------ uses_allocators */
/* Of omp_alloctrait_key_t and omp_alloctrait_value_t. */
enum { KEY_ALIGNMENT = 2, KEY_ACCESS, KEY_POOL_SIZE, KEY_FALLBACK, KEY_FALLBACK_DATA };
enum { FALLBACK_DEFAULT = 11, FALLBACK_ALLOCATOR = 14 };
_Static_assert(sizeof(struct __ompgpu_traits) == OMPGPU_ALLOCATOR_BYTES,
               "what the host and the device call an allocator differs");
/* No allocator that the program has made on the host is one of the device. */
enum { MOST_PREDEFINED = 1 << 16, DEFAULT_ALLOCATOR = 1 };

struct __ompgpu_traits __ompgpu_read_traits(const void *traits, size_t n)
{
    const struct {
        int key;
        uintptr_t value;
    } *t = traits;
    struct __ompgpu_traits a = { .align = 1, .pool = ~0ull, .fallback = FALLBACK_DEFAULT };
    for (size_t i = 0; i < n; i++)
        switch (t[i].key) {
        case KEY_ALIGNMENT:
            if (t[i].value && !(t[i].value & (t[i].value - 1)))
                a.align = t[i].value;
            break;
        case KEY_ACCESS: a.access = t[i].value; break;
        case KEY_POOL_SIZE: a.pool = t[i].value; break;
        case KEY_FALLBACK:
            if (t[i].value <= FALLBACK_ALLOCATOR)
                a.fallback = t[i].value;
            break;
        case KEY_FALLBACK_DATA: a.next = t[i].value; break;
        default: break;
        }
    if (a.next == 0 || a.next >= MOST_PREDEFINED)
        a.next = DEFAULT_ALLOCATOR;
    return a;
}

/* Bits of a handle of earlier versions: the logarithm of the alignment in the lowest. */
enum { HANDLE = 1 << 16, ABORTS = 1 << 8 };

uintptr_t __ompgpu_allocator(const void *traits, size_t n)
{
    enum { ALIGNMENT = 2, POOL_SIZE = 4, FALLBACK = 5, DEFAULT_FALLBACK = 11, ABORT = 13 };
    static const struct ompgpu_where where = { .directive = "uses_allocators" };
    const struct {
        int key;
        uintptr_t value;
    } *t = traits;
    uintptr_t handle = HANDLE, fallback = DEFAULT_FALLBACK;
    bool pool = false;
    for (size_t i = 0; i < n; i++) {
        if (t[i].key == ALIGNMENT && t[i].value && !(t[i].value & (t[i].value - 1)))
            handle |= (uintptr_t)__builtin_ctzl(t[i].value);
        if (t[i].key == FALLBACK)
            fallback = t[i].value;
        pool |= t[i].key == POOL_SIZE;
    }
    if (pool && fallback != DEFAULT_FALLBACK)
        ompgpu_fatal(&where, "trait pool_size is only supported with the fallback default_mem_fb");
    return fallback == ABORT ? handle | ABORTS : handle;
}
