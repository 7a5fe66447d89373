#!/bin/sh
# Loops in PTX go back by a conditional branch, so that there is one branch in an iteration and ptxas can unroll them; they are not entered in
# their middle, and no branch jumps over another one; and they run as often as before.
. tests/lib.sh

cat >loops.c <<'C'
#include <stdio.h>
#include <stdlib.h>
enum { LARGEST = 40 };
static void product(float *z, const float *x, const float *y, int m)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: x[0:m * m], y[0:m * m]) map(from: z[0:m * m])
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            float s = 0;
            for (int k = 0; k < m; k++)
                s += x[i * m + k] * y[k * m + j];
            z[i * m + j] = s;
        }
}
static int halve(float *z, const float *x, int m)       /* ends by comparing floats; by a search; by either of two */
{
    int found = 0;
#pragma omp target teams distribute parallel for map(to: x[0:m]) map(from: z[0:m]) reduction(+: found)
    for (int i = 0; i < m; i++) {
        float a = x[i];
        while (a > 1)
            a *= 0.5f;
        int k = i;
        do
            k++;
        while (k < m && x[k] != x[i]);
        z[i] = a;
        found += k;
    }
    return found;
}
static void rows(double *sum, const double *x, const int *start, int m)      /* code of the team around a loop of its threads */
{
#pragma omp target teams distribute map(to: start[0:m + 1], x[0:start[m]]) map(from: sum[0:m])
    for (int i = 0; i < m; i++) {
        double s = 0;
#pragma omp parallel for reduction(+: s)
        for (int k = start[i]; k < start[i + 1]; k++)
            s += x[k];
        sum[i] = s;
    }
}
static int rows_are_right(int m)
{
    static double sum[LARGEST], x[LARGEST * LARGEST];
    int start[LARGEST + 1] = { 0 };
    for (int i = 0; i < LARGEST * LARGEST; i++)
        x[i] = i % 11;
    for (int i = 0; i < m; i++)
        start[i + 1] = start[i] + i;
    rows(sum, x, start, m);
    for (int i = 0; i < m; i++) {
        double s = 0;
        for (int k = start[i]; k < start[i + 1]; k++)
            s += x[k];
        if (sum[i] != s)
            return printf("row %d of %d: %g, not %g\n", i, m, sum[i], s), 0;
    }
    return 1;
}
int main(void)
{
    static float x[LARGEST * LARGEST], y[LARGEST * LARGEST], z[LARGEST * LARGEST];
    for (int i = 0; i < LARGEST * LARGEST; i++)
        x[i] = (float)(i % 7), y[i] = (float)(i % 5);
    for (int m = 0; m <= LARGEST; m += 1 + m / 6) {
        product(z, x, y, m);
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++) {
                float s = 0;
                for (int k = 0; k < m; k++)
                    s += x[i * m + k] * y[k * m + j];
                if (z[i * m + j] != s)
                    return printf("product of %d: %g, not %g, at %d, %d\n", m, z[i * m + j], s, i, j);
            }
        if (!rows_are_right(m))
            return 1;
        int found = halve(z, x, m), wanted = 0;
        for (int i = 0; i < m; i++) {
            float a = x[i];
            while (a > 1)
                a /= 2;
            int k = i + 1;
            while (k < m && x[k] != x[i])
                k++;
            wanted += k;
            if (z[i] != a)
                return printf("halves of %d: %g, not %g\n", m, z[i], a);
        }
        if (found != wanted)
            return printf("search in %d: %d, not %d\n", m, found, wanted);
    }
    return 0;
}
C
# `@p bra A; bra.uni B; A:`, where B stands before.
back() { awk '/^\$L/ { if (target == $1) print from; seen[$1] = 1 } { target = "" }
    $1 == "bra.uni" && condition && seen[substr($2, 1, length($2) - 1) ":"] { target = condition; from = NR ": " $0 }
    { condition = $1 ~ /^@/ && $2 == "bra" ? substr($3, 1, length($3) - 1) ":" : "" }' "$1"; }
# `@p bra A; bra.uni B; A:`, wherever B stands.
over() { awk '/^\$L/ { if (target == $1) print from } { target = "" }
    $1 == "bra.uni" && condition { target = condition; from = NR ": " $0 }
    { condition = $1 ~ /^@/ && $2 == "bra" ? substr($3, 1, length($3) - 1) ":" : "" }' "$1"; }
# Of a kernel: blocks that jump although they are no rare ones at its end.
jumps() { awk -v kernel="$1" '/\.entry/ { here = $3 ~ kernel } !here { next } $1 ~ /^ret/ { exit } $1 == "bra.uni" { print NR ": " $0 }' "$2"; }
for o in -O1 -O2 -O3; do
    check "$o: PTX" "$CC" $o --gpu-arch=sm_75 --emit=ptx loops.c -o loops.ptx
    back loops.ptx >unconditional
    check "$o: each loop goes back where its condition holds" test ! -s unconditional
    over loops.ptx >over
    check "$o: no branch jumps over another one" test ! -s over
    jumps "^rows_" loops.ptx >jumps
    check "$o: loops with code around them run through" test ! -s jumps
    check "$o: compiles" "$CC" $o --gpu-arch=sm_75 loops.c -o loops
    for seed in 1 2; do check "$o: right, order $seed" in_time env OMPGPU_DEVICE=ptx OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_PTX_SCHEDULE=$seed ./loops; done
done
finish
