/* array sections: offsets, omitted bounds, pointers moved, expressions as bounds, only the section travels */
#include "check.h"

int main(void)
{
    enum { N = 100 };
    int a[N], *p = malloc(N * sizeof *p), on = 0, lo = 20, len = 30;

    for (int i = 0; i < N; i++)
        a[i] = p[i] = i;
#pragma omp target map(tofrom: a[10:5], on)
    {
        on = ON_DEVICE;
        for (int i = 10; i < 15; i++)
            a[i] = -a[i];
    }
    CHECK(on);
#pragma omp target teams distribute parallel for map(tofrom: p[lo:len])
    for (int i = lo; i < lo + len; i++)
        p[i] += 1000;
    for (int i = 0; i < N; i++) {
        CHECK_EQ(a[i], i >= 10 && i < 15 ? -i : i);
        CHECK_EQ(p[i], i >= 20 && i < 50 ? i + 1000 : i);
    }
#pragma omp target map(tofrom: a[:3]) map(tofrom: p[2 * lo - 1: len / 10 + 1])
    {
        a[0] = a[1] = a[2] = 7;
        p[39] = p[42] = 8;
    }
    CHECK(a[0] == 7 && a[2] == 7 && a[3] == 3 && p[39] == 8 && p[42] == 8);
#pragma omp target map(tofrom: a[N - 4:])
    a[N - 1] = a[N - 4];
    CHECK_EQ(a[N - 1], N - 4);

    int *q = p + 50;                 /* a pointer into the middle, a section that begins before it */
#pragma omp target map(tofrom: q[-10:20])
    for (int i = -10; i < 10; i++)
        q[i] = i;
    for (int i = 40; i < 60; i++)
        CHECK_EQ(p[i], i - 50);
    /* a section inside mapped storage, reached through another pointer without a map clause */
#pragma omp target data map(tofrom: p[0:N])
    {
        int *mid = &p[60];
#pragma omp target
        for (int i = 0; i < 10; i++)
            mid[i] = 5 * i;
#pragma omp target map(tofrom: mid[10:10])
        for (int i = 10; i < 20; i++)
            mid[i] = 6 * i;
    }
    for (int i = 0; i < 20; i++)
        CHECK_EQ(p[60 + i], i < 10 ? 5 * i : 6 * i);
    /* of a size that is assumed (OpenMP 6.0): what is mapped there */
    p[2] = 3;
#pragma omp target data map(tofrom: p[0:N])
#pragma omp target map(p[:])
    p[2]++;
    CHECK_EQ(p[2], 4);
#pragma omp target enter data map(to: p[0:N])
#pragma omp target map(alloc: p[:])
    p[2] = 20;
#pragma omp target exit data map(from: p[2]) map(delete: p[:])
    CHECK_EQ(p[2], 20);
    CHECK(!PRESENT(p));
    /* zero length */
#pragma omp target map(tofrom: p[0:0]) map(from: on)
    on = ON_DEVICE + 1;
    CHECK_EQ(on, 2);
    free(p);
    return RESULT;
}
