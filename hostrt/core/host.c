/* host.c - a target region that runs on the host: it has an initial thread and internal control
 * variables of its own (section 2 of OpenMP 5.2).
 *
 * clang runs it as a block of the encountering thread.  So the variables get their initial values
 * around it; and where that thread is in a parallel region, generated code runs it in a team of one
 * thread, unless it has teams (codegen/c/host/version.c), which the routines below take for the
 * initial one.  Only that thread knows: others, in parallel regions inside, count the levels around
 * it, too.
 *
 * LLVM's OpenMP library has no teams inside of a parallel region: there it takes the threads of
 * that for teams, or ends the program.  So the calls with which clang's code begins a teams region
 * pass through here, and such a league runs on a new OS thread, an initial thread, for which the
 * encountering one waits. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include "hostrt/core/core.h"

#pragma GCC visibility push(default)
int omp_in_parallel(void);
int omp_get_level(void);
int omp_get_active_level(void);
int omp_get_ancestor_thread_num(int level);
int omp_get_team_size(int level);
/* Weak: a program that is linked with the library's archive keeps the library's own. */
typedef void league_body(int *thread, int *team, ...);
__attribute__((weak)) void __kmpc_push_num_teams(void *place, int thread, int teams, int limit);
__attribute__((weak)) void __kmpc_push_num_teams_51(void *place, int thread, int lower, int upper,
                                                    int limit);
__attribute__((weak)) void __kmpc_fork_teams(void *place, int n, league_body *, ...);
#pragma GCC visibility pop

/* libomp's; NULL where the program has none. */
static struct {
    int (*in_parallel)(void), (*level)(void), (*active_level)(void);
    int (*ancestor)(int), (*team_size)(int);
    int (*max_threads)(void), (*dynamic)(void), (*max_active_levels)(void);
    void (*schedule)(int *, int *);
    void (*set_threads)(int), (*set_dynamic)(int), (*set_max_active_levels)(int);
    void (*set_schedule)(int, int);
    int (*thread)(void *);
    void (*push_teams)(void *, int, int, int), (*push_bounds)(void *, int, int, int, int);
    void (*fork_teams)(void *, int, league_body *, ...);
    int (*invoke)(league_body *, int, int, int, void **, void **);
} libomp;
static const struct {
    const char *name;
    void *pointer;
} routines[] = {
    { "omp_in_parallel", &libomp.in_parallel },
    { "omp_get_level", &libomp.level },
    { "omp_get_active_level", &libomp.active_level },
    { "omp_get_ancestor_thread_num", &libomp.ancestor },
    { "omp_get_team_size", &libomp.team_size },
    { "omp_get_max_threads", &libomp.max_threads },
    { "omp_get_dynamic", &libomp.dynamic },
    { "omp_get_max_active_levels", &libomp.max_active_levels },
    { "omp_get_schedule", &libomp.schedule },
    { "omp_set_num_threads", &libomp.set_threads },
    { "omp_set_dynamic", &libomp.set_dynamic },
    { "omp_set_max_active_levels", &libomp.set_max_active_levels },
    { "omp_set_schedule", &libomp.set_schedule },
    { "__kmpc_global_thread_num", &libomp.thread },
    { "__kmpc_push_num_teams", &libomp.push_teams },
    { "__kmpc_push_num_teams_51", &libomp.push_bounds },
    { "__kmpc_fork_teams", &libomp.fork_teams },
    { "__kmp_invoke_microtask", &libomp.invoke },
};
static bool complete; /* all are there */
static struct ompgpu_host_icvs initial;

static struct ompgpu_host_icvs read_icvs(void)
{
    struct ompgpu_host_icvs v = { .threads = libomp.max_threads(),
                                  .dynamic = libomp.dynamic(),
                                  .levels = libomp.max_active_levels() };
    libomp.schedule(&v.schedule, &v.chunk);
    return v;
}

static void write_icvs(const struct ompgpu_host_icvs *v)
{
    libomp.set_threads(v->threads);
    libomp.set_dynamic(v->dynamic);
    libomp.set_max_active_levels(v->levels);
    libomp.set_schedule(v->schedule, v->chunk);
}

/* A new thread has the initial values. */
static void *read_initial(void *unused)
{
    initial = read_icvs();
    return unused;
}

static void find_routines(void)
{
    complete = true;
    for (size_t i = 0; i < sizeof routines / sizeof *routines; i++) {
        void *f = dlsym(RTLD_NEXT, routines[i].name);
        __builtin_memcpy(routines[i].pointer, &f, sizeof f);
        complete &= f != NULL;
    }
}

void ompgpu_host_find(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_routines);
}

/* This thread must be known to libomp before the other: where a tool listens, libomp 22 looks at
 * the thread that has come first, which must not have gone (__kmpc_end_critical). */
static void begin_libomp(void)
{
    pthread_t thread;
    if (complete)
        libomp.thread(NULL);
    if (complete &&
        (pthread_create(&thread, NULL, read_initial, NULL) || pthread_join(thread, NULL)))
        initial = read_icvs();
}

static bool have_libomp(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    ompgpu_host_find();
    pthread_once(&once, begin_libomp);
    return complete;
}

static _Thread_local const struct ompgpu_host *innermost;

/* What libomp counts of the levels around the innermost region. */
static int levels_around(void)
{
    return innermost && libomp.level() >= innermost->level ? innermost->level : 0;
}

/* ------------------------------------------------------------------ leagues */
struct sizes {
    bool given;
    int teams, limit;
};
struct league {
    void *place;
    league_body *body;
    int n;
    void **arguments; /* n */
    struct sizes sizes;
    struct ompgpu_host_icvs icvs;
    unsigned begun; /* teams; atomic */
};
static _Thread_local struct sizes next; /* of the next league that gets a thread */

