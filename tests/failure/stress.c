/* Host threads do at random what must not disturb each other: regions and data constructs, deferred or not, copies by routines, fork(), libraries
 * that come and go, threads that end before their regions, signals; in the end one of them calls exit() in the midst of it.  All data is
 * compared with what the host computes.
 *
 *      stress SEED THREADS STEPS [none]    none: no forks, but libraries
 *
 * It ends with status 3 where all is right.  A watchdog ends it where nothing moves.  Where kernels do nothing (nullcuda), what regions do to data is left
 * out of what is expected; where a child of fork() cannot use the device, its regions run on the host. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 6, LIBRARIES = 3, SHARED = 3000, RIGHT = 3, WRONG = 1, HANGS = 2, MOST_THREADS = 64, DEEP = 3 };
struct slot {
    int *a, *device_copy, *expected;  /* the storage; what the device's copy, and the host's, should have */
    int n, device;
    bool mapped, pending;             /* pending: constructs with nowait have not been waited for */
};
struct worker {
    unsigned long long seed;
    unsigned number;
    const char *step;                 /* that is being done, for the watchdog */
    unsigned long steps;              /* atomic: that have been done */
    struct slot slots[SLOTS];
    pthread_t thread;
    pid_t id;                         /* atomic: of the system; 0: it is not at work */
};
static struct worker workers[MOST_THREADS];
static unsigned nworkers, nsteps, patience;
static int devices, host, wrong;      /* wrong: atomic */
static bool kernels_run, children_may; /* use the device */
static int shared[SHARED];
static bool forks;
static bool ending;                   /* one of the threads will call exit(): no libraries from here on */
static bool exits;                    /* atomic: exit() has been called */
static volatile sig_atomic_t ticks;

static unsigned pick(struct worker *w, unsigned n)
{
    w->seed = w->seed * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(w->seed >> 33) % n;
}

static void complain(const struct worker *w, const char *what, int at, int is, int should)
{
    fprintf(stderr, "stress: thread %u, step %lu, %s: %s[%d] is %d, not %d\n", w->number, w->steps, w->step, what, at, is, should);
    __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
}

static void compare(const struct worker *w, const char *what, const int *is, const int *should, int n)
{
    for (int i = 0; i < n; i++)
        if (is[i] != should[i]) {
            complain(w, what, i, is[i], should[i]);
            return;
        }
}

/* What regions do. */
#pragma omp begin declare target
static int change(int x, int by) { return 3 * x + by; }
#pragma omp end declare target
static void expect(int *x, int n, int by)
{
    for (int i = 0; i < n && kernels_run; i++)
        x[i] = change(x[i], by);
}

/* ------------------------------------------------------------------ storage */
static void settle(struct worker *w, struct slot *s)
{
    if (s->pending) {
#pragma omp taskwait
        for (int i = 0; i < SLOTS; i++)
            w->slots[i].pending = false;
    }
    compare(w, "a", s->a, s->expected, s->n);
}

static void drop_slot(struct worker *w, struct slot *s)
{
    int *a = s->a, n = s->n;
    settle(w, s);
    if (s->mapped) {
#pragma omp target exit data map(from: a[0:n]) device(s->device)
        compare(w, "the device's a", a, s->device_copy, n);
    }
    free(s->a), free(s->device_copy), free(s->expected);
    memset(s, 0, sizeof *s);
}

static void new_slot(struct worker *w, struct slot *s)
{
    static const int sizes[] = { 1, 10, 100, 1000, 5000, 30000 }; /* the last are no small copies */
    int n = s->n = 1 + (int)pick(w, (unsigned)sizes[pick(w, kernels_run ? 5 : 6)]);
    s->device = (int)pick(w, (unsigned)devices);
    s->a = malloc((size_t)n * sizeof(int)), s->device_copy = malloc((size_t)n * sizeof(int)), s->expected = malloc((size_t)n * sizeof(int));
    for (int i = 0; i < n; i++)
        s->a[i] = s->expected[i] = (int)pick(w, 1000);
}

/* ------------------------------------------------------------------ constructs */
static void region(struct worker *w, struct slot *s)
{
    int *a = s->a, n = s->n, by = (int)pick(w, 100);
    settle(w, s);
#pragma omp target teams distribute parallel for map(tofrom: a[0:n]) device(s->device)
    for (int i = 0; i < n; i++)
        a[i] = change(a[i], by);
    expect(s->mapped ? s->device_copy : s->expected, n, by);
    compare(w, "a", s->a, s->expected, n);
}

static void region_later(struct worker *w, struct slot *s)
{
    int *a = s->a, n = s->n, by = (int)pick(w, 100);
    s->pending = true;
#pragma omp target parallel for map(tofrom: a[0:n]) device(s->device) nowait depend(inout: a[0])
    for (int i = 0; i < n; i++)
        a[i] = change(a[i], by);
    expect(s->mapped ? s->device_copy : s->expected, n, by);
}

