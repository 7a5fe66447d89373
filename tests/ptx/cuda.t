#!/bin/sh
# CUDA programs, compiled by nvcc, on the PTX machine: each compares what its kernels did with what the host computes.  They validate the machine:
# neither our compiler nor our device runtime takes part.  OMPGPU_LONG=1: more schedules, cooperative groups and launches, events, CUB, and a second generation of GPUs.
. tests/lib.sh
. "$ROOT/tests/ptx/cuda.sh"
have_nvcc || skip_all "nvcc is not installed"
command -v g++ >/dev/null || skip_all "nvcc has no host compiler"

prints() { in_time "$@" >out 2>&1 || { tail -30 out; return 1; }; if [ -e "$wanted" ]; then same "$wanted" out; else same ok out; fi; }
echo OK >ok
programs="warp atomics control math memory"
seeds=1 generations=80
if [ -n "${OMPGPU_LONG:-}" ]; then programs="$programs groups grid cub" seeds="1 2 3 4" generations="80 90"; fi
for name in $programs; do
    wanted=$ROOT/tests/ptx/cuda/$name.out
    for cc in $generations; do
        check "$name for $cc: nvcc compiles it" cuda_program "$ROOT/tests/ptx/cuda/$name.cu" "$T/prog" "$cc" || continue
        check "$name for $cc: verifies" prints ./prog
        check "$name for $cc: has no race" prints env OMPGPU_CHECK=race ./prog
        for seed in $seeds; do
            check "$name for $cc: verifies in order $seed" prints env OMPGPU_PTX_SCHEDULE="$seed" ./prog
            check "$name for $cc: verifies in order $seed, weak memory" prints env OMPGPU_PTX_SCHEDULE="$seed" OMPGPU_PTX_MEMORY=weak ./prog
        done
    done
done
finish
