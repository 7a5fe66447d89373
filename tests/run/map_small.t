#!/bin/sh
# Small mappings of one construct get to a GPU with one copy (hostrt/core/pack.c), and hold what they should: over nullcuda, whose copies are real.
. tests/lib.sh
[ -e "$OBJ/nullcuda/libcuda.so.1" ] || skip_all "no nullcuda"
cat >"$T/s.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct s { double x[4]; int *p; int n; };
static int wrong;
static void expect(const char *what, int good) { if (!good) wrong++, printf("wrong: %s\n", what); }
/* Mapped together, unmapped one after the other, with updates of some of it; a pointer that is attached; one too large for the block. */
static void all(void)
{
    struct s a = { { 1, 2, 3, 4 }, 0, 5 };
    int b[10], c[100], d = 7, big[4000], points[20], *at = points;
    char e = 'e', only[16];
    for (int i = 0; i < 10; i++) b[i] = i;
    for (int i = 0; i < 100; i++) c[i] = 2 * i;
    for (int i = 0; i < 20; i++) points[i] = 3 * i;
    for (int i = 0; i < 4000; i++) big[i] = i;
    a.p = points;
#pragma omp target enter data map(to: a, b, c[10:50], d, e, big, a.p[0:20]) map(alloc: only)
    memset(a.x, 0, sizeof a.x); a.n = 0;
    memset(b, 0, sizeof b); memset(c, 0, sizeof c); memset(big, 0, sizeof big); memset(points, 0, sizeof points);
    d = 0, e = 0;
#pragma omp target exit data map(from: d)
    expect("d", d == 7);
#pragma omp target update from(c[12:2])
    expect("c, a part", c[12] == 24 && c[13] == 26 && c[14] == 0);
    b[3] = 33;
#pragma omp target update to(b[3:1])
    b[3] = 0;
#pragma omp target exit data map(from: a, b, c[10:50], e, big, a.p[0:20]) map(release: only)
    expect("a", a.x[0] == 1 && a.x[3] == 4 && a.n == 5 && a.p == at);
    expect("e", e == 'e');
    for (int i = 0; i < 10; i++) expect("b", b[i] == (i == 3 ? 33 : i));
    for (int i = 0; i < 100; i++) expect("c", c[i] == (i >= 10 && i < 60 ? 2 * i : 0));
    for (int i = 0; i < 20; i++) expect("points", points[i] == 3 * i);
    for (int i = 0; i < 4000; i++) expect("big", big[i] == i);
}
static void pair(int i)
{
    int u = i, v = 2 * i;
#pragma omp target enter data map(to: u, v)
    u = v = 0;
#pragma omp target exit data map(from: u)
#pragma omp target exit data map(from: v)
    expect("pair", u == i && v == 2 * i);
#pragma omp target data map(tofrom: u, v)
    u = v = 0;
    expect("pair, together", u == i && v == 2 * i);
#pragma omp target enter data map(to: u, v)
    u = v = 0;
#pragma omp target exit data map(from: u, v) nowait
#pragma omp taskwait
    expect("pair, later", u == i && v == 2 * i);
}
int main(int argc, char **argv)
{
    int pairs = atoi(argv[argc - 1]);
    all();
    for (int i = 0; i < pairs; i++) pair(i);
    if (pairs)
#pragma omp parallel for num_threads(4)
        for (int i = 0; i < pairs; i++) pair(i);
    return wrong != 0;
}
C
check "compiles" "$CC" -O1 --gpu-arch=sm_90,emu "$T/s.c" -o "$T/s"
check "the emulated device" env OMPGPU_DEVICE=emu "$T/s" 10
run() { env LD_LIBRARY_PATH="$OBJ/nullcuda" OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_DEVICE=cuda NULLCUDA_COUNTS="$T/counts" "$T/s" "$@"; }
check "one construct" run 0
calls() { sed -n "s/^$1 //p" counts; }
check "... 3 copies: the block, the large array and the update" test "$(calls cuMemcpyHtoDAsync_v2)" = 3
check "... and 4 back: d, a part of c, the block and the large array" test "$(calls cuMemcpyDtoHAsync_v2)" = 4
check "100 pairs, of one host thread and of four" run 100
check "... a copy for each of three constructs" test "$(calls cuMemcpyHtoDAsync_v2)" = 603
check "... and one back for what leaves together" test "$(calls cuMemcpyDtoHAsync_v2)" = 804
check "... and blocks that are used again" test "$(calls cuMemAlloc_v2)" -le 12
# Where the copy of a block fails, or the memory for it: the construct has not happened.
fails() { NULLCUDA_FAIL=$1 OMPGPU_ON_FAILURE=$2 run 2 >log 2>&1; }
check "a failed copy ends the program" test_must_fail 1 fails cuMemcpyHtoDAsync_v2:1:719 stop
check "... and says for which item" has log "s.c:[0-9]*: error: target enter data.*cuMemcpyHtoDAsync failed"
# host: the data is where the program needs it, or it ends with an error.
sweep() {
    for call in cuMemAlloc_v2 cuMemcpyHtoDAsync_v2 cuMemcpyDtoHAsync_v2 cuStreamSynchronize; do
        for n in 1 2 3 4 5 6 7 8; do
            fails $call:$n:$1 "$2"; rc=$?
            { [ $rc = 0 ] || { [ $rc = 1 ] && grep -q error log; }; } && ! grep -q wrong: log || { echo "$call $n: exit code $rc"; cat log; return 1; }
        done
    done
}
for policy in stop host retry; do check "a call that fails, $policy" sweep 719 $policy && check "... for want of memory" sweep 2 $policy; done
finish
