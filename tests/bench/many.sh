#!/bin/sh
# many.sh - time and memory of a million regions, live mappings, nested data constructs, and what several host threads get done (tests/bench/many.c).
OBJ=${OMPGPU_OBJ:-obj}
T=$(mktemp -d "${TMPDIR:-/tmp}/ompgpu-bench-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
"${CLANG:-clang-22}" -O1 -fPIC -shared -I. tests/bench/idle_driver.c -o "$T/idle.so" || exit 1
${OMPGPU_CC:-bin/ompgpu-cc} -O2 --gpu-arch=sm_90 tests/bench/many.c -o "$T/many" || exit 1
OMPGPU_DEVICE=cuda OMP_TARGET_OFFLOAD=MANDATORY IDLE_DRIVER=$OBJ/nullcuda/libcuda.so.1 OMPGPU_CUDA_DRIVER=$T/idle.so \
    timeout 300 "$T/many" > "$T/out" || exit 1
echo "much of it, over a driver that does nothing (CPU time; …-threads-over-one…: throughput, with a core for each)"
awk '{ least = $1 ~ /threads-over-one/; good = least ? $2 >= $4 : $2 <= $4
       printf "  %-36s %8s %-6s at %s %5s   %s\n", $1, $2, $3, least ? "least" : "most ", $4, good ? "met" : "NOT MET" }' "$T/out"
