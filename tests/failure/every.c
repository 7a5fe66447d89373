/* every.c - a program with every construct of the host about devices, for runs in which a call of
 * the driver fails.  Each step changes all of a group of variables from one version to the next; an
 * exit handler says whether the host has all of one of the two, or something between. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef BIG
#define BIG 30000
#endif
#ifndef STEP
#define STEP 1 /* more: `b` is larger than what the regions change of it */
#endif
enum { N = 64 };
static int a[N], b[BIG * STEP], n[1], first, last; /* the versions that the host may have now */
static struct {
    long count;
    int *p;
} s;
#ifdef VARIABLES
#pragma omp begin declare target
static int d = 0;
#pragma omp end declare target
#endif

static int all_are(int version)
{
    int good = n[0] == version && s.count == version;
    for (int i = 0; i < N; i++)
        good &= a[i] == version && s.p[i] == version;
    for (int i = 0; i < BIG; i++)
        good &= b[i * STEP] == version;
    return good;
}

static void at_end(void)
{
    int whole = all_are(first) || all_are(last);
    printf("%s\n", whole ? "whole" : "between");
    if (!whole)
        printf("%d to %d: n %d, count %ld, a %d, b %d to %d, p %d\n", first, last, n[0], s.count,
               a[0], b[0], b[(BIG - 1) * STEP], s.p[0]);
    fflush(stdout);
}

static void begin(int steps) { last = first + steps; }
static void end(const char *name)
{
    if (!all_are(last)) {
        printf("wrong after %s\n", name);
        exit(3);
    }
    first = last;
}
static void expect(int good, const char *name)
{
    if (!good) {
        printf("wrong: %s\n", name);
        exit(3);
    }
}

