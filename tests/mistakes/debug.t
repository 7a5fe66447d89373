#!/bin/sh
# Programs with -g -O0: gdb stops at lines of regions, the threads of a team run in another order each time, and a message says how to have it again.
# shellcheck disable=SC1091,SC3045
. tests/lib.sh
OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_EMU_THREADS=1; export OMPGPU_DEVICE OMP_TARGET_OFFLOAD OMPGPU_EMU_THREADS
cat >order.c <<'C'
#include <stdio.h>
#include <omp.h>
int main(int argc, char **argv) {
    int first = -1, n = 0, a[40] = { 0 };
#pragma omp target map(tofrom: first, n, a)
#pragma omp parallel num_threads(32)
    {
        int place;
#pragma omp atomic capture
        place = n++;
        a[place] = 2 * place;
        if (place == 0)
            first = omp_get_thread_num();
    }
    printf("%d\n", first);
#pragma omp target map(tofrom: a)
    if (argc > 1)
        a[40 + argc] = 1;
    return 0;
}
C
check "compiles" "$CC" -w -g -O0 --gpu-arch=emu order.c -o prog
orders() { for _ in 1 2 3 4 5 6 7 8 9 10; do in_time "$@" ./prog || echo failed; done | sort -u; }
check "the first thread is not always the same" test "$(orders env | wc -l)" -gt 1
check "... it is with OMPGPU_EMU_SCHEDULE=order" test "$(orders env OMPGPU_EMU_SCHEDULE=order | wc -l)" = 1
again() {
    test_must_fail 1 in_time ./prog x >first 2>err || return 1
    seed=$(sed -n 's/.*OMPGPU_EMU_SCHEDULE=\(random:[0-9]*\).*/\1/p' err | head -1)
    [ -n "$seed" ] || { cat err; return 1; }
    test_must_fail 1 env OMPGPU_EMU_SCHEDULE="$seed" ./prog x >second 2>err && same first second
}
check "an error shows the seed, which repeats the order" again
check "-O2 -g without the check" "$CC" -w -g -O2 --gpu-arch=emu order.c -o prog
check "... runs in order" test "$(orders env | wc -l)" = 1
check "compiles" "$CC" -w -g -O0 --gpu-arch=emu order.c -o prog
if gdb -nx -batch -ex run ./prog >/dev/null 2>&1; then
    gdb -nx -batch -ex 'set breakpoint pending on' -ex 'break order.c:11' -ex run -ex 'print place' -ex next -ex 'print *a' ./prog >out 2>&1
    check "gdb stops at a line of a region, and shows what is mapped" has out '^Breakpoint 1.* at order.c:11' '^\$1 = 0' '^12' '^\$2 = {0 <repeats 40'
    gdb -nx -batch -ex "source $ROOT/driver/package/gdb.py" -ex 'set breakpoint pending on' -ex 'break order.c:11 if place == 5' -ex run -ex bt \
        -ex 'info team' ./prog >out 2>&1
    check "gdb.py: the user's frames" has out '^#0 .*order.c:11'
    check "... none of ours" lacks out '^#.*hostrt/'
    check "... what the threads do" has out '^region main_5, team 0 of 1, thread [0-9]* of 32' ' [0-9]*: runs$' ' to [0-9]*: '
else skip "gdb" "it does not run"; fi
# A core file has the stack of the thread that made the mistake, and what is mapped.
cat >core.c <<'C'
#include <stdlib.h>
int main(int argc, char **argv) {
    int n = 10, *a = calloc(n, sizeof *a);
#pragma omp target map(tofrom: a[0:n])
    for (int i = 0; i < n; i++) {
        int k = i + 1;
        if (argc > 1)
            a[i] /= argc - 2; /* 8 */
        else
            a[k] = 10 * i; /* 10 */
    }
    return a[0];
}
C
mkdir images cores; TMPDIR=$PWD/images; export TMPDIR
check "compiles" "$CC" -w -g -O0 --gpu-arch=emu core.c -o prog
leaves() { # LINE VALUE ARGUMENTS
    line=$1 value=$2; shift 2
    (cd cores && ulimit -c unlimited && rm -f ./* && OMPGPU_ON_ERROR=abort ../prog "$@") 2>err
    has err "core.c:$line:\|at line ${line}[, ]" && gdb -nx -batch -ex "source $ROOT/driver/package/gdb.py" -ex bt -ex 'frame function main_4__omp_region' -ex 'print i' -ex 'info team' ./prog cores/core* >out 2>&1 &&
        has out "^#.*core.c:$line" "^\$1 = $value\$" '^region main_4, team 0 of 1, thread 0 of ' || { cat err out; return 1; }
}
(cd cores && ulimit -c unlimited && sh -c 'kill -ABRT $$') 2>/dev/null
if [ -n "${OMPGPU_SANITIZE:-}" ]; then skip "core files" "a sanitizer leaves none"
elif [ -n "$(ls cores)" ] && gdb -nx -batch -ex run ./prog >/dev/null 2>&1; then
    check "a core file after a mistake that was looked for" leaves 10 9
    check "... after a fault" leaves 8 0 x
else skip "core files" "gdb does not run, or the system keeps them elsewhere"; fi
rm -f images/*; OMPGPU_ON_ERROR=abort in_time ./prog a b
check "without a mistake no image stays" test -z "$(ls images)"
unset TMPDIR
# What the checks keep takes a lot of address space.
check "compiles" "$CC" -w -O0 --gpu-arch=emu order.c -o prog
unchecked() { "$@" >out 2>err && grep -q 'warning: what regions access is not checked' err && [ -s out ] || { cat out err; return 1; }; }
if [ -n "${OMPGPU_SANITIZE:-}" ]; then skip "little address space, valgrind" "a sanitizer has none of them"; finish; exit; fi
check "with little address space, the program runs unchecked" unchecked sh -c 'ulimit -v 8000000; exec ./prog'
if valgrind -q true >/dev/null 2>&1; then check "... and in valgrind" unchecked in_time valgrind -q ./prog
else skip "valgrind" "it does not run"; fi
finish
