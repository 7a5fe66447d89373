/* declare mapper: default and named, nested, of arrays, in functions; implicit, in update, enter and
 * exit data */ /* also: -O0 -g */
#include <stdlib.h>
#include "check.h"
enum { N = 6 };
struct vec {
    int n;
    double *d;
};
struct pair {
    struct vec own, *more;
    int count, unused[3];
};
#pragma omp declare mapper(struct vec v) map(v, v.d[0 : v.n])
#pragma omp declare mapper(half : struct vec v) map(to : v.n) map(tofrom : v.d[0 : v.n / 2])
#pragma omp declare mapper(struct pair p) map(p.own, p.count) map(tofrom : p.more[0 : p.count])

static struct vec make(double first)
{
    struct vec v = { N, malloc(N * sizeof(double)) };
    for (int i = 0; i < N; i++)
        v.d[i] = first + i;
    return v;
}
static double sum(struct vec v)
{
    double s = 0;
    for (int i = 0; i < v.n; i++)
        s += v.d[i];
    return s;
}
static void implicit_and_named(void)
{
    struct vec a = make(0);
    int on = 0;
#pragma omp target map(tofrom : on)
    {
        on = ON_DEVICE;
        for (int i = 0; i < a.n; i++)
            a.d[i] *= 2;
    }
    CHECK(on);
    CHECK_EQ((int)sum(a), 30);
#pragma omp target map(mapper(half), tofrom : a)
    for (int i = 0; i < a.n / 2; i++)
        a.d[i] = 100;
    CHECK_EQ((int)sum(a), 324);
#pragma omp target map(mapper(default), to : a)
    a.d[0] = 1e6; /* not copied back */
    CHECK_EQ((int)sum(a), 324);
#pragma omp target map(tofrom : a) nowait depend(out : a)
    a.d[1] = 101;
#pragma omp target update to(a) nowait depend(inout : a)
#pragma omp taskwait
    CHECK_EQ((int)sum(a), 325);
    free(a.d);
}
static void nested(void)
{
    struct pair p = { make(0), malloc(2 * sizeof(struct vec)), 2, { 7, 8, 9 } };
    p.more[0] = make(10), p.more[1] = make(20);
#pragma omp target map(tofrom : p)
    for (int k = 0; k < p.count; k++)
        for (int i = 0; i < N; i++)
            p.own.d[i] += p.more[k].d[i], p.more[k].d[i] = k;
    CHECK_EQ((int)sum(p.own), 225);
    CHECK_EQ((int)sum(p.more[0]), 0);
    CHECK_EQ((int)sum(p.more[1]), N);
    CHECK_EQ(p.unused[2], 9);
    free(p.own.d), free(p.more[0].d), free(p.more[1].d), free(p.more);
}
static void stays_mapped(void)
{
    struct vec a[3] = { make(0), make(0), make(0) }, *p = a;
#pragma omp target enter data map(to : a)
    CHECK(PRESENT(a[2].d));
#pragma omp target map(present, alloc : p[0 : 3])
    for (int k = 0; k < 3; k++)
        p[k].d[0] += 10 * (k + 1);
    CHECK((int)sum(a[1]) == 15);
#pragma omp target update from(a[1 : 2])
    CHECK_EQ((int)sum(a[1]), 35);
    CHECK((int)sum(a[0]) == 15);
    a[0].d[5] = 50;
#pragma omp target update to(p[0])
#pragma omp target exit data map(from : a)
    CHECK_EQ((int)sum(a[0]), 60);
    CHECK_EQ((int)sum(a[2]), 45);
    CHECK(!PRESENT(a[2].d));
    free(a[0].d), free(a[1].d), free(a[2].d);
}
static void in_function(int n)
{
    typedef struct {
        int *x, *y, n;
    } xy;
    int x[8] = { 0 }, y[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    xy v = { x, y, n };
#pragma omp declare mapper(axpy : xy s) map(to : s.y[0 : s.n]) map(from : s.x[0 : s.n])
#pragma omp target parallel for map(mapper(axpy), tofrom : v) firstprivate(n)
    for (int i = 0; i < n; i++)
        v.x[i] = 2 * v.y[i], v.y[i] = 0;
    CHECK_EQ(x[7], 16);
    CHECK_EQ(y[7], 8);
}
/* With variables of its place. */
struct open {
    int *x;
};
static int shift;
static void with_length(struct open *v, int n)
{
    int on = 0;
#pragma omp declare mapper(struct open o) map(to : o.x) map(tofrom : o.x[shift : n])
    for (int times = 0; times < 2; times++) {
#pragma omp target map(tofrom : v[0 : 2], on)
        {
            on = ON_DEVICE;
            for (int i = shift; i < shift + n; i++)
                v[0].x[i]++, v[1].x[i]--;
        }
        n--;
    }
    CHECK(on);
}
static void lengths(void)
{
    int x[4] = { 0 }, y[4] = { 0 };
    struct open v[2] = { { x }, { y } };
    shift = 1;
    with_length(v, 3);
    CHECK(x[0] == 0 && x[1] == 2 && x[2] == 2 && x[3] == 1);
    CHECK(y[0] == 0 && y[1] == -2 && y[2] == -2 && y[3] == -1);
}
/* `present` is asked of what the mapper lists, not of the pointer that leads there. */
struct led {
    int y, *p;
};
#pragma omp declare mapper(struct led s) map(s.y, s.p[0 : 2])
static void listed_are_present(void)
{
    int x[2] = { 1, 2 }, there = 0;
    struct led s = { 1, x };
#pragma omp target data map(s.y, x)
#pragma omp target data map(present, alloc : s)
    there = PRESENT(x) && PRESENT(&s.y);
    CHECK(there);
}
int main(void)
{
    listed_are_present();
    lengths();
    implicit_and_named();
    nested();
    stays_mapped();
    in_function(8);
    return RESULT;
}
