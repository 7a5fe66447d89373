#!/bin/sh
# The PTX machine, also where neither a GPU nor ptxas is installed: some samples, in the order of the text and in random orders of warps, diverged
# groups and teams; what OMPGPU_PROFILE says; what is refused.  Where ptxas is, each program of tests/run runs on the machine, too (form in lib.sh).
. tests/lib.sh
OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_DEVICE=ptx; export OMP_TARGET_OFFLOAD OMPGPU_DEVICE

prints_ok() { in_time "$@" >out 2>&1 || { cat out; return 1; }; has out ' OK$'; }
for form in "sum -O2" "rows -O2" "lud -O2" "nw_blocks -O0 -g"; do
    sample=${form%% *} flags=${form#* }
    # shellcheck disable=SC2086
    check "$form: compiles" "$CC" --gpu-arch=sm_75 $flags "$SAMPLES/$sample.c" -o prog -lm || continue
    check "$form: runs" prints_ok ./prog 100
    for seed in 1 2 3; do
        OMPGPU_PTX_SCHEDULE=$seed; export OMPGPU_PTX_SCHEDULE
        check "$form: schedule $seed" prints_ok ./prog 100
    done
    unset OMPGPU_PTX_SCHEDULE
done

# ------------------------------------------------------------------ counters
cat >columns.c <<'C'
#include <stdio.h>
enum { N = 256 };
static float a[N][N];
int main(void)
{
    float sum = 0;
    #pragma omp target teams distribute parallel for map(tofrom: a)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) a[i][j] = i;           /* line 9: rows of their own */
    #pragma omp target teams distribute parallel for map(tofrom: a)
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) a[i][j] += j;          /* line 12: neighbours */
    sum = a[3][4];
    return printf("%g\n", sum) < 0 || sum != 7;
}
C
check "a program with strided stores" "$CC" --gpu-arch=sm_75 -O2 -g columns.c -o prog
check "OMPGPU_PROFILE=1 prints a table" sh -c "OMPGPU_PROFILE=1 ./prog 2>profile"
check "... with a line for each kernel" has profile '^main_7 ' '^main_10 '
check "... and what the strided line costs" has profile 'columns.c:9: 32.0 sectors a request'
check "... and nothing of the other" lacks profile 'columns.c:12'
check "OMPGPU_PROFILE=FILE writes JSON" sh -c "OMPGPU_PROFILE=p.json ./prog"
check "... with the same kernels" has p.json '"kernel": "main_7"' '"kernel": "main_10"'

# ------------------------------------------------------------------ what a GPU would punish
cat >wrong.c <<'C'
#include <stdio.h>
int main(int argc, char **argv)
{
    int *p = &argc, n = 0;
    (void)argv;
    #pragma omp target map(from: n) firstprivate(p)
    n = *p;                                                /* line 7: the host's address */
    return n;
}
C
check "a host pointer: compiles" "$CC" --gpu-arch=sm_75 -O2 -g -w wrong.c -o prog
check "... is refused" test_must_fail ./prog
check "... with the place" sh -c './prog 2>&1 | grep -q "wrong.c:7"'
check "OMPGPU_PTX_ARCH: an older device has no image" test_must_fail env OMPGPU_PTX_ARCH=sm_70 ./prog
check "a malformed OMPGPU_PTX_ARCH is named" sh -c 'OMPGPU_PTX_ARCH=x ./prog 2>&1 | grep -q OMPGPU_PTX_ARCH'
finish
