/* metadirectives and variants that are chosen at run time or stand for several functions */
#include "check.h"
enum { N = 64 };
static int where(void) { return 1; }
#pragma omp begin declare variant match(device={kind(nohost)})
static int where(void) { return 2; }
__attribute__((noinline)) static long (half)(long x) { return -x; }
#pragma omp end declare variant
static long half(long x) { return x / 2; }
#pragma omp begin declare variant match(construct={parallel})
static int where(void) { return 3; }
#pragma omp end declare variant

static void conditions(int on_device, int wide)
{
    int a[N], host = omp_get_initial_device();
#pragma omp metadirective when(user={condition(on_device && wide)}: target teams distribute parallel for map(from: a)) \
    when(user={condition(on_device)}: target map(from: a)) otherwise(parallel for)
    for (int i = 0; i < N; i++) a[i] = 2 * i + ON_DEVICE;
    for (int i = 0; i < N; i++) CHECK_EQ(a[i], 2 * i + on_device);
#pragma omp target map(tofrom: a)
    {
#pragma omp metadirective when(user={condition(wide)}: parallel for num_threads(8)) default(nothing)
        for (int i = 0; i < N; i++) a[i] = omp_get_num_threads();
#pragma omp begin metadirective when(user={condition(wide)}: parallel num_threads(4))
        int t = omp_get_thread_num();
        if (t == omp_get_num_threads() - 1) a[0] = t;
#pragma omp end metadirective
    }
    CHECK_EQ(a[0], wide ? 3 : 0);
    if (!wide) CHECK_EQ(a[1], 1);
    int kind = 0, other = 0;
#pragma omp metadirective when(target_device={kind(nohost)}: target map(from: kind)) otherwise(parallel num_threads(1))
    kind = 1 + ON_DEVICE;
#pragma omp metadirective when(target_device={device_num(host), kind(gpu)}: target map(from: other)) otherwise(nothing)
    other = 1 + ON_DEVICE;
    CHECK_EQ(kind, 2);
    CHECK_EQ(other, 1);
}

static void variants(void)
{
    int here = 0, inside = 0;
    long h = 0;
#pragma omp target map(from: here, inside, h)
    {
        here = where();
        h = half(8);
#pragma omp parallel num_threads(1)
        inside = where();
    }
    CHECK_EQ(where(), 1);
    CHECK_EQ(half(8), 4);
    CHECK_EQ(here, 2);
    CHECK_EQ(h, -8);
    CHECK(inside == 2 || inside == 3);
}

static int now;
static int late_big(int a, int b) { return 1000 + a + b; }
static int late_small(int a, int b) { return 100 + a + b; }
static int late_parallel(int a, int b) { return 10000 + a + b; }
static int late_dispatched(int a, int b) { return a * b; }
#pragma omp declare variant(late_big) match(user={condition(score(5): now > 10)})
#pragma omp declare variant(late_small) match(user={condition(now > 5)})
#pragma omp declare variant(late_parallel) match(construct={parallel}, user={condition(now == 7)})
#pragma omp declare variant(late_dispatched) match(construct={dispatch}, user={condition(now == 0)})
static int late(int a, int b) { return a + b; }

static void late_variants(void)
{
    static const int expected[3][7] = { { 3, 2, 3, 9, 40, 13, 13 }, { 210, 100, 103, 20009, 113, 113, 13 }, { 2017, 1000, 1003, 2009, 1013, 1013, 13 } };
    for (int i = 0; i < 3; i++) {
        int r[7];
        now = 7 * i;
        r[0] = late(1, late(now, 2));
#pragma omp target map(tofrom: r)
        {
            r[1] = late(0, 0) + (now ? 0 : 2);
            r[2] = late(1, 2);
#pragma omp parallel num_threads(1)
            r[3] = late(
                late(3, 4), 2);
#pragma omp dispatch
            r[4] = late(8, 5);
        }
#pragma omp dispatch nocontext(i < 3)
        r[5] = late(8, 5);
#pragma omp dispatch novariants(i < 3)
        r[6] = late(8, 5);
        for (int k = 0; k < 7; k++) CHECK_EQ(r[k], expected[i][k]);
    }
}

