/* clauses that name the construct of a combined one that they are for; plain reductions beside inscan ones; reduction(task) on parallel masked */ /* also: -O0 -g */
#include "check.h"
static void of_target(void)
{
    int x = 0, last = 0, on = 0, shared = 7, f = 0, seen;
#pragma omp target teams distribute firstprivate(target: x) num_teams(teams: 4) map(tofrom: last, on) private(seen)
    for (int i = 0; i < 100; i++) {
#pragma omp atomic
        x++;
#pragma omp atomic read
        seen = x;
#pragma omp atomic compare
        last = seen > last ? seen : last;
        if (i == 0)
            on = ON_DEVICE;
    }
    CHECK(on && last == 100 && x == 0);
#pragma omp target parallel firstprivate(target: shared) num_threads(parallel: 8) map(from: f)
    {
#pragma omp atomic
        shared++;
#pragma omp barrier
#pragma omp masked
        f = shared;
    }
    CHECK(f == 15 && shared == 7);
}

static void of_others(void)
{
    int x = 5, a[4], b[4] = { 1, 2, 3, 4 }, s = 0, t = 0, last = -1, all = 0;
#pragma omp target teams distribute firstprivate(teams: x) num_teams(4) map(from: a) thread_limit(target: 32)
    for (int i = 0; i < 4; i++) {
        x += omp_get_team_num();
        a[i] = x - omp_get_team_num();
    }
    for (int i = 0; i < 4; i++)
        CHECK(a[i] >= 5);
    CHECK_EQ(x, 5);
#pragma omp target parallel for reduction(parallel, +: s) private(for: t) schedule(static) lastprivate(last) if(target: 1) map(to: b)
    for (int i = 0; i < 4; i++) {
        t = b[i];
        s += t;
        last = i;
    }
    CHECK(s == 10 && last == 3);
#pragma omp target teams distribute parallel for private(parallel: t) reduction(+: s) collapse(distribute: 1)
    for (int i = 0; i < 10; i++) {
        t = i;
        s += t;
    }
    CHECK_EQ(s, 55);
#pragma omp target teams distribute parallel for reduction(teams, +: all) reduction(+: s) default(teams: shared)
    for (int i = 0; i < 10; i++) {
#pragma omp atomic
        all += i;
        s++;
    }
    CHECK(all == 45 && s == 65);
}

static void scans(void)
{
    enum { N = 40 };
    long power = 1, sum = 0, at[N], p = 1, h = 0;
#pragma omp target parallel for reduction(+: sum) reduction(inscan, +: power) map(from: at)
    for (int i = 0; i < N; i++) {
        at[i] = power;
        sum += power;
#pragma omp scan exclusive(power)
        power += i;
    }
    for (int i = 0; i < N; p += i++) {
        CHECK_EQ(at[i], p);
        h += p;
    }
    CHECK(sum == h && power == p);
}

static void tasks(void)
{
    int sum = 0;
#pragma omp parallel masked reduction(task, +: sum) num_threads(4)
    {
        for (int i = 0; i < 5; i++) {
#pragma omp target in_reduction(+: sum) nowait
            sum += i;
        }
        sum += 100;
    }
    CHECK_EQ(sum, 110);
}

int main(void)
{
    of_target();
    of_others();
    scans();
    tasks();
    return RESULT;
}
