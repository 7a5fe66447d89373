/* The device's nteams-var and teams-thread-limit-var: what a region sets is there for the rest of the region, for later
 * regions, and for the teams that these have. */
#include "check.h"
#include <omp.h>

#pragma omp begin declare target
static void set_both(int teams, int threads)
{
    omp_set_num_teams(teams);
    omp_set_teams_thread_limit(threads);
}
#pragma omp end declare target

static void unset(void)
{
    int teams = -1, threads = -1;
#pragma omp target map(from: teams, threads)
    {
        teams = omp_get_max_teams();
        threads = omp_get_teams_thread_limit();
    }
    CHECK_EQ(teams, 0);
    CHECK_EQ(threads, 0);
}

static void set(void)
{
    int before = omp_get_max_teams(), teams = 0, threads = 0, sum = 0;
#pragma omp target map(from: teams, threads) map(tofrom: sum)
    {
        set_both(5, 6);
        omp_set_num_teams(0); /* no number of teams: nothing changes */
        teams = omp_get_max_teams();
        threads = omp_get_teams_thread_limit();
#pragma omp parallel for reduction(+: sum)
        for (int i = 0; i < 10; i++)
            sum += omp_get_max_teams() * 10 + omp_get_teams_thread_limit();
    }
    CHECK_EQ(teams, 5);
    CHECK_EQ(threads, 6);
    CHECK_EQ(sum, 560);
    if (!omp_is_initial_device() || omp_get_default_device() != omp_get_initial_device())
        CHECK_EQ(omp_get_max_teams(), before); /* the host has its own */
}

static void later(int max_teams, int limit)
{
    int teams = 0, threads = 0, league = 0, most = 0, sum = 0;
#pragma omp target map(from: teams, threads)
    {
        teams = omp_get_max_teams();
        threads = omp_get_teams_thread_limit();
    }
    CHECK_EQ(teams, max_teams);
    CHECK_EQ(threads, limit);
#pragma omp target teams map(tofrom: league, most)
    {
        if (omp_get_team_num() == 0)
            league = omp_get_num_teams();
#pragma omp parallel
        if (omp_get_team_num() == 0 && omp_get_thread_num() == 0)
            most = omp_get_num_threads();
    }
    CHECK(league >= 1 && league <= max_teams);
    CHECK(most >= 1 && most <= limit);
#pragma omp target teams distribute parallel for reduction(+: sum) reduction(max: league, most)
    for (int i = 0; i < 1000; i++) {
        sum += i;
        league = omp_get_num_teams() > league ? omp_get_num_teams() : league;
        most = omp_get_num_threads() > most ? omp_get_num_threads() : most;
    }
    CHECK_EQ(sum, 499500);
    CHECK(league <= max_teams && most <= limit);
}

/* Clauses come first, and leave the variables alone. */
static void clauses(void)
{
    int league = 0;
#pragma omp target teams num_teams(7) map(tofrom: league)
    if (omp_get_team_num() == 6)
        league = omp_get_num_teams();
    CHECK_EQ(league, 7);
    later(5, 6);
}

int main(void)
{
    unset();
    set();
    later(5, 6);
    clauses();
#pragma omp target
    set_both(3, 40);
    later(3, 40);
    return RESULT;
}
