// samples/fork_join.c: a block of threads for a row, which is added up and then scaled.
__device__ double block(double s)
{
    __shared__ double ws[32], all;
    int lane = threadIdx.x % 32, w = threadIdx.x / 32, nwarps = (blockDim.x + 31) / 32;
    for (int d = 16; d; d /= 2)
        s += __shfl_down_sync(~0u, s, d);
    if (lane == 0)
        ws[w] = s;
    __syncthreads();
    if (w == 0) {
        s = lane < nwarps ? ws[lane] : 0;
        for (int d = 16; d; d /= 2)
            s += __shfl_down_sync(~0u, s, d);
        if (lane == 0)
            all = s;
    }
    __syncthreads();
    return all;
}

__global__ void fork_join(int n, double *__restrict__ a, double *__restrict__ total)
{
    for (int i = blockIdx.x; i < n; i += gridDim.x) {
        double *row = a + (size_t)i * n, sum = 0;
#pragma unroll 4
        for (int j = threadIdx.x; j < n; j += blockDim.x)
            sum += row[j];
        sum = block(sum);
        double scale = 1 / sum;
        for (int j = threadIdx.x; j < n; j += blockDim.x)
            row[j] *= scale;
        if (threadIdx.x == 0)
            total[i] = sum;
        __syncthreads();
    }
}

#ifdef MAIN
#include "time.h"
int main(int argc, char **argv)
{
    int n = atoi(argc > 1 ? argv[1] : "200");
    double *a = on_device<double>((size_t)n * n, 1), *total = on_device<double>(n);
    timed("fork_join", n, 128, [&] { fork_join<<<n, 128>>>(n, a, total); });
}
#endif
