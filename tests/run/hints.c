/* clauses that are hints, or ask for what holds anyway */
#include "check.h"
#pragma omp requires unified_address atomic_default_mem_order(relaxed) dynamic_allocators

#pragma omp begin declare target
#pragma omp declare simd uniform(by) notinbranch
#pragma omp declare simd uniform(by) inbranch
static int increased(int n, int by)
{
    return n + by;
}
#pragma omp end declare target

int main(void)
{
    int a[64] = { 0 }, n = 0, x = 5, v = 0, on = 0;
    omp_depend_t order;
#pragma omp depobj(order) depend(inout: a)
#pragma omp target map(tofrom: a) depend(depobj: order) nowait
    a[0] = 9;
#pragma omp taskwait
#pragma omp depobj(order) destroy
#pragma omp target teams distribute dist_schedule(static, 8) thread_limit(32) map(tofrom: a) num_teams(2)
    for (int i = 0; i < 64; i++)
        a[i] = i;
#pragma omp target parallel proc_bind(close) num_threads(8) map(tofrom: a, n, x, v, on)
    {
#pragma omp for schedule(auto)
        for (int i = 0; i < 64; i++)
            a[i]++;
        int mine;
#pragma omp atomic capture hint(omp_sync_hint_uncontended) acq_rel
        mine = ++n;
        if (mine > 8)
            v = -1;
#pragma omp barrier
#pragma omp masked
        {
#pragma omp atomic compare capture weak seq_cst fail(relaxed)
            { v = x; if (x == 5) { x = 6; } }
#pragma omp atomic read acquire
            on = n;
#pragma omp atomic write release
            on = ON_DEVICE;
#pragma omp task untied mergeable final(1) affinity(a) priority(3)
            a[0] = 1;
#pragma omp taskloop grainsize(4) untied nogroup
            for (int i = 0; i < 8; i++)
                a[i] += 2;
#pragma omp taskloop num_tasks(2)
            for (int i = 8; i < 16; i++)
                a[i] += 2;
#pragma omp simd nontemporal(a)
            for (int i = 16; i < 64; i++)
                a[i] = increased(a[i], 2);
        }
    }
    CHECK(on);
    CHECK(n == 8 && x == 6 && v == 5);
    for (int i = 0; i < 64; i++)
        CHECK_EQ(a[i], i + 3);
    return RESULT;
}
