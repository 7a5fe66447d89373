/* a reduction at the end of a parallel region has the barrier that what follows needs; it has not where threads do more after it, or some do not come */ /* race: checked */
#include "check.h"
enum { N = 100 };
static long twice(const long *v, int n)
{
    long s = 0;
    for (int i = 0; i < n; i++)
        s += 2 * v[i];
    return s;
}
/* A team of one warp, and of a part of one. */
static void few(void)
{
    long x[N], h[N];
    for (int i = 0; i < N; i++)
        x[i] = h[i] = i % 5;
#pragma omp target map(tofrom: x) thread_limit(32)
    for (int k = 0; k < 20; k++) {
        long s = 0;
#pragma omp parallel for reduction(+: s)
        for (int i = 0; i < N; i++)
            s += 2 * x[i];
        x[k * 5] = s % 11;
    }
#pragma omp target map(tofrom: x) thread_limit(20)
    for (int k = 0; k < 20; k++) {
        long s = 0;
#pragma omp parallel for reduction(+: s)
        for (int i = 0; i < N; i++)
            s += 2 * x[i];
        x[k * 5] = s % 11;
    }
    for (int k = 0; k < 40; k++)
        h[k % 20 * 5] = twice(h, N) % 11;
    CHECK(!memcmp(x, h, sizeof h));
}
int main(void)
{
    few();
    int on = 0, skip = 0;
    long a[N], b[N] = { 0 }, c[N] = { 0 }, total = 0, most = 0, steps = 0, e[8] = { 0 }, x[N], h[N], first[8] = { 0 };
    for (int i = 0; i < N; i++)
        a[i] = x[i] = h[i] = i % 7 + 1;
#pragma omp target map(tofrom: a, b, c, total, most, steps, e, x, first, on) map(to: skip)
    {
        /* the main thread writes what all have read, and what the next region reads */
        for (int k = 0; k < 20; k++) {
            long s = 0;
#pragma omp parallel for reduction(+: s)
            for (int i = 0; i < N; i++)
                s += 2 * x[i];
            x[k * 5] = s % 11;
        }
        /* all read the result */
        long r = 1;
        while (r < 5000) {
#pragma omp parallel for reduction(+: r)
            for (int i = 0; i < N; i++)
                r += a[i];
            steps++;
        }
        /* one after the other, the second without anything in between; originals in memory */
#pragma omp parallel for reduction(+: total)
        for (int i = 0; i < N; i++)
            total += a[i];
#pragma omp parallel for reduction(max: most) reduction(+: total)
        for (int i = 0; i < N; i++) {
            most = a[i] + i > most ? a[i] + i : most;
            total += i;
        }
        a[0] = total;
        a[1] = most;
        /* threads do more after it */
        for (int k = 0; k < 8; k++) {
            long s = 0;
#pragma omp parallel
            {
#pragma omp for reduction(+: s) nowait
                for (int i = 0; i < N; i++)
                    s += b[i] + 1;
                if (omp_get_thread_num() == 0)
                    first[k] += a[k];
#pragma omp for nowait
                for (int i = 0; i < N; i++)
                    c[i] += a[i] + k;
            }
            a[k] = c[k] + s;
            e[k] = s;
        }
        /* not all of its paths have it, for all threads alike */
        for (int k = 0; k < 8; k++) {
            long s = 0;
#pragma omp parallel
            if (k % 2 == skip) {
#pragma omp for reduction(+: s)
                for (int i = 0; i < N; i++)
                    s += b[i];
            } else if (omp_get_thread_num() < N) {
                b[omp_get_thread_num()] += 0;
            }
            for (int i = 0; i < N; i += 30)
                b[i] = s + k;
        }
        /* a part of the team, a warp of it, some lanes */
        for (int n = 1; n <= 64; n = 2 * n + 5) {
            long s = 0;
#pragma omp parallel for num_threads(n) reduction(+: s)
            for (int i = 0; i < N; i++)
                s += c[i];
            c[n] = s % 1000;
        }
        on = ON_DEVICE;
    }
    for (int k = 0; k < 20; k++)
        h[k * 5] = twice(h, N) % 11;
    CHECK(on);
    CHECK(!memcmp(x, h, sizeof h));
    long p[N], q[N] = { 0 }, d[N] = { 0 }, t = 0, m = 0;
    for (int i = 0; i < N; i++)
        p[i] = i % 7 + 1;
    for (int i = 0; i < N; i++)
        t += p[i], m = p[i] + i > m ? p[i] + i : m;
    CHECK_EQ(steps, (4999 - 1) / t + 1);
    for (int i = 0; i < N; i++)
        t += i;
    CHECK_EQ(total, t);
    CHECK_EQ(most, m);
    p[0] = t, p[1] = m;
    for (int k = 0; k < 8; k++) {
        CHECK_EQ(first[k], p[k]);
        for (int i = 0; i < N; i++)
            d[i] += p[i] + k;
        CHECK_EQ(e[k], N);
        p[k] = d[k] + N;
    }
    for (int k = 0; k < 8; k++) {
        long s = k % 2 ? 0 : twice(q, N) / 2;
        for (int i = 0; i < N; i += 30)
            q[i] = s + k;
    }
    for (int n = 1; n <= 64; n = 2 * n + 5)
        d[n] = twice(d, N) / 2 % 1000;
    CHECK(!memcmp(a, p, sizeof p) && !memcmp(b, q, sizeof q) && !memcmp(c, d, sizeof d));
    return RESULT;
}
