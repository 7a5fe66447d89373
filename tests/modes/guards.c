/* effects of sequential code that others see happen once: stores, atomics, a lock, copies, the heap, values that differ by thread */
#include "check.h"
#include <stdlib.h>
struct pair { int a, b; };
int counter[4], table[4] = { 5, 6, 7, 8 };
volatile int clocked;
#pragma omp declare target enter(counter, table, clocked)
static __attribute__((noinline)) int count(int *p, int by) { *p += by; return *p; }
int main(void)
{
    int out[64] = { 0 }, on = 0, seen[8] = { 0 };
    struct pair p = { 1, 2 }, q = { 0, 0 };
#pragma omp target map(tofrom: out, on, seen, p, q)
    {
        int old, n = 0;
        on += 1;                                  /* read and written by the main thread only */
        seen[0] = on;
        seen[1] = seen[0] + 1;
#pragma omp atomic capture
        { old = counter[0]; counter[0] += 3; }
#pragma omp critical
        { counter[1] += 5; n = counter[1]; }
        q = p;
        memcpy(table, counter, sizeof counter);
        clocked += 2;
        double t0 = omp_get_wtime();
        int *heap = malloc(64 * sizeof *heap);
        n += count(&counter[2], 4);
#pragma omp parallel for
        for (int i = 0; i < 64; i++)
            heap[i] = i + n + old;
#pragma omp parallel for
        for (int i = 0; i < 64; i++)
            out[i] += heap[63 - i] + q.b;
        seen[2] = heap[1] + count(&counter[2], 1);
        free(heap);
        if (omp_get_wtime() >= t0 && clocked == 2)
            seen[3]++;
        for (int i = 0; i < 3; i++)               /* stores without loads: no barrier */
            seen[4 + i] = table[i];
        if (!ON_DEVICE)
            on = -1;
    }
    CHECK_EQ(on, 1);
    CHECK(seen[0] == 1 && seen[1] == 2 && seen[2] == 1 + 9 + 5 && seen[3] == 1);
    CHECK(seen[4] == 3 && seen[5] == 5 && seen[6] == 0);
    for (int i = 0; i < 64; i++)
        CHECK_EQ(out[i], 63 - i + 9 + 2);
    return RESULT;
}
