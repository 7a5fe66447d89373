#!/bin/sh
# modes.sh - what late SPMD-zation makes of regions with sequential code: our generic mode, the late pass and hand-written CUDA
# (cuda/*.cu under nvcc) side by side.  Of all code in the PTX for sm_90: instructions, barriers, indirect calls, calls of malloc; from ptxas
# registers and shared bytes (the largest of the kernels); from the emulated device's counters: barriers and changes from thread to
# thread while the sample ran.
CC=${OMPGPU_CC:-bin/ompgpu-cc}
T=$(mktemp -d "${TMPDIR:-/tmp}/ompgpu-bench-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
ptxas=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null)
OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY; export OMPGPU_DEVICE OMP_TARGET_OFFLOAD
unset OMPGPU_INFO OMPGPU_EMU_SCHEDULE

# figures FILE.ptx: instructions barriers indirect malloc registers shared
figures() {
    awk '/^\t*[{]*\t*@?[%a-z]/ && !/^\t*\./ { n++ }
         /bar(rier)?\.(cta\.)?(sync|red|arrive)/ { bars++ }
         /prototype_[0-9]+ *:/ { indirect++ }
         /call.*malloc/ { malloc++ }
         END { printf "%d %d %d %d ", n, bars, indirect, malloc }' "$1"
    if [ -n "$ptxas" ]; then
        "$ptxas" -v -arch=sm_90 "$1" -o "$T/cubin" 2>&1 | awk '/Used/ {
            for (i = 1; i < NF; i++) {
                if ($(i + 1) == "registers," && $i > regs) regs = $i
                if ($(i + 2) ~ /^smem/ && $i > smem) smem = $i
            } } END { print regs + 0, smem + 0 }'
    else echo "- -"; fi
}
# counted FILE: barriers and switches of all launches
counted() {
    awk '/ launch / { for (i = 2; i <= NF; i++) { if ($i ~ /^barriers/) b += $(i - 1); if ($i ~ /^switches/) s += $(i - 1) } } END { print b + 0, s + 0 }' "$1"
}
bar() {                               # TEXT CONDITION…
    bar_text=$1; shift
    if [ "$@" ]; then printf '    %-74s met\n' "$bar_text"; else printf '    %-74s NOT MET\n' "$bar_text"; fi
}
ratio() { awk "BEGIN { printf \"%.2f\", $1 / ($2 ? $2 : 1) }"; }
row='  %-11s %-8s %7s %8s %8s %8s %6s %8s | %9s %9s\n'

echo "regions with sequential code: generic mode, SPMD by the late pass, CUDA (sm_90)"
# shellcheck disable=SC2059
printf "$row" sample "" PTX barriers indirect malloc regs shared barriers switches
for name in nw nw_blocks nw_called fork_join rows lud; do
    for mode in generic auto; do
        "$CC" --gpu-arch=sm_90 -O2 -w -fompgpu-mode=$mode "samples/$name.c" --emit=ptx -o "$T/$mode.ptx" || exit 1
        "$CC" --gpu-arch=emu -O2 -w -fompgpu-mode=$mode "samples/$name.c" -o "$T/x" -lm || exit 1
        OMPGPU_INFO=1 "$T/x" >/dev/null 2>"$T/info" || exit 1
        echo "$(figures "$T/$mode.ptx") $(counted "$T/info")" >"$T/$mode"
        # shellcheck disable=SC2046,SC2059
        printf "$row" $name $([ $mode = auto ] && echo SPMD || echo $mode) $(cat "$T/$mode")
    done
    cuda=$name
    [ $name != nw_called ] || cuda=nw_blocks
    # shellcheck disable=SC2046
    set -- $(cat "$T/auto")
    if [ -n "$nvcc" ]; then
        "$nvcc" -O3 -arch=sm_90 -ptx "tests/bench/cuda/$cuda.cu" -o "$T/cuda.ptx" || exit 1
        figures "$T/cuda.ptx" >"$T/cuda"
        # shellcheck disable=SC2046,SC2059
        printf "$row" $name CUDA $(cat "$T/cuda") - -
    fi
    bar "$name: no indirect call, no device malloc" "$3 $4" = "0 0"
    generic_switches=$(sed 's/.* //' "$T/generic")
    if [ $name = nw ]; then continue; fi              # SPMD by its form in both
    bar "$name: generic mode does $(ratio "$generic_switches" "$8") of the late pass's switches" "$generic_switches" -ge "$8"
    case $name in nw_*) bar "$name: at least 1.3" $((10 * generic_switches)) -ge $((13 * $8)) ;; esac
done
