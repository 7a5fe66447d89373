/* The other half of ../linked.c. */
#include "linked.h"
#include <omp.h>

#pragma omp begin declare target
const int primes[8] = { 2, 3, 5, 7, 11, 13, 17, 19 };
int big[100], calls = 3;
static int plus(int a, int b) { return a + b; }
static int times(int a, int b) { return a * b; }
static int power(int a, int b) { return b ? a * power(a, b - 1) : 1; }
operation operations[] = { plus, times, power };
#pragma omp end declare target

int collatz(int n)
{
    int steps = 0;
    for (; n != 1; steps++) n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}

int apply(int (*f)(int), int x) { return f(x); }

struct pair add(struct pair x, struct pair y) { return (struct pair){ x.a + y.a, x.b + y.b }; }

void rows(int n, int k, double m[n][k], double *r)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0;
        #pragma omp simd reduction(+: s)
        for (int j = 0; j < k; j++) s += m[i][j];
        r[i] = s;
    }
}

void histogram(int *hist, int n)
{
    #pragma omp parallel for schedule(dynamic, 10)
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        hist[i % 8]++;
    }
}

void pairs(struct pair *p, int n, int seed)
{
    #pragma omp parallel for firstprivate(seed)
    for (int i = 0; i < n; i++) p[i] = (struct pair){ i * seed, i + seed };
}

void sum_pairs(const struct pair *p, int n, struct pair *out)
{
    #pragma omp declare reduction(pairs: struct pair: omp_out = add(omp_out, omp_in)) initializer(omp_priv = (struct pair){ 0, 0 })
    struct pair s = { 0, 0 };
    #pragma omp parallel for reduction(pairs: s)
    for (int i = 0; i < n; i++) s = add(s, p[i]);
    *out = s;
}

/* Called by all threads of a team. */
void exchange(int *shared, int n, int *bad)
{
    int me = omp_get_thread_num(), threads = omp_get_num_threads();
    if (threads != n || omp_get_num_teams() > 3) {
        #pragma omp atomic
        *bad += 1;
    }
    for (int round = 0; round < 3; round++) {
        if (omp_get_team_num() == 0) shared[me] = me + round;
        #pragma omp barrier
        if (omp_get_team_num() == 0 && shared[(me + 1) % n] != (me + 1) % n + round) {
            #pragma omp atomic
            *bad += 1;
        }
        #pragma omp barrier
    }
}

void count_call(int i)
{
    big[i] *= 2;
    #pragma omp critical(calls)
    calls++;
}

void share_out(int *who, int n)
{
    #pragma omp for schedule(runtime)
    for (int i = 0; i < n; i++) who[i] = omp_get_thread_num();
}

int calls_in_region(void)
{
    int r;
    #pragma omp target map(from: r)
    r = ++calls;
    return r;
}

/* on the device only while it is mapped */
int row[4] = { 1, 2, 3, 4 }, tally = 120;
int count_up(void)
{
#pragma omp target
    tally += 3;
    return tally;
}
int sum_row(void) { return row[0] + row[1] + row[2] + row[3]; }
