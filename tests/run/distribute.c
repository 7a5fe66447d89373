/* distribute: iterations over teams, each once; dist_schedule; with and without chunk; collapse */
#include "check.h"

int main(void)
{
    enum { N = 103 };
    int hit[2][N] = { { 0 } }, team[N], chunk[N], on = 0;

#pragma omp target map(tofrom: on)
#pragma omp teams num_teams(7)
    {
#pragma omp distribute dist_schedule(static)
        for (int i = 0; i < N; i++) {
            hit[0][i]++;
            team[i] = omp_get_team_num();
            if (i == 5)
                on = ON_DEVICE;
        }
#pragma omp distribute dist_schedule(static, 10)
        for (int i = 0; i < N; i++) {
            hit[1][i]++;
            chunk[i] = omp_get_team_num() + 100 * omp_get_num_teams();
        }
    }
    CHECK(on);
    for (int i = 0; i < N; i++) {
        CHECK(hit[0][i] == 1 && hit[1][i] == 1);
        CHECK(i == 0 || team[i] >= team[i - 1]);          /* no chunk: contiguous, in order */
        CHECK_EQ(chunk[i] % 100, i / 10 % (chunk[i] / 100));
    }

    int grid[5][9] = { { 0 } };
#pragma omp target teams distribute collapse(2) num_teams(3)
    for (int i = 4; i >= 0; i--)
        for (int j = 1; j < 9; j += 2)
            grid[i][j] += 10 * i + j;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 9; j++)
            CHECK_EQ(grid[i][j], j % 2 ? 10 * i + j : 0);
    return RESULT;
}
