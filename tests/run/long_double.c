/* long double as double: values, functions, reductions, what the host passes */ /* flags: -fompgpu-long-double=double */ /* also: -O0 -g */
#include "check.h"
#include <complex.h>
#include <math.h>
#include <tgmath.h>

struct pair {
    long double a;
    int n;
};
#pragma omp begin declare target
static long double square(long double x) { return x * x; }
static struct pair make(long double a, int n) { return (struct pair){ a, n }; }
static long double total(const long double *x, int n)
{
    long double s = 0;
    for (int i = 0; i < n; i++)
        s += x[i];
    return s;
}
#pragma omp end declare target

int main(void)
{
    long double x = 1.5L;
    const long double two = 2;
    _Complex long double z = 3 + 4 * I;
    double out[16] = { 0 };
    int n = 8, on = 0;
#pragma omp target map(from: out) map(tofrom: on) firstprivate(x)
    {
        long double y = x + two, a[4] = { 1, 2, 3, y }, whole, s = 0, m = -1e9L;
        struct pair p = make(square(y), n);
        on = ON_DEVICE;
        x += 1;
        out[0] = y;
        out[1] = p.a + p.n;
        out[2] = total(a, 4);
        out[3] = sqrtl(x) + fabsl(-y) + powl(y, 2) + floorl(2.75L) + fmal(x, y, 1);
        out[4] = modfl(2.75L, &whole) + whole * 10;
        out[5] = lrintl(y) + isnan(y) + isinf(y) + signbit(-y);
        out[6] = cabsl(z) + creall(z);
        out[7] = sinl(y) + fmaxl(y, x);
#pragma omp parallel for reduction(+ : s) reduction(max : m) num_threads(n)
        for (int i = 0; i < 100; i++) {
            s += i * 0.5L;
            m = m > i ? m : i;
        }
        out[8] = s;
        out[9] = m;
#pragma omp parallel for reduction(+ : a) firstprivate(y)
        for (int i = 0; i < 8; i++)
            a[i % 4] += y;
        out[10] = a[0] + a[3];
        out[11] = sin(y) + pow(y, n) + cbrt(n);
        out[12] = fabs(z) + creal(sqrt(z));
    }
    CHECK(on);
    CHECK_EQ(out[0], 3.5);
    CHECK_EQ(out[1], 20.25);
    CHECK_EQ(out[2], 9.5);
    CHECK_NEAR(out[3], sqrt(2.5) + 3.5 + 12.25 + 2 + 9.75, 1e-14);
    CHECK_EQ(out[4], 20.75);
    CHECK_EQ(out[5], 5);
    CHECK_EQ(out[6], 8);
    CHECK_NEAR(out[7], sin(3.5) + 3.5, 1e-14);
    CHECK_EQ(out[8], 2475);
    CHECK_EQ(out[9], 99);
    CHECK_EQ(out[10], 18.5);
    CHECK_NEAR(out[11], sin(3.5) + pow(3.5, 8.0) + 2, 1e-9);
    CHECK_NEAR(out[12], 7, 1e-14);

    double last = 0;
#pragma omp target parallel num_threads(8) map(from : last)
    {
#pragma omp atomic
        x += 0.5L;
#pragma omp barrier
#pragma omp masked
        last = x;
    }
    CHECK_EQ(last, 5.5);
    return RESULT;
}
