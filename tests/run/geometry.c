/* num_teams, thread_limit, num_threads: upper bounds that hold; expressions; inquiry routines agree with each other */
#include "check.h"

static void shape(int want_teams, int limit, int *teams, int *threads)
{
#pragma omp target teams distribute parallel for num_teams(want_teams) thread_limit(limit) map(tofrom: teams[0:1], threads[0:1])
    for (int i = 0; i < 10000; i++)
        if (i == 0) {
            *teams = omp_get_num_teams();
            *threads = omp_get_num_threads();
        }
}

int main(void)
{
    int on = 0, n = 0, t = 0, limits[] = { 1, 31, 32, 33, 100, 128, 256, 1000 }, most = 0;

    for (int i = 0; i < COUNT(limits); i++) {
        shape(i + 1, limits[i], &t, &n);
        CHECK(t >= 1 && t <= i + 1);
        CHECK(n >= 1 && n <= limits[i]);
#ifndef HOST_ONLY
        CHECK_EQ(t, i + 1);
        CHECK_EQ(n, limits[i]);
#endif
    }
#pragma omp target teams distribute parallel for num_threads(50) map(tofrom: n, on) num_teams(2)
    for (int i = 0; i < 1000; i++)
        if (i == 999)
            n = omp_get_num_threads(), on = ON_DEVICE;
    CHECK(on && n >= 1 && n <= 50);
#pragma omp target parallel num_threads(2 * limits[1]) map(tofrom: n, t)
    {
#pragma omp single
        n = omp_get_num_threads(), t = omp_get_num_teams();
    }
    CHECK(n >= 1 && n <= 62 && t == 1);
#pragma omp target teams num_teams(3) thread_limit(64) map(tofrom: n, most)
    {
        if (omp_get_team_num() == 0) {
            most = omp_get_thread_limit();
#pragma omp parallel
#pragma omp master
            n = omp_get_num_threads();
        }
    }
    CHECK(n >= 1 && n <= 64 && (most >= n));
    n = 0;
#pragma omp target map(tofrom: n)
#pragma omp parallel num_threads(5000) reduction(+: n)       /* more than there are */
    n++;
    CHECK(n >= 1 && n <= 5000);
    return RESULT;
}
