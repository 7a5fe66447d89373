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
cat >guarded.c <<'C'
void smooth(int n, int r, const float *x, const float *w, float *y)
{
#pragma omp target teams distribute parallel for map(to: x[0:n], w[0:r]) map(from: y[0:n])
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int k = 0; k < r; k++)
            if (i - 5 + k >= 0 && i - 5 + k < n)
                s += x[i - 5 + k] * w[k];
        y[i] = s;
    }
}
C
cat >back.c <<'C'
void back(int n, const float *x, const float *w, float *y)
{
#pragma omp target teams distribute parallel for map(to: x[0:n], w[0:n]) map(from: y[0:n])
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int k = 0; k <= i; k++)
            s += x[i - k] * w[k];
        y[i] = s;
    }
}
C
cat >rows.c <<'C'
void rows(int n, int m, const int *start, const float *x, float *y)
{
#pragma omp target teams distribute parallel for map(to: start[0:n + 1], x[0:m]) map(from: y[0:n])
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int k = start[i]; k < start[i + 1]; k++)
            s += x[k];
        y[i] = s;
    }
}
C
# first FILE: its first kernel, which has no loop that threads share
first() { awk '/^\.visible \.entry/ { n++ } n < 2' "$1"; }
# inner FILE: the lines of loops that hold no other one
inner() { awk '{ line[NR] = $0 } /^\$L/ { at[$1] = NR } /^\t(@.*)?bra/ { from = at[substr($NF, 1, length($NF) - 1) ":"]
    if (from) { inner = 1; for (i = from + 1; i < NR; i++) inner = inner && line[i] !~ /bra/
        if (inner) for (i = from + 1; i <= NR; i++) print line[i] } }' "$1"; }
# The loops of guarded.c hold branches: all that is in the kernel, from the second block on, but for its last.
middle() { awk '/^\$L/ { blocks++; for (i = 0; i < n; i++) print line[i]; n = 0 } blocks > 1 { line[n++] = $0 }' "$1"; }
for o in -O2 -O3; do
    check "$o: PTX" "$CC" $o --gpu-arch=sm_75 --emit=ptx column.c -o column.ptx
    inner column.ptx >inner
    check "$o: there are loops" test "$(grep -c 'ld.global' inner)" -ge 4
    grep 'mul\|mad\|cvt' inner >products
    check "$o: no product in them" test ! -s products
    check "$o: PTX, backwards" "$CC" $o --gpu-arch=sm_75 --emit=ptx back.c -o back.ptx
    first back.ptx >first.ptx
    inner first.ptx >inner
    check "$o: there are loops" test "$(grep -c 'ld.global' inner)" -ge 4
    grep 'mul\|mad\|cvt' inner >products
    check "$o: no product in them" test ! -s products
    check "$o: PTX, rows" "$CC" $o --gpu-arch=sm_75 --emit=ptx rows.c -o rows.ptx
    first rows.ptx >first.ptx
    # one is left, of the inner loop's counter
    check "$o: an index that is used again is extended as it is multiplied" test "$(grep -c 'shl.b64' first.ptx)" -le 1
    check "$o: PTX, guarded" "$CC" $o --gpu-arch=sm_75 --emit=ptx guarded.c -o guarded.ptx
    first guarded.ptx >first.ptx
    middle first.ptx >middle
    check "$o: there is a loop" test "$(grep -c 'ld.global' middle)" -ge 2
    check "$o: an address behind a test is kept, too" test "$(grep -c 'mul.wide' middle)" -lt 4
done

# A trip count that takes some instructions, as n - i: such loops are unrolled, too; and what a copy of a loop's body stored, the next
# one has in a register.
cat >copies.c <<'C'
void tail(int n, const float *restrict a, float *restrict c)
{
#pragma omp target teams distribute parallel for is_device_ptr(a, c)
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int j = i; j < n; j++)
            s += a[j];
        c[i] = s;
    }
}
C
cat >chain.c <<'C'
void chain(int m, int n, const float *restrict b, float *restrict w, float *restrict c)
{
#pragma omp target teams distribute parallel for is_device_ptr(b, w, c)
    for (int s = 0; s < m; s++)
        for (int i = 1; i < n; i++) {
            w[i * m + s] = b[i * m + s] - w[(i - 1) * m + s];
            c[i * m + s] = b[i * m + s] * c[(i - 1) * m + s];
        }
}
C
for f in copies chain; do
    check "$f: PTX" "$CC" -O2 --gpu-arch=sm_75 --emit=ptx $f.c -o $f.ptx
    first $f.ptx | awk '/^\$L/ { n = 0 } /ld\.global/ { n++; if (n > most) most = n } /st\.global/ { stores++ } END { print most, stores }' >$f.counts
done
check "four iterations at a time" test "$(cut -d' ' -f1 copies.counts)" -ge 4
# of four iterations: one load of b each, and none of what they stored
check "what was stored is not loaded again" test "$(grep -c 'ld\.global' chain.ptx)" -lt "$(grep -c 'st\.global' chain.ptx)"
finish
