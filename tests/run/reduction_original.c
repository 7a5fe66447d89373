/* reduction(original(…)): every thread's own variable gets the result, in the function and outside of it, with any operator; or one that they share */ /* also: -O0, --host-cc=gcc */
#include "check.h"
enum { N = 100, T = 8 };
struct pair { long sum; int max; };
#pragma omp declare reduction(both: struct pair: (omp_out.sum += omp_in.sum, omp_out.max = omp_in.max > omp_out.max ? omp_in.max : omp_out.max)) initializer(omp_priv = { 0, -1000 })
#pragma omp begin declare target
static int orphan(int start, int n)
{
    int x = start;
#pragma omp for reduction(original(private), +: x) nowait
    for (int i = 0; i < n; i++)
        x += i;
    return x;
}
#pragma omp end declare target

static int check(const int *sums, const double *least, const struct pair *pairs, int (*rows)[2])
{
    int bad = 0;
    for (int t = 0; t < T; t++)
        bad += sums[t] != 4950 + t || least[t] != (t ? 1.5 : 0.5) || pairs[t].sum != 4950 + 10 * t ||
               pairs[t].max != 99 || rows[t][0] != 4951 || rows[t][1] != 101;
    return bad;
}

static void work(int *sums, double *least, struct pair *pairs, int (*rows)[2], int *shared)
{
#pragma omp parallel num_threads(T) reduction(original(shared), +: shared[0:1])
    {
        int t = omp_get_thread_num(), row[2] = { 1, 1 };
        double d = t ? 1000 : 0.5;
        struct pair p = { 10 * t, 5 };
        sums[t] = orphan(t, N);
#pragma omp for reduction(original(private), min: d) reduction(default, original(private), both: p) schedule(dynamic)
        for (int i = 0; i < N; i++) {
            d = d < i + 1.5 ? d : i + 1.5;
            p.sum += i;
            p.max = p.max > i ? p.max : i;
        }
#pragma omp sections reduction(original(private), +: row)
        {
            row[0] += 4950;
#pragma omp section
            row[1] += 100;
        }
        least[t] = d, pairs[t] = p;
        rows[t][0] = row[0], rows[t][1] = row[1];
        shared[0]++;
    }
}

int main(void)
{
    int sums[T], rows[T][2], on = 0, shared = 1, total = 0, once = 0;
    double least[T];
    struct pair pairs[T];
    work(sums, least, pairs, rows, &shared);
    CHECK(!check(sums, least, pairs, rows));
    CHECK_EQ(shared, 1 + T);
    memset(sums, 0, sizeof sums), memset(rows, 0, sizeof rows), memset(pairs, 0, sizeof pairs);
#pragma omp target map(from: sums, least, pairs, rows) map(tofrom: on, shared)
    {
        on = ON_DEVICE;
        work(sums, least, pairs, rows, &shared);
    }
    CHECK(on && !check(sums, least, pairs, rows));
    CHECK_EQ(shared, 1 + 2 * T);
#pragma omp target teams num_teams(4) reduction(original(default), +: total) map(tofrom: once)
    {
        int mine[T];
#pragma omp parallel num_threads(T)
        mine[omp_get_thread_num()] = orphan(omp_get_team_num(), 10);
        for (int t = 0; t < T; t++)
            total += mine[t];
    }
    CHECK_EQ(total, T * (4 * 45 + 6));
#pragma omp target parallel for reduction(original(shared), +: once)
    for (int i = 0; i < N; i++)
        once += i;
    CHECK_EQ(once, 4950);
    return RESULT;
}
