#!/bin/sh
# OMPGPU_PTX_DEVICES=N: the machine has N devices, each with variables, copies and blocks of its own.
. tests/lib.sh
OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_DEVICE=ptx; export OMP_TARGET_OFFLOAD OMPGPU_DEVICE

cat >devices.c <<'C'
#include <omp.h>
#include <stdio.h>
#include <string.h>
enum { N = 2 };
static int calls[1];
#pragma omp declare target(calls)
int main(void)
{
    int mapped[1] = { 7 }, there[N], error = 0;
    int *block[N];
    if (omp_get_num_devices() != N)
        return printf("%d devices\n", omp_get_num_devices()), 1;
    for (int d = 0; d < N; d++) {
        #pragma omp target enter data map(to: mapped) device(d)
        if (!(block[d] = omp_target_alloc(sizeof(int), d)))
            return 1;
    }
    for (int d = 0; d < N; d++)
        for (int k = 0; k <= d; k++) {
            int *p = block[d], number = -1;
            #pragma omp target is_device_ptr(p) map(from: number) device(d)
            {
                number = omp_get_device_num();
                calls[0]++;
                mapped[0] += 10 + d;
                *p = mapped[0] + calls[0];
            }
            error += number != d;
        }
    static char big[3 << 20], back[3 << 20];
    void *far = omp_target_alloc(sizeof big, 0), *near = omp_target_alloc(sizeof big, 1);
    for (int i = 0; i < (int)sizeof big; i++)
        big[i] = (char)(i * 7 + (i >> 11));
    error += omp_target_memcpy(far, big, sizeof big, 0, 0, 0, omp_get_initial_device());
    error += omp_target_memcpy(near, far, sizeof big - 9, 9, 0, 1, 0);
    error += omp_target_memcpy(back, near, sizeof big - 9, 0, 9, omp_get_initial_device(), 1);
    error += memcmp(big, back, sizeof big - 9) != 0;
    omp_target_free(far, 0), omp_target_free(near, 1);
    for (int d = 0; d < N; d++) {
        int n = 0, value = 0;
        error += omp_target_memcpy(&there[d], block[d], sizeof(int), 0, 0, omp_get_initial_device(), d) != 0;
        #pragma omp target map(from: n, value) device(d)
        n = calls[0], value = mapped[0];
        printf("device %d: %d calls, %d mapped, %d there\n", d, n, value, there[d]);
        #pragma omp target exit data map(delete: mapped) device(d)
        omp_target_free(block[d], d);
    }
    printf("host: %d calls, %d mapped, %d errors\n", calls[0], mapped[0], error);
    return 0;
}
C
cat >wanted <<'OUT'
device 0: 1 calls, 17 mapped, 18 there
device 1: 2 calls, 29 mapped, 31 there
host: 0 calls, 7 mapped, 0 errors
OUT
prints() { in_time "$@" >out 2>&1 || { cat out; return 1; }; same wanted out; }
check "compiles" "$CC" --gpu-arch=sm_75 -O2 devices.c -o prog
check "OMPGPU_PTX_DEVICES=2: memory of their own" prints env OMPGPU_PTX_DEVICES=2 ./prog
for seed in 1 2; do check "... in order $seed" prints env OMPGPU_PTX_DEVICES=2 OMPGPU_PTX_SCHEDULE=$seed ./prog; done
check "without it there is one" test_must_fail 1 ./prog
peer() { env OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER="$OBJ/nullcuda/libcuda.so.1" NULLCUDA_DEVICES=2 NULLCUDA_COUNTS=counts ./prog >out; cat counts out; }
peer >calls
check "from one device to another the driver copies itself" has calls '^cuMemcpyPeerAsync 1'
check "... with access to the other's memory" has calls '^cuCtxEnablePeerAccess 1'

# What needs more than one piece goes through two blocks in turn, in two streams.
cat >pieces.c <<'C'
#include <stdlib.h>
#include <string.h>
enum { N = 5 << 20 };
int main(void)
{
    char *x = malloc(N), *y = malloc(N);
    int bad = 0;
    for (int i = 0; i < N; i++)
        x[i] = y[i] = (char)(i * 7 + (i >> 11));
    for (int k = 0; k < 2; k++) {
#pragma omp target enter data map(to: x[0:N]) nowait depend(out: x[0])
#pragma omp target nowait depend(inout: x[0]) map(x[0:N])
        x[0]++, x[N / 2]++, x[N - 1]++;
#pragma omp target update from(x[5:N - 10]) nowait depend(inout: x[0])
#pragma omp target exit data map(from: x[0:N]) nowait depend(inout: x[0])
#pragma omp taskwait
        y[0]++, y[N / 2]++, y[N - 1]++;
        bad |= memcmp(x, y, N);
    }
    free(x), free(y);
    return bad != 0;
}
C
check "copies in pieces: compiles" "$CC" --gpu-arch=sm_75 -O1 pieces.c -o pieces
check "... all of it, in its turn" ./pieces
for seed in 1 2; do check "... in order $seed" env OMPGPU_PTX_SCHEDULE=$seed ./pieces; done
cat >other.c <<'C'
#include <omp.h>
int main(int argc, char **argv)
{
    int *p = omp_target_alloc(sizeof *p, 0), where = argc > 1;
    (void)argv;
    #pragma omp target is_device_ptr(p) device(where)
    *p = 1;
    return 0;
}
C
check "memory of another device: compiles" "$CC" --gpu-arch=sm_75 -O2 -g other.c -o other
check "... may be used on its own" env OMPGPU_PTX_DEVICES=2 ./other
check "... is refused elsewhere" test_must_fail 1 sh -c 'OMPGPU_PTX_DEVICES=2 ./other 1 2>err'
check "... with both devices and the place" mentions "$(cat err)" "device 0|device 1|other.c:7"
finish
