/* teams: every team's initial thread runs the region once */
#include "check.h"

int main(void)
{
    int seen[64] = { 0 }, count = 0, nteams = 0, threads = 0, on = 0;

#pragma omp target teams num_teams(6) map(tofrom: count, nteams, threads, on)
    {
        int me = omp_get_team_num();
        seen[me]++;
#pragma omp atomic
        count++;
        if (me == 0) {
            on = ON_DEVICE;
            nteams = omp_get_num_teams();
            threads = omp_get_num_threads();
        }
    }
    CHECK(on);
    CHECK(nteams >= 1 && nteams <= 6);
    CHECK_EQ(threads, 1);
    CHECK_EQ(count, nteams);
    for (int i = 0; i < 64; i++)
        CHECK_EQ(seen[i], i < nteams);
#ifndef HOST_ONLY
    CHECK_EQ(nteams, 6);
#endif

    /* a teams region of its own with statements around nested constructs, firstprivate and private */
    int base = 10, tmp = -1, out[4] = { 0 };
#pragma omp target map(tofrom: out)
#pragma omp teams num_teams(4) firstprivate(base) private(tmp)
    {
        tmp = omp_get_team_num();
        base += tmp;
        out[tmp] = base;
        for (int i = omp_get_num_teams(); i < 4; i++)
            out[i] = 10 + i;
    }
    for (int i = 0; i < 4; i++)
        CHECK_EQ(out[i], 10 + i);
    return RESULT;
}
