/* dynamic and runtime schedules: loops in the bodies of others, of sequential code and of a region's threads */
/* also: -O0 */
#include "check.h"
enum { N = 10, M = 64 };

#pragma omp begin declare target
static void sequential(int *c, int *turns)
{
#pragma omp for schedule(dynamic)
    for (int i = 0; i < N; i++) {
        if (++*turns > 5 * N) __builtin_trap(); /* it would never end */
#pragma omp parallel for schedule(dynamic, 7)
        for (int j = 0; j < 100; j++) {
#pragma omp atomic
            c[i]++;
        }
    }
}
static void sequential_runtime(int *c, int *turns)
{
#pragma omp for schedule(runtime)
    for (int i = 0; i < N; i++) {
        if (++*turns > 5 * N) __builtin_trap();
#pragma omp parallel for schedule(runtime)
        for (int j = 0; j < 100; j++) {
#pragma omp atomic
            c[i]++;
        }
    }
}
#pragma omp end declare target

static void threads(omp_sched_t kind)
{
    int b[M] = { 0 }, c[M] = { 0 };
#pragma omp target map(tofrom: b, c)
    {
        omp_set_schedule(kind, 1);
#pragma omp parallel for schedule(runtime) num_threads(32)
        for (int i = 0; i < M; i++) {
            int s = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : s)
            for (int j = 0; j < 10; j++) s += j;
#pragma omp parallel for schedule(runtime) reduction(+ : s)
            for (int j = 0; j < 10; j++) s += j;
            c[i] += s;
            if (++b[i] > 3) __builtin_trap();
        }
    }
    for (int i = 0; i < M; i++) CHECK(b[i] == 1 && c[i] == 90);
}

int main(void)
{
    int c[N] = { 0 }, turns = 0;
#pragma omp target map(tofrom: c, turns)
    sequential(c, &turns);
    for (int i = 0; i < N; i++) CHECK_EQ(c[i], 100);
    CHECK_EQ(turns, N);
    turns = 0;
#pragma omp target map(tofrom: c, turns)
    {
        omp_set_schedule(omp_sched_static, 3);
        sequential_runtime(c, &turns);
    }
    for (int i = 0; i < N; i++) CHECK_EQ(c[i], 200);
    CHECK_EQ(turns, N);
    threads(omp_sched_static);
    threads(omp_sched_dynamic);
    threads(omp_sched_guided);
    return RESULT;
}
