/* reductions of arrays that are too large for the record and of sections, with lengths known at compile time and at run time, over the
 * league, in one parallel region, and across the teams of a generic region; mixed with scalars */
#include "check.h"

enum { N = 700 };
static int value(int i, int j) { return (i * 7919 + j * 104729) % 1000 - 400; }

struct point { short x, y; double w; };
#pragma omp declare reduction(sum : struct point : omp_out.x += omp_in.x, omp_out.y += omp_in.y, omp_out.w += omp_in.w)

static void large(void)
{
    enum { B = 300 };
    int hist[B] = { 1, 2, 3 }, h[B] = { 1, 2, 3 }, on = 0;
    static double wide[500], hw[500];
    double sum = 0.5, hs = 0.5;
#pragma omp target teams distribute parallel for reduction(+: hist, wide, sum) map(tofrom: on) num_teams(7)
    for (int i = 0; i < N; i++) {
        hist[i % B] += i;
        wide[i * 3 % 500] += 0.25 * i;
        sum += i;
        on = ON_DEVICE;
    }
    for (int i = 0; i < N; i++) {
        h[i % B] += i;
        hw[i * 3 % 500] += 0.25 * i;
        hs += i;
    }
    CHECK(on);
    CHECK_EQ(sum, hs);
    for (int i = 0; i < B; i++)
        CHECK_EQ(hist[i], h[i]);
    for (int i = 0; i < 500; i++)
        CHECK_EQ(wide[i], hw[i]);
#pragma omp target parallel for reduction(max: hist) num_threads(77)
    for (int i = 0; i < N; i++)
        hist[i % B] = hist[i % B] > 3 * i ? hist[i % B] : 3 * i;
    for (int i = 0; i < N; i++)
        h[i % B] = h[i % B] > 3 * i ? h[i % B] : 3 * i;
    for (int i = 0; i < B; i++)
        CHECK_EQ(hist[i], h[i]);
}

static void sections(int n, int low, int teams, int threads)
{
    int *p = malloc((size_t)(n + low + 5) * sizeof *p), *h = malloc((size_t)(n + low + 5) * sizeof *h), m[6][5] = { { 1 } }, hm[6][5] = { { 1 } };
    double vla[n + 1], hv[n + 1];
    long count = 3;

    for (int i = 0; i < n + low + 5; i++)
        p[i] = h[i] = i;
    for (int i = 0; i <= n; i++)
        vla[i] = hv[i] = i * 0.5;
#pragma omp target teams distribute parallel for reduction(+: p[low:n], m[1:3][0:5], vla, count) num_teams(teams) thread_limit(threads)
    for (int i = 0; i < N; i++) {
        if (n)
            p[low + i % n] += value(i, n);
        m[1 + i % 3][i % 5]++;
        vla[i % (n + 1)] += i;
        count += 2;
    }
    for (int i = 0; i < N; i++) {
        if (n)
            h[low + i % n] += value(i, n);
        hm[1 + i % 3][i % 5]++;
        hv[i % (n + 1)] += i;
    }
    CHECK_EQ(count, 3 + 2 * N);
    for (int i = 0; i < n + low + 5; i++)
        CHECK_EQ(p[i], h[i]);
    for (int i = 0; i < 30; i++)
        CHECK_EQ((&m[0][0])[i], (&hm[0][0])[i]);
    for (int i = 0; i <= n; i++)
        CHECK_EQ(vla[i], hv[i]);

    /* the same data on the device already; one parallel region; one element */
#pragma omp target data map(tofrom: p[0:n + low], m)
    {
#pragma omp target parallel for reduction(+: p[low:n], m[2][0:5]) num_threads(threads)
        for (int i = 0; i < N; i++) {
            if (n)
                p[low + i % n] += value(i, 1);
            m[2][i % 5] += 2;
        }
#pragma omp target teams distribute parallel for reduction(^: p[low:n]) reduction(min: m[5][4]) num_teams(teams)
        for (int i = 0; i < N; i++) {
            if (n)
                p[low + i % n] ^= i;
            m[5][4] = m[5][4] < -i ? m[5][4] : -i;
        }
    }
    for (int i = 0; i < N; i++) {
        if (n)
            h[low + i % n] += value(i, 1);
        hm[2][i % 5] += 2;
    }
    for (int i = 0; n && i < N; i++)
        h[low + i % n] ^= i;
    hm[5][4] = -(N - 1);
    for (int i = 0; i < n + low + 5; i++)
        CHECK_EQ(p[i], h[i]);
    for (int i = 0; i < 30; i++)
        CHECK_EQ((&m[0][0])[i], (&hm[0][0])[i]);
    free(p);
    free(h);
}

