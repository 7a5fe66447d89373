/* pool.c - the OS threads that run teams.
 *
 * A launch takes part in its own work: the host thread that launches runs teams until none is left,
 * and threads of the pool that are idle help.  So a launch never waits for the pool, and any number
 * of host threads may launch at once.  Teams are handed out by one atomic counter a launch, a few
 * at a time.  Pool threads are started when a launch has work for them, and end at exit. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "hostrt/emu/emu.h"

#ifdef EMU_TSAN
void *__tsan_get_current_fiber(void);
#endif

static struct {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t work;  /* a launch was added, or stop */
    struct emu_launch *launches;
    pthread_t *threads;
    unsigned nthreads;
    unsigned idle;
    bool stop;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER };
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t worker_key;

/* ------------------------------------------------------------------ workers */
static void drop_shared(struct emu_worker *w)
{
    if (w->shared)
        munmap(w->shared, w->shared_room);
    w->shared = NULL;
    w->shared_room = 0;
}

/* For debuggers (emu/waits.c). */
static void enter_list(struct emu_worker *w)
{
    w->number = (int)gettid();
    pthread_mutex_lock(&pool.lock);
    w->next = ompgpu_debug_workers;
    ompgpu_debug_workers = w;
    pthread_mutex_unlock(&pool.lock);
}

static void leave_list(struct emu_worker *w)
{
    pthread_mutex_lock(&pool.lock);
    for (struct emu_worker **at = &ompgpu_debug_workers; *at; at = &(*at)->next)
        if (*at == w) {
            *at = w->next;
            break;
        }
    pthread_mutex_unlock(&pool.lock);
}

static void worker_free(void *p)
{
    struct emu_worker *w = p;
    ompgpu_emu_worker = NULL;
    leave_list(w);
    ompgpu_emu_fiber_fini(w);
    if (w->signal_stack)
        munmap(w->signal_stack, w->signal_stack_size);
    if (w->frames)
        munmap(w->frames, w->frames_size);
    drop_shared(w);
    if (w->records)
        munmap(w->records, EMU_MAX_THREADS * sizeof *w->records);
    ompgpu_xfree(w->threads);
    ompgpu_xfree(w->order);
    ompgpu_xfree(w->rendezvous);
    ompgpu_xfree(w->value);
    ompgpu_xfree(w->queues);
    ompgpu_xfree(w);
}

/* A child has none of the pool's threads, and none of the launches. */
void ompgpu_emu_pool_fork(enum ompgpu_fork when)
{
    if (when == OMPGPU_FORK_BEFORE) {
        pthread_mutex_lock(&pool.lock);
        return;
    }
    if (when == OMPGPU_FORK_CHILD) {
        pthread_cond_init(&pool.work, NULL);
        pool.launches = NULL;
        pool.nthreads = pool.idle = 0;
    }
    pthread_mutex_unlock(&pool.lock);
}

static void init_pool(void) { pthread_key_create(&worker_key, worker_free); }

static void find_own_stack(struct emu_fiber *home)
{
    pthread_attr_t attr;
    void *low;
    if (pthread_getattr_np(pthread_self(), &attr))
        return;
    if (!pthread_attr_getstack(&attr, &low, &home->size))
        home->stack = low;
    pthread_attr_destroy(&attr);
}

