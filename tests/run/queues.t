#!/bin/sh
# Constructs with nowait over nullcuda, where work takes time: what a fork and the end of the program meet in queues.  (Their results:
# tests/run/deferred.c; their schedule: tests/bench/makespan.sh.)
. tests/lib.sh
[ -e "$OBJ/nullcuda/libcuda.so.1" ] || skip_all "no nullcuda"
OMPGPU_DEVICE=cuda OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_CUDA_DRIVER=$OBJ/nullcuda/libcuda.so.1 NULLCUDA_KERNEL_US=2000
export OMPGPU_DEVICE OMP_TARGET_OFFLOAD OMPGPU_CUDA_DRIVER NULLCUDA_KERNEL_US
cat >ends.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static char a[100], b[3000000];
static void begin(void)
{
    for (int i = 0; i < 20; i++) {
#pragma omp target nowait depend(inout: a[i % 5])
        ;
#pragma omp target nowait map(tofrom: b) depend(inout: b)
        ;
    }
}
static int child(void) /* it has none of the work, and can use the GPU no more */
{
    int there = 1;
#pragma omp target map(tofrom: there) if(0)
    there++;
    exit(there == 2 ? 0 : 1);
}
int main(int argc, char **argv)
{
    int status = 0;
    pid_t pid = 0;
    (void)argc;
    memset(b, 5, sizeof b);
    begin();
    if (!strcmp(argv[1], "fork") && (pid = fork()) == 0)
        return child();
    if (pid > 0 && (waitpid(pid, &status, 0) != pid || status))
        return 2;
    if (!strcmp(argv[1], "exit"))
        exit(0);
    if (pid > 0)
        begin();
#pragma omp taskwait
    for (int i = 0; i < 3000000; i++)
        if (b[i] != 5)
            return 3;
    return puts("all of it") < 0;
}
C
check "compiles" "$CC" -O1 --gpu-arch=sm_90 ends.c -o ends
for how in wait fork exit; do check "work in queues: $how" in_time ./ends $how; done
OMPGPU_WAIT=block; export OMPGPU_WAIT
check "... with OMPGPU_WAIT=block" in_time ./ends wait
OMPGPU_WAIT=spin
check "... with OMPGPU_WAIT=spin" in_time ./ends wait
finish