/* Does a league that begins now need a thread of its own? */
static bool is_in_parallel(void) { return have_libomp() && innermost && libomp.level() > 0; }

static void push_teams(void *place, int thread, int teams, int limit)
{
    if (is_in_parallel())
        next = (struct sizes){ true, teams, limit };
    else
        libomp.push_teams(place, thread, teams, limit);
}

static void push_bounds(void *place, int thread, int lower, int upper, int limit)
{
    if (is_in_parallel())
        next = (struct sizes){ true, upper, limit };
    else
        libomp.push_bounds(place, thread, lower, upper, limit);
}

static void run_team(int *thread, int *team, ...)
{
    void *frame = NULL;
    va_list list;
    va_start(list, team);
    struct league *l = va_arg(list, struct league *);
    va_end(list);
    /* TSan does not see the league's threads begin and end: they read it between these two */
    league_body *body = __atomic_load_n(&l->body, __ATOMIC_ACQUIRE);
    const int n = l->n;
    void **arguments = l->arguments;
    __atomic_add_fetch(&l->begun, 1, __ATOMIC_RELEASE);
    libomp.invoke(body, *thread, *team, n, arguments, &frame);
}

static void *run_league(void *league)
{
    struct league *l = league;
    write_icvs(&l->icvs);
    if (l->sizes.given)
        libomp.push_teams(l->place, libomp.thread(l->place), l->sizes.teams, l->sizes.limit);
    libomp.fork_teams(l->place, 1, run_team, l);
    return NULL;
}

static void run_on_thread(struct league *l)
{
    pthread_t thread;
    l->icvs = read_icvs();
    l->sizes = next;
    next.given = false;
    if (pthread_create(&thread, NULL, run_league, l))
        ompgpu_fatal(NULL, "there is no thread for a teams region on the host that was "
                           "encountered in a parallel region");
    pthread_join(thread, NULL);
}

static void fork_teams(void *place, int n, league_body *body, ...)
{
    void **arguments = __builtin_alloca(((size_t)n + 1) * sizeof *arguments);
    struct league l = { .place = place, .n = n, .arguments = arguments };
    va_list list;
    va_start(list, body);
    for (int i = 0; i < n; i++)
        arguments[i] = va_arg(list, void *);
    va_end(list);
    __atomic_store_n(&l.body, body, __ATOMIC_RELEASE);
    if (is_in_parallel())
        run_on_thread(&l);
    else
        libomp.fork_teams(place, 1, run_team, &l);
    (void)__atomic_load_n(&l.begun, __ATOMIC_ACQUIRE); /* they have, all */
}

void __kmpc_push_num_teams(void *, int, int, int) __attribute__((alias("push_teams")));
void __kmpc_push_num_teams_51(void *, int, int, int, int) __attribute__((alias("push_bounds")));
void __kmpc_fork_teams(void *, int, league_body *, ...) __attribute__((alias("fork_teams")));

/* ------------------------------------------------------------------ around the region */

void __ompgpu_host_begin(struct ompgpu_host *h, const struct ompgpu_place *place, unsigned flags)
{
    h->level = 1; /* to be sure */
    if (!have_libomp())
        return;
    struct ompgpu_where where = ompgpu_at_place(place);
    if ((flags & OMPGPU_HOST_TEAMS) && libomp.level() > 0 && __kmpc_fork_teams != fork_teams)
        ompgpu_fatal(&where,
                     "on the host, the OpenMP library has no teams inside of a parallel region");
    h->icvs = read_icvs();
    write_icvs(&initial);
    h->outer = innermost;
    h->level = h->active_level = 0;
    const int level = libomp.level();
    if ((flags & OMPGPU_HOST_NESTED) || ((flags & OMPGPU_HOST_ALONE) && level > 0)) {
        h->level = level + 1; /* with the team of one thread */
        h->active_level = libomp.active_level();
    }
    innermost = h;
}

void __ompgpu_host_end(struct ompgpu_host *h)
{
    ompgpu_rescued_end();
    if (!have_libomp())
        return;
    innermost = h->outer;
    write_icvs(&h->icvs);
}

void __ompgpu_no_host_version(const struct ompgpu_place *place)
{
    struct ompgpu_where where = ompgpu_at_place(place);
    ompgpu_fatal(&where, "the region is to run on the host, and with device_type(nohost) it has "
                         "no version for that");
}

/* ------------------------------------------------------------------ routines
 * Whichever OpenMP library the program has; GCC's, too, which has not all that is looked for. */
int omp_get_level(void)
{
    have_libomp();
    return libomp.level ? libomp.level() - levels_around() : 0;
}

int omp_get_active_level(void)
{
    have_libomp();
    int level = libomp.active_level ? libomp.active_level() : 0;
    return innermost && level >= innermost->active_level ? level - innermost->active_level : level;
}

int omp_get_ancestor_thread_num(int level)
{
    have_libomp();
    if (!libomp.ancestor || level < 0)
        return level == 0 ? 0 : -1;
    return libomp.ancestor(level + levels_around());
}

int omp_get_team_size(int level)
{
    have_libomp();
    if (!libomp.team_size || level < 0)
        return level == 0 ? 1 : -1;
    return libomp.team_size(level + levels_around());
}

int omp_in_parallel(void)
{
    have_libomp();
    if (innermost && innermost->level)
        return omp_get_active_level() > 0;
    return libomp.in_parallel && libomp.in_parallel();
}
