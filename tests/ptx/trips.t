#!/bin/sh
# Loops that threads share, whose bounds are known to be small: what counts their iterations is left out of the PTX where it can be, and each
# iteration runs once all the same, also where bounds are large, negative, or leave none.
. tests/lib.sh

cat >trips.c <<'C'
#include <limits.h>
#include <stdio.h>
#include <string.h>
enum { MOST = 300 };
static int seen[MOST];
#pragma omp declare target(seen)
/* The team's threads take the loop of each function; `at`: where an iteration is noted. */
#define NOTE(at) seen[at]++
static void below(int x, int y)                  /* no thread has a second iteration */
{
#pragma omp target teams num_teams(1) thread_limit(32)
    {
        int lb = x & 15, ub = y & 31;
#pragma omp parallel for
        for (int i = lb; i < ub; i++)
            NOTE(i);
    }
}
static void whole(int x, int y)
{
#pragma omp target teams num_teams(1) thread_limit(32)
    {
        int lb = 1 + (x & 15), ub = y & 31;
#pragma omp parallel for
        for (int i = lb; i <= ub; i++)
            NOTE(i);
    }
}
static void downwards(int x, int y)
{
#pragma omp target teams num_teams(1) thread_limit(64)
    {
        int lb = x & 31, ub = y & 31;
#pragma omp parallel for
        for (int i = ub; i >= lb; i--)
            NOTE(i);
    }
}
static void some(int x, int y)                   /* threads have several */
{
#pragma omp target teams num_teams(1) thread_limit(32)
    {
        int lb = x & 31, ub = y & 255;
#pragma omp parallel for
        for (int i = lb; i <= ub; i++)
            NOTE(i);
    }
}
static void free_team(int x, int y, int threads)
{
#pragma omp target teams num_teams(1) thread_limit(threads)
    {
        int lb = x & 31, ub = y & 255;
#pragma omp parallel for
        for (int i = lb; i < ub; i++)
            NOTE(i);
    }
}
static void league(int n, int teams, int threads)
{
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads)
    for (int i = 0; i < n; i++)
        NOTE(i);
}
static void nest(int n, int m, int teams, int threads)
{
#pragma omp target teams distribute parallel for collapse(2) num_teams(teams) thread_limit(threads)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            NOTE(i * m + j);
}
static void anywhere(int lb, int ub, int from, int threads) /* bounds that may be any: differences to `from` are small */
{
#pragma omp target teams num_teams(1) thread_limit(threads)
    {
#pragma omp parallel for
        for (int i = lb; i < ub; i++)
            NOTE((unsigned)i - (unsigned)from);
    }
}
static int check(const char *what, int lb, int end, int x, int y)
{
#pragma omp target update from(seen)
    for (int i = 0; i < MOST; i++)
        if (seen[i] != (i >= lb && i < end))
            return printf("%s(%d, %d): iteration %d ran %d times\n", what, x, y, i, seen[i]), 1;
    memset(seen, 0, sizeof seen);
#pragma omp target update to(seen)
    return 0;
}
int main(void)
{
    static const int x[] = { 0, 1, 5, 15, 16, 31 }, y[] = { 0, 1, 5, 15, 16, 31, 200, 255 }, threads[] = { 1, 7, 32, 100 };
    int bad = 0;
    for (unsigned i = 0; i < sizeof x / sizeof *x; i++)
        for (unsigned k = 0; k < sizeof y / sizeof *y; k++) {
            int a = x[i], b = y[k];
            below(a, b), bad += check("below", a & 15, b & 31, a, b);
            whole(a, b), bad += check("whole", 1 + (a & 15), (b & 31) + 1, a, b);
            downwards(a, b), bad += check("downwards", a, (b & 31) + 1, a, b);
            some(a, b), bad += check("some", a, b + 1, a, b);
            free_team(a, b, threads[k % 4]), bad += check("free_team", a, b, a, b);
            league(b, 1 + a, threads[k % 4]), bad += check("league", 0, b, a, b);
            nest(a, b & 7, 1 + a % 3, threads[k % 4]), bad += check("nest", 0, a * (b & 7), a, b);
            anywhere(INT_MIN, INT_MIN + b, INT_MIN, threads[i % 4]), bad += check("anywhere, least", 0, b, a, b);
            anywhere(INT_MAX - b, INT_MAX, INT_MAX - b, threads[i % 4]), bad += check("anywhere, most", 0, b, a, b);
            anywhere(INT_MAX, INT_MIN + b, 0, threads[i % 4]), bad += check("anywhere, none", 0, 0, a, b);
            anywhere(-b, 0, -b, threads[i % 4]), bad += check("anywhere, around 0", 0, b, a, b);
        }
    return bad != 0;
}
C
# kernel NAME FILE: the kernel's text
kernel() { awk -v kernel="$1" '/\.entry/ { here = $3 ~ "^" kernel "_[0-9]*\\(" } here' "$2"; }
# back FILE: branches to a label before
back() { awk '/^\$L/ { seen[$1] = 1 } /^\t*@.*bra|^\tbra/ { if (seen[substr($NF, 1, length($NF) - 1) ":"]) print }' "$1"; }
for o in -O1 -O2 -O3; do
    check "$o: compiles" "$CC" $o --gpu-arch=sm_75 trips.c -o trips
    for seed in 1 2; do check "$o: right, order $seed" in_time env OMPGPU_DEVICE=ptx OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_PTX_SCHEDULE=$seed ./trips; done
done
check "PTX" "$CC" -O2 --gpu-arch=sm_75 --emit=ptx trips.c -o trips.ptx
for k in below whole downwards; do
    kernel $k trips.ptx >$k.ptx
    back $k.ptx >back
    check "$k: no loop is left" test -s $k.ptx -a ! -s back
    grep selp $k.ptx >selp
    check "$k: iterations are not counted" test ! -s selp
done
for k in some free_team; do
    kernel $k trips.ptx >$k.ptx
    back $k.ptx >back
    check "$k: there is a loop" test -s back
    # the next iteration's number is compared as it is: none is taken from the number of iterations
    awk '$1 == "sub.s32" { sub(",", "", $2); from[$2] = 1 } $1 ~ /^setp/ { gsub(",", ""); if (from[$3] || from[$4]) print }' $k.ptx >differences
    check "$k: no difference is compared" test ! -s differences
done
finish
