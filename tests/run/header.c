/* regions in a header, in static inline functions, in several functions with the same local names */
#include "check.h"
#include "header.h"

static void one(int *a, int n)
{
    int i = 1;
#pragma omp target map(tofrom: a[0:n])
    a[0] += i;
}
static void two(int *a, int n)
{
    int i = 2;
#pragma omp target map(tofrom: a[0:n])
    a[0] += i;
#pragma omp target map(tofrom: a[0:n])
    a[1] += i;
} static void three(int *a) {
    /* two regions on one line */
    _Pragma("omp target map(tofrom: a[0:2])") a[0] += 3; _Pragma("omp target map(tofrom: a[0:2])") a[1] += 3;
}

int main(void)
{
    int a[100], on = 0;

    for (int i = 0; i < 100; i++)
        a[i] = i;
    CHECK_EQ(header_sum(a, 100), 4950);
    header_scale(a, 100, 3);
    CHECK_EQ(header_sum(a, 100), 3 * 4950);
    one(a, 100), two(a, 100), three(a);
    CHECK_EQ(a[0], 6);
    CHECK_EQ(a[1], 8);
#pragma omp target map(tofrom: on)
    on = ON_DEVICE;
    CHECK(on);
    return RESULT;
}
