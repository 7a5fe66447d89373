/* a pointer as loop variable */
#include "check.h"

int main(void)
{
    int a[100], on = 0, *p, *end = a + 100;

    for (int i = 0; i < 100; i++)
        a[i] = i;
#pragma omp target map(tofrom: a, on)
#pragma omp parallel for
    for (int *q = a; q < a + 100; q++) {
        *q += 5;
        on = ON_DEVICE;
    }
    CHECK(on);
#pragma omp target parallel for map(tofrom: a) private(p)
    for (p = &a[99]; p >= &a[0]; p -= 3)
        *p = -*p;
    for (int i = 0; i < 100; i++)
        CHECK_EQ(a[i], i % 3 ? i + 5 : -i - 5);
    CHECK(end == a + 100);
    return RESULT;
}
