/* globals and static locals in a region: mapped as locals are, from the region itself and through called functions */
#include "check.h"

int total = 3, array[8];
static float factor = 0.5f;
static const float weights[4] = { 1, 2, 3, 4 };
extern int later;
static const char *const names[] = { "zero", "one", "two" };

static float weigh(int i) { return weights[i & 3] * 2; }
static int length(int i)
{
    int n = 0;
    while (names[i][n])
        n++;
    return n;
}

int main(void)
{
    static int calls = 41, seq[5] = { 5, 4, 3, 2, 1 };
    int on = 0, len = 0;
    float f = 0;

    total = 10, factor = 0.25f, array[7] = 1;
#pragma omp target map(tofrom: total, calls, on) map(from: f, len)
    {
        on = ON_DEVICE;
        total += 1;
        calls++;
        factor *= 2;                 /* scalar: firstprivate */
        for (int i = 0; i < 8; i++)
            array[i] += i * seq[i % 5] + later;
        f = factor + weigh(2);
        len = length(0) + 10 * length(2);
        seq[0] = 50;
    }
    CHECK(on);
    CHECK_EQ(total, 11);
    CHECK_EQ(calls, 42);
    CHECK_EQ(factor, 0.25f);
    CHECK_EQ(f, 6.5);
    CHECK_EQ(len, 34);
    CHECK_EQ(seq[0], 50);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(array[i], (i == 7) + 9 + i * (i % 5 == 0 ? 5 : 5 - i % 5));
    return RESULT;
}
int later = 9;
