#!/bin/sh
# reductions.sh - the GPU code (sm_90) of the reductions in gpu_reductions.c beside the same ones in CUDA (cuda/reductions.cu under nvcc), and
# beside the bars of one double and of four variables.  A shuffle step moves a whole record: shuffles divided by the record's words.
# SASS: instruction slots of 16 bytes, filling at the end included.
CC=${OMPGPU_CC:-bin/ompgpu-cc}
T=$(mktemp -d "${TMPDIR:-/tmp}/ompgpu-bench-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
ptxas=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null)
readelf=$(command -v llvm-readelf-22 || command -v readelf)

# usage FILE.ptx: a line for each kernel: name, registers, shared bytes, SASS slots
usage() {
    [ -n "$ptxas" ] || return 0
    "$ptxas" -v -arch=sm_90 "$1" -o "$T/cubin" >"$T/log" 2>&1
    { [ -z "$readelf" ] || "$readelf" -SW "$T/cubin" 2>/dev/null | sed 's/^ *\[ *[0-9]*\] *//'; cat "$T/log"; } | awk '
        function hex(s, v, i) { v = 0; for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return v }
        $1 ~ /^\.text\./ { slots[substr($1, 7)] = hex($5) / 16 }
        /Compiling entry/ { gsub("\047", ""); name = $(NF - 2) }
        /Used/ { smem = 0; for (i = 1; i < NF; i++) { if ($(i + 1) == "registers,") regs = $i; if ($(i + 2) == "smem" || $(i + 2) == "smem,") smem = $i }
                 print name, regs, smem, name in slots ? slots[name] : "-" }'
}
# figures FILE.ptx: name, instructions, barriers, shuffles, loads, indirect, stack, divisions, registers, shared, slots
figures() {
    awk -f tests/bench/reductions.awk "$1" | sort >"$T/count"
    usage "$1" | sort >"$T/usage"
    if [ -s "$T/usage" ]; then join "$T/count" "$T/usage"; else sed 's/$/ - - -/' "$T/count"; fi
}
# batched CUBIN KERNEL: most loads (LDG) that stand before an addition of doubles (DADD) in the SASS
batched() {
    # shellcheck disable=SC2046
    set -- "$1" $("$readelf" -SW "$1" 2>/dev/null | sed 's/^ *\[ *[0-9]*\] *//' | awk -v name="$2" '$1 ~ "^\\.text\\." name "_[0-9]+$" { print $4, $5 }')
    [ $# = 3 ] || return 0
    od -An -v -tx8 -w16 -j$((0x$2)) -N$((0x$3)) "$1" | awk '{ op = substr($1, 14) } op == "981" && ++n > most { most = n } op == "229" { n = 0 } END { print most }'
}
of() { awk -v name="$2" -v field="$3" '$1 == name { print $field }' "$1"; }
bar() { printf '    %-66s %s\n' "$1" "$(awk "BEGIN { print ($2) ? \"met\" : \"NOT MET\" }")"; }

"$CC" -O2 --gpu-arch=sm_90 --emit=ptx tests/bench/gpu_reductions.c -o "$T/ours.ptx" || exit 1
figures "$T/ours.ptx" | sed 's/_[0-9]* / /' >"$T/ours"
loads=
[ -z "$ptxas" ] || [ -z "$readelf" ] || loads=$(batched "$T/cubin" sum_double)
: >"$T/cuda"
if [ -n "$nvcc" ]; then
    "$nvcc" -O3 -arch=sm_90 -ptx tests/bench/cuda/reductions.cu -o "$T/cuda.ptx" 2>/dev/null || exit 1
    figures "$T/cuda.ptx" >"$T/cuda"
fi
echo "reductions (sm_90), ours / hand-written CUDA"
printf '  %-14s %11s %9s %9s %9s %9s %11s %11s\n' kernel PTX registers barriers shuffles loads shared SASS
while read -r name words; do
    set -- "$(of "$T/ours" "$name" 2)" "$(of "$T/cuda" "$name" 2)" "$(of "$T/ours" "$name" 9)" "$(of "$T/cuda" "$name" 9)" \
        "$(of "$T/ours" "$name" 3)" "$(of "$T/cuda" "$name" 3)" "$(of "$T/ours" "$name" 4)" "$(of "$T/cuda" "$name" 4)"
    printf '  %-14s %5s/%5s %4s/%4s %4s/%4s %4s/%4s %9s %5s/%5s %5s/%5s\n' "$name" "$1" "${2:--}" "$3" "${4:--}" "$5" "${6:--}" "$7" "${8:--}" \
        "$(of "$T/ours" "$name" 5)" "$(of "$T/ours" "$name" 10)" "$(of "$T/cuda" "$name" 10)" "$(of "$T/ours" "$name" 11)" "$(of "$T/cuda" "$name" 11)"
    eval "ours_$name=$1 cuda_$name=${2:-0} registers_$name=$3 barriers_$name=$5 steps_$name=$(awk "BEGIN { print $7 / $words }")"
done <<'NAMES'
sum_int 1
sum_float 1
sum_double 2
dot 2
minloc_double 4
sum_complex 4
four 8
eight 13
array_1024 2
NAMES
# shellcheck disable=SC2154
{
    bar "one double: $barriers_sum_double barriers after the loop, at most 2" "$barriers_sum_double <= 2"
    [ "$registers_sum_double" = - ] || bar "one double: $registers_sum_double registers, at most 32" "$registers_sum_double <= 32"
    slots=$(of "$T/ours" sum_double 11)
    [ "$slots" = - ] || bar "one double: $slots slots of SASS, at most 400" "$slots <= 400"
    bar "one double: no indirect call, no stack frame, no 64-bit division" \
        "$(of "$T/ours" sum_double 6) + $(of "$T/ours" sum_double 7) + $(of "$T/ours" sum_double 8) == 0"
    bar "one double: $(of "$T/ours" sum_double 5) loads in a block of PTX, at least 4" "$(of "$T/ours" sum_double 5) >= 4"
    [ -z "$loads" ] || bar "one double: $loads loads in flight in the SASS, at least 4" "$loads >= 4"
    [ "$cuda_sum_double" = 0 ] || bar "one double: PTX $(awk "BEGIN { printf \"%.2f\", $ours_sum_double / $cuda_sum_double }") of CUDA, at most 1.3" \
        "$ours_sum_double <= 1.3 * $cuda_sum_double"
    bar "four variables: barriers $(awk "BEGIN { print $barriers_four / $barriers_sum_double }") of one double's, at most 1.2" \
        "$barriers_four <= 1.2 * $barriers_sum_double"
    bar "four variables: shuffle steps $(awk "BEGIN { print $steps_four / $steps_sum_double }") of one double's, at most 1.2" \
        "$steps_four <= 1.2 * $steps_sum_double"
}
[ -n "$nvcc" ] || echo "  (no nvcc: no CUDA figures)"
