/* reductions over teams of values that sequential code computes, beside inner reductions */
#include "check.h"
int main(void)
{
    int n = 33, sum = 0, most = 0, on = 0;
    double total = 0;
#pragma omp target teams distribute reduction(+: sum, total) reduction(max: most) map(tofrom: on)
    for (int t = 0; t < n; t++) {
        int s = 0, m = 0;
#pragma omp parallel for reduction(+: s) reduction(max: m)
        for (int i = 0; i < 50; i++)
            s += i * t, m = (i * t) % 53 > m ? (i * t) % 53 : m;
        sum += s;
        total += s / 2.0;
        most = m > most ? m : most;
        if (t == 0) on = ON_DEVICE;
    }
    CHECK(on);
    CHECK(sum == 1225 * 528 && total == 1225 * 264.0 && most == 52);
    return RESULT;
}
