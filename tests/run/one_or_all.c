/* sequential code that all threads of an SPMD kernel run: what only one of them may do, and what all of them must */
/* also: -O0, -O2 -fompgpu-mode=generic */
#include "check.h"
#include <math.h>
enum { N = 128 };

/* Pure, and not the same for each thread. */
__attribute__((pure, noinline)) static int asks(const int *a) { return a[0] + omp_get_thread_num() + 100 * omp_get_num_threads(); }
static void pure_function(void)
{
    int a[1] = { 5 }, b[N] = { 0 }, out = 0;
#pragma omp target map(to: a) map(tofrom: b, out)
    {
        int k = asks(a);
#pragma omp parallel for
        for (int i = 0; i < N; i++) b[i] = k + i;
        out = k;
    }
    CHECK_EQ(out, 105);
    for (int i = 0; i < N; i++) CHECK_EQ(b[i], 105 + i);
}

__attribute__((noinline)) static void set_threads(int *p, int n) { omp_set_num_threads(p[0] = n); }
static void number_of_threads(void)
{
    int p[1], n = 0;
#pragma omp target map(from: p) map(tofrom: n)
    {
#pragma omp assume no_parallelism
        {
            set_threads(p, 3);
        }
#pragma omp parallel
        if (omp_get_thread_num() == 0) n = omp_get_num_threads();
    }
    CHECK(n > 0 && n <= 3 && p[0] == 3);
}

__attribute__((noinline)) static void set_chunk(int *p, int chunk) { omp_set_schedule(omp_sched_dynamic, p[0] = chunk); }
static int wrong_chunk(int chunk)
{
    omp_sched_t kind;
    int is;
    omp_get_schedule(&kind, &is);
    return kind != omp_sched_dynamic || is != chunk;
}
static void schedule(void)
{
    int p[1], wrong = 0, a[20];
    for (int i = 0; i < 20; i++) a[i] = i;
#pragma omp target map(from: p) map(tofrom: wrong)
    {
        set_chunk(p, 7);
#pragma omp parallel reduction(+ : wrong)
        wrong += wrong_chunk(7);
    }
    CHECK_EQ(wrong, 0);
#pragma omp target map(tofrom: a, wrong)
    {
        for (int i = 1; i < 20; i++) {
            if (a[i] + a[i - 1] > 3) omp_set_schedule(omp_sched_dynamic, i);
            a[i] += a[i - 1];
        }
#pragma omp parallel reduction(+ : wrong)
        wrong += wrong_chunk(19);
    }
    CHECK_EQ(wrong, 0);
}

struct many { double v[24]; };
static void add(struct many *o, const struct many *i) { for (int k = 0; k < 24; k++) o->v[k] += i->v[k]; }
static void clear(struct many *p) { for (int k = 0; k < 24; k++) p->v[k] = 0; }
#pragma omp declare reduction(add: struct many: add(&omp_out, &omp_in)) initializer(clear(&omp_priv))
static void copy_of_a_result(int k)
{
    double out[N], want = 0;
#pragma omp target map(from: out)
    {
        struct many sum, copy;
        clear(&sum);
#pragma omp parallel for reduction(add: sum)
        for (int i = 0; i < 100; i++) sum.v[i % 24] += i;
        memcpy(&copy, &sum, sizeof sum);
        double x = copy.v[k];
#pragma omp parallel for
        for (int i = 0; i < N; i++) out[i] = x + i;
    }
    for (int i = k; i < 100; i += 24) want += i;
    for (int i = 0; i < N; i++) CHECK_EQ(out[i], want + i);
}

/* By a pointer that has been aligned (llvm.ptrmask). */
static void aligned_pointers(int n)
{
    int out[N];
#pragma omp target map(from: out)
    {
        char room[256];
        int *p = (int *)__builtin_align_up(room, 64);
        for (int i = 0; i < 32; i++) p[i] = i * n;
#pragma omp parallel for
        for (int i = 0; i < N; i++) out[i] = p[i % 32];
    }
    for (int i = 0; i < N; i++) CHECK_EQ(out[i], i % 32 * n);
}

/* Written by functions of the C library; an array that goes while others may read it. */
static void outputs(double x)
{
    int out[N] = { 0 };
    long total = 0;
#pragma omp target map(from: out)
    {
        int e;
        double ip, f = frexp(x, &e), g = modf(x, &ip);
#pragma omp parallel for
        for (int i = 0; i < N; i++) out[i] = i + e + (int)ip + (f + g > 0);
    }
    for (int i = 0; i < N; i++) CHECK_EQ(out[i], i + 3 + 5 + 1);
#pragma omp target teams distribute num_teams(4) thread_limit(32) reduction(+ : total)
    for (int t = 0; t < 4; t++) {
        int n = 50, v[n];
        for (int i = 0; i < n; i++) v[i] = t;
#pragma omp parallel for
        for (int i = 0; i < n; i++) v[i] += i;
        for (int i = 0; i < n; i++) total += v[i];
    }
    CHECK_EQ(total, 4 * 50 * 49 / 2 + 50 * (0 + 1 + 2 + 3));
}

int main(void)
{
    pure_function();
    number_of_threads();
    schedule();
    copy_of_a_result(3);
    aligned_pointers(5);
    outputs(5.5);
    return RESULT;
}
