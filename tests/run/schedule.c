/* schedule(static[,n]), dynamic, guided, auto, runtime: each iteration once; static chunks go round robin */
#include "check.h"

#define STR(...) STR_(__VA_ARGS__)
#define STR_(...) #__VA_ARGS__
#define TRY(form, sched)                                                            \
    do {                                                                            \
        memset(hit, 0, sizeof hit);                                                 \
        _Pragma(STR(omp target form schedule sched map(tofrom: hit, on)))           \
        for (int i = 0; i < N; i++) {                                               \
            hit[i]++;                                                               \
            who[i] = omp_get_thread_num();                                          \
            on = ON_DEVICE ? omp_get_num_threads() : -1;                            \
        }                                                                           \
        for (int i = 0; i < N; i++)                                                 \
            CHECK_EQ(hit[i], 1);                                                    \
        CHECK(on > 0);                                                              \
    } while (0)
enum { N = 517 };
static int hit[N], who[N], on;

int main(void)
{
    int chunk = 5;
    TRY(parallel for num_threads(40), (static));
    for (int i = 1; i < N; i++)
        CHECK(who[i] >= who[i - 1]);
    TRY(parallel for num_threads(40), (static, 1));
    for (int i = 0; i < N; i++)
        CHECK_EQ(who[i], i % on);
    TRY(parallel for num_threads(40), (static, chunk + 2));
    for (int i = 0; i < N; i++)
        CHECK_EQ(who[i], i / 7 % on);
    TRY(parallel for num_threads(40), (dynamic));
    TRY(parallel for num_threads(40), (dynamic, chunk));
    TRY(parallel for num_threads(40), (nonmonotonic: dynamic, 1000));
    TRY(parallel for num_threads(40), (guided));
    TRY(parallel for num_threads(40), (guided, 3));
    TRY(parallel for, (auto));
    TRY(parallel for, (runtime));
#ifndef HOST_ONLY                    /* libomp may give fewer teams than it works with */
    TRY(teams distribute parallel for num_teams(3), (static, 1));
    TRY(teams distribute parallel for num_teams(3), (static, 64));
    TRY(teams distribute parallel for num_teams(3) thread_limit(33), (dynamic, 2));
    TRY(teams distribute parallel for num_teams(3) thread_limit(33), (guided));
    TRY(teams distribute parallel for dist_schedule(static, 100) num_teams(4) thread_limit(16), (static, 3));
    TRY(teams distribute parallel for dist_schedule(static, 10) num_teams(4) thread_limit(16), (dynamic, 4));
#endif
    /* two dynamic loops in a row, one of them nowait, collapsed */
    static int grid[20][30];
#pragma omp target map(tofrom: grid, hit)
#pragma omp parallel num_threads(50)
    {
#pragma omp for schedule(dynamic, 3) nowait
        for (int i = 0; i < N; i++)
            hit[i]++;
#pragma omp for schedule(guided) collapse(2)
        for (int i = 0; i < 20; i++)
            for (int j = 0; j < 30; j++)
                grid[i][j] += i * j + 1;
#pragma omp for schedule(dynamic)
        for (int i = N - 1; i > -1; i--)
            hit[i]++;
    }
    for (int i = 0; i < N; i++)
        CHECK_EQ(hit[i], 3);
    for (int i = 0; i < 600; i++)
        CHECK_EQ(grid[i / 30][i % 30], i / 30 * (i % 30) + 1);
    return RESULT;
}
