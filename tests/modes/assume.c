/* promises: what cannot be analysed runs on thread 0, or on all threads, in an SPMD kernel */
#include "check.h"
static int one(int x) { return x + 1; }
static int two(int x) { return x + 2; }
static int (*const table[2])(int) = { one, two };
static int calls;
#pragma omp declare target enter(calls)
#pragma omp begin assumes no_parallelism
static int through(int i, int x) { calls++; return table[i & 1](x); }        /* holds a call through a pointer */
#pragma omp end assumes
#pragma omp begin assumes ext_spmd_amenable no_parallelism
static void fill(int *p, int n, int (*f)(int)) { for (int i = 0; i < n; i++) p[i] = f(i); }    /* the same stores by each thread */
#pragma omp end assumes
static __attribute__((noinline)) int deep(int n, int (*f)(int)) { return n > 1 ? f(deep(n - 1, f)) : 100 * omp_get_num_threads() + 10 * omp_get_level(); }
#pragma omp begin assumes absent(parallel) no_openmp_routines
static int promised(int i) { return table[(i + 1) & 1](i); }
#pragma omp end assumes
int main(void)
{
    int out[80] = { 0 }, got[6] = { 0 }, n = 3;
#pragma omp target map(tofrom: out, got) map(to: n)
    {
        int local[8];
        calls = 0;
        got[0] = through(n, 10);
        fill(local, 8, table[n & 1]);
#pragma omp assume no_parallelism holds(n > 0)
        {
            got[1] = table[n & 1](20);
            got[2] = deep(n, table[0]);               /* asks, and finds one thread at level 0 */
        }
        got[3] = promised(n);
#pragma omp parallel for
        for (int i = 0; i < 80; i++) out[i] += i;
        got[4] = calls;
        fill(out, 8, table[0]);
#pragma omp parallel for num_threads(7)
        for (int i = 0; i < 80; i++) out[i] += local[i & 7];
        got[5] = out[1];
    }
    CHECK(got[0] == 12 && got[1] == 22 && got[2] == 102 && got[3] == 4 && got[4] == 1 && got[5] == 5);
    for (int i = 0; i < 80; i++)
        CHECK_EQ(out[i], (i < 8 ? i + 1 : i) + (i & 7) + 2);
    return RESULT;
}
