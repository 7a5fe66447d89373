#!/bin/sh
# Addresses that move on by the same distance in each iteration of a thread's loop are kept from one to the next: no product is left in the loop.
# What they are is in tests/run/pointers.c.
. tests/lib.sh

cat >column.c <<'C'
void column(int n, int m, const float *x, const float *y, float *z)
{
#pragma omp target teams distribute parallel for map(to: x[0:n * m], y[0:n * m]) map(from: z[0:m])
    for (int j = 0; j < m; j++) {
        float s = 0;
        for (int k = 0; k < n; k++)
            s += x[k * m + j] * y[k * m];
        z[j] = s;
    }
}
C
# inner FILE: the lines of loops that hold no other one
inner() { awk '{ line[NR] = $0 } /^\$L/ { at[$1] = NR } /^\t(@.*)?bra/ { from = at[substr($NF, 1, length($NF) - 1) ":"]
    if (from) { inner = 1; for (i = from + 1; i < NR; i++) inner = inner && line[i] !~ /bra/
        if (inner) for (i = from + 1; i <= NR; i++) print line[i] } }' "$1"; }
for o in -O2 -O3; do
    check "$o: PTX" "$CC" $o --gpu-arch=sm_75 --emit=ptx column.c -o column.ptx
    inner column.ptx >inner
    check "$o: there are loops" test "$(grep -c 'ld.global' inner)" -ge 4
    grep 'mul\|mad\|cvt' inner >products
    check "$o: no product in them" test ! -s products
done
finish
