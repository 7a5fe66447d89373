#!/bin/sh
# samples.sh - every sample at its default size on the emulated device, beside the bar of 2 s on two cores.
CC=${OMPGPU_CC:-bin/ompgpu-cc}
T=$(mktemp -d "${TMPDIR:-/tmp}/ompgpu-bench-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY
export OMPGPU_DEVICE OMP_TARGET_OFFLOAD
echo "samples on the emulated device"
for src in samples/*.c; do
    name=$(basename "$src" .c)
    "$CC" -O2 --gpu-arch=emu "$src" -o "$T/prog" -lm || exit 1
    begin=$(date +%s%N)
    "$T/prog" >"$T/out" || { cat "$T/out"; exit 1; }
    echo "$name $begin $(date +%s%N)" | awk '{ s = ($3 - $2) / 1e9; printf "  %-12s %6.3f s  at most 2   %s\n", $1, s, s <= 2 ? "met" : "NOT MET" }'
done
