#!/bin/sh
# launch.sh - cost of a region in the host runtime (tests/bench/bench_launch.c), beside the bar.
OBJ=${OMPGPU_OBJ:-obj}
T=$(mktemp -d "${TMPDIR:-/tmp}/ompgpu-bench-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
${CC:-clang-22} -std=gnu11 -O2 -D_GNU_SOURCE -I. tests/bench/bench_launch.c lib/libompgpu.a -ldl -lpthread -lm -o "$T/bench" || exit 1
OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER=$OBJ/nullcuda/libcuda.so.1 "$T/bench" > "$T/out" || exit 1
echo "host runtime over nullcuda (own cost, the fake driver's is subtracted)"
awk '{ printf "  %-28s %8s %-6s at most %5s   %s\n", $1, $2, $3, $4, $2 + 0 <= $4 + 0 ? "met" : "NOT MET" }' "$T/out"
