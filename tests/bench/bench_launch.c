/* bench_launch.c - what the host runtime itself costs: an empty region, and each present variable of a region, over nullcuda.
 *
 * The time nullcuda takes for the same launch and synchronise is measured first and subtracted.  Prints one line a measurement:
 * NAME VALUE UNIT BAR. */
#include <dlfcn.h>
#include <stdbool.h>
#include "hostrt/cuda/driver.h"
#include "tests/bench/unit.h"

enum { RUNS = 200000, REPEATS = 7 };

/* Nanoseconds of one region with n present variables; the best of some repeats. */
static double region_cost(unsigned n, bool sum)
{
    struct ompgpu_map maps[MAX_VARS];
    struct ompgpu_param params[MAX_VARS];
    struct ompgpu_launch launch = { .device = OMPGPU_DEVICE_DEFAULT, .num_teams = 1, .thread_limit = 32, .flags = OMPGPU_LAUNCH_SPMD };
    if (sum)                          /* the geometry is the runtime's choice */
        launch = (struct ompgpu_launch){ .device = OMPGPU_DEVICE_DEFAULT, .trip = 1 << 20, .flags = OMPGPU_LAUNCH_SPMD | OMPGPU_LAUNCH_TEAMS |
                                         OMPGPU_LAUNCH_DISTRIBUTE | OMPGPU_LAUNCH_PARALLEL | OMPGPU_LAUNCH_REDUCTION };
    struct ompgpu_place place = { "bench.c", 1, "target data", OMPGPU_TARGET_DATA };
    double best = 1e30;
    for (unsigned i = 0; i < n; i++) {
        maps[i] = (struct ompgpu_map){ .base = data[i], .begin = data[i], .size = sizeof data[i], .flags = OMPGPU_MAP_TOFROM, .name = "x" };
        params[i] = (struct ompgpu_param){ .size = sizeof(void *), .map = (int)i };
    }
    __ompgpu_data_begin(&place, OMPGPU_DEVICE_DEFAULT, maps, n);
    for (unsigned r = 0; r < REPEATS; r++) {
        double start = now();
        for (unsigned i = 0; i < RUNS; i++)
            if (__ompgpu_target(sum ? &sum_region : &region, maps, n, params, n, &launch)) {
                fprintf(stderr, "bench_launch: the region ran on the host\n");
                exit(1);
            }
        double t = (now() - start) / RUNS;
        best = t < best ? t : best;
    }
    __ompgpu_data_end(&place, OMPGPU_DEVICE_DEFAULT, maps, n);
    return best;
}

/* The same for a region that reduces n variables, which are not mapped. */
static double result_cost(unsigned n)
{
    struct ompgpu_map maps[MAX_VARS];
    struct ompgpu_param params[MAX_VARS];
    struct ompgpu_launch launch = { .device = OMPGPU_DEVICE_DEFAULT, .trip = 1 << 20, .flags = OMPGPU_LAUNCH_SPMD | OMPGPU_LAUNCH_TEAMS |
                                    OMPGPU_LAUNCH_DISTRIBUTE | OMPGPU_LAUNCH_PARALLEL | OMPGPU_LAUNCH_REDUCTION };
    double best = 1e30;
    for (unsigned i = 0; i < n; i++) {
        maps[i] = (struct ompgpu_map){ .base = data[i], .begin = data[i], .size = 8, .name = "x",
                                       .flags = OMPGPU_MAP_TOFROM | OMPGPU_MAP_IMPLICIT | OMPGPU_MAP_RESULT };
        params[i] = (struct ompgpu_param){ .size = sizeof(void *), .map = (int)i };
    }
    for (unsigned r = 0; r < REPEATS; r++) {
        double start = now();
        for (unsigned i = 0; i < RUNS; i++)
            if (__ompgpu_target(&sum_region, maps, n, params, n, &launch))
                exit(1);
        double t = (now() - start) / RUNS;
        best = t < best ? t : best;
    }
    return best;
}

