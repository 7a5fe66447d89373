#!/bin/sh
# Random functions whose locals parallel regions share (tests/fuzz/gen_storage.c), on the device and on the host, at -O0 and -O2, with
# random schedules: 2 programs, 20 with OMPGPU_LONG=1, N times as many with OMPGPU_LONG=N.  One alone: OMPGPU_FUZZ_SEED=N OMPGPU_FUZZ_COUNT=1 sh tests/modes/fuzz_storage.t
# shellcheck disable=SC1091,SC2086
. tests/lib.sh
first=${OMPGPU_FUZZ_SEED:-1} count=2
[ -z "${OMPGPU_LONG:-}" ] || count=$((20 * OMPGPU_LONG))
count=${OMPGPU_FUZZ_COUNT:-$count}
OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_STACK_SIZE=200K OMPGPU_TEAM_HEAP=1M KMP_WARNINGS=0 ASAN_OPTIONS=detect_leaks=0       # libomp leaks
export OMP_TARGET_OFFLOAD OMPGPU_STACK_SIZE OMPGPU_TEAM_HEAP KMP_WARNINGS ASAN_OPTIONS
case $ARCH in *emu*) OMPGPU_DEVICE=emu; export OMPGPU_DEVICE ;; esac

check "the generator" "$CLANG" -std=gnu11 -Wall -Wextra -Werror -O1 "$ROOT/tests/fuzz/gen_storage.c" -o gen || { finish; exit; }
twice() { in_time ./f && OMPGPU_EMU_SCHEDULE=random:$seed in_time ./f; }
seed=$first
while [ $seed -lt $((first + count)) ]; do
    ./gen $seed >f.c
    for flags in "-O2 -fompgpu-mode=generic" "-O$((seed % 2 * 2))"; do
        check "seed $seed $flags: compiles" in_time "$CC" $ARCH -w $flags -I"$ROOT/tests/run" f.c -o f && check "seed $seed $flags: runs" twice
    done
    seed=$((seed + 1))
done
finish
