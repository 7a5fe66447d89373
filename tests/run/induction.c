/* induction: the original is updated once by a team; collapse(1) is one loop */ /* also: -O0 -g */
#include "check.h"

enum { N = 30, ONE = 1 };

static int wrong(const int *values, int first, int step)
{
    int n = 0;
    for (int i = 0; i < N; i++)
        n += values[i] != first + step * i;
    return n;
}

/* Steps down, of a variable that is wider than the loop's. */
static void down(void)
{
    long x = 100, y = 1L << 40;
    double z = 0, last = 1;
#pragma omp target parallel for induction(step(-2), +: x) induction(step(-0.5), +: z) map(tofrom: x, z, last)
    for (unsigned i = N; i > 0; i--)
        if (i == 1) last = z + (double)x;
#pragma omp simd induction(step(-3), +: y)
    for (int i = 0; i < N; i++) ;
    CHECK_EQ(x, 100 - 2 * N);
    CHECK_EQ(z, -0.5 * N);
    CHECK_EQ(last, 100 - 2 * (N - 1) - 0.5 * (N - 1));
    CHECK(y == (1L << 40) - 3 * N);
}

/* Steps down, of what is wider than the loop's variable, and loops of unsigned variables. */
static void signs(void)
{
    double x = 100, xs[N];
    int at[N], v[2 * N], *p = v + 2 * N, bad = 0;
    unsigned n = N, last = 0;
#pragma omp target parallel for induction(step(-2), +: x) map(from: xs)
    for (unsigned i = n; i > 0; i += -1)
        xs[n - i] = x;
#pragma omp parallel for induction(step(-2), +: p)
    for (unsigned i = 0; i < n; i++)
        at[i] = (int)(p - v);
    for (int i = 0; i < N; i++)
        bad += xs[i] != 100 - 2 * i || at[i] != 2 * N - 2 * i;
    CHECK_EQ(bad, 0);
    CHECK(x == 100 - 2 * N && p == v);
#pragma omp parallel for lastprivate(conditional: last)
    for (unsigned i = n; i > 0; i += -1)
        if (i % 7 == 0)
            last = i;
    CHECK_EQ(last, 7);
}

#pragma omp declare induction(skip : long, int) inductor(omp_var += 2 * omp_step) collector(omp_step * omp_idx)

/* The number of a collapsed iteration counts. */
static void nests(int rows)
{
    enum { COLUMNS = 7 };
    int a[3][COLUMNS][2], b[3][COLUMNS], k = 3, wrong = 0;
    long s = 4;
#pragma omp target teams distribute parallel for collapse(3) induction(step(2), +: k) map(from: a)
    for (int i = 0; i < rows; i++)
        for (unsigned j = COLUMNS; j > 0; j--) {
            for (int l = 0; l <= 1; l++)
                a[i][COLUMNS - j][l] = k;
        }
#pragma omp parallel for schedule(static, 2) num_threads(3) collapse(2) induction(step(1), skip: s)
    for (int i = 0; i < 2 * rows; i += 2)
        for (int j = 0; j < COLUMNS; j++)
            b[i / 2][j] = (int)s;
    for (int i = 0; i < rows * COLUMNS; i++) {
        wrong += b[i / COLUMNS][i % COLUMNS] != 4 + 2 * i;
        for (int l = 0; l < 2; l++)
            wrong += a[i / COLUMNS][i % COLUMNS][l] != 3 + 2 * (2 * i + l);
    }
    CHECK_EQ(wrong, 0);
    CHECK(k == 3 + 4 * rows * COLUMNS && s == 4 + 2 * rows * COLUMNS);
}

/* Tasks have the original's value as it was; `default(none)` does not miss it. */
static void tasks(void)
{
    int k = 5, s = 2, t = 1, u = 3, w = 2, a[N], b[N], c[N], d[N], e[N];
#pragma omp target map(from: a) map(tofrom: k)
#pragma omp taskloop default(none) shared(a) firstprivate(s) induction(step(s), +: k) num_tasks(5) nogroup
    for (int i = 0; i < N; i++)
        a[i] = k;
#pragma omp target parallel num_threads(4) map(tofrom: t) map(from: b)
    {
#pragma omp masked taskloop simd filter(1) induction(step(s), +: t)
        for (int i = 0; i < N; i++)
            b[i] = t;
    }
#pragma omp parallel num_threads(4)
    {
#pragma omp single
#pragma omp taskloop induction(step(-2), +: u) untied grainsize(1)
        for (int i = 0; i < N; i++)
            c[i] = u;
    }
#pragma omp target parallel masked taskloop induction(step(1), skip: w) map(from: d) num_threads(3) collapse(2) default(none) shared(d)
    for (int i = 0; i < N / 2; i++)
        for (int j = 0; j < 2; j++)
            d[2 * i + j] = w;
    CHECK_EQ(wrong(a, 5, 2) + wrong(b, 1, 2) + wrong(c, 3, -2) + wrong(d, 2, 2), 0);
    CHECK(k == 5 + 2 * N && t == 1 + 2 * N && u == 3 - 2 * N && w == 2 + 2 * N);
#pragma omp target teams distribute default(none) shared(e) firstprivate(s) induction(step(s), +: k) map(from: e)
    for (int i = 0; i < N; i++)
        e[i] = k;
#pragma omp parallel for default(none) shared(c, s) induction(step(s), +: k)
    for (int i = 0; i < N; i++)
        c[i] = k;
    CHECK_EQ(wrong(e, 5 + 2 * N, 2) + wrong(c, 5 + 4 * N, 2), 0);
    CHECK_EQ(k, 5 + 6 * N);
}

int main(void)
{
    down();
    tasks();
    signs();
    nests(3);
    int on = 0, k = 3, h = 5, t = 7, u = 9, w = 1, a[N], b[N], c[N], d[N], e[N];
#pragma omp target teams distribute parallel for collapse(1) induction(step(2), +: k) map(from: a) map(tofrom: on)
    for (int i = 0; i < N; i++) {
        a[i] = k;
        if (i == 5)
            on = ON_DEVICE;
    }
#pragma omp parallel for induction(step(3), +: h) collapse(ONE)
    for (int i = 0; i < N; i++)
        b[i] = h;
#pragma omp parallel num_threads(4)
    {
#pragma omp for nowait induction(step(2), +: t)
        for (int i = 0; i < N; i++)
            c[i] = t;
#pragma omp for simd induction(step(4), +: w)
        for (int i = 0; i < N; i++)
            e[i] = w;
    }
#pragma omp target parallel num_threads(4) map(tofrom: u) map(from: d)
    {
#pragma omp for schedule(dynamic, 2) induction(step(2), +: u)
        for (int i = 0; i < N; i++)
            d[i] = u;
    }
    CHECK(on);
    CHECK_EQ(wrong(a, 3, 2) + wrong(b, 5, 3) + wrong(c, 7, 2) + wrong(d, 9, 2) + wrong(e, 1, 4), 0);
    CHECK_EQ(k, 3 + 2 * N);
    CHECK_EQ(h, 5 + 3 * N);
    CHECK_EQ(t, 7 + 2 * N);
    CHECK_EQ(u, 9 + 2 * N);
    CHECK_EQ(w, 1 + 4 * N);
    return RESULT;
}
