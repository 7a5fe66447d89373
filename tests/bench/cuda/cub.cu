// The reductions of tests/bench/gpu_reductions.c with CUB, linked into it where nvcc is at hand (tests/gpu/kit.sh).  A call is what a user of
// CUB has in a steady state: one call with memory at hand, the result copied back, the stream waited for.
#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>
#include <cstring>
#include <ctime>
#include <thrust/iterator/counting_iterator.h>

struct times { const double *x, *y; __device__ double operator()(int i) const { return x[i] * y[i]; } };
struct pair { double re, im; };
struct plus_pair { __device__ pair operator()(pair a, pair b) const { return { a.re + b.re, a.im + b.im }; } };
struct quad { double sum, squares, low, high; };
struct to_quad { __device__ quad operator()(double v) const { return { v, v * v, v, v }; } };
struct plus_quad {
    __device__ quad operator()(quad a, quad b) const
    {
        return { a.sum + b.sum, a.squares + b.squares, b.low < a.low ? b.low : a.low, b.high > a.high ? b.high : a.high };
    }
};
struct eight { double sum, squares, low, high; long long positive; float rough; int odd; unsigned bits; };
struct to_eight {
    const double *x;
    __device__ eight operator()(int i) const
    {
        double v = x[i];
        return { v, v * v, v, v, v > 0, (float)v, (int)v & 1, (unsigned)i };
    }
};
struct plus_eight {
    __device__ eight operator()(eight a, eight b) const
    {
        return { a.sum + b.sum, a.squares + b.squares, b.low < a.low ? b.low : a.low, b.high > a.high ? b.high : a.high,
                 a.positive + b.positive, a.rough + b.rough, a.odd + b.odd, a.bits | b.bits };
    }
};

static cudaError_t reduce(const char *name, const void *data, int n, void *memory, size_t &bytes, void *out)
{
    auto d = (const double *)data;
    thrust::counting_iterator<int> i(0);
    if (!strcmp(name, "sum_int"))
        return cub::DeviceReduce::Sum(memory, bytes, (const int *)data, (int *)out, n);
    if (!strcmp(name, "sum_float"))
        return cub::DeviceReduce::Sum(memory, bytes, (const float *)data, (float *)out, n);
    if (!strcmp(name, "sum_double"))
        return cub::DeviceReduce::Sum(memory, bytes, d, (double *)out, n);
    if (!strcmp(name, "dot"))
        return cub::DeviceReduce::TransformReduce(memory, bytes, i, (double *)out, n, cuda::std::plus<>{}, times{ d, d + n }, 0.0);
    if (!strcmp(name, "minloc_double"))
        return cub::DeviceReduce::ArgMin(memory, bytes, d, (double *)out, (long long *)((double *)out + 1), (long long)n);
    if (!strcmp(name, "sum_complex"))
        return cub::DeviceReduce::Reduce(memory, bytes, (const pair *)data, (pair *)out, n, plus_pair{}, pair{ 0, 0 });
    if (!strcmp(name, "four"))
        return cub::DeviceReduce::TransformReduce(memory, bytes, d, (quad *)out, n, plus_quad{}, to_quad{}, quad{ 0, 0, 1e308, -1e308 });
    if (!strcmp(name, "eight"))
        return cub::DeviceReduce::TransformReduce(memory, bytes, i, (eight *)out, n, plus_eight{}, to_eight{ d },
                                                  eight{ 0, 0, 1e308, -1e308, 0, 0, 0, 0 });
    return cudaErrorNotSupported;     // CUB has no reduction of arrays
}

static double now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

// Nanoseconds of the shortest call; -1 where there is none, or no GPU.
extern "C" double bench_cub(const char *name, const void *data, int n, int repeats)
{
    int devices;
    size_t bytes = 0;
    void *out = nullptr, *memory = nullptr;
    char result[64];
    double shortest = -1;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0 || reduce(name, data, n, nullptr, bytes, nullptr) != cudaSuccess)
        return -1;
    if (cudaMalloc(&out, sizeof result) == cudaSuccess && cudaMalloc(&memory, bytes ? bytes : 1) == cudaSuccess)
        for (int i = 0; i < repeats; i++) {
            double start = now();
            if (reduce(name, data, n, memory, bytes, out) != cudaSuccess ||
                cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost) != cudaSuccess)
                break;
            double t = now() - start;
            shortest = shortest < 0 || t < shortest ? t : shortest;
        }
    cudaFree(memory);
    cudaFree(out);
    return shortest;
}
