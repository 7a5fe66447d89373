#!/bin/sh
# Loops and nests of more than 2^31 iterations, of which nothing tells how many teams run them: they are launched in parts.
. tests/lib.sh
cat >app.c <<'C'
#include <limits.h>
#include <stdio.h>
int main(void)
{
    int n = 2, last = 0;
    unsigned long long hits = 0, sum = 0, h = 0, s = 0;
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: hits, sum) lastprivate(last)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < INT_MAX; j++) {
            if ((j & 0x3ffffff) == 7) {
#pragma omp atomic
                hits++;
#pragma omp atomic
                sum += (unsigned long long)i * 1000000007 + (unsigned)j;
            }
            last = i * 10 + j % 7;
        }
    for (unsigned i = 0; i < 2; i++)
        for (unsigned j = 7; j < INT_MAX; j += 0x4000000)
            h++, s += i * 1000000007ull + j;
    printf("%d %d %d\n", hits == h, sum == s, last == 10 + (INT_MAX - 1) % 7);

    long m = (1L << 31) + 1000, at = 0;
    unsigned from = 5, to = 0x80000000u + 20, ends = 0;
    hits = sum = 0;
#pragma omp target teams distribute parallel for map(tofrom: hits, sum) lastprivate(at)
    for (long i = -3; i < m; i++) {
        if (i < 2 || i > m - 500) {
#pragma omp atomic
            hits++;
#pragma omp atomic
            sum += (unsigned long long)i;
        }
        at = i;
    }
#pragma omp target teams distribute parallel for map(tofrom: ends)
    for (unsigned i = to; i > from; i--)
        if (i < 10 || i > to - 10) {
#pragma omp atomic
            ends += i;
        }
    long x = 0;
#pragma omp target teams distribute parallel for nowait map(tofrom: x)
    for (long i = 0; i < m; i++)
        if (i == m - 1) x = i;
#pragma omp taskwait
    s = (unsigned long long)(-3 - 2 - 1 + 0 + 1), h = 0;
    for (long i = m - 499; i < m; i++)
        s += (unsigned long long)i;
    for (unsigned i = 0; i < 10; i++)
        h += to - i;
    printf("%d %d %d %d %d\n", x == m - 1, hits == 5 + 499, sum == s, at == m - 1, ends == (unsigned)(6 + 7 + 8 + 9 + h));
    return 0;
}
C
check "a nest of 2^32 iterations, loops of more than 2^31" "$CC" -O2 app.c -o app
OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=mandatory ./app >out
check "runs" sh -c 'test "$(cat out)" = "1 1 1
1 1 1 1 1" || { cat out; exit 1; }'
finish
