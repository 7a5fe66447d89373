/* structs: whole, copied by value, arrays of structs, nested, members mapped alone, unions, bit-fields */ /* also: -O0 -g */
#include "check.h"

struct point { int x, y; };
struct shape { struct point from, to; double weight[3]; unsigned kind: 3, open: 1; };
union word { unsigned u; float f; unsigned char b[4]; };
typedef struct { int n; struct { int inner; } part; } anon;

int main(void)
{
    struct shape s = { { 1, 2 }, { 3, 4 }, { 0.5, 1.5, 2.5 }, 5, 0 };
    struct point list[20], other = { 7, 8 };
    union word w = { .f = 1.0f };
    anon t = { 1, { 2 } };
    int on = 0;

#pragma omp target map(tofrom: s, on) map(from: list)
    {
        struct shape copy = s;
        on = ON_DEVICE;
        copy.to.x += other.y;
        s = copy;
        s.weight[1] *= 2;
        s.kind++, s.open = 1;
        for (int i = 0; i < 20; i++)
            list[i] = (struct point){ i, -i };
    }
    CHECK(on);
    CHECK(s.to.x == 11 && s.weight[1] == 3 && s.kind == 6 && s.open == 1 && s.from.y == 2);
    for (int i = 0; i < 20; i++)
        CHECK(list[i].x == i && list[i].y == -i);
#pragma omp target                   /* aggregates are tofrom without a clause */
    {
        w.b[0] = 1;
        t.part.inner += t.n;
        other.x = 70;
        list[3] = other;
    }
    CHECK_EQ(w.u, 0x3f800001u);
    CHECK(t.part.inner == 3 && list[3].x == 70 && list[3].y == 8);
#pragma omp target firstprivate(s, other) map(tofrom: on)
    {
        s.from.x = 1000, other.y = 1000;
        on = s.from.x + other.y + s.to.x;
    }
    CHECK_EQ(on, 2011);
    CHECK(s.from.x == 1 && other.y == 8);
#pragma omp target map(tofrom: s.to, s.weight[1:2])
    {
        s.to.y = 40;
        s.weight[2] = s.weight[1];
    }
    CHECK(s.to.y == 40 && s.weight[2] == 3 && s.weight[0] == 0.5);
#pragma omp target teams distribute parallel for map(list[5:10])
    for (int i = 5; i < 15; i++)
        list[i].x *= 2;
    CHECK(list[4].x == 4 && list[5].x == 10 && list[14].x == 28 && list[15].x == 15);
    return RESULT;
}
