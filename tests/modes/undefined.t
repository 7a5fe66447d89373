#!/bin/sh
# GPUs: no register is read that was never written (codegen/ir/passes/undefined.c), which ptxas 12.8 and 13.0 make wrong code of: neither where
# the ways of a program meet that gives a variable a value on some, nor of an operand.  tests/run/undefined.c is the same on a GPU.
# shellcheck disable=SC1091
. tests/lib.sh

for source in undefined scan lanes; do
    for level in -O0 -O2; do
        check "$source $level" "$CC" --gpu-arch=sm_75 $level -w --emit=ir -o ir "$ROOT/tests/run/$source.c"
        grep -v '^;' ir >final              # the steps before are comments
        check "... has values that meet" has final ' = phi '
        check "... each defined" lacks final ' = phi .*\[ \(undef\|poison\),' ' call .*, \(undef\|poison\)[,)]' ' = \(select\|add\|sub\|mul\|shl\|[al]shr\|or\|and\|xor\|icmp\) .*[ ,]\(undef\|poison\)\(,\|$\)'
    done
done
finish
