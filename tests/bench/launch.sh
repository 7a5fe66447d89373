#!/bin/sh
# launch.sh - cost of constructs in the host runtime (tests/bench/bench_launch.c, bench_constructs.c), beside the bar.
OBJ=${OMPGPU_OBJ:-obj}
T=$(mktemp -d "${TMPDIR:-/tmp}/ompgpu-bench-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
CC="${CC:-clang-22} -std=gnu11 -O2 -D_GNU_SOURCE -I."
null=$OBJ/nullcuda/libcuda.so.1
$CC tests/bench/bench_launch.c lib/libompgpu.a -ldl -lpthread -lm -o "$T/launch" || exit 1
$CC -fPIC -shared tests/bench/idle_driver.c -o "$T/idle.so" || exit 1
$CC -fPIC -shared tests/bench/no_openmp.c -o "$T/libnoomp.so" || exit 1
$CC tests/bench/bench_constructs.c lib/libompgpu.a -rdynamic -Wl,--no-as-needed "$T/libnoomp.so" -ldl -lpthread -lm -o "$T/constructs" || exit 1
OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER=$null "$T/launch" > "$T/out" || exit 1
OMPGPU_DEVICE=cuda IDLE_LATER=1 IDLE_DRIVER=$null OMPGPU_CUDA_DRIVER=$T/idle.so "$T/constructs" >> "$T/out" || exit 1
echo "host runtime over nullcuda (own cost, the fake driver's is subtracted)"
awk '{ printf "  %-34s %8s %-6s at most %5s   %s\n", $1, $2, $3, $4, $2 + 0 <= $4 + 0 ? "met" : "NOT MET" }' "$T/out"
