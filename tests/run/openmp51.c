/* what OpenMP 6.0 took out and 5.1 has; flags: -fopenmp-version=51 */
#include "check.h"

int value = 4;
#pragma omp declare target to(value)

int linked[50];
#pragma omp declare target link(linked)
#pragma omp declare target
static void count(void)
{
#pragma omp parallel for
    for (int i = 0; i < 50; i++)
        linked[i] += i;
}
#pragma omp end declare target

int main(void)
{
    int n = 100, on = 0;
    float sub = 10;
    long step = 3, k = 1;

#pragma omp target teams distribute parallel for reduction(-: sub) map(tofrom: on)
    for (int i = 0; i < n; i++) {
        sub -= 1;
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(sub, 10 - n);
#pragma omp target parallel for simd linear(k: step) map(tofrom: k)
    for (int i = 0; i < n; i++)
        k += step;
    CHECK_EQ(k, 301);
#pragma omp target map(tofrom: n)
    n = value;
    CHECK_EQ(n, 4);
#pragma omp target map(tofrom: linked)
    count();
    CHECK_EQ(linked[49], 49);
    return RESULT;
}
