/* target update of sections with gaps: columns, planes, blocks, strides; the rest keeps its value on either side */
#include "check.h"

enum { N = 12, M = 9, L = 5 };
struct grid { int pad; double cell[N][M]; };

static double expected(int updated, int i) { return updated ? -i : i + 1000; }

/* Each element is i on the host at first, i + 1000 on the device; then -i on the host. */
#define ON_DEVICE_ADD(a, n)                                                                              \
    _Pragma("omp target teams distribute parallel for") for (int i_ = 0; i_ < (n); i_++) (a)[i_] += 1000

static void columns(int n, int m)
{
    double a[n][m], *flat = &a[0][0];
    for (int i = 0; i < n * m; i++)
        flat[i] = i;
#pragma omp target data map(tofrom: a)
    {
        ON_DEVICE_ADD(flat, n * m);
        for (int i = 0; i < n * m; i++)
            flat[i] = -i;
#pragma omp target update to(a[0:n][0:1])
#pragma omp target update to(a[:n][m - 1])
#pragma omp target update to(a[2:3][3:2])
#pragma omp target update to(a[n - 1:1][0:m])
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            CHECK_EQ(a[i][j], expected(j == 0 || j == m - 1 || i == n - 1 || (i >= 2 && i < 5 && j >= 3 && j < 5), i * m + j));
}

static void from_device(void)
{
    static int a[N][M][L];
    int *flat = &a[0][0][0];
    for (int i = 0; i < N * M * L; i++)
        flat[i] = i;
#pragma omp target enter data map(to: a)
    ON_DEVICE_ADD(flat, N * M * L);
#pragma omp target update from(a[1:2][0:M][2])
#pragma omp target update from(a[4:1][0:M][1:3])
#pragma omp target update from(a[N - 2:2][:][:])
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            for (int k = 0; k < L; k++)
                CHECK_EQ(a[i][j][k], i * M * L + j * L + k + 1000 * (((i == 1 || i == 2) && k == 2) || (i == 4 && k >= 1 && k <= 3) || i >= N - 2));
#pragma omp target exit data map(delete: a)
}

static void strides(int n, int step)
{
    double *a = malloc((size_t)n * sizeof *a);
    struct grid g, *p = &g;
    for (int i = 0; i < n; i++)
        a[i] = i;
    for (int i = 0; i < N * M; i++)
        p->cell[i / M][i % M] = i;
#pragma omp target data map(tofrom: a[0:n]) map(tofrom: p[0:1])
    {
        ON_DEVICE_ADD(a, n);
#pragma omp target
        for (int i = 0; i < N * M; i++)
            p->cell[i / M][i % M] += 1000;
        for (int i = 0; i < n; i++)
            a[i] = -i;
        for (int i = 0; i < N * M; i++)
            p->cell[i / M][i % M] = -i;
#pragma omp target update to(a[1:n / 2 - 1:2], p->cell[0:N / 3:3][1:M / 2:step])
    }
    for (int i = 0; i < n; i++)
        CHECK_EQ(a[i], expected(i % 2 && i < n - 2, i));
    for (int i = 0; i < N * M; i++)
        CHECK_EQ(p->cell[i / M][i % M], expected(i / M % 3 == 0 && i % M % step == 1, i));
    free(a);
}

/* Several sections and elements of one array in a directive: halos. */
static void several(int n)
{
    static int a[N][M], *row = a[2];
    int *flat = &a[0][0];
#pragma omp target enter data map(to: a)
    ON_DEVICE_ADD(flat, N * M);
#pragma omp target update from(a[0:1], a[n - 1]) from(a[4][1:2], a[4][5])
#pragma omp target update from(row[0:2], row[4:2:3])
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            CHECK_EQ(a[i][j] == 1000, i == 0 || i == N - 1 || (i == 4 && (j == 1 || j == 2 || j == 5)) ||
                                          (i == 2 && (j < 2 || j == 4 || j == 7)));
#pragma omp target exit data map(delete: a)
}

static void members(int k)
{
    struct { int n; double sum, cell[M]; } part[2] = { 0 };
#pragma omp target data map(to: part)
    {
#pragma omp target
        part[k].sum = 5, part[k].n = 6, part[k].cell[3] = 7;
#pragma omp target update from(part[k].sum, part[k].cell[2:2])
        CHECK(part[k].sum == 5 && part[k].cell[3] == 7 && !part[k].n);
    }
}

/* A section without a length is the rest of the dimension, with a stride, too. */
static void rests(void)
{
    static int a[N][M], b[N][M][L];
    int *flat = &a[0][0], *deep = &b[0][0][0];
#pragma omp target enter data map(to: a, b)
    ON_DEVICE_ADD(flat, N * M);
    ON_DEVICE_ADD(deep, N * M * L);
#pragma omp target update from(a[::5][1: :3])
#pragma omp target update from(a[1][7:])
#pragma omp target update from(b[2][:][3:], b[:][0][::4])
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            CHECK_EQ(a[i][j] == 1000, (i % 5 == 0 && j % 3 == 1) || (i == 1 && j >= 7));
            for (int k = 0; k < L; k++)
                CHECK_EQ(b[i][j][k] == 1000, (i == 2 && k >= 3) || (j == 0 && k % 4 == 0));
        }
#pragma omp target exit data map(delete: a, b)
}

int main(void)
{
    several(N);
    rests();
    members(1);
    columns(N, M);
    from_device();
    strides(40, 2);
    return RESULT;
}