/* What the fake driver takes of it. */
static double driver_cost(void *driver)
{
    CUmodule module;
    CUfunction f;
    CUstream stream;
    double best = 1e30;
    __typeof(cuLaunchKernel) *launch;
    __typeof(cuStreamSynchronize) *synchronise;
    __typeof(cuModuleLoadDataEx) *load;
    __typeof(cuModuleGetFunction) *function;
    __typeof(cuStreamCreate) *create;
    *(void **)&launch = dlsym(driver, "cuLaunchKernel");
    *(void **)&synchronise = dlsym(driver, "cuStreamSynchronize");
    *(void **)&load = dlsym(driver, "cuModuleLoadDataEx");
    *(void **)&function = dlsym(driver, "cuModuleGetFunction");
    *(void **)&create = dlsym(driver, "cuStreamCreate");
    if (load(&module, ptx, 0, NULL, NULL) || function(&f, module, "bench") || create(&stream, 0)) {
        fprintf(stderr, "bench_launch: nullcuda does not work\n");
        exit(1);
    }
    for (unsigned r = 0; r < REPEATS; r++) {
        struct { void *scratch; unsigned n, limit; } env = { 0 };
        void *params[] = { &env };
        double start = now();
        for (unsigned i = 0; i < RUNS; i++)
            if (launch(f, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL) || synchronise(stream))
                exit(1);
        double t = (now() - start) / RUNS;
        best = t < best ? t : best;
    }
    return best;
}

/* Copies that the driver waits for, one by one, of a region with small results that are not mapped. */
static unsigned long waits_for_results(void *driver, unsigned n)
{
    struct ompgpu_map maps[MAX_VARS];
    struct ompgpu_launch launch = { .device = OMPGPU_DEVICE_DEFAULT, .num_teams = 1, .thread_limit = 32, .flags = OMPGPU_LAUNCH_SPMD };
    unsigned long (*waits)(void);
    *(void **)&waits = dlsym(driver, "nullcuda_waits");
    for (unsigned i = 0; i < n; i++)
        maps[i] = (struct ompgpu_map){ .base = data[i], .begin = data[i], .size = 512, .flags = OMPGPU_MAP_FROM, .name = "x" };
    unsigned long before = waits();
    if (__ompgpu_target(&region, maps, n, NULL, 0, &launch))
        exit(1);
    return waits() - before;
}

int main(void)
{
    static const unsigned vars[] = { 1, 4, 16 };
    unsigned long (*count)(const char *);
    void (*reset)(void);
    make_container();
    __ompgpu_register(&unit);
    double empty = region_cost(0, false);
    void *driver = dlopen(getenv("OMPGPU_CUDA_DRIVER"), RTLD_NOW | RTLD_NOLOAD);
    if (!driver) {
        fprintf(stderr, "bench_launch: OMPGPU_CUDA_DRIVER does not name nullcuda\n");
        return 1;
    }
    double own = empty - driver_cost(driver);
    printf("empty-region %.0f ns 60\n", own);
    for (unsigned i = 0; i < sizeof vars / sizeof *vars; i++)
        printf("present-variable-of-%u %.0f ns 20\n", vars[i], (region_cost(vars[i], false) - empty) / vars[i]);
    printf("reduction-of-a-present-array %.0f ns 150\n", region_cost(2, true) - driver_cost(driver));
    printf("reduction-of-a-scalar %.0f ns 140\n", result_cost(1) - driver_cost(driver));
    printf("reduction-of-two-scalars %.0f ns 150\n", result_cost(2) - driver_cost(driver));
    *(void **)&count = dlsym(driver, "nullcuda_count");
    *(void **)&reset = dlsym(driver, "nullcuda_reset");
    struct ompgpu_launch launch = { .device = OMPGPU_DEVICE_DEFAULT, .num_teams = 1, .thread_limit = 32, .flags = OMPGPU_LAUNCH_SPMD };
    reset();
    __ompgpu_target(&region, NULL, 0, NULL, 0, &launch);
    printf("driver-calls-of-a-region %lu calls 2\n", count(NULL));
    printf("waits-for-8-small-results %lu copies 0\n", waits_for_results(driver, 8));
    __ompgpu_unregister(&unit);
    return 0;
}
