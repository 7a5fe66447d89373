#!/bin/sh
# The stack of a thread: what a region is known to need is provided; recursion gets a default or what the user sets; nothing else is touched.
# shellcheck disable=SC1091,SC2086
. tests/lib.sh
unset OMPGPU_STACK_SIZE OMPGPU_EMU_STACK

cat >flat.c <<'C'
int main(void)
{
    int r = 1;
    #pragma omp target map(tofrom: r)
    { r = 2;
      int k = r;
      #pragma omp parallel
      { int mine[3]; mine[k % 3] = 4;
        #pragma omp atomic
        r += mine[k % 3] - 4; } }
    return r != 2;
}
C
cat >heavy.c <<'C'
int main(void)
{
    int r = 7, n = 100000;
    #pragma omp target teams distribute parallel for num_threads(64) num_teams(2) map(tofrom: r) reduction(+: r)
    for (int k = 0; k < 128; k++) {
        int mine[30000];                               /* 120,000 bytes of every thread's own */
        for (int i = 0; i < 30000; i++) mine[i] = i * k;
        for (int i = 1; i < 30000; i++) mine[i] += mine[mine[i] % i];
        r += mine[n % 30000] != mine[(n + 30000) % 30000];
    }
    return r != 7;
}
C
cat >deep.c <<'C'
#include <stdlib.h>
__attribute__((noinline)) static int depth(int n, volatile int *x)
{
    volatile int y[16];
    y[n & 15] = n;
    return n ? depth(n - 1, y) + y[n & 15] - x[(n + 1) & 15] + 2 : 0;
}
int main(int argc, char **argv)
{
    int r = 0, n = atoi(argv[1]);
    #pragma omp target parallel num_threads(40) map(tofrom: r)
    {
        volatile int y[16];
        y[(n + 1) & 15] = n + 1;
        int d = depth(n, y);
        #pragma omp barrier
        #pragma omp atomic
        r += d == n;
    }
    return r != 40;
}
C
# A function that holds a region and is called from sequential code and from regions is no recursion.
cat >both.c <<'C'
#include <omp.h>
#pragma omp begin declare target
__attribute__((noinline)) static void inner(int *a, int n) {
    int t[3] = { n, 2, 3 };
    #pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] += t[i % 3] + 1000 * omp_get_level();
}
__attribute__((noinline)) static void outer(int *a, int n) {
    int x = n;
    inner(a, n);
    #pragma omp parallel for
    for (int i = 1; i < 4; i++) inner(a + i * n, x);
}
#pragma omp end declare target
static int bad(const int *a, int level) {
    int t[3] = { 32, 2, 3 }, n = 0;
    for (int i = 0; i < 128; i++) n += a[i] != t[i % 32 % 3] + 1000 * (level + (i >= 32));
    return n;
}
int main(void) {
    int a[128] = { 0 }, b[128] = { 0 };
    #pragma omp target teams num_teams(1) thread_limit(64) map(tofrom: a, b)
    {
        outer(a, 32);
        #pragma omp parallel num_threads(3)
        { if (omp_get_thread_num() == 1) outer(b, 32); }
    }
    return bad(a, 1) || bad(b, 2);
}
C
mode=-fompgpu-mode=generic
for o in -O0 -O2 "-O2 -g"; do
    check "both $o: compiles" "$CC" --gpu-arch=emu,sm_75 $o $mode both.c -o both${o%% *} &&
        check "both $o" env OMPGPU_DEVICE=emu OMPGPU_EMU_SCHEDULE=random:3 OMP_TARGET_OFFLOAD=MANDATORY ./both${o%% *}
done
check "both: PTX" "$CC" --gpu-arch=sm_75 -O0 $mode --emit=ptx both.c -o both.ptx
check "both: nobody asks whether a region is nested" lacks both.ptx __ompgpu_parallel
for p in flat heavy deep; do
    for o in -O0 -O2; do check "$p $o: compiles" "$CC" --gpu-arch=emu,sm_75 $o -g $p.c -o $p$o; done
done
emu() { OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY "$@"; }          # whatever $ARCH is
for o in -O0 -O2; do
    check "flat $o" emu ./flat$o
    check "large locals of each thread $o" emu ./heavy$o
    check "recursion $o" emu ./deep$o 50
    check "deep recursion $o" env OMPGPU_STACK_SIZE=4M OMPGPU_DEVICE=emu ./deep$o 15000
    check "too deep $o" test_must_fail 1 sh -c "OMPGPU_DEVICE=emu OMPGPU_STACK_SIZE=100K ./deep$o 15000 2>got"
    check "too deep $o: what to set" has got 'error: region main_.*stack overflow.*OMPGPU_STACK_SIZE'
done

driver=$OBJ/nullcuda/libcuda.so.1
limits() {                            # PROGRAM ARGS: the limits that were set, and how often a limit was asked for
    rm -f log counts
    OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER=$driver NULLCUDA_LOG=log NULLCUDA_COUNTS=counts "$@" >/dev/null 2>&1 || :
    grep limit log; grep cuCtxGetLimit counts; :
}
mkdir -p without/nvvm/libdevice; : >without/nvvm/libdevice/libdevice.10.bc # a toolkit that has no ptxas
check "recursion, PTX only: compiles" "$CC" --gpu-arch=sm_75 -O2 --cuda-path=without deep.c -o deep-ptx
if [ -e "$driver" ]; then
    limits ./deep-ptx 5 >got
    check "recursion, PTX only: 8 KB and the locals of each function" has got '^limit stack 9216$'
else skip "recursion, PTX only: limits" "no nullcuda"; fi
if [ -e "$driver" ] && have_ptxas; then
    limits ./flat-O2 >got; echo 'cuCtxGetLimit 1' >want
    check "flat: the limit stays" same want got
    limits ./both-O2 >got
    check "both: the limit stays" same want got
    limits ./both-O0 >got
    check "both -O0: the limit stays" same want got
    limits ./heavy-O2 >got
    check "large locals: what ptxas says" has got '^limit stack 12[0-9][0-9][0-9][0-9]$'
    limits ./deep-O2 5 >got
    check "recursion: 8 KB and one activation of each function" has got '^limit stack 9216$'
    OMPGPU_STACK_SIZE=100K; export OMPGPU_STACK_SIZE
    limits ./deep-O2 5 >got
    check "recursion: what the user says" has got '^limit stack 103424$'
    limits ./flat-O2 >got
    check "… and only for recursion" same want got
    unset OMPGPU_STACK_SIZE
    check "refused" test_must_fail 1 sh -c "OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER=$driver OMPGPU_STACK_SIZE=1M ./deep-O2 5 2>got"
    check "refused: message" has got 'error: region main_.*cuCtxSetLimit.*CUDA_ERROR_INVALID_VALUE.* [0-9]* bytes'
    check "a fault in recursion" test_must_fail 1 sh -c "OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER=$driver NULLCUDA_FAIL_AT_SYNC=1:700 ./deep-O2 5 2>got"
    check "a fault in recursion: what to try" has got 'cuStreamSynchronize.*CUDA_ERROR_ILLEGAL_ADDRESS.*OMPGPU_STACK_SIZE'
else
    skip "limits of the CUDA driver" "no nullcuda or no ptxas"
fi
finish