/* All of the group, in a region with the clauses. */
#define REGION(...)                                                                                \
    _Pragma(#__VA_ARGS__) for (int i = 0; i < BIG; i++)                                            \
    {                                                                                              \
        b[i * STEP]++;                                                                             \
        if (i < N)                                                                                 \
            a[i]++, s.p[i]++;                                                                      \
        if (i == 0)                                                                                \
            n[0]++, s.count++;                                                                     \
    }
#define GROUP a, b, n, s, s.p [0:N]

static void regions(void)
{
    begin(1);
    REGION(omp target teams distribute parallel for map(tofrom: a, b, n, s, s.p[0:N]))
    end("a region");
    long sum = 5, sums[3] = { 1, 2, 3 };
    int copy[100] = { 1, 2, 3 };
#pragma omp target teams distribute parallel for reduction(+ : sum, sums) firstprivate(copy)
    for (int i = 0; i < 1000; i++) {
        sum += copy[i % 3];
        sums[i % 3] += i;
    }
    expect(sum == 5 + 334 + 333 * 5 && sums[0] + sums[1] + sums[2] == 6 + 499500, "reductions");
    int m = N, out[2] = { 0 };
#pragma omp target teams num_teams(2) map(tofrom : out)
    {
        int local[m], t = omp_get_team_num();
#pragma omp parallel for
        for (int i = 0; i < m; i++)
            local[i] = i;
        for (int i = 0; i < m; i++)
            out[t] += local[i];
    }
    expect(out[0] == 2016 && out[1] == 2016, "team storage");
}

/* As several kernels, again and again, where BIG is. */
static void phases(void)
{
    begin(3);
#pragma omp target map(tofrom : GROUP)
    {
        for (int i = 0; i < N; i++)
            s.p[i]++;
        for (int t = 0; t < 2; t++) {
            n[0] += 1 - t;
#pragma omp parallel for
            for (int i = 0; i < BIG; i++)
                b[i * STEP] += 1 - t;
#pragma omp parallel for
            for (int i = 0; i < N; i++)
                a[i]++, s.p[i]++;
        }
        for (int i = 0; i < N; i++)
            a[i]++;
#pragma omp parallel for
        for (int i = 0; i < BIG; i++)
            b[i * STEP] += 2;
        n[0] += 2, s.count += 3;
    }
    end("phases");
}

static void data(void)
{
    begin(2);
#pragma omp target data map(tofrom : a, b, n, s, s.p[0 : N])
    {
        REGION(omp target teams distribute parallel for)
        REGION(omp target parallel for)
    }
    end("target data");
#pragma omp target enter data map(to : a, b, n, s, s.p[0 : N])
    begin(1);
    REGION(omp target teams distribute parallel for)
#pragma omp target update from(a, b, n, s.count, s.p[0 : N])
    end("update from");
#pragma omp target update to(a, n)
    begin(2);
#pragma omp target teams distribute parallel for
    for (int i = 0; i < BIG; i++) {
        b[i * STEP] += 2;
        if (i < N)
            a[i] += 2, s.p[i] += 2;
        if (i == 0)
            n[0] += 2, s.count += 2;
    }
#pragma omp target exit data map(from : a, b, n, s, s.p[0 : N])
    end("exit data");
}

static void deferred(void)
{
    int x = 0;
    begin(2);
#pragma omp target enter data map(to : a, b, n, s, s.p[0 : N]) nowait depend(out : x)
    REGION(omp target teams distribute parallel for nowait depend(inout: x))
    REGION(omp target parallel for nowait depend(inout: x))
#pragma omp target exit data map(from : a, b, n, s, s.p[0 : N]) nowait depend(inout : x)
#pragma omp taskwait
    end("nowait");
    int y[50] = { 0 }, z[50] = { 0 };
#pragma omp target map(tofrom : y) nowait depend(out : y)
    y[7] = 3;
#pragma omp task depend(in : y) depend(out : z) shared(y, z)
    z[7] = y[7] + 1;
#pragma omp target map(tofrom : z) nowait depend(inout : z)
    z[8] = z[7] + 1;
#pragma omp taskwait
    expect(z[8] == 5, "tasks and regions");
}

#ifdef VARIABLES
static void routines(void)
{
    static int from[N], to[N];
    int dev = omp_get_default_device(), host = omp_get_initial_device();
    for (int i = 0; i < N; i++)
        from[i] = i;
    int *p = omp_target_alloc(sizeof from, dev);
    if (!p) {
        puts("no memory");
        return;
    }
    omp_depend_t o;
#pragma omp depobj(o) depend(inout : to)
    int bad = omp_target_memcpy_async(p, from, sizeof from, 0, 0, dev, host, 1, &o);
    bad = bad || omp_target_memcpy_async(to, p, sizeof to, 0, 0, host, dev, 1, &o);
#pragma omp taskwait
    expect(bad || !memcmp(from, to, sizeof to), "asynchronous copies");
    bad = bad || !omp_target_memset(p, 0, sizeof from / 2, dev);
    bad = bad || omp_target_memcpy(to, p, sizeof to, 0, 0, host, dev);
    expect(bad || (!to[N / 2 - 1] && to[N / 2] == N / 2), "memset");
    if (!bad) {
#pragma omp target is_device_ptr(p)
        p[0] = 9;
    }
    bad = bad || omp_target_memcpy(to, p, sizeof to, 0, 0, host, dev);
    expect(bad || to[0] == 9, "is_device_ptr");
    omp_target_free(p, dev);
    puts(bad ? "copies failed" : "copies good");
}

static void variables(void)
{
    int seen = 0;
    d = 4;
#pragma omp target update to(d)
#pragma omp target map(from : seen)
    {
        d++;
        seen = d;
    }
#pragma omp target update from(d)
    expect(d == 5 && seen == 5, "declare target");
    int *q = a;
#pragma omp target data map(tofrom : a) use_device_ptr(q)
    {
#pragma omp target is_device_ptr(q) map(alloc : a)
        q[3] = q[3] + a[3] - a[2];
    }
    expect(a[3] == a[2], "use_device_ptr");
}

#endif

int main(void)
{
    s.p = calloc(N, sizeof *s.p);
    if (!s.p)
        return 4;
    atexit(at_end);
    regions();
    phases();
    data();
    deferred();
#ifdef VARIABLES
    routines(), variables();
#endif
    puts("good");
    return 0;
}
