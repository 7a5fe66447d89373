/* copyprivate: scalars, structs, arrays, pointers; in loops, in functions, in serialised nested regions */ /* also: -O0 -g */
#include "check.h"

struct pair { double x; short y[3]; };
enum { N = 96 };

static int pick(int seed)
{
    int v = seed * omp_get_thread_num() + 1;
#pragma omp single copyprivate(v)
    v = seed + 1000;
    return v;
}
/* A thread alone in its region does not use the memory by which its neighbours exchange their values. */
static void between(int *f)
{
#pragma omp target teams num_teams(1) map(tofrom: f[0:N])
#pragma omp parallel num_threads(N)
    {
        int t = omp_get_thread_num(), sum = 0;
        for (int k = 0; k < 20; k++) {
            sum += pick(k);
            for (int i = 0; i < t % 7; i++)
#pragma omp parallel num_threads(2)
                sum += pick(-5000) != -4000;
        }
        f[t] = sum;
    }
}
int main(void)
{
    int on = 0, a[N] = { 0 }, b[N] = { 0 }, c[N] = { 0 }, d[N] = { 0 };
    double e[N] = { 0 };
#pragma omp target teams num_teams(1) map(tofrom: on, a, b, c, d, e)
#pragma omp parallel num_threads(N)
    {
        int t = omp_get_thread_num(), n = -t, row[5] = { t, t, t, t, t };
        struct pair p = { t, { 1, 2, 3 } };
        int *q = &row[t % 5];
        on = ON_DEVICE;
        for (int k = 0; k < 4; k++) {
#pragma omp single copyprivate(n, row, p, q)
            {
                n = 7 * k;
                row[k] = 50 + k;
                p = (struct pair){ 2.5 * k, { 4, 5, 6 } };
                q = a;
            }
            a[t] += n + row[k];
        }
        b[t] = p.y[1] + (q == a);
        e[t] = p.x;
        c[t] = pick(t % 2 ? 5 : 5);
#pragma omp parallel num_threads(2)
        d[t] = pick(t);
    }
    int f[N] = { 0 };
    between(f);
    CHECK(on);
    for (int i = 0; i < N; i++) {
        CHECK_EQ(a[i], 7 * 6 + 4 * 50 + 6);
        CHECK_EQ(b[i], 6);
        CHECK_EQ(c[i], 1005);
        CHECK_EQ(d[i], 1000 + i);
        CHECK(e[i] == 7.5);
        CHECK_EQ(f[i], 20 * 1000 + 190);
    }
    return RESULT;
}
