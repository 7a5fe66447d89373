/* defaultmap: scalars mapped instead of firstprivate, aggregates firstprivate or to, pointers, none; each behaviour with each category */
#include "check.h"

#ifndef HOST_ONLY
struct pair { int a, b; };

static void objects(void)
{
    int s = 3, v[4] = { 1, 2, 3, 4 }, p[4] = { 0, 1, 2, 3 };
    struct pair t = { 5, 6 };
#pragma omp target defaultmap(from: scalar) defaultmap(to: aggregate)
    s = v[1] + t.b, v[0] = 9, t.a = 9;
    CHECK(s == 8 && v[0] == 1 && t.a == 5);
#pragma omp target defaultmap(from: all) map(to: p)
    {
        s = p[3];
        for (int i = 0; i < 4; i++)
            v[i] = i + 10;
        t = (struct pair){ 7, 8 };
    }
    CHECK(s == 3 && v[3] == 13 && t.b == 8);
#pragma omp target defaultmap(alloc: aggregate) map(from: s)
    v[0] = 77, t.a = 1, s = v[0] + t.a;
    CHECK(s == 78 && v[0] == 10 && t.a == 7);
#pragma omp target defaultmap(private) map(from: s)
    v[0] = 77, t.a = 1, s = v[0] + t.a;
    CHECK(s == 78 && v[0] == 10 && t.a == 7);
#pragma omp target defaultmap(firstprivate) map(from: s)
    v[0] += 77, t.a += 1, s = v[0] + t.a;
    CHECK(s == 95 && v[0] == 10 && t.a == 7);
#pragma omp target data map(tofrom: v, t, s)
#pragma omp target defaultmap(present)
    v[0] += 77, t.a += 1, s = v[0] + t.a;
    CHECK(s == 95 && v[0] == 87 && t.a == 8);
#pragma omp target defaultmap(alloc: scalar)
    s = 5;
    CHECK_EQ(s, 95);
}

static void pointers(void)
{
    int s = 0, v[4] = { 0, 1, 2, 3 }, *p = v, *q = v;
#pragma omp target data map(p[0:4])
    {
#pragma omp target defaultmap(firstprivate: pointer) map(from: s) /* its value is the host's */
        s = q == p, q++;
        CHECK(s == 1 && q == p);
#pragma omp target defaultmap(default: pointer) map(from: s)
        s = p[1];
        CHECK_EQ(s, 1);
#pragma omp target defaultmap(none: pointer) map(from: s) map(p[0:4])
        s = p[3];
        CHECK_EQ(s, 3);
    }
#pragma omp target defaultmap(tofrom: pointer) map(from: s)
    q = 0, s = 1;
    CHECK(!q && s);
    q = p;
#pragma omp target defaultmap(to: pointer) map(from: s)
    s = q != 0, q = 0;
    CHECK(s && q == p);
}
#endif

int main(void)
{
    int x = 1, a[3] = { 1, 2, 3 }, on = 0, r = 0;
    struct { int v; } s = { 5 };
    double d = 0.5;

#pragma omp target defaultmap(tofrom: scalar)
    {
        on = ON_DEVICE;
        x += 10;
        d *= 3;
    }
    CHECK(on);
    CHECK_EQ(x, 11);
    CHECK_EQ(d, 1.5);
#pragma omp target defaultmap(firstprivate: aggregate) map(from: r)
    {
        a[0] = 100;
        s.v += a[0] + a[1];
        r = s.v;
    }
    CHECK_EQ(r, 107);
    CHECK(a[0] == 1 && s.v == 5);
#ifndef HOST_ONLY
#pragma omp target defaultmap(to: aggregate) map(tofrom: r)
    {
        a[0] = 100;
        r = a[0] + a[2];
    }
    CHECK_EQ(r, 103);
    CHECK_EQ(a[0], 1);
#endif
#pragma omp target defaultmap(none) map(tofrom: a) firstprivate(x) map(from: r)
    {
        a[1] = x;
        r = a[1] + 1;
    }
    CHECK(a[1] == 11 && r == 12);
#pragma omp target defaultmap(tofrom) map(tofrom: r)
    x = a[2] = r = 40;
    CHECK(x == 40 && a[2] == 40 && r == 40);
    static const int fixed[3] = { 7, 8, 9 };       /* read-only memory: nothing is copied back */
#pragma omp target defaultmap(tofrom) map(tofrom: r)
    r = fixed[2] - fixed[x & 1];
    CHECK_EQ(r, 2);
    int v __attribute__((vector_size(16))) = { 1 }; /* no scalar */
#pragma omp target defaultmap(firstprivate: scalar) defaultmap(tofrom: aggregate)
    x = 1, a[2] = 41, v[0] = 43;
    CHECK(x == 40 && a[2] == 41 && v[0] == 43);
#pragma omp target defaultmap(default)
    x = 1, a[2] = 42;
    CHECK(x == 40 && a[2] == 42);
#ifndef HOST_ONLY
    objects();
    pointers();
#endif
    return RESULT;
}
