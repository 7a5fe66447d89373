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
for how in wait exit; do check "work in queues: $how" in_time ./ends $how; done
# A child leaves behind what its parent was at.
check "work in queues: fork" in_time env ASAN_OPTIONS=detect_leaks=0 ./ends fork
OMPGPU_WAIT=block; export OMPGPU_WAIT
check "... with OMPGPU_WAIT=block" in_time ./ends wait
OMPGPU_WAIT=spin
check "... with OMPGPU_WAIT=spin" in_time ./ends wait
unset OMPGPU_WAIT

# A long chain on the PTX machine: its host tasks end although nobody waits for the device.
cat >long.c <<'C'
#include <pthread.h>
static int sum[1];
static void *chain(void *unused)
{
#pragma omp target data map(tofrom: sum)
    {
        for (int i = 0; i < 3000; i++)
#pragma omp target nowait depend(inout: sum)
            sum[0]++;
#pragma omp taskwait
    }
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    return pthread_create(&thread, &small, chain, 0) || pthread_join(thread, 0) || sum[0] != 3000;
}
C
check "a long chain compiles" "$CC" -O1 --gpu-arch=sm_75 long.c -o long
for seed in 1 2 3; do check "a long chain, seed $seed" timeout 100 env OMPGPU_DEVICE=ptx OMPGPU_PTX_SCHEDULE=$seed ./long; done

# Chains of copies and regions in queues: two copies there, one on the device that depends on both, rubbish to where that came from, the copy
# back, and again, of what came back.
cat >chains.c <<'C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { CHAINS = 6, ROUNDS = 4, LARGEST = 3000001 };
static struct chain {
    char *a, *device, *other, *last;
    size_t n;
    char part[2]; /* what the copies of the halves are known by */
} chains[CHAINS];
static int dev, host;
static char rubbish[LARGEST];
static void round_trip(struct chain *c)
{
    omp_depend_t first, second, both[2];
    size_t half = c->n / 2;
#pragma omp depobj(first) depend(inout: c->part[0])
#pragma omp depobj(second) depend(inout: c->part[1])
#pragma omp depobj(both[0]) depend(inout: c->part[0])
#pragma omp depobj(both[1]) depend(inout: c->part[1])
    omp_target_memcpy_async(c->device, c->a, half, 0, 0, dev, host, 1, &first);
    omp_target_memcpy_async(c->device, c->a, c->n - half, half, half, dev, host, 1, &second);
#pragma omp target nowait depend(inout: c->part[0])
    ;
    omp_target_memcpy_async(c->other, c->device, c->n, 0, 0, dev, dev, 2, both);
    omp_target_memcpy_async(c->device, rubbish, c->n, 0, 0, dev, host, 1, &first);
    for (int i = 0; i < 8; i++)
#pragma omp target nowait depend(inout: c->part[1])
        ;
    omp_target_memcpy_async(c->last, c->other, c->n, 0, 0, dev, dev, 1, &second);
    omp_target_memcpy_async(c->a, c->last, c->n - 1, 1, 0, host, dev, 2, both); /* one further on */
#pragma omp depobj(first) destroy
#pragma omp depobj(second) destroy
#pragma omp depobj(both[0]) destroy
#pragma omp depobj(both[1]) destroy
}
int main(int argc, char **argv)
{
    static const size_t sizes[CHAINS] = { 64, 1000, 65536, 200000, 1500000, LARGEST };
    int bad = 0;
    dev = omp_get_default_device(), host = omp_get_initial_device();
    omp_allocator_handle_t from = argc > 1 && atoi(argv[1]) ? ompx_gnu_pinned_mem_alloc : omp_default_mem_alloc;
    for (int k = 0; k < CHAINS; k++) {
        struct chain *c = &chains[k];
        c->n = sizes[k], c->a = omp_alloc(c->n, from), c->device = omp_target_alloc(c->n, dev), c->other = omp_target_alloc(c->n, dev), c->last = omp_target_alloc(c->n, dev);
        for (size_t i = 0; i < c->n; i++)
            c->a[i] = (char)(i * i / 31 + (size_t)k);
    }
    for (int r = 0; r < ROUNDS; r++)
        for (int k = 0; k < CHAINS; k++)
            round_trip(&chains[k]);
#pragma omp taskwait
    for (int k = 0; k < CHAINS; k++) {
        const struct chain *c = &chains[k];
        for (size_t i = 0; i < c->n; i++) {
            size_t was = i < ROUNDS ? 0 : i - ROUNDS;
            if (c->a[i] != (char)(was * was / 31 + (size_t)k)) {
                printf("chain %d: wrong at %zu of %zu\n", k, i, c->n), bad = 1;
                break;
            }
        }
        omp_free(c->a, from);
        omp_target_free(c->device, dev), omp_target_free(c->other, dev), omp_target_free(c->last, dev);
    }
    return bad;
}
C
check "chains compile" "$CC" -O1 --gpu-arch=sm_90 chains.c -o chains
NULLCUDA_KERNEL_US=100; export NULLCUDA_KERNEL_US
for n in 1 4; do
    OMPGPU_COPY_THREADS=$n; export OMPGPU_COPY_THREADS
    check "chains of copies, $n threads" in_time ./chains
    check "... of pinned memory" in_time ./chains 1
