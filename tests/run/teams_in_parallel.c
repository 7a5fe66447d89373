/* regions with teams on the host, from inside of parallel regions and tasks: leagues and teams as outside of them */ /* also: -O0 -g */
#include "check.h"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 60 };

#pragma omp begin declare target
static int where_am_i(void) /* libomp counts the league's threads on machines with many processors */
{
    return (ON_DEVICE ? omp_get_num_threads() - 1 : 0) + omp_get_thread_num() + omp_get_level() + omp_get_active_level() + omp_in_parallel();
}
#pragma omp end declare target

/* every team runs, with a number of its own */
static int leagues(int device)
{
    int n = 0, seen[2] = { 0 }, sum = 0, level = 0;
#pragma omp target teams num_teams(2) thread_limit(2) if(target: device) map(tofrom: n, seen) reduction(+: sum, level)
    {
        int team = omp_get_team_num();
        if (!team)
            n = omp_get_num_teams();
        sum += team < omp_get_num_teams();
        level += where_am_i();
#pragma omp parallel num_threads(2)
#pragma omp masked
        {
#pragma omp atomic
            seen[team]++;
        }
    }
    int bad = n < 1 || n > 2 || sum != n || level;
    for (int i = 0; i < 2; i++)
        bad += seen[i] != (i < n);
    return bad;
}

static int loops(int device)
{
    int a[N] = { 0 }, b[N] = { 0 }, last = 0, first = 5, own = 9, sum = 0, total[2] = { 1, 1 };
#pragma omp target teams distribute parallel for if(target: device) reduction(+: sum) lastprivate(last) firstprivate(first) map(tofrom: a)
    for (int i = 0; i < N; i++) {
        a[i]++;
        sum += i + first;
        last = i;
    }
#pragma omp target teams distribute dist_schedule(static, 7) num_teams(2) thread_limit(2) private(own) if(target: device) map(tofrom: b) reduction(+: total)
    for (int i = 0; i < 6; i++) {
        own = i;
#pragma omp parallel for num_threads(2) schedule(dynamic)
        for (int k = 0; k < 10; k++)
            b[own * 10 + k]++;
        total[i % 2] += own;
    }
#pragma omp target teams distribute parallel for simd collapse(2) if(target: device) map(tofrom: a) schedule(static, 3)
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 10; k++)
            a[i * 10 + k]++;
#pragma omp target teams loop if(target: device) map(tofrom: b)
    for (int i = 0; i < N; i++)
        b[i]++;
#pragma omp target teams distribute simd if(target: device) map(tofrom: a) num_teams(2)
    for (int i = 0; i < N; i++)
        a[i]++;
    int bad = sum != N * (N - 1) / 2 + N * 5 || last != N - 1 || own != 9 || total[0] != 7 || total[1] != 10;
    for (int i = 0; i < N; i++)
        bad += a[i] != 3 || b[i] != 2;
    return bad;
}

/* arrays with run-time bounds, threads that wait for each other, device(…) */
static int nested(int n, int device)
{
    int v[n], got = 0, count = 0, where = device ? omp_get_default_device() : omp_get_initial_device();
    for (int i = 0; i < n; i++)
        v[i] = i;
#pragma omp target device(where) map(tofrom: v, got, count)
#pragma omp teams num_teams(1)
    {
        int shared = 0;
#pragma omp parallel num_threads(2) reduction(+: got)
        {
#pragma omp atomic
            shared++;
#pragma omp barrier
            got += shared == omp_get_num_threads();
#pragma omp for
            for (int i = 0; i < n; i++)
                v[i]++;
#pragma omp single
#pragma omp critical
            count = omp_get_num_threads();
        }
    }
    int bad = got != count || !count;
    for (int i = 0; i < n; i++)
        bad += v[i] != i + 1;
    return bad;
}

#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)
#define DECLARE(i) int x##i = i, y##i = i, z##i = i;
#define ADD(i) + x##i + y##i + z##i

/* more variables than registers */
static int many(int device)
{
    int sum = 0;
    EACH(DECLARE)
#pragma omp target teams distribute parallel for reduction(+: sum) if(target: device) num_teams(2)
    for (int i = 0; i < N; i++)
        sum += 0 EACH(ADD);
    return sum != N * 3 * 45;
}

#pragma omp begin declare target
static int in_function(int *v)
{
    int n = 0;
#pragma omp teams num_teams(2) reduction(+: n)
    {
        n++;
#pragma omp distribute
        for (int i = 0; i < N; i++)
            v[i]++;
    }
    return n;
}
#pragma omp end declare target

static int orphaned(int device)
{
    int v[N] = { 0 }, n = 0;
#pragma omp target if(target: device) map(tofrom: v, n)
    n = in_function(v);
    int bad = n < 1 || n > 2;
    for (int i = 0; i < N; i++)
        bad += v[i] != 1;
    return bad;
}

static int all(int device)
{
    int level = omp_get_level(), threads = omp_get_num_threads(), me = omp_get_thread_num();
    return leagues(device) + loops(device) + nested(33, device) + many(device) + orphaned(device) +
           (level != omp_get_level()) + (threads != omp_get_num_threads()) + (me != omp_get_thread_num());
}

static int everywhere(int device)
{
    int bad = all(device), runs = 0;
#pragma omp parallel num_threads(4) reduction(+: bad, runs)
    {
        bad += all(device);
        runs++;
#pragma omp barrier
#pragma omp single
#pragma omp task shared(bad)
        {
            int mine = all(device);
#pragma omp atomic
            bad += mine;
        }
    }
    CHECK_EQ(runs, 4);
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+: bad)
#pragma omp parallel num_threads(2) reduction(+: bad)
    bad += all(device);
#pragma omp parallel for num_threads(2) reduction(+: bad)
    for (int i = 0; i < 2; i++)
        bad += leagues(device) + loops(device);
    return bad;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return everywhere(1) != 0;
    CHECK_EQ(everywhere(0), 0);
    CHECK_EQ(everywhere(1), 0);
    int status = -1;
    pid_t child = fork();
    if (!child) {
        setenv("OMP_TARGET_OFFLOAD", "DISABLED", 1);
        setenv("OMPGPU_NODES", "self", 1); /* it is no process of an MPI job */
        execl(argv[0], argv[0], "disabled", (char *)NULL);
        _exit(3);
    }
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    return RESULT;
}
