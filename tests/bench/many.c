/* many.c - what much of something costs the host runtime, over a driver that does nothing: a million regions, 10^6 live mappings, nested data
 * constructs, several host threads.  Prints NAME VALUE UNIT BAR.  Times are CPU time, of all threads. */
#define _GNU_SOURCE 1
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MILLION = 1000000, STEP = 64, DEPTH = 1000 };
static char x[1000], *mapped;

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static long kilobytes(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long size, resident = 0;
    if (!f || fscanf(f, "%ld %ld", &size, &resident) != 2)
        exit(1);
    fclose(f);
    return resident * 4;
}

static void plain(int i)
{
    (void)i;
#pragma omp target map(to: x)
    ;
}
static void deferred(int i)
{
#pragma omp target map(to: x) nowait depend(inout: x[i % 100])
    ;
    if (i % STEP == 0) {
#pragma omp taskwait
    }
}
static void entered(int i)
{
#pragma omp target enter data map(to: x) nowait depend(inout: x[0])
#pragma omp target exit data map(from: x) nowait depend(inout: x[0])
    if (i % STEP == 0) {
#pragma omp taskwait
    }
}

/* Time and memory of the last tenth of a million, against the second. */
static void million(const char *name, void (*once)(int))
{
    double start = 0, first = 0;
    long before = 0;
    for (int i = 0; i < MILLION; i++) {
        if (i == MILLION / 10)
            start = cpu();
        if (i == MILLION / 10 * 2)
            first = cpu() - start, before = kilobytes();
        if (i == MILLION / 10 * 9)
            start = cpu();
        once(i);
    }
    printf("million-%s-time %.2f times 1.5\n", name, (cpu() - start) / first);
    printf("million-%s-memory %ld KB 128\n", name, kilobytes() - before);
}

static void nest(int depth)
{
    char local[8];
    if (depth == 0)
        return;
#pragma omp target data map(tofrom: local)
    nest(depth - 1);
}

static void nested(void)
{
    double best[2] = { 1e30, 1e30 };
    for (int i = 0; i < 20; i++)
        for (int k = 0; k < 2; k++) {
            int depth = k ? DEPTH : DEPTH / 100;
            double start = cpu();
            nest(depth);
            double t = (cpu() - start) / depth;
            best[k] = t < best[k] ? t : best[k];
        }
    printf("nested-data-1000-over-10 %.2f times 4\n", best[1] / best[0]);
}

/* Nanoseconds to look one of the first n up. */
static double look_up(int n)
{
    double best = 1e30;
    for (int r = 0; r < 5; r++) {
        unsigned long seed = 1;
        int good = 0;
        double start = cpu();
        for (int i = 0; i < 100000; i++) {
            seed = seed * 6364136223846793005ul + 1442695040888963407ul;
            good += omp_target_is_present(mapped + STEP * ((seed >> 33) % (unsigned)n), omp_get_default_device());
        }
        double t = (cpu() - start) / 100000;
        if (good != 100000)
            exit(1);
        best = t < best ? t : best;
    }
    return best;
}

static void live(void)
{
    double first = 0, start = cpu(), few = 0, made;
    int n = 0;
    for (int tenth = 1; tenth <= 10; tenth++) {
        start = cpu();
        for (; n < MILLION / 10 * tenth; n++) {
#pragma omp target enter data map(alloc: mapped[STEP * n : STEP / 2])
            if (n == 9)
                few = look_up(10);
        }
        first = tenth == 1 ? cpu() - start : first;
    }
    made = (cpu() - start) / first;
    printf("live-mappings-a-million-over-first %.2f times 3\n", made);
    printf("look-up-of-10 %.0f ns 20\nlook-up-of-a-million-over-that %.2f times 4\n", few, look_up(MILLION) / few);
    for (n = 0; n < MILLION; n++) {
#pragma omp target exit data map(delete: mapped[STEP * n : STEP / 2])
    }
}

/* Nanoseconds of CPU time for a region on mapped data, of some host threads. */
static double region_of(int threads)
{
    enum { N = 200000 };
    double best = 1e30;
    for (int r = 0; r < 5; r++) {
        double start = cpu();
#pragma omp parallel num_threads(threads)
        {
            char *a = malloc(4096), *b = malloc(4096);
#pragma omp target data map(tofrom: a[0:4096], b[0:4096])
            for (int i = 0; i < N; i++) {
#pragma omp target map(tofrom: a[0:4096], b[0:4096])
                a[0] = b[0];
            }
            free(a);
            free(b);
        }
        double t = (cpu() - start) / N / threads;
        best = t < best ? t : best;
    }
    return best;
}

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void await(int *count, int all)
{
    __atomic_add_fetch(count, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < all)
        ;
}

/* Nanoseconds for data that a thread maps, uses and unmaps, of threads with a core for each: how long it takes until all have done it, since one
 * that waits for a lock takes no CPU time.  The least of many short runs, since other processes may use the cores. */
static double mapping_of(int threads)
{
    enum { N = 300, ROUNDS = 1500, MOST = 2 };
    static double began[MOST];
    static int count;
    double best = 1e30;
    count = 0;
#pragma omp parallel num_threads(threads)
    {
        int self = omp_get_thread_num();
        char *a = malloc(4096);
        cpu_set_t before, own;
        sched_getaffinity(0, sizeof before, &before);
        CPU_ZERO(&own);
        CPU_SET(self, &own);
        sched_setaffinity(0, sizeof own, &own);
        for (int r = 0; r < ROUNDS; r++) {
            await(&count, threads * (2 * r + 1));
            began[self] = wall();
            for (int i = 0; i < N; i++) {
#pragma omp target enter data map(to: a[0:512])
#pragma omp target map(tofrom: a[0:512])
                a[0]++;
#pragma omp target exit data map(from: a[0:512])
            }
            await(&count, threads * (2 * r + 2));
            double end = wall(), first = began[0];
            if (threads > 1 && began[1] < first)
                first = began[1];
            if (self == 0 && (end - first) / N / threads < best)
                best = (end - first) / N / threads;
        }
        sched_setaffinity(0, sizeof before, &before);
        free(a);
    }
    return best;
}

int main(void)
{
    mapped = malloc((size_t)MILLION * STEP);
    double one = region_of(1);
    printf("two-threads-over-one %.2f times 1.8\n", 2 * one / region_of(2));
    printf("eight-threads-over-one %.2f times 6\n", 8 * one / region_of(8));
    if (omp_get_num_procs() > 1) {
        one = mapping_of(1);
        printf("two-threads-over-one-that-map %.2f times 1.8\n", one / mapping_of(2));
    }
    million("regions", plain);
    million("nowait", deferred);
    million("enter-exit", entered);
    nested();
    live();
    return 0;
}
