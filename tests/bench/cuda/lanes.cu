// lanes.cu - the kernels of lanes.c as a CUDA programmer writes them: a warp, or half of one, for each row.
#include <stdio.h>
#include <stdlib.h>
enum { ROWS = 2048, MEAN = 64, MOST = 2 * MEAN, SIDE = 16, BATCH = 512, BODIES = 2048, NEAR = 64, THREADS = 128 };

template <int LANES, class T> __device__ T sum_of(T s)
{
#pragma unroll
    for (int d = LANES / 2; d; d /= 2)
        s += __shfl_xor_sync(0xffffffff, s, d);
    return s;
}

__global__ void rows(int n, const int *__restrict__ start, const int *__restrict__ column, const double *__restrict__ value,
                     const double *__restrict__ x, double *__restrict__ y)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= n)
        return;
    double s = 0;
    for (int k = start[i] + lane, end = start[i + 1]; k < end; k += 32)
        s += value[k] * x[column[k]];
    s = sum_of<32>(s);
    if (lane == 0)
        y[i] = s;
}
__global__ void matrices(int n, const double *__restrict__ matrix, const double *__restrict__ in, double *__restrict__ out)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / SIDE, lane = threadIdx.x % SIDE;
    if (row >= n * SIDE)
        return;
    double s = sum_of<SIDE>(matrix[row * SIDE + lane] * in[row / SIDE * SIDE + lane]);
    if (lane == 0)
        out[row] = s;
}
__global__ void levels(const double *__restrict__ value, const double *__restrict__ x, double *__restrict__ y)
{
    int row = blockIdx.x * 32 + threadIdx.x / 4, lane = threadIdx.x % 4;
    double s = 0;
    for (int k = lane; k < MOST; k += 4)
        s += value[row * MOST + k] * x[k];
    s = sum_of<4>(s);
    if (lane == 0)
        y[row] = s;
}
__global__ void particles(int n, const float *__restrict__ px, const float *__restrict__ py, const float *__restrict__ pz,
                          const int *__restrict__ count, const int *__restrict__ list, float *__restrict__ force)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= n)
        return;
    float fx = 0, fy = 0, fz = 0, x = px[i], y = py[i], z = pz[i];
    for (int k = lane, end = count[i]; k < end; k += 32) {
        int j = list[i * NEAR + k];
        float dx = px[j] - x, dy = py[j] - y, dz = pz[j] - z;
        float r = dx * dx + dy * dy + dz * dz + 0.01f, f = 1 / (r * sqrtf(r));
        fx += dx * f;
        fy += dy * f;
        fz += dz * f;
    }
    fx = sum_of<32>(fx);
    fy = sum_of<32>(fy);
    fz = sum_of<32>(fz);
    if (lane == 0) {
        force[3 * i] = fx;
        force[3 * i + 1] = fy;
        force[3 * i + 2] = fz;
    }
}

#ifdef MAIN
template <class T> static T *to_device(const T *from, size_t n)
{
    T *to;
    cudaMalloc((void **)&to, n * sizeof *to);
    cudaMemcpy(to, from, n * sizeof *to, cudaMemcpyHostToDevice);
    return to;
}
template <class T> static void report(const char *name, int n, const T *from)
{
    T *v = (T *)malloc(n * sizeof *v);
    double sum = 0;
    cudaMemcpy(v, from, n * sizeof *v, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        sum += v[i] * (i % 13 + 1);
    printf("%s %.4g\n", name, sum);
    free(v);
}
int main(void)
{
    static int start[ROWS + 1], column[ROWS * MOST], count[BODIES], list[BODIES * NEAR];
    static double value[ROWS * MOST], x[ROWS], y[ROWS], matrix[BATCH * SIDE * SIDE], in[BATCH * SIDE], out[BATCH * SIDE];
    static float px[BODIES], py[BODIES], pz[BODIES], force[BODIES * 3];
    for (int i = 0; i < ROWS; i++) {
        start[i + 1] = start[i] + MEAN / 2 + i * 37 % MEAN;
        x[i] = i % 97 * 0.5;
    }
    for (int k = 0; k < start[ROWS]; k++) {
        column[k] = (int)(k * 2654435761u >> 8) % ROWS;
        value[k] = k % 31;
    }
    for (int i = 0; i < BATCH * SIDE * SIDE; i++)
        matrix[i] = i % 29;
    for (int i = 0; i < BATCH * SIDE; i++)
        in[i] = i % 23;
    for (int i = 0; i < BODIES; i++) {
        px[i] = i % 97 * 0.5f, py[i] = i % 31, pz[i] = i % 7;
        count[i] = NEAR / 2 + i * 5 % (NEAR / 2);
        for (int k = 0; k < NEAR; k++)
            list[i * NEAR + k] = (i + k * 3) % BODIES;
    }
    double *dy = to_device(y, ROWS), *dout = to_device(out, BATCH * SIDE);
    float *df = to_device(force, BODIES * 3);
    rows<<<ROWS * 32 / THREADS, THREADS>>>(ROWS, to_device(start, ROWS + 1), to_device(column, ROWS * MOST), to_device(value, ROWS * MOST),
                                           to_device(x, ROWS), dy);
    report("rows", ROWS, dy);
    report("chosen", ROWS, dy);
    matrices<<<BATCH * SIDE * SIDE / THREADS, THREADS>>>(BATCH, to_device(matrix, BATCH * SIDE * SIDE), to_device(in, BATCH * SIDE), dout);
    report("matrices", BATCH * SIDE, dout);
    levels<<<ROWS / 32, 128>>>(to_device(value, ROWS * MOST), to_device(x, ROWS), dy);
    report("levels", ROWS, dy);
    particles<<<BODIES * 32 / THREADS, THREADS>>>(BODIES, to_device(px, BODIES), to_device(py, BODIES), to_device(pz, BODIES),
                                                  to_device(count, BODIES), to_device(list, BODIES * NEAR), df);
    report("particles", BODIES * 3, df);
}
#endif
