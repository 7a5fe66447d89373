/* gpu_host.c - what constructs cost on a GPU beside the driver's own calls for the same work: launches, transfers, and overlap of both.
 *
 * Rows: what, microseconds of ours (shortest, middle), of the driver's calls, ratio.  The driver is used as a CUDA programmer does: one stream,
 * memory that is there already, pinned memory where the row says so.  `gpu_host launches`: only these rows. */
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "hostrt/cuda/driver.h"

enum { MOST = 2000, CHUNKS = 16, CHUNK = 8 << 20 /* floats */, BIG = CHUNKS * CHUNK };
/* A kernel that stores 1 where its parameter points. */
static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry one(.param .u64 p)\n"
                          "{ .reg .b64 %a; .reg .b32 %v; ld.param.u64 %a, [p]; mov.u32 %v, 1; st.global.u32 [%a], %v; ret; }\n";
#define CALLS(X)                                                                                                                      \
    X(cuLaunchKernel, ) X(cuStreamSynchronize, ) X(cuStreamCreate, ) X(cuModuleLoadDataEx, ) X(cuModuleGetFunction, )                 \
    X(cuMemcpyHtoDAsync, _v2) X(cuMemcpyDtoHAsync, _v2) X(cuMemHostAlloc, ) X(cuMemAlloc, _v2) X(cuMemFree, _v2)
static struct {
#define MEMBER(f, version) __typeof(f##version) *f;
    CALLS(MEMBER)
} driver;
static CUstream stream;
static CUfunction one;
static CUdeviceptr spare;             /* BIG floats of the device's memory */

static int start_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    CUmodule module;
    if (!library)
        return 1;
#define FIND(f, version) *(void **)&driver.f = dlsym(library, #f #version);
    CALLS(FIND)
    return driver.cuStreamCreate(&stream, 0) || driver.cuModuleLoadDataEx(&module, ptx, 0, NULL, NULL) ||
           driver.cuModuleGetFunction(&one, module, "one") || driver.cuMemAlloc(&spare, BIG * sizeof(float));
}
static void failed(const char *what)
{
    fprintf(stderr, "gpu_host: %s failed\n", what);
    exit(1);
}
static void try(int error) { if (error) failed("a call of the driver"); }

/* ------------------------------------------------------------------ measuring */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}
static int compare(const void *a, const void *b) { return *(const double *)a < *(const double *)b ? -1 : 1; }
struct span { double shortest, middle; };
static struct span measure(void (*f)(void), int runs)
{
    static double t[MOST];
    for (int i = -3; i < runs; i++) {
        double start = now();
        f();
        if (i >= 0)
            t[i] = now() - start;
    }
    qsort(t, runs, sizeof *t, compare);
    return (struct span){ t[0], t[runs / 2] };
}
static void row(const char *what, void (*ours)(void), void (*theirs)(void), int runs)
{
    struct span a = measure(ours, runs), b = theirs ? measure(theirs, runs) : (struct span){ 0, 0 };
    printf("%-44s %10.2f (middle %10.2f)", what, a.shortest, a.middle);
    if (theirs)
        printf("   driver %10.2f (middle %10.2f)   %5.3f of it", b.shortest, b.middle, a.middle / b.middle);
    printf("\n");
    fflush(stdout);
}

