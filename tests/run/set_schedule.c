/* omp_set_schedule in regions: what omp_get_schedule says, and who runs which iteration of schedule(runtime) */
#include "check.h"

enum { N = 100, THREADS = 4 };
static int who[N], hits[N];

static int is_static(int chunk)
{
    for (int i = 0; i < N; i++)
        if (who[i] != i / chunk % THREADS || hits[i] != 1)
            return 0;
    return 1;
}

int main(void)
{
    int on = 0, bad = 0, kind = 0, chunk = 0, total = 0;
    omp_sched_t k;
#pragma omp target map(tofrom: who, hits) map(from: on, kind, chunk)
    {
        on = ON_DEVICE;
        omp_get_schedule(&k, &chunk);
        omp_set_schedule(omp_sched_static, 3);
#pragma omp parallel for num_threads(THREADS) schedule(runtime)
        for (int i = 0; i < N; i++) {
            who[i] = omp_get_thread_num();
            hits[i]++;
        }
        omp_get_schedule(&k, &chunk);
        kind = k;
    }
    CHECK(on && kind == omp_sched_static && chunk == 3 && is_static(3));
    for (int i = 0; i < N; i++)
        hits[i] = 0;
#pragma omp target parallel num_threads(THREADS) map(tofrom: who, hits) reduction(+: bad)
    {
        omp_sched_t mine;
        int size;
        omp_set_schedule(omp_sched_static, 7);
#pragma omp for schedule(runtime)
        for (int i = 0; i < N; i++) {
            who[i] = omp_get_thread_num();
            hits[i]++;
        }
        omp_set_schedule(omp_sched_guided, 2);
        omp_get_schedule(&mine, &size);
        bad += mine != omp_sched_guided || size != 2;
    }
    CHECK(bad == 0 && is_static(7));
    for (int s = 1; s <= 4; s++) {
        total = 0;
#pragma omp target teams num_teams(2) thread_limit(THREADS) map(tofrom: total)
        {
            omp_set_schedule((omp_sched_t)s, s == 4 ? 0 : s);
#pragma omp distribute parallel for schedule(runtime) reduction(+: total)
            for (int i = 0; i < N; i++)
                total += i;
        }
        bad += total != N * (N - 1) / 2;
    }
    CHECK_EQ(bad, 0);
    /* what a task or a thread in a region sets is its own */
    int kept = 0;
#pragma omp target map(tofrom: kept)
    {
        omp_sched_t mine;
        int size;
        omp_set_schedule(omp_sched_static, 5);
#pragma omp task
        omp_set_schedule(omp_sched_guided, 2);
#pragma omp taskwait
#pragma omp parallel num_threads(THREADS) reduction(+: kept) private(mine, size)
        {
            omp_get_schedule(&mine, &size);
            kept += mine == omp_sched_static && size == 5;
            omp_set_schedule(omp_sched_dynamic, 1);
        }
        omp_get_schedule(&mine, &size);
        kept += 10 * (mine == omp_sched_static && size == 5);
    }
    CHECK_EQ(kept, 10 + THREADS);
    int sizes[4];
#pragma omp target map(from: sizes) thread_limit(64)
    {
        omp_set_num_threads(5);
#pragma omp task shared(sizes)
        {
            omp_set_num_threads(3);
#pragma omp parallel
            if (omp_get_thread_num() == 0)
                sizes[0] = omp_get_num_threads();
        }
#pragma omp taskwait
        sizes[1] = omp_get_max_threads();
#pragma omp parallel
        {
            omp_set_num_threads(2);
            if (omp_get_thread_num() == 0)
                sizes[2] = omp_get_num_threads();
        }
        sizes[3] = omp_get_max_threads();
    }
    CHECK(sizes[0] <= 3 && sizes[1] == 5 && sizes[2] == 5 && sizes[3] == 5);
    return RESULT;
}
