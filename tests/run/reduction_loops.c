/* simple bodies of reductions run four iterations at a time: trip counts around multiples of the stride, induction variables of every width,
 * steps and directions; bodies that only look simple */
#include "check.h"

enum { N = 1700, TEAMS = 3, THREADS = 64 };
static double x[N], y[N];
static int v[N];
static signed char c[N];

static void widths(int n)
{
    double s = 1, dot = 0, down = 0, step = 0, from = 0;
    long count = 0, sum = 0, bytes = 0;
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(THREADS) reduction(+: s)
    for (int i = 0; i < n; i++)
        s += x[i];
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(THREADS) reduction(+: dot, count)
    for (long i = 0; i < n; ++i) {
        count++;
        dot += x[i] * y[i];
    }
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(THREADS) reduction(+: down)
    for (int i = n - 1; i >= 0; i--)
        down += x[i];
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(THREADS) reduction(+: step)
    for (unsigned i = 1; i < (unsigned)n; i += 3)
        step += x[i];
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(THREADS) reduction(-: sum)
    for (unsigned long i = 0; i < (unsigned long)n; i++)
        sum -= v[i];
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(THREADS) reduction(+: bytes)
    for (short i = 0; i < n; i++)
        bytes += c[i];
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(THREADS) reduction(+: from)
    for (const double *p = x; p < x + n; p++)
        from += p[0];
    double hs = 1, hdot = 0, hstep = 0;
    long hsum = 0, hbytes = 0;
    for (int i = 0; i < n; i++) {
        hs += x[i], hdot += x[i] * y[i], hsum -= v[i], hbytes += c[i];
        if (i % 3 == 1)
            hstep += x[i];
    }
    CHECK_EQ(s, hs);
    CHECK_EQ(dot, hdot);
    CHECK_EQ(count, n);
    CHECK_EQ(down, hs - 1);
    CHECK_EQ(step, hstep);
    CHECK_EQ(sum, hsum);
    CHECK_EQ(bytes, hbytes);
    CHECK_EQ(from, hs - 1);
}

static void bodies(int n)
{
    int low = 1 << 30, high = -(1 << 30), odd = 0, skipped = 0, labelled = 0, chosen = 0, inner = 0, of_team = 0;
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(THREADS) reduction(min: low) reduction(max: high)
    for (int i = 0; i < n; i++) {
        low = v[i] < low ? v[i] : low;
        if (v[i] > high)
            high = v[i];
    }
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(THREADS) reduction(+: odd, skipped)
    for (int i = 0; i < n; i++) {
        int t = v[i];
        if (t % 2 == 0) {
            skipped++;
            continue;
        }
        odd += t;
    }
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(THREADS) reduction(+: labelled)
    for (int i = 0; i < n; i++) {
        int left = v[i] & 3;
    again:
        labelled += left;
        if (left-- > 0)
            goto again;
    }
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(THREADS) reduction(+: chosen)
    for (int i = 0; i < n; i++) {
        switch (v[i] & 1) {
        case 0: chosen += 1; break;
        default: chosen += i & 1 ? 2 : 3;
        }
    }
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(THREADS) reduction(+: inner)
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            inner += v[i] + k;
#pragma omp target parallel for num_threads(100) reduction(+: of_team)
    for (int i = 0; i < n; i++)
        of_team += v[i];
    int hlow = 1 << 30, hhigh = -(1 << 30), hodd = 0, hskipped = 0, hlabelled = 0, hchosen = 0, hsum = 0;
    for (int i = 0; i < n; i++) {
        int t = v[i], k = t & 3;
        hlow = t < hlow ? t : hlow;
        hhigh = t > hhigh ? t : hhigh;
        hodd += t % 2 ? t : 0;
        hskipped += t % 2 == 0;
        hlabelled += k * (k + 1) / 2;
        hchosen += t & 1 ? i & 1 ? 2 : 3 : 1;
        hsum += t;
    }
    CHECK_EQ(low, hlow);
    CHECK_EQ(high, hhigh);
    CHECK_EQ(odd, hodd);
    CHECK_EQ(skipped, hskipped);
    CHECK_EQ(labelled, hlabelled);
    CHECK_EQ(chosen, hchosen);
    CHECK_EQ(inner, 3 * hsum + 3 * n);
    CHECK_EQ(of_team, hsum);
}

/* The end of the range of the induction variable's type is near: nothing may wrap. */
static void edges(void)
{
    unsigned base = 0xffffffffu - 1000, count = 0;
    unsigned long far = 0;
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(THREADS) reduction(+: count)
    for (unsigned i = base; i < 0xffffffffu; i++)
        count += (unsigned)v[i - base] & 1;
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(THREADS) reduction(+: far)
    for (unsigned long i = ~0ul - 1000; i < ~0ul; i++)
        far += (unsigned long)(v[i - (~0ul - 1000)] & 1);
    unsigned host = 0;
    for (int i = 0; i < 1000; i++)
        host += v[i] & 1;
    CHECK_EQ(count, host);
    CHECK_EQ(far, host);
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        v[i] = i * 7919 % 1009 - 300;
        x[i] = v[i] * 0.5;
        y[i] = i % 8;
        c[i] = (signed char)(i % 200 - 100);
    }
    enum { STRIDE = TEAMS * THREADS };
    static const int trips[] = { 0, 1, 63, STRIDE - 1, STRIDE, STRIDE + 1, 3 * STRIDE - 1, 3 * STRIDE, 3 * STRIDE + 1, 4 * STRIDE - 1, 4 * STRIDE,
                                 4 * STRIDE + 1, 5 * STRIDE, 7 * STRIDE + 5, 8 * STRIDE, 8 * STRIDE + 1, N };
    for (unsigned i = 0; i < sizeof trips / sizeof *trips; i++) {
        widths(trips[i]);
        bodies(trips[i]);
    }
    edges();
    return RESULT;
}
