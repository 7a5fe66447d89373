/* alignment that a declaration asks for: variables of the device, groupprivate, in every spelling */
/* flags: -std=gnu2x */ /* also: -O0 */
#include "check.h"
#include <stdint.h>

enum { LINE = 128 };
#pragma omp begin declare target
char first = 1;
int a __attribute__((aligned(32))) = 4;
char pad_a = 2;
static char __attribute__((aligned(8 * sizeof(int)))) b, c[3] = { 1, 2, 3 };
char pad_b = 3;
_Alignas(LINE) int d = 5;
char pad_d = 4;
_Alignas(16) _Alignas(64) char e;
alignas(double) char f;
char pad_f = 5;
[[gnu::aligned(256)]] int g = 6;
int h __attribute__((aligned));
char pad_h = 6;
float v[32] __attribute__((aligned(64)));
extern _Alignas(256) int later;
static int group __attribute__((aligned(LINE)));
#pragma omp groupprivate(group)
#pragma omp end declare target
_Alignas(256) int later = 7;

static int off(volatile void *p, unsigned n) { return (uintptr_t)p % n != 0; }
#pragma omp declare target(off)

int main(void)
{
    int bad = -1, sum = 0, on = 0;
#pragma omp target map(from: bad, sum, on)
    {
        bad = off(&a, 32) + off(&b, 32) + off(c, 32) + off(&d, LINE) + off(&e, 64) + off(&f, sizeof(double)) + off(&g, 256) + off(&h, 16) +
              off(v, 64) + off(&later, 256);
        sum = first + a + b + c[2] + d + e + f + g + h + later + pad_a + pad_b + pad_d + pad_f + pad_h;
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(bad, 0);
    CHECK_EQ(sum, 1 + 4 + 3 + 5 + 6 + 7 + 2 + 3 + 4 + 5 + 6);
#pragma omp target teams num_teams(3) reduction(+: bad)
    {
        group = omp_get_team_num();
        bad += off(&group, LINE) || group != omp_get_team_num();
    }
    CHECK_EQ(bad, 0);
    /* as wide accesses as there are */
#pragma omp target
    for (int i = 0; i < 32; i++)
        v[i] = (float)i;
    float total = 0;
#pragma omp target map(tofrom: total)
    for (int i = 0; i < 32; i++)
        total += v[i] * 2;
    CHECK_EQ(total, 32 * 31);
    return RESULT;
}
