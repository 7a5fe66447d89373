#!/bin/sh
# Reductions on every directive in the corners of its geometry (edges.c; scalars and a section, or a struct), and one variable at several levels (levels.c).
. tests/lib.sh
for file in edges levels; do
    program "tests/reduction/$file.c"
    if [ -n "${OMPGPU_LONG:-}" ]; then
        form "$GPUS" -O2
        form "" -O0
    else
        form "" -O2
    fi
done
program tests/reduction/edges.c -DSTRUCT
form "" -O0
[ -z "${OMPGPU_LONG:-}" ] || form "" -O2
finish