struct emu_worker *ompgpu_emu_worker_get(void)
{
    if (ompgpu_emu_worker)
        return ompgpu_emu_worker;
    pthread_once(&once, init_pool);
    struct emu_worker *w = ompgpu_xalloc(sizeof *w);
    if (!w)
        return NULL;
    w->threads = ompgpu_xalloc(EMU_MAX_THREADS * sizeof *w->threads);
    w->rendezvous = ompgpu_xalloc(EMU_MAX_THREADS / EMU_WARP * sizeof *w->rendezvous);
    w->value = ompgpu_xalloc(2 * EMU_MAX_THREADS * sizeof *w->value);
    w->records = ompgpu_emu_window_map(EMU_FOR_STACKS, EMU_MAX_THREADS * sizeof *w->records);
    w->queues = ompgpu_xalloc((EMU_BARRIERS + 1) * EMU_MAX_THREADS * sizeof *w->queues);
    w->signal_stack_size = 64 * 1024;
    w->signal_stack = mmap(NULL, w->signal_stack_size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (w->signal_stack == MAP_FAILED)
        w->signal_stack = NULL;
    if (!w->threads || !w->rendezvous || !w->value || !w->records || !w->queues ||
        !w->signal_stack || pthread_setspecific(worker_key, w)) {
        worker_free(w);
        return NULL;
    }
    w->source = w->value + EMU_MAX_THREADS;
    w->ready.tid = w->queues;
    for (unsigned i = 0; i < EMU_BARRIERS; i++)
        w->barrier[i].waiting.tid = w->queues + (i + 1) * EMU_MAX_THREADS;
    w->home.worker = w;
    find_own_stack(&w->home);
    enter_list(w);
    return ompgpu_emu_worker = w;
}

/* ------------------------------------------------------------------ launches */
void ompgpu_emu_add_seed(const struct emu_launch *l, char *text, size_t room)
{
    size_t n = strlen(text);
    if (l->random && !ompgpu_emu_settings()->random)
        snprintf(text + n, room - n, "; this order again: OMPGPU_EMU_SCHEDULE=random:%llu",
                 (unsigned long long)l->seed);
}

bool ompgpu_emu_launch_fail(struct emu_launch *l, const char *fmt, ...)
{
    va_list ap;
    if (atomic_exchange(&l->failed, true))
        return false;
    va_start(ap, fmt);
    vsnprintf(l->message, sizeof l->message - EMU_SEED_TEXT, fmt, ap);
    va_end(ap);
    ompgpu_emu_add_seed(l, l->message, sizeof l->message);
    return true;
}

static bool has_teams(const struct emu_launch *l)
{
    return atomic_load_explicit(&l->next, memory_order_relaxed) < l->teams &&
           !atomic_load(&l->failed);
}

static void run_team(struct emu_worker *w, const struct emu_launch *l, unsigned long i)
{
    unsigned team = (unsigned)((i * l->stride + l->shift) % l->teams);
    ompgpu_emu_teams_run(w, team, team + 1);
}

static void run_teams(struct emu_worker *w, struct emu_launch *l)
{
    while (has_teams(l)) {
        unsigned long first = atomic_fetch_add(&l->next, l->chunk), end = first + l->chunk;
        end = end < l->teams ? end : l->teams;
        if (l->kernel->form == EMU_SPAN && !l->random)
            ompgpu_emu_teams_run(w, (unsigned)first, (unsigned)end);
        else
            for (unsigned long i = first; i < end && !atomic_load(&l->failed); i++)
                run_team(w, l, i);
    }
}

/* What is there is used again. */
static bool make_room(struct emu_worker *w, size_t shared)
{
    if (shared <= w->shared_room)
        return true;
    drop_shared(w);
    w->shared = ompgpu_emu_window_map(EMU_FOR_SHARED, shared);
    w->shared_room = w->shared ? shared : 0;
    return w->shared != NULL;
}

/* Perhaps within a launch that waits for it. */
static void run_launch(struct emu_worker *w, struct emu_launch *l)
{
    struct emu_launch *outer = w->launch;
    char *outer_shared = w->shared;
    size_t outer_room = w->shared_room;
    if (outer)
        w->shared = NULL, w->shared_room = 0;
    w->launch = l;
    memset(w->known, 0, sizeof w->known);
    w->barriers = w->switches = 0;
    if (!outer)
        ompgpu_emu_fiber_room(w, l->stack);
    if (make_room(w, l->shared_bytes))
        run_teams(w, l);
    else
        ompgpu_emu_launch_fail(l, "no memory for the team-shared variables, %zu bytes",
                               l->shared_bytes);
    atomic_fetch_add(&l->barriers, w->barriers);
    atomic_fetch_add(&l->switches, w->switches);
    w->launch = outer;
    memset(w->known, 0, sizeof w->known);
    if (outer) {
        drop_shared(w);
        w->shared = outer_shared;
        w->shared_room = outer_room;
    }
}

/* The calling OS thread runs teams of l until none is left.  Device code gets the floating point
 * state of a fresh thread, whatever the host program has set, so that results do not depend on
 * which OS thread runs a team. */
static void take_part(struct emu_launch *l)
{
    struct emu_worker *w = ompgpu_emu_worker_get();
    if (!w) {
        ompgpu_emu_launch_fail(l, "out of host memory");
        return;
    }
    stack_t mine = { .ss_sp = w->signal_stack, .ss_size = w->signal_stack_size }, before;
    unsigned mxcsr = __builtin_ia32_stmxcsr();
    unsigned short x87, x87_default = 0x37F;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    __asm__ volatile("fldcw %0" : : "m"(x87_default));
    __builtin_ia32_ldmxcsr(0x1F80);
    sigaltstack(&mine, &before);
#ifdef EMU_TSAN
    w->home.tsan = __tsan_get_current_fiber();
#endif
    run_launch(w, l);
    sigaltstack(&before, NULL);
    __builtin_ia32_ldmxcsr(mxcsr);
    __asm__ volatile("fldcw %0" : : "m"(x87));
}

static struct emu_launch *launch_with_work(void)
{
    struct emu_launch *l = pool.launches;
    while (l && !has_teams(l))
        l = l->link;
    return l;
}

static void *pool_thread(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&pool.lock);
    while (!pool.stop) {
        struct emu_launch *l = launch_with_work();
        if (!l) {
            pool.idle++;
            pthread_cond_wait(&pool.work, &pool.lock);
            pool.idle--;
            continue;
        }
        l->helpers++;
        pthread_mutex_unlock(&pool.lock);
        take_part(l);
        pthread_mutex_lock(&pool.lock);
        if (--l->helpers == 0)
            pthread_cond_signal(&l->done);
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

int ompgpu_emu_thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV), sigdelset(&all, SIGBUS), sigdelset(&all, SIGFPE),
        sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int bad = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return bad;
}

