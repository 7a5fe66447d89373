// samples/rows.c: a block of threads for a row, the sum by shuffles and shared memory.
#include "block.h"

__global__ void rows(int n, const int *__restrict__ start, const double *__restrict__ value, double *__restrict__ sum)
{
    for (int i = blockIdx.x; i < n; i += gridDim.x) {
        double s = 0;
#pragma unroll 4
        for (int k = start[i] + threadIdx.x; k < start[i + 1]; k += blockDim.x)
            s += value[k];
        s = block(s);
        if (threadIdx.x == 0)
            sum[i] = s;
        __syncthreads();
    }
}

#ifdef MAIN
#include "time.h"
int main(int argc, char **argv)
{
    int n = atoi(argc > 1 ? argv[1] : "500"), *host = (int *)malloc((n + 1) * sizeof *host), *start = on_device<int>(n + 1);
    host[0] = 0;
    for (int i = 0; i < n; i++)
        host[i + 1] = host[i] + i * 37 % 900;
    cudaMemcpy(start, host, (n + 1) * sizeof *host, cudaMemcpyHostToDevice);
    double *value = on_device<double>(host[n] + 1, 1), *sum = on_device<double>(n);
    timed("rows", n, 128, [&] { rows<<<n, 128>>>(n, start, value, sum); });
}
#endif
