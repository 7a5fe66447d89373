/* flags: -fompgpu-mode=generic */
/* with: parts/own_code.c */
/* Kernels of different needs that call the same functions, read the same variables, and exchange function pointers (codegen/ir/passes/sets.c):
 * from sequential code, from regions and from SPMD kernels, with recursion, nested regions, static variables, locks, another file's functions. */
#include "parts/own_code.h"
#include "check.h"

enum { N = 96 };

#pragma omp begin declare target
static int counter;                                 /* one, whoever counts */
static int (*chosen)(int *, int);                   /* set by one kernel, called and compared by others */
static const int weight[4] = { 1, 10, 100, 1000 };

static int next_number(void)
{
    static int n = 100;
    int mine;
    #pragma omp critical
    mine = n++;
    return mine;
}
static void fill(int *a, int n, int v)              /* holds a region; called in every context */
{
    int local = v * weight[1];
    #pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = local + i + 1000 * omp_get_level();
}
static int deep(int *a, int n)                      /* a region on the way down */
{
    int here[4] = { n, 0, 0, 0 };
    if (n == 0) return 0;
    #pragma omp parallel for reduction(+: counter)
    for (int i = 0; i < 8; i++) { a[i] += here[0]; counter++; }
    return here[0] + deep(a, n - 1);
}
static int add_all(int *a, int n)
{
    int s = 0;
    #pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++) s += a[i];
    return s;
}
static int biggest(int *a, int n)
{
    int s = 0;
    #pragma omp parallel for reduction(max: s)
    for (int i = 0; i < n; i++) s = a[i] > s ? a[i] : s;
    return s;
}
static int first_of(int *a, int n) { return a[0] + 0 * n; }
static int (*const table[])(int *, int) = { add_all, biggest, first_of };
#pragma omp end declare target

static void one_region(void)
{
    int a[N];
    #pragma omp target teams num_teams(1) thread_limit(48) map(from: a)
    fill(a, N, 3);
    for (int i = 0; i < N; i++) CHECK_EQ(a[i], 30 + i + 1000);
}

static void many_regions(void)
{
    int a[N], b[N], levels[3];
    #pragma omp target teams num_teams(1) thread_limit(40) map(from: a, b, levels)
    {
        levels[0] = omp_get_level();
        fill(a, N, 1);
        #pragma omp parallel for schedule(dynamic, 5)
        for (int i = 0; i < N; i++) b[i] = a[i] + omp_get_level();
        levels[1] = omp_get_max_threads();
        omp_set_num_threads(7);
        #pragma omp parallel
        { if (omp_get_thread_num() == 0) levels[2] = omp_get_num_threads(); }
    }
    for (int i = 0; i < N; i++) CHECK_EQ(b[i], 10 + i + 1001);
    CHECK_EQ(levels[0], 0);
    CHECK_EQ(levels[1], 40);
    CHECK_EQ(levels[2], 7);
}

static void inside(void)                            /* the same function, nested */
{
    int a[6][N];
    #pragma omp target teams num_teams(1) thread_limit(32) map(from: a)
    {
        #pragma omp parallel for
        for (int k = 0; k < 6; k++) fill(a[k], N, k);
    }
    for (int k = 0; k < 6; k++) for (int i = 0; i < N; i++) CHECK_EQ(a[k][i], 10 * k + i + 2000);
}

static void in_spmd(void)
{
    int a[4][N];
    #pragma omp target teams distribute parallel for map(from: a)
    for (int k = 0; k < 4; k++) fill(a[k], N, k);
    for (int k = 0; k < 4; k++) for (int i = 0; i < N; i++) CHECK_EQ(a[k][i], 10 * k + i + 2000);
}

static void recursion(void)
{
    int a[8] = { 0 }, r, c;
    #pragma omp target teams num_teams(1) thread_limit(64) map(tofrom: a) map(from: r, c)
    { counter = 0; r = deep(a, 5); c = counter; }
    CHECK_EQ(r, 15);
    CHECK_EQ(c, 40);
    for (int i = 0; i < 8; i++) CHECK_EQ(a[i], 15);
    #pragma omp target map(from: c)
    c = counter;
    CHECK_EQ(c, 40);
}

static void both_ways(void)                         /* recursion with regions, from sequential code and from a region of one kernel */
{
    int a[8] = { 0 }, b[8] = { 0 }, r[2], f[2][N];
    #pragma omp target teams num_teams(1) thread_limit(40) map(tofrom: a, b) map(from: r, f)
    {
        r[0] = deep(a, 4);
        fill(f[0], N, 5);
        #pragma omp parallel num_threads(5)
        { if (omp_get_thread_num() == 3) { r[1] = deep(b, 3); fill(f[1], N, 6); } }
    }
    CHECK_EQ(r[0], 10);
    CHECK_EQ(r[1], 6);
    for (int i = 0; i < 8; i++) CHECK_EQ(a[i], 10);
    for (int i = 0; i < 8; i++) CHECK_EQ(b[i], 6);
    for (int i = 0; i < N; i++) { CHECK_EQ(f[0][i], 50 + i + 1000); CHECK_EQ(f[1][i], 60 + i + 2000); }
}

