/* gpu_loops.c - how fast loops are on a GPU: each beside the same one in CUDA (cuda/loops.cu), and over what geometry the best time is had.
 *
 *   gpu_loops [LARGEST [CALLS [NAME…]]]     exponent of the largest number of elements, 28 by default; 20 calls of each; only these loops
 *
 * A time is the shortest of the calls, each with its launch and the wait for its end, as a program sees it; data is on the device already.  The
 * results of both must agree.  The sweep runs some loops with each of 40 pairs of teams and threads, and compares the best of them with what the
 * runtime chooses; a profiler wants one call, and no sweep.  The exit code says whether all results were right. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "loops.h"

static int calls = 20;
static struct loop_data host, device;

/* ------------------------------------------------------------------ loops */
static void copy(int n)
{
    float *y = host.y, *x = host.x;
#pragma omp target teams distribute parallel for map(to: x[0:n]) map(from: y[0:n])
    for (int i = 0; i < n; i++)
        y[i] = x[i];
}
static void axpy(int n)
{
    double *q = host.q, *p = host.p;
#pragma omp target teams distribute parallel for map(to: p[0:n]) map(tofrom: q[0:n])
    for (int i = 0; i < n; i++)
        q[i] = 0.5 * p[i] + q[i];
}
static void triad(int n)
{
    float *x = host.x, *y = host.y, *z = host.z;
#pragma omp target teams distribute parallel for map(to: x[0:n], y[0:n]) map(from: z[0:n])
    for (int i = 0; i < n; i++)
        z[i] = x[i] + 3 * y[i];
}
static void triad_size(int n)
{
    float *x = host.x, *y = host.y, *z = host.z;
    size_t m = n;
#pragma omp target teams distribute parallel for map(to: x[0:m], y[0:m]) map(from: z[0:m])
    for (size_t i = 0; i < m; i++)
        z[i] = x[i] + 3 * y[i];
}
static void static_1(int n)
{
    float *y = host.y, *x = host.x;
#pragma omp target teams distribute parallel for schedule(static, 1) map(to: x[0:n]) map(from: y[0:n])
    for (int i = 0; i < n; i++)
        y[i] = 2 * x[i];
}
static int side(int n) { return (int)sqrt(n + 0.5); }
static int edge(int n) { return (int)cbrt(n + 0.5); }
static void transpose(int n)
{
    float *y = host.y, *x = host.x;
    int m = side(n);
#pragma omp target teams distribute parallel for collapse(2) map(to: x[0:m * m]) map(from: y[0:m * m])
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            y[j * m + i] = x[i * m + j];
}
static void jacobi(int n)
{
    double *q = host.q, *p = host.p;
    int m = side(n);
#pragma omp target teams distribute parallel for collapse(2) map(to: p[0:m * m]) map(from: q[0:m * m])
    for (int i = 1; i < m - 1; i++)
        for (int j = 1; j < m - 1; j++)
            q[i * m + j] = 0.25 * (p[i * m + j - 1] + p[i * m + j + 1] + p[(i - 1) * m + j] + p[(i + 1) * m + j]);
}
static void stencil(int n)
{
    float *y = host.y, *x = host.x;
    int m = edge(n);
#pragma omp target teams distribute parallel for collapse(3) map(to: x[0:m * m * m]) map(from: y[0:m * m * m])
    for (int i = 1; i < m - 1; i++)
        for (int j = 1; j < m - 1; j++)
            for (int k = 1; k < m - 1; k++) {
                const float *c = &x[(i * m + j) * m + k];
                y[(i * m + j) * m + k] = c[-1] + c[1] + c[-m] + c[m] + c[-m * m] + c[m * m] - 6 * c[0];
            }
}
static void triangle(int n)
{
    float *y = host.y, *x = host.x;
    int m = side(n);
#pragma omp target teams distribute parallel for collapse(2) map(to: x[0:m * m]) map(from: y[0:m * m])
    for (int i = 0; i < m; i++)
        for (int j = 0; j <= i; j++)
            y[i * m + j] = x[i * m + j] + x[j * m + i];
}
static void gather(int n)
{
    float *y = host.y, *x = host.x;
    int *at = host.at;
#pragma omp target teams distribute parallel for map(to: x[0:n], at[0:n]) map(from: y[0:n])
    for (int i = 0; i < n; i++)
        y[i] = x[at[i]];
}
/* Rows of 16 elements, more or less: a thread, or a team, adds up each. */
static void sparse(int n)
{
    float *x = host.x, *y = host.y;
    double *p = host.p;
    int *at = host.at, *start = host.start, rows = n / 16;
#pragma omp target teams distribute parallel for map(to: x[0:n], p[0:n], at[0:n], start[0:rows + 1]) map(from: y[0:rows])
    for (int i = 0; i < rows; i++) {
        double s = 0;
        for (int k = start[i]; k < start[i + 1]; k++)
            s += p[k] * x[at[k]];
        y[i] = (float)s;
    }
}
/* Rows of 1024 elements. */
static void rows(int n)
{
    float *y = host.y;
    double *p = host.p;
    int m = n / 1024;
#pragma omp target teams distribute map(to: p[0:n]) map(from: y[0:m])
    for (int i = 0; i < m; i++) {
        double s = 0;
#pragma omp parallel for reduction(+: s)
        for (int k = i * 1024; k < (i + 1) * 1024; k++)
            s += p[k];
        y[i] = (float)s;
    }
}
static void histogram(int n)
{
    int *at = host.at, *bins = host.start;
#pragma omp target teams distribute parallel for map(to: at[0:n]) map(tofrom: bins[0:1024])
    for (int i = 0; i < n; i++)
#pragma omp atomic
        bins[at[i] % 1024]++;
}
static void functions(int n)
{
    float *y = host.y, *x = host.x;
#pragma omp target teams distribute parallel for map(to: x[0:n]) map(from: y[0:n])
    for (int i = 0; i < n; i++)
        y[i] = expf(-x[i]) * sinf(x[i]) + sqrtf(x[i]);
}
static void bodies(int n)
{
    float *y = host.y, *x = host.x, *z = host.z;
    int m = side(n);
#pragma omp target teams distribute parallel for map(to: x[0:m], y[0:m]) map(from: z[0:m])
    for (int i = 0; i < m; i++) {
        float ax = 0, ay = 0;
        for (int j = 0; j < m; j++) {
            float dx = x[j] - x[i], dy = y[j] - y[i], r = dx * dx + dy * dy + 0.01f;
            float f = 1 / (r * sqrtf(r));
            ax += dx * f;
            ay += dy * f;
        }
        z[i] = ax + ay;
    }
}
static void matmul(int n)
{
    float *y = host.y, *x = host.x, *z = host.z;
    int m = edge(n);
#pragma omp target teams distribute parallel for collapse(2) map(to: x[0:m * m], y[0:m * m]) map(from: z[0:m * m])
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            float s = 0;
            for (int k = 0; k < m; k++)
                s += x[i * m + k] * y[k * m + j];
            z[i * m + j] = s;
        }
}

