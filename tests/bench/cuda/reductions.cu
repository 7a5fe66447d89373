// Reductions as a CUDA programmer writes them who wants the same bits in each run: a loop with four loads in flight, shuffles in the
// warp, shared memory between warps, a slot per block, the last block combines the slots in order.  Names are those of the programs
// in tests/bench/reductions/.
__device__ double down(double v, int d) { return __shfl_down_sync(~0u, v, d); }
__device__ int down(int v, int d) { return __shfl_down_sync(~0u, v, d); }
__device__ double plus(double a, double b) { return a + b; }
__device__ int plus(int a, int b) { return a + b; }
template <class T> __device__ T none() { return 0; }

struct minloc { double value; int at; };
__device__ minloc down(minloc v, int d) { return { down(v.value, d), down(v.at, d) }; }
__device__ minloc plus(minloc a, minloc b) { return b.value < a.value || (b.value == a.value && b.at < a.at) ? b : a; }
template <> __device__ minloc none<minloc>() { return { 1e308, 0x7fffffff }; }

struct pair { double re, im; };
__device__ pair down(pair v, int d) { return { down(v.re, d), down(v.im, d) }; }
__device__ pair plus(pair a, pair b) { return { a.re + b.re, a.im + b.im }; }
template <> __device__ pair none<pair>() { return { 0, 0 }; }

struct quad { double sum, squares, low, high; };
__device__ quad down(quad v, int d) { return { down(v.sum, d), down(v.squares, d), down(v.low, d), down(v.high, d) }; }
__device__ quad plus(quad a, quad b)
{
    return { a.sum + b.sum, a.squares + b.squares, b.low < a.low ? b.low : a.low, b.high > a.high ? b.high : a.high };
}
template <> __device__ quad none<quad>() { return { 0, 0, 1e308, -1e308 }; }

template <class T> __device__ T block(T s, T *ws)
{
    int lane = threadIdx.x % 32, w = threadIdx.x / 32, nwarps = (blockDim.x + 31) / 32;
#pragma unroll
    for (int d = 16; d; d /= 2)
        s = plus(s, down(s, d));
    if (lane == 0)
        ws[w] = s;
    __syncthreads();
    if (w == 0) {
        s = lane < nwarps ? ws[lane] : none<T>();
#pragma unroll
        for (int d = 16; d; d /= 2)
            s = plus(s, down(s, d));
    }
    return s;
}

template <class T> __device__ void finish(T s, T *result, T *slot, unsigned *arrived)
{
    __shared__ char ws[32 * sizeof(T)] __attribute__((aligned(16)));
    __shared__ bool last;
    s = block(s, (T *)ws);
    if (threadIdx.x == 0) {
        slot[blockIdx.x] = s;
        __threadfence();
        last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last)
        return;
    s = none<T>();
#pragma unroll 1
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x)
        s = plus(s, slot[b]);
    s = block(s, (T *)ws);
    if (threadIdx.x == 0)
        *result = plus(*result, s);
}

template <class T, class F> __device__ T loop(int n, F f)
{
    int stride = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    T s = none<T>();
#pragma unroll 1
    for (; i < n - 3 * stride; i += 4 * stride)
        s = plus(plus(plus(plus(s, f(i)), f(i + stride)), f(i + 2 * stride)), f(i + 3 * stride));
#pragma unroll 1
    for (; i < n; i += stride)
        s = plus(s, f(i));
    return s;
}

#define KERNEL(name, T, args, value) \
    extern "C" __global__ void name(int n, args, T *result, T *slot, unsigned *arrived) \
    { finish(loop<T>(n, [=](int i) { return value; }), result, slot, arrived); }
#define ARRAY(T, x) const T *__restrict__ x
#define ARRAYS(T, x, y) const T *__restrict__ x, const T *__restrict__ y

KERNEL(sum_double, double, ARRAY(double, x), x[i])
KERNEL(sum_int, int, ARRAY(int, x), x[i])
KERNEL(dot, double, ARRAYS(double, x, y), x[i] * y[i])
KERNEL(minloc_double, minloc, ARRAY(double, x), (minloc{ x[i], i }))
KERNEL(sum_complex, pair, ARRAY(pair, x), x[i])
KERNEL(four, quad, ARRAY(double, x), (quad{ x[i], x[i] * x[i], x[i], x[i] }))

#ifdef MAIN
#include "time.h"
// The argument is the exponent of the number of elements.
int main(int argc, char **argv)
{
    int n = 1 << atoi(argc > 1 ? argv[1] : "20"), teams = on_a_device(n, 256);
    void *data = on_device<pair>(n), *slot = on_device<quad>(teams), *result = on_device<quad>(1);
    double *d = (double *)data;
    unsigned *arrived = on_device<unsigned>(1);
#define RUN(name, T, ...) timed(#name, teams, 256, [&] { name<<<teams, 256>>>(n, __VA_ARGS__, (T *)result, (T *)slot, arrived); })
    RUN(sum_int, int, (int *)data);
    RUN(sum_double, double, d);
    RUN(dot, double, d, d + n);
    RUN(minloc_double, minloc, d);
    RUN(sum_complex, pair, (pair *)data);
    RUN(four, quad, d);
}
#endif
