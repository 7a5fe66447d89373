/* device_type on target: any and host beside depend, nowait, if and device; what a metadirective in a host region chooses */ /* also: --host-cc=gcc */
#include "check.h"

static void ordered(int no)
{
    int x = 0, y = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp target device_type(any) nowait depend(out: x) map(tofrom: x)
        x = ON_DEVICE;
#pragma omp target device_type(host) nowait depend(inout: x) map(tofrom: x) if(no)
        x = x * 10 + omp_is_initial_device();
#pragma omp target device_type(any) nowait depend(inout: x) map(tofrom: x) if(no)
        x = x * 10 + omp_is_initial_device();
    }
#pragma omp target device_type(host) device(omp_initial_device) map(tofrom: y)
#pragma omp metadirective when(device={kind(host)}: parallel num_threads(1)) otherwise(parallel num_threads(2))
    y += omp_is_initial_device();
    CHECK(x == 111 && y == 1);
}

int main(void)
{
    ordered(0);
    return RESULT;
}
