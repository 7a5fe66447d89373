#!/bin/sh
# OMPGPU_CHECK=stale: values that get lost between host and device (stale.c); their mended twins are silent.
. tests/lib.sh
src=$ROOT/tests/mistakes/stale.c
OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_CHECK=stale; export OMPGPU_DEVICE OMP_TARGET_OFFLOAD OMPGPU_CHECK
finds() {
    line=$(grep -n "/\* $1 \*/" "$src" | cut -d: -f1)
    test_must_fail 1 in_time ./prog "$1" 2>err && [ "$(grep -c 'error:' err)" = 1 ] && has err "${line:+stale.c:$line:[0-9:]* }error: .*\[OMPGPU_CHECK=stale\]" && mentions "$(cat err)" "$2"
}
said_of_both() {
    "$CC" -w -c -fompgpu-check-host -fsanitize=address --gpu-arch=emu "$src" -o both.o 2>err && has err "warning: '-fompgpu-check-host' does not see" || return 1
    "$CC" -w -c -fompgpu-check-host -fsanitize=undefined -fsanitize-trap=undefined --gpu-arch=emu "$src" -o both.o 2>err && [ ! -s err ]
}
silent_run() { in_time ./prog "$@" 2>err && [ ! -s err ] || { cat err; return 1; }; }
mistake() { check "$1" finds "$@" && check "... mended" silent_run "$1" mended; }
check "with a sanitizer's library there is a word" said_of_both
check "compiles" "$CC" -w -O1 -g -fompgpu-check-host --gpu-arch=emu "$src" -o prog
mistake host_change "'a'|byte 392|stale.c:21|update to"
mistake host_change_unstructured "'a[0:N]'|byte 16|update to"
mistake deleted_inside "'a'|removed|stale.c:52"
mistake freed_twice "omp_target_free"
mistake device_reads_old "'a'|stale.c:58|update to"
mistake device_copies_old "'from'|stale.c:74|update to"
if [ -n "${OMPGPU_SANITIZE:-}" ]; then skip "reads of the host" "the sanitizers' library takes the calls"
else
    mistake host_reads_old "'a', byte 28|stale.c:87|update from"
    mistake host_reads_before_from "'b', byte 396|stale.c:100|update from"
    mistake host_reads_variable "declare target|update from"
fi
mistake mapped_still "'a'|exit data map(from"
check "what both sides know" silent_run both_know
check "items that overlap" silent_run twice
check "each side may use its copy" silent_run both_sides
check "a mapping that is removed unchanged" silent_run deleted_unchanged
finish
