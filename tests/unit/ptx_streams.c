/* ptx_streams.c - streams of the PTX machine: each in its order, several in any order by the seed, copies to the host late but
 * not after the synchronisation; events; cooperative launches. */
#include <pthread.h>
#include "hostrt/ptx/beyond.h"
#include "tests/unit/ptx.h"

/* out = out * 10 + in, so that out tells in which order the kernels ran */
static const char append[] = "ld.global.b64 %rd5, [%rd20]; mul.lo.s64 %rd9, %rd5, 10; add.s64 %rd9, %rd9, %rd1;";

static CUfunction function;
static CUdeviceptr number, digits;
static void run_digit(CUstream s, unsigned digit)
{
    CUdeviceptr in = digits + digit * 24;
    void *params[] = { &number, &in };
    uint64_t value[3] = { digit };
    if (cuMemcpyHtoDAsync_v2(in, value, sizeof value, s) || cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, s, params, NULL))
        _exit(90);
    memset(value, 0xff, sizeof value); /* it has been read */
}

/* 1 2 3 in one stream, 4 5 in the other: how many of 4 and 5 came before how many of the others; 99: not in order. */
static int inversions(uint64_t n)
{
    int at[6] = { 0 }, k, count = 0;
    for (k = 5; n && k; n /= 10, k--)
        if (n % 10 < 6)
            at[n % 10] = k;
    if (n || k || !at[1] || !at[4] || at[1] > at[2] || at[2] > at[3] || at[4] > at[5])
        return 99;
    for (int a = 1; a <= 3; a++)
        for (int b = 4; b <= 5; b++)
            count += at[b] < at[a];
    return count;
}

struct seen {
    int orders[7], late, wrong;
};
static void run_seed(const char *seed, struct seen *all)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        CUcontext c;
        CUmodule m;
        CUstream a, b;
        uint64_t result = 0, zero = 0;
        if (*seed)
            setenv("OMPGPU_PTX_SCHEDULE", seed, 1);
        if (cuInit(0) || cuDevicePrimaryCtxRetain(&c, 0) || cuCtxSetCurrent(c) || cuStreamCreate(&a, 0) || cuStreamCreate(&b, 0) ||
            load(&m, kernel_text("", append)) || cuModuleGetFunction(&function, m, "k") || cuMemAlloc_v2(&number, 8) ||
            cuMemAlloc_v2(&digits, 240) || cuMemcpyHtoDAsync_v2(number, &zero, 8, a) || cuStreamSynchronize(a))
            _exit(91);
        run_digit(a, 1), run_digit(b, 4), run_digit(a, 2), run_digit(b, 5), run_digit(a, 3);
        if (cuStreamSynchronize(b) || cuMemcpyDtoHAsync_v2(&result, number, 8, a))
            _exit(92);
        bool late = result == 0;
        if (cuStreamSynchronize(a) || cuMemFree_v2(number) || cuModuleUnload(m) || cuStreamDestroy_v2(a) || cuStreamDestroy_v2(b))
            _exit(93);
        _exit(inversions(result) + 8 * late);
    }
    waitpid(child, &status, 0);
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 99;
    if (status > 15 || status % 8 == 7) {
        printf("# seed %s: %d\n", seed, status);
        all->wrong++;
        return;
    }
    all->orders[status % 8]++;
    all->late += status / 8;
}

/* 1 2 3 in one stream, 4 5 in the other: 4 waits for 2 and 3 for 5, by one event that is recorded twice. */
static void test_events(const char *seed)
{
    CUcontext c;
    CUmodule m;
    CUstream a, b;
    CUevent e, never;
    uint64_t result = 0, zero = 0;
    float ms = -1;
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child) {
        waitpid(child, &status, 0);
        check(!status, "a stream waits for what was recorded last, seed %s", seed);
        return;
    }
    setenv("OMPGPU_PTX_SCHEDULE", seed, 1);
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&c, 0) || cuCtxSetCurrent(c) || cuStreamCreate(&a, 0) || cuStreamCreate(&b, 0) ||
        load(&m, kernel_text("", append)) || cuModuleGetFunction(&function, m, "k") || cuMemAlloc_v2(&number, 8) ||
        cuMemAlloc_v2(&digits, 240) || cuMemcpyHtoDAsync_v2(number, &zero, 8, a) || cuStreamSynchronize(a) ||
        cuEventCreate(&e, CU_EVENT_DEFAULT) || cuEventCreate(&never, CU_EVENT_DISABLE_TIMING) || cuStreamWaitEvent(a, never, 0) ||
        cuEventSynchronize(never) || cuEventQuery(never))
        _exit(1);
    run_digit(a, 1), run_digit(a, 2);
    if (cuEventRecord(e, a) || cuStreamWaitEvent(b, e, 0))
        _exit(2);
    run_digit(b, 4), run_digit(b, 5);
    if (cuEventRecord(e, b) || cuStreamWaitEvent(a, e, 0))
        _exit(3);
    run_digit(a, 3);
    while (cuEventQuery(e) == CUDA_ERROR_NOT_READY)
        ;
    if (cuEventElapsedTime_v2(&ms, e, e) || ms != 0 || cuEventElapsedTime_v2(&ms, e, never) != CUDA_ERROR_INVALID_HANDLE ||
        cuEventDestroy_v2(e) || cuEventDestroy_v2(never) || cuMemcpyDtoHAsync_v2(&result, number, 8, a) || cuStreamSynchronize(a))
        _exit(4);
    _exit(result == 12453 ? 0 : 5);
}

