/* interop: there is no foreign runtime to share, which the object says; dependences are waited for */
#include "check.h"

int main(void)
{
    omp_interop_t object = (omp_interop_t)&object;
    int x = 0, y = 0, on = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task depend(out: x) shared(x)
        x = 1;
#pragma omp interop init(targetsync: object) depend(in: x)
        CHECK_EQ(x, 1);
        CHECK(object == omp_interop_none);
#pragma omp task depend(out: x) shared(x)
        x = 2;
#pragma omp interop use(object) depend(inout: x)
        CHECK_EQ(x, 2);
#pragma omp interop destroy(object)
        CHECK(object == omp_interop_none);
    }
#pragma omp target map(from: y, on)
    {
        y = 3;
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(y, 3);
    return RESULT;
}
