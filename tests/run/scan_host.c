/* inscan reductions on loops of the host, which clang 22 gets wrong: it leaves out what the variable had before */
/* also: -O0, -O2 --host-cc=gcc */
#include "check.h"
enum { N = 200 };
static int a[N], e[N], t[N];
static double c[N];

static void fill(void)
{
    for (int i = 0; i < N; i++) {
        a[i] = i * 7 % 13 - 4;
        c[i] = i % 5 - 1;
    }
}
static int wrong(int before, int inclusive)
{
    int bad = 0, s = before;
    for (int i = 0; i < N; i++) {
        bad += !inclusive && e[i] != s;
        s += a[i];
        bad += inclusive && e[i] != s;
        e[i] = 0;
    }
    return bad;
}
static int total(int before)
{
    for (int i = 0; i < N; i++) before += a[i];
    return before;
}
int main(void)
{
    int s = 7, last = 0, first = 3, m = -100, n = N;
    double sum = 0, x = 1;
    fill();
#pragma omp parallel for reduction(inscan, +: s) num_threads(4) default(none) shared(a, e, n)
    for (int i = 0; i < n; i++) {
        s += a[i];
#pragma omp scan inclusive(s)
        e[i] = s;
    }
    CHECK(s == total(7) && !wrong(7, 1));
    s = 9;
#pragma omp parallel for simd reduction(inscan, +: s) lastprivate(last)
    for (int i = 0; i < N; i++) {
        e[i] = s;
        last = i;
#pragma omp scan exclusive(s)
        s += a[i];
    }
    CHECK(s == total(9) && !wrong(9, 0) && last == N - 1);
    s = 1;
#pragma omp parallel num_threads(3)
    {
#pragma omp for reduction(inscan, +: s) firstprivate(first) nowait
        for (int i = 0; i < N; i++) {
            s += a[i] + first - 3;
#pragma omp scan inclusive(s)
            e[i] = s;
        }
#pragma omp for
        for (int i = 0; i < N; i++)
            t[i] = i;
    }
    CHECK(s == total(1) && !wrong(1, 1) && t[N - 1] == N - 1);
    /* two of them, and another reduction beside */
    s = 2;
#pragma omp parallel for reduction(inscan, +: s) reduction(inscan, max: m) reduction(+: sum)
    for (int i = 0; i < N; i++) {
        s += a[i];
        m = m > a[i] ? m : a[i];
#pragma omp scan inclusive(s, m)
        e[i] = s;
        t[i] = m;
        sum += c[i];
    }
    CHECK(s == total(2) && !wrong(2, 1) && m == 8 && t[0] == -4 && t[N - 1] == 8);
    CHECK_EQ(sum, N);
    /* OpenMP's example of a polynomial */
    sum = 0;
#pragma omp parallel for reduction(+: sum) reduction(inscan, *: x)
    for (int i = 0; i < 20; i++) {
        sum += c[i] * x;
#pragma omp scan exclusive(x)
        x *= 2;
    }
    double y = 1, want = 0;
    for (int i = 0; i < 20; i++, y *= 2) want += c[i] * y;
    CHECK_EQ(sum, want);
    CHECK_EQ(x, y);
    return RESULT;
}
