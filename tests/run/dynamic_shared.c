/* ompx_dyn_cgroup_mem: memory of each team, beside its own team-shared variables */
#include "check.h"
void *llvm_omp_target_dynamic_shared_alloc(void);
enum { TEAMS = 3, THREADS = 32 };
static int sums[TEAMS], none[2];
static void rotate(int n)
{
    int on = 0, has = 0;
#pragma omp target teams num_teams(TEAMS) thread_limit(THREADS) ompx_dyn_cgroup_mem(n * sizeof(int)) map(tofrom : on, has)
    {
        int first = omp_get_team_num(), *all = llvm_omp_target_dynamic_shared_alloc(), here[THREADS];
#pragma omp parallel num_threads(THREADS) shared(first, all, here)
        {
            int me = omp_get_thread_num();
            here[me] = 0;
            if (all)
                all[me] = first + me;
#pragma omp barrier
            here[me] = all ? all[(me + 1) % THREADS] : first + (me + 1) % THREADS;
        }
        int sum = 0;
        for (int i = 0; i < THREADS; i++)
            sum += here[i] * (i + 1);
        sums[omp_get_team_num()] = all == llvm_omp_target_dynamic_shared_alloc() ? sum : -1;
        if (first == 0)
            on = ON_DEVICE, has = all != 0;
    }
    CHECK(on);
#ifndef HOST_ONLY
    CHECK(has);
#endif
    int want = 0;
    for (int i = 0; i < THREADS; i++)
        want += (i + 1) % THREADS * (i + 1);
    for (int t = 0; t < TEAMS; t++)
        CHECK_EQ(sums[t], want + t * THREADS * (THREADS + 1) / 2);
}
int main(void)
{
    rotate(THREADS);
    rotate(9000);
#pragma omp target map(from : none)
    none[0] = 1, none[1] = llvm_omp_target_dynamic_shared_alloc() == 0;
    CHECK_EQ(none[1], 1);
#pragma omp target map(from : none) ompx_dyn_cgroup_mem(64) nowait depend(out : none)
    none[1] = llvm_omp_target_dynamic_shared_alloc() != 0;
#pragma omp taskwait
#ifndef HOST_ONLY
    CHECK_EQ(none[1], 1);
#endif
    return RESULT;
}
