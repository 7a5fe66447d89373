/* reductions of arrays and array sections. todo: not supported yet */
#include "check.h"

int main(void)
{
    enum { N = 500, B = 8 };
    int hist[B] = { 0 }, host[B] = { 0 }, on = 0, part[10] = { 0 };
    double *acc = calloc(6, sizeof *acc);

#pragma omp target teams distribute parallel for reduction(+: hist) map(tofrom: hist, on)
    for (int i = 0; i < N; i++) {
        hist[i * i % B]++;
        on = ON_DEVICE;
    }
    for (int i = 0; i < N; i++)
        host[i * i % B]++;
    CHECK(on);
    for (int i = 0; i < B; i++)
        CHECK_EQ(hist[i], host[i]);
#pragma omp target parallel for reduction(max: part[2:3])
    for (int i = 0; i < N; i++)
        part[2 + i % 3] = part[2 + i % 3] > i ? part[2 + i % 3] : i;
    CHECK(part[2] == 498 && part[3] == 499 && part[4] == 497 && part[0] == 0 && part[5] == 0);
#pragma omp target teams distribute parallel for reduction(+: acc[0:6]) map(tofrom: acc[0:6])
    for (int i = 0; i < N; i++)
        acc[i % 6] += 0.5 * i;
    double h[6] = { 0 };
    for (int i = 0; i < N; i++)
        h[i % 6] += 0.5 * i;
    for (int i = 0; i < 6; i++)
        CHECK_EQ(acc[i], h[i]);
    free(acc);
    return RESULT;
}
