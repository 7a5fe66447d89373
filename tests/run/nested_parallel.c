/* nested parallel: the inner region has one thread, its own private copies, levels and reductions */ /* also: -O0 -g -fompgpu-mode=generic, -O2 -g */
#include "check.h"

int main(void)
{
    int out[32] = { 0 }, lev[4] = { 0 }, n = 0, on = 0, sum = 0;

#pragma omp target map(tofrom: out, lev, n, on, sum)
#pragma omp parallel num_threads(24) reduction(+: sum)
    {
        int me = omp_get_thread_num(), local = 0;
#pragma omp master
        n = omp_get_num_threads(), on = ON_DEVICE;
#pragma omp parallel num_threads(4) shared(local)
        {
#pragma omp atomic
            local += 100 + omp_get_thread_num();
#pragma omp barrier
            if (me == 0)
                lev[0] = omp_get_level(), lev[1] = omp_get_num_threads();
#pragma omp parallel for reduction(+: local)
            for (int i = 0; i < 3; i++)
                local += i;
        }
        lev[2] = omp_get_level();
        out[me] = local;
        sum += local;
    }
    CHECK(on);
    CHECK(lev[0] == 2 && lev[2] == 1);
#ifndef HOST_ONLY
    CHECK_EQ(lev[1], 1);
    for (int i = 0; i < n; i++)
        CHECK_EQ(out[i], 103);
    CHECK_EQ(sum, n * 103);
#endif
    /* a combined SPMD loop with a parallel region in its body */
    int a[40];
#pragma omp target teams distribute parallel for map(from: a)
    for (int i = 0; i < 40; i++) {
        int s = 0;
#pragma omp parallel for reduction(+: s)
        for (int j = 0; j <= i; j++)
            s += j;
        a[i] = s;
    }
    for (int i = 0; i < 40; i++)
        CHECK_EQ(a[i], i * (i + 1) / 2);
    return RESULT;
}