static void generic(int n, double *p)
{
    struct point q[40] = { { 1, 2, 3 } }, hq[40] = { { 1, 2, 3 } };
    double h[n];
    int teams = 0, parts = 0;

    for (int i = 0; i < n; i++)
        p[i] = h[i] = i;
#pragma omp target teams num_teams(5) reduction(+: p[0:n], teams) reduction(sum: q) map(tofrom: p[0:n])
    {
        teams++;
#pragma omp distribute
        for (int t = 0; t < 50; t++) {
#pragma omp parallel for reduction(+: p[:n])
            for (int i = 0; i < 20; i++)
                p[(t + i) % n] += t;
            q[t % 40].x++;
            q[t % 40].w += t;
        }
    }
    CHECK(teams >= 1 && teams <= 5);
    for (int t = 0; t < 50; t++) {
        for (int i = 0; i < 20; i++)
            h[(t + i) % n] += t;
        hq[t % 40].x++;
        hq[t % 40].w += t;
    }
    for (int i = 0; i < n; i++)
        CHECK_EQ(p[i], h[i]);
    for (int i = 0; i < 40; i++)
        CHECK(q[i].x == hq[i].x && q[i].y == hq[i].y && q[i].w == hq[i].w);

#pragma omp target map(tofrom: p[0:n], parts)
    {
#pragma omp parallel num_threads(9)
        {
#pragma omp for reduction(+: p[1:n - 1]) reduction(+: parts)
            for (int i = 0; i < 100; i++) {
                p[1 + i % (n - 1)] += 1;
                parts++;
            }
#pragma omp sections reduction(+: p[0:1])
            {
                p[0] += 1;
#pragma omp section
                p[0] += 10;
            }
        }
        int from = 1;
#pragma omp simd reduction(+: p[from:2])
        for (int i = 0; i < 10; i++)
            p[from + i % 2] += 1;
    }
    for (int i = 0; i < 100; i++)
        h[1 + i % (n - 1)] += 1;
    h[0] += 11;
    h[1] += 5;
    h[2] += 5;
    CHECK_EQ(parts, 100);
    for (int i = 0; i < n; i++)
        CHECK_EQ(p[i], h[i]);
}

/* copies that are far too large for a stack, in as many teams as the runtime likes */
static void huge(int n)
{
    long *p = calloc((size_t)n, sizeof *p), sum = 0;
#pragma omp target teams distribute parallel for reduction(+: p[:n])
    for (int i = 0; i < 3 * n; i++)
        p[i % n] += i;
#pragma omp target parallel for reduction(+: p[0:n]) num_threads(64)
    for (int i = 0; i < n; i++)
        p[i] += 1;
    for (int i = 0; i < n; i++)
        sum += p[i];
    CHECK_EQ(sum, 3L * n * (3L * n - 1) / 2 + n);
    free(p);
}

/* The private copy's base lies before the team's memory. */
static void far(int low)
{
    static unsigned short a[200];
#pragma omp target teams distribute num_teams(3) thread_limit(64) reduction(+: a[low:45]) map(tofrom: a)
    for (int b = 0; b < 5; b++) {
#pragma omp parallel for reduction(+: a[low:45])
        for (int i = 50 * b; i < 50 * b + 50; i++)
            a[low + i % 45]++;
    }
    for (int i = 0; i < 200; i++)
        CHECK_EQ(a[i], i < low || i >= low + 45 ? 0 : i - low < 25 ? 6 : 5);
}

/* in sequential code, of one thread */
static void alone(int n)
{
    int a[100], b[100], *p = a, *q = b;
    for (int i = 0; i < 100; i++)
        a[i] = b[i] = i;
#pragma omp target map(tofrom: p[:100], q[:100])
    {
#pragma omp for reduction(+: p[:n])
        for (int i = 0; i < n; i++)
            p[i] += i;
#pragma omp sections reduction(+: p[1:n])
        {
            p[1] += 500;
#pragma omp section
            p[2] += 700;
        }
#pragma omp scope reduction(+: q[1:n])
        q[n] += 3;
    }
    for (int i = 0; i < 100; i++) {
        CHECK_EQ(a[i], i + (i < n ? i : 0) + (i == 1 ? 500 : i == 2 ? 700 : 0));
        CHECK_EQ(b[i], i == n ? i + 3 : i);
    }
}

int main(void)
{
    double p[64];
    alone(60);
    alone(5);
    far(100);
    large();
    sections(6, 2, 3, 32);
    sections(0, 4, 2, 32);
    sections(150, 0, 4, 100);
    sections(1, 1, 1, 1);
    sections(90, 7, 40, 33);
    generic(64, p);
    generic(3, p);
    huge(400);
    return RESULT;
}
