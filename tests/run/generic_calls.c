/* parallel regions in called functions: direct, nested calls, recursion, from inside a parallel region (serialised) */ /* also: -O0 -g -fompgpu-mode=generic, -O2 -g */
#include "check.h"

static int add(const int *v, int n)
{
    int s = 0;
#pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++)
        s += v[i];
    return s;
}
static int halves(const int *v, int n)       /* recursion, each leaf a parallel region */
{
    return n <= 10 ? add(v, n) : halves(v, n / 2) + halves(v + n / 2, n - n / 2);
}
static void mark(int *v, int n)              /* orphaned worksharing: binds to the caller's parallel region */
{
#pragma omp for
    for (int i = 0; i < n; i++)
        v[i] += 1;
}
static int id_and_barrier(void)
{
#pragma omp barrier
    return omp_get_thread_num();
}

int main(void)
{
    enum { N = 70 };
    int v[N], r[4], on = 0, ids[64] = { 0 }, inner[N];

    for (int i = 0; i < N; i++)
        v[i] = i * i;
#pragma omp target map(tofrom: v, on, ids) map(from: r, inner)
    {
        on = ON_DEVICE;
        r[0] = add(v, N);
        r[1] = halves(v, N);
#pragma omp parallel for
        for (int i = 0; i < N; i++)
            inner[i] = add(v, i);            /* nested: one thread */
#pragma omp parallel num_threads(40)
        {
            mark(v, N);
            ids[id_and_barrier()] = 1 + v[N - 1];
        }
        mark(v, N);                          /* outside of parallel: the one thread does all */
    }
    int total = 0;
    for (int i = 0; i < N; i++) {
        CHECK_EQ(inner[i], total);
        total += i * i;
        CHECK_EQ(v[i], i * i + 2);
    }
    CHECK(on);
    CHECK(r[0] == total && r[1] == total);
    CHECK_EQ(ids[0], (N - 1) * (N - 1) + 2);
#pragma omp target teams num_teams(2) map(tofrom: r) 
    r[omp_get_team_num()] = halves(v, N);
    CHECK_EQ(r[0], total + 2 * N);
    return RESULT;
}