/* ------------------------------------------------------------------ the same with a geometry */
static void axpy_at(int n, int teams, int threads)
{
    double *q = host.q, *p = host.p;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) map(to: p[0:n]) map(tofrom: q[0:n])
    for (int i = 0; i < n; i++)
        q[i] = 0.5 * p[i] + q[i];
}
static void triad_at(int n, int teams, int threads)
{
    float *x = host.x, *y = host.y, *z = host.z;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) map(to: x[0:n], y[0:n]) map(from: z[0:n])
    for (int i = 0; i < n; i++)
        z[i] = x[i] + 3 * y[i];
}
static void jacobi_at(int n, int teams, int threads)
{
    double *q = host.q, *p = host.p;
    int m = side(n);
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads) map(to: p[0:m * m]) map(from: q[0:m * m])
    for (int i = 1; i < m - 1; i++)
        for (int j = 1; j < m - 1; j++)
            q[i * m + j] = 0.25 * (p[i * m + j - 1] + p[i * m + j + 1] + p[(i - 1) * m + j] + p[(i + 1) * m + j]);
}
static void bodies_at(int n, int teams, int threads)
{
    float *y = host.y, *x = host.x, *z = host.z;
    int m = side(n);
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) map(to: x[0:m], y[0:m]) map(from: z[0:m])
    for (int i = 0; i < m; i++) {
        float ax = 0, ay = 0;
        for (int j = 0; j < m; j++) {
            float dx = x[j] - x[i], dy = y[j] - y[i], r = dx * dx + dy * dy + 0.01f;
            float f = 1 / (r * sqrtf(r));
            ax += dx * f;
            ay += dy * f;
        }
        z[i] = ax + ay;
    }
}
static volatile double result;
static void sum(int n)
{
    double *p = host.p, s = 0;
#pragma omp target teams distribute parallel for map(to: p[0:n]) reduction(+: s)
    for (int i = 0; i < n; i++)
        s += p[i];
    result = s;
}
static void sum_at(int n, int teams, int threads)
{
    double *p = host.p, s = 0;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) map(to: p[0:n]) reduction(+: s)
    for (int i = 0; i < n; i++)
        s += p[i];
    result = s;
}

