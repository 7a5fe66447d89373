/* declare target: to, enter and link in one file, beside what OpenMP 6.0 brought */ /* also: -O0 -g */
#include "check.h"

int a, b, c = 7;
static int twice(int x) { return 2 * x; }
#pragma omp declare target to(a)
#pragma omp declare target enter(b)
#pragma omp declare target link(c) to(twice)
static int add(int x) { return a++ + b++ + twice(x); }
#pragma omp declare target to(add) device_type(any)

int main(void)
{
    int got = 0, on = 0, rows[6] = { 0 };
#pragma omp target map(tofrom: got, on, c)
    {
        got = add(3) + add(4) + c;
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(got, 23);
#pragma omp target update from(a, b)
    CHECK_EQ(a + b, 4);
#pragma omp target parallel for map(tofrom: rows)
#pragma omp reverse
    for (int i = 0; i < 6; i++)
        rows[i] = twice(i);
    CHECK_EQ(rows[5] + rows[1], 12);
    return RESULT;
}
