#!/bin/sh
# modes.sh - what late SPMD-zation makes of regions with sequential code, against our generic mode: counts in the PTX for sm_90, what
# ptxas says where it is at hand, and how often the emulated device's threads wait is seen in its time.
CC=${OMPGPU_CC:-bin/ompgpu-cc}
T=$(mktemp -d "${TMPDIR:-/tmp}/ompgpu-bench-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
instructions() { grep -cE '^[[:space:]]+(@!?%p[0-9]+ )?[a-z][a-z0-9_.]*[[:space:]].*;' "$1"; }
field() { sed -n "s/.*remark: region .*[ :] *\([0-9]*\) $1.*/\1/p" "$2" | sort -n | tail -n 1; }

echo "regions with sequential code (sm_90, -O2): generic mode, then the late pass"
printf '  %-14s %-8s %8s %12s %9s %10s %8s\n' program mode barriers instructions registers shared time/s
for f in samples/fork_join.c tests/modes/nw_called.c tests/modes/nw_sequential.c tests/modes/rows.c tests/modes/lud.c tests/modes/league.c; do
    name=$(basename "$f" .c)
    for mode in generic auto; do
        "$CC" --gpu-arch=sm_90 -O2 -Itests/run -fompgpu-mode=$mode -Rompgpu "$f" -c -save-temps="$T" -o "$T/x.o" 2>"$T/log" || { cat "$T/log"; exit 1; }
        "$CC" --gpu-arch=emu -O2 -Itests/run -fompgpu-mode=$mode "$f" -o "$T/x" -lm || exit 1
        begin=$(date +%s%N)
        OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY "$T/x" >/dev/null || exit 1
        end=$(date +%s%N)
        printf '  %-14s %-8s %8s %12s %9s %10s %8s\n' "$name" $mode "$(grep -cE '^[[:space:]]+(bar|barrier)\.sync' "$T/$name.sm_90.ptx")" \
            "$(instructions "$T/$name.sm_90.ptx")" "$(field registers "$T/log")" \
            "$(sed -n 's/.*registers and \([0-9]*\) bytes.*/\1/p' "$T/log" | tail -n 1)" \
            "$(awk "BEGIN { printf \"%.3f\", ($end - $begin) / 1e9 }")"
    done
done
