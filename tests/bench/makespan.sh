#!/bin/sh
# makespan.sh - how near constructs with nowait come to the ideal schedule (tests/bench/makespan.c), of one host thread.
OBJ=${OMPGPU_OBJ:-obj}
T=$(mktemp -d "${TMPDIR:-/tmp}/ompgpu-bench-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
${OMPGPU_CC:-bin/ompgpu-cc} -O2 --gpu-arch=sm_90 tests/bench/makespan.c -o "$T/makespan" -ldl || exit 1
OMPGPU_DEVICE=cuda OMP_TARGET_OFFLOAD=MANDATORY OMP_NUM_THREADS=1 OMPGPU_CUDA_DRIVER=$OBJ/nullcuda/libcuda.so.1 \
    NULLCUDA_KERNEL_US=100 NULLCUDA_BYTES_PER_US=655 "$T/makespan" > "$T/out" || exit 1
echo "constructs with nowait over nullcuda, one host thread: time over the ideal schedule's"
awk '{ printf "  %-24s %5s us ideal, %5s times that, at most %s   %-8s host: %5d ns a construct\n", $1, $2, $3, $4, $3 <= $4 ? "met" : "NOT MET", $5 }' "$T/out"
