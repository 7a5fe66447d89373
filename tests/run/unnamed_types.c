/* unnamed types in any layout, and types that a region declares by themselves */ /* also: -O0 -g */
#include "check.h"
static struct{int a;}global={1};
/* types made of those of local variables */
static void of_variables(void)
{
    int local = 3, many[5] = { 0 }, r = 0;
    double other = 2;
    struct point { short x, y; } p = { 1, 2 };
    union { __typeof__(local) a; __typeof__(other) b; } u = { 4 };
    struct {
        __typeof__(many) a;
        __typeof__(p) q;
        char size[sizeof other + sizeof(p)];
        __typeof__(&p.y) r;
        __typeof__(u.a) z;
    } s = { { 1, 2 }, { 5, 6 } };
    typedef __typeof__(p) point_t;
#pragma omp target map(tofrom: r)
    {
        int inner = 2;
        union { __typeof__(local) c; __typeof__(inner) f; } v = { 5 };
        point_t q = { 7, 8 };
        r = u.a + s.a[1] + v.c + (int)sizeof s.size + s.q.y + q.y + inner;
        s.r = 0;
    }
    CHECK_EQ(r, 11 + 12 + 6 + 8 + 2);
#pragma omp target map(tofrom: u)
    u.b = 1;
    CHECK(u.b == 1);
}

int main(void)
{
    enum{A=3};
    enum
    {
        B = 4
    };
    int on = 0, s = 0, u[2];
    of_variables();
#pragma omp target map(tofrom: s, on)
    {
        struct pair { int x, y; };
        struct pair p = { A, B };
        s = global.a + p.x * 10 + p.y * 100;
        on = ON_DEVICE;
    }
#pragma omp target teams distribute parallel for map(from: u)
    for (int i = 0; i < 2; i++) {
        enum way { UP = 5, DOWN };
        enum way w = i ? DOWN : UP;
        u[i] = w;
    }
    CHECK(on);
    CHECK_EQ(s, 431);
    /* of a literal whose member is read */
#pragma omp target map(tofrom: s)
    s += ((struct { int a, b[2]; }){ .b[1] = 4 }).b[1] + (union { int c; short d; }){ 5 }.c;
    CHECK_EQ(s, 440);
    CHECK_EQ(u[0] * 10 + u[1], 56);
    return RESULT;
}
