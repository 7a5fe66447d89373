#!/bin/sh
# What the samples gain from SPMD mode: fewer barriers than in generic mode, counted by the emulated device.  And the text of a loop.
# shellcheck disable=SC1091,SC2086
. tests/lib.sh
barriers() { awk '/ barriers, / { sub(/ barriers, .*/, ""); sub(/.*, /, ""); n += $0 } END { print n + 0 }' "$1"; }
# counted MODE: the barriers of $src, compiled in this mode for the emulated device
counted() { "$CC" --gpu-arch=emu -O2 -fompgpu-mode=$1 "$src" -o prog -lm && OMPGPU_DEVICE=emu OMPGPU_INFO=1 on_device ./prog 2>info >out && barriers info; }
for name in fork_join lud nw_blocks nw_called rows teams; do
    src=$SAMPLES/$name.c
    spmd=$(counted auto) generic=$(counted generic)
    most=9; [ "$name" != fork_join ] || most=7        # where a barrier that a later one makes needless is dropped
    check "$name: barriers, $spmd in SPMD, $generic in generic mode" [ "$spmd" -gt 0 -a $((spmd * 10)) -le $((generic * most)) ]
done

# A loop that steps by the number of threads has one induction variable, whatever it addresses.
"$CC" -fompgpu-team-limits -O2 --gpu-arch=sm_90 --emit=ptx "$SAMPLES/nw.c" -o nw.ptx 2>/dev/null
check "sample nw: one induction variable" test "$(grep -cE 'add\.s(32|64)[[:space:]]+(%rd?[0-9]+), \2,' nw.ptx)" = 1
finish
