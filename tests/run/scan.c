/* scan directives against serial loops: forms, kinds of loops, operators, teams of all sizes; the original value counts */
#include "check.h"

enum { N = 2500 };
static int a[N], b[N], c[N];
static double d[N], e[N];

static void fill(void)
{
    for (int i = 0; i < N; i++) {
        a[i] = i * 7919 % 1000 - 300;
        d[i] = i % 17 * 0.25 - 1;
        b[i] = c[i] = 0;
        e[i] = 0;
    }
}

/* Exclusive: the loop's text read from its end. */
static void wants(int n, int start, int exclusive, int result, const char *what)
{
    int x = start, wrong = 0;
    for (int i = 0; i < n; i++) {
        if (exclusive && b[i] != x) wrong++;
        x += a[i];
        if (!exclusive && b[i] != x) wrong++;
    }
    if (wrong || x != result) {
        check_failures++;
        printf("%s, %d iterations from %d: %d wrong, result %d, not %d\n", what, n, start, wrong, result, x);
    }
}

static void forms(int n, int threads)
{
    int x = 5, on = 0;
    fill();
#pragma omp target parallel for num_threads(threads) reduction(inscan, +: x) map(from: b) map(tofrom: on)
    for (int i = 0; i < n; i++) {
        x += a[i];
        if (i == 0) on = ON_DEVICE;
#pragma omp scan inclusive(x)
        b[i] = x;
    }
    wants(n, 5, 0, x, "target parallel for");
    CHECK(on || !n);
    x = -7;
#pragma omp target parallel for simd num_threads(threads) map(from: b) reduction(inscan, +: x)
    for (int i = n - 1; i >= 0; i--) {
        b[n - 1 - i] = x;
#pragma omp scan exclusive(x)
        x += a[n - 1 - i];
    }
    wants(n, -7, 1, x, "target parallel for simd, downwards");
    x = 9;
#pragma omp target map(tofrom: x, b)
    {
        c[0] = 1;
#pragma omp parallel for reduction(inscan, +: x) num_threads(threads)
        for (unsigned char k = 0; k < 200; k++) {
            x += a[k];
#pragma omp scan inclusive(x)
            b[k] = x;
        }
    }
    wants(200, 9, 0, x, "parallel for in a generic region");
    x = 1;
#pragma omp target parallel num_threads(threads) map(from: b)
    {
#pragma omp for reduction(inscan, +: x) nowait
        for (long i = 10; i < 10 + 3l * n; i += 3) {
            b[(i - 10) / 3] = x;
#pragma omp scan exclusive(x)
            x += a[(i - 10) / 3];
        }
    }
    x = 1;                            /* x is firstprivate there */
#pragma omp target map(tofrom: x) map(from: b)
#pragma omp parallel num_threads(threads)
#pragma omp for simd reduction(inscan, +: x)
    for (int *p = a; p < a + n; ++p) {
        x += *p;
#pragma omp scan inclusive(x)
        b[p - a] = x;
    }
    wants(n, 1, 0, x, "for simd over a pointer");
    x = 3;
#pragma omp target simd reduction(inscan, +: x) map(from: b)
    for (int i = 0; i != n; i++) {
        x += a[i];
#pragma omp scan inclusive(x)
        b[i] = x;
    }
    wants(n, 3, 0, x, "target simd");
}

/* A serialised region, if(0), and a loop whose result is used by the next one. */
static void nested(void)
{
    int x = 2, y = 0;
    fill();
#pragma omp target parallel num_threads(40) map(tofrom: x, y) map(from: b, c)
    {
#pragma omp for reduction(inscan, +: x)
        for (int i = 0; i < 100; i++) {
            x += a[i];
#pragma omp scan inclusive(x)
            b[i] = x;
        }
#pragma omp for reduction(inscan, max: y)
        for (int i = 0; i < 100; i++) {
            y = b[i] > y ? b[i] : y;
#pragma omp scan inclusive(y)
            c[i] = y;
        }
    }
    wants(100, 2, 0, x, "two loops");
    for (int i = 0, m = 0; i < 100; i++) {
        m = b[i] > m ? b[i] : m;
        CHECK_EQ(c[i], m);
    }
    x = 4;
#pragma omp target parallel num_threads(3) map(from: b)
    if (omp_get_thread_num() == 1) {
        int z = 4;
#pragma omp parallel for reduction(inscan, +: z)
        for (int i = 0; i < 100; i++) {
            b[i] = z;
#pragma omp scan exclusive(z)
            z += a[i];
        }
        b[100] = z;
    }
    wants(100, 4, 1, b[100], "serialised region");
    x = 6;
#pragma omp target map(tofrom: x) map(from: b)
#pragma omp parallel for if(0) reduction(inscan, +: x)
    for (int i = 0; i < 100; i++) {
        x += a[i];
#pragma omp scan inclusive(x)
        b[i] = x;
    }
    wants(100, 6, 0, x, "if(0)");
}

/* Other clauses and statements in both phases; locals of their own. */
static void statements(void)
{
    int x = 0, last = -1, offset = 3, tmp = 0, j = 100;
    double s = 0.5, m = -10;
    fill();
#pragma omp target parallel for reduction(inscan, +: x, s) reduction(inscan, max: m) lastprivate(last) firstprivate(offset) private(tmp) \
    linear(j: 2) map(from: b, c, e) num_threads(96)
    for (int i = 0; i < 1000; i++) {
        int t, unused = i;
        t = a[i] + offset;
        for (int k = 0; k < 2; k++) {
            if (k) continue;
            x += t;
        }
        tmp = unused;
        s += d[i];
        if (d[i] > m) m = d[i];
        last = tmp + j;
#pragma omp scan inclusive(x, s, m)
        t = x;
        b[i] = t;
        e[i] = s + m;
        c[i] = j;
        if (i % 2) continue;
        b[i]++;
    }
    int hx = 0;
    double hs = 0.5, hm = -10;
    for (int i = 0; i < 1000; i++) {
        hx += a[i] + 3;
        hs += d[i];
        hm = d[i] > hm ? d[i] : hm;
        CHECK_EQ(b[i], hx + (i % 2 == 0));
        CHECK_EQ(e[i], hs + hm);
        CHECK_EQ(c[i], 100 + 2 * i);
    }
    CHECK(x == hx && s == hs && m == hm);
    CHECK_EQ(last, 999 + 100 + 2 * 999);
    CHECK_EQ(j, 100 + 2 * 999);
}

int main(void)
{
    static const int threads[] = { 1, 2, 31, 32, 33, 64, 100, 1024 }, lengths[] = { 0, 1, 2, 33, 1000, N };
    for (int t = 0; t < COUNT(threads); t++)
        for (int n = 0; n < COUNT(lengths); n++)
            forms(lengths[n], threads[t]);
    nested();
    statements();
    return RESULT;
}
