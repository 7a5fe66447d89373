#!/bin/sh
# OMPGPU_CHECK=stale: values that get lost between host and device (stale.c); their mended twins are silent.
. tests/lib.sh
src=$ROOT/tests/mistakes/stale.c
OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_CHECK=stale; export OMPGPU_DEVICE OMP_TARGET_OFFLOAD OMPGPU_CHECK
finds() {
    line=$(grep -n "/\* $1 \*/" "$src" | cut -d: -f1)
    test_must_fail 1 in_time ./prog "$1" 2>err && [ "$(grep -c 'error:' err)" = 1 ] && has err "${line:+stale.c:$line: }error: .*\[OMPGPU_CHECK=stale\]" && mentions "$(cat err)" "$2"
}
silent_run() { in_time ./prog "$@" 2>err && [ ! -s err ] || { cat err; return 1; }; }
mistake() { check "$1" finds "$@" && check "... mended" silent_run "$1" mended; }
check "compiles" "$CC" -w -O1 --gpu-arch=emu "$src" -o prog
mistake host_change "'a'|byte 392|stale.c:10|update to"
mistake host_change_unstructured "'a[0:N]'|byte 16|update to"
mistake deleted_inside "'a'|removed|stale.c:41"
mistake freed_twice "omp_target_free"
check "each side may use its copy" silent_run both_sides
check "a mapping that is removed unchanged" silent_run deleted_unchanged
finish
