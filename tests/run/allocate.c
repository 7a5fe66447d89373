/* allocate for automatic variables in device code: shared by a team, of each thread, in functions */
#include "check.h"

enum { B = 8, N = 32 };

static int own(int i)
{
    int a[4];
#pragma omp allocate(a) allocator(omp_thread_mem_alloc)
    for (int k = 0; k < 4; k++)
        a[k] = i + k;
    return a[0] + a[3];
}

/* blocks of two matrices in the team's memory */
static void multiply(const double *x, const double *y, double *z)
{
#pragma omp target teams map(to: x[0:N * N], y[0:N * N]) map(tofrom: z[0:N * N]) thread_limit(B * B)
    {
        double xs[B * B], ys[B * B];
#pragma omp allocate(xs, ys) allocator(omp_pteam_mem_alloc)
#pragma omp distribute collapse(2)
        for (int ib = 0; ib < N / B; ib++)
            for (int jb = 0; jb < N / B; jb++) {
#pragma omp parallel num_threads(B * B)
                for (int kb = 0; kb < N / B; kb++) {
#pragma omp for collapse(2)
                    for (int i = 0; i < B; i++)
                        for (int k = 0; k < B; k++) {
                            xs[i * B + k] = x[(ib * B + i) * N + kb * B + k];
                            ys[i * B + k] = y[(kb * B + i) * N + jb * B + k];
                        }
#pragma omp for collapse(2)
                    for (int i = 0; i < B; i++)
                        for (int j = 0; j < B; j++)
                            for (int k = 0; k < B; k++)
                                z[(ib * B + i) * N + jb * B + j] += xs[i * B + k] * ys[k * B + j];
                }
            }
    }
}

int main(void)
{
    static double x[N * N], y[N * N], z[N * N];
    int sum = 0, on = 0;
    for (int i = 0; i < N * N; i++)
        x[i] = i % 7, y[i] = i % 5;
    multiply(x, y, z);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double want = 0;
            for (int k = 0; k < N; k++)
                want += x[i * N + k] * y[k * N + j];
            CHECK_EQ(z[i * N + j], want);
        }
#pragma omp target teams distribute parallel for reduction(+: sum) map(from: on)
    for (int i = 0; i < 100; i++) {
        sum += own(i);
        if (i == 0)
            on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(sum, 2 * 4950 + 300);
    return RESULT;
}
