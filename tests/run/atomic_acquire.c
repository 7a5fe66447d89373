/* requires atomic_default_mem_order(acquire), of OpenMP 6.0: what a team has written is seen by those that see its flag */ /* also: -O0 */
#include "check.h"
#pragma omp requires atomic_default_mem_order(acquire)

enum { TEAMS = 16 };

int main(void)
{
    int data[TEAMS] = { 0 }, flag[TEAMS] = { 0 }, bad = 0, seen = 0;
#pragma omp target teams num_teams(TEAMS) thread_limit(32) map(tofrom: data, flag, bad, seen)
    {
        int me = omp_get_team_num();
        data[me] = me + 1;
#pragma omp atomic write release
        flag[me] = 1;
        for (int k = 0; k < 4 * TEAMS; k++) {
            int f, t = (me + k) % TEAMS;
#pragma omp atomic read
            f = flag[t];
            if (f && data[t] != t + 1) {
#pragma omp atomic relaxed
                bad++;
            }
            if (f) {
#pragma omp atomic relaxed
                seen++;
            }
        }
    }
    CHECK_EQ(bad, 0);
    CHECK(seen >= TEAMS);
    return RESULT;
}
