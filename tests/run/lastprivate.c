/* lastprivate: the sequentially last iteration's value; scalars, arrays, the loop variable, with firstprivate, collapsed */
#include "check.h"

int main(void)
{
    int last = -1, arr[3] = { 0 }, i, j, n = 100, on = 0, both = 5;
    double d = 0;

#pragma omp target teams distribute parallel for lastprivate(last, d, arr) map(tofrom: last, d, arr, on)
    for (int k = 0; k < n; k++) {
        last = k * 2;
        d = k + 0.5;
        arr[k % 3] = k;
        arr[0] = arr[1] = arr[2] = k + 1;
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(last, 198);
    CHECK_EQ(d, 99.5);
    CHECK(arr[0] == 100 && arr[2] == 100);
#pragma omp target map(tofrom: i, last)
    {
#pragma omp parallel for lastprivate(last) lastprivate(i) schedule(static, 3) num_threads(17)
        for (i = 3; i < 50; i += 4)
            last = i;
    }
    CHECK_EQ(last, 47);
    CHECK_EQ(i, 51);
#pragma omp target parallel for collapse(2) lastprivate(i, j, last) map(tofrom: i, j, last)
    for (i = 0; i < 6; i++)
        for (j = 10; j > 2; j -= 3)
            last = 100 * i + j;
    CHECK(last == 504 && i == 6 && j == 1);
#pragma omp target parallel for firstprivate(both) lastprivate(both) map(tofrom: both)
    for (int k = 0; k < 5; k++)
        both = both * 10 + k;
    CHECK(both % 10 == 4);
#pragma omp target map(tofrom: last)
#pragma omp parallel for lastprivate(last) schedule(dynamic, 2)
    for (int k = 0; k < 77; k++)
        last = -k;
    CHECK_EQ(last, -76);
#pragma omp target teams distribute lastprivate(last) map(tofrom: last)
    for (int k = 0; k < 9; k++)
        last = k;
    CHECK_EQ(last, 8);
    return RESULT;
}
