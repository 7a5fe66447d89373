/* declare variant and metadirective: the device's choice in regions and the functions they call, the host's elsewhere */
#include "check.h"
#pragma clang diagnostic ignored "-Wsource-uses-openmp" /* a base that calls itself */

static int where(void) { return 1; }

int place(void);
int by_construct(void);
int where_gpu(void);
int where_gpu(void) { return 2; }
int on_host_only(void);
int on_host_only(void) { return 3; }
#pragma omp declare variant(where_gpu) match(device={kind(nohost)})
#pragma omp declare variant(on_host_only) match(device={kind(cpu, host)})
int place(void) { return 1; }

int where_teams(void);
int where_teams(void) { return 20; }
int in_parallel(void);
int in_parallel(void) { return 30; }
#pragma omp declare variant(where_teams) match(construct={target, teams})
#pragma omp declare variant(in_parallel) match(construct={parallel})
int by_construct(void) { return 10; }

int scored(void);
int scored_low(void);
int scored_low(void) { return 5; }
int scored_high(void);
int scored_high(void) { return 6; }
#pragma omp declare variant(scored_low) match(device={arch(nvptx, nvptx64)}, implementation={extension(match_any)})
#pragma omp declare variant(scored_high) match(user={condition(1 < 2 && !0)}, implementation={vendor(score(1000): llvm)})
int scored(void) { return 4; }

int newest(void);
int newest(void) { return 8; }
int old(void);
int old(void) { return 9; }
#pragma omp declare variant(newest) match(device={isa(sm_999), arch(nvptx64)})
#pragma omp declare variant(old) match(device={arch(nvptx64), isa("sm_70")})
int by_isa(void) { return 7; }

static int through_function(void) { return place() + 100 * by_construct() + where(); }

static void functions(void)
{
    int a = 0, b = 0, c = 0, d = 0, s = 0, isa = 0;
#pragma omp target map(from: a, s, d, isa)
    {
        isa = by_isa();
        a = place();
        s = scored();
        d = through_function();
    }
    CHECK(isa == 9 && by_isa() == 7);
    CHECK_EQ(a, 2);
    CHECK_EQ(s, 6);
    CHECK_EQ(d, 2 + 1000 + 1);
#pragma omp target teams num_teams(1) map(from: b)
    b = by_construct();
    CHECK_EQ(b, 20);
#pragma omp target map(from: c)
    {
#pragma omp parallel num_threads(2)
        {
#pragma omp master
            c = by_construct();
        }
    }
    CHECK_EQ(c, 30);
    CHECK_EQ(place(), 3);
    int (*address)(void) = place;
    CHECK_EQ(address(), 1);
}

static int threads_of(int n)
{
    int most = 0;
#pragma omp metadirective when(device={kind(host)}: parallel num_threads(2) reduction(max: most)) \
                          when(device={arch("nvptx64")}: parallel num_threads(3) reduction(max: most))
    most = omp_get_num_threads();
    return most * n;
}

enum { N = 100, WIDE = N > 50 };
static void metadirectives(void)
{
    int a[N] = { 0 }, teams = 0, threads = 0, alone = 0, on = 0, host = 0;
#pragma omp target map(tofrom: a, teams)
    {
#pragma omp metadirective when(device={kind(gpu)}: teams distribute parallel for num_teams(4)) otherwise(parallel for)
        for (int i = 0; i < N; i++) {
            a[i] += i;
            if (i == 0)
                teams = omp_get_num_teams();
        }
    }
    for (int i = 0; i < N; i++)
        CHECK_EQ(a[i], i);
    CHECK_EQ(teams, 4);
#pragma omp target map(from: threads, alone)
    {
        threads = threads_of(10);
#pragma omp metadirective when(device={kind(nohost)}: nothing) otherwise(parallel num_threads(4))
        alone = omp_get_num_threads();
    }
    CHECK_EQ(threads, 30);
    CHECK_EQ(alone, 1);
    CHECK_EQ(threads_of(10), 20);

    int limit = 7;
#pragma omp metadirective when(user={condition(!WIDE)}: parallel for) when(user={condition(WIDE)}, implementation={vendor(score(3): llvm)}: \
        target teams distribute parallel for map(tofrom: a, on) firstprivate(limit)) otherwise(nothing)
    for (int i = 0; i < N; i++) {
        a[i] += limit;
        if (i == 5)
            on = ON_DEVICE;
    }
    CHECK(on);
    for (int i = 0; i < N; i++)
        CHECK_EQ(a[i], i + 7);
