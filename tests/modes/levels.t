#!/bin/sh
# Programs of the execution modes at -O0, with -g and with both, in generic mode and in the one that the compiler chooses.
# OMPGPU_LONG=1: all programs of tests/modes, and of tests/run at -O0 in the chosen mode and at -O2 in generic mode (-O0 -g, which is generic: O0.t).
# shellcheck disable=SC1091,SC2046,SC2086
. tests/lib.sh
. "$ROOT/tests/run/run.sh"

run="state_machine team_storage recursion nested_parallel generic_calls generic_locals"
level() {                             # SOURCE FLAGS
    lv_src=$1; shift
    lv_name="$(basename "$lv_src" .c) $*"
    check "$lv_name: compiles" timeout 120 "$CC" $ARCH -I"$ROOT/tests/run" $(program_flags "$lv_src") "$lv_src" $(program_parts "$lv_src") "$@" -o "$T/prog" -lm && check "$lv_name: runs" run_ways none
}
for name in $run; do
    level "$ROOT/tests/run/$name.c" -O0 -g -fompgpu-mode=generic
    level "$ROOT/tests/run/$name.c" -O2 -g -fompgpu-mode=auto
done
for src in "$ROOT"/tests/modes/*.c; do level "$src" -O0 -g -fompgpu-mode=generic; done
[ -n "${OMPGPU_LONG:-}" ] || { finish; exit; }
for src in "$ROOT"/tests/run/*.c; do
    level "$src" -O0 -fompgpu-mode=auto
    level "$src" -O2 -fompgpu-mode=generic
done
for src in "$ROOT"/tests/modes/*.c; do
    level "$src" -O2 -g -fompgpu-mode=spmd
    level "$src" -O2 -g -fompgpu-mode=generic
done
finish
