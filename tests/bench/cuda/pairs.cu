// pairs.cu - the loops of pairs.c as a CUDA programmer writes them: a thread an element, blocks of two and three dimensions for nests.
#include <stdio.h>
#include <stdlib.h>
enum { N = 1 << 16, SIDE = 256, CUBE = 40, ROWS = 4096, BODIES = 512, BINS = 64, SHORT = 512, KINDS = 8, THREADS = 128 };

__global__ void copy(int n, float *__restrict__ y, const float *__restrict__ x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}
template <class T> __device__ void triad(T n, float a, float *__restrict__ u, const float *__restrict__ v, const float *__restrict__ w)
{
    T i = (T)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        u[i] = v[i] + a * w[i];
}
#define TRIAD(name, T)                                                                                                               \
    __global__ void name(T n, float a, float *__restrict__ u, const float *__restrict__ v, const float *__restrict__ w) { triad<T>(n, a, u, v, w); }
TRIAD(triad_int, int)
TRIAD(triad_size, size_t)
TRIAD(triad_long, long)
__global__ void static_1(int n, float *__restrict__ y, const float *__restrict__ x)
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
__global__ void sparse(int n, const int *__restrict__ start, const double *__restrict__ value, const int *__restrict__ at, const float *__restrict__ x,
                       double *__restrict__ sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double s = 0;
    for (int k = start[i]; k < start[i + 1]; k++)
        s += value[k] * x[at[k]];
    sums[i] = s;
}
__global__ void histogram(int n, int *__restrict__ bins, const int *__restrict__ at)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[at[i] % BINS], 1);
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

struct points {
    int n;
    float *at[3], *by[3];
};
__global__ void structs(points *p, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < p->n)
        for (int k = 0; k < 3; k++)
            p->at[k][i] += dt * p->by[k][i];
}
__global__ void escape(int n, float *__restrict__ y)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n)
        return;
    float a = 3.0f * (float)j / (float)n - 2, b = 3.0f * (float)i / (float)n - 1.5f, u = 0, v = 0;
    int k = 0;
    for (; k < 64 && u * u + v * v < 4; k++) {
        float t = u * u - v * v + a;
        v = 2 * u * v + b;
        u = t;
    }
    y[i * n + j] = (float)k;
}
__global__ void search(int n, int points, const double *__restrict__ value, const float *__restrict__ y, float *__restrict__ z)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double at_energy = (double)((unsigned)i * 2654435761u) * 0x1p-32, sum = 0;
    long low = 0, high = points - 1;
    while (high - low > 1) {
        long middle = low + (high - low) / 2;
        if (value[middle] > at_energy)
            high = middle;
        else
            low = middle;
    }
    double part = (value[low + 1] - at_energy) / (value[low + 1] - value[low]);
    for (int k = 0; k < KINDS; k++)
        sum += y[(low + 1) * KINDS + k] - part * (y[(low + 1) * KINDS + k] - y[low * KINDS + k]);
    z[i] = (float)sum;
}
__global__ void convolve(int n, const double *__restrict__ value, double *__restrict__ sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double sum = 0;
    for (int j = 0; j <= i; j++)
        sum += value[j] * value[i - j];
    sums[i] = sum;
}
#ifdef MAIN
static float x[N], y[N], z[N], *dx, *dy, *dz;
static int at[N], bins[BINS], start[ROWS + 1], *dat, *dbins, *dstart;
static double value[ROWS * 9], sums[ROWS], *dvalue, *dsums;
template <class T> static void put(T *&d, const T *h, size_t bytes)
{
    if ((!d && cudaMalloc((void **)&d, bytes)) || cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice))
        exit(1);
}
static void reset()
{
    for (int i = 0; i < N; i++) {
        x[i] = i % 97 * 0.5f;
        y[i] = i % 31;
        z[i] = 0;
        at[i] = (int)(i * 2654435761u >> 16);
    }
    for (int i = 0; i <= ROWS; i++)
        start[i] = i / 4 * 20 + i % 4 * (i % 4 + 2);
    for (int k = 0; k < ROWS * 9; k++)
        value[k] = k % 7;
    put(dx, x, sizeof x), put(dy, y, sizeof y), put(dz, z, sizeof z), put(dat, at, sizeof at), put(dbins, bins, sizeof bins);
    put(dstart, start, sizeof start), put(dvalue, value, sizeof value), put(dsums, sums, sizeof sums);
}
static void report(const char *name)
{
    double sum = 0;
    if (cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost) || cudaMemcpy(z, dz, sizeof z, cudaMemcpyDeviceToHost) ||
        cudaMemcpy(bins, dbins, sizeof bins, cudaMemcpyDeviceToHost) || cudaMemcpy(sums, dsums, sizeof sums, cudaMemcpyDeviceToHost))
        exit(1);
    for (int i = 0; i < N; i++)
        sum += (y[i] + z[i]) * (i % 13 + 1);
    for (int i = 0; i < ROWS; i++)
        sum += sums[i] * (i % 11 + 1);
    for (int i = 0; i < BINS; i++)
        sum += bins[i] * (double)i;
    printf("%s %.4g\n", name, sum);
    reset();
}
static int teams(int n) { return (n + THREADS - 1) / THREADS; }

int main()
{
    dim3 square(32, 4), tiles(SIDE / 32, SIDE / 4), brick(32, 4, 1), bricks((CUBE + 31) / 32, (CUBE + 3) / 4, CUBE - 2);
    reset();
    copy<<<teams(N), THREADS>>>(N, dy, dx), report("copy");
    triad_int<<<teams(N), THREADS>>>(N, 2, dy, dx, dz), report("triad_int");
    triad_size<<<teams(N), THREADS>>>(N, 2, dy, dx, dz), report("triad_size");
    triad_long<<<teams(N), THREADS>>>(N, 2, dy, dx, dz), report("triad_long");
    static_1<<<teams(N), THREADS>>>(N, dy, dx), report("static_1");
    transpose<<<tiles, square>>>(SIDE, dy, dx), report("transpose");
    stencil<<<bricks, brick>>>(CUBE, dy, dx), report("stencil");
    triangle<<<tiles, square>>>(SIDE, dy, dx), report("triangle");
    gather<<<teams(N), THREADS>>>(N, dy, dx, dat), report("gather");
    sparse<<<teams(ROWS), THREADS>>>(ROWS, dstart, dvalue, dat, dx, dsums), report("sparse");
    histogram<<<teams(N), THREADS>>>(N, dbins, dat), report("histogram");
    functions<<<teams(N), THREADS>>>(N, dy, dx), report("functions");
    bodies<<<teams(BODIES), THREADS>>>(BODIES, dx, dy, dz), report("bodies");
    points p = { N / 4 }, *dp = 0;
    for (int k = 0; k < 3; k++)
        p.at[k] = dy + k * N / 4, p.by[k] = dx + k * N / 4;
    put(dp, &p, sizeof p);
    structs<<<teams(N / 4), THREADS>>>(dp, 0.5f), report("structs");
    escape<<<tiles, square>>>(SIDE, dy), report("escape");
    for (int i = 0; i < ROWS; i++)
        value[i] = (double)i / (ROWS - 1);
    put(dvalue, value, sizeof value);
    search<<<teams(N), THREADS>>>(N, ROWS, dvalue, dy, dz), report("search");
    convolve<<<teams(SHORT), THREADS>>>(SHORT, dvalue, dsums), report("convolve");
}
#endif
