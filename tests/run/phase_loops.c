/* loops of a region around parallel loops: on the whole device where these are long, with the loop's variable in kernels */ /* also: -O0 -g, -O2 -fno-ompgpu-spread, -O2 -fompgpu-mode=generic */
#include "check.h"
enum { LONG = 30000, SIDE = 160 };
static int a[LONG + 2], b[LONG + 2], want[LONG + 2], other[LONG + 2];
static long d[SIDE][SIDE], e[SIDE][SIDE];

static void compare(const char *what, const int *x, int n)
{
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += x[i] != want[i];
    if (wrong) printf("%s, %d: %d wrong\n", what, n, wrong);
    CHECK_EQ(wrong, 0);
}

/* Two loops and statements in each step; statements before, between and after. */
static void steps(int n, int count)
{
    int log[3] = { 0, 0, 0 }, on = 0, sum = 0, expected = 0;
    for (int i = 0; i < n + 2; i++) want[i] = a[i] = i % 13, b[i] = other[i] = 0;
#pragma omp target map(tofrom: a, b, log, sum) map(from: on)
    {
        log[0] = n;
        on = ON_DEVICE;
        for (int t = 1; t <= count; t++) {
#pragma omp parallel for
            for (int i = 1; i < n + 1; i++)
                b[i] = a[i - 1] + a[i + 1] + t;
            log[1] += t;
            log[2] = log[2] * 3 + a[n / 2] % 5;
#pragma omp parallel for reduction(+: sum)
            for (int i = 1; i < n + 1; i++) {
                a[i] = b[i] % 1000;
                sum += a[i] & t;
            }
        }
        log[0] += log[1];
    }
    int said[3] = { n, 0, 0 };
    for (int t = 1; t <= count; t++) {
        for (int i = 1; i < n + 1; i++) other[i] = want[i - 1] + want[i + 1] + t;
        said[1] += t;
        said[2] = said[2] * 3 + want[n / 2] % 5;
        for (int i = 1; i < n + 1; i++) want[i] = other[i] % 1000, expected += want[i] & t;
    }
    compare("steps", a, n + 2);
    CHECK(on && sum == expected && log[0] == n + said[1] && log[1] == said[1] && log[2] == said[2]);
}

/* Bounds with the loop's variable: shorter each time, longer each time; collapsed. */
static void shrinking(int n)
{
    for (int i = 0; i < n; i++) want[i] = a[i] = i;
#pragma omp target map(tofrom: a[0:n])
    {
        for (int t = n; t > 0; t -= 7000) {
#pragma omp parallel for
            for (int i = 0; i < t; i++) a[i] = a[i] * 3 + t;
        }
        for (unsigned long t = 0; t < 4; ++t)
#pragma omp parallel for simd
            for (long i = n - 1; i >= (long)t * (n / 4); i--) a[i] ^= (int)t + 1;
    }
    for (int t = n; t > 0; t -= 7000)
        for (int i = 0; i < t; i++) want[i] = want[i] * 3 + t;
    for (long t = 0; t < 4; t++)
        for (long i = t * (n / 4); i < n; i++) want[i] ^= (int)t + 1;
    compare("shrinking", a, n);
}

static void shortest(void)
{
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) d[i][j] = e[i][j] = i == j ? 0 : (i * 37L + j * 101) % 499 + 1;
#pragma omp target map(tofrom: d)
    for (int k = 0; k < SIDE; k++)
#pragma omp parallel for collapse(2)
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++)
                if (d[i][k] + d[k][j] < d[i][j]) d[i][j] = d[i][k] + d[k][j];
    for (int k = 0; k < SIDE; k++)
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++)
                if (e[i][k] + e[k][j] < e[i][j]) e[i][j] = e[i][k] + e[k][j];
    CHECK(!memcmp(d, e, sizeof d));
    for (int i = 0; i < SIDE; i++) /* elimination: the rest of the square, again and again */
        for (int j = 0; j < SIDE; j++) d[i][j] = e[i][j] = (i * 31 + j * 17) % 97;
    int n = SIDE;
