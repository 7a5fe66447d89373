/* collapse(2), collapse(3): ranges, steps and directions of every kind, types mixed, bounds at run time */
#include "check.h"

int main(void)
{
    int n = 13, m = 9, l = 5, on = 0, a[13][9], c[13][9][5], lower = 2;
    long count = 0;

    memset(a, 0, sizeof a), memset(c, 0, sizeof c);
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: on)
    for (int i = 0; i < n; i++)
        for (long j = m - 1; j >= lower; j -= 2) {
            a[i][j] += 100 * i + (int)j;
            on = ON_DEVICE;
        }
    CHECK(on);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            CHECK_EQ(a[i][j], j >= 2 && j % 2 == 0 ? 100 * i + j : 0);

#pragma omp target teams distribute parallel for collapse(3) reduction(+: count)
    for (short i = 1; i <= n - 1; i = i + 3)
        for (unsigned j = 0; j != (unsigned)m; j++)
            for (unsigned long long k = 0; k < (unsigned long long)l; k += 2) {
                c[i][j][k] = i * 10000 + (int)j * 100 + (int)k;
                count++;
            }
    long host = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < l; k++) {
                int in = i >= 1 && i % 3 == 1 && k % 2 == 0;
                host += in;
                CHECK_EQ(c[i][j][k], in ? i * 10000 + j * 100 + k : 0);
            }
    CHECK_EQ(count, host);

    /* an empty inner or outer range; the third loop is not associated */
    int hits = 0, zero = 0;
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: hits)
    for (int i = 0; i < n; i++)
        for (int j = 3; j < zero; j++)
            hits = 1;
#pragma omp target parallel for collapse(2) map(tofrom: hits)
    for (int i = 5; i < zero; i++)
        for (int j = 0; j < m; j++)
            hits = 1;
    CHECK_EQ(hits, 0);
#pragma omp target parallel for collapse(2) reduction(+: hits)
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < i + j; k++)
                hits++;
    CHECK_EQ(hits, 30);
    return RESULT;
}
