/* what threads of the host are told of the levels around them, by either OpenMP library */ /* also: --host-cc=gcc, --host-cc=gcc -static-ompgpu */
#include "check.h"

static int in_team(int threads, int inside)
{
    int me = omp_get_thread_num();
    int bad = omp_get_level() != 1 + inside || !omp_in_parallel() || omp_get_active_level() != 1 || omp_get_ancestor_thread_num(0) != 0;
    bad += omp_get_team_size(0) != 1 || omp_get_team_size(2 + inside) != -1 || omp_get_team_size(-1) != -1;
    if (!inside)
        bad += omp_get_team_size(1) != threads || omp_get_ancestor_thread_num(1) != me;
    return bad;
}

int main(void)
{
    int on = 0, bad = 0;
    omp_set_max_active_levels(1);
#pragma omp target map(tofrom: on)
    on = ON_DEVICE;
    CHECK(on);
#pragma omp parallel num_threads(3) reduction(+: bad)
    {
        bad += in_team(3, 0);
#pragma omp parallel num_threads(2) reduction(+: bad)
        bad += in_team(3, 1);
    }
    CHECK_EQ(bad, 0);
#pragma omp target if(0) map(tofrom: bad) /* a region of the host has no level of its own, for any thread of it */
#pragma omp parallel num_threads(3) reduction(+: bad)
    bad += in_team(3, 0);
    CHECK_EQ(bad, 0);
    CHECK(omp_get_level() == 0 && !omp_in_parallel() && omp_get_team_size(0) == 1 && omp_get_team_size(1) == -1 && omp_get_ancestor_thread_num(1) == -1);
    return RESULT;
}
