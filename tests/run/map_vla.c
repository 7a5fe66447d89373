/* VLAs: captured whole, as sections, multi-dimensional, as parameters, sizeof inside, pointers to VLAs */
#include "check.h"

static void scale(int n, int m, double a[n][m], double f)
{
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: a[0:n][0:m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] *= f;
}

static int sizes(int n)
{
    int v[n + 1][2 * n], bytes = 0, row = 0;

    memset(v, 0, sizeof v);
#pragma omp target map(from: bytes, row)
    {
        bytes = sizeof v;
        row = sizeof v[0];
        v[n][2 * n - 1] = n;
    }
    CHECK_EQ(row, 2 * n * (int)sizeof(int));
    CHECK_EQ(v[n][2 * n - 1], n);
    return bytes;
}

/* The text of such a file is compiled for another target, which has no type of 16 bits. */
static void halves(int n)
{
    _Float16 h[n], sum = 0;
    for (int i = 0; i < n; i++)
        h[i] = (_Float16)(i + 0.5);
#pragma omp target map(tofrom: h, sum)
    for (int i = 0; i < n; i++) {
        h[i] = h[i] * 2 + (_Float16)1;
        sum += h[i];
    }
    CHECK(h[n - 1] == 2 * n && sum == n * (n + 1));
}

int main(void)
{
    int n = 11, on = 0, k = n + 2;
    double a[n][n + 3], (*p)[k] = malloc(5 * sizeof *p);
    float v[3 * n];

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n + 3; j++)
            a[i][j] = i + 0.5 * j;
    scale(n, n + 3, a, 2);
    halves(9);
    n = 5;                           /* the arrays keep their bounds */
#pragma omp target teams distribute parallel for map(tofrom: on)
    for (int i = 0; i < 33; i++) {
        v[i] = (float)i;
        on = ON_DEVICE;
    }
    CHECK(on);
    for (int i = 0; i < 33; i++)
        CHECK_EQ(v[i], i);
    for (int i = 0; i < 11; i++)
        for (int j = 0; j < 14; j++)
            CHECK_EQ(a[i][j], 2 * i + j);
#pragma omp target map(from: p[0:5])
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < k; j++)
            p[i][j] = i * k + j;
    for (int i = 0; i < 5 * 13; i++)
        CHECK_EQ(p[i / 13][i % 13], i);
#pragma omp target parallel for firstprivate(v)
    for (int i = 0; i < 33; i++)
        v[i] += 1, a[i / 11][i % 11] = v[i];
    CHECK_EQ(v[3], 3);
    CHECK_EQ(sizes(6), 7 * 12 * (int)sizeof(int));
    free(p);
    return RESULT;
}