/* ------------------------------------------------------------------ the table */
static const struct loop {
    const char *name;
    void (*run)(int n);
    void (*run_at)(int n, int teams, int threads);   /* NULL: no part of the sweep */
    double bytes;                                    /* moved at least, of an element; 0: no measure */
    int largest;                                     /* exponent; 0: any */
} loops[] = {
    { "copy", copy, NULL, 8, 0 }, { "axpy", axpy, axpy_at, 24, 0 }, { "triad", triad, triad_at, 12, 0 },
    { "triad_size", triad_size, NULL, 12, 0 }, { "static_1", static_1, NULL, 8, 0 }, { "transpose", transpose, NULL, 8, 0 },
    { "jacobi", jacobi, jacobi_at, 16, 0 }, { "stencil", stencil, NULL, 8, 0 }, { "triangle", triangle, NULL, 6, 0 },
    { "gather", gather, NULL, 12, 0 }, { "sparse", sparse, NULL, 16, 0 }, { "rows", rows, NULL, 8, 0 },
    { "histogram", histogram, NULL, 4, 0 }, { "functions", functions, NULL, 8, 0 }, { "bodies", bodies, bodies_at, 0, 0 },
    { "matmul", matmul, NULL, 0, 0 }, { "sum", sum, sum_at, 8, 0 },
};
#define NLOOPS (sizeof loops / sizeof *loops)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void fill(int n)
{
    float *x = host.x, *y = host.y, *z = host.z;
    double *p = host.p, *q = host.q;
    int *at = host.at, *start = host.start;
#pragma omp target teams distribute parallel for map(from: x[0:n], y[0:n], z[0:n], p[0:n], q[0:n], at[0:n], start[0:n])
    for (int i = 0; i < n; i++) {
        unsigned random = (unsigned)i * 2654435761u;
        x[i] = (float)(random >> 8 & 0xff) / 64;
        y[i] = (float)(random >> 16 & 0xff) / 64;
        z[i] = 0;
        p[i] = (double)(random >> 12 & 0xff) / 64;
        q[i] = (double)(random >> 20 & 0xff) / 64;
        at[i] = (int)((random ^ random >> 15) % (unsigned)n);
        start[i] = i * 16 < n - 16 ? i * 16 + (i & 3) * 3 : n;
    }
}

/* Of what loops write. */
static double checksum(int n)
{
    float *y = host.y, *z = host.z;
    double *q = host.q, s = 0;
    int *start = host.start;
#pragma omp target teams distribute parallel for map(to: y[0:n], z[0:n], q[0:n], start[0:n]) reduction(+: s)
    for (int i = 0; i < n; i++)
        s += (y[i] + z[i] + q[i]) * (i % 13 + 1) + (i < 1024 ? start[i] * (double)(i % 11) : 0);
    return s;
}

/* Microseconds of the shortest call, and of the one in the middle. */
static int compare(const void *a, const void *b) { return *(const double *)a < *(const double *)b ? -1 : 1; }
static double time_calls(const struct loop *l, int n, int teams, int threads, double *middle)
{
    double t[100];
    for (int c = -2; c < calls; c++) {
        double start = now();
        if (teams)
            l->run_at(n, teams, threads);
        else
            l->run(n);
        if (c >= 0)
            t[c] = now() - start;
    }
    qsort(t, calls, sizeof *t, compare);
    *middle = t[calls / 2];
    return t[0];
}

/* Negative: there is none. */
static double time_cuda(const struct loop *l, int n, double *middle)
{
    double t[100];
    for (int c = -2; c < calls; c++) {
        double start = now();
        if (!cuda_loop || cuda_loop(l->name, &device, n) || cuda_loop(NULL, &device, n))
            return -1;
        if (c >= 0)
            t[c] = now() - start;
    }
    qsort(t, calls, sizeof *t, compare);
    *middle = t[calls / 2];
    return t[0];
}

