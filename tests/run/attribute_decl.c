/* flags: -std=c23 */ /* [[omp::decl(...)]]: declare target, declare simd, declare variant, threadprivate, groupprivate of declarations */ /* also: -O0 */
#include "check.h"
[[omp::decl(declare target)]] static int table[3] = { 1, 2, 3 }, *unused;
[[omp::decl(declare_target device_type(any))]] int twice(int x)
{
    int one[] = { 1 };
    return 2 * x * one[0];
}
[[omp::decl(declare target), omp::decl(declare simd notinbranch)]] static int next(int x) { return x + 1; }
static int on_gpu(void) { return 2; }
[[omp::decl(declare variant(on_gpu) match(device = {kind(nohost)}))]] static int where(void) { return 1; }
[[omp::decl(threadprivate)]] static int mine, others[2];
[[omp::decl(groupprivate)]] static long of_team;

int main(void)
{
    int r[4] = { 0 }, on = 0, teams[2] = { 0 };
    [[omp::directive(target map(tofrom: r, on))]]
    {
        on = ON_DEVICE;
        r[0] = twice(table[2]);
        r[1] = next(1);
        r[2] = where();
        table[0] = 9;
    }
    CHECK(on && r[0] == 6 && r[1] == 2 && r[2] == 2 && where() == 1);
#pragma omp target update from(table)
    CHECK_EQ(table[0], 9);
    (void)unused;
    mine = 1;
#pragma omp parallel num_threads(3)
    {
        mine = omp_get_thread_num();
        others[1] = mine;
    }
    CHECK(mine == 0 && others[1] == 0);
#pragma omp target teams num_teams(2) map(tofrom: teams)
    {
        of_team = omp_get_team_num();
#pragma omp parallel num_threads(4)
#pragma omp atomic
        of_team += 10;
        teams[omp_get_team_num()] = (int)of_team;
    }
    CHECK(teams[0] == 40 && teams[1] == 41);
    return RESULT;
}
