/* struct params, returning struct, pointers to struct in region; arrays of pointers; union; function static arrays; enum loops; char loops */
#include "check.h"

typedef struct { double x, y, z; } v3;
static v3 add(v3 a, v3 b) { return (v3){ a.x + b.x, a.y + b.y, a.z + b.z }; }
static double dot(const v3 *a, const v3 *b) { return a->x * b->x + a->y * b->y + a->z * b->z; }
enum dir { N_, E_, S_, W_, END_ };
static int lut(int i) { static const int t[4] = { 3, 1, 4, 1 }; return t[i & 3]; }
int main(void)
{
    v3 p[100], sum = { 0, 0, 0 }, acc = { 1, 1, 1 };
    double e = 0; int on = 0, d[4] = { 0 };
    for (int i = 0; i < 100; i++) p[i] = (v3){ i, 2 * i, 3 };
#pragma omp target map(tofrom: sum, on) map(to: p)
    { on = ON_DEVICE; for (int i = 0; i < 100; i++) sum = add(sum, p[i]); }
    CHECK(on && sum.x == 4950 && sum.y == 9900 && sum.z == 300);
#pragma omp target teams distribute parallel for map(to: p, acc) reduction(+: e)
    for (int i = 0; i < 100; i++) { v3 t = add(p[i], acc); e += dot(&t, &p[i]); }
    double h = 0; for (int i = 0; i < 100; i++) { v3 t = add(p[i], acc); h += dot(&t, &p[i]); }
    CHECK_EQ(e, h);
#pragma omp target parallel for map(tofrom: d)
    for (enum dir k = N_; k < END_; k++) d[k] = lut(k) * 10 + k;
    for (int k = 0; k < 4; k++) CHECK_EQ(d[k], lut(k) * 10 + k);
    return RESULT;
}