#pragma omp metadirective when(device={kind(nohost)}: target map(tofrom: host)) otherwise(parallel num_threads(1))
    host = 1 + ON_DEVICE;
    CHECK_EQ(host, 1);
}

int begun(void);
#pragma omp begin declare variant match(device={kind(host)})
int begun(void)
{
    int n = 0;
#pragma omp parallel for reduction(+: n)
    for (int i = 0; i < 5; i++) n++;
    return n;
}
#pragma omp end declare variant
int begun(void) { return 6; }

/* after the definition, and calls of it: those before are the base's, as are those in a base that follows its directive;
 * in a variant of a block the name is the variant's */
static int late(int n) { return n; }
static int called_before(void)
{
    int r = 0;
#pragma omp target map(from: r)
    r = ON_DEVICE + 10 * late(1);
    return r;
}
int announced(int);
#pragma omp begin declare variant match(implementation={vendor(llvm)})
static int late(int n) { return n + 3; }
int announced(int n) { return n ? announced(n - 1) + 100 : 7; }
#pragma omp end declare variant
int announced(int n) { return n; }
int fifty(int);
int fifty(int n) { return n + 50; }
#pragma omp declare variant(fifty) match(construct={parallel})
int directed(int n)
{
    int r = 5;
#pragma omp parallel num_threads(1) if(n)
    r = n ? directed(n - 1) + 1 : 5;
    return r;
}
static void order_of_declarations(void)
{
    int a = 0, b = 0, c = 0;
#pragma omp target map(from: a, b, c)
    a = late(1), b = announced(3), c = directed(3);
    CHECK_EQ(called_before(), 11);
    CHECK_EQ(a, 4);
    CHECK_EQ(b, 307);
    CHECK_EQ(c, 8);
    CHECK_EQ(late(1), a);
    CHECK_EQ(announced(3), b);
    CHECK_EQ(directed(3), c);
}

/* blocks inside of others: a function is a variant where the selectors of all of them hold */
static int in_two(void) { return 1; }
static int in_three(void) { return 1; }
static int beside(void) { return 1; }
static int after(void) { return 1; }
static int in_same_set(void) { return 1; }
#pragma omp begin declare variant match(construct={parallel})
#pragma omp begin declare variant match(construct={target}, implementation={vendor(llvm)})
static int in_two(void) { return 2; }
#pragma omp begin declare variant match(device={kind(nohost)})
static int in_three(void) { return 2; }
#pragma omp end declare variant
#pragma omp end declare variant
static int beside(void) { return 2; }
#pragma omp begin declare variant match(implementation={vendor("llvm"), extension(match_all)})
#pragma omp begin declare variant match(implementation={vendor(llvm)}, user={condition(1)})
static int in_same_set(void) { return 2; }
#pragma omp end declare variant
#pragma omp end declare variant
static int after(void) { return 2; }
#pragma omp end declare variant

static void blocks(void)
{
    int alone = 0, inside = 0;
#pragma omp target map(from: alone, inside)
    {
        alone = in_two() + 10 * in_three() + 100 * (beside() + 10 * after() + 100 * in_same_set());
#pragma omp parallel num_threads(1)
        inside = in_two() + 10 * in_three() + 100 * (beside() + 10 * after() + 100 * in_same_set());
    }
    CHECK_EQ(alone, 11111);
    CHECK_EQ(inside, 22222);
    CHECK_EQ(in_two() + in_three() + beside() + after() + in_same_set(), 5);
}

int main(void)
{
    int n = 0;
    functions();
    blocks();
    order_of_declarations();
    metadirectives();
#pragma omp target map(from: n)
    n = begun();
    CHECK_EQ(n, 6);
    CHECK_EQ(begun(), 5);
    return RESULT;
}
