// loops.cu - the loops of gpu_loops.c as a CUDA programmer writes them: a thread an element, blocks of two and three dimensions for nests.  Linked
// into it where nvcc is at hand (tests/gpu/kit.sh).
#include <cmath>
#include <cstring>
#include "../loops.h"
#include "block.h"
enum { THREADS = 256 };

__global__ void copy(int n, float *__restrict__ y, const float *__restrict__ x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}
__global__ void axpy(int n, double a, double *__restrict__ q, const double *__restrict__ p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        q[i] = a * p[i] + q[i];
}
template <class T> __global__ void triad(T n, float a, const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ z)
{
    T i = (T)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = x[i] + a * y[i];
}
__global__ void twice(int n, float *__restrict__ y, const float *__restrict__ x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}
__global__ void transpose(int n, float *__restrict__ y, const float *__restrict__ x)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n)
        y[j * n + i] = x[i * n + j];
}
__global__ void jacobi(int n, double *__restrict__ q, const double *__restrict__ p)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x + 1, i = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (i < n - 1 && j < n - 1)
        q[i * n + j] = 0.25 * (p[i * n + j - 1] + p[i * n + j + 1] + p[(i - 1) * n + j] + p[(i + 1) * n + j]);
}
__global__ void stencil(int n, float *__restrict__ y, const float *__restrict__ x)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x + 1, j = blockIdx.y * blockDim.y + threadIdx.y + 1, i = blockIdx.z * blockDim.z + threadIdx.z + 1;
    if (i >= n - 1 || j >= n - 1 || k >= n - 1)
        return;
    const float *p = &x[(i * n + j) * n + k];
    y[(i * n + j) * n + k] = p[-1] + p[1] + p[-n] + p[n] + p[-n * n] + p[n * n] - 6 * p[0];
}
__global__ void triangle(int n, float *__restrict__ y, const float *__restrict__ x)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j <= i)
        y[i * n + j] = x[i * n + j] + x[j * n + i];
}
__global__ void gather(int n, float *__restrict__ y, const float *__restrict__ x, const int *__restrict__ at)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[at[i]];
}
__global__ void sparse(int n, const int *__restrict__ start, const double *__restrict__ p, const int *__restrict__ at, const float *__restrict__ x,
                       float *__restrict__ y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double s = 0;
    for (int k = start[i]; k < start[i + 1]; k++)
        s += p[k] * x[at[k]];
    y[i] = (float)s;
}
__global__ void rows(const double *__restrict__ p, float *__restrict__ y)
{
    int i = blockIdx.x;
    double s = 0;
#pragma unroll 4
    for (int k = i * 1024 + threadIdx.x; k < (i + 1) * 1024; k += blockDim.x)
        s += p[k];
    s = block(s);
    if (threadIdx.x == 0)
        y[i] = (float)s;
}
__global__ void histogram(int n, int *__restrict__ bins, const int *__restrict__ at)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[at[i] % 1024], 1);
}
__global__ void functions(int n, float *__restrict__ y, const float *__restrict__ x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = expf(-x[i]) * sinf(x[i]) + sqrtf(x[i]);
}
__global__ void bodies(int n, const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ z)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float ax = 0, ay = 0;
    for (int j = 0; j < n; j++) {
        float dx = x[j] - x[i], dy = y[j] - y[i], r = dx * dx + dy * dy + 0.01f;
        float f = 1 / (r * sqrtf(r));
        ax += dx * f;
        ay += dy * f;
    }
    z[i] = ax + ay;
}
__global__ void matmul(int n, const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ z)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n)
        return;
    float s = 0;
    for (int k = 0; k < n; k++)
        s += x[i * n + k] * y[k * n + j];
    z[i * n + j] = s;
}

// ------------------------------------------------------------------ launches
static int blocks(int n, int threads = THREADS) { return (n + threads - 1) / threads; }
static const dim3 square(32, 8), brick(32, 4, 2);
static dim3 squares(int n) { return dim3(blocks(n, square.x), blocks(n, square.y)); }
static dim3 bricks(int n) { return dim3(blocks(n, brick.x), blocks(n, brick.y), blocks(n, brick.z)); }

static const struct {
    const char *name;
    void (*launch)(const loop_data &d, int n, int side, int edge);
} launches[] = {
    { "copy", [](const loop_data &d, int n, int, int) { copy<<<blocks(n), THREADS>>>(n, d.y, d.x); } },
    { "axpy", [](const loop_data &d, int n, int, int) { axpy<<<blocks(n), THREADS>>>(n, 0.5, d.q, d.p); } },
    { "triad", [](const loop_data &d, int n, int, int) { triad<int><<<blocks(n), THREADS>>>(n, 3, d.x, d.y, d.z); } },
    { "triad_size", [](const loop_data &d, int n, int, int) { triad<size_t><<<blocks(n), THREADS>>>(n, 3, d.x, d.y, d.z); } },
    { "static_1", [](const loop_data &d, int n, int, int) { twice<<<blocks(n), THREADS>>>(n, d.y, d.x); } },
    { "transpose", [](const loop_data &d, int, int m, int) { transpose<<<squares(m), square>>>(m, d.y, d.x); } },
    { "jacobi", [](const loop_data &d, int, int m, int) { jacobi<<<squares(m - 2), square>>>(m, d.q, d.p); } },
    { "stencil", [](const loop_data &d, int, int, int m) { stencil<<<bricks(m - 2), brick>>>(m, d.y, d.x); } },
    { "triangle", [](const loop_data &d, int, int m, int) { triangle<<<squares(m), square>>>(m, d.y, d.x); } },
    { "gather", [](const loop_data &d, int n, int, int) { gather<<<blocks(n), THREADS>>>(n, d.y, d.x, d.at); } },
    { "sparse", [](const loop_data &d, int n, int, int) { sparse<<<blocks(n / 16), THREADS>>>(n / 16, d.start, d.p, d.at, d.x, d.y); } },
    { "rows", [](const loop_data &d, int n, int, int) { rows<<<n / 1024, 128>>>(d.p, d.y); } },
    { "histogram", [](const loop_data &d, int n, int, int) { histogram<<<blocks(n), THREADS>>>(n, d.start, d.at); } },
    { "functions", [](const loop_data &d, int n, int, int) { functions<<<blocks(n), THREADS>>>(n, d.y, d.x); } },
    { "bodies", [](const loop_data &d, int, int m, int) { bodies<<<blocks(m, 128), 128>>>(m, d.x, d.y, d.z); } },
    { "matmul", [](const loop_data &d, int, int, int m) { matmul<<<squares(m), square>>>(m, d.x, d.y, d.z); } },
};

extern "C" int cuda_loop(const char *name, const loop_data *d, int n)
{
    if (!name)
        return cudaStreamSynchronize(0) != cudaSuccess;
    for (auto &l : launches)
        if (!strcmp(l.name, name)) {
            l.launch(*d, n, (int)sqrt(n + 0.5), (int)cbrt(n + 0.5));
            return cudaGetLastError() != cudaSuccess;
        }
    return 1;
}
