/* priority on target and data constructs: a hint */
#include "check.h"
int main(void)
{
    int a[4] = { 0 }, on = 0;
#pragma omp target enter data map(to: a) priority(3) nowait depend(out: a)
#pragma omp target nowait depend(inout: a), priority(2), map(tofrom: on)
    {
        a[0] = 5;
        on = ON_DEVICE;
    }
#pragma omp target update from(a) priority(1) depend(in: a)
    CHECK(on && a[0] == 5);
#pragma omp target teams loop priority(on) map(a)
    for (int i = 0; i < 4; i++)
        a[i] = i + 1;
#pragma omp target exit data map(from: a) priority(0)
    CHECK_EQ(a[3], 4);
#pragma omp target loop priority(2) map(a) if(0)
    for (int i = 0; i < 4; i++)
        a[i] *= 2;
#pragma omp target_data map(a) priority(1)
    CHECK(a[3] == 8);
    return RESULT;
}
