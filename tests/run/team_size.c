/* teams of a constant size: loops with fewer iterations than threads, as many, and more; a smaller region; a called function */ /* also: -O0 -g */
#include "check.h"
#include <omp.h>
enum { TEAMS = 3, SIZE = 64 };
#pragma omp declare target
__attribute__((noinline)) int size(void) { return omp_get_num_threads(); }
#pragma omp end declare target

static int expected(int n)
{
    int sum = 0;
    for (int k = 0; k < n; k++)
        sum += k * 3 + 1;
    return sum;
}

int main(void)
{
    static const int counts[] = { 0, 1, 31, 63, 64, 65, 200, 256, 1000 };
    int sums[TEAMS][9], filled[TEAMS][16][16], sizes[TEAMS][2], exact[SIZE] = { 0 }, total = 0, limited = 0;

#pragma omp target teams distribute num_teams(TEAMS) thread_limit(SIZE) map(from: sums, filled, sizes)
    for (int t = 0; t < TEAMS; t++) {
        int tile[16][16];
        for (int c = 0; c < 9; c++) {
            int sum = 0;
#pragma omp parallel for reduction(+: sum)
            for (int k = 0; k < counts[c]; k++)
                sum += k * 3 + 1;
            sums[t][c] = sum;
        }
#pragma omp parallel for collapse(2)
        for (int i = 0; i < 16; i++)
            for (int j = 0; j < 16; j++)
                tile[i][j] = i * 16 + j + t;
#pragma omp parallel for
        for (int i = 0; i < 16; i++)
            for (int j = 0; j < 16; j++)
                filled[t][i][j] = tile[15 - i][j];
#pragma omp parallel
        if (omp_get_thread_num() == 0)
            sizes[t][0] = size();
#pragma omp parallel num_threads(8)
        if (omp_get_thread_num() == 0)
            sizes[t][1] = size();
    }
    for (int t = 0; t < TEAMS; t++) {
        for (int c = 0; c < 9; c++)
            CHECK_EQ(sums[t][c], expected(counts[c]));
        for (int i = 0; i < 256; i++)
            CHECK_EQ(filled[t][i / 16][i % 16], (15 - i / 16) * 16 + i % 16 + t);
        CHECK_EQ(sizes[t][0], SIZE);
        CHECK_EQ(sizes[t][1], 8);
    }

#pragma omp target parallel num_threads(SIZE) reduction(+: total)
    {
        exact[omp_get_thread_num()]++;
        total += omp_get_num_threads();
    }
    CHECK_EQ(total, SIZE * SIZE);
    for (int i = 0; i < SIZE; i++)
        CHECK_EQ(exact[i], 1);

    int less = 40; /* the smaller of two limits, of which one is not constant */
#pragma omp target teams num_teams(1) thread_limit(SIZE) map(from: limited)
#pragma omp parallel num_threads(less)
    if (omp_get_thread_num() == 0)
        limited = omp_get_num_threads();
    CHECK_EQ(limited, less);
    return RESULT;
}
