#!/bin/sh
# Host threads map, copy and unmap data of their own, data of all, blocks of device memory that others free: over nullcuda, whose threads keep
# small blocks (hostrt/cuda/memory.c), and on the emulated device.  Kernels do nothing, so that both have the same results.
. tests/lib.sh
cat >maps.c <<'C'
#include <omp.h>
#include <stdlib.h>
#include <string.h>
enum { THREADS = 8, ROUNDS = 300, MOST = 1 << 22, SHARED = 5000 };
static void *boxes[THREADS];
static char shared[SHARED];

/* Mostly small; some lie in two granules of the present table, some have their base far away. */
static int one_round(char *a, unsigned *seed, int value)
{
    unsigned s = *seed = *seed * 1664525 + 1013904223;
    size_t n = 1 + (s >> 8) % (s & 7 ? 5000 : s & 8 ? 100000 : MOST), at = s & 64 ? 0 : (s >> 5) % MOST;
    size_t end = n < 64 ? n : 64;
    int bad = 0, device = omp_get_default_device();
    memset(a + at, value, end);
#pragma omp target enter data map(to: a[at:n])
#pragma omp target map(tofrom: a[at:n]) map(to: shared)
    ;
    bad += !omp_target_is_present(a + at + n - 1, device);
    memset(a + at, ~value, end);
    void *block = __atomic_exchange_n(&boxes[(s >> 20) % THREADS], omp_target_alloc(n, device), __ATOMIC_ACQ_REL);
    omp_target_free(block, device);
#pragma omp target update from(a[at:n])
    for (size_t i = 0; i < end; i++)
        bad += a[at + i] != (char)value;
#pragma omp target exit data map(release: a[at:n])
    return bad + (omp_target_is_present(a + at, device) != 0);
}

int main(void)
{
    int bad = 0;
#pragma omp parallel num_threads(THREADS) reduction(+: bad)
    {
        unsigned seed = 77u * (unsigned)omp_get_thread_num() + 1;
        char *a = malloc(2 * MOST);
        for (int i = 0; i < ROUNDS; i++)
            bad += one_round(a, &seed, i);
        free(a);
    }
    for (int i = 0; i < THREADS; i++)
        omp_target_free(boxes[i], omp_get_default_device());
    return bad != 0;
}
C
check "compiles" "$CC" -O2 --gpu-arch=sm_90,emu maps.c -o maps
null() { in_time env OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER="$OBJ/nullcuda/libcuda.so.1" "$@" ./maps; }
check "over nullcuda" null
check "... without a pool" null OMPGPU_POOL=0
check "on the emulated device" in_time env OMPGPU_DEVICE=emu ./maps
finish
