#!/bin/sh
# What must not disturb each other, at random and at the same time (tests/failure/stress.c): on the emulated device, on two of them, on the PTX machine, and
# over nullcuda, where copies and kernels take no time, and where they take some.  The long form has more seeds, steps and threads.
. tests/lib.sh
case $ARCH in *emu*) ;; *) skip_all "host threads of the emulated device" ;; esac
arch=$ARCH${GPUS:+,sm_75}
# shellcheck disable=SC2086
check "a library" "$CC" $arch -O2 -shared -fPIC "$ROOT/tests/failure/stress_library.c" -o lib0.so
for i in 1 2; do cp lib0.so lib$i.so; done
for i in 0 1 2 3 4 5 6 7; do cp lib0.so own$i.so; done
# shellcheck disable=SC2086
check "the program" "$CC" $arch -O2 "$ROOT/tests/failure/stress.c" -o stress -lpthread -ldl
if [ -n "${OMPGPU_LONG:-}" ]; then seeds="1 2 3 4 5 6 7 8 9 10 11 12" threads=8 steps=600
else seeds="1 2" threads=4 steps=60
fi
STRESS_PATIENCE=$((30 * SLOWER)); export STRESS_PATIENCE
# What a child of fork() has of other threads, and exit() leaves beside threads that go on, is lost by nature.
[ "${OMPGPU_SANITIZE:-}" != 1 ] || { ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0; export ASAN_OPTIONS; }
forks=
[ "${OMPGPU_SANITIZE:-}" != thread ] || forks=none # TSan does not know the emulated device's threads in a child
# shellcheck disable=SC2086
stress() {                            # VARIABLE…
    for seed in $seeds; do
        test_must_fail 3 on_device in_time env "$@" ./stress "$seed" $threads $steps $forks 2>err || { echo "seed $seed, with $*"; cat err; return 1; }
        if [ -s err ]; then echo "seed $seed, with $*:"; cat err; return 1; fi
    done
}
check "the emulated device" stress OMPGPU_DEVICE=emu
check "two emulated devices" stress OMPGPU_DEVICE=emu OMPGPU_EMU_DEVICES=2
if [ -z "$GPUS" ]; then
    skip "the PTX machine and nullcuda" "no ptxas, or TSan"
    finish
fi
check "the PTX machine" stress OMPGPU_DEVICE=ptx
null="OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER=$OBJ/nullcuda/libcuda.so.1"
# shellcheck disable=SC2086
check "nullcuda" stress $null
# shellcheck disable=SC2086
check "nullcuda, two devices that take time" stress $null NULLCUDA_DEVICES=2 NULLCUDA_KERNEL_US=100 NULLCUDA_BYTES_PER_US=2000
finish
