/* target data: the mapping spans several regions; the host copy changes only at its end */
#include "check.h"

int main(void)
{
    int n = 100, *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), t[50], on = 0;

    for (int i = 0; i < n; i++)
        a[i] = i, b[i] = -1;
#pragma omp target data map(tofrom: a[0:n]) map(from: b[0:n]) map(alloc: t)
    {
        int *mid = b;
#pragma omp target map(tofrom: on)
        {
            on = ON_DEVICE;
            for (int i = 0; i < 50; i++)
                t[i] = a[2 * i];
        }
        if (!omp_is_initial_device() || on)
            ;
#ifndef HOST_ONLY
        a[0] = 1000;                 /* overwritten by the copy back */
        CHECK_EQ(mid[3], -1);
#else
        (void)mid;
#endif
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++) {
            b[i] = t[i / 2];
            a[i] = a[i] + 1;
        }
    }
    CHECK(on);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(a[i], i + 1);
        CHECK_EQ(b[i], i / 2 * 2);
    }
#pragma omp target data map(a[0:n])
    for (int k = 0; k < 3; k++)
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++)
            a[i] += k;
    for (int i = 0; i < n; i++)
        CHECK_EQ(a[i], i + 4);
    free(a), free(b);
    return RESULT;
}
