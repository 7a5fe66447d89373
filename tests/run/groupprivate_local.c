/* groupprivate static variables of functions, of the region itself and of a function that it calls */ /* also: -O0 -g */
#include "check.h"
#pragma omp begin declare target
static int count(int step)
{
    static struct pair { int calls; } unused;
    static long calls;
#pragma omp groupprivate(calls)
    (void)unused;
#pragma omp masked
    calls = 0;
#pragma omp barrier
#pragma omp atomic
    calls += step;
#pragma omp barrier
    return (int)calls;
}
#pragma omp end declare target

int main(void)
{
    int r[4] = { 0 }, called[4] = { 0 }, on = 0;
#pragma omp target teams num_teams(4) map(tofrom: r, called, on)
    {
        static int sum;
#pragma omp groupprivate(sum) device_type(any)
        sum = omp_get_team_num();
        on = ON_DEVICE;
    }
    CHECK(on);
#pragma omp target teams num_teams(4) map(tofrom: r, called)
    {
        static int of_team;
#pragma omp groupprivate(of_team)
        int t = omp_get_team_num();
        of_team = t;
#pragma omp parallel num_threads(8)
        {
#pragma omp atomic
            of_team += 10;
            int c = count(omp_get_team_num() + 1);
#pragma omp masked
            called[t] = c;
        }
        r[t] = of_team;
    }
    for (int t = 0; t < 4; t++) {
        CHECK_EQ(r[t], t + 80);
        CHECK_EQ(called[t], 8 * (t + 1));
    }
    return RESULT;
}
