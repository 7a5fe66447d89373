#!/bin/sh
# Each program of this folder in each execution mode: what -Rompgpu says, and that it runs, under several schedules of the emulated device.
# shellcheck disable=SC1091
. tests/lib.sh
. "$ROOT/tests/run/run.sh"
late() { has "$1" 'SPMD mode by the late pass' && lacks "$1" 'remark: .*generic mode'; }

for src in "$ROOT"/tests/modes/*.c; do
    name=$(basename "$src" .c)
    for m in auto generic spmd; do
        # shellcheck disable=SC2086
        check "$name $m: compiles" "$CC" $ARCH -O2 -fompgpu-mode=$m -Rompgpu -I"$ROOT/tests/run" "$src" -o prog -lm || continue
        cp .log remarks
        case $m in
        generic) check "$name $m: remark" has remarks 'generic mode by -fompgpu-mode=generic' ;;
        *) check "$name $m: remark" late remarks ;;
        esac
        check "$name $m: runs" run_ways none
    done
    # shellcheck disable=SC2086
    check "$name -O0 -g spmd: compiles" "$CC" $ARCH -O0 -g -fompgpu-mode=spmd -I"$ROOT/tests/run" "$src" -o prog -lm && check "$name -O0 -g spmd: runs" run_ways none
    if have_ptxas; then check "$name: ptxas" "$CC" --gpu-arch=sm_75,sm_90 -O2 -g -I"$ROOT/tests/run" -c "$src" -o gpu.o; else skip "$name: ptxas" "no ptxas"; fi
done
finish
