/* map types on scalars of every kind; two items in one clause; map without a type is tofrom */
#include "check.h"

int main(void)
{
    char c = 'a';
    unsigned short us = 65535;
    long long ll = 1LL << 40;
    float f = 1.5f;
    double d = 2.25;
    _Bool b = 0;
    enum color { RED, GREEN, BLUE } e = GREEN;
    int to = 4, from = 5, alloc = 6, on = 0;

#pragma omp target map(tofrom: c, us, ll) map(f, d) map(b) map(tofrom: e) map(to: to) map(from: from, on) map(alloc: alloc)
    {
        on = ON_DEVICE;
        c++;
        us++;
        ll *= 3;
        f *= 2;
        d += f;
        b = !b;
        e = e == GREEN ? BLUE : RED;
        alloc = to;
        to = 100;
        from = alloc + 1;
    }
    CHECK(on);
    CHECK_EQ(c, 'b');
    CHECK_EQ(us, 0);
    CHECK_EQ(ll, 3LL << 40);
    CHECK_EQ(f, 3);
    CHECK_EQ(d, 5.25);
    CHECK(b && e == BLUE);
    CHECK_EQ(from, 5);
#ifndef HOST_ONLY
    int always = 1;
    CHECK(to == 4 && alloc == 6);
#pragma omp target data map(to: always)
    {
        always = 2;
#pragma omp target map(to: always) map(tofrom: on)       /* present: no transfer */
        on = always;
        CHECK_EQ(on, 1);
#pragma omp target map(always, to: always) map(tofrom: on)
        on = always;
        CHECK_EQ(on, 2);
#pragma omp target map(always, tofrom: always)
        always = 9;
        CHECK_EQ(always, 9);
#pragma omp target map(always, from: always)
        always = 10;
        CHECK_EQ(always, 10);
    }
#endif
    return RESULT;
}
