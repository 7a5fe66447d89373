/* names of the user's that look like those of regions and of generated code: a function main_12 for the region in line 12 of main */
#include "check.h"

int __omp_k = 3, __omp2_env = 4, main_12__omp_parallel = 5, main_12__omp_region = 6;
int main_12(int x) { return x + 1; }
static int my__parallel(int x) { return 2 * x; }

int main(void)
{
    int a = 0, b[40] = { 0 }, on = 0;
    /* the next line is a region's */
#pragma omp target map(tofrom: a, b, on)
    {
        a = main_12(2) + __omp_k + my__parallel(__omp2_env) + main_12__omp_parallel + main_12__omp_region;
#pragma omp parallel for
        for (int __omp_n = 0; __omp_n < 40; __omp_n++)
            b[__omp_n] = __omp_n + a;
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(a, 25);
    for (int i = 0; i < 40; i++)
        CHECK_EQ(b[i], i + 25);
    return RESULT;
}
