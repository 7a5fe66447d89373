#!/bin/sh
# Host threads on different devices never meet: while the driver holds one thread in a call, for one device, another thread goes on with a second
# device.  Each call that constructs make, over nullcuda with two devices.
. tests/lib.sh
[ -e "$OBJ/nullcuda/libcuda.so.1" ] || skip_all "no nullcuda"
check "driver that holds calls" "$CLANG" -O1 -Wall -Wextra -Werror -fPIC -shared -I"$ROOT" "$ROOT/tests/failure/driver.c" -o driver.so
cat >apart.c <<'C'
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void (*arm)(const char *), (*release)(void);
static bool (*one_is_held)(void);
static bool ended; /* atomic: the first thread's work */
static const char *call;

/* Mappings small and large, new and present, a result, an update, routines, a reduction over a league, constructs with nowait. */
static void work(int device)
{
    char small[100] = "s", *large = malloc(1 << 20), other[200] = "o";
    double sum = 0;
    memset(large, 1, 1 << 20);
#pragma omp target data map(tofrom: large[0:1 << 20]) device(device)
    {
#pragma omp target map(tofrom: small, other) map(tofrom: large[0:1 << 20]) device(device)
        small[0] = large[5] + other[0];
#pragma omp target update from(large[0:1000]) device(device)
#pragma omp target teams distribute parallel for reduction(+: sum) device(device) map(to: large[0:1 << 20])
        for (int i = 0; i < 1000; i++)
            sum += large[i];
#pragma omp target nowait map(tofrom: small) depend(out: small) device(device)
        small[1] = 2;
#pragma omp target update to(other) nowait depend(inout: small) device(device)
#pragma omp taskwait
    }
    void *block = omp_target_alloc(5000, device);
    omp_target_memcpy(block, large, 5000, 0, 0, device, omp_get_initial_device());
    omp_target_memcpy(large, block, 5000, 0, 0, omp_get_initial_device(), device);
    omp_target_free(block, device);
    free(large);
}

static void *held(void *first)
{
    if (!first)
        work(0);
    arm(call);
    work(0);
    __atomic_store_n(&ended, true, __ATOMIC_RELEASE);
    return NULL;
}

int main(int argc, char **argv)
{
    void *driver = dlopen(getenv("OMPGPU_CUDA_DRIVER"), RTLD_NOW);
    pthread_t thread;
    arm = (void (*)(const char *))dlsym(driver, "holding_arm");
    one_is_held = (bool (*)(void))dlsym(driver, "holding_one");
    release = (void (*)(void))dlsym(driver, "holding_release");
    call = argv[1];
    work(1);
    if (pthread_create(&thread, NULL, held, argc > 2 ? argv : NULL))
        return 2;
    while (!one_is_held() && !__atomic_load_n(&ended, __ATOMIC_ACQUIRE)) {}
    bool was_held = one_is_held();
    for (int i = 0; i < 20; i++)
        work(1);
    bool still = one_is_held();
    release();
    pthread_join(thread, NULL);
    if (!was_held || !still)
        puts("not called");
    return !was_held || !still;
}
C
check "compiles" "$CC" -O1 --gpu-arch=sm_90 apart.c -o apart -lpthread
apart() { env FAILING_DRIVER="$OBJ/nullcuda/libcuda.so.1" OMPGPU_CUDA_DRIVER=./driver.so OMPGPU_DEVICE=cuda OMP_TARGET_OFFLOAD=MANDATORY \
    NULLCUDA_DEVICES=2 OMPGPU_POOL=0 timeout 30 ./apart "$@"; }
for call in cuMemAlloc_v2 cuMemFree_v2 cuMemcpyHtoDAsync_v2 cuMemcpyDtoHAsync_v2 cuLaunchKernel cuStreamQuery cuPointerGetAttributes; do
    check "held in $call" apart $call
done
# The first construct on a device: its context, stream, image and results.
for call in cuStreamCreate cuModuleLoadDataEx cuModuleGetFunction cuMemHostAlloc; do check "held in $call, the first time" apart $call first; done
finish
