#!/bin/sh
# Scans against a serial loop: random types, operators (some do not commute), lists, forms, loops, team sizes and trip counts (gen_scan.c), on
# the device under several schedules, with the same bits each time, and on the host.  200 cases; 10,000 with OMPGPU_LONG=1.
. tests/lib.sh
programs=2 cases=10 kernels=8
if [ -n "${OMPGPU_LONG:-}" ]; then programs=25 cases=40 kernels=10; fi

same_again() {                        # SCHEDULE: the same output as $T/first
    OMPGPU_EMU_SCHEDULE=$1 timeout 300 "$T/prop" 7 3 >"$T/again" 2>&1 && cmp -s "$T/first" "$T/again" || { diff "$T/first" "$T/again" | sed 20q; false; }
}
right() { timeout 600 "$@" >"$T/out" 2>&1 || { grep wrong "$T/out" || tail -3 "$T/out"; false; }; }

check "the generator compiles" "$CLANG" -std=gnu11 -O1 "$ROOT/tests/reduction/gen_scan.c" -o "$T/gen" || finish
p=0
while [ $p -lt $programs ]; do
    p=$((p + 1))
    level=-O2
    [ $p = 2 ] && level=-O0
    "$T/gen" $p $kernels >"$T/prop.c"
    # shellcheck disable=SC2086
    check "program $p compiles, $level" timeout 300 "$CC" $ARCH $level -w "$T/prop.c" -o "$T/prop" || continue
    OMP_TARGET_OFFLOAD=MANDATORY; export OMP_TARGET_OFFLOAD
    check "program $p: $((kernels * cases)) cases" right "$T/prop" 1 "$cases"
    case $ARCH in *emu*)
        "$T/prop" 7 3 >"$T/first" 2>&1
        for s in random:1 random:2 random:3; do check "program $p: the same with schedule $s" same_again $s; done ;;
    esac
    OMP_TARGET_OFFLOAD=DISABLED; export OMP_TARGET_OFFLOAD
    check "program $p: $((kernels * cases)) cases on the host" right "$T/prop" 1 "$cases" host
done
finish
