#!/bin/sh
# Reductions against a serial reference: random types, operators, lists, geometries and trip counts (gen.c), under several schedules of
# the emulated device, and twenty runs with the same bits.  300 cases; 10,000 with OMPGPU_LONG=1.
. tests/lib.sh
OMP_TARGET_OFFLOAD=MANDATORY; export OMP_TARGET_OFFLOAD
programs=2 cases=15 again=2
if [ -n "${OMPGPU_LONG:-}" ]; then programs=20 cases=50 again=10; fi
kernels=10

same_again() {                        # the same output as $T/first, from `prop 7 $again` with this schedule
    OMPGPU_EMU_SCHEDULE=$1 timeout 300 "$T/prop" 7 "$2" >"$T/again" 2>&1 && cmp -s "$T/first" "$T/again" || { diff "$T/first" "$T/again" | sed 20q; false; }
}
twenty() {
    "$T/prop" 7 1 >"$T/first" || return 1
    i=0
    while [ $i -lt 20 ]; do
        i=$((i + 1))
        same_again random:$i 1 || return 1
    done
}
right() { timeout 600 "$T/prop" 1 "$cases" >"$T/out" 2>&1 || { grep wrong "$T/out" || tail -3 "$T/out"; false; }; }

check "the generator compiles" "$CLANG" -std=gnu11 -O1 "$ROOT/tests/reduction/gen.c" -o "$T/gen" || finish
p=0
while [ $p -lt $programs ]; do
    p=$((p + 1))
    "$T/gen" $p $kernels >"$T/prop.c"
    # shellcheck disable=SC2086
    check "program $p compiles" timeout 300 "$CC" $ARCH -O2 -w "$T/prop.c" -o "$T/prop" || continue
    check "program $p: $((kernels * cases)) cases" right
    case $ARCH in *emu*) ;; *) continue ;; esac
    "$T/prop" 7 $again >"$T/first" 2>&1
    for s in random:1 random:2 random:3; do check "program $p: the same with schedule $s" same_again $s $again; done
    if [ $p = 1 ]; then check "twenty runs, the same bits" twenty; fi
done
finish
