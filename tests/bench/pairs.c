/* pairs.c - loops of many kinds, each the same as a kernel of cuda/pairs.cu; executed.sh runs both on the PTX machine and compares what they
 * executed.  Prints a checksum for each, which must be that of the other program. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 1 << 16, SIDE = 256, CUBE = 40, ROWS = 4096, BODIES = 512, BINS = 64, SHORT = 512, KINDS = 8 };
float x[N], y[N], z[N];
int at[N], bins[BINS], start[ROWS + 1];
double value[ROWS * 9], sums[ROWS];
#pragma omp declare target(x, y, z, at, bins, start, value, sums)

static void copy(int n)
{
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i];
}
static void triad_int(int n, float a, float *restrict u, const float *restrict v, const float *restrict w)
{
#pragma omp target teams distribute parallel for is_device_ptr(u, v, w)
    for (int i = 0; i < n; i++)
        u[i] = v[i] + a * w[i];
}
static void triad_size(size_t n, float a, float *restrict u, const float *restrict v, const float *restrict w)
{
#pragma omp target teams distribute parallel for is_device_ptr(u, v, w)
    for (size_t i = 0; i < n; i++)
        u[i] = v[i] + a * w[i];
}
static void triad_long(long n, float a, float *restrict u, const float *restrict v, const float *restrict w)
{
#pragma omp target teams distribute parallel for is_device_ptr(u, v, w)
    for (long i = 0; i < n; i++)
        u[i] = v[i] + a * w[i];
}
static void static_1(int n)
{
#pragma omp target teams distribute parallel for schedule(static, 1)
    for (int i = 0; i < n; i++)
        y[i] = 2 * x[i];
}
static void transpose(int n)
{
#pragma omp target teams distribute parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            y[j * n + i] = x[i * n + j];
}
static void stencil(int n)
{
#pragma omp target teams distribute parallel for collapse(3)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++) {
                const float *p = &x[(i * n + j) * n + k];
                y[(i * n + j) * n + k] = p[-1] + p[1] + p[-n] + p[n] + p[-n * n] + p[n * n] - 6 * p[0];
            }
}
static void triangle(int n)
{
#pragma omp target teams distribute parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            y[i * n + j] = x[i * n + j] + x[j * n + i];
}
static void gather(int n)
{
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[at[i]];
}
static void sparse(int n)
{
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int k = start[i]; k < start[i + 1]; k++)
            s += value[k] * x[at[k]];
        sums[i] = s;
    }
}
static void histogram(int n)
{
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) {
#pragma omp atomic
        bins[at[i] % BINS]++;
    }
}
static void functions(int n)
{
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++)
        y[i] = expf(-x[i]) * sinf(x[i]) + sqrtf(x[i]);
}
static void bodies(int n)
{
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) {
        float ax = 0, ay = 0;
        for (int j = 0; j < n; j++) {
            float dx = x[j] - x[i], dy = y[j] - y[i], r = dx * dx + dy * dy + 0.01f;
            float f = 1 / (r * sqrtf(r));
            ax += dx * f;
            ay += dy * f;
        }
        z[i] = ax + ay;
    }
}

struct points {
    int n;
    float *at[3], *by[3];
};
/* a struct with pointers: what they point to is mapped with it */
static void structs(struct points *p, float dt)
{
#pragma omp target teams distribute parallel for map(to: p[0:1])
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < 3; k++)
            p->at[k][i] += dt * p->by[k][i];
}
static void escape(int n)
{
#pragma omp target teams distribute parallel for collapse(2) schedule(dynamic)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float a = 3.0f * (float)j / (float)n - 2, b = 3.0f * (float)i / (float)n - 1.5f, u = 0, v = 0;
            int k = 0;
            for (; k < 64 && u * u + v * v < 4; k++) {
                float t = u * u - v * v + a;
                v = 2 * u * v + b;
                u = t;
            }
            y[i * n + j] = (float)k;
        }
}
/* as XSBench: a place in a sorted grid, then what lies there of each kind */
static void search(int n, int points)
{
#pragma omp target teams distribute parallel for schedule(dynamic)
    for (int i = 0; i < n; i++) {
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
}
static void convolve(int n)
{
#pragma omp target teams distribute parallel for schedule(dynamic)
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j <= i; j++)
            sum += value[j] * value[i - j];
        sums[i] = sum;
    }
}

static void reset(void)
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
#pragma omp target update to(x, y, z, at, bins, start, value)
}
static void report(const char *name)
{
    double sum = 0;
#pragma omp target update from(y, z, bins, sums)
    for (int i = 0; i < N; i++)
        sum += (y[i] + z[i]) * (i % 13 + 1);
    for (int i = 0; i < ROWS; i++)
        sum += sums[i] * (i % 11 + 1);
    for (int i = 0; i < BINS; i++)
        sum += bins[i] * (double)i;
    printf("%s %.4g\n", name, sum);
    reset();
}

int main(void)
{
    float *u, *v, *w;
    reset();
#pragma omp target data use_device_addr(x, y, z)
    u = y, v = x, w = z;
    copy(N), report("copy");
    triad_int(N, 2, u, v, w), report("triad_int");
    triad_size(N, 2, u, v, w), report("triad_size");
    triad_long(N, 2, u, v, w), report("triad_long");
    static_1(N), report("static_1");
    transpose(SIDE), report("transpose");
    stencil(CUBE), report("stencil");
    triangle(SIDE), report("triangle");
    gather(N), report("gather");
    sparse(ROWS), report("sparse");
    histogram(N), report("histogram");
    functions(N), report("functions");
    bodies(BODIES), report("bodies");
    struct points p = { .n = N / 4 };
    for (int k = 0; k < 3; k++)
        p.at[k] = y + k * N / 4, p.by[k] = x + k * N / 4;
#pragma omp target enter data map(to: p)
    for (int k = 0; k < 3; k++)
        p.at[k] = u + k * N / 4, p.by[k] = v + k * N / 4;
#pragma omp target update to(p)
    structs(&p, 0.5f), report("structs");
    escape(SIDE), report("escape");
    for (int i = 0; i < ROWS; i++)
        value[i] = (double)i / (ROWS - 1);
#pragma omp target update to(value)
    search(N, ROWS), report("search");
    convolve(SHORT), report("convolve");
    return 0;
}
