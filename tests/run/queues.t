#!/bin/sh
# Over nullcuda, where work takes time: large copies by several threads; constructs with nowait, and what a fork and the end of the program
# meet in queues.  (Their results: tests/run/deferred.c; their schedule: tests/bench/makespan.sh.)
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
unset OMPGPU_WAIT

# There and back, of two host threads: kernels do nothing over nullcuda.
cat >copies.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int round_trip(unsigned char *a, size_t from, size_t n)
{
    int bad = 0;
    for (size_t i = 0; i < n; i++)
        a[from + i] = (unsigned char)(i * i / 100 + n);
#pragma omp target enter data map(to: a[from:n])
    memset(a + from, 0, n);
#pragma omp target
    ;
#pragma omp target update from(a[from:n])
    for (size_t i = 0; i < n; i++)
        bad |= a[from + i] != (unsigned char)(i * i / 100 + n);
    memset(a + from, 1, n);
#pragma omp target exit data map(from: a[from:n])
    for (size_t i = 0; i < n; i++)
        bad |= a[from + i] != (unsigned char)(i * i / 100 + n);
    return bad;
}
static void *trips(void *result)
{
    static const size_t sizes[] = { 1000, 70000, 1 << 20, 2500001, 9000000, 16 << 20 };
    unsigned char *a = malloc(17 << 20);
    for (int i = 0; i < 6; i++)
        if (round_trip(a, (size_t)i * 37, sizes[i]))
            printf("wrong: %zu bytes\n", sizes[i]), *(int *)result = 1;
    free(a);
    return NULL;
}
int main(void)
{
    pthread_t other;
    int bad[2] = { 0, 0 };
    if (pthread_create(&other, NULL, trips, &bad[0]))
        return 2;
    trips(&bad[1]);
    pthread_join(other, NULL);
    return bad[0] || bad[1];
}
C
NULLCUDA_KERNEL_US=100 NULLCUDA_COUNTS=counts; export NULLCUDA_COUNTS
check "copies compile" "$CC" -O1 --gpu-arch=sm_90 copies.c -o copies
made() { sed -n "s/^$1 //p" counts | grep . || echo 0; }
for n in 1 2 5; do
    OMPGPU_COPY_THREADS=$n; export OMPGPU_COPY_THREADS
    check "large copies by $n threads" in_time ./copies
    pieces() { n=$(made cuMemcpyHtoDAsync_v2); echo "$n pieces"; case $OMPGPU_COPY_THREADS in 1) [ "$n" -le 12 ] ;; *) [ "$n" -ge 30 ] ;; esac; }
    check "... in pieces, or not" pieces
done
OMPGPU_WAIT=block; export OMPGPU_WAIT
check "... with OMPGPU_WAIT=block" in_time ./copies
finish
