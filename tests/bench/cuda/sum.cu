// The reductions of samples/sum.c: shuffles in the warp, shared memory between warps, the last block adds up the blocks.
__device__ void combine(float &s, double &m, float s2, double m2)
{
    s += s2;
    m = m2 > m ? m2 : m;
}

__device__ void warp(float &s, double &m)
{
    for (int d = 16; d; d /= 2)
        combine(s, m, __shfl_down_sync(~0u, s, d), __shfl_down_sync(~0u, m, d));
}

__device__ void block(float &s, double &m)
{
    __shared__ float ws[32];
    __shared__ double wm[32];
    int lane = threadIdx.x % 32, w = threadIdx.x / 32, nwarps = (blockDim.x + 31) / 32;
    warp(s, m);
    if (lane == 0)
        ws[w] = s, wm[w] = m;
    __syncthreads();
    if (w == 0) {
        s = lane < nwarps ? ws[lane] : 0;
        m = lane < nwarps ? wm[lane] : -1e308;
        warp(s, m);
    }
}

__global__ void sum(int n, const float *__restrict__ x, float *sum, double *max, float *slot_s, double *slot_m, unsigned *arrived)
{
    __shared__ bool last;
    float s = 0;
    double m = -1e308;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        s += x[i];
        if (m < (double)x[i] * (i % 13))
            m = (double)x[i] * (i % 13);
    }
    block(s, m);
    if (threadIdx.x == 0) {
        slot_s[blockIdx.x] = s;
        slot_m[blockIdx.x] = m;
        __threadfence();
        last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    s = 0, m = -1e308;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x)
        combine(s, m, ((volatile float *)slot_s)[b], ((volatile double *)slot_m)[b]);
    block(s, m);
    if (threadIdx.x == 0) {
        *sum += s;
        *max = m > *max ? m : *max;
    }
}

#ifdef MAIN
#include "time.h"
int main(int argc, char **argv)
{
    int n = atoi(argc > 1 ? argv[1] : "1000000"), teams = on_a_device(n, 256);
    float *x = on_device<float>(n, 1), *s = on_device<float>(1), *slot_s = on_device<float>(teams);
    double *m = on_device<double>(1), *slot_m = on_device<double>(teams);
    unsigned *arrived = on_device<unsigned>(1);
    timed("sum", teams, 256, [&] { sum<<<teams, 256>>>(n, x, s, m, slot_s, slot_m, arrived); });
}
#endif
