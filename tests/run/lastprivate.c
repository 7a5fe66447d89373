/* lastprivate: the sequentially last iteration's value; scalars, arrays, the loop variable, with firstprivate, collapsed */
#include "check.h"

struct pair { int a; double b; };

/* Worksharing constructs of the one thread of a target construct; clang rejects these clauses there. */
static void in_target(void)
{
    int x = -1, y = -1, z = -1, u = 3, n = 0, q = 8, v[3] = { 1, 2, 3 }, on = 0;
    struct pair p = { 1, 2 };
#pragma omp target map(tofrom: x, y, u, n, q, on, v, p)
    {
        on = ON_DEVICE;
#pragma omp for lastprivate(x), schedule(dynamic)
        for (int i = 0; i < 20; i++)
            x = i * i;
#pragma omp sections lastprivate(y) firstprivate(v) nowait
        {
            y = 4, v[0] = 7;
#pragma omp section
            y = 9 + v[1];
        }
#pragma omp for simd firstprivate(u) lastprivate(u) firstprivate(p)
        for (int i = 0; i < 5; i++) {
            u += i;
            p.b = n;
        }
#pragma omp single firstprivate(q, p, v) nowait
        {
            q += 2, n = q, p.a = 9, v[1] = 77;
        }
#pragma omp for lastprivate(conditional: q) collapse(2)
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++)
                if (i * j == 6)
                    q = i * 10 + j;
    }
#pragma omp target map(tofrom: z)
#pragma omp for lastprivate(z)
    for (int i = 0; i < 20; i++)
        z = i * i;
    CHECK(on);
    CHECK_EQ(x, 361);
    CHECK_EQ(y, 11);
    CHECK_EQ(z, 361);
    CHECK_EQ(u, 13);
    CHECK_EQ(n, 10);
    CHECK_EQ(q, 32);
    CHECK(v[0] == 1 && v[1] == 2 && p.a == 1 && p.b == 2);
}

/* Both clauses, also where the region runs on the host. */
static void first_and_last(int device)
{
    int y = 6, z = 3, w = 1, trip = 0;
#pragma omp target parallel for collapse(2) map(tofrom: trip) reduction(+: trip) firstprivate(y) lastprivate(y) if(target: device)
    for (int i = 10; i > 0; i -= 3)
        for (unsigned j = 0; j < 7; j += 2) {
            y += i * 10 + j - y;
            trip++;
        }
#pragma omp target parallel for simd firstprivate(z, w) lastprivate(z) if(target: device) if(parallel: 1) if(simd: 1)
    for (int i = 0; i < 20; i++) {
        z = i + w;
        w = 1;
    }
    CHECK(trip == 16 && y == 16 && z == 20 && w == 1);
}

int main(void)
{
    in_target();
    first_and_last(1), first_and_last(0);
    int last = -1, arr[3] = { 0 }, i, j, n = 100, on = 0, both = 5;
    double d = 0;

#pragma omp target teams distribute parallel for lastprivate(last, d, arr) map(tofrom: last, d, arr, on)
    for (int k = 0; k < n; k++) {
        last = k * 2;
        d = k + 0.5;
        arr[k % 3] = k;
        arr[0] = arr[1] = arr[2] = k + 1;
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(last, 198);
    CHECK_EQ(d, 99.5);
    CHECK(arr[0] == 100 && arr[2] == 100);
#pragma omp target map(tofrom: i, last)
    {
#pragma omp parallel for lastprivate(last) lastprivate(i) schedule(static, 3) num_threads(17)
        for (i = 3; i < 50; i += 4)
            last = i;
    }
    CHECK_EQ(last, 47);
    CHECK_EQ(i, 51);
#pragma omp target parallel for collapse(2) lastprivate(i, j, last) map(tofrom: i, j, last)
    for (i = 0; i < 6; i++)
        for (j = 10; j > 2; j -= 3)
            last = 100 * i + j;
    CHECK(last == 504 && i == 6 && j == 1);
#pragma omp target parallel for firstprivate(both) lastprivate(both) map(tofrom: both)
    for (int k = 0; k < 5; k++)
        both = both * 10 + k;
    CHECK(both % 10 == 4);
#pragma omp target map(tofrom: last)
#pragma omp parallel for lastprivate(last) schedule(dynamic, 2)
    for (int k = 0; k < 77; k++)
        last = -k;
    CHECK_EQ(last, -76);
#pragma omp target teams distribute lastprivate(last) map(tofrom: last)
    for (int k = 0; k < 9; k++)
        last = k;
    CHECK_EQ(last, 8);
    return RESULT;
}