#pragma omp target map(tofrom: d)
    {
        for (short k = 0; k < 100; k += 3) {
#pragma omp parallel for collapse(2)
            for (int i = k + 1; i < n; i++)
                for (int j = k + 1; j < n; j++) d[i][j] = (d[i][j] + d[i][k] * d[k][j]) % 1009;
        }
    }
    for (int k = 0; k < 100; k += 3)
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++) e[i][j] = (e[i][j] + e[i][k] * e[k][j]) % 1009;
    CHECK(!memcmp(d, e, sizeof d));
}

/* Variables from outside, one of them in two loops; an unsigned one that ends at its type's limit; the host's stay what they were. */
static short gone = 77;
static void outside(int n)
{
    int t = 55, wrong = 0;
    unsigned char u = 3;
    for (int i = 0; i < n; i++) want[i] = a[i] = i % 5, b[i] = 0;
#pragma omp target map(tofrom: a, b)
    {
        for (t = 0; t < 5; t += 2)
#pragma omp parallel for
            for (int i = 0; i < n - t; i++) a[i] = a[i] * 2 + t;
        a[0]++;
        for (u = 253; u < 255; u++)
#pragma omp parallel for firstprivate(n)
            for (int i = 0; i < n; i++) a[i] ^= u;
        for (t = 3; t != 0; t--) {
#pragma omp parallel for
            for (int i = 0; i < n; i++) b[i] += a[i] * t;
        }
        for (gone = 1; gone <= 2; gone = gone + 1)
#pragma omp parallel for
            for (int i = 0; i < n; i++) b[i] -= gone;
    }
    for (int k = 0; k < 5; k += 2)
        for (int i = 0; i < n - k; i++) want[i] = want[i] * 2 + k;
    want[0]++;
    for (int i = 0; i < n; i++) want[i] = want[i] ^ 253 ^ 254;
    compare("outside", a, n);
    for (int i = 0; i < n; i++) wrong += b[i] != 6 * want[i] - 3;
    CHECK(!wrong && t == 55 && u == 3 && gone == 77);
#pragma omp target map(tofrom: a) map(from: b)
    {
        for (t = 0; t < 4; t++)
#pragma omp parallel for
            for (int i = 0; i < n; i++) a[i] += t;
        b[0] = t; /* what it has after the loop */
    }
    for (int i = 0; i < n; i++) want[i] += 6;
    compare("value after a loop", a, n);
    CHECK_EQ(b[0], 4);
}

/* What keeps such a region one kernel: its results are the same. */
static void others(int n, int count)
{
    int left = 0, m = count, *p = a, *q = b;
    for (int i = 0; i < n; i++) want[i] = a[i] = i, b[i] = 1;
#pragma omp target map(tofrom: a, b, left) map(tofrom: m) firstprivate(count)
    {
        for (int t = 0; t < 100; t++) { /* ends by itself */
#pragma omp parallel for
            for (int i = 0; i < n; i++) a[i] += b[i] + t;
            if (t == count) break;
        }
        for (int t = 0; t < m; t++) { /* a bound in memory */
#pragma omp parallel for
            for (int i = 0; i < n; i++) a[i] += 2;
            if (t == 1) m = 2;
        }
        for (int t = 0; t < 9; t++) { /* sets its variable */
#pragma omp parallel for
            for (int i = 0; i < n; i++) a[i] ^= t;
            t += t & 1;
        }
        left = m;
    }
    for (int t = 0; t <= count; t++)
        for (int i = 0; i < n; i++) want[i] += 1 + t;
    int times = count < 2 ? count : 2;
    for (int t = 0; t < times; t++)
        for (int i = 0; i < n; i++) want[i] += 2;
    for (int t = 0; t < 9; t++) {
        for (int i = 0; i < n; i++) want[i] ^= t;
        t += t & 1;
    }
    compare("others", a, n);
    CHECK_EQ(left, times);
#pragma omp target map(tofrom: a, b) map(p[:0], q[:0])
    for (int t = 0; t < 3; t++) { /* pointers change places */
        int *x = p, *y = q;
#pragma omp parallel for
        for (int i = 0; i < n; i++) y[i] = x[i] + 1;
        p = y, q = x;
    }
    for (int i = 0; i < n; i++) want[i] += 3;
    compare("pointers", b, n);
}

int main(void)
{
    int sizes[] = { 1, 100, LONG };
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int count = 0; count < 4; count++) steps(sizes[i], count);
        shrinking(sizes[i]);
        outside(sizes[i]);
        others(sizes[i], (int)i + 1);
    }
    shortest();
    return RESULT;
}
