/* globals, declare target or not, of which an enclosing construct has a copy: regions use and map the copy */
#include "check.h"

#pragma omp begin declare target
int v = 6, a[2] = { 1, 2 };
int get(void) { return v; }
#pragma omp end declare target
#pragma omp begin declare target device_type(nohost)
int device_only = 7;
int add_to_it(int x) { return device_only += x; }
#pragma omp end declare target
int g = 1, h[3];

static int with_copies(void)
{
    int r = 0, bad = 0;
#pragma omp parallel private(v, a) num_threads(1)
    {
        v = 100, a[0] = 5, a[1] = 6;
#pragma omp target map(from: r)
        {
            v++;
            r = v + get();
        }
        bad += (r != 108) + (v != 100);
#pragma omp target map(tofrom: v)
        v++;
        bad += v != 101;
#pragma omp target
        a[1] += v;
        bad += a[1] != 107;
#pragma omp target teams distribute parallel for reduction(+: v)
        for (int i = 0; i < 10; i++)
            v += i;
        bad += v != 146;
    }
    return bad;
}

int main(void)
{
    int in = 0, bad = 0, r = 0;
#pragma omp target map(from: in)
    {
        v++;
        in = ON_DEVICE;
    }
    CHECK(in);
    CHECK_EQ(with_copies(), 0);
#pragma omp target parallel private(v) num_threads(4) reduction(+: bad)
    {
        v = 3;
#pragma omp parallel num_threads(1)
        v += 2;
        bad += v != 5;
    }
    CHECK_EQ(bad, 0);
#pragma omp target update from(v, a)
    CHECK(v == 7 && a[1] == 2);
#pragma omp parallel private(g) firstprivate(h) num_threads(2) reduction(+: bad)
    {
        g = 5, h[0] = 3;
#pragma omp target map(tofrom: g)
        g++;
#pragma omp target data map(g) map(h)
#pragma omp target map(g)
        h[0] += g;
        bad += g != 6 || h[0] != 9;
    }
    CHECK(bad == 0 && g == 1 && h[0] == 0);
#pragma omp target map(from: r)
    r = add_to_it(3);
    CHECK_EQ(r, 10);
    return RESULT;
}
