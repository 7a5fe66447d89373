/* which thread runs which iteration, the same in both modes: neighbours in a warp take neighbouring iterations, so that accesses coalesce */
#include "check.h"
enum { ROWS = 24, N = 200, TEAMS = 4, THREADS = 64 };
int main(void)
{
    static int who[ROWS][N], of[ROWS], collapsed[ROWS][N], block[ROWS][N], chunk[ROWS][N], owner[ROWS];
    int teams = 0, threads = 0;
#pragma omp target teams distribute num_teams(TEAMS) thread_limit(THREADS) map(from: who, of, collapsed, block, chunk, teams, threads)
    for (int r = 0; r < ROWS; r++) {
        of[r] = omp_get_team_num();
        if (!r) teams = omp_get_num_teams();
        if (!r) threads = omp_get_max_threads();
#pragma omp parallel for
        for (int i = 0; i < N; i++) who[r][i] = omp_get_thread_num();
#pragma omp parallel for collapse(2)
        for (int i = 0; i < N / 8; i++)
            for (int j = 0; j < 8; j++) collapsed[r][i * 8 + j] = omp_get_thread_num();
#pragma omp parallel for schedule(static)
        for (int i = 0; i < N; i++) block[r][i] = omp_get_thread_num();
#pragma omp parallel for schedule(static, 4)
        for (int i = 0; i < N; i++) chunk[r][i] = omp_get_thread_num();
    }
    for (int r = 0; r < ROWS; r++) {
        CHECK_EQ(of[r], r % teams);                              /* neighbouring rows at the same time */
        for (int i = 0; i < N; i++) {
            CHECK_EQ(who[r][i], i % threads);
            CHECK_EQ(collapsed[r][i], i % threads);
            CHECK_EQ(chunk[r][i], i / 4 % threads);
            CHECK(i == 0 || block[r][i] - block[r][i - 1] == 0 || block[r][i] - block[r][i - 1] == 1);    /* one block a thread, in order */
        }
    }
#pragma omp target teams distribute num_teams(TEAMS) thread_limit(THREADS) dist_schedule(static) map(from: owner, who)
    for (int r = 0; r < ROWS; r++) {
        owner[r] = omp_get_team_num();                           /* asked for: contiguous blocks of rows */
#pragma omp parallel for
        for (int i = 0; i < N; i++) who[r][i] = omp_get_thread_num();
    }
    for (int r = 0; r < ROWS; r++) {
        CHECK_EQ(owner[r], r / (ROWS / teams));
        for (int i = 0; i < N; i++) CHECK_EQ(who[r][i], i % threads);
    }
    return RESULT;
}
