/* Reductions of a team whose addresses have known distances: counters, strides and bounds of either sign, short loops and such that
 * take whole batches, teams of several sizes. */ /* also: -O0 -g */
#include "check.h"
enum { MOST = 2300, WIDTH = 3, SUMS = 7 };
static int x[2 * MOST], y[2 * MOST * WIDTH];

/* x, y: the middle of arrays; stride: WIDTH or -WIDTH */
#define SUM(i, type, from, test, step, factor, row, where)                                                               \
    {                                                                                                                    \
        long s = 0;                                                                                                      \
        PARALLEL                                                                                                         \
        for (type k = from; test; step)                                                                                  \
            if (where)                                                                                                   \
                s += (long)p[row] * q[(row) * (factor) + f];                                                             \
        sums[f][i] = s;                                                                                                  \
    }
#define ALL                                                                                                              \
    SUM(0, int, first, k < end, k++, stride, k, 1)                                                                       \
    SUM(1, int, end - 1, k >= first, k--, stride, k, 1)                                                                  \
    SUM(2, int, first, k < end, k += 2, stride, k + 1, 1)                                                                \
    SUM(3, unsigned, 0, k < (unsigned)end, k++, (unsigned)WIDTH, k, 1)                                                   \
    SUM(4, long, first, k < end, k++, stride, k, 1)                                                                      \
    SUM(5, int, 0, k < end, k++, stride, k, k % 3 || k > 40)                                                             \
    SUM(6, short, 0, k < end, k++, stride, -k, 1)

static void on_device(int first, int end, int stride, long sums[WIDTH][SUMS], int threads)
{
#define PARALLEL _Pragma("omp parallel for reduction(+: s)")
#pragma omp target teams distribute map(from: sums[0:WIDTH]) map(to: x, y) thread_limit(threads)
    for (int f = 0; f < WIDTH; f++) {
        const int *p = x + MOST, *q = y + MOST * WIDTH;
        ALL
    }
#undef PARALLEL
}

static void of_eight(int first, int end, int stride, long sums[WIDTH][SUMS])
{
#define PARALLEL _Pragma("omp parallel for reduction(+: s)")
#pragma omp target teams distribute map(from: sums[0:WIDTH]) map(to: x, y) thread_limit(8)
    for (int f = 0; f < WIDTH; f++) {
        const int *p = x + MOST, *q = y + MOST * WIDTH;
        ALL
    }
#undef PARALLEL
}

static void on_host(int first, int end, int stride, long sums[WIDTH][SUMS])
{
#define PARALLEL
    for (int f = 0; f < WIDTH; f++) {
        const int *p = x + MOST, *q = y + MOST * WIDTH;
        ALL
    }
}

static void compare(int first, int end, int stride)
{
    long want[WIDTH][SUMS], sums[WIDTH][SUMS];
    on_host(first, end, stride, want);
    on_device(first, end, stride, sums, 128);
    CHECK(memcmp(sums, want, sizeof want) == 0);
    on_device(first, end, stride, sums, 96);
    CHECK(memcmp(sums, want, sizeof want) == 0);
    of_eight(first, end, stride, sums);
    CHECK(memcmp(sums, want, sizeof want) == 0);
}

int main(void)
{
    int on = 0;
#pragma omp target map(from: on)
    on = ON_DEVICE;
    CHECK(on);
    for (int k = 0; k < 2 * MOST; k++)
        x[k] = k % 7 - 3;
    for (int k = 0; k < 2 * MOST * WIDTH; k++)
        y[k] = k % 11 - 5;
    compare(0, 2049, WIDTH);
    compare(-150, 129, -WIDTH);
    compare(-2100, 5, WIDTH);
    compare(4, 3, WIDTH);
    return RESULT;
}
