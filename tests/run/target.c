/* target: one thread runs the region; scalars are firstprivate, arrays mapped tofrom */
#include "check.h"

int main(void)
{
    int a[10] = { 0 }, n = 7, on = 0, unchanged = 3;

#pragma omp target map(tofrom: on)
    {
        on = ON_DEVICE;
        unchanged = 8;
        for (int i = 0; i < 10; i++)
            a[i] += i * n + unchanged;
    }
    CHECK(on);
    CHECK_EQ(unchanged, 3);
    for (int i = 0; i < 10; i++)
        CHECK_EQ(a[i], i * 7 + 8);

#pragma omp target
    a[0] = 99;                       /* a single statement, no braces */
    CHECK_EQ(a[0], 99);
#pragma omp target
    ;
#pragma omp target
    {
    }
#pragma omp target
    for (n = 0; n < 5; n++)
        a[n] = -n;
    CHECK_EQ(a[4], -4);
    CHECK_EQ(n, 7);
#pragma omp target
    if (n == 7)
        a[1] = 1;
    else
        a[1] = 2;
    CHECK_EQ(a[1], 1);
#pragma omp target map(tofrom: n)
    while (n > 0)
        n -= 2;
    CHECK_EQ(n, -1);
#pragma omp target map(n)
    do
        n++;
    while (n < 4);
    CHECK_EQ(n, 4);
    return RESULT;
}
