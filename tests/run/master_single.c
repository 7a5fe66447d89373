/* master, masked (with filter), single (with nowait, copyprivate is not for GPUs) */
#include "check.h"

int main(void)
{
    int m = 0, k = 0, f = 0, s = 0, after[256] = { 0 }, n = 0, on = 0, one[8] = { 0 };

#pragma omp target map(tofrom: m, k, f, s, n, on)
#pragma omp parallel num_threads(37)
    {
#pragma omp master
        {
            m += 1 + omp_get_thread_num();
            n = omp_get_num_threads();
            on = ON_DEVICE;
        }
#pragma omp masked
        k += 1;
#pragma omp barrier
#pragma omp masked filter(n - 1)
        f += 1 + omp_get_thread_num();
#pragma omp single
        s = s + 1;
        after[omp_get_thread_num()] = s;         /* single has a barrier at its end */
#pragma omp barrier
        for (int i = 0; i < 8; i++) {
#pragma omp single nowait
            {
#pragma omp atomic
                one[i]++;
            }
        }
    }
    CHECK(on);
    CHECK_EQ(m, 1);
    CHECK_EQ(k, 1);
    CHECK_EQ(f, n);
    CHECK_EQ(s, 1);
    for (int i = 0; i < n; i++)
        CHECK_EQ(after[i], 1);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(one[i], 1);
    /* outside of a parallel region: the only thread */
#pragma omp target map(tofrom: m, s)
    {
#pragma omp master
        m = 7;
#pragma omp single
        s = 8;
#pragma omp barrier
    }
    CHECK_EQ(m, 7);
    CHECK_EQ(s, 8);
    return RESULT;
}
