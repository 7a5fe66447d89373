/* reductions that follow each other: the team's slots are used again with the fewest barriers in between, and nobody may read another
 * use's values.  Records of one round and of several, arrays by shuffles, for and sections, nowait, in loops, in regions one after another */ /* also: -O0 -g */
#include "check.h"

enum { THREADS = 200, LOOPS = 5, M = 40 };

static void follow(int *out)
{
#pragma omp target teams num_teams(3) thread_limit(THREADS) map(tofrom: out[0:64])
#pragma omp distribute
    for (int team = 0; team < 3; team++) {
        int a = 0, b = 0, c = 0, d = 0, bad = 0;
        long w0 = 0, w1 = 0, w2 = 0, w3 = 0, w4 = 0, w5 = 0, w6 = 0, w7 = 0, w8 = 0;
        int array[M] = { 0 };
#pragma omp parallel num_threads(THREADS)
        for (int t = 0; t < LOOPS; t++) {
#pragma omp for reduction(+: a) nowait
            for (int i = 0; i < THREADS; i++)
                a += 1;
#pragma omp for reduction(+: b) nowait
            for (int i = 0; i < THREADS; i++)
                b += 2;
#pragma omp sections reduction(max: c) nowait
            {
#pragma omp section
                c = c > 3 + t ? c : 3 + t;
#pragma omp section
                c = c > 7 + t ? c : 7 + t;
            }
#pragma omp for reduction(+: w0, w1, w2, w3, w4, w5, w6, w7, w8, d) nowait
            for (int i = 0; i < THREADS; i++) {
                w0 += 1, w1 += 2, w2 += 3, w3 += 4, w4 += 5, w5 += 6, w6 += 7, w7 += 8, w8 += i, d += 1;
            }
#pragma omp for reduction(+: array, d) nowait
            for (int i = 0; i < THREADS; i++) {
                array[i % M] += i;
                d += 100;
            }
#pragma omp for reduction(+: array)
            for (int i = 0; i < THREADS; i++)
                array[(i + 1) % M] += 1;
#pragma omp for reduction(+: bad)
            for (int i = 0; i < THREADS; i++)
                bad += a != (t + 1) * THREADS;
        }
        int again = 0, third = 0;
#pragma omp parallel for reduction(+: again)
        for (int i = 0; i < 1000; i++)
            again += i;
#pragma omp parallel for reduction(+: third)
        for (int i = 0; i < 1000; i++)
            third += 2 * i;
        int sum = 0;
        for (int i = 0; i < M; i++)
            sum += array[i];
        int n = THREADS * LOOPS, *o = out + team * 16;
        o[0] = a == n && b == 2 * n && c == 7 + LOOPS - 1 && d == 101 * n && !bad;
        o[1] = w0 == n && w1 == 2 * n && w2 == 3 * n && w3 == 4 * n && w4 == 5 * n && w5 == 6 * n && w6 == 7 * n && w7 == 8 * n;
        o[2] = w8 == (long)LOOPS * THREADS * (THREADS - 1) / 2;
        o[3] = sum == LOOPS * (THREADS * (THREADS - 1) / 2 + THREADS);
        o[4] = again == 999 * 500 && third == 999 * 1000;
    }
}

/* All threads from the beginning: a target parallel region, and a league's reduction of several rounds and an array. */
static void spmd(int *out)
{
    int a = 0, b = 0, c = 0;
#pragma omp target parallel num_threads(96) reduction(+: c) map(tofrom: a, b)
    for (int t = 0; t < LOOPS; t++) {
#pragma omp for reduction(+: a) nowait
        for (int i = 0; i < 333; i++)
            a += i;
#pragma omp for reduction(+: b) nowait
        for (int i = 0; i < 333; i++)
            b += 2 * i;
        c += 1;
    }
    out[0] = a == LOOPS * 333 * 332 / 2 && b == LOOPS * 333 * 332 && c == 96 * LOOPS;

    double v0 = 0, v1 = 0, v2 = 0, v3 = 0, v4 = 0, v5 = 0, v6 = 0, v7 = 0, v8 = 0;
    int array[M] = { 0 };
#pragma omp target teams distribute parallel for num_teams(7) thread_limit(160) reduction(+: v0, v1, v2, v3, v4, v5, v6, v7, v8, array)
    for (int i = 0; i < 5000; i++) {
        v0 += 1, v1 += 2, v2 += 3, v3 += 4, v4 += 5, v5 += 6, v6 += 7, v7 += 8, v8 += i;
        array[i % M] += i;
    }
    out[1] = v0 == 5000 && v1 == 10000 && v2 == 15000 && v3 == 20000 && v4 == 25000 && v5 == 30000 && v6 == 35000 && v7 == 40000;
    out[2] = v8 == 5000.0 * 4999 / 2;
    out[3] = 1;
    for (int i = 0; i < M; i++)
        out[3] = out[3] && array[i] == (4960 + 2 * i) * 125 / 2;
}

int main(void)
{
    int out[64] = { 0 };
    follow(out);
    for (int team = 0; team < 3; team++)
        for (int i = 0; i < 5; i++)
            CHECK_EQ(out[team * 16 + i], 1);
    spmd(out);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(out[i], 1);
    return RESULT;
}
