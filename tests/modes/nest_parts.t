#!/bin/sh
# A nest of more than 2^31 iterations, of which nothing tells how many teams run it: it is launched in parts.
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
    return 0;
}
C
check "a nest of 2^32 iterations" "$CC" -O2 app.c -o app
OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=mandatory ./app >out
check "runs" sh -c 'test "$(cat out)" = "1 1 1" || { cat out; exit 1; }'
finish
