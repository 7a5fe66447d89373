/* atomic compare (OpenMP 5.1): min, max and compare-and-swap, with capture */ /* also: -O0 -g */
#include "check.h"

int main(void)
{
    enum { N = 300 };
    int lo = 1000000, hi = -1, owner = -1, winners = 0, on = 0, v[N];
    unsigned ulo = 4000000000u;
    long big = 0;

    for (int i = 0; i < N; i++)
        v[i] = i * 7919 % 5003;
#pragma omp target parallel for map(tofrom: lo, hi, owner, winners, on, ulo, big)
    for (int i = 0; i < N; i++) {
#pragma omp atomic compare
        if (v[i] < lo) { lo = v[i]; }
#pragma omp atomic compare
        hi = hi < v[i] ? v[i] : hi;
#pragma omp atomic compare
        if (ulo > (unsigned)v[i] + 3000000000u) { ulo = (unsigned)v[i] + 3000000000u; }
#pragma omp atomic compare
        big = big < v[i] * 10000000000L ? v[i] * 10000000000L : big;
        int old;
#pragma omp atomic compare capture
        { old = owner; if (owner == -1) { owner = i; } }
        if (old == -1) {
#pragma omp atomic
            winners++;
        }
        on = ON_DEVICE;
    }
    int hlo = 1000000, hhi = -1;
    for (int i = 0; i < N; i++)
        hlo = v[i] < hlo ? v[i] : hlo, hhi = v[i] > hhi ? v[i] : hhi;
    CHECK(on);
    CHECK_EQ(lo, hlo);
    CHECK_EQ(hi, hhi);
    CHECK_EQ(ulo, 3000000000u + (unsigned)hlo);
    CHECK_EQ(big, hhi * 10000000000L);
    CHECK(owner >= 0 && owner < N);
    CHECK_EQ(winners, 1);
    return RESULT;
}
