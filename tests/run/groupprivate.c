/* groupprivate: a variable for each team, in regions and in functions that they call */ /* also: -O0 -g */
#include "check.h"
struct pair { int first, second; };
static int outside, cells[8]; /* of no block */
#pragma omp groupprivate(outside, cells)
#pragma omp begin declare target
static int sum;
static double row[8];
struct pair both;
#pragma omp groupprivate(sum, row)
#pragma omp groupprivate(both)
static void add(int *to, int n)
{
#pragma omp atomic
    *to += n;
    int now;
#pragma omp atomic read
    now = sum;
    both.second = now * 0 + 7;
}
static int from_outside(int team)
{
#pragma omp single
    {
        outside = 10 * team;
    }
    cells[omp_get_thread_num()] = omp_get_thread_num();
#pragma omp barrier
    return outside + cells[7];
}
#pragma omp end declare target

static void used_in_a_block(void)
{
    int sums[4] = { 0 };
#pragma omp target teams num_teams(4) thread_limit(32) map(tofrom: sums)
#pragma omp parallel num_threads(8) reduction(+: sums)
    sums[omp_get_team_num()] += from_outside(omp_get_team_num());
    for (int t = 0; t < 4; t++)
        CHECK_EQ(sums[t], 8 * (10 * t + 7));
}

int main(void)
{
    int seen[4] = { 0 }, on = 0;
    double rows[4] = { 0 };
#pragma omp target teams num_teams(4) thread_limit(32) map(tofrom: seen, rows, on)
    {
        int t = omp_get_team_num();
        sum = 100 * t;
        both = (struct pair){ t, 0 };
#pragma omp parallel num_threads(8)
        {
            row[omp_get_thread_num()] = omp_get_thread_num() + t;
#pragma omp barrier
            if (omp_get_thread_num() == 3)
                add(&sum, both.first);
#pragma omp for
            for (int i = 0; i < 8; i++)
                add(&sum, (int)row[7 - i]);
        }
        seen[t] = sum + both.second;
        rows[t] = row[5];
        if (t == 2)
            on = ON_DEVICE;
    }
    CHECK(on);
    for (int t = 0; t < 4; t++) {
        CHECK_EQ(seen[t], 100 * t + t + 28 + 8 * t + 7);
        CHECK_EQ(rows[t], 5 + t);
    }
    int all = 0; /* one team: the loop is not spread over several */
#pragma omp target parallel for map(tofrom: all) reduction(+: all)
    for (int i = 0; i < 64; i++) {
#pragma omp atomic write
        both.first = 2;
        int first;
#pragma omp atomic read
        first = both.first;
        all += first;
    }
    CHECK_EQ(all, 128);
    used_in_a_block();
    return RESULT;
}
