/* locals that are too large for shared memory, and arrays of run-time size, in sequential code that all threads run */
#include "check.h"

static inline int last(int n, int v)
{
    int a[n];
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[i] = v + i;
    return a[n - 1];
}

int main(void)
{
    int got[24] = { 0 }, sums[24] = { 0 }, n = 700;
#pragma omp target teams distribute num_teams(3) map(tofrom: got, sums)
    for (int k = 0; k < 24; k++) {
        int large[3000], small[20], m = 10 + k;
        int a[m], b[k + 1][3];
#pragma omp parallel for
        for (int i = 0; i < 3000; i++)
            large[i] = k + i;
#pragma omp parallel for
        for (int i = 0; i < m; i++)
            a[i] = large[2000 + i];
        a[0] = 0;                               /* written by one, read by all */
#pragma omp parallel for
        for (int i = 0; i < 3; i++)
            b[k][i] = a[i];
#pragma omp parallel for
        for (int i = 0; i < 20; i++)
            small[i] = a[i % m] + b[k][i % 3];
        for (int round = 1; round < 6; round++) {
            int c[round * 7];                   /* the same bytes again, while other threads may still read */
#pragma omp parallel for
            for (int i = 0; i < round * 7; i++)
                c[i] = round;
            int sum = 0;
#pragma omp parallel for reduction(+: sum)
            for (int i = 0; i < round * 7; i++)
                sum += c[i];
            sums[k] += sum + c[round];
            c[0] = -1;
        }
        int all = 0;
#pragma omp parallel for reduction(+: all)
        for (int i = 0; i < 20; i++)
            all += small[i];
        got[k] = all + last(m, k) + last(n + k, k);
    }
    for (int k = 0; k < 24; k++) {
        int want = 0, sum = 0, m = 10 + k, b[3] = { 0, k + 2001, k + 2002 };
        for (int i = 0; i < 20; i++)
            want += (i % m ? k + 2000 + i % m : 0) + b[i % 3];
        want += k + m - 1 + k + n + k - 1;
        for (int round = 1; round < 6; round++)
            sum += round * 7 * round + round;
        CHECK_EQ(got[k], want);
        CHECK_EQ(sums[k], sum);
    }
    return RESULT;
}