/* One host thread records an event while another one makes a stream wait for it, and waits for that stream. */
static CUevent recorded;
static int stop;
static void *record(void *stream)
{
    CUcontext c;
    if (cuDevicePrimaryCtxRetain(&c, 0) || cuCtxSetCurrent(c))
        _exit(1);
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        if (cuEventRecord(recorded, stream))
            _exit(2);
    return NULL;
}

static void test_recording(void)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child) {
        waitpid(child, &status, 0);
        check(!status, "an event is recorded while a stream waits for it");
        return;
    }
    alarm(60);
    setenv("OMPGPU_PTX_SCHEDULE", "4", 1);
    CUcontext c;
    CUstream a, b;
    pthread_t thread;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&c, 0) || cuCtxSetCurrent(c) || cuStreamCreate(&a, 0) || cuStreamCreate(&b, 0) ||
        cuEventCreate(&recorded, CU_EVENT_DISABLE_TIMING) || pthread_create(&thread, NULL, record, a))
        _exit(3);
    for (int i = 0; i < 400000; i++)
        if (cuStreamWaitEvent(b, recorded, 0) || cuStreamSynchronize(b))
            _exit(4);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    _exit(pthread_join(thread, NULL) || cuStreamSynchronize(a));
}

/* Every team waits for all: more than run at a time in another launch.  Too many for the device are refused. */
static void test_cooperative(void)
{
    CUcontext c;
    CUmodule m;
    CUfunction f;
    CUdeviceptr cell;
    CUstream s;
    uint64_t value[3] = { 0 };
    static const char meet[] = "atom.add.u32 %r5, [%rd21], 1; LOOP: ld.relaxed.gpu.u32 %r5, [%rd21]; mov.u32 %r6, %nctaid.x; "
                               "setp.lt.u32 %p1, %r5, %r6; @%p1 bra LOOP; mov.u32 %r5, %envreg2; setp.eq.u32 %p1, %r5, 0; @%p1 trap;";
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&c, 0) || cuCtxSetCurrent(c) || cuStreamCreate(&s, 0) || load(&m, kernel_text("", meet)) ||
        cuModuleGetFunction(&f, m, "k") || cuMemAlloc_v2(&cell, 24) || cuMemcpyHtoDAsync_v2(cell, value, 24, s))
        _exit(94);
    CUdeviceptr out;
    cuMemAlloc_v2(&out, 8);
    void *params[] = { &out, &cell };
    check(!cuLaunchCooperativeKernel(f, 40, 1, 1, 1, 1, 1, 0, s, params) && !cuStreamSynchronize(s), "a cooperative launch of 40 teams");
    check(cuLaunchCooperativeKernel(f, 17, 1, 1, 512, 1, 1, 0, s, params) == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
          "more teams than the device holds at a time are refused");
    if (cuMemFree_v2(out) || cuMemFree_v2(cell) || cuModuleUnload(m) || cuStreamDestroy_v2(s))
        _exit(95);
}

/* A fault in one stream is the device's. */
static void test_fault(void)
{
    CUcontext c;
    CUmodule m;
    CUstream a, b;
    setenv("OMPGPU_PTX_SCHEDULE", "1", 1);
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&c, 0) || cuCtxSetCurrent(c) || cuStreamCreate(&a, 0) || cuStreamCreate(&b, 0) ||
        load(&m, kernel_text("", "trap;")) || cuModuleGetFunction(&function, m, "k") || cuMemAlloc_v2(&number, 8))
        _exit(94);
    void *params[] = { &number, &number };
    uint64_t value[3] = { 0 };
    check(!cuMemcpyHtoDAsync_v2(number, value, 8, a) && !cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, a, params, NULL),
          "a kernel that fails is launched");
    check(cuStreamSynchronize(a) && cuStreamSynchronize(b) && cuMemcpyHtoDAsync_v2(number, value, 8, b),
          "... and every stream of the device says so afterwards");
}

int main(void)
{
    struct seen none = { .late = 0 }, random = { .late = 0 };
    int kinds = 0;
    run_seed("", &none);
    check(none.orders[3] == 1 && !none.late && !none.wrong, "without a seed all is done at once");
    for (int k = 1; k <= 24; k++) {
        char seed[8];
        snprintf(seed, sizeof seed, "%d", k);
        run_seed(seed, &random);
    }
    for (int k = 0; k < 7; k++)
        kinds += random.orders[k] != 0;
    check(!random.wrong, "each stream keeps its order");
    check(kinds >= 3, "streams run in different orders: %d of 7 kinds", kinds);
    check(random.late > 0 && random.late < 24, "copies to the host are late, %d times of 24", random.late);
    for (int k = 1; k <= 6; k++)
        test_events((char[]){ (char)('0' + k), 0 });
    test_recording();
    test_cooperative();
    test_fault();
    printf("1..%u\n", tests);
    return failures != 0;
}
