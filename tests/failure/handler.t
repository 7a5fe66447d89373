#!/bin/sh
# ompgpu_on_failure(): what the handler is told, and that what it says is done.  In C and C++, over nullcuda.
. tests/lib.sh
unset OMPGPU_ON_FAILURE NULLCUDA_FAIL NULLCUDA_FAIL_AT_SYNC
[ -e "$OBJ/nullcuda/libcuda.so.1" ] || skip_all "no nullcuda"
OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER=$OBJ/nullcuda/libcuda.so.1 NULLCUDA_ARCH=90
export OMPGPU_DEVICE OMPGPU_CUDA_DRIVER NULLCUDA_ARCH
cat >main.c <<'C'
#include <ompgpu/ompgpu.h>
#include <stdio.h>
void install(const char *answers);
int main(int argc, char **argv)
{
    int a[4] = { 1, 2, 3, 4 };
    install(argv[1]);
    if (argc > 2) {
        #pragma omp target enter data map(to: a)
        #pragma omp target exit data map(from: a)
        printf("a %d\n", a[0]);
        return 0;
    }
    #pragma omp target map(tofrom: a)
    a[0] = 7;
    printf("a %d\n", a[0]);
    install(0);
    return 0;
}
C
cat >handler.c <<'C'
#include <ompgpu/ompgpu.h>
#include <stdio.h>
#include <string.h>
#ifdef __cplusplus
extern "C"
#endif
void install(const char *answers);
/* One letter of the argument for each attempt. */
static enum ompgpu_action decide(const struct ompgpu_failure *f, void *argument)
{
    const char *answers = (const char *)argument;
    printf("device %d, %s:%u, %s, %s, attempt %u, possible %x, usual %d, %s: %.20s\n", f->device,
           f->file, f->line, f->directive, f->region ? f->region : "no region", f->attempt, f->possible,
           (int)f->action, f->size >= sizeof *f ? "whole" : "short", f->reason);
    char c = answers[f->attempt - 1];
    return c == 'h' ? OMPGPU_HOST : c == 'r' ? OMPGPU_RETRY : OMPGPU_STOP;
}
void install(const char *answers) { ompgpu_on_failure(answers ? decide : 0, (void *)answers); }
C
cp handler.c handler.cc
check "C" "$CC" --gpu-arch=sm_90 -Wall -Wextra -Werror main.c handler.c -o by-c
run() { NULLCUDA_FAIL=$1 in_time "./$2" $3 >out 2>err; }
try() {
    check "$1: $2" "$3" "$4" "$1" "$5"
    shift 5
    for words; do check "... $words" mentions "$(cat out err)" "$words"; done
}
twice=cuLaunchKernel:1,cuLaunchKernel:2
region="device 0, main.c:14, target map(tofrom: a), main_14"
for program in by-c by-cxx; do
    if [ $program = by-cxx ]; then
        cxx=$(command -v g++ || command -v clang++ || command -v clang++-22) || { skip "C++" "no compiler"; continue; }
        check "C++" "$cxx" -std=c++11 -Wall -Wextra -Werror -I"$(dirname "$(dirname "$CC")")/lib/ompgpu/include" -c handler.cc -o handler.o &&
        check "... is linked" "$CC" --gpu-arch=sm_90 main.c handler.o -o by-cxx || continue
    fi
    try $program "the host" run cuLaunchKernel:1 h "$region, attempt 1, possible 7, usual 0, whole: |a 7|runs on the host"
    try $program "again" run cuLaunchKernel:1 r "attempt 1|a 1|is tried again"
    try $program "twice, then the host" run $twice rrh "attempt 1|attempt 2|a 1"
    NULLCUDA_FAIL=$twice test_must_fail 1 in_time ./$program rs >out 2>err
    check "$program: again, then the end" mentions "$(cat out err)" "attempt 2|main.c:14: error: region main_14: cuLaunchKernel"
    try $program "a data construct again" run cuMemcpyDtoHAsync_v2:1 "r data" "main.c:10, target exit data map(from: a), no region, attempt 1, possible 7|a 1"
done
finish
