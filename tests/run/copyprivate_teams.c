/* copyprivate of pointers and arrays in functions that several teams call: each team has its own value */ /* race: checked */ /* also: -O0 */
#include "check.h"
enum { TEAMS = 8, T = 8 };
#pragma omp begin declare target
static int through_pointer(int team, int *places)
{
    int *p = NULL;
#pragma omp single copyprivate(p)
    p = &places[team];
#pragma omp barrier
    return *p;
}
static int through_array(int team)
{
    int values[3] = { 0 }, (*row)[3] = NULL;
#pragma omp single copyprivate(values, row)
    values[1] = team, row = NULL;
    return values[1] + (row != NULL);
}
#pragma omp end declare target

int main(void)
{
    int places[TEAMS], r[TEAMS][T] = { { 0 } }, on = 0;
    for (int i = 0; i < TEAMS; i++)
        places[i] = 1000 * i;
#pragma omp target teams num_teams(TEAMS) map(to: places) map(tofrom: r, on)
    {
        int team = omp_get_team_num();
        if (team == 0)
            on = ON_DEVICE;
#pragma omp parallel num_threads(T)
        for (int k = 0; k < 20; k++)
            r[team][omp_get_thread_num()] += through_pointer(team, places) + through_array(team);
    }
    CHECK(on);
    for (int i = 0; i < TEAMS; i++)
        for (int t = 0; t < T; t++)
            CHECK_EQ(r[i][t], 20 * 1001 * i);
    return RESULT;
}
