/* bench_launch.c - what the host runtime itself costs: an empty region, and each present variable of a region, over nullcuda.
 *
 * The unit is made by hand, so that nothing but libompgpu is measured; the time nullcuda takes for the same launch and synchronise
 * is measured first and subtracted.  Prints one line a measurement: NAME VALUE UNIT BAR. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "hostrt/cuda/driver.h"
#include "hostrt/image.h"
#include "hostrt/ompgpu.h"

enum { RUNS = 200000, REPEATS = 7, MAX_VARS = 16 };

static const char ptx[] = ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry bench(.param .align 8 .b8 bench_0[16]) { ret; }\n"
                          ".visible .entry sum(.param .align 8 .b8 sum_0[16]) { ret; }\n";
static struct {
    struct ompgpu_image_header header;
    struct ompgpu_image_entry image;
    struct ompgpu_kernel_entry kernel[2];
    char strings[64], sum[8];
    char ptx[sizeof ptx];
} container;
#define AT(member) ((uint32_t)offsetof(__typeof(container), member))

static struct ompgpu_unit unit = { .abi = OMPGPU_ABI_VERSION, .image = &container, .file = "bench.c" };
static struct ompgpu_region region = { .kernel = "bench", .file = "bench.c", .function = "main", .directive = "target", .line = 1, .unit = &unit };
static struct ompgpu_region sum_region = { .kernel = "sum", .file = "bench.c", .function = "main", .directive = "target", .line = 2, .unit = &unit };
static unsigned char data[MAX_VARS][4096];

static void make_container(void)
{
    container.header = (struct ompgpu_image_header){
        .magic = OMPGPU_IMAGE_MAGIC, .version = OMPGPU_IMAGE_VERSION, .header_size = sizeof container.header,
        .total_size = sizeof container, .nimages = 1, .nkernels = 2, .images = AT(image), .kernels = AT(kernel) };
    container.image = (struct ompgpu_image_entry){
        .kind = OMPGPU_IMAGE_PTX, .arch = 75, .offset = AT(ptx), .size = sizeof ptx, .usize = sizeof ptx };
    container.kernel[0] = (struct ompgpu_kernel_entry){
        .name = AT(strings), .function = AT(strings), .file = AT(strings), .directive = AT(strings), .line = 1, .mode = 1 };
    container.kernel[1] = container.kernel[0];
    container.kernel[1].name = AT(sum);
    container.kernel[1].reduce_bytes = 16;
    strcpy(container.strings, "bench");
    strcpy(container.sum, "sum");
    memcpy(container.ptx, ptx, sizeof ptx);
    ompgpu_image_seal(&container.header);
}

/* The thread's own time: what else the machine does is not measured. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

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
    __ompgpu_unregister(&unit);
    return 0;
}
