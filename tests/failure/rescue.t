#!/bin/sh
# A device that is given up: mappings keep values of their own, what is lost is named, and what needs it ends the program.  Over the PTX machine.
. tests/lib.sh
unset FAILING_AT FAILING_LOST FAILING_LOG
FAILING_DRIVER=$(dirname "$(dirname "$CC")")/lib/libompgpu-ptx.so OMPGPU_CUDA_DRIVER=./driver.so OMPGPU_DEVICE=cuda OMPGPU_ON_FAILURE=host
export FAILING_DRIVER OMPGPU_CUDA_DRIVER OMPGPU_DEVICE OMPGPU_ON_FAILURE
check "driver that fails" "$CLANG" -O1 -fPIC -shared -I"$ROOT" "$ROOT/tests/failure/driver.c" -o driver.so
cat >values.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#pragma omp declare target
int g = 1;
#pragma omp end declare target
static const int table[3] = { 5, 6, 7 };
int x[100], y[100];
struct { int n, *p; } s;
#define SHOW printf("%d %d %d %d\n", x[0], y[0], g, s.p[0])
int main(int argc, char **argv)
{
    int way = atoi(argv[argc - 1]), sum = 0;
    s.p = calloc(10, sizeof *s.p);
    #pragma omp target data map(tofrom: x) map(to: y, table, s, s.p[0:10])
    {
        #pragma omp target
        x[0]++, y[0]++, g++, s.p[0]++;
        x[0] = y[0] = g = s.p[0] = 50;      /* the host's own values */
        #pragma omp target map(always, to: x[1:2]) map(tofrom: sum)
        x[0]++, y[0]++, g++, s.p[0]++, sum = table[0] + table[2];
        SHOW;
        #pragma omp target update from(s.p[0:1])
        SHOW;
        #pragma omp target if(way == 0)
        x[0]++, g++;
        if (way == 3) {
            int *q = x;
            #pragma omp target data use_device_ptr(q)
            {
                #pragma omp target is_device_ptr(q)
                q[0] = 1;
            }
        }
    }
    #pragma omp target update from(g)
    SHOW;
    printf("%d\n", sum);
    return 0;
}
C
check "values.c compiles" "$CC" --gpu-arch=sm_75 -O1 values.c -o values
FAILING_LOG=calls in_time ./values 0 >right 2>err
printf '50 50 50 50\n50 50 50 2\n3 50 4 2\n12\n' >wanted
check "right without a failure" same wanted right
# fails CALL N ARGUMENT: the N-th of these calls fails
at() { awk -v call="$1" -v n="$2" '$1 == call && !--n { print NR }' calls; }
fails() { FAILING_AT=$(at "$1" "$2") in_time ./values "$3" >out 2>err; }
gives() { check "$1, $2" fails "$1" "$2" 0 && check "... the same values" same wanted out && check "... a warning" mentions "$(cat err)" "device 0 is given up"; }
gives cuLaunchKernel 2
gives cuLaunchKernel 3
gives cuModuleGetFunction 2
gives cuMemcpyDtoHAsync_v2 2
ends() {                              # NAME WORDS COMMAND…
    name=$1 words=$2; shift 2
    check "$name" test_must_fail 1 "$@" && check "... what is said" mentions "$(cat err)" "$words"
}
ends "the kernel has begun" "region main_19: cuStreamQuery|may have changed data" fails cuStreamQuery 3 0
ends "an address of the device" "device 0 is given up|region main_30: |an address of the device" fails cuLaunchKernel 2 3
# All calls fail from the second launch on.
FAILING_LOST=1; export FAILING_LOST
ends "lost, a region" "x, 400 bytes: its value is lost|y, 400 bytes|g, 4 bytes|error: region main_19: the value of" fails cuLaunchKernel 2 0
finish