/* It waits itself, for what was deferred before. */
static void region_after(struct worker *w, struct slot *s)
{
    int *a = s->a, n = s->n, by = (int)pick(w, 100);
#pragma omp target map(tofrom: a[0:n]) device(s->device) depend(inout: a[0])
    for (int i = 0; i < n; i++)
        a[i] = change(a[i], by);
    expect(s->mapped ? s->device_copy : s->expected, n, by);
    compare(w, "a", s->a, s->expected, n);
}

static void enter_or_exit(struct worker *w, struct slot *s)
{
    int *a = s->a, n = s->n;
    bool later = pick(w, 2);
    if (!later)
        settle(w, s);
    s->pending |= later;
    if (s->mapped && later) {
#pragma omp target exit data map(from: a[0:n]) device(s->device) nowait depend(inout: a[0])
    } else if (s->mapped) {
#pragma omp target exit data map(from: a[0:n]) device(s->device)
    } else if (later) {
#pragma omp target enter data map(to: a[0:n]) device(s->device) nowait depend(inout: a[0])
    } else {
#pragma omp target enter data map(to: a[0:n]) device(s->device)
    }
    memcpy(s->mapped ? s->expected : s->device_copy, s->mapped ? s->device_copy : s->expected, (size_t)n * sizeof *a);
    s->mapped = !s->mapped;
}

static void update(struct worker *w, struct slot *s)
{
    int *a = s->a, n = s->n;
    bool later = pick(w, 2), to = pick(w, 2);
    if (!later)
        settle(w, s);
    s->pending |= later;
    if (to && later) {
#pragma omp target update to(a[0:n]) device(s->device) nowait depend(inout: a[0])
    } else if (to) {
#pragma omp target update to(a[0:n]) device(s->device)
    } else if (later) {
#pragma omp target update from(a[0:n]) device(s->device) nowait depend(inout: a[0])
    } else {
#pragma omp target update from(a[0:n]) device(s->device)
    }
    if (s->mapped)
        memcpy(to ? s->device_copy : s->expected, to ? s->expected : s->device_copy, (size_t)n * sizeof *a);
}

/* To the device, a region there, and back, by objects; the host changes the storage in between by a task. */
static void copy_later(struct worker *w, struct slot *s)
{
    int *a = s->a, n = s->n, by = (int)pick(w, 100), bad = 0;
    size_t size = (size_t)n * sizeof *a;
    int *p = omp_target_alloc(size, s->device);
    omp_depend_t on_a = 0, on_p = 0;
#pragma omp depobj(on_a) depend(inout: a[0])
#pragma omp depobj(on_p) depend(inout: p[0])
    omp_depend_t both[2] = { on_a, on_p };
    bad += omp_target_memcpy_async(p, a, size, 0, 0, s->device, host, 2, both);
    if (pick(w, 2)) {
#pragma omp task depend(inout: a[0])
        memset(a, 0, size);
    }
#pragma omp target is_device_ptr(p) device(s->device) nowait depend(inout: p[0])
    for (int i = 0; i < n; i++)
        p[i] = change(p[i], by);
    bad += omp_target_memcpy_async(a, p, size, 0, 0, host, s->device, 2, both);
    expect(s->expected, n, by);
#pragma omp taskwait
    if (bad)
        complain(w, "omp_target_memcpy_async", 0, bad, 0);
#pragma omp depobj(on_a) destroy
#pragma omp depobj(on_p) destroy
    omp_target_free(p, s->device);
    compare(w, "a", s->a, s->expected, n);
}

/* What all threads map, and a reduction; private copies. */
static void share(struct worker *w, struct slot *s)
{
    int table[40], x = (int)pick(w, 40);
    long sum = 0, should = 0;
    for (int i = 0; i < 40; i++)
        table[i] = i * x;
#pragma omp target teams distribute parallel for reduction(+: sum) map(to: shared) firstprivate(table) device(s->device)
    for (int i = 0; i < SHARED; i++)
        sum += shared[i] + table[i % 40];
    for (int i = 0; i < SHARED && kernels_run; i++)
        should += shared[i] + i % 40 * x;
    if (sum != should)
        complain(w, "sum", 0, (int)sum, (int)should);
}

/* ------------------------------------------------------------------ what ends */
static void *end_early(void *argument)
{
    struct slot *s = argument;
    int *a = s->a, n = s->n;
#pragma omp target map(tofrom: a[0:n]) device(s->device) nowait depend(inout: a[0])
    for (int i = 0; i < n; i++)
        a[i] = change(a[i], 1);
    if (n % 2)
        pthread_exit(NULL);
    return NULL;
}

