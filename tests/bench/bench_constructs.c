/* bench_constructs.c - what the host runtime itself costs where there is more to do than in a region's steady state: variables that are not
 * mapped, constructs with nowait, dependences.  Over a driver that does nothing (idle_driver.c) and without an OpenMP library
 * (no_openmp.c).  Prints one line a measurement: NAME VALUE UNIT BAR. */
#include <stdbool.h>
#include "tests/bench/unit.h"

enum { RUNS = 5000, REPEATS = 250, SIZE = 512, OUT = 3, IN = 1 }; /* short runs: others may want the processors */
struct dependence {                   /* as LLVM's OpenMP library has it */
    uintptr_t address;
    size_t size;
    unsigned char kind;
};
int __kmpc_omp_task_with_deps(void *, int, void *task, int n, struct dependence *, int, void *);

static const struct ompgpu_launch launch = { .device = OMPGPU_DEVICE_DEFAULT, .num_teams = 1, .thread_limit = 32, .flags = OMPGPU_LAUNCH_SPMD };
static struct ompgpu_map maps[MAX_VARS];
static struct ompgpu_param params[MAX_VARS];

static void describe(unsigned flags)
{
    for (unsigned i = 0; i < MAX_VARS; i++) {
        maps[i] = (struct ompgpu_map){ .base = data[i], .begin = data[i], .size = SIZE, .flags = flags, .name = "x" };
        params[i] = (struct ompgpu_param){ .size = sizeof(void *), .map = (int)i };
    }
}

static void run_region(unsigned n, unsigned run)
{
    (void)run;
    if (__ompgpu_target(&region, maps, n, params, n, &launch))
        exit(1);
}

static void *defer(unsigned n, bool depends)
{
    void *task = __ompgpu_defer_target(&region, maps, n, params, n, &launch, depends);
    if (!task)
        exit(1);
    return task;
}

static void run_deferred(unsigned n, unsigned run)
{
    (void)run;
    __ompgpu_deferred(defer(n, false), 1);
}

static void run_dependent(unsigned n, unsigned run)
{
    struct dependence d[MAX_VARS];
    for (unsigned i = 0; i < n; i++)  /* each of them has a writer that is under way still, as a rule */
        d[i] = (struct dependence){ (uintptr_t)data[(run + i) % 8 + 8], 8, run / 8 & 1 ? IN : OUT };
    __kmpc_omp_task_with_deps(NULL, 0, defer(0, true), (int)n, d, 0, NULL);
}

/* Nanoseconds; the least of some repeats. */
static double cost(void (*run)(unsigned, unsigned), unsigned n)
{
    double best = 1e30;
    for (unsigned r = 0; r < REPEATS; r++) {
        double start = now();
        for (unsigned i = 0; i < RUNS; i++)
            run(n, i);
        double t = (now() - start) / RUNS;
        best = t < best ? t : best;
    }
    return best;
}

int main(void)
{
    make_container();
    __ompgpu_register(&unit);
    double empty = cost(run_region, 0);
    describe(OMPGPU_MAP_TOFROM);
    printf("variable-that-is-not-mapped %.0f ns 250\n", cost(run_region, 1) - empty);
    printf("variable-that-is-not-mapped-of-4 %.0f ns 250\n", (cost(run_region, 4) - empty) / 4);
    double deferred = cost(run_deferred, 0), dependent = cost(run_dependent, 0);
    printf("region-with-nowait %.0f ns 300\n", deferred);
    printf("dependence-of-1 %.0f ns 100\n", cost(run_dependent, 1) - dependent);
    printf("dependence-of-8 %.0f ns 100\n", (cost(run_dependent, 8) - dependent) / 8);
    __ompgpu_unregister(&unit);
    return 0;
}
