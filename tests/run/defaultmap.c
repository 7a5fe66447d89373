/* defaultmap: scalars mapped instead of firstprivate, aggregates firstprivate or to, pointers, none */
#include "check.h"

int main(void)
{
    int x = 1, a[3] = { 1, 2, 3 }, on = 0, r = 0;
    struct { int v; } s = { 5 };
    double d = 0.5;

#pragma omp target defaultmap(tofrom: scalar)
    {
        on = ON_DEVICE;
        x += 10;
        d *= 3;
    }
    CHECK(on);
    CHECK_EQ(x, 11);
    CHECK_EQ(d, 1.5);
#pragma omp target defaultmap(firstprivate: aggregate) map(from: r)
    {
        a[0] = 100;
        s.v += a[0] + a[1];
        r = s.v;
    }
    CHECK_EQ(r, 107);
    CHECK(a[0] == 1 && s.v == 5);
#ifndef HOST_ONLY
#pragma omp target defaultmap(to: aggregate) map(tofrom: r)
    {
        a[0] = 100;
        r = a[0] + a[2];
    }
    CHECK_EQ(r, 103);
    CHECK_EQ(a[0], 1);
#endif
#pragma omp target defaultmap(none) map(tofrom: a) firstprivate(x) map(from: r)
    {
        a[1] = x;
        r = a[1] + 1;
    }
    CHECK(a[1] == 11 && r == 12);
#pragma omp target defaultmap(tofrom) map(tofrom: r)
    x = a[2] = r = 40;
    CHECK(x == 40 && a[2] == 40 && r == 40);
    static const int fixed[3] = { 7, 8, 9 };       /* read-only memory: nothing is copied back */
#pragma omp target defaultmap(tofrom) map(tofrom: r)
    r = fixed[2] - fixed[x & 1];
    CHECK_EQ(r, 2);
    int v __attribute__((vector_size(16))) = { 1 }; /* no scalar */
#pragma omp target defaultmap(firstprivate: scalar) defaultmap(tofrom: aggregate)
    x = 1, a[2] = 41, v[0] = 43;
    CHECK(x == 40 && a[2] == 41 && v[0] == 43);
#pragma omp target defaultmap(default)
    x = 1, a[2] = 42;
    CHECK(x == 40 && a[2] == 42);
    return RESULT;
}
