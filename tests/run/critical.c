/* critical: unnamed, named, in several teams, in a function; lanes of one warp exclude each other */ /* also: -O0 -g */
#include "check.h"

static void add(int *p, int v)
{
#pragma omp critical (addition)
    *p = *p + v;
}

int main(void)
{
    enum { N = 300 };
    int sum = 0, other = 0, list[N], fill = 0, on = 0, max = -1;

#pragma omp target parallel for map(tofrom: sum, other, fill, max, on) map(from: list) num_threads(70)
    for (int i = 0; i < N; i++) {
#pragma omp critical
        {
            list[fill] = i;
            fill = fill + 1;
            if (max < i)
                max = i;
        }
        add(&other, 2);
#pragma omp critical (addition)
        sum += i;
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(sum, N * (N - 1) / 2);
    CHECK_EQ(other, 2 * N);
    CHECK_EQ(fill, N);
    CHECK_EQ(max, N - 1);
    int seen[N] = { 0 };
    for (int i = 0; i < N; i++)
        seen[list[i]]++;
    for (int i = 0; i < N; i++)
        CHECK_EQ(seen[i], 1);

    int sums[5] = { 0 }; /* a team's each, since the threads of a team exclude each other */
#pragma omp target teams distribute parallel for num_teams(5) thread_limit(40) map(tofrom: sums)
    for (int i = 0; i < N; i++)
#pragma omp critical
        sums[omp_get_team_num()]++;
    CHECK_EQ(sums[0] + sums[1] + sums[2] + sums[3] + sums[4], N);
    return RESULT;
}
