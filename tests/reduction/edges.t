#!/bin/sh
# Reductions on every directive in the corners of its geometry (edges.c; scalars and a section, or a struct), and one variable at several levels (levels.c).
. tests/lib.sh
. "$ROOT/tests/run/run.sh"
# shellcheck disable=SC2086
for name in edges levels; do
    src=$ROOT/tests/reduction/$name.c
    for level in -O2 ${OMPGPU_LONG:+-O0}; do
        check "$name.c compiles, $level" timeout 120 "$CC" $ARCH $level "$src" -o "$T/prog" && check "$name.c runs, $level" run_ways "$T/none"
    done
    [ -n "${OMPGPU_LONG:-}" ] && have_ptxas && check "$name.c: every GPU" timeout 600 "$CC" --gpu-arch=sm_75,sm_80,sm_90,sm_100 -O2 -c "$src" -o "$T/a.o"
done
# shellcheck disable=SC2086
check "edges.c with a struct compiles" timeout 120 "$CC" $ARCH -O2 -DSTRUCT "$ROOT/tests/reduction/edges.c" -o "$T/prog" && check "edges.c with a struct runs" run_ways "$T/none"
finish
