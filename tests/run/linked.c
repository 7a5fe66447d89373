/* with: parts/linked.c */
/* Functions and variables of another file: parallel regions and synchronisation in it, called from regions of every mode. */
#include "parts/linked.h"
#include "check.h"

static struct pair host_sum(const struct pair *p, int n)
{
    struct pair s = { 0, 0 };
    for (int i = 0; i < n; i++) s = add(s, p[i]);
    return s;
}

static void spmd(void)
{
    int v[300], s = 0;
    #pragma omp target teams distribute parallel for map(from: v) reduction(+: s)
    for (int i = 0; i < 300; i++) { v[i] = collatz(i + 1) + primes[i % 8]; s += v[i]; }
    int want = 0;
    for (int i = 0; i < 300; i++) { CHECK_EQ(v[i], collatz(i + 1) + primes[i % 8]); want += v[i]; }
    CHECK_EQ(s, want);
}

static void generic(void)
{
    double m[6][7], r[6];
    int n = 6, k = 7, hist[8] = { 0 };
    for (int i = 0; i < n; i++) for (int j = 0; j < k; j++) m[i][j] = i * 10 + j;
    #pragma omp target map(to: m) map(from: r)
    rows(n, k, m, r);
    for (int i = 0; i < n; i++) CHECK_EQ(r[i], 70 * i + 21);
    #pragma omp target map(tofrom: hist)
    histogram(hist, 1000);
    for (int i = 0; i < 8; i++) CHECK_EQ(hist[i], 125);
}

static void locals(void)                            /* a local of the region goes to the other file's threads */
{
    struct pair out[4];
    #pragma omp target teams distribute num_teams(4) map(from: out)
    for (int t = 0; t < 4; t++) {
        struct pair mine[32], total = { 0, 0 };
        pairs(mine, 32, t);
        sum_pairs(mine, 32, &total);
        out[t] = total;
    }
    for (int t = 0; t < 4; t++) {
        struct pair mine[32];
        pairs(mine, 32, t);
        struct pair want = host_sum(mine, 32);
        CHECK_EQ(out[t].a, want.a);
        CHECK_EQ((int)out[t].b, (int)want.b);
    }
}

static void pointers(void)
{
    int r[3], x;
    #pragma omp target map(from: r)
    for (int i = 0; i < 3; i++) r[i] = operations[i](i + 2, 3);
    CHECK_EQ(r[0], 5);
    CHECK_EQ(r[1], 9);
    CHECK_EQ(r[2], 64);
    #pragma omp target map(from: x)
    { int (*f)(int) = collatz; x = apply(f, 27); }
    CHECK_EQ(x, 111);
}

static void barriers(void)
{
    int bad = 0, shared[64];
    #pragma omp target teams num_teams(3) map(tofrom: bad, shared)
    #pragma omp parallel num_threads(64)
    exchange(shared, 64, &bad);
    CHECK_EQ(bad, 0);
}

static void variables(void)
{
    int seen = 0;
    for (int i = 0; i < 100; i++) big[i] = i;
    calls = 10;
    #pragma omp target update to(big, calls)
    #pragma omp target parallel for
    for (int i = 0; i < 100; i++) count_call(i);
    #pragma omp target map(from: seen)
    seen = calls;
    CHECK_EQ(seen, 110);
    #pragma omp target update from(big, calls)
    CHECK_EQ(calls, 110);
    for (int i = 0; i < 100; i++) CHECK_EQ(big[i], 2 * i);
    CHECK_EQ(calls_in_region(), 111);
}

/* Regions of this file get the other one's link variable as an argument, its functions by their own pointer. */
static void link_variable(void)
{
    int sum = 0;
    row[0] = 5;
    #pragma omp target map(tofrom: row, sum)
    {
        row[1] += row[0];
        sum = sum_row();
    }
    CHECK_EQ(row[1], 7);
    CHECK_EQ(sum, 19);
    #pragma omp target data map(tofrom: row)
    {
        #pragma omp target
        row[3] = 40;
        #pragma omp target map(from: sum)
        sum = sum_row();
    }
    CHECK_EQ(row[3], 40);
    CHECK_EQ(sum, 55);
}

/* No clause names it: as if map(tofrom) did. */
static void implicit_link_variable(void)
{
    CHECK_EQ(count_up(), 123);
    #pragma omp target
    tally += 5;
    CHECK_EQ(tally, 128);
    #pragma omp target enter data map(to: tally)
    CHECK_EQ(count_up(), 128);
    #pragma omp target
    tally += 5;
    #pragma omp target exit data map(from: tally)
    CHECK_EQ(tally, 136);
}

static void schedule(void)                          /* followed by a loop of another file */
{
    int who[100];
    #pragma omp target parallel num_threads(4) map(from: who)
    {
        omp_set_schedule(omp_sched_static, 7);
        share_out(who, 100);
    }
    for (int i = 0; i < 100; i++) CHECK_EQ(who[i], i / 7 % 4);
}

int main(void)
{
    schedule();
    link_variable();
    implicit_link_variable();
    spmd();
    generic();
    locals();
    pointers();
    barriers();
    variables();
    return RESULT;
}
