/* what programs for GCC carry: its allocators, its pragmas beside directives, its statements in regions, routines of its manual */
#include "check.h"
#include <stdint.h>
#include <string.h>

enum { N = 100 };

/* Memory of the host that the device copies faster, and memory that both reach. */
static void allocators(void)
{
    int *p = omp_alloc(N * sizeof *p, ompx_gnu_pinned_mem_alloc), *q = omp_alloc(N * sizeof *q, ompx_gnu_managed_mem_alloc), sum = 0, on = 0;
    omp_allocator_handle_t own = omp_init_allocator(ompx_gnu_managed_mem_space, 0, NULL);
    int *r = omp_alloc(N * sizeof *r, own);
    CHECK(p && q && own != omp_null_allocator && r);
    for (int i = 0; i < N; i++)
        p[i] = i, q[i] = 2 * i, r[i] = 0;
#pragma omp target teams distribute parallel for map(to: p[0:N]) is_device_ptr(q) map(tofrom: r[0:N], on) reduction(+: sum)
    for (int i = 0; i < N; i++) {
        sum += p[i] + q[i];
        r[i] = i;
        q[i] = 7;
        if (i == 0)
            on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(sum, 3 * N * (N - 1) / 2);
    CHECK(q[N - 1] == 7 && r[N - 1] == N - 1);
    omp_free(r, own);
    omp_destroy_allocator(own);
    omp_free(q, ompx_gnu_managed_mem_alloc);
    omp_free(p, ompx_gnu_pinned_mem_alloc);
    int x = 0, total = 0;
#pragma omp parallel for private(x) reduction(+: total) allocate(ompx_gnu_pinned_mem_alloc: x)
    for (int i = 0; i < N; i++)
        x = i, total += x;
    CHECK_EQ(total, N * (N - 1) / 2);
}

/* GCC's own pragmas in regions, between directives and loops, and around functions. */
#pragma GCC push_options
#pragma GCC optimize("O2")
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-variable"
static int __attribute__((noinline, const)) twice(int x) { return 2 * x; }
#pragma GCC diagnostic pop
#pragma GCC pop_options
static void pragmas(void)
{
    int a[N], sum = 0;
#pragma omp target map(from: a) map(tofrom: sum)
    {
#pragma GCC ivdep
        for (int i = 0; i < N; i++)
            a[i] = twice(i);
#pragma GCC unroll 4
        for (int i = 0; i < N; i++)
            sum += a[i];
#pragma omp parallel for reduction(+: sum) schedule(nonmonotonic: dynamic, 3)
        for (int i = 0; i < N; i++) {
#pragma GCC novector
            for (int k = 0; k < 2; k++)
                sum += k;
        }
    }
    CHECK_EQ(sum, N * (N - 1) + N);
}

typedef int v4si __attribute__((vector_size(16)));
static void statements(void)
{
    v4si v = { 1, 2, 3, 4 };
    int s = 0, zero = 0;
    char name[8] = "";
#pragma omp target map(tofrom: s, name) map(to: v) firstprivate(zero)
    {
        int k = ({ int t = 3; t * 2; });
        __auto_type z = zero ?: 5;
        v4si w = v * 2 - v;
        switch (k + w[3]) {
        case 10 ... 19: s = 100; break;
        default: s = -1;
        }
        void *to = z == 5 ? &&last : &&first;
        goto *to;
    first:
        s = 0;
    last:
        s += z + __builtin_popcount(7);
        __builtin_memcpy(name, __func__, 4);
        name[4] = 0;
        struct { int n; } pair[] = { [0 ... 2] = { 4 } };
        s += pair[1].n;
    }
    CHECK_EQ(s, 100 + 5 + 3 + 4);
    CHECK(!strcmp(name, "stat"));
}

static void dependences(void)
{
    int x = 0, y = 0;
    omp_depend_t d;
#pragma omp target nowait map(x) depend(out: x)
    x = 1;
#pragma omp target nowait map(y) depend(out: y)
    y = 1;
#pragma omp task depend(inout: omp_all_memory) shared(x, y)
    x += y;
#pragma omp taskwait
    CHECK_EQ(x, 2);
#pragma omp target nowait map(x) depend(mutexinoutset: x)
    x++;
#pragma omp target nowait map(x) depend(inoutset: x)
    x++;
#pragma omp taskwait depend(in: x)
    CHECK_EQ(x, 4);
#pragma omp depobj(d) depend(inout: x)
#pragma omp target nowait map(x) depend(depobj: d)
    x++;
#pragma omp taskwait
#pragma omp depobj(d) update(in)
#pragma omp depobj(d) destroy
    CHECK_EQ(x, 5);
}

static void device_memory(void)
{
    int d = omp_get_default_device(), host = omp_get_initial_device(), a[N] = { 0 };
    char *p = omp_target_alloc(N, d), h[N] = "";
    size_t part[] = { 5, 10 }, none[] = { 0, 0 }, all[] = { 10, 10 };
    CHECK(p && omp_target_memset(p, 7, N, d) == p);
    CHECK(!omp_target_memcpy(h, p, N, 0, 0, host, d) && h[0] == 7 && h[N - 1] == 7);
    memset(h, 0, N);
    CHECK(omp_target_memcpy_rect(NULL, NULL, 1, 2, part, none, none, all, all, host, d) >= 3);
    CHECK(!omp_target_memcpy_rect(h, p, 1, 2, part, none, none, all, all, host, d) && h[49] == 7 && !h[50]);
    omp_target_free(p, d);
    CHECK(omp_get_mapped_ptr(a, host) == a);
    void *there = NULL;
#pragma omp target data map(a)
    {
        there = omp_get_mapped_ptr(a + 1, d);
#pragma omp target is_device_ptr(there)
        *(int *)there = 4;
    }
    CHECK(there && a[1] == 4);
    const char *uid = omp_get_uid_from_device(d);
    CHECK(uid && omp_get_device_from_uid(uid) == d);
    CHECK(omp_get_uid_from_device(host) && omp_get_device_from_uid("none of that name") == omp_invalid_device);
}

static void routines(void)
{
    omp_sched_t kind;
    int chunk, n = 0, x = 0;
    omp_set_schedule((omp_sched_t)(omp_sched_monotonic | omp_sched_dynamic), 3);
    omp_get_schedule(&kind, &chunk);
    CHECK((kind & ~omp_sched_monotonic) == omp_sched_dynamic && chunk == 3);
    omp_set_num_teams(3);
    omp_set_teams_thread_limit(8);
    CHECK(omp_get_max_teams() == 3 && omp_get_teams_thread_limit() == 8);
#pragma omp target teams map(from: n) num_teams(2)
    if (omp_get_team_num() == 0)
        n = omp_get_num_teams();
    CHECK_EQ(n, 2);
#pragma omp assume no_openmp no_parallelism holds(n == 2)
    x = n;
    CHECK(omp_pause_resource(omp_pause_soft, omp_get_default_device()) == 0);
#pragma omp target map(tofrom: x)
    x++;
    CHECK_EQ(x, 3);
}

int main(void)
{
    allocators();
    pragmas();
    statements();
    dependences();
    device_memory();
    routines();
    return RESULT;
}
