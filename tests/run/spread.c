/* target parallel for on several teams: every iteration once, all copies of variables */
#include "check.h"

enum { N = 10007 };
static int count;
static double twice(double x) { return 2 * x; }
struct sum { double v; long n; };
#pragma omp declare reduction(add : struct sum : omp_out.v += omp_in.v, omp_out.n += omp_in.n) initializer(omp_priv = (struct sum){ 0, 0 })

static void copies(int n, int *restrict hit)
{
    int last = -1, shared = 3, on = 0, private = 7;
    long sum = 5;
    struct sum all = { 1, 1 };
#pragma omp target parallel for reduction(+: sum) reduction(add: all) lastprivate(last) private(private) map(tofrom: hit[0:n], on)
    for (int i = 0; i < n; i++) {
        private = i + shared;
        hit[i]++;
        sum += private;
        all.v += twice(1), all.n++;
        last = private;
        if (i == 0)
            on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(last, n + 2);
    CHECK_EQ(sum, 5 + 3l * n + (long)n * (n - 1) / 2);
    CHECK(all.v == 1 + 2.0 * n && all.n == 1 + n);
    for (int i = 0; i < n; i++)
        CHECK_EQ(hit[i], 1);
}

static void forms(int n, int *restrict hit)
{
    int i = -1, total = 0, places[N];
#pragma omp target parallel for simd collapse(2) schedule(static, 3) map(tofrom: hit[0:n])
    for (int k = 0; k < n / 7; k++)
        for (int m = 0; m < 7; m++)
            hit[k * 7 + m] += m;
    for (int k = 0; k < n / 7 * 7; k++)
        CHECK_EQ(hit[k], 1 + k % 7);
#pragma omp target map(tofrom: total, count) map(from: places)
#pragma omp parallel for schedule(dynamic, 5) reduction(+: count)
    for (i = n - 1; i >= 0; i--) {
        int at;
#pragma omp atomic capture
        at = total++;
        places[at] = i;
        count++;
    }
    CHECK_EQ(total, n);
    CHECK_EQ(count, n);
    memset(hit, 0, sizeof(int) * N);
    for (i = 0; i < n; i++)
        hit[places[i]]++;
    for (i = 0; i < n; i++)
        CHECK_EQ(hit[i], 1);
#pragma omp target parallel loop map(tofrom: hit[0:n])
    for (i = 0; i < n; i++)
        hit[i] *= 5;
    CHECK_EQ(hit[n - 1], 5);
}

/* These have one team, and say so. */
static void one_team(int n)
{
    int teams = 0, threads = 0, sum = 0;
#pragma omp target parallel for map(tofrom: teams)
    for (int i = 0; i < n; i++)
        if (i == n - 1)
            teams = omp_get_num_teams();
    CHECK_EQ(teams, 1);
#pragma omp target parallel for num_threads(4) map(tofrom: threads) reduction(+: sum)
    for (int i = 0; i < n; i++) {
        sum++;
        if (i == 0)
            threads = omp_get_num_threads();
    }
    CHECK(threads >= 1 && threads <= 4 && sum == n);
#pragma omp target parallel for map(tofrom: sum)
    for (int i = 0; i < n; i++) {
#pragma omp critical
        sum--;
    }
    CHECK_EQ(sum, 0);
}

int main(void)
{
    static int hit[N];
    const int sizes[] = { 1, 33, N };
    for (int k = 0; k < COUNT(sizes); k++) {
        memset(hit, 0, sizeof hit);
        count = 0;
        copies(sizes[k], hit);
        forms(sizes[k], hit);
        one_team(sizes[k]);
    }
    return RESULT;
}