static void thread_that_ends(struct worker *w, struct slot *s)
{
    pthread_t t;
    settle(w, s);
    if (pthread_create(&t, NULL, end_early, s))
        return;
    pthread_join(t, NULL);
    expect(s->mapped ? s->device_copy : s->expected, s->n, 1);
    compare(w, "a", s->a, s->expected, s->n);
}

static void team(struct worker *w, struct slot *s)
{
    int x[4] = { 0 }, device = s->device;
#pragma omp parallel num_threads(2)
    {
#pragma omp single nowait
        for (int i = 0; i < 4; i++) {
#pragma omp target nowait map(tofrom: x[i]) device(device) depend(inout: x[i])
            x[i] += i;
        }
#pragma omp for
        for (int i = 0; i < 4; i++) {
#pragma omp target map(to: shared) device(device)
            ;
        }
    }
    for (int i = 0; i < 4; i++)
        if (x[i] != i * kernels_run)
            complain(w, "x", i, x[i], i * kernels_run);
}

/* One that only this thread has is closed with its region under way.  Where others may close it for good, this one's tasks, which are code of
 * the library, must have ended. */
static void library(struct worker *w, struct slot *s)
{
    char name[20];
    void (*start)(int *, int, int);
    int (*ask)(int);
    bool own = pick(w, 2);
    if (forks)                        /* a child may find locks of the dynamic linker taken, for ever */
        return;
    settle(w, s);
    snprintf(name, sizeof name, own ? "./own%u.so" : "./lib%u.so", own ? w->number : pick(w, LIBRARIES));
    void *l = dlopen(name, RTLD_NOW);
    if (!l) {
        fprintf(stderr, "stress: %s\n", dlerror());
        exit(WRONG);
    }
    *(void **)&start = dlsym(l, "start");
    *(void **)&ask = dlsym(l, "ask");
    start(s->a, s->n, s->device);
    s->pending = true;
    expect(s->mapped ? s->device_copy : s->expected, s->n, 7);
    if (pick(w, 2)) {
        int got = ask(s->device);
        if (got != 42 * kernels_run)
            complain(w, "what a library returns", 0, got, 42);
    }
    if (!own)
        settle(w, s);
    dlclose(l);
}

/* ------------------------------------------------------------------ fork */
/* A child has this thread, and of its storage what was not under way. */
static void work_in_child(struct worker *w)
{
    for (int i = 0; i < SLOTS; i++)
        if (w->slots[i].pending)
            memset(&w->slots[i], 0, sizeof w->slots[i]);
    struct slot fresh = { 0 };
    new_slot(w, &fresh);
    fresh.device = children_may ? fresh.device : host;
    for (int i = 0; i < 3; i++)
        region_later(w, &fresh);
    region(w, &fresh);
    for (int i = 0; i < SLOTS && children_may; i++)
        if (w->slots[i].a) {
            region_later(w, &w->slots[i]);
            drop_slot(w, &w->slots[i]);
        }
    share(w, &fresh);
}

static void fork_child(struct worker *w, struct slot *unused)
{
    int status;
    (void)unused;
    if (!forks)
        return;
    fflush(stderr);
    pid_t child = fork();
    if (!child) {
        signal(SIGALRM, getenv("STRESS_WAITS") ? SIG_IGN : SIG_DFL);
        alarm(patience);              /* its watchdog */
        w->step = "in a child";
        kernels_run |= !children_may; /* by the host */
        work_in_child(w);
        fflush(NULL);
        _exit(wrong ? WRONG : 0);     /* exit() may wait for ever: another thread had glibc's lock of its functions */
    }
    while (child > 0 && waitpid(child, &status, 0) != child)
        ;
    if (child > 0 && status)
        complain(w, "a child's status", 0, status, 0);
}

/* ------------------------------------------------------------------ threads */
static const struct step {
    const char *name;
    void (*run)(struct worker *, struct slot *);
    unsigned often;
} steps[] = {
    { "target", region, 20 },          { "target nowait", region_later, 60 }, { "target depend", region_after, 10 },
    { "enter or exit data", enter_or_exit, 40 }, { "update", update, 30 },    { "memcpy_async", copy_later, 8 },
    { "shared data", share, 15 },      { "a thread ends", thread_that_ends, 5 }, { "parallel", team, 5 },
    { "fork", fork_child, 1 },         { "new storage", drop_slot, 10 },      { "a library", library, 4 },
};

static const struct step *choose(struct worker *w)
{
    const struct step *s = steps;
    unsigned all = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps - ending; i++)
        all += steps[i].often;
    for (unsigned left = pick(w, all); left >= s->often; s++)
        left -= s->often;
    return s;
}

