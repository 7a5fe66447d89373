/* unnamed types in any layout, and types that a region declares by themselves */ /* also: -O0 -g */
#include "check.h"
static struct{int a;}global={1};
int main(void)
{
    enum{A=3};
    enum
    {
        B = 4
    };
    int on = 0, s = 0, u[2];
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
