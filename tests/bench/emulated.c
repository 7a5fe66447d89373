/* emulated.c - loops whose time on the emulated device emulated.sh compares with the same loops without OpenMP: prints NAME MICROSECONDS, the least
 * CPU time of several runs, and fails where a result is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 1 << 20, M = 128, THREADS = 256, STEPS = 1000, REPEAT = 7 };
static float x[N], y[N], a[M * M], b[M * M], c[M * M];
static int cells[THREADS];

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void axpy(void)
{
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++)
        y[i] += 2 * x[i];
}

static void jacobi(void)
{
    enum { W = 1024 };
#pragma omp target teams distribute parallel for collapse(2)
    for (int i = 1; i < W - 1; i++)
        for (int j = 1; j < W - 1; j++)
            y[i * W + j] = 0.25f * (x[i * W + j - 1] + x[i * W + j + 1] + x[(i - 1) * W + j] + x[(i + 1) * W + j]);
}

static void matmul(void)
{
#pragma omp target teams distribute parallel for collapse(2)
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) {
            float s = 0;
            for (int k = 0; k < M; k++)
                s += a[i * M + k] * b[k * M + j];
            c[i * M + j] = s;
        }
}

static void matmul_reductions(void)
{
#pragma omp target teams distribute collapse(2)
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) {
            float s = 0;
#pragma omp parallel for reduction(+: s)
            for (int k = 0; k < M; k++)
                s += a[i * M + k] * b[k * M + j];
            c[i * M + j] = s;
        }
}

static void barriers(void)
{
#pragma omp target teams num_teams(1) thread_limit(THREADS)
#pragma omp parallel num_threads(THREADS)
    for (int s = 0; s < STEPS; s++) {
#pragma omp for
        for (int i = 0; i < THREADS; i++)
            cells[i] += s;
    }
}

static void measure(const char *name, void (*loop)(void))
{
    double least = 1e30;
    loop();
    for (int i = 0; i < REPEAT; i++) {
        double begin = cpu();
        loop();
        double took = cpu() - begin;
        least = took < least ? took : least;
    }
    printf("%s %.3f\n", name, least);
}

int main(void)
{
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 7);
    for (int i = 0; i < M * M; i++)
        a[i] = (float)(i % 3), b[i] = (float)(i % 4);
#pragma omp target data map(to: x, a, b) map(tofrom: y, c, cells)
    {
        measure("axpy", axpy);
        measure("jacobi", jacobi);
        measure("matmul", matmul);
        measure("matmul-reductions", matmul_reductions);
        measure("barriers", barriers);
    }
    float s = 0;
    for (int k = 0; k < M; k++)
        s += a[3 * M + k] * b[k * M + 5];
    return c[3 * M + 5] != s || cells[7] != (REPEAT + 1) * STEPS * (STEPS - 1) / 2;
}
