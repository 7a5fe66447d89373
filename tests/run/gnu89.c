/* variables of loops with directives in gnu89, where clang gives those of other loops no scope */ /* flags: -std=gnu89 -Wno-gcc-compat */
#include "check.h"
int main(void)
{
    int a[4] = { 1, 2, 3, 4 }, s = 0, on = 0, i;
#pragma omp target parallel for map(to: a) map(tofrom: s) reduction(+: s)
    for (int *p = a; p < a + 4; p += 2)
        s += *p;
#pragma omp target parallel for map(to: a) map(tofrom: s) reduction(+: s)
    for (int *p = a; p < a + 4; p += 2)
        s += *p * 2;
#pragma omp target parallel for map(tofrom: on, s) reduction(+: s)
    for (i = 0; i < 4; i++) {
        if (i == 3)
            on = ON_DEVICE;
        s += i;
    }
    CHECK(on);
    CHECK_EQ(s, 18);
    return RESULT;
}
