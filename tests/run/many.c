/* many captures of all kinds, calls in clauses, many launches */ /* also: -O0 -g */
#include "check.h"

static int calls;
static int once(int v) { calls++; return v; }

int main(void)
{
    int a0 = 0, a1 = 1, a2 = 2, a3 = 3, a4 = 4, a5 = 5, a6 = 6, a7 = 7, on = 0, out[8] = { 0 };
    char c = 1; short h = 2; long l = 3; float f = 4; double d = 5; unsigned char uc = 6; long long ll = 7; _Bool b = 1;
    int x[3] = { 1, 2, 3 }, y[2][2] = { { 1, 2 }, { 3, 4 } };

#pragma omp target map(tofrom: out, on)
    {
        on = ON_DEVICE;
        out[0] = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7;
        out[1] = (int)(c + h + l + f + d + uc + ll + b);
        out[2] = x[0] + x[2] + y[1][0];
    }
    CHECK(on && out[0] == 28 && out[1] == 29 && out[2] == 7);
#pragma omp target teams distribute parallel for num_teams(once(2)) thread_limit(once(32)) map(tofrom: out[0:8]) if(once(1))
    for (int i = 0; i < 8; i++)
        out[i] = i;
    CHECK(calls >= 1);
    CHECK_EQ(out[7], 7);
    long total = 0;
#pragma omp target data map(tofrom: total)
    for (int k = 0; k < 300; k++)
#pragma omp target map(tofrom: total)
        total += k;
    CHECK_EQ(total, 300 * 299 / 2);
    return RESULT;
}
