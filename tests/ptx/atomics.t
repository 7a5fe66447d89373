#!/bin/sh
# atomic compare of integers: the hardware's minimum and maximum, where C compares as the type of x does; otherwise a loop.
. tests/lib.sh
have_ptxas || skip_all "no ptxas"
cat >extremes.c <<'C'
#include <stdio.h>
enum kind { NONE, SOME = 5, LESS = -3 };
int main(void)
{
    enum kind x = NONE;
    unsigned u = 5;
    int i = -1, old[100], new[100], bad = 0, c = 50, z = 10;
    long l = -7;
    unsigned long ul = 3;
    long long ll = 0;
    float f = 2.5f;
#pragma omp target teams distribute parallel for map(tofrom: x, u, i, l, ul, ll, old, new, c, z)
    for (int k = 0; k < 100; k++) {
#pragma omp atomic compare
        if (x < (enum kind)(k % 9)) x = (enum kind)(k % 9);
#pragma omp atomic compare
        if (l < k) l = k;
#pragma omp atomic compare seq_cst
        if (ll > -k) ll = -k;
#pragma omp atomic compare capture
        { old[k] = c; if (c < k) c = k; }
        int t;
#pragma omp atomic compare capture
        { if (c < k) { c = k; } t = c; }
        new[k] = t;
#ifdef MIXED
#pragma omp atomic compare
        if (u > -1 - k) u = -1 - k;      /* as unsigned numbers, here and in the next two */
#pragma omp atomic compare
        if (i < (unsigned)k) i = (unsigned)k;
#pragma omp atomic compare
        ul = k > ul ? k : ul;
#pragma omp atomic compare
        if (z > f - k) z = f - k;
#endif
    }
    for (int k = 0; k < 100; k++) bad += old[k] < 50 || old[k] > 99 || new[k] < old[k] || new[k] < k || new[k] > 99;
    printf("%d %ld %lld %d %u %d %lu %d, %d bad\n", x, l, ll, c, u, i, ul, z, bad);
    return 0;
}
C
OMP_TARGET_OFFLOAD=MANDATORY; export OMP_TARGET_OFFLOAD
run() { check "$2, on device $1" sh -c "OMPGPU_DEVICE=$1 ./extremes >run.out" && check "..." has run.out "^$3\$"; }
for level in -O0 -O2; do
    check "$level: compiles" "$CC" $level -w --gpu-arch=emu,sm_75 extremes.c -o extremes
    for device in emu ptx; do run $device "$level" '8 99 -99 99 5 -1 3 10, 0 bad'; done
    check "$level: mixed types compile" "$CC" $level -w -DMIXED --gpu-arch=emu,sm_75 extremes.c -o extremes
    for device in emu ptx; do run $device "$level, mixed types" '8 99 -99 99 5 -1 99 -96, 0 bad'; done
done
check "PTX" "$CC" -O2 -w --gpu-arch=sm_75 --emit=ptx extremes.c -o extremes.ptx
check "the hardware's" has extremes.ptx 'atom\..*max\.s32' 'atom\..*max\.s64' 'atom\..*min\.s64'
check "no loops" lacks extremes.ptx 'atom\..*cas'
check "PTX of mixed types" "$CC" -O2 -w -DMIXED --gpu-arch=sm_75 --emit=ptx extremes.c -o mixed.ptx
check "a loop for each of them" test "$(sed -n '/entry main_[0-9]*(/,/^}/p' mixed.ptx | grep -c 'atom\..*cas')" = 4
finish
