/* what the runtime answers in sequential code, in parallel regions and in nested ones */
#include "check.h"
static void inner(int *r)
{
#pragma omp parallel
    {
#pragma omp master
        r[0] = omp_get_level(), r[1] = omp_get_num_threads() > 1;
    }
}
int main(void)
{
    int seq[8], par[8] = { 0 }, nested[4] = { 0 }, on = 0, ids = 0;
#pragma omp target thread_limit(48) map(from: seq) map(tofrom: par, nested, on, ids)
    {
        int first[2] = { -1, -1 };
        seq[0] = omp_get_thread_num(), seq[1] = omp_get_num_threads(), seq[2] = omp_get_level(), seq[3] = omp_in_parallel();
        seq[4] = omp_get_max_threads(), seq[5] = omp_get_active_level();
#pragma omp parallel reduction(+: ids)
        {
            ids += omp_get_thread_num() + 1;
            if (omp_get_thread_num() == omp_get_num_threads() - 1)
                par[0] = omp_get_num_threads(), par[1] = omp_get_level(), par[2] = omp_in_parallel();
#pragma omp parallel
            {
                if (omp_get_ancestor_thread_num(1) == 0)
                    nested[0] = omp_get_level(), nested[1] = omp_get_num_threads(), nested[2] = omp_get_thread_num() + 1;
            }
        }
        inner(first);
        par[3] = first[0], par[4] = first[1];
        seq[6] = omp_get_level();
#pragma omp barrier
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK(seq[0] == 0 && seq[1] == 1 && seq[2] == 0 && seq[3] == 0 && seq[5] == 0 && seq[6] == 0);
    CHECK(par[1] == 1 && par[2] == (par[0] > 1) && par[3] == 1 && par[4] == (par[0] > 1));
    CHECK_EQ(ids, par[0] * (par[0] + 1) / 2);
    CHECK_EQ(nested[0], 2);
#ifndef HOST_ONLY
    CHECK_EQ(seq[4], par[0]);
    CHECK(nested[1] == 1 && nested[2] == 1);
#endif
    return RESULT;
}
