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

#ifdef MAIN
#include "time.h"
int main(int argc, char **argv)
{
    int n = atoi(argc > 1 ? argv[1] : "200"), teams = (n * n + 127) / 128, slots = on_a_device((n - 2) * (n - 2), 256);
    size_t size = (size_t)n * n;
    double *u = on_device<double>(size), *uold = on_device<double>(size), *f = on_device<double>(size, 1), *error = on_device<double>(1),
           *slot = on_device<double>(slots);
    unsigned *arrived = on_device<unsigned>(1);
    timed("copy", teams, 128, [&] { copy<<<teams, 128>>>(n, uold, u); });
    timed("stencil", slots, 256, [&] { stencil<<<slots, 256>>>(n, 1, 1, -4, 0.8, u, uold, f, error, slot, arrived); });
}
#endif
