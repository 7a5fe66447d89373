/* metadirectives by the constructs around them, on the host too: in the program, in functions of
 * both devices and in a region's host version; other choices there than on the device */
#include "check.h"
enum { N = 48 };

static void plain(void)
{
    int n = 0, inner = 0, one = 0, a[N] = { 0 };
#pragma omp parallel num_threads(3)
    {
#pragma omp metadirective when(construct={parallel}: atomic) default(nothing)
        n++;
#pragma omp metadirective when(construct={teams}: nothing) when(construct={parallel}: single) default(nothing)
        one++;
#pragma omp metadirective when(construct={parallel}: for) default(parallel for num_threads(2))
        for (int i = 0; i < N; i++) a[i] += omp_get_num_threads();
#pragma omp metadirective when(construct={parallel, for}: nothing) when(construct={parallel}: for reduction(+ : inner))
        for (int i = 0; i < N; i++) inner += i;
    }
    CHECK_EQ(n, 3);
    CHECK_EQ(one, 1);
    CHECK_EQ(inner, N * (N - 1) / 2);
    for (int i = 0; i < N; i++) CHECK_EQ(a[i], 3);
#pragma omp metadirective when(construct={parallel}: for) default(parallel for num_threads(2))
    for (int i = 0; i < N; i++) a[i] += omp_get_num_threads();
    for (int i = 0; i < N; i++) CHECK_EQ(a[i], 5);
}

/* What is chosen is around what is chosen in it. */
static void nested(void)
{
    int n = 0, a[N] = { 0 };
#pragma omp metadirective when(device={kind(host)}: parallel num_threads(3)) default(nothing)
    {
#pragma omp metadirective when(construct={parallel}: critical) otherwise(nothing)
        {
            n += 1;
        }
#pragma omp metadirective when(construct={parallel}, device={kind(host)}: for) when(construct={parallel}: single)
        for (int i = 0; i < N; i++) a[i]++;
    }
    CHECK_EQ(n, 3);
    for (int i = 0; i < N; i++) CHECK_EQ(a[i], 1);
}

/* The better score wins: constructs count by their places, device kinds more. */
static int scored(void)
{
    int r = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp metadirective when(construct={parallel}: taskgroup task_reduction(+ : r)) \
    when(implementation={vendor(score(9): llvm)}: nothing) default(nothing)
        r++;
    }
    return r;
}

/* Which of four it is in. */
static void both(int *where, int *threads)
{
#pragma omp metadirective when(device={kind(host)}: parallel num_threads(2)) default(parallel num_threads(4))
    {
#pragma omp single
        *threads = omp_get_num_threads();
#pragma omp metadirective when(construct={target, parallel}: masked) when(construct={parallel}: single)
        *where = 10 + ON_DEVICE;
    }
}

static void regions(int on_device)
{
    int where = 0, threads = 0, in = 0, a[N], sum = 0;
    both(&where, &threads);
    CHECK_EQ(where, 10);
    CHECK_EQ(threads, 2);
#pragma omp target if(on_device) map(from: where, threads)
    both(&where, &threads);
    CHECK_EQ(where, 10 + on_device);
    CHECK_EQ(threads, on_device ? 4 : 2);
#pragma omp target if(on_device) map(from: in, a) map(tofrom: sum)
    {
#pragma omp metadirective when(construct={target}, device={kind(host)}: parallel num_threads(3)) \
    when(construct={target}: parallel num_threads(5)) default(nothing)
        {
#pragma omp atomic write
            in = omp_get_num_threads();
#pragma omp metadirective when(construct={target, parallel}: for) default(parallel for)
            for (int i = 0; i < N; i++) a[i] = omp_get_num_threads();
#pragma omp metadirective when(construct={parallel}, device={kind(nohost)}: for reduction(+ : sum)) \
    when(construct={parallel}: single)
            for (int i = 0; i < N; i++) sum += i;
        }
    }
    CHECK_EQ(in, on_device ? 5 : 3);
    CHECK_EQ(sum, N * (N - 1) / 2);
    for (int i = 0; i < N; i++) CHECK_EQ(a[i], on_device ? 5 : 3);
}

/* A region's host version has no construct around it that the program has not. */
static int in_parallel(void) { return 2; }
static int in_target(void) { return 3; }
#pragma omp declare variant(in_target) match(construct = {target})
#pragma omp declare variant(in_parallel) match(construct = {parallel})
static int called(void) { return 1; }
static int also_called(void) { return 1; }
#pragma omp declare variant(in_parallel) match(construct = {parallel})
static int called_in_parallel(void) { return also_called(); }

static void variants(int on_device)
{
    int plain = 0, nested = 0, other = 0;
#pragma omp target if(on_device) map(from: plain, other)
    plain = called(), other = called_in_parallel();
#pragma omp target if(on_device) map(from: nested)
#pragma omp parallel num_threads(2)
#pragma omp single
    nested = called_in_parallel();
    CHECK_EQ(plain, 3);
    CHECK_EQ(other, 1);
    CHECK_EQ(nested, 2);
}

int main(void)
{
    plain();
    variants(1);
    variants(0);
    nested();
    CHECK_EQ(scored(), 1);
    regions(1);
    regions(0);
    return RESULT;
}