static void statics(void)
{
    int n[3];
    #pragma omp target map(from: n[0])
    n[0] = next_number();
    #pragma omp target teams num_teams(1) thread_limit(16) map(from: n[1])
    {
        #pragma omp parallel num_threads(16)
        next_number();
        n[1] = next_number();
    }
    #pragma omp target teams distribute parallel for num_teams(3) map(from: n[2])
    for (int i = 0; i < 30; i++) { int x = next_number(); if (x == 146) n[2] = x; }
    CHECK_EQ(n[0], 100);
    CHECK_EQ(n[1], 117);
    CHECK_EQ(n[2], 146);
}

static void pointers(void)
{
    int a[N], r[5];
    #pragma omp target map(from: r[0])
    { chosen = add_all; r[0] = chosen == add_all; }             /* stored by one that calls nothing */
    #pragma omp target teams num_teams(1) thread_limit(32) map(from: a, r[1])
    { fill(a, N, 2); r[1] = chosen(a, N); }                     /* called by one that cannot know it */
    #pragma omp target teams num_teams(1) thread_limit(32) map(to: a) map(from: r[2])
    r[2] = add_all(a, N) * (chosen == add_all) * (chosen != biggest);         /* compared by one that also calls it directly */
    #pragma omp target teams num_teams(1) thread_limit(32) map(to: a) map(from: r[3])
    {
        int s = 0;
        for (int i = 0; i < 3; i++) s += table[i](a, N);
        r[3] = s;
    }
    #pragma omp target map(from: r[4])
    r[4] = table[0] == chosen && table[1] == biggest && far_pointer() == far_target && far_pointer() != table[0];
    int sum = 0;
    for (int i = 0; i < N; i++) sum += 20 + i + 1000;
    CHECK_EQ(r[0], 1);
    CHECK_EQ(r[1], sum);
    CHECK_EQ(r[2], sum);
    CHECK_EQ(r[3], sum + 20 + N - 1 + 1000 + 20 + 1000);
    CHECK_EQ(r[4], 1);
}

static void pointer_inside(void)                    /* one address, called in both contexts */
{
    int a[4][N], r[5];
    #pragma omp target teams num_teams(1) thread_limit(32) map(from: a, r)
    {
        fill(a[0], N, 0);
        r[4] = chosen(a[0], N);
        #pragma omp parallel for
        for (int i = 0; i < 4; i++) { fill(a[i], N, i); r[i] = chosen(a[i], N) + (chosen == add_all ? add_all(a[i], 2) : 0); }
    }
    for (int k = 0; k < 5; k++) {
        int sum = 0;
        for (int i = 0; i < N; i++) sum += 10 * (k % 4) + i + (k == 4 ? 1000 : 2000);
        if (k < 4) sum += 2 * (10 * k + 2000) + 1;
        CHECK_EQ(r[k], sum);
    }
}

static void far(void)
{
    int a[N], s, own;
    #pragma omp target teams num_teams(1) thread_limit(32) map(from: a, s)
    { far_fill(a, N, 4); s = far_call(add_all, a, N); }
    #pragma omp target teams num_teams(2) thread_limit(32) map(from: own)
    {
        int mine[8];
        far_fill(mine, 8, omp_get_team_num());
        if (omp_get_team_num() == 1) own = mine[7];
    }
    int sum = 0;
    for (int i = 0; i < N; i++) { CHECK_EQ(a[i], 4 * i + 1); sum += 4 * i + 1; }
    CHECK_EQ(s, sum);
    CHECK_EQ(own, 8);
}

static void schedule(void)                          /* that another file sets */
{
    int who[N];
    #pragma omp target map(from: who)
    {
        far_schedule(5);
        #pragma omp parallel for num_threads(4) schedule(runtime)
        for (int i = 0; i < N; i++) who[i] = omp_get_thread_num();
    }
    for (int i = 0; i < N; i++) CHECK_EQ(who[i], i / 5 % 4);
}

int main(void)
{
    schedule();
    one_region();
    many_regions();
    inside();
    in_spmd();
    recursion();
    both_ways();
    statics();
    pointers();
    pointer_inside();
    far();
    CHECK_EQ(far_regions(), 33);
    return RESULT;
}