done
check "... over a slow bus" in_time env NULLCUDA_BYTES_PER_US=2000 ./chains
unset OMPGPU_COPY_THREADS

# The host's function that a kernel calls writes what the next copy to the device reads.  The driver is the PTX machine, whose device is taken for
# a GPU here: so copies are made as they are there, and kernels run.
cat >ancestor.c <<'C'
#include <stdio.h>
#pragma omp requires reverse_offload
static int x[4], large[10000], got[2];
int main(void)
{
    int bad = 0;
    for (int i = 0; i < 60; i++) {
        x[0] = large[0] = 1, got[0] = got[1] = 0;
#pragma omp target data map(to: x, large) map(from: got)
        {
#pragma omp target nowait depend(out: x)
            {
#pragma omp target device(ancestor: 1) map(x, large)
                x[0] = large[0] = 7; /* the host's */
            }
#pragma omp target update to(x, large) nowait depend(inout: x)
#pragma omp target nowait depend(inout: x)
            got[0] = x[0], got[1] = large[0];
#pragma omp taskwait
        }
        bad += got[0] != 7 || got[1] != 7;
    }
    if (bad)
        printf("%d of 60 are wrong\n", bad);
    return bad != 0;
}
C
check "a call of the host compiles" "$CC" -w -O1 --gpu-arch=sm_90 ancestor.c -o ancestor
machine=$(dirname "$(dirname "$CC")")/lib/libompgpu-ptx.so
[ "${OMPGPU_SANITIZE:-}" != thread ] || skip "copies after a call of the host" "TSan does not see fences of kernels"
for seed in 1 2 3; do
    [ "${OMPGPU_SANITIZE:-}" != thread ] || break
    check "copies after a call of the host, seed $seed" in_time env OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER="$machine" OMPGPU_PTX_SCHEDULE=$seed ./ancestor
done

# A copy that fails in a queue is not said of a construct that is older and under way.
cat >blame.c <<'C'
static char a[100], b[100000];
int main(void)
{
#pragma omp target enter data map(alloc: b)
#pragma omp target nowait map(tofrom: a)
    a[0]++;
#pragma omp target update to(b) nowait /* fails */
#pragma omp taskwait
    return 0;
}
C
check "a copy that fails compiles" "$CC" -w -O1 --gpu-arch=sm_90 blame.c -o blame
fails() { test_must_fail 1 in_time env NULLCUDA_KERNEL_US=20000 NULLCUDA_FAIL=cuMemcpyHtoDAsync_v2:2:1 ./blame 2>err && has err '^ompgpu: blame.c:7: error: target update to(b) nowait: cuMemcpyHtoDAsync'; }
check "... is said of its construct" fails

# The host thread may have the lock of stdout, of which a queue's thread must do without.
cat >locked.c <<'C'
#include <stdio.h>
static char b[2000000];
int main(void)
{
    flockfile(stdout);
    printf("lines that belong together\n");
#pragma omp target nowait map(tofrom: b)
    {
        b[0]++;
        printf("from the region\n");
    }
#pragma omp taskwait
    funlockfile(stdout);
    return 0;
}
C
check "a region that prints compiles" "$CC" -w -O1 --gpu-arch=sm_90 locked.c -o locked
check "... and runs while its thread has the lock of stdout" timeout 60 ./locked

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
#pragma omp target update from(a[from + n - 9:9]) /* what went there last */
    bad |= a[from + n - 1] != (unsigned char)((n - 1) * (n - 1) / 100 + n);
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
check "... over a slow bus" in_time env NULLCUDA_BYTES_PER_US=2000 ./copies
OMPGPU_WAIT=block; export OMPGPU_WAIT
check "... with OMPGPU_WAIT=block" in_time ./copies
finish
