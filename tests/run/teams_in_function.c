/* teams in functions of the device: the league's numbers, clauses, distribute, reductions, parallel regions inside */
/* also: -O0 -g */
#include "check.h"
#include <stddef.h>

#define N 60
static int teams_seen[8], order[N];
#pragma omp declare target enter(teams_seen, order)

static int leaf(void) { return omp_get_team_num() * 100 + omp_get_num_teams(); }

static int plain(int n)
{
    int sum = 0, copy = 5, own;
#pragma omp teams num_teams(n) private(own) firstprivate(copy) reduction(+ : sum) shared(n)
    {
        own = omp_get_team_num();
        copy += own;
        teams_seen[own] = leaf();
        sum += copy * n;
    }
    return sum + omp_get_num_teams() + omp_get_team_num();
}

static long loops(const int *a, int n)
{
    long sum = 0, max = 0;
    int last = 0;
#pragma omp teams distribute parallel for num_teams(3) thread_limit(8) reduction(+ : sum)        \
    reduction(max : max)
    for (int i = 0; i < n; i++) {
        sum += a[i];
        max = max > a[i] ? max : a[i];
    }
#pragma omp teams distribute num_teams(2 : 4) dist_schedule(static, 5) reduction(+ : sum)        \
    lastprivate(last)
    for (int i = 0; i < n; i++) {
        order[i] = omp_get_team_num();
        last = i;
        sum += omp_get_num_teams();
    }
#pragma omp teams distribute simd
    for (int i = 0; i < n; i++)
        order[i] += 10;
    return sum * 1000000 + max * 1000 + last;
}

static void part(int *sum)
{
    int mine = 0;
#pragma omp distribute parallel for reduction(+ : mine)
    for (int i = 0; i < N; i++)
        mine++;
#pragma omp atomic
    *sum += mine;
}

static int nested(int *threads)
{
    int total = 0, limit = 0;
#pragma omp teams num_teams(4) thread_limit(3) default(none) shared(threads)                  \
    reduction(+ : total) reduction(max : limit)
    {
        int team = omp_get_team_num(), mine[3] = { 0 };
        limit = omp_get_thread_limit();
#pragma omp parallel num_threads(3) shared(mine, team, threads)
        {
            mine[omp_get_thread_num()] = team + omp_get_team_num();
#pragma omp masked
            threads[team] = omp_get_num_threads();
        }
#pragma omp distribute parallel for reduction(+ : total)
        for (int i = 0; i < N; i++)
            total += 1;
        part(&threads[4]);
        total += mine[0];
    }
    return total * 10 + limit;
}

#pragma omp declare target enter(plain, loops, nested)

int main(void)
{
    int on = 0, sum = 0, a[N], threads[5] = { 0 }, total = 0, outside = 0;
    long result = 0;
    for (int i = 0; i < N; i++)
        a[i] = i + 1;
#pragma omp target map(tofrom : on, sum, outside)
    {
        on = ON_DEVICE;
        sum = plain(4);
        outside = leaf();
    }
    CHECK(on);
    CHECK_EQ(sum, 4 * (5 * 4 + 0 + 1 + 2 + 3) + 1);
    CHECK_EQ(outside, 1);
#pragma omp target update from(teams_seen)
    for (int t = 0; t < 4; t++)
        CHECK_EQ(teams_seen[t], t * 100 + 4);
#pragma omp target map(from : result) map(to : a)
    result = loops(a, N);
    CHECK_EQ(result, (N * (N + 1) / 2 + N * 4) * 1000000L + N * 1000 + N - 1);
#pragma omp target update from(order)
    for (int i = 0; i < N; i++)
        CHECK_EQ(order[i], i / 5 % 4 + 10);
#pragma omp target map(from : total) map(tofrom : threads)
    total = nested(threads);
    CHECK_EQ(total / 10, N + 2 * (0 + 1 + 2 + 3));
    CHECK_EQ(total % 10, 3);
    CHECK_EQ(threads[4], N);
    for (int t = 0; t < 4; t++)
        CHECK(threads[t] > 0 && threads[t] <= 3);
    return RESULT;
}
