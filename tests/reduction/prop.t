#!/bin/sh
# Reductions against a serial reference: random types, operators, shapes, lists, directives, geometries and trip counts (gen.c), under
# several schedules of the emulated device; and a hundred runs with the same bits (bits.c).  240 cases; 10,400 with OMPGPU_LONG=1, some of them on
# the PTX machine, too.
. tests/lib.sh
OMP_TARGET_OFFLOAD=MANDATORY; export OMP_TARGET_OFFLOAD
programs=3 cases=20 again=2 kernels=4
if [ -n "${OMPGPU_LONG:-}" ]; then programs=26 cases=40 again=4 kernels=10; fi

same_again() {                        # the same output as $T/first, from $T/prog ARGS… with this schedule
    schedule=$1; shift
    OMPGPU_EMU_SCHEDULE=$schedule in_time "$@" >"$T/again" 2>&1 && cmp -s "$T/first" "$T/again" && return 0
    echo "with OMPGPU_EMU_SCHEDULE=$schedule"; diff "$T/first" "$T/again" | sed 20q; return 1
}
hundred() {
    "$T/bits" >"$T/first" || return 1
    i=0
    while [ $i -lt 100 ]; do
        i=$((i + 1))
        same_again random:$i "$T/bits" || return 1
    done
}
right_some() { (cases=4; right); }
right() { in_time "$T/prop" $p "$cases" >"$T/out" 2>&1 || { grep wrong "$T/out" || tail -3 "$T/out"; false; }; }

check "the generator compiles" "$CLANG" -std=gnu11 -Wall -Wextra -Werror -O1 "$ROOT/tests/reduction/gen.c" -o "$T/gen" || finish
p=0
while [ $p -lt $programs ]; do
    p=$((p + 1))
    "$T/gen" $p $kernels >"$T/prop.c"
    # shellcheck disable=SC2086
    check "program $p compiles" in_time "$CC" $ARCH${MACHINE:+,$MACHINE} -O$((p % 3)) -w "$T/prop.c" -o "$T/prop" || continue
    check "program $p: $((kernels * cases)) cases" right
    [ -z "$MACHINE" ] || check "program $p: on the PTX machine" on_machine right_some
    case $ARCH in *emu*) ;; *) continue ;; esac
    "$T/prop" 7 $again >"$T/first" 2>&1
    for s in random:1 random:2 random:3; do check "program $p: the same with schedule $s" same_again $s "$T/prop" 7 $again; done
done
# shellcheck disable=SC2086
check "bits.c compiles" "$CC" $ARCH -O2 "$ROOT/tests/reduction/bits.c" -o "$T/bits" && check "a hundred runs, the same bits" hundred
finish
