#!/bin/sh
# shellcheck disable=SC1091
# -fsanitize=address,undefined: mistakes in device code on the emulated device, too.
. tests/lib.sh
OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY; export OMPGPU_DEVICE OMP_TARGET_OFFLOAD
cat >app.c <<'C'
#include <limits.h>
int main(int argc, char **argv) {
    int a[10] = { 0 }, zero = 0;
#pragma omp target teams distribute parallel for map(tofrom: a) thread_limit(32)
    for (int i = 0; i < 10; i++) {
        int k[4] = { 1, 2, 3, i }, *p = a;
        a[i] = INT_MAX - 4 + zero;
        if (argc == 2)
            a[i] += i; /* sum */
        if (argc == 3)
            a[i] = i << (40 + i); /* shift */
        if (argc == 4)
            a[i] = k[2 * i]; /* index */
        if (argc == 5)
            a[i] = *(int *)((char *)p + 1); /* misaligned */
        if (argc == 6)
            a[i] = p[10 + i]; /* address */
    }
    return a[0] == 1;
}
C
if [ -n "${OMPGPU_SANITIZE:-}" ]; then skip_all "the library's own sanitizer would be another"; fi
# traps WHERE WORDS ARGUMENTS
traps() {
    line=$(grep -n "/\* $1 \*/" app.c | cut -d: -f1) words=$2; shift 2
    test_must_fail 1 in_time ./prog "$@" 2>err && mentions "$(cat err)" "region main_4|$words" && { [ "$level" = -O2 ] || has err "at line ${line}[, ]"; }
}
for level in -O0 -O2; do
    if "$CC" -w $level -fno-ompgpu-check -fsanitize=undefined --gpu-arch=emu app.c -o prog 2>err; then
        check "$level: an overflow" traps sum "signed integer overflow: addition" 1
        check "$level: a shift" traps shift "shift" 1 2
        check "$level: an index" traps index "index out of bounds" 1 2 3
        check "$level: a misaligned pointer" traps misaligned "misaligned" 1 2 3 4
        check "$level: nothing is wrong" in_time ./prog
    else skip "$level: undefined" "clang has no run-time library for it"; fi
done
found() { test_must_fail 1 in_time ./prog 1 2 3 4 5 2>err && has err 'app.c:17:.*\[OMPGPU_CHECK=address\]'; }
if "$CC" -w -O2 -fsanitize=address --gpu-arch=emu app.c -o prog 2>err; then
    check "-fsanitize=address looks for what -fompgpu-check does" found
    "$CC" -w -O2 -fsanitize=address -fno-ompgpu-check --gpu-arch=emu app.c -o prog
    in_time ./prog 1 2 3 4 5 2>err
    check "... unless that is turned off" test ! -s err
else skip "address" "clang has no run-time library for it"; fi
finish
