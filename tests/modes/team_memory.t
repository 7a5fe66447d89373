#!/bin/sh
# The pool of team-shared memory: who gets blocks of it, how large it is, and that kernels without such blocks have nothing of it.
. tests/lib.sh
unset OMPGPU_TEAM_MEMORY LIBOMPTARGET_SHARED_MEMORY_SIZE
cat >app.c <<'C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int own = 0, other = 0, bytes = argc > 1 ? atoi(argv[1]) : 100;
    char *at[2][3];
    #pragma omp target teams num_teams(2) thread_limit(32) map(from: at)
    {
        char **here = at[omp_get_team_num()];
        here[0] = omp_alloc((size_t)bytes, omp_pteam_mem_alloc);
        here[1] = omp_alloc(16, omp_cgroup_mem_alloc);
        here[2] = omp_alloc(16, omp_default_mem_alloc);
    }
    #pragma omp target teams distribute parallel for reduction(+: own)
    for (int i = 0; i < 1000; i++) {
        int *p = omp_alloc(sizeof *p, omp_pteam_mem_alloc);
        *p = i;
        own += *p;
        omp_free(p, omp_pteam_mem_alloc);
    }
    #pragma omp target teams distribute parallel for reduction(+: other)
    for (int i = 0; i < 1000; i++) {
        int *p = omp_alloc(sizeof *p, omp_thread_mem_alloc);
        *p = i;
        other += *p;
        omp_free(p, omp_null_allocator);
    }
    for (int i = 0; i < 3; i++) /* the memory of each team is at the same address */
        putchar(at[0][i] == at[1][i] ? 't' : 'h');
    return own != 499500 || other != 499500;
}
C
"$CC" --gpu-arch=sm_80 -O2 app.c -o app && "$CC" --gpu-arch=sm_80 -O2 --emit=ptx app.c -o app.ptx || exit 1
OMPGPU_DEVICE=ptx; export OMPGPU_DEVICE
lies() { name=$1 want=$2; shift 2; check "$name" [ "$(env "$@")" = "$want" ]; }
lies "in the pool" tth ./app
lies "too large for it" hth ./app 9000
lies "a larger pool" tth OMPGPU_TEAM_MEMORY=16K ./app 9000
lies "beside ompx_dyn_cgroup_mem" tth LIBOMPTARGET_SHARED_MEMORY_SIZE=1000 ./app
lies "no pool" hhh OMPGPU_TEAM_MEMORY=0 ./app
lies "no room beside the kernel's own" hhh OMPGPU_TEAM_MEMORY=64K ./app
check "in any order, no race" env OMPGPU_CHECK=race OMPGPU_PTX_SCHEDULE=3 OMPGPU_PTX_MEMORY=weak ./app
kernel() { awk "/entry main_$1/, /^}/" app.ptx >"kernel$1"; }
kernel 15; kernel 22
check "a kernel with such blocks" has kernel15 'dynamic_smem_size' __ompgpu_dynamic_shared
check "one without" lacks kernel22 'dynamic_smem_size' 'memory_size' 'barrier'
finish
