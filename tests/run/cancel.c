/* cancel and cancellation point: for, sections, parallel, taskgroup; collapsed, dynamic, orphaned, in the league; one thread and many */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>
#include "check.h"
#define N 2000

static void orphaned(int n, int last, int *sum)
{
#pragma omp for
    for (int i = 0; i < n; i++) {
#pragma omp cancel for if(i == last)
#pragma omp atomic
        ++*sum;
    }
}

static void one_thread(void)
{
    int a = 0, b = 0, c = 0, d = 0, on = 0, is = 0;
#pragma omp target map(tofrom: a, b, c, d, on, is)
    {
        on = ON_DEVICE;
        is = omp_get_cancellation();
#pragma omp parallel for num_threads(1) reduction(+: a)
        for (int i = 0; i < N; i++) {
            a++;
            if (i == 9) {
#pragma omp cancel for
            }
        }
#pragma omp parallel num_threads(1)
        {
#pragma omp sections lastprivate(b)
            {
                b = 1;
#pragma omp section
                {
                    b = 2;
#pragma omp cancel sections if(b == 2)
                    b = 3;
                }
            }
        }
#pragma omp parallel num_threads(1) reduction(+: c)
        {
            while (c < 100) {
                c++;
#pragma omp cancel parallel if(c == 7)
#pragma omp cancellation point parallel
            }
            c = 50;
        }
        orphaned(N, 5, &d);
    }
    CHECK(on && is);
    CHECK(a == 10 && c == 7 && d == 5);
    CHECK(b < 3);
}

static void many_threads(void)
{
    int found = 0, n = 0, all = 0, again = 0, sums[3] = { 0 };
#pragma omp target parallel num_threads(96) map(tofrom: found, n, all, again, sums) reduction(+: all)
    {
#pragma omp for collapse(2) reduction(+: n) schedule(dynamic, 8)
        for (int i = 0; i < 20; i++)
            for (int j = 0; j < N / 20; j++) {
                n++;
                if (i == 1 && j == 3) {
#pragma omp atomic write
                    found = 1;
#pragma omp cancel for
                }
#pragma omp cancellation point for
            }
        all = found;
        for (int k = 0; k < 3; k++) /* the next one is not cancelled */
            orphaned(192, k == 1 ? 100 : -1, &sums[k]);
#pragma omp single
        again = n;
    }
    CHECK(found && all == 96 && sums[0] == 192 && sums[1] < 192 && sums[2] == 192);
    CHECK(again > 0 && again <= N && n == again);
    int left = 0;
#pragma omp target parallel num_threads(64) map(tofrom: left)
    {
        int k = 0;
        for (; k < 1 << 24; k++) {
#pragma omp cancel parallel if(omp_get_thread_num() == 40 || k == 1000)
        }
#pragma omp atomic
        left++;
    }
    CHECK_EQ(left, 0);
    int count = 0, each[4] = { 0 };
#pragma omp target teams distribute parallel for num_teams(4) thread_limit(32) dist_schedule(static) map(tofrom: count, each)
    for (int i = 0; i < 4 * 64; i++) {
#pragma omp atomic
        each[omp_get_team_num()]++;
#pragma omp cancel for if(omp_get_team_num() == 2)
#pragma omp atomic
        count++;
    }
    CHECK(count == 3 * 64 && each[0] == 64 && each[2] >= 1 && each[2] <= 32);
}

/* The first leaf found ends the search: none of the nodes after it is looked at. */
static void search(int node, int wanted, int *seen, int *found)
{
    if (node >= 64) return;
#pragma omp task if(0)
    {
        ++*seen;
        if (node == wanted) {
            *found = node;
#pragma omp cancel taskgroup
            *found = -1;
        }
        search(2 * node, wanted, seen, found);
        search(2 * node + 1, wanted, seen, found);
#pragma omp cancellation point taskgroup
        ++*found;
    }
}

static void taskgroups(void)
{
    int before = 0, late = 0, inner = 0, outer = 0, seen = 0, found = 0, n = 0, more = 0, r[33] = { 0 };
#pragma omp target map(tofrom: before, late, inner, outer, seen, found, n, more, r)
    {
#pragma omp taskgroup
        {
#pragma omp taskgroup
            {
#pragma omp task if(0) shared(before)
                {
                    before = 1;
#pragma omp cancel taskgroup if(before)
                    before = 2;
                }
#pragma omp task shared(late)
                late = 1;
#pragma omp taskloop shared(late)
                for (int i = 0; i < 4; i++) late = 2;
                inner = 1;
            }
#pragma omp task shared(outer)
            outer = 1;
        }
#pragma omp taskgroup
        search(1, 10, &seen, &found);
#pragma omp taskloop shared(n) num_tasks(1)
        for (int i = 0; i < 8; i++) {
            n++;
#pragma omp cancel taskgroup if(i == 2)
            n += 10;
        }
#pragma omp task shared(more)
        more = 1;
#pragma omp parallel num_threads(33)
        {
            int t = omp_get_thread_num();
#pragma omp taskgroup
            for (int i = 0; i < 4; i++) {
#pragma omp task if(0) shared(r)
                {
                    r[t] += 1;
#pragma omp cancel taskgroup if(i == t % 4)
                    r[t] += 10;
                }
            }
        }
    }
    CHECK(before == 1 && late == 0 && inner == 1 && outer == 1);
    CHECK(seen == 19 && found == 10);
    CHECK(n == 23 && more == 1);
    for (int t = 0; t < 33; t++)
        CHECK_EQ(r[t], 1 + 11 * (t % 4));
    int task = 0;
#pragma omp target map(tofrom: task)
#pragma omp parallel masked taskloop num_threads(7) shared(task) num_tasks(1)
    for (int i = 0; i < 3; i++) task += omp_in_explicit_task();
    CHECK_EQ(task, 3);
    int chunks = 0;
#pragma omp target map(tofrom: chunks)
#pragma omp taskloop shared(chunks) num_tasks(8)
    for (int i = 0; i < 80; i++) {
#pragma omp atomic
        chunks++;
#pragma omp cancel taskgroup
    }
    CHECK(chunks > 0 && chunks <= 8);
}

int main(int argc, char **argv)
{
    if (argc && !getenv("OMP_CANCELLATION")) {
        setenv("OMP_CANCELLATION", "true", 1);
        execv("/proc/self/exe", argv);
        return 1;
    }
    one_thread();
    many_threads();
    taskgroups();
    return RESULT;
}
