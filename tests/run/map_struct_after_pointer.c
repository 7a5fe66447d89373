/* A struct is mapped after what its pointers lead to: that maps nothing of the struct itself. */ /* also: -O0 */
#include "check.h"
#include <omp.h>
#include <stdlib.h>

enum { N = 100 };
struct list {
    long n;
    int *a, *b;
};

static void fill(struct list *s, int from)
{
    for (int i = 0; i < s->n; i++) {
        s->a[i] = from + i;
        s->b[i] = 2 * (from + i);
    }
}

static long expected(int from)
{
    long sum = 0;
    for (int i = 0; i < N; i++) sum += 3 * (from + i);
    return sum;
}

/* The same with target data; the region maps the struct, members of it, or nothing, and uses more than the pointer. */
static void in_target_data(void)
{
    struct list s = { N, malloc(N * sizeof(int)), NULL };
    for (int i = 0; i < N; i++) s.a[i] = i;
#pragma omp target data map(tofrom: s.a[:s.n])
    {
#pragma omp target
        {
            for (int i = 0; i < s.n; i++) s.a[i] += (int)s.n;
            s.n++;
        }
#pragma omp target map(s.n)
        {
            for (int i = 0; i < N; i++) s.a[i]++;
            s.n++;
        }
#pragma omp target map(s.a[:0], s.n)
        {
            for (int i = 0; i < N; i++) s.a[i]++;
            s.n++;
        }
#pragma omp target map(s)
        {
            for (int i = 0; i < N; i++) s.a[i] += (int)s.n;
            s.n = 7;
        }
#pragma omp target
        for (int i = 0; i < N; i++) s.a[i]++;
    }
    CHECK_EQ(s.n, 7);
    for (int i = 0; i < N; i++) CHECK_EQ(s.a[i], i + N + 1 + 1 + N + 3 + 1);
    CHECK(omp_target_is_present(&s.a, omp_get_default_device()) == omp_target_is_present(s.a, omp_get_default_device()));
    free(s.a);
}

int main(void)
{
    in_target_data();
    struct list s = { N, malloc(N * sizeof(int)), malloc(N * sizeof(int)) };
    int on = 0, *a = s.a, *b = s.b, here = omp_get_default_device();
    long got = 0;
    fill(&s, 1);
#pragma omp target enter data map(to: s.a[:N]) map(to: s.b[:N])
    CHECK(omp_target_is_present(&s.a, here) == omp_target_is_present(s.a, here));
    for (int times = 0; times < 3; times++) {
        /* the struct for one region, with its length and pointers */
#pragma omp target map(to: s, s.a[:N], s.b[:N]) map(tofrom: got, on) nowait
        {
            on = ON_DEVICE;
            got = 0;
            for (int i = 0; i < s.n; i++) got += s.a[i] + s.b[i];
        }
#pragma omp taskwait
        CHECK(on && got == expected(1 + times));
        /* then what was mapped, by pointers alone */
        fill(&s, 2 + times);
#pragma omp target update to(s.a[:N], s.b[:N])
        got = 0;
#pragma omp target map(tofrom: got)
        for (int i = 0; i < N; i++) got += s.a[i] + s.b[i];
        CHECK_EQ(got, expected(2 + times));
    }
    /* the struct for longer than one of the pointees */
#pragma omp target enter data map(to: s) nowait
#pragma omp taskwait
#pragma omp target exit data map(from: s.b[:N])
#pragma omp target map(tofrom: got)
    {
        got = 0;
        for (int i = 0; i < s.n; i++) got += s.a[i];
        s.n = 7;
    }
#pragma omp target exit data map(from: s)
    CHECK(s.n == 7 && s.a == a && s.b == b);
    CHECK_EQ(3 * got, expected(4));
#pragma omp target map(tofrom: got)
    for (int i = 0; i < N; i++) got -= s.a[i];
    CHECK_EQ(got, 0);
#pragma omp target exit data map(delete: s.a[:N])
    CHECK(omp_target_is_present(&s.a, here) == omp_target_is_present(&on, here));
    free(a), free(b);
    return RESULT;
}
