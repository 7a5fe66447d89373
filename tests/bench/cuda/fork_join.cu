// samples/fork_join.c: a block of threads for a row, which is added up and then scaled.
#include "block.h"

__device__ double everywhere(double s)
{
    __shared__ double all;
    s = block(s);
    if (threadIdx.x == 0)
        all = s;
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
        sum = everywhere(sum);
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
