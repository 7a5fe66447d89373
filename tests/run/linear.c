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
    /* the value of the last iteration, whose body leaves it as it is */
    int l = 1, m = 2, n = 3, *p = a;
#pragma omp target parallel for linear(l: 3) linear(p: 2) map(from: a[0:20]) map(tofrom: l) num_threads(7)
    for (int i = 0; i < 20; i++) a[i] = l;
#pragma omp target simd linear(m: 2) map(tofrom: m)
    for (int i = 0; i < 20; i++) ;
#pragma omp target parallel for linear(n) collapse(2) map(tofrom: n) map(from: a[20:20])
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++) a[20 + 5 * i + j] = n;
    CHECK(a[19] == 58 && l == 58 && m == 40 && n == 22);
    CHECK(p == a || p == a + 38);
    return RESULT;
}