/* A score is no part of the condition, known or not. */
static int first(void) { return 1; }
static int second(void) { return 2; }
#pragma omp declare variant(first) match(user={condition(score(2): 1)})
#pragma omp declare variant(second) match(user={condition(score(9): sizeof(int) == 4)})
static int scored(void) { return 0; }
static void scores(int n)
{
    int there = 0, here = 0, known = 0, block = 0;
#pragma omp target map(tofrom: there, known)
    {
#pragma omp metadirective when(user={condition(score(1): n > 5)}: parallel num_threads(2) reduction(+: there)) \
    when(user={condition(score((4)): n > 6)}: parallel num_threads(3) reduction(+: there)) otherwise(nothing)
        there++;
        known = scored();
    }
#pragma omp metadirective when(user={condition(score(3): n > 6)}: parallel num_threads(1) reduction(+: here)) otherwise(target map(here))
    here += 1 + !omp_is_initial_device();
#pragma omp begin metadirective when(implementation={vendor(score(2): llvm)}: masked) when(user={condition(score(3): n > 6)}: single)
    block = n;
#pragma omp end metadirective
    CHECK_EQ(there, n > 6 ? 3 : n > 5 ? 2 : 1);
    CHECK_EQ(here, n > 6 ? 1 : 1 + 1);
    CHECK_EQ(known, 2);
    CHECK_EQ(scored(), 2);
    CHECK_EQ(block, n);
}

/* Who asks for more of the same is preferred, in whatever order; else the first. */
static int wider(void) { return 1; }
static int narrow(void) { return 2; }
static int wide(void) { return 3; }
#pragma omp declare variant(wide) match(device = {kind(any)}, implementation = {vendor(llvm)})
#pragma omp declare variant(wider) match(device = {kind(any)}, implementation = {vendor(llvm)}, user = {condition(1)})
#pragma omp declare variant(narrow) match(device = {kind(any)})
static int any(void) { return 4; }

static void parts(int one)
{
    int got[6] = { 0 };
#pragma omp target map(tofrom: got) thread_limit(8)
    {
#pragma omp metadirective when(device={kind(nohost)}: parallel num_threads(3)) when(device={kind(nohost)}, user={condition(1)}: parallel num_threads(2)) \
    otherwise(parallel num_threads(2))
        if (omp_get_thread_num() == 0)
            got[0] = omp_get_num_threads();
#pragma omp metadirective when(device={kind(any)}: parallel num_threads(3)) when(device={kind(any)}, user={condition(one)}: parallel num_threads(2))
        if (omp_get_thread_num() == 0)
            got[1] = omp_get_num_threads();
        got[2] = any();
#pragma omp parallel num_threads(1)
        {
#pragma omp metadirective when(construct={parallel}: nothing) when(construct={parallel}, user={condition(1)}: parallel num_threads(1))
            got[3] = omp_get_level();
        }
    }
#pragma omp parallel num_threads(1)
    {
#pragma omp metadirective when(construct={parallel}: nothing) when(construct={parallel}, user={condition(1)}: parallel num_threads(1))
        got[4] = omp_get_level();
#pragma omp metadirective when(construct={parallel}: parallel num_threads(1)) when(construct={parallel}: nothing)
        got[5] = omp_get_level();
    }
    CHECK(got[0] == 2 && got[1] == 2 && got[2] == 1);
    CHECK(got[3] == 2 && got[4] == 2 && got[5] == 2);
}

/* The construct around is chosen at run time, too. */
static int around(int parallel, int shared)
{
    int level = 0, last = 0;
#pragma omp metadirective when(user={condition(parallel)}: parallel num_threads(2) reduction(max: level))
    {
        level = omp_get_level();
#pragma omp metadirective when(construct={parallel}, user={condition(!shared)}: for private(last)) when(construct={parallel}: for)
        for (int i = 0; i < N; i++)
            if (i == N - 1)
                last = 1;
    }
    return 10 * level + last;
}

