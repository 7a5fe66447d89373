#!/bin/sh
# Every instruction that occurs in the PTX of tests and samples has a test of its value: its opcode with all modifiers is in a text of
# tests/unit/ptx_values or ptx_machine.  So is every row of the machine's table and every modifier that it knows.  The short form compiles a few
# programs, the long one all of them.
. tests/lib.sh

# From PTX on standard input: opcode.modifiers, one a line.
opcodes() {
    sed 's/{[^{};]*}//g' | tr ';{}' '\n\n\n' | # vectors; then a statement a line
        sed -E -e 's|//.*||' -e 's/^[[:space:]]*//' -e 's/^[A-Za-z_$][A-Za-z0-9_$]*[[:space:]]*:[[:space:]]*//' -e 's/^@!?%[a-z0-9]+[[:space:]]*//' |
        grep -oE '^[a-z][a-z0-9]*(\.[A-Za-z0-9_:]+)*' | sort -u
}
# opcodes_of FLAGS FILE: adds to ./occur
opcodes_of() {
    src=$2
    flags="-I$ROOT/tests/run $(cd "$ROOT" && program_says flags)"
    # shellcheck disable=SC2086
    "$CC" --emit=ptx $1 $flags -w "$src" -o one.ptx >log 2>&1 || { cat log; return 1; }
    opcodes <one.ptx >>occur
}
# subset FILE FILE: what is only in the first
subset() { comm -23 "$1" "$2" >missing; sed 's/^/not tested: /' missing; [ ! -s missing ]; }

for test in ptx_values ptx_machine; do "$OBJ/tests/unit/$test" --texts; done | opcodes >tested
check "the tests of values have texts" [ "$(wc -l <tested)" -gt 1000 ]
sed -n 's/^INSN(\([a-z0-9]*\),.*/\1/p' "$ROOT/hostrt/ptx/isa.def" | sort -u >rows
cut -d. -f1 tested | sort -u >opcodes
check "each opcode of the table is tested" subset rows opcodes
sed -n 's/^MODIFIER("\([^"]*\)",.*/\1/p' "$ROOT/hostrt/ptx/modifiers.def" | sort -u >words
tr . '\n' <tested | sort -u >tested_words
check "each modifier of the table is tested" subset words tested_words

if [ -n "${OMPGPU_LONG:-}" ]; then set -- "$ROOT"/tests/run/*.c "$ROOT"/tests/modes/*.c "$ROOT"/samples/*.c
else set -- "$ROOT/tests/run/math.c" "$ROOT/tests/run/atomic.c" "$ROOT/tests/run/team_storage.c" "$ROOT/samples/jacobi.c"
fi
have_libdevice || { skip "other programs" "no libdevice"; set -- "$ROOT/tests/run/atomic.c" "$ROOT/tests/run/team_storage.c" "$ROOT/samples/jacobi.c"; }
: >occur
for file do
    src=$file
    [ -z "$(cd "$ROOT" && program_says with)" ] || continue # has PTX only after a device link
    for flags in "--gpu-arch=sm_75 -O2" "--gpu-arch=sm_100 -O2 -fompgpu-mode=generic" "--gpu-arch=sm_75 -O0 -g"; do
        opcodes_of "$flags" "$file" || not_ok "$(basename "$file") $flags: compiles"
    done
done
sort -u -o occur occur
check "what occurs in programs is tested ($(wc -l <occur) kinds)" subset occur tested
finish