/* ------------------------------------------------------------------ launches */
static int *flag, v0, v1, v2, v3;
static double shown;
static void region(void)
{
    int *p = flag;
#pragma omp target is_device_ptr(p)
    *p = 1;
}
static void region_present(void)
{
#pragma omp target map(tofrom: v0, v1, v2, v3)
    v0 = v1 + v2 + v3;
}
static void region_mapped(void)
{
    int a = 1;
#pragma omp target map(tofrom: a)
    a++;
    shown = a;
}
static void region_sum(void)
{
    double s = 0;
    int *p = flag;
#pragma omp target teams distribute parallel for reduction(+: s) is_device_ptr(p)
    for (int i = 0; i < 1000; i++)
        s += p[i];
    shown = s;
}
static void region_nowait(void)
{
    int *p = flag;
    for (int i = 0; i < 100; i++)
#pragma omp target nowait depend(inout: p[0]) is_device_ptr(p)
        *p = 1;
#pragma omp taskwait
}
static void launch(int wait)
{
    CUdeviceptr p = (CUdeviceptr)flag;
    void *params[] = { &p };
    try(driver.cuLaunchKernel(one, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    if (wait)
        try(driver.cuStreamSynchronize(stream));
}
static void raw_region(void) { launch(1); }
static void raw_mapped(void)
{
    static int a;
    CUdeviceptr p = (CUdeviceptr)flag;
    try(driver.cuMemcpyHtoDAsync(p, &a, sizeof a, stream));
    launch(0);
    try(driver.cuMemcpyDtoHAsync(&a, p, sizeof a, stream));
    try(driver.cuStreamSynchronize(stream));
}
static void raw_mapped_pinned(void) /* the result comes into pinned memory, the same each time */
{
    static int a, *result;
    CUdeviceptr p = (CUdeviceptr)flag;
    if (!result)
        try(driver.cuMemHostAlloc((void **)&result, sizeof a, 0));
    try(driver.cuMemcpyHtoDAsync(p, &a, sizeof a, stream));
    launch(0);
    try(driver.cuMemcpyDtoHAsync(result, p, sizeof a, stream));
    try(driver.cuStreamSynchronize(stream));
    a = *result;
}
static void raw_sum(void)
{
    static double s;
    launch(0);
    try(driver.cuMemcpyDtoHAsync(&s, spare, sizeof s, stream));
    try(driver.cuStreamSynchronize(stream));
}
static void raw_nowait(void)
{
    for (int i = 0; i < 100; i++)
        launch(0);
    try(driver.cuStreamSynchronize(stream));
}

/* ------------------------------------------------------------------ transfers */
static float *big, *pinned;
static size_t floats;
static void to_device(void)
{
#pragma omp target update to(big[0:floats])
}
static void from_device(void)
{
#pragma omp target update from(big[0:floats])
}
static void raw_to(void)
{
    try(driver.cuMemcpyHtoDAsync(spare, big, floats * sizeof(float), stream));
    try(driver.cuStreamSynchronize(stream));
}
static void raw_from(void)
{
    try(driver.cuMemcpyDtoHAsync(big, spare, floats * sizeof(float), stream));
    try(driver.cuStreamSynchronize(stream));
}
static void raw_pinned_to(void)
{
    try(driver.cuMemcpyHtoDAsync(spare, pinned, floats * sizeof(float), stream));
    try(driver.cuStreamSynchronize(stream));
}
static void raw_pinned_from(void)
{
    try(driver.cuMemcpyDtoHAsync(pinned, spare, floats * sizeof(float), stream));
    try(driver.cuStreamSynchronize(stream));
}
static void transfers(void)
{
    static const size_t sizes[] = { 1, 1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 26 };
    char what[64];
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int runs = i < 3 ? 500 : i < 5 ? 50 : 8;
        floats = sizes[i];
        snprintf(what, sizeof what, "update to, %zu KB", floats * 4 / 1024);
        row(what, to_device, raw_to, runs);
        snprintf(what, sizeof what, "update to, %zu KB (driver: pinned)", floats * 4 / 1024);
        row(what, to_device, raw_pinned_to, runs);
        snprintf(what, sizeof what, "update from, %zu KB", floats * 4 / 1024);
        row(what, from_device, raw_from, runs);
        snprintf(what, sizeof what, "update from, %zu KB (driver: pinned)", floats * 4 / 1024);
        row(what, from_device, raw_pinned_from, runs);
    }
}
static float *fresh;
static void map_fresh(void)
{
#pragma omp target enter data map(to: fresh[0:floats])
#pragma omp target exit data map(from: fresh[0:floats])
}
static void raw_fresh(void)
{
    CUdeviceptr p;
    try(driver.cuMemAlloc(&p, floats * sizeof(float)));
    try(driver.cuMemcpyHtoDAsync(p, fresh, floats * sizeof(float), stream));
    try(driver.cuMemcpyDtoHAsync(fresh, p, floats * sizeof(float), stream));
    try(driver.cuStreamSynchronize(stream));
    try(driver.cuMemFree(p));
}

/* ------------------------------------------------------------------ overlap */
#define WORK(p, n)                                                                                                                    \
    for (int i = 0; i < n; i++) {                                                                                                     \
        float x = p[i];                                                                                                               \
        for (int k = 0; k < 400; k++)                                                                                                 \
            x = x * 0.5f + 1;                                                                                                         \
        p[i] = x;                                                                                                                     \
    }
static void in_turn(void)
{
    for (int c = 0; c < CHUNKS; c++) {
        float *p = fresh + (size_t)c * CHUNK;
#pragma omp target teams distribute parallel for map(tofrom: p[0:CHUNK])
        WORK(p, CHUNK)
    }
}
static void overlapped(void)
{
    for (int c = 0; c < CHUNKS; c++) {
        float *p = fresh + (size_t)c * CHUNK;
#pragma omp target enter data map(to: p[0:CHUNK]) nowait depend(out: p[0])
#pragma omp target teams distribute parallel for nowait depend(inout: p[0])
        WORK(p, CHUNK)
#pragma omp target exit data map(from: p[0:CHUNK]) nowait depend(inout: p[0])
    }
#pragma omp taskwait
}
static void kernels_only(void)
{
    for (int c = 0; c < CHUNKS; c++) {
        float *p = (float *)spare + (size_t)c * CHUNK;
#pragma omp target teams distribute parallel for is_device_ptr(p)
        WORK(p, CHUNK)
    }
}

static void launches(void)
{
    row("region", region, raw_region, MOST);
#pragma omp target enter data map(to: v0, v1, v2, v3)
    row("region, 4 present variables", region_present, raw_region, MOST);
    row("region, one int mapped tofrom", region_mapped, raw_mapped, MOST);
    row("region, one int mapped tofrom (pinned)", region_mapped, raw_mapped_pinned, MOST);
    row("region, reduction of a double", region_sum, raw_sum, MOST);
    row("100 regions with nowait and depend", region_nowait, raw_nowait, 50);
}

int main(int argc, char **argv)
{
    int dev = omp_get_default_device();
    flag = omp_target_alloc(1000 * sizeof *flag, dev);
    region();
    if (!flag || start_driver())
        failed("setting up");
    printf("%-44s %s\n", "", "microseconds");
    launches();
    if (argc > 1 && !strcmp(argv[1], "launches"))
        return 0;

    size_t bytes = (size_t)BIG * sizeof(float);
    big = malloc(bytes), fresh = malloc(bytes);
    if (!big || !fresh || driver.cuMemHostAlloc((void **)&pinned, bytes, 0))
        failed("allocating");
    memset(big, 0, bytes), memset(fresh, 0, bytes), memset(pinned, 0, bytes);
#pragma omp target enter data map(alloc: big[0:BIG])
    transfers();
    floats = 1024;
    row("map tofrom of 4 KB that is not there", map_fresh, raw_fresh, 500);
    floats = 1 << 22;
    row("map tofrom of 16 MB that is not there", map_fresh, raw_fresh, 30);
    row("16 chunks of 32 MB: kernels alone", kernels_only, NULL, 5);
    row("16 chunks: in, kernel, out, one by one", in_turn, NULL, 5);
    row("16 chunks: the same with nowait and depend", overlapped, NULL, 5);
    return 0;
}
