/* flags: -fompgpu-mode=generic */ /* also: -O0 -g, -O2 -g */
/* generic mode: regions of every size, serialised ones, nested ones, in loops and in called functions: who runs, and what the routines say */
#include "check.h"
#define NO __attribute__((noinline))

/* Each place of `ask` notes what a thread of a region at level `level` under `outer` threads must see; returns the number of the first wrong
 * answer. */
static int ask(int level, int me, int n, int outer)
{
    int active = outer > 1;
    if (omp_get_level() != level) return 1;
    if (omp_get_thread_num() != me) return 2;
    if (omp_get_num_threads() != n) return 3;
    if (omp_get_active_level() != (level ? active : 0)) return 4;
    if (omp_in_parallel() != (level ? active : 0)) return 5;
    if (omp_get_ancestor_thread_num(0) != 0 || omp_get_team_size(0) != 1) return 6;
    if (omp_get_ancestor_thread_num(level) != me || omp_get_team_size(level) != n) return 7;
    if (omp_get_ancestor_thread_num(level + 1) != -1 || omp_get_team_size(level + 1) != -1) return 8;
    if (omp_get_ancestor_thread_num(-1) != -1 || omp_get_team_size(-1) != -1) return 9;
    if (level >= 1 && omp_get_team_size(1) != outer) return 10;
    return 0;
}

NO static void note(int *bad, int where, int what)
{
    if (what) {
#pragma omp critical
        if (!*bad) *bad = 100 * where + what;
    }
}

/* Nested regions in a region of `outer` threads, of which the caller is `me`; depth counts down. */
NO static void inner(int *bad, int depth, int level, int me, int outer, int *visits)
{
    int top = omp_get_ancestor_thread_num(1), mine = 0;
#pragma omp parallel num_threads(4) shared(mine)
    {
        note(bad, 1, ask(level + 1, 0, 1, outer));
        if (omp_get_ancestor_thread_num(1) != top || top != me) note(bad, 2, 1);
#pragma omp barrier
#pragma omp single
        mine += 1;
        if (depth > 0) inner(bad, depth - 1, level + 1, me, outer, visits);
        note(bad, 3, ask(level + 1, 0, 1, outer));
    }
    note(bad, 4, mine != 1);
#pragma omp atomic
    ++*visits;
}

/* A region of n threads (0: all of `team`); `cond` false: one. */
NO static void region(int *bad, int n, int cond, int team, int *count, int nest)
{
    int want = !cond ? 1 : n && n < team ? n : team, visits = 0, sum = 0, first = -1;
#pragma omp parallel num_threads(n ? n : 10000) if(cond) reduction(+: sum)
    {
        int me = omp_get_thread_num();
        note(bad, 5, ask(1, me, want, want));
#pragma omp atomic
        count[me]++;
        sum += me;
        if (nest && me % 3 != 1) inner(bad, nest - 1, 1, me, want, &visits);
        note(bad, 6, ask(1, me, want, want));
#pragma omp single
        first = me;
#pragma omp barrier
        note(bad, 7, first < 0);
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 10; i++)
            note(bad, 8, ask(1, me, want, want));
    }
    note(bad, 9, sum != want * (want - 1) / 2);
    note(bad, 10, ask(0, 0, 1, 1));
    int nesting = 0;
    for (int i = 0; i < want; i++) nesting += i % 3 != 1;
    note(bad, 11, nest && visits != nesting * nest);
}

int main(void)
{
    enum { TEAM = 70 };
    int bad[3] = { 0 }, on = 0, count[3][TEAM] = { 0 };
#pragma omp target teams num_teams(3) thread_limit(TEAM) map(tofrom: bad, on, count)
    {
        int t = omp_get_team_num(), *mine = count[t], *b = &bad[t], team = omp_get_thread_limit();
        note(b, 20, ask(0, 0, 1, 1));
        note(b, 21, team != TEAM || omp_get_max_threads() != team);
        for (int n = 1; n <= TEAM; n += n < 4 || n > 60 ? 1 : 13)         /* in a loop, sizes up and down */
            region(b, n, 1, team, mine, 0);
        region(b, 33, 1, team, mine, 2);
        region(b, 1, 1, team, mine, 3);
        region(b, 0, 0, team, mine, 2);                                /* if false */
        region(b, 5000, t != 7, team, mine, 1);                        /* more than there are */
        for (int k = 0; k < 3; k++) {
            region(b, 2 + k, k != 1, team, mine, k);
#pragma omp parallel num_threads(3 + k)
            note(b, 22, ask(1, omp_get_thread_num(), 3 + k, 3 + k));
        }
        omp_set_num_threads(5);
        note(b, 23, omp_get_max_threads() != 5);
#pragma omp parallel
        {
            note(b, 24, ask(1, omp_get_thread_num(), 5, 5));
            note(b, 25, omp_get_max_threads() != 1);
        }
#pragma omp parallel num_threads(9)
        note(b, 26, ask(1, omp_get_thread_num(), 9, 9));
        note(b, 27, ask(0, 0, 1, 1));
        on = ON_DEVICE;
    }
    CHECK(on);
    for (int t = 0; t < 3; t++) {
        int want[TEAM] = { 0 };
        CHECK_EQ(bad[t], 0);
        for (int n = 1; n <= TEAM; n += n < 4 || n > 60 ? 1 : 13)
            for (int i = 0; i < n; i++) want[i]++;
        static const int more[] = { 33, 1, 1, TEAM, 2, 1, 4 };
        for (int k = 0; k < COUNT(more); k++)
            for (int i = 0; i < more[k]; i++) want[i]++;
        for (int i = 0; i < TEAM; i++)
            CHECK_EQ(count[t][i], want[i]);
    }
    return RESULT;
}
