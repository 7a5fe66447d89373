// time.h - for the programs of the gpu-kit (-DMAIN): device memory, and a line for each launch as OMPGPU_INFO prints it, so that the kit
// reads both alike.  The time is that from the launch to the end of the kernel, as libompgpu takes it.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

template <class T> T *on_device(size_t n, int byte = 0)
{
    T *p = 0;
    if (cudaMalloc((void **)&p, n * sizeof(T)) || cudaMemset(p, byte, n * sizeof(T)))
        fprintf(stderr, "no device memory\n"), exit(1);
    return p;
}

template <class F> void timed(const char *name, int teams, int threads, F launch)
{
    struct timespec a, b;
    cudaDeviceSynchronize();
    clock_gettime(CLOCK_MONOTONIC, &a);
    launch();
    cudaError_t failed = cudaDeviceSynchronize();
    clock_gettime(CLOCK_MONOTONIC, &b);
    if (failed || (failed = cudaGetLastError()))
        fprintf(stderr, "%s: %s\n", name, cudaGetErrorString(failed)), exit(1);
    fprintf(stderr, "cuda: 0: launch %s on cuda:0: %d teams x %d threads, CUDA, %.2f ms\n", name, teams, threads,
            (b.tv_sec - a.tv_sec) * 1e3 + (b.tv_nsec - a.tv_nsec) * 1e-6);
}

// Blocks for n elements, but no more than run at a time: as libompgpu starts reductions.
static inline int on_a_device(int n, int threads)
{
    int processors = 1, each = 2048, blocks = (n + threads - 1) / threads;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    cudaDeviceGetAttribute(&each, cudaDevAttrMaxThreadsPerMultiProcessor, 0);
    return blocks < processors * (each / threads) ? blocks : processors * (each / threads);
}
