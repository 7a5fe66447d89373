/* locals of sequential code that regions reach: by reference, through pointers, through a pointer that a region keeps */
#include "check.h"
struct list { int v; struct list *next; };
int *kept;
#pragma omp declare target enter(kept)
static void bump(int *p)
{
#pragma omp parallel
    {
#pragma omp atomic
        (*p)++;
    }
}
/* Of `own` nothing is stored but 0, which is not what the memory of a team begins with. */
static unsigned a[6][50], b[6][50], c[6];
struct pair { unsigned a, b, *p; };
static void constant(void)
{
#pragma omp target teams distribute map(tofrom: a, b, c) num_teams(3)
    for (int t = 0; t < 6; t++) {
        unsigned one = 1, first = (unsigned)t, x = c[t], all[8] = { 1, 2, 3 }, *q = &first;
        struct pair s = { 3, 4, &x };
        if (t & 2) {
            if (a[t][0] & 1) {
                unsigned own = 3, *list[3] = { &x, all, &own }, **r = &list[one % 3];
                x += **r + own;
            } else {
                unsigned own = 0, *list[3] = { &x, all, &own }, **r = &list[one % 3];
                **r += 3;
                list[2] = &s.a;
#pragma omp parallel for schedule(static, 3)
                for (int j = 0; j < 50; j++)
                    if (j == 42) **r ^= b[t][j];
                    else a[t][j]++;
                x += **r + own;
            }
        }
        c[t] = one + 3 * first + 7 * x + *q + s.a + s.b;
    }
    for (unsigned t = 0; t < 6; t++) CHECK_EQ(c[t], 8 + 4 * t + (t & 2 ? 28 : 0));
}
int main(void)
{
    int out[6] = { 0 }, on = 0, threads = 0;
#pragma omp target map(tofrom: out, on, threads)
    {
        int x = 1, y = 10, arr[16] = { 0 }, *p = &y;
        struct list b = { 2, 0 }, a = { 1, &b };
        float private[4] = { 1, 2, 3, 4 };
#pragma omp parallel
        {
#pragma omp master
            threads = omp_get_num_threads(), kept = &x;
        }
        *kept += 4;                               /* x through memory */
        x += 2;
#pragma omp parallel for
        for (int i = 0; i < 16; i++)
            arr[i] = a.next->v + i + x;
        a.next->v = arr[3];
        for (int k = 0; k < 3; k++) {
            bump(p);
            y += 100;
            p = k == 1 ? &x : &y;
        }
        private[on]++;
        out[0] = x, out[1] = y, out[2] = b.v, out[3] = (int)(private[0] + private[1]), out[4] = arr[15];
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(out[0], 7 + threads);
    CHECK_EQ(out[1], 310 + 2 * threads);
    CHECK(out[2] == 12 && out[3] == 4 && out[4] == 2 + 15 + 7);
    constant();
    return RESULT;
}
