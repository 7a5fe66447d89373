/* linear on worksharing loops: value of the variable follows the iteration */
#include "check.h"

int main(void)
{
    int a[50], on = 0, k = 7;

#pragma omp target map(from: a) map(tofrom: on, k)
#pragma omp parallel for linear(k: 2)
    for (int i = 0; i < 50; i++) {
        a[i] = k;
        k += 2;
        on = ON_DEVICE;
    }
    CHECK(on);
    for (int i = 0; i < 50; i++)
        CHECK_EQ(a[i], 7 + 2 * i);
    CHECK_EQ(k, 107);
#pragma omp target parallel for simd linear(k: 3) map(from: a) map(tofrom: k)
    for (int i = 0; i < 50; i++) {
        a[i] = k;
        k += 3;
    }
    for (int i = 0; i < 50; i++)
        CHECK_EQ(a[i], 107 + 3 * i);
    CHECK_EQ(k, 257);
    return RESULT;
}
