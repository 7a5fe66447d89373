/* nowait and taskwait: the results are there after the taskwait */ /* also: -O0 -g */
#include "check.h"

int main(void)
{
    enum { N = 1000 };
    static int a[N], b[N];
    int on = 0;

#pragma omp target teams distribute parallel for nowait map(from: a) map(tofrom: on)
    for (int i = 0; i < N; i++) {
        a[i] = i;
        on = ON_DEVICE;
    }
#pragma omp target teams distribute parallel for nowait map(from: b)
    for (int i = 0; i < N; i++)
        b[i] = 2 * i;
#pragma omp taskwait
    CHECK(on);
    for (int i = 0; i < N; i++)
        CHECK(a[i] == i && b[i] == 2 * i);
#pragma omp target enter data map(to: a) nowait depend(out: a)
#pragma omp target nowait depend(inout: a) firstprivate(on)
    a[3] = 33 + on;
#pragma omp target exit data map(from: a) nowait depend(in: a)
#pragma omp taskwait
    CHECK_EQ(a[3], 34);
    return RESULT;
}
