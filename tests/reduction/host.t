#!/bin/sh
# The host's side of a reduction over nullcuda, the CUDA driver that does nothing: one wave of teams, one launch and one synchronise; no
# allocation, and no copy but of a variable that is not present.
. tests/lib.sh
driver=$OBJ/nullcuda/libcuda.so.1
[ -e "$driver" ] || skip_all "nullcuda is not built"

cat >app.c <<'C'
#include <stdlib.h>
static double x[1 << 20], a[1024];
int main(int argc, char **argv)
{
    (void)argc;
    int runs = atoi(argv[1]), present = argv[2][0], n = 1 << 20;
    double s = 0;
    long count = 0;
#pragma omp target data map(to: x)
    if (present) {
#pragma omp target data map(tofrom: s, a, count)
        for (int i = 0; i < runs; i++) {
#pragma omp target teams distribute parallel for reduction(+: s, count)
            for (int k = 0; k < n; k++) s += x[k], count++;
#pragma omp target teams distribute parallel for reduction(+: a)
            for (int k = 0; k < n; k++) a[k % 1024] += x[k];
        }
    } else {
        for (int i = 0; i < runs; i++)
#pragma omp target teams distribute parallel for reduction(+: s)
            for (int k = 0; k < n; k++) s += x[k];
    }
    return 0;
}
C
runs() {                              # N [present]
    OMPGPU_DEVICE=cuda OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_CUDA_DRIVER=$driver NULLCUDA_ARCH=90 NULLCUDA_LOG="$T/log.$1$2" NULLCUDA_COUNTS="$T/counts.$1$2" \
        ./app "$@" || return
    sort "$T/counts.$1$2" >"$T/sorted.$1$2"
}
# more N SUFFIX: how many more calls 100 + N runs make than N
more() { join -a 1 "$T/sorted.110$1" "$T/sorted.10$1" | awk '$2 != $3 { print $1, $2 - $3 }'; }
wanted() { more "$1" >"$T/more"; cat "$T/more"; shift; printf '%s\n' "$@" | cmp -s - "$T/more"; }

check "compiles" "$CC" --gpu-arch=sm_90 -O2 app.c -o app || finish
for n in 10 110; do
    check "$n reductions" runs $n ''
    check "$n reductions of present variables" runs $n present
done
check "variables that are present: launches and waits alone" wanted present "cuLaunchKernel 200" "cuStreamQuery 200"
more '' >got
check "a variable that is not: no allocation" lacks got cuMemAlloc cuMemFree cuMemHost
check "one launch" has got '^cuLaunchKernel 100$'
check "a copy there and a copy back" test "$(awk '/cuMemcpy/ { n += $2 } END { print n + 0 }' got)" -le 200
one_wave() { sort "$T/log.10present" | uniq -c; [ "$(grep -c '^launch main_[0-9]* grid 1056 block 256' "$T/log.10present")" = 10 ]; }   # 132 multiprocessors x 8
check "one wave" one_wave

finish
