/* target regions on the host: an initial thread and internal control variables of their own */
#include "check.h"

static int in_region(int *v)
{
    int bad = omp_get_num_threads() != 1 || omp_in_parallel() || omp_get_level() || omp_get_active_level() || omp_get_thread_num();
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    bad += kind == omp_sched_guided || omp_get_max_threads() == 3;
    omp_set_num_threads(2);
    omp_set_schedule(omp_sched_dynamic, 5);
    bad += omp_get_max_threads() != 2;
#pragma omp for
    for (int i = 0; i < 100; i++)
        v[i]++;
#pragma omp barrier
    return bad;
}

/* called from parallel regions */
static int called(int *v, int no)
{
    int bad = 0;
#pragma omp target if(no) map(tofrom: bad, v[0:100])
    {
        bad += omp_get_num_threads() != 1 || omp_in_parallel() || omp_get_level() || omp_get_thread_num();
        bad += omp_get_ancestor_thread_num(0) != 0 || omp_get_ancestor_thread_num(1) != -1 || omp_get_team_size(0) != 1 || omp_get_team_size(1) != -1;
#pragma omp for
        for (int i = 0; i < 100; i++)
            v[i]++;
#pragma omp barrier
#pragma omp single
        v[0]++;
    }
#pragma omp target parallel for if(target: no) reduction(+: bad) num_threads(2) map(tofrom: v[0:100])
    for (int i = 0; i < 100; i++) {
        v[i]++;
        bad += omp_get_level() != 1;
    }
    return bad;
}

/* arrays and pointers with run-time bounds that are private there */
static int run_time_bounds(int n, int no)
{
    int a[n], (*q)[n] = &a, r = 0, once = 0;
    a[1] = 7;
#pragma omp target if(no) map(tofrom: r, once)
    {
        once += omp_get_num_threads() == 1;
#pragma omp parallel num_threads(2) private(a)
        {
            a[1] = 1;
#pragma omp single
            r += a[1] + sizeof a;
        }
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(1) private(a, q)
#pragma omp critical
        {
            a[1] = 4;
            q = &a;
            r += (*q)[1] % 4;
            once += sizeof *q == sizeof a;
        }
    }
#pragma omp target parallel for if(target: no) map(tofrom: r) reduction(+: r) firstprivate(a, q) num_threads(2)
    for (int i = 0; i < 10; i++)
        r += a[1] + (sizeof *q == sizeof a);
    return r - (1 + n * (int)sizeof(int)) - 80 + (once < 2);
}

int main(void)
{
    int total = 0;
    int bad = 0, chunk = 0, v[100] = { 0 }, n = 0;
    omp_sched_t kind;
    omp_set_num_threads(3);
    omp_set_schedule(omp_sched_guided, 7);
#pragma omp target if(0) map(tofrom: bad, v)
    bad += in_region(v);
    omp_get_schedule(&kind, &chunk);
    CHECK(omp_get_max_threads() == 3 && kind == omp_sched_guided && chunk == 7);
    CHECK(bad == 0 && v[99] == 1);
#pragma omp target parallel if(target: n) num_threads(2) reduction(+: bad)
    bad += omp_get_thread_num() == 0 && omp_get_level() != 1;
    CHECK_EQ(bad, 0);
#pragma omp parallel num_threads(4) default(none) shared(bad, v, n)
#pragma omp single
    {
#pragma omp target if(0) map(tofrom: bad, v)
        bad += in_region(v);
#pragma omp target parallel for if(target: 0) map(tofrom: v) num_threads(2) reduction(+: n)
        for (int i = 0; i < 100; i++) {
            v[i]++;
            n++;
        }
        bad += omp_get_num_threads() != 4 || !omp_in_parallel() || omp_get_level() != 1;
    }
    CHECK(bad == 0 && n == 100);
    for (int i = 0; i < 100; i++)
        CHECK_EQ(v[i], 3);
#pragma omp parallel num_threads(4) reduction(+: bad, total)
    {
        int own[100] = { 0 };
        bad += called(own, 0) + run_time_bounds(5, 0) + (omp_get_num_threads() != 4 || omp_get_level() != 1);
        for (int i = 0; i < 100; i++)
            total += own[i];
    }
    CHECK(bad == 0 && total == 4 * 201);
    return RESULT;
}
