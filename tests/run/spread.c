/* ompx target spread: chunks of a loop on several devices; schedules, directions and types of loops, reductions, nowait and depend */
#include "check.h"
#include <omp.h>
#include <stdlib.h>
enum { N = 1000 };
static float x[N], y[N];

static void saxpy(int n)
{
    for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 1;
#pragma ompx target spread devices(0, 1, 3) spread_schedule(static, 70) teams distribute parallel for \
    map(to: x[omp_spread_start : omp_spread_size]) map(tofrom: y[omp_spread_start : omp_spread_size])
    for (int i = 0; i < n; i++)
        y[i] += 2 * x[i];
    for (int i = 0; i < N; i++) CHECK(y[i] == (i < n ? 1 + 2 * x[i] : 1));
}

/* Equal parts; which device has which: in their order. */
static void devices(void)
{
    int all[10] = { 0 }, list[10] = { 0 };
#pragma ompx target spread devices(all) map(from: all[omp_spread_start : omp_spread_size])
    for (int i = 0; i < 10; i++)
        all[i] = omp_get_device_num();
#pragma ompx target spread devices(2, 1) spread_schedule(static, 3) map(from: list[omp_spread_start : omp_spread_size])
    for (int i = 0; i < 10; i++)
        list[i] = omp_is_initial_device() ? -1 : omp_get_device_num();
    for (int i = 0; i < 10; i++) {
        CHECK_EQ(all[i], i / 3);
        CHECK_EQ(list[i], i / 3 % 2 ? 1 : 2);
    }
}

/* The chunk's first iteration is a value of the loop's variable, its size a number of iterations. */
static void loops(long first, unsigned step)
{
    int low[100] = { 0 }, out[64] = { 0 }, none = 7, i;
#pragma ompx target spread devices(0, 1) spread_schedule(static, 4) map(from: low[omp_spread_start - 5 * (omp_spread_size - 1) : 5 * omp_spread_size - 4])
    for (i = 99; i >= 4; i -= 5)
        low[i] = i;
    for (int k = 0; k < 100; k++)
        if (k >= 4 && k % 5 == 4) CHECK_EQ(low[k], k);
#pragma ompx target spread devices(0, 1, 2) spread_schedule(static, 2) teams distribute parallel for \
    map(from: out[omp_spread_start : (omp_spread_size - 1) * step + 1])
    for (unsigned long k = (unsigned long)first; k < 60; k += step)
        out[k] = (int)k + 1;
    for (long k = first; k < 60; k += step) CHECK_EQ(out[k], k + 1);
#pragma ompx target spread devices(0, 1) map(tofrom: none)
    for (int k = 5; k < 5; k++) none = 0;
    CHECK_EQ(none, 7);
}

struct pair { double sum; int n; };
static void join(struct pair *a, const struct pair *b) { a->sum += b->sum, a->n += b->n; }
#pragma omp declare reduction(join: struct pair: join(&omp_out, &omp_in)) initializer(omp_priv = (struct pair){ 0, 0 })
static double reductions(void)
{
    long s = 5;
    double most = -1, sum = 0.1;
    unsigned bits = 0xff;
    struct pair p = { 1, 1 };
#pragma ompx target spread devices(3, 0, 2) spread_schedule(static, 90) teams distribute parallel for \
    map(to: x[omp_spread_start : omp_spread_size]) map(tofrom: s) map(to: y[0 : bits & 1]) reduction(+: s, sum) reduction(max: most) reduction(&: bits) reduction(join: p)
    for (int i = 0; i < N; i++) {
        s += i;
        sum += x[i] / 3;
        most = most > x[i] ? most : x[i];
        bits &= ~(1u << i % 3);
        p.sum += 1, p.n += i & 1;
    }
    CHECK(s == 5 + N * (N - 1) / 2 && most == N - 1 && bits == 0xf8 && p.sum == 1 + N && p.n == 1 + N / 2);
    return sum;
}

