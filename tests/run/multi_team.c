/* generic teams regions with reductions, sequential code, several distributes, inner loops; results independent of the geometry */
#include "check.h"

int main(void)
{
    enum { N = 37, M = 53 };
    static int a[N][M];
    long total = 0, rows = 0, best = -1;
    int on = 0, firsts[N];

    for (int i = 0; i < N * M; i++)
        a[i / M][i % M] = i * 31 % 97;
    for (int teams = 1; teams < 9; teams += 3) {
        total = rows = 0, best = -1;
#pragma omp target teams num_teams(teams) thread_limit(45) map(to: a) map(from: firsts) map(tofrom: on) reduction(+: total, rows) reduction(max: best)
        {
            int mine = omp_get_team_num();
            long sums[N];
            if (mine == 0)
                on = ON_DEVICE;
#pragma omp distribute
            for (int i = 0; i < N; i++) {
                long s = 0;
                sums[i] = 0;
#pragma omp parallel for reduction(+: s)
                for (int j = 0; j < M; j++)
                    s += a[i][j];
                sums[i] += s;
                total += sums[i];
                best = best > s ? best : s;
            }
#pragma omp distribute parallel for
            for (int i = 0; i < N; i++)
                firsts[i] = a[i][0] + 1;
#pragma omp distribute
            for (int i = 0; i < N; i++)
                rows++;
        }
        long t = 0, b = -1;
        for (int i = 0; i < N; i++) {
            long s = 0;
            for (int j = 0; j < M; j++)
                s += a[i][j];
            t += s, b = b > s ? b : s;
            CHECK_EQ(firsts[i], a[i][0] + 1);
        }
        CHECK(on);
        CHECK_EQ(total, t);
        CHECK_EQ(best, b);
        CHECK_EQ(rows, N);
    }
    return RESULT;
}