/* Pool lock held.  Fewer threads than wished for only make it slower. */
static void start_threads(unsigned wanted)
{
    unsigned limit = ompgpu_emu_settings()->threads - 1;
    if (wanted > limit)
        wanted = limit;
    if (pool.nthreads >= wanted || pool.stop)
        return;
    if (!pool.threads && !(pool.threads = ompgpu_xalloc(limit * sizeof *pool.threads)))
        return;
    while (pool.nthreads < wanted &&
           !ompgpu_emu_thread_start(&pool.threads[pool.nthreads], pool_thread, NULL))
        pool.nthreads++;
}

void ompgpu_emu_pool_run(struct emu_launch *l)
{
    bool shared = l->teams > l->chunk;
    pthread_once(&once, init_pool);
    pthread_cond_init(&l->done, NULL);
    if (shared) {
        unsigned parts = (l->teams + l->chunk - 1) / l->chunk;
        pthread_mutex_lock(&pool.lock);
        l->link = pool.launches;
        pool.launches = l;
        start_threads(parts - 1);
        for (unsigned i = 0; i < pool.idle && i < parts - 1; i++)
            pthread_cond_signal(&pool.work);
        pthread_mutex_unlock(&pool.lock);
    }
    take_part(l);
    if (shared) {
        pthread_mutex_lock(&pool.lock);
        struct emu_launch **p = &pool.launches;
        while (*p != l)
            p = &(*p)->link;
        *p = l->link;
        while (l->helpers)
            pthread_cond_wait(&l->done, &pool.lock);
        pthread_mutex_unlock(&pool.lock);
    }
    pthread_cond_destroy(&l->done);
}

/* No launch runs. */
void ompgpu_emu_pool_stop(void)
{
    pthread_mutex_lock(&pool.lock);
    unsigned n = pool.nthreads;
    pool.stop = true;
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    for (unsigned i = 0; i < n; i++)
        pthread_join(pool.threads[i], NULL);
    pthread_mutex_lock(&pool.lock);
    ompgpu_xfree(pool.threads);
    pool.threads = NULL;
    pool.nthreads = 0;
    pool.stop = false;
    pthread_mutex_unlock(&pool.lock);
}
