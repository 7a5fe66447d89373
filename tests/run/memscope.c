/* memscope on atomic and flush: for a team, and for the device */
#include "check.h"
int main(void)
{
    int n = 0, seen = 0, on = 0, host = 0;
#pragma omp target teams distribute parallel for map(tofrom: n, seen, on)
    for (int i = 0; i < 200; i++) {
        int before;
#pragma omp atomic capture, memscope(device), relaxed
        before = n++;
#pragma omp atomic compare memscope(device)
        if (seen < before) { seen = before; }
        if (i == 7)
            on = ON_DEVICE;
    }
    CHECK(on && n == 200 && seen == 199);
#pragma omp target parallel num_threads(32) map(tofrom: n)
    {
#pragma omp atomic memscope(cgroup)
        n++;
#pragma omp flush memscope(cgroup) acq_rel
    }
    CHECK_EQ(n, 232);
#pragma omp parallel num_threads(4)
    {
#pragma omp atomic memscope(device)
        host++;
    }
    CHECK_EQ(host, 4);
    return RESULT;
}
