#!/bin/sh
# Nothing is said of programs without mistakes: the samples, by -Wall and by all checks of OMPGPU_CHECK, under several orders of threads.
. tests/lib.sh
OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_CHECK=address,uninit,race,stale; export OMPGPU_DEVICE OMP_TARGET_OFFLOAD OMPGPU_CHECK
quiet() { "$@" >out 2>err && [ ! -s err ] || { cat err; return 1; }; }
in_orders() {
    for order in order random:1 random:2; do
        OMPGPU_EMU_SCHEDULE=$order quiet in_time ./prog || { echo "OMPGPU_EMU_SCHEDULE=$order"; return 1; }
    done
}
found=0
for src in "$SAMPLES"/*.c; do
    name=$(basename "$src" .c)
    check "$name: -Wall" quiet "$CC" -Wall -O2 -g -fompgpu-check-host --gpu-arch=emu "$src" -o prog -lm
    check "... OMPGPU_CHECK" in_orders
    found=$((found + 1))
done
check "there are samples" test "$found" -gt 9
finish
