#!/bin/sh
# OMPGPU_CHECK=race and OMPGPU_PTX_MEMORY=weak on programs: a race between threads, and between teams, is reported with both places of the source;
# the same program without it passes, as samples do that reduce, exchange and wait in each way the compiler knows.  The long form of the programs
# of tests/run does both, too (run_on_machine in lib.sh).
. tests/lib.sh
OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_DEVICE=ptx; export OMP_TARGET_OFFLOAD OMPGPU_DEVICE

cat >sum.c <<'C'
#include <stdio.h>
int main(void)
{
    int a[100], sum = 0, last = 0;
    for (int i = 0; i < 100; i++) a[i] = i;
    #pragma omp target teams distribute parallel for map(tofrom: sum) CLAUSE
    for (int i = 0; i < 100; i++)
        sum += a[i];                                       /* line 8 */
    #pragma omp target teams num_teams(4) map(tofrom: last) thread_limit(32)
    {
        int t = MINE;
        if (t >= 0)
            last = t;                                      /* line 13 */
    }
    return printf("%d %d\n", sum, last) < 0;
}
C
raced() { OMPGPU_CHECK=race test_must_fail ./prog 2>said && has said 'race: ' 'nothing orders it' "$1"; }
passes() { OMPGPU_CHECK=race in_time ./prog >out 2>said && [ ! -s said ] || { cat said; return 1; }; }
for flags in -O2 "-O0"; do
    # shellcheck disable=SC2086
    check "$flags: a sum without reduction" "$CC" --gpu-arch=sm_75 -g $flags -fopenmp -DCLAUSE= '-DMINE=omp_get_team_num()' -include omp.h sum.c -o prog
    check "... is a race, at the line and column of the access" raced 'sum.c:8:[1-9]'
    check "$flags: a variable that all teams set" "$CC" --gpu-arch=sm_75 -g $flags '-DCLAUSE=reduction(+: sum)' '-DMINE=omp_get_team_num()' -include omp.h sum.c -o prog
    check "... is a race" raced 'sum.c:13:[1-9]'
    check "$flags: neither" "$CC" --gpu-arch=sm_75 -g $flags '-DCLAUSE=reduction(+: sum)' '-DMINE=omp_get_team_num() - 3' -include omp.h sum.c -o prog
    check "... is no race" passes
done
OMPGPU_CHECK=races ./prog >out 2>said
check "a word of OMPGPU_CHECK that is not known is named" has said 'OMPGPU_CHECK' 'races'

# A warp alone has no barrier in its reduction, so the initialisers' loads of the original need an order of their own.
cat >orig.c <<'C'
#include <stdio.h>
#pragma omp declare reduction(larger: int: omp_out = omp_out > omp_in ? omp_out : omp_in) initializer(omp_priv = omp_orig)
int main(void)
{
    int m = 3;
    #pragma omp target parallel for reduction(larger: m) num_threads(THREADS) map(tofrom: m)
    for (int i = 0; i < 100; i++)
        if (m < i) m = i;
    #pragma omp target teams distribute parallel for reduction(larger: m) thread_limit(THREADS) num_teams(3) map(tofrom: m)
    for (int i = 0; i < 1000; i++)
        if (m < i) m = i;
    return m != 999;
}
C
for threads in 32 20 96; do
    check "omp_orig, $threads threads: compiles" "$CC" --gpu-arch=sm_75 -g -O2 -fopenmp -DTHREADS=$threads orig.c -o prog
    check "... no race" env OMPGPU_CHECK=race OMPGPU_PTX_SCHEDULE=3 ./prog
done

check "requires atomic_default_mem_order: compiles" "$CC" --gpu-arch=sm_75 -O2 -I"$ROOT/tests/run" "$ROOT/tests/run/atomic_order.c" -o prog
check "... atomics order other memory" env OMPGPU_CHECK=race ./prog
for order in acquire release; do
    check "... $order: compiles" "$CC" --gpu-arch=sm_75 -O2 -I"$ROOT/tests/run" "$ROOT/tests/run/atomic_$order.c" -o prog
    check "... $order: atomics order other memory" env OMPGPU_CHECK=race ./prog
done

for sample in sum fork_join nw_blocks; do
    check "$sample: compiles" "$CC" --gpu-arch=sm_75 -O2 "$SAMPLES/$sample.c" -o prog -lm || continue
    check "$sample: no race" env OMPGPU_CHECK=race ./prog 60
    for seed in 1 2; do
        check "$sample: weak memory, seed $seed" env OMPGPU_PTX_MEMORY=weak OMPGPU_PTX_SCHEDULE=$seed ./prog 60
    done
done
finish
