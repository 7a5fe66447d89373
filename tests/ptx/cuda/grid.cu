// grid.cu - blocks that meet in a cooperative launch, streams that wait for each other's events, threads that return before a barrier.
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Each step adds a block's number to its neighbour's cell of the step before, 20 blocks: more than run at a time in other launches.
__global__ void steps(int *cells, int n)
{
    cg::grid_group grid = cg::this_grid();
    for (int k = 0; k < n; k++) {
        int *from = cells + k % 2 * gridDim.x, *to = cells + (k + 1) % 2 * gridDim.x;
        if (threadIdx.x == 0)
            to[blockIdx.x] = from[(blockIdx.x + 1) % gridDim.x] + blockIdx.x;
        grid.sync();
    }
    if (grid.thread_rank() == 0)
        cells[2 * gridDim.x] = grid.is_valid() * (int)grid.size();
}
__global__ void alone(int *out) { *out = cg::this_grid().is_valid(); }
static void test_grid()
{
    enum { TEAMS = 20, STEPS = 5 };
    Array<int> cells(2 * TEAMS + 1), valid(1, [](int) { return 1; });
    int n = STEPS;
    void *args[] = { &cells.device, &n };
    must(cudaLaunchCooperativeKernel(steps, dim3(TEAMS), dim3(40), args, 0, 0));
    int now[TEAMS] = { 0 }, next[TEAMS] = { 0 }, before[TEAMS];
    for (int k = 0; k < STEPS; k++) {
        memcpy(before, now, sizeof now);
        for (int t = 0; t < TEAMS; t++)
            next[t] = now[(t + 1) % TEAMS] + t;
        memcpy(now, next, sizeof now);
    }
    expect("grid.sync", cells, [&](int i) { return i == 2 * TEAMS ? TEAMS * 40 : i >= TEAMS ? now[i - TEAMS] : before[i]; });
    alone<<<1, 1>>>(valid.device);
    expect("no cooperative launch", valid, [](int) { return 0; });
}

// c waits for what a and b did last; b for a.
__global__ void scale_and_add(int *p, int scale, int add) { p[threadIdx.x] = p[threadIdx.x] * scale + add; }
static void test_events()
{
    Array<int> p(8, [](int i) { return i; });
    cudaStream_t s[3];
    cudaEvent_t from, half, done, unused;
    for (cudaStream_t &each : s)
        must(cudaStreamCreateWithFlags(&each, cudaStreamNonBlocking));
    must(cudaEventCreate(&from)), must(cudaEventCreate(&half)), must(cudaEventCreate(&unused));
    must(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    must(cudaStreamWaitEvent(s[2], unused, 0)); // never recorded: nothing to wait for
    must(cudaEventRecord(from, s[0]));
    scale_and_add<<<1, 8, 0, s[0]>>>(p.device, 3, 1);
    must(cudaEventRecord(half, s[0]));
    must(cudaStreamWaitEvent(s[1], half, 0));
    scale_and_add<<<1, 8, 0, s[1]>>>(p.device, 5, 2);
    must(cudaEventRecord(done, s[1]));
    must(cudaStreamWaitEvent(s[2], done, 0));
    must(cudaEventRecord(done, s[0])); // recorded again: s[2] still waits for s[1]
    scale_and_add<<<1, 8, 0, s[2]>>>(p.device, 7, 3);
    must(cudaMemcpyAsync(p.host.data(), p.device, 8 * sizeof(int), cudaMemcpyDeviceToHost, s[2]));
    must(cudaEventRecord(half, s[2]));
    must(cudaEventDestroy(done)); // the streams keep what they wait for
    while (cudaEventQuery(half) == cudaErrorNotReady)
        ;
    float ms = -1;
    must(cudaEventSynchronize(half)), must(cudaEventElapsedTime(&ms, from, half));
    if (ms < 0)
        printf("FAILED elapsed time %g\n", ms), failures++;
    for (int i = 0; i < 8; i++)
        if (p.host[i] != ((i * 3 + 1) * 5 + 2) * 7 + 3)
            printf("FAILED events: [%d] is %d\n", i, p.host[i]), failures++;
    for (cudaStream_t each : s)
        must(cudaStreamDestroy(each));
    must(cudaEventDestroy(from)), must(cudaEventDestroy(half)), must(cudaEventDestroy(unused));
}

// Threads that have returned are missed neither by barriers nor by what the lanes of a warp do together.
__global__ void early_return(int *out, int n)
{
    __shared__ int box[64];
    int t = threadIdx.x;
    if (t >= n) {
        for (int k = 0; k < 100; k++)
            atomicAdd(out + 64, 1);               // late
        return;
    }
    box[t] = t;
    __syncthreads();
    int sum = __syncthreads_count(box[n - 1 - t] % 2), all = __all_sync(0xffffffff, t < n);
    __syncwarp();
    out[t] = sum * 10 + all;
}
static void test_early_return()
{
    for (int n : { 1, 31, 33, 50 }) {
        Array<int> out(65);
        early_return<<<1, 64>>>(out.device, n);
        expect("early return", out, [&](int i) { return i == 64 ? (64 - n) * 100 : i < n ? n / 2 * 10 + 1 : 0; });
    }
}

int main()
{
    test_grid();
    test_events();
    test_early_return();
    return result();
}
