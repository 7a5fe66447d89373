#!/bin/sh
# Functions between `begin declare variant` for the GPU alone: what is in them neither the host's compiler nor the host version sees.
# shellcheck disable=SC1091
. tests/lib.sh

cat >t.c <<'C'
#include <stdio.h>
struct pair { int a, b; };
#pragma omp begin declare variant match(device = {arch(nvptx64)})
static inline int helper(int x) { return x + __nvvm_read_ptx_sreg_ntid_x(); }
int lanes(void) { return __nvvm_read_ptx_sreg_warpsize(); }
struct pair both(int x)
{
    int a = __nvvm_read_ptx_sreg_nctaid_x();
    return (struct pair){ x, a + helper(0) - helper(0) };
}
#pragma omp end declare variant
#pragma omp begin declare variant match(device = {kind(cpu)})
int lanes(void) { return 1; }
#pragma omp end declare variant
int lanes(void) { return -1; }
struct pair both(int x) { return (struct pair){ x, 0 }; }
int main(void)
{
    int here = lanes(), there = 0, teams = 0;
#pragma omp target teams num_teams(3) map(from: there, teams)
    if (__builtin_expect(1, 1)) {
        there = lanes();
        teams = both(7).b;
    }
    printf("%d %d %d %d\n", here, there, teams, both(7).b);
    return 0;
}
C
check "compiles for the GPU" sh -c "'$CC' --gpu-arch=sm_80 -Wall t.c -o t 2>err" && check "... without a warning" silent err warning
check "on the GPU's code" sh -c 'OMPGPU_DEVICE=ptx ./t >got'
echo "1 32 3 0" >want
check "the GPU's variants there, the host's here" same want got
check "on the host" sh -c 'OMP_TARGET_OFFLOAD=DISABLED ./t >got'
echo "1 1 0 0" >want
check "the host's variants everywhere" same want got
finish