/* Arrays and sections; a target without more constructs; a variable that the loop does not use. */
static void arrays(int n, int low)
{
    int hist[8] = { [3] = 5 }, grid[3][4] = { { 1 } }, unused = 4;
    long last = 7;
    float most[20], *p = most;
    for (int i = 0; i < 20; i++) most[i] = -1;
    int all = 0;
#pragma ompx target spread devices(1, 0) spread_schedule(static, 30) teams distribute parallel for map(tofrom: hist) \
    map(tofrom: p[low : n]) reduction(+: hist, unused, grid) reduction(max: p[low : n])
    for (int i = 0; i < 100; i++) {
        hist[i % 8]++;
        grid[i % 3][i % 4] += i;
        if (p[low + i % n] < (float)i) p[low + i % n] = (float)i;
    }
#pragma ompx target spread devices(0, 1) reduction(+: all, hist[2:4]) reduction(*: last)
    for (int i = 0; i < 10; i++) all += i, last *= 1 + i / 9, hist[2 + i % 4] += 100;
    for (int i = 0; i < 8; i++) CHECK_EQ(hist[i], 12 + (i < 4) + 5 * (i == 3) + (i == 2 || i == 3 ? 300 : i == 4 || i == 5 ? 200 : 0));
    for (int k = 0, sum[12] = { 1 }; k <= 100; k++)
        if (k < 100) sum[k % 3 * 4 + k % 4] += k;
        else for (int i = 0; i < 12; i++) CHECK_EQ(grid[i / 4][i % 4], sum[i]);
    for (int i = 0; i < 20; i++) {
        int k = i - low;
        CHECK(most[i] == (float)(k < 0 || k >= n ? -1 : 99 - (99 - k) % n));
    }
    CHECK(all == 45 && last == 14 && unused == 4);
    enum { LARGE = 1 << 20 }; /* doubles: more than fits on the stack */
    double *large = calloc(LARGE, sizeof *large);
#pragma ompx target spread devices(0, 1) reduction(+: large[0:LARGE])
    for (int i = 0; i < 4; i++) large[LARGE / 3 * i] += i % 2 + 1, large[LARGE - 2] += 1;
    CHECK(large[0] == 1 && large[LARGE / 3] == 2 && large[LARGE / 3 * 3] == 2 && large[LARGE - 2] == 4 && large[1] == 0);
    free(large);
}

static void later(void)
{
    int a[40], sum = 0;
    for (int i = 0; i < 40; i++) a[i] = i;
#pragma ompx target spread devices(0, 1, 2, 3) nowait depend(out: a[omp_spread_start]) map(tofrom: a[omp_spread_start : omp_spread_size])
    for (int i = 0; i < 40; i++) a[i] *= 2;
#pragma ompx target spread devices(3, 2, 1, 0) nowait depend(in: a[omp_spread_start]) map(tofrom: a[omp_spread_start : omp_spread_size])
    for (int i = 0; i < 40; i++) a[i] += 1;
#pragma omp taskwait
    for (int i = 0; i < 40; i++) sum += a[i] == 2 * i + 1;
    CHECK_EQ(sum, 40);
}

#define OVER(list) _Pragma(#list)
static void nests(void)
{
    int m[12][7] = { { 0 } }, wrong = 0;
    OVER(ompx target spread devices(1, 2) teams distribute parallel for collapse(2) map(from: m[omp_spread_start : omp_spread_size]))
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 7; j++)
            m[i][j] = 10 * i + j;
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 7; j++) wrong += m[i][j] != 10 * i + j;
    CHECK_EQ(wrong, 0);
}

int main(void)
{
    setenv("OMPGPU_EMU_DEVICES", "4", 0);
    setenv("OMPGPU_PTX_DEVICES", "4", 1);
    saxpy(N);
    saxpy(501);
    saxpy(0);
    devices();
    loops(2, 3);
    double first = reductions();
    for (int i = 0; i < 3; i++) CHECK(reductions() == first);
    arrays(7, 5);
    later();
    nests();
    return RESULT;
}
