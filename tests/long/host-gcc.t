#!/bin/sh
# Programs of tests/run that the machine's gcc can compile, with --host-cc=gcc: with one OpenMP library in the process, libgomp.
. tests/lib.sh
[ -n "${OMPGPU_LONG:-}" ] || skip_all "OMPGPU_LONG=1 runs it"
[ -z "${OMPGPU_SANITIZE:-}" ] || skip_all "libompgpu.so needs the run-time of clang's sanitizers"
command -v gcc >/dev/null 2>&1 || skip_all "no gcc"
one_runtime() { ldd ./prog >needed && has needed libgomp && silent needed 'libomp[.]'; }
n=0
for src in "$ROOT"/tests/run/*.c; do
    name=$(basename "$src" .c) flags=$(program_says flags) parts=
    case $name in packed | spread_data) skip "$name" "gcc expands no macros in its pragmas"; continue ;; esac
    for p in $(program_says with); do parts="$parts $ROOT/tests/run/$p"; done
    # shellcheck disable=SC2086
    gcc -w -fopenmp -foffload=disable -O1 $flags -isystem "$ROOT/lib/ompgpu/include" "$src" $parts -o host -lm 2>/dev/null || continue
    n=$((n + 1))
    # shellcheck disable=SC2086
    check "$name: compiles" "$CC" $ARCH --host-cc=gcc -O1 $flags "$src" $parts -o prog -lm && check "$name: runs" run_ways && check "$name: one OpenMP library" one_runtime
done
check "many of them" test $n -gt 85
finish
