/* reverse offload: what regions of the host get and return, large objects, in functions, by several threads; nested in a region on the host */
#include <stdlib.h>
#include "check.h"
#pragma omp requires reverse_offload
enum { N = 9000, THREADS = 6 };
struct pair {
    int low, high;
};
static int calls, said[THREADS];
static struct pair last = { 1, 2 };
static int plain = 1, shared = 1;
#pragma omp declare target(shared)
#pragma omp declare target
static int ask(int question)
{
    int answer = 0;
    struct pair p = { question, 2 };
#pragma omp target device(ancestor : 1) map(from : answer) map(p)
    {
        calls++;
        last = p;
        answer = p.low * p.high;
        p.high = calls;
    }
    return answer + p.high;
}
#pragma omp end declare target
static void objects(void)
{
    int a[N], part[8] = { 0 }, x = 3, y = 4, on = 0, sum = 0, *p = a, *heap = malloc(4 * sizeof *heap), *q = heap;
    for (int i = 0; i < N; i++)
        a[i] = i;
    for (int i = 0; i < 4; i++)
        heap[i] = i;
#pragma omp target map(to : a, heap[0 : 4]) map(tofrom : on, x, part) map(from : sum)
    {
        int mine[N], seen = 0;
        on = ON_DEVICE;
        for (int i = 0; i < N; i++)
            mine[i] = a[i] + 1;
        part[5] = 50;
        /* a: the host's; mine: a copy there and back; q: leads to the host's block */
#pragma omp target device(ancestor : 1) map(always, to : part[4 : 2]) map(mine) firstprivate(y) private(seen)
        {
            seen = 1;
            for (int i = 0; i < N; i++)
                mine[i] += p[i] + seen;
            y = part[5], part[4] = y;
            q[3] = 33;
            x++;
        }
        sum = mine[N - 1] + x + y + part[4] + heap[3] + seen;
#pragma omp target device(ancestor : 1) map(always, from : heap[2 : 2]) nowait
        heap[2] = 22;
        sum += heap[2] + heap[3];
    }
    CHECK(on);
#ifndef HOST_ONLY
    CHECK_EQ(sum, N + N - 1 + 1 + 3 + 4 + 0 + 3 + 0 + 22 + 33);
    CHECK_EQ(x, 3);
    CHECK_EQ(part[4], 0); /* the device's, at the end */
#endif
    CHECK_EQ(heap[3], 33);
    free(heap);
}
int main(void)
{
    int n = 0, right = 0;
    objects();
#pragma omp target parallel for num_threads(THREADS) reduction(+ : n, right)
    for (int i = 0; i < THREADS; i++) {
        int r = ask(i) - 2 * i;
        n += r, right += r > 0;
#pragma omp target device(ancestor : 1)
        said[i]++;
    }
    CHECK_EQ(n, THREADS * (THREADS + 1) / 2);
    CHECK_EQ(right, THREADS);
    CHECK_EQ(calls, THREADS);
    CHECK(last.high == 2 && last.low >= 0 && last.low < THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(said[i], 1);
#pragma omp target
    {
        plain = 5, shared = 5;
#pragma omp target device(ancestor : 1)
        last.low = plain++, shared++;
    }
    CHECK_EQ(plain, 1);
#ifndef HOST_ONLY
    CHECK(last.low == 5 && shared == 2);
#endif
    for (int d = 0; d < THREADS; d++)
#pragma omp target map(tofrom : said[d : 1]) nowait
    {
        int k = d;
#pragma omp target device(ancestor : 1) map(tofrom : k)
        k += 10;
        said[d] = k;
    }
#pragma omp taskwait
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(said[i], i + 10);
    n = 5;
#pragma omp target device(ancestor : 1)
    n++;
    CHECK_EQ(n, 5);
    CHECK_EQ(ask(7), 14 + THREADS + 1);
    return RESULT;
}
