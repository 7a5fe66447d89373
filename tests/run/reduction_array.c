/* reductions of whole arrays */ /* also: -O0 -g */
#include "check.h"

int main(void)
{
    enum { N = 500, B = 8 };
    int hist[B] = { 0 }, host[B] = { 0 }, on = 0;

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
    double *h = calloc(6, sizeof *h), acc[2][3] = { { 0 } };
#pragma omp target parallel for reduction(+: acc) map(tofrom: acc)
    for (int i = 0; i < N; i++)
        acc[i % 2][i % 3] += 0.5 * i;
    for (int i = 0; i < N; i++)
        h[i % 2 * 3 + i % 3] += 0.5 * i;
    for (int i = 0; i < 6; i++)
        CHECK_EQ(acc[i / 3][i % 3], h[i]);
    free(h);
    int most[3] = { 0 };
#pragma omp target teams distribute parallel for reduction(max: most) map(tofrom: most)
    for (int i = 0; i < N; i++)
        most[i % 3] = most[i % 3] > i ? most[i % 3] : i;
    CHECK(most[0] == 498 && most[1] == 499 && most[2] == 497);
    /* beside a private variable, in memory and not on the stack, of a section */
    static int table[1024][16];
    int rows[1024] = { 0 }, j;
    for (int i = 0; i < 1024; i++)
        for (int k = 0; k < 16; k++)
            table[i][k] = i + k;
#pragma omp target teams distribute parallel for reduction(+: rows[0:1024]) private(j)
    for (int i = 0; i < 1024; i++)
        for (j = 0; j < 16; j++)
            rows[i] += table[i][j];
    for (int i = 0; i < 1024; i++)
        CHECK_EQ(rows[i], 16 * i + 120);
    return RESULT;
}
