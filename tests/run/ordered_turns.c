/* ordered regions of iterations that run on all threads: schedules, collapse, iterations without one, one thread */
#include "check.h"
#define N 200
int main(void)
{
    int a[N], t[N], grid[10][20], n = 0, last = 0, sum = 0, others = 0, on = 0;
    unsigned m = 0, e = 0;
#pragma omp target parallel for ordered schedule(dynamic, 3) num_threads(70) map(tofrom: a, n, t, on) lastprivate(last) reduction(+: sum)
    for (int i = 0; i < N; i++) {
        sum += i;
        last = i;
        if (i % 7 == 3)
            continue;
        int x = i * i;
#pragma omp ordered
        {
            on = ON_DEVICE;
            a[n] = x;
            t[n++] = omp_get_thread_num();
        }
        sum++;
    }
    CHECK(on);
    CHECK(n == 171 && last == N - 1 && sum == N * (N - 1) / 2 + n);
    for (int i = 0, k = 0; i < N; i++)
        if (i % 7 != 3) {
            others |= t[k] != 0;
            CHECK_EQ(a[k++], i * i);
        }
    CHECK(others);
    n = 0;
#pragma omp target parallel num_threads(16) map(tofrom: grid, n, m)
    for (int r = 0; r < 2; r++) {
#pragma omp for ordered collapse(2) schedule(static)
        for (int i = 0; i < 10; i++)
            for (int j = 0; j < 20; j++) {
#pragma omp ordered
                grid[i][j] = n++;
            }
#pragma omp for ordered schedule(guided)
        for (long i = 100; i > 0; i -= 3)
            if (i & 1) {
#pragma omp ordered threads
                m = m * 3 + (unsigned)i;
            }
    }
#pragma omp target map(tofrom: m)
#pragma omp for ordered
    for (int i = 0; i < 5; i++) {
#pragma omp ordered
        m = m * 3 + (unsigned)i;
    }
    for (int i = 0; i < 200; i++)
        CHECK_EQ(grid[i / 20][i % 20], 200 + i);
    for (int r = 0; r < 2; r++)
        for (long i = 100; i > 0; i -= 3)
            if (i & 1)
                e = e * 3 + (unsigned)i;
    for (int i = 0; i < 5; i++)
        e = e * 3 + (unsigned)i;
    CHECK_EQ(m, e);
    return RESULT;
}
