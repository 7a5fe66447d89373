/* factorisation without pivoting: a sequential loop around two parallel loops, the pivot read by all */
#include "check.h"
enum { N = 40 };
static void factor(double (*a)[N], int k)
{
    double pivot = 1 / a[k][k];
#pragma omp parallel for
    for (int i = k + 1; i < N; i++)
        a[i][k] *= pivot;
#pragma omp parallel for collapse(2)
    for (int i = k + 1; i < N; i++)
        for (int j = k + 1; j < N; j++)
            a[i][j] -= a[i][k] * a[k][j];
    a[k][k] += 0;
}
static double a[N][N], b[N][N];
int main(void)
{
    int on = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = b[i][j] = i == j ? 64 : 1 + (i * 3 + j) % 4;
#pragma omp target map(tofrom: a, on)
    {
        on = ON_DEVICE;
        for (int k = 0; k < N; k++)
            factor(a, k);
    }
    double error = 0;
    for (int k = 0; k < N; k++) {
        for (int i = k + 1; i < N; i++) b[i][k] *= 1 / b[k][k];
        for (int i = k + 1; i < N; i++)
            for (int j = k + 1; j < N; j++) b[i][j] -= b[i][k] * b[k][j];
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double d = a[i][j] - b[i][j];
            error = d * d > error ? d * d : error;
        }
    CHECK(on);
    CHECK(error < 1e-20);
    return RESULT;
}
