/* if and device clauses: with and without modifiers, initial device, on each construct that takes them */ /* also: -O0 -g */
#include "check.h"

static int where(int cond, int dev)
{
    int host = -1;
#pragma omp target if(cond) device(dev) map(from: host)
    host = omp_is_initial_device();
    return host;
}

int main(void)
{
    int dev = omp_get_default_device(), n = 0, a[8] = { 0 }, k = 3;

#ifndef HOST_ONLY
    CHECK_EQ(where(1, dev), 0);
    CHECK_EQ(where(1, omp_get_initial_device()), 1);
#endif
    CHECK_EQ(where(0, dev), 1);
#pragma omp target if(target: k > 5) map(tofrom: n)
    n = omp_is_initial_device();
    CHECK_EQ(n, 1);
#pragma omp target parallel for if(parallel: 0) if(target: 1) map(tofrom: n, a)
    for (int i = 0; i < 8; i++) {
        a[i] += i;
        n = ON_DEVICE + 10 * omp_get_num_threads();
    }
    CHECK_EQ(n, 11);
#pragma omp target teams distribute parallel for if(k) device(dev) map(tofrom: n, a)
    for (int i = 0; i < 8; i++) {
        a[i] += i;
        n = ON_DEVICE;
    }
    CHECK_EQ(n, 1);
#pragma omp target teams distribute parallel for if(k == 0) map(tofrom: a) reduction(+: n)
    for (int i = 0; i < 8; i++) {
        a[i] += i;
        n += omp_is_initial_device();
    }
    CHECK_EQ(n, 9);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(a[i], 3 * i);
    n = 0;
#pragma omp target map(tofrom: n)
#pragma omp parallel if(k < 0) reduction(+: n)
    n += 1;
    CHECK_EQ(n, 1);
#pragma omp target data map(tofrom: a) if(0)
#ifndef HOST_ONLY
    CHECK(!PRESENT(a));
#else
    ;
#endif
#pragma omp target data map(tofrom: a) device(dev)
#pragma omp target device(dev)
    a[0] = 5;
    CHECK_EQ(a[0], 5);
    return RESULT;
}
