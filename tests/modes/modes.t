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
    if have_ptxas; then
        check "$name: ptxas" "$CC" --gpu-arch=sm_75,sm_90,emu -O2 -g -I"$ROOT/tests/run" -c "$src" -o gpu.o || continue
        cp .log log
        check "$name: the same on both targets" silent log "different modes"
    else
        skip "$name: ptxas" "no ptxas"
    fi
done

# The samples: no region of them is opaque.  Generic mode does the same with more barriers.
barriers() { awk '/ barriers, / { sub(/ barriers, .*/, ""); sub(/.*, /, ""); n += $0 } END { print n + 0 }' "$1"; }
OMP_TARGET_OFFLOAD=MANDATORY; export OMP_TARGET_OFFLOAD
for src in "$SAMPLES"/*.c; do
    name=$(basename "$src" .c)
    # shellcheck disable=SC2086
    check "sample $name: compiles" "$CC" $ARCH -O2 -Rompgpu "$src" -o prog -lm || continue
    cp .log remarks
    check "sample $name: every region is SPMD" lacks remarks 'remark: .*generic mode'
    case $name in fork_join | lud | nw_blocks | nw_called | rows | teams) ;; *) continue ;; esac
    case $ARCH in *emu*) ;; *) skip "sample $name: barriers" "counted by the emulated device"; continue ;; esac
    OMPGPU_DEVICE=emu OMPGPU_INFO=1 ./prog >out 2>spmd
    # shellcheck disable=SC2086
    "$CC" $ARCH -O2 -fompgpu-mode=generic "$src" -o prog -lm && OMPGPU_DEVICE=emu OMPGPU_INFO=1 ./prog >out 2>generic
    b_spmd=$(barriers spmd) b_generic=$(barriers generic)
    most=9; [ "$name" != fork_join ] || most=7        # where a barrier that a later one makes needless is dropped
    check "sample $name: barriers, $b_spmd in SPMD, $b_generic in generic mode" test $((b_spmd * 10)) -le $((b_generic * most))
done

# A loop that steps by the number of threads has one induction variable, whatever it addresses.
"$CC" -O2 --gpu-arch=sm_90 --emit=ptx "$SAMPLES/nw.c" -o nw.ptx 2>/dev/null
check "sample nw: one induction variable" test "$(grep -cE 'add\.s(32|64)[[:space:]]+(%rd?[0-9]+), \2,' nw.ptx)" = 1
finish
