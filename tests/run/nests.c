/* nests of which nothing tells how many teams run them: the host splits iterations into digits, and loops of one iteration, or of none, are among
 * them */
#include "check.h"
#include <limits.h>

enum { MOST = 7, ALL = MOST * MOST * MOST * MOST };
static int counts[ALL], wanted[ALL];
static const int trips[] = { 0, 1, 2, 3, MOST };
#define EACH(t) for (unsigned t##_at = 0, t = 0; t##_at < sizeof trips / sizeof *trips && (t = (unsigned)trips[t##_at], 1); t##_at++)

static void two(int a, int b)
{
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: counts)
    for (int i = 0; i < a; i++)
        for (int j = 0; j < b; j++)
            counts[i * MOST + j] += 1 + 10 * i + j;
    for (int i = 0; i < a; i++)
        for (int j = 0; j < b; j++)
            wanted[i * MOST + j] += 1 + 10 * i + j;
}
static void three(int a, int b, int c, int step)
{
#pragma omp target teams distribute parallel for collapse(3) schedule(dynamic) map(tofrom: counts)
    for (int i = a - 1; i >= 0; i--)
        for (short j = 3; j < b + 3; j++)
            for (int k = 5; k < c + 5; k += step) {
                if (i == 1 && k == 6)
                    continue;
                counts[(i * MOST + j - 3) * MOST + k - 5] += 1 + i + 10 * j + 100 * k;
            }
    for (int i = 0; i < a; i++)
        for (int j = 3; j < b + 3; j++)
            for (int k = 5; k < c + 5; k += step)
                if (i != 1 || k != 6)
                    wanted[(i * MOST + j - 3) * MOST + k - 5] += 1 + i + 10 * j + 100 * k;
}
static void four(unsigned a, int b, int c, int d)
{
#pragma omp target teams distribute parallel for collapse(4) map(tofrom: counts)
    for (unsigned i = UINT_MAX - 9; i != UINT_MAX - 9 + a; i++)
        for (int j = 0; j < b; j++)
            for (int k = 1; k <= c; k++)
                for (int l = d; l > 0; l--)
                    counts[(((i - (UINT_MAX - 9)) * MOST + (unsigned)j) * MOST + (unsigned)k - 1) * MOST + (unsigned)l - 1]++;
    for (unsigned i = 0; i < a; i++)
        for (int j = 0; j < b; j++)
            for (int k = 0; k < c; k++)
                for (int l = 0; l < d; l++)
                    wanted[((i * MOST + (unsigned)j) * MOST + (unsigned)k) * MOST + (unsigned)l]++;
}
/* what depends on the loop around, and last values */
static void last(int n, int from)
{
    int x = -1, i = -2, j = -3;
#pragma omp target teams distribute parallel for collapse(2) lastprivate(x) map(tofrom: counts)
    for (int u = from; u < n; u++)
        for (int v = 0; v <= u; v++) {
            x = 100 * u + v;
            counts[(u - from) * MOST + v]++;
        }
    for (int u = from; u < n; u++)
        for (int v = 0; v <= u; v++)
            wanted[(u - from) * MOST + v]++;
    if (n > from && n > 0)
        CHECK_EQ(x, 100 * (n - 1) + n - 1);
#pragma omp target teams loop collapse(2) lastprivate(i, j)
    for (i = 0; i < n; i++)
        for (j = 0; j < 3; j++)
            ;
    if (n > 0)
        CHECK_EQ(i * 10 + j, n * 10 + 3);
}
/* constant trip counts */
static void constant(void)
{
#pragma omp target teams distribute parallel for collapse(3) map(tofrom: counts)
    for (int i = 0; i < 3; i++)
        for (short j = 1; j < 2; j++)
            for (int k = 2; k < 7; k += 2)
                counts[i * 9 + k]++;
    for (int i = 0; i < 3; i++)
        for (int k = 2; k < 7; k += 2)
            wanted[i * 9 + k]++;
}

int main(void)
{
    int on = 0;
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: on)
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if (i + j == 0)
                on = ON_DEVICE;
    CHECK(on);
    EACH(a)
        EACH(b) {
            two((int)a, (int)b);
            EACH(c) {
                three((int)a, (int)b, (int)c, 1 + (int)(a + c) % 3);
                EACH(d)
                    four(a, (int)b, (int)c, (int)d);
            }
        }
    for (int n = -1; n < MOST; n++)
        last(n, 0), last(n, 2);
    constant();
    for (int i = 0; i < ALL; i++)
        CHECK_EQ(counts[i], wanted[i]);
    return RESULT;
}
