#!/bin/sh
# League reductions of several host threads over nullcuda: a thread has its stream and its scratchpad, no other one shares either, and in
# steady state nothing is allocated.  (The results: tests/run/reduction_threads.c.)
. tests/lib.sh
[ -e "$OBJ/nullcuda/libcuda.so.1" ] || skip_all "no nullcuda"
cat >"$T/s.c" <<'C'
#include <stdlib.h>
static double once(double *x, int n)
{
    double s = 0;
    #pragma omp target teams distribute parallel for reduction(+:s)
    for (int i = 0; i < n; i++) s += x[i];
    return s;
}
int main(int argc, char **argv)
{
    static double x[1000];
    int rounds = atoi(argv[argc - 1]);
    #pragma omp target data map(to: x)
    #pragma omp parallel for num_threads(4) schedule(static, 1)
    for (int t = 0; t < 4; t++)
        for (int i = 0; i < rounds; i++) once(x, 1000);
    return 0;
}
C
check "compiles" "$CC" -O2 --gpu-arch=sm_90 "$T/s.c" -o "$T/s"
run() { env LD_LIBRARY_PATH="$OBJ/nullcuda" OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_DEVICE="cuda" NULLCUDA_LOG="$T/log.$1" NULLCUDA_COUNTS="$T/counts.$1" "$T/s" "$1"; }
check "runs" run 5
check "runs longer" run 50
calls() { sed -n "s/^$2 //p" "counts.$1"; }
launches() { [ "$(grep -c '^launch once' log.50)" = 200 ]; }
check "200 launches" launches
own() { sed 's/.*stream/stream/' log.50 | sort -u >pairs; cut -d' ' -f2 pairs | sort -u >streams; cut -d' ' -f4 pairs | sort -u >pads; cat pairs
        [ "$(wc -l <pairs)" = 4 ] && [ "$(wc -l <streams)" = 4 ] && [ "$(wc -l <pads)" = 4 ] && ! grep -q nil pads; }
check "four streams, four scratchpads, each with its own" own
# How often threads meet is chance: a block more for each is not growth.
steady() { cat counts.5 counts.50; for c in cuMemAlloc_v2 cuMemHostAlloc cuStreamCreate cuMemcpyHtoDAsync_v2; do [ "$(calls 50 $c)" -le $(($(calls 5 $c) + 4)) ] || { echo "$c"; return 1; }; done; }
check "ten times the regions: no more allocations, streams or copies" steady
waits() { OMPGPU_WAIT=$1 NULLCUDA_FAIL=$2 run 5 >err 2>&1; cat log.5 err; }
waits spin >log.spin
waits block >log.block
waits block cuDevicePrimaryCtxSetFlags_v2:1:708 >log.none
check "OMPGPU_WAIT=spin" has log.spin '^wait spin'
check "OMPGPU_WAIT=block" has log.block '^wait block'
check "a driver that refuses it" has log.none 'warning: OMPGPU_WAIT.*cuDevicePrimaryCtxSetFlags'
check "... is used all the same" has log.none '^launch once'
check "otherwise the context stays as it is" lacks log.50 '^wait'
# Kernels of 20 microseconds are over while the thread asks, those of 20 milliseconds are slept for, by an event.
cat >"$T/w.c" <<'C'
int main(void)
{
    for (int i = 0; i < 20; i++)
#pragma omp target
        ;
    for (int i = 0; i < 20; i++) {
#pragma omp target nowait
        ;
#pragma omp taskwait
    }
    return 0;
}
C
check "a program that waits compiles" "$CC" -O2 --gpu-arch=sm_90 "$T/w.c" -o "$T/w"
takes() { env OMPGPU_WAIT="$2" LD_LIBRARY_PATH="$OBJ/nullcuda" OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_DEVICE=cuda NULLCUDA_KERNEL_US="$1" NULLCUDA_COUNTS="$T/counts.$1.$2" "$T/w"; }
made() { sed -n "s/^$2 //p" "counts.$1" | grep . || echo 0; }
for us in 20 20000; do for how in auto block; do check "kernels of $us us, $how" takes $us $how; done; done
asked() { n=$(made 20000.auto cuStreamQuery); m=$(made 20000.auto cuEventQuery); echo "$n $m"; [ "$n" -gt 20 ] && [ "$m" -ge 20 ]; }
check "auto: it asks" asked
slept() { n=$(made 20000.auto cuEventSynchronize); echo "$n"; [ "$n" -ge 15 ]; }
check "... and sleeps until what takes long has ended" slept
one_event() { [ "$(made 20000.auto cuEventCreate)" -le $(($(made 20000.block cuEventCreate) + 1)) ]; }
check "... with one event" one_event
blocked() { cat counts.20000.block; [ "$(made 20000.block cuStreamQuery)" = 0 ] && [ "$(made 20000.block cuStreamSynchronize)" -ge 20 ]; }
check "block: who waits asks nothing" blocked
seldom() { n=$(made 20000.block cuEventQuery); echo "$n"; [ "$n" -ge 20 ] && [ "$n" -le 6000 ]; }
check "... and for what nobody waits it is asked now and then" seldom
finish
