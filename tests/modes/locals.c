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
    return RESULT;
}
