/* types that a function's declaration defines for its result */
#include "check.h"

#pragma omp begin declare target
struct pair {
    int x;
    struct {
        int in;
    } n;
} make_pair(int v)
{
    struct pair p = { v + 1, { 4 } };
    return p;
}
struct {
    int y;
    double z;
} *last(int v)
{
    static __typeof__(*last(0)) s;
    s.y = v;
    s.z = 2;
    return &s;
}
enum number { ONE = 1, TWO } number(int v) { return v ? TWO : ONE; }
const struct __attribute__((aligned(32))) block { int x; } declared_only(int);
static union bits { int i; float f; } change(float x)
{
    union bits b = { .f = x };
    int s = 0;
#pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < 10; i++) s += i;
    b.i += s - 45;
    return b;
}
const struct block declared_only(int x)
{
    struct block b = { x * 3 };
    return b;
}
struct row { int c; } (*rows(int k))[2];
struct row (*rows(int k))[2]
{
    static struct row r[1][2];
    r[0][1].c = k;
    return r;
}
struct given { int f; } (*giver(void))(int);
static struct given give(int z) { return (struct given){ z }; }
struct given (*giver(void))(int) { return give; }
#pragma omp end declare target

/* This one is the host's, its region is not. */
static struct one { int q; } host(void)
{
    struct one c = { 1 };
    int l = 2;
#pragma omp target map(l)
    l += 5;
    c.q = l;
    return c;
}

int main(void)
{
    int sum = 0, y = 0, b = 0, align = 0;
    float f = 0;
    enum number n = ONE;
    struct pair p = { 0 };
    struct one one = { 3 };
#pragma omp target map(sum, n, y, f, b, align, p) map(tofrom : one)
    {
        p = make_pair(6);
        sum = make_pair(3).x + p.n.in;
        n = number(1);
        y = last(5)->y;
        f = change(2.5f).f;
        b = declared_only(3).x;
        align = _Alignof(struct block);
        one.q++;
        y += (*rows(5))[1].c + giver()(8).f;
    }
    CHECK_EQ(sum, 8);
    CHECK_EQ(p.x, 7);
    CHECK_EQ(n, TWO);
    CHECK_EQ(y, 5 + 5 + 8);
    CHECK(f == 2.5f);
    CHECK_EQ(b, 9);
    CHECK_EQ(align, 32);
    CHECK_EQ(one.q, 4);
    CHECK_EQ(host().q, 7);
    return RESULT;
}
