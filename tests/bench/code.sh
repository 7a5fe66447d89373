#!/bin/sh
# code.sh - the samples' GPU code for sm_90 beside the same kernels in CUDA (cuda/*.cu under nvcc), and beside the bar:
# at most 4 registers more for the plain loops, no barrier and no shared memory in them, no indirect call and no stack frame in any SPMD
# sample.  How many instructions are executed is in executed.sh.
CC=${OMPGPU_CC:-bin/ompgpu-cc}
T=$(mktemp -d "${TMPDIR:-/tmp}/ompgpu-bench-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
ptxas=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null)

# usage FILE.ptx: a line for each kernel: name, registers, shared bytes
usage() {
    [ -n "$ptxas" ] || return 0
    "$ptxas" -v -arch=sm_90 "$1" -o "$T/cubin" 2>&1 | awk '
        /Compiling entry/ { gsub("\047", ""); name = $(NF - 2) }
        /Used/ { smem = 0; for (i = 1; i < NF; i++) { if ($(i + 1) == "registers,") regs = $i; if ($(i + 2) == "smem" || $(i + 2) == "smem,") smem = $i }
                 print name, regs, smem }'
}
# figures FILE.ptx: kernel, instructions, barriers, calls, indirect, stack, registers, shared
figures() {
    awk -f tests/bench/count.awk "$1" | sort >"$T/count"
    usage "$1" | sort >"$T/usage"
    if [ -s "$T/usage" ]; then join "$T/count" "$T/usage"; else sed 's/$/ - -/' "$T/count"; fi
}

echo "GPU code for sm_90"
printf '  %-22s %8s %8s %8s %8s %8s %8s\n' kernel PTX regs barriers shared indirect stack
for name in axpy matmul sum jacobi nw; do
    "$CC" -O2 --gpu-arch=sm_90 --emit=ptx "samples/$name.c" -o "$T/ours.ptx" || exit 1
    figures "$T/ours.ptx" | sort -t_ -k2 -V >"$T/ours"
    : >"$T/cuda"
    if [ -n "$nvcc" ] && [ -e "tests/bench/cuda/$name.cu" ]; then
        "$nvcc" -O3 -arch=sm_90 -ptx "tests/bench/cuda/$name.cu" -o "$T/cuda.ptx" || exit 1
        figures "$T/cuda.ptx" >"$T/cuda"
    fi
    cat "$T/ours" "$T/cuda" | awk '{ printf "  %-22s %8s %8s %8s %8s %8s %8s\n", $1, $2, $7, $3, $8, $5, $6 }'
    awk -v name=$name '{ bad += $5 > 0 || $6 > 0 } END {
        printf "    %-46s %s\n", name ": no indirect call, no stack frame", bad ? "NOT MET" : "met" }' "$T/ours"
    case $name in
    axpy | matmul)
        awk -v name=$name '{ bad += $3 > 0 || $8 + 0 > 0 } END {
            printf "    %-46s %s\n", name ": no barrier, no shared memory", bad ? "NOT MET" : "met" }' "$T/ours"
        [ -s "$T/cuda" ] || continue
        paste "$T/ours" "$T/cuda" | awk -v name=$name '{ # the other forms have no peer
            if ($7 != "-" && NF > 8) printf "    %-46s %s\n", sprintf("%s: %+d registers, at most +4", name, $7 - $15), $7 <= $15 + 4 ? "met" : "NOT MET" }' ;;
    esac
done
[ -n "$nvcc" ] || echo "  (no nvcc: no CUDA figures)"
