/* collapse of nests that are not rectangular, or have statements between their loops */
#include "check.h"

enum { N = 37, M = 9 };
static int count[N][N][M];

static void clear(void) { memset(count, 0, sizeof count); }
static void want(int i, int j, int k, int n) { if (count[i][j][k] != n) CHECK_EQ(count[i][j][k], n); }

static void triangle(void)
{
    int on = 0, j;
    long sum = 0;
    clear();
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: count, on) reduction(+: sum)
    for (int i = 0; i < N; i++)
        for (j = i + 1; j < N; j++) {
            count[i][j][0]++;
            sum += i * N + j;
            if (i == 3 && j == 5)
                on = ON_DEVICE;
        }
    CHECK(on);
    for (int i = 0; i < N; i++)
        for (j = 0; j < N; j++) {
            want(i, j, 0, j > i);
            sum -= j > i ? i * N + j : 0;
        }
    CHECK_EQ(sum, 0);
}

static void three_loops(void)
{
    int i, j, k;
    clear();
#pragma omp target parallel for collapse(3) map(tofrom: count) schedule(dynamic)
    for (i = 0; i < N; i++)
        for (j = M - 1; j >= 0; j--)
            for (k = 0; k <= j; k++)
                count[i][j][k]++;
    for (i = 0; i < N; i++)
        for (j = 0; j < N; j++)
            for (k = 0; k < M; k++)
                want(i, j, k, j < M && k <= j);
}

/* `between` is run once for each i at least, and not more often than there are inner iterations. */
static void statements(void)
{
    int row[N] = { 0 }, j, k;
    clear();
#pragma omp target teams map(tofrom: count, row)
#pragma omp distribute parallel for collapse(3) private(k)
    for (int i = 0; i < N; i++) {
        row[i] = i;
        for (j = 0; j < N; j++) {
            int twice = 2 * j;
            for (k = 0; k < M; k++)
                count[i][j][k] += twice + k;
        }
    }
    for (int i = 0; i < N; i++) {
        CHECK_EQ(row[i], i);
        for (j = 0; j < N; j++)
            for (k = 0; k < M; k++)
                want(i, j, k, 2 * j + k);
    }
}

/* Inner blocks hold the loops, with statements on both sides. */
static void blocks(void)
{
    int before[N] = { 0 }, after[N] = { 0 };
    clear();
#pragma omp target teams distribute parallel for collapse(3) map(tofrom: count, before, after)
    for (int i = 0; i < N; i++) {
        before[i] = i;
        {
            int own = i + 1;
            {
                for (int j = 0; j < N; j++) {
                    {
                        int twice = 2 * j;
                        for (int k = 0; k < M; k++) {
                            count[i][j][k] += twice + k + own;
                        }
                    }
                }
            }
            after[i] = own;
        }
    }
    for (int i = 0; i < N; i++) {
        CHECK(before[i] == i && after[i] == i + 1);
        for (int j = 0; j < N; j++)
            for (int k = 0; k < M; k++)
                want(i, j, k, 2 * j + k + i + 1);
    }
}

static void in_parallel(void)
{
    int j = -1;
    clear();
#pragma omp target map(tofrom: count)
#pragma omp parallel num_threads(5)
    {
#pragma omp for collapse(2) schedule(static)
        for (int i = 0; i < N; i++)
            for (j = 0; j < i; j += 2)
                count[i][j][1]++;
#pragma omp for collapse(2) nowait
        for (int i = N; i > 0; i--)
            for (int m = i; m < i + M; m++)
                count[i - 1][0][m - i]++;
    }
    for (int i = 0; i < N; i++) {
        for (int m = 0; m < N; m++)
            want(i, m, 1, (m < i && m % 2 == 0) + (m == 0));
        for (int m = 2; m < M; m++)
            want(i, 0, m, 1);
    }
}

int main(void)
{
    triangle();
    three_loops();
    statements();
    blocks();
    in_parallel();
    return RESULT;
}
