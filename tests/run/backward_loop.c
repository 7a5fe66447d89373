/* Loops that lead away from a bound which constants say is not to be reached: no iteration, in a nest, on the host, and of lastprivate. */
/* says: this loop has no iteration\| | */
#include "check.h"
int main(void)
{
    int a[4][4] = { 0 }, n = 0, i, j, last = 7, on = 0;
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: a) reduction(+: n)
    for (i = 0; i < 4; i++)
        for (j = 3; j < 0; j--)
            a[i][j]++, n++;
    CHECK(n == 0 && !a[0][3]);
#pragma omp target parallel map(tofrom: on, n, last)
    {
#pragma omp for lastprivate(last) reduction(+: n)
        for (int k = 0; k > 4; k += 2)
            last = k, n++;
        if (omp_get_thread_num() == 0)
            on = ON_DEVICE;
    }
    CHECK(on && n == 0 && last == 7);
#pragma omp target teams distribute simd map(tofrom: n)
    for (unsigned k = 2; k >= 3; ++k)
        n = 1;
#pragma omp parallel for reduction(+: n)
    for (i = 10; i <= 9; i -= 3)
        n++;
    CHECK_EQ(n, 0);
#pragma omp target teams distribute parallel for reduction(+: n)
    for (i = 3; i >= 0; i--)
        n++;
    CHECK_EQ(n, 4);
    return RESULT;
}