static int table_row(const struct loop *l, int exponent)
{
    int n = 1 << exponent;
    double ours_middle, cuda_middle = 0, sum_ours, sum_cuda;
    fill(n);
    double ours = time_calls(l, n, 0, 0, &ours_middle);
    sum_ours = checksum(n);
    fill(n);
    double cuda = time_cuda(l, n, &cuda_middle);
    sum_cuda = checksum(n);
    int right = cuda < 0 || fabs(sum_ours - sum_cuda) <= 1e-6 * fabs(sum_cuda);
    printf("%-12s 2^%-3d %10.1f us (middle %10.1f)", l->name, exponent, ours, ours_middle);
    if (l->bytes)
        printf(" %7.0f GB/s", l->bytes * n / ours * 1e-3);
    else
        printf("             ");
    if (cuda > 0)
        printf("   CUDA %10.1f us (middle %10.1f)   %5.3f of its time", cuda, cuda_middle, ours / cuda);
    if (right)
        printf("\n");
    else
        printf("   WRONG: %.9g, CUDA %.9g\n", sum_ours, sum_cuda);
    fflush(stdout);
    return right;
}

/* ------------------------------------------------------------------ the sweep */
static void sweep(const struct loop *l, int exponent, int processors)
{
    static const int waves[] = { 1, 2, 4, 8, 16, 32, 64, 0 }, sizes[] = { 64, 128, 256, 512, 1024 };   /* 0: a thread an iteration */
    int n = 1 << exponent, best_teams = 0, best_threads = 0;
    double middle, chosen = time_calls(l, n, 0, 0, &middle), best = 1e30;
    for (unsigned w = 0; w < sizeof waves / sizeof *waves; w++)
        for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            int iterations = l->run == bodies ? side(n) : n, teams = waves[w] ? waves[w] * processors : (iterations + sizes[s] - 1) / sizes[s];
            double t = time_calls(l, n, teams, sizes[s], &middle);
            if (t < best)
                best = t, best_teams = teams, best_threads = sizes[s];
        }
    double again = time_calls(l, n, 0, 0, &middle);
    chosen = again < chosen ? again : chosen;
    printf("%-12s 2^%-3d chosen %10.1f us, best of 40 %10.1f us (%d teams x %d threads)   %5.3f of it\n", l->name, exponent, chosen, best, best_teams,
           best_threads, chosen / best);
    fflush(stdout);
}

/* ------------------------------------------------------------------ main */
static void *on_device(size_t n, size_t size, void **address)
{
    char *p = malloc(n * size);
#pragma omp target enter data map(alloc: p[0:n * size])
    *address = omp_get_mapped_ptr(p, omp_get_default_device());
    if (!p || !*address)
        fprintf(stderr, "gpu_loops: no memory\n"), exit(2);
    return p;
}

static int wanted(const char *name, int argc, char **argv)
{
    for (int i = 3; i < argc; i++)
        if (!strcmp(argv[i], name))
            return 1;
    return argc <= 3;
}

int main(int argc, char **argv)
{
    int largest = argc > 1 ? atoi(argv[1]) : 28, ok = 1, processors;
    calls = argc > 2 ? atoi(argv[2]) : calls;
    if (largest < 12 || largest > 29 || calls < 1 || calls > 100)
        return fprintf(stderr, "usage: %s [LARGEST [CALLS [NAME...]]], an exponent from 12 to 29, at most 100 calls\n", argv[0]), 2;
    size_t n = (size_t)1 << largest;
    host.x = on_device(n, sizeof *host.x, (void **)&device.x), host.y = on_device(n, sizeof *host.y, (void **)&device.y);
    host.z = on_device(n, sizeof *host.z, (void **)&device.z), host.p = on_device(n, sizeof *host.p, (void **)&device.p);
    host.q = on_device(n, sizeof *host.q, (void **)&device.q), host.at = on_device(n, sizeof *host.at, (void **)&device.at);
    host.start = on_device(n, sizeof *host.start, (void **)&device.start);
    for (unsigned i = 0; i < NLOOPS; i++)
        for (int e = largest < 16 ? largest : 16; wanted(loops[i].name, argc, argv) && e <= largest; e += 4)
            ok &= table_row(&loops[i], e);
#pragma omp target teams map(from: processors)                   /* a team for each, where nothing else is said */
    if (omp_get_team_num() == 0)
        processors = omp_get_num_teams();
    for (unsigned i = 0; i < NLOOPS; i++)
        if (loops[i].run_at && calls > 1 && wanted(loops[i].name, argc, argv)) {
            sweep(&loops[i], largest < 20 ? largest : 20, processors);
            sweep(&loops[i], largest < 26 ? largest : 26, processors);
        }
    return !ok;
}