static void send_signal(const struct worker *to)
{
    pid_t id = __atomic_load_n(&to->id, __ATOMIC_RELAXED);
    if (id)
        tgkill(getpid(), id, SIGUSR1); /* it may have ended */
}

static void work(struct worker *w)
{
    __atomic_store_n(&w->id, gettid(), __ATOMIC_RELAXED);
    for (unsigned i = 0; i < nsteps; i++) {
        const struct step *step = choose(w);
        struct slot *s = &w->slots[pick(w, SLOTS)];
        if (!s->a)
            new_slot(w, s);
        w->step = step->name;
        step->run(w, s);
        __atomic_add_fetch(&w->steps, 1, __ATOMIC_RELAXED);
        if (pick(w, 8) == 0)
            send_signal(&workers[pick(w, nworkers)]);
    }
    __atomic_store_n(&w->id, 0, __ATOMIC_RELAXED);
}

/* In tenths of seconds that it has slept through itself, not by the clock: a machine may stand still for long, and with it all that should go on.
 * No signal may wake it: the timer's go to any thread where the others want the processors, and a hundred tenths were a tenth of a second. */
static void *watch(void *unused)
{
    unsigned long before = 0;
    sigset_t all_signals;
    sigfillset(&all_signals);
    pthread_sigmask(SIG_BLOCK, &all_signals, NULL);
    for (unsigned still = 0, ends = 0;; usleep(100000)) {
        unsigned long all = 0;
        for (unsigned i = 0; i < nworkers; i++)
            all += __atomic_load_n(&workers[i].steps, __ATOMIC_RELAXED);
        still = all == before ? still + 1 : 0;
        before = all;
        ends += __atomic_load_n(&exits, __ATOMIC_RELAXED);
        if ((ends ? ends : still) < 10 * patience)
            continue;
        for (unsigned i = 0; i < nworkers; i++)
            fprintf(stderr, "stress: hangs%s: thread %u, step %lu, %s\n", ends ? " at the end" : "", i, workers[i].steps, workers[i].step);
        if (getenv("STRESS_WAITS"))   /* for a debugger */
            pause();
        _exit(HANGS);
    }
    return unused;
}

/* All steps, and then, without libraries, one ends the process while the others go on: not all of these come to their end.  Each of them has made a construct with
 * nowait: LLVM's OpenMP library does not bear threads that make tasks after its destructor, and libompgpu ends the process before if it knows of any,
 * and if its own destructor comes first, which other libraries change.
 * Nor does it bear the end of threads whose teams had tasks, so none but end_early() ends. */
static pthread_barrier_t all_have;
static void *run_thread(void *argument)
{
    struct worker *w = argument;
    work(w);
    if (!w->slots[0].a)
        new_slot(w, &w->slots[0]);
    region_later(w, &w->slots[0]);
    pthread_barrier_wait(&all_have);
    ending = true;
    pthread_barrier_wait(&all_have);
    if (w->number == nworkers / 2) {
        __atomic_store_n(&exits, true, __ATOMIC_RELAXED);
        for (int i = 0; i < DEEP; i++)
            region_later(w, &w->slots[0]);
        exit(wrong ? WRONG : RIGHT);
    }
    for (;;)
        work(w);
}

static void tick(int signal) { ticks += signal != 0; }

static void start(unsigned long long seed)
{
    struct sigaction a = { .sa_handler = tick };
    struct itimerval often = { { 0, 700 }, { 0, 700 } };
    pthread_t watchdog;
    int x = 0;
    devices = omp_get_num_devices(), host = omp_get_initial_device();
#pragma omp target map(tofrom: x)
    x = 1;
    kernels_run = x;
    const char *kind = getenv("OMPGPU_DEVICE");
    children_may = kind && !strcmp(kind, "emu");
    for (int i = 0; i < SHARED; i++)
        shared[i] = i;
    for (unsigned i = 0; i < nworkers; i++)
        workers[i] = (struct worker){ .seed = seed * 1000 + i, .number = i, .step = "" };
    sigaction(SIGALRM, &a, NULL);
    sigaction(SIGUSR1, &a, NULL);
    pthread_create(&watchdog, NULL, watch, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return WRONG;
    forks = argc == 4;
    nworkers = (unsigned)atoi(argv[2]), nsteps = (unsigned)atoi(argv[3]);
    nworkers = nworkers < MOST_THREADS ? nworkers : MOST_THREADS;
    patience = getenv("STRESS_PATIENCE") ? (unsigned)atoi(getenv("STRESS_PATIENCE")) : 60;
    start(strtoull(argv[1], NULL, 0));
    pthread_barrier_init(&all_have, NULL, nworkers);
    for (unsigned i = 1; i < nworkers; i++)
        pthread_create(&workers[i].thread, NULL, run_thread, &workers[i]);
    run_thread(&workers[0]);
}
