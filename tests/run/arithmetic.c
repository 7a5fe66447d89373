/* C's arithmetic as on the host: signedness of char, promotions, shifts, wrap-around, division, conversions, sizes */
#include "check.h"

int main(void)
{
    int on = 0, r[12]; unsigned u = 0; char c = -1; unsigned char uc = 200; signed char sc = -100; long long big = -7; float f = -2.7f; double nz = -0.0;
    _Bool b = 2;
#pragma omp target map(from: r, u) map(tofrom: on)
    {
        on = ON_DEVICE;
        r[0] = c < 0; r[1] = uc + 100; r[2] = (signed char)(sc * 2); r[3] = (int)(big / 2); r[4] = (int)(big % 3); r[5] = (int)f; r[6] = (int)(big >> 1);
        r[7] = b + 1; r[8] = 1 / nz < 0; r[9] = (int)((unsigned char)(uc << 1)); r[10] = sizeof(long) + sizeof(wchar_t) + sizeof(void *); r[11] = -7 / 2 * 2 + -7 % 2;
        u = 0u - 1;
    }
    int h[12] = { c < 0, uc + 100, (signed char)(sc * 2), (int)(big / 2), (int)(big % 3), (int)f, (int)(big >> 1), b + 1, 1, (unsigned char)(uc << 1), 20, -7 };
    CHECK(on && u == 0xffffffffu);
    for (int i = 0; i < 12; i++) CHECK_EQ(r[i], h[i]);
    return RESULT;
}
