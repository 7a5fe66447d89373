/* target regions inside host constructs with default(none), default(private), default(firstprivate) */
#include "check.h"

int main(void)
{
    int a[4] = { 0 }, on = 0, s = 1, *p = a;

#pragma omp parallel default(none) shared(a, on) firstprivate(p) num_threads(2)
#pragma omp single
    {
#pragma omp target data map(tofrom: a)
#pragma omp target map(tofrom: on, a)
        {
            on = ON_DEVICE;
            a[0]++;
        }
#pragma omp target enter data map(to: p[0:4])
#pragma omp target map(to: p[0:4])
        p[1] = 5;
#pragma omp target update from(p[0:4])
#pragma omp target exit data map(release: p[0:4])
    }
    CHECK(on);
    CHECK(a[0] == 1 && a[1] == 5);
    int *q = a;
#pragma omp task default(private) shared(on) firstprivate(q)
    {
        int t = 3;
#pragma omp target map(tofrom: on, q[0:4])
        on = t, q[2] = 6;
    }
#pragma omp taskwait
    CHECK_EQ(on, 3);
#pragma omp parallel for default(firstprivate) shared(a) num_threads(2)
    for (int i = 0; i < 2; i++)
#pragma omp target map(tofrom: a[i:1])
        a[i] += 10 * s;
    CHECK(a[0] == 11 && a[1] == 15 && a[2] == 6);
    return RESULT;
}