/* Conditions are asked in the order of their scores. */
static int asked[4], nasked;
static int ask(int who, int holds)
{
    asked[nasked++] = who;
    return holds;
}
static void order(void)
{
    int there = 0;
#pragma omp metadirective when(user={condition(score(1): ask(1, 1))}: parallel num_threads(1) reduction(+: there)) \
    when(user={condition(score(9): ask(2, 0))}: single) when(user={condition(score(5): ask(3, 0))}: masked)
    there++;
    CHECK(there == 1 && nasked == 3 && asked[0] == 2 && asked[1] == 3 && asked[2] == 1);
}

/* The directive that is chosen becomes another itself. */
static void become_others(int n)
{
    int a[20], b[20], k = 3, y = -1, wrong = 0;
#pragma omp metadirective when(user={condition(n > 9)}: target parallel for lastprivate(conditional: y) induction(step(2), +: k) map(from: a)) \
    when(user={condition(n > 5)}: parallel for lastprivate(conditional: y) induction(step(2), +: k)) otherwise(nothing)
    for (int i = 0; i < 20; i++) {
        a[i] = k;
        if (i % 7 == 2) y = i;
    }
#pragma omp metadirective when(implementation={vendor(llvm)}: target teams distribute parallel for) otherwise(parallel for)
#pragma omp metadirective when(user={condition(1)}: tile sizes(4)) otherwise(nothing)
    for (int i = 0; i < 20; i++) b[i] = i;
    for (int i = 0; i < 20; i++) wrong += a[i] != 3 + 2 * i || b[i] != i;
    CHECK(wrong == 0 && y == 16 && k == 43);
    for (int host = 0; host < 2; host++) {
        int first = -1, on = 0;
#pragma omp target map(tofrom: first, on) if(!host)
        {
            on = ON_DEVICE;
#pragma omp metadirective when(device={kind(nohost)}: reverse) otherwise(unroll partial(2))
            for (int i = 0; i < 10; i++) first = first < 0 ? i : first;
        }
        CHECK_EQ(first, on ? 9 : 0);
    }
}

/* Many conditions: the statement is there once for each, not 2^n times; and the first of two that hold is chosen, although the other one asks for more
 * of something else. */
static int many(int n)
{
    int got = 0;
#pragma omp metadirective when(user={condition(n == 0)}: target map(tofrom: got)), \
    when(user={condition(score(3): n == 1)}: parallel num_threads(1) reduction(+: got)) \
    when(user={condition(n == 2)}: target parallel num_threads(2) reduction(+: got)) \
    when(user={condition(n == 3)}: target parallel num_threads(3) reduction(+: got)), \
    when(user={condition(n == 4)}: target parallel num_threads(4) reduction(+: got)) \
    when(user={condition(n == 5)}, implementation={vendor(llvm)}: target parallel num_threads(5) reduction(+: got)) \
    when(user={condition(n == 6)}: target parallel num_threads(6) reduction(+: got)) \
    when(user={condition(n > 11)}: nothing) \
    when(user={condition(n > 10)}: parallel num_threads(11) reduction(+: got)) \
    when(user={condition(n > 9)}, implementation={vendor(llvm)}: parallel num_threads(10) reduction(+: got)) \
    when(user={condition(n > 8)}: parallel num_threads(9) reduction(+: got)) \
    when(user={condition(n > 7)}: parallel num_threads(8) reduction(+: got)) \
    when(user={condition(n > 100)}: parallel num_threads(2) reduction(+: got)), otherwise(nothing)
    got += omp_is_initial_device() ? 100 : 1;
    return got;
}

int main(void)
{
    static const int expected[] = { 1, 100, 2, 3, 4, 5, 6, 100, 800, 900, 1000, 1100, 100 };
    for (int i = 0; i < COUNT(expected); i++) CHECK_EQ(many(i), expected[i]);
    become_others(8), become_others(12);
    parts(1);
    CHECK(around(0, 0) == 1 && around(0, 1) == 1 && around(1, 0) == 10 && around(1, 1) == 11);
    order();
    scores(5), scores(6), scores(7);
    late_variants();
    for (int i = 0; i < 4; i++) conditions(i & 1, i >> 1);
    variants();
    return RESULT;
}
