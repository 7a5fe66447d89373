// The two loops of samples/jacobi.c; the error by shuffles, shared memory and the last block.
__global__ void copy(int n, double *__restrict__ uold, const double *__restrict__ u)
{
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n * n; k += gridDim.x * blockDim.x)
        uold[k] = u[k];
}

#include "block.h"

__global__ void stencil(int n, double ax, double ay, double b, double omega, double *__restrict__ u, const double *__restrict__ uold,
                        const double *__restrict__ f, double *error, double *slot, unsigned *arrived)
{
    __shared__ bool last;
    double s = 0;
    int m = n - 2;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < m * m; k += gridDim.x * blockDim.x) {
        int i = k / m + 1, j = k % m + 1;
        double resid = (ax * (uold[(i - 1) * n + j] + uold[(i + 1) * n + j]) + ay * (uold[i * n + j - 1] + uold[i * n + j + 1])
                        + b * uold[i * n + j] - f[i * n + j]) / b;
        u[i * n + j] = uold[i * n + j] - omega * resid;
        s += resid * resid;
    }
    s = block(s);
    if (threadIdx.x == 0) {
        slot[blockIdx.x] = s;
        __threadfence();
        last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    s = 0;
    for (unsigned k = threadIdx.x; k < gridDim.x; k += blockDim.x)
        s += ((volatile double *)slot)[k];
    s = block(s);
    if (threadIdx.x == 0)
        *error += s;
}
