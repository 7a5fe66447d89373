#!/bin/sh
# emulated.sh - what the emulated device takes, in CPU time of one OS thread, over the same loops without OpenMP by clang -O2.
CC=${OMPGPU_CC:-bin/ompgpu-cc}
T=$(mktemp -d "${TMPDIR:-/tmp}/ompgpu-bench-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_EMU_THREADS=1
export OMPGPU_DEVICE OMP_TARGET_OFFLOAD OMPGPU_EMU_THREADS
echo "emulated device / serial, one OS thread"
"$CC" -O2 --gpu-arch=emu tests/bench/emulated.c -o "$T/ours" &&
    "${OMPGPU_CLANG:-clang-22}" -O2 -w tests/bench/emulated.c -o "$T/serial" &&
    "$T/serial" >"$T/theirs" && "$T/ours" >"$T/out" || exit 1
awk 'BEGIN { bar["axpy"] = 1.3; bar["matmul-reductions"] = 60 }
     NR == FNR { serial[$1] = $2; next }
     { ratio = $2 / serial[$1]; printf "  %-18s %10.1f us / %8.1f us  %7.2f  %s\n", $1, $2, serial[$1], ratio,
           !($1 in bar) ? "" : "at most " bar[$1] "  " (ratio <= bar[$1] ? "met" : "NOT MET") }
     $1 == "barriers" { printf "  a barrier, and the way to it: %.1f ns a thread\n", $2 * 1e3 / 256 / 1000 }' "$T/theirs" "$T/out"
