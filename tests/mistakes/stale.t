#!/bin/sh
# OMPGPU_CHECK=stale: values that get lost between host and device, and old copies that are read (stale.c); their mended twins are silent.
. tests/lib.sh
src=$ROOT/tests/mistakes/stale.c
OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY; export OMPGPU_DEVICE OMP_TARGET_OFFLOAD
# said NAME KIND HOW WORDS: one message, at the line with the name as a comment
said() {
    line=$(grep -n "/\* $1 \*/" "$src" | cut -d: -f1)
    [ "$(grep -c 'error:\|warning:' err)" = 1 ] && has err "${line:+stale.c:$line:[0-9:]* }$3: .*\[OMPGPU_CHECK=$2\]" && mentions "$(cat err)" "$4" || { cat err; return 1; }
}
line_of() { grep -n "$1" "$src" | head -n 1 | cut -d: -f1; }
finds() { test_must_fail 1 in_time ./prog "$1" 2>err && said "$1" "${3:-stale}" error "$2"; }
silent_run() { in_time ./prog "$@" 2>err && [ ! -s err ] || { cat err; return 1; }; }
# Nobody sets OMPGPU_CHECK: for certain, so the program fails.
mistake() { check "$1" finds "$@" && check "... mended" silent_run "$1" mended; }
# It may be meant: said where the program itself fails, and by OMPGPU_CHECK=stale-all.
suspect_is_kept() {
    in_time ./prog "$1" 2>err; rc=$?
    [ $rc = 0 ] && [ ! -s err ] || { echo "exit code $rc"; cat err; return 1; }
}
suspect_is_shown() { FAILS=3 test_must_fail 3 in_time ./prog "$1" 2>err && said "$1" stale warning "$2"; }
suspect() {
    check "$1: the program may mean it" suspect_is_kept "$1"
    check "... it fails" suspect_is_shown "$@"
    check "... mended" env FAILS=3 sh -c "./prog $1 mended 2>err; [ \$? = 3 ] && [ ! -s err ]"
    OMPGPU_CHECK=stale-all; export OMPGPU_CHECK
    check "... stale-all" finds "$1" "$2"
    check "... mended" silent_run "$1" mended
    unset OMPGPU_CHECK
}
said_of_both() {
    "$CC" -w -c -fompgpu-check-host -fsanitize=address --gpu-arch=emu "$src" -o both.o 2>err && has err "warning: '-fompgpu-check-host' does not see" || return 1
    "$CC" -w -c -fompgpu-check-host -fsanitize=undefined -fsanitize-trap=undefined --gpu-arch=emu "$src" -o both.o 2>err && [ ! -s err ]
}
without_constructs() {
    printf 'int x;\nint main(int n, char **args) { x = n; return args[x] != 0; }\n' >plain.c
    "$CC" -O0 -fompgpu-check-host --gpu-arch=emu plain.c -o plain && ./plain
}
ends_with_abort() { FAILS=abort in_time ./prog "$1" 2>err; [ $? = 134 ] && said "$1" stale warning "$2"; }
both() {
    mistake host_change "'a'|byte 392|stale.c:25|update to"
    mistake host_change_unstructured "'a[0:N]'|byte 16|update to"
    mistake deleted_inside "'a'|removed|stale.c:56"
    mistake copied_too_far "omp_target_memcpy: copy to the device: 400 bytes|4 bytes past the end" address
    mistake copied_backwards "omp_target_memcpy: copy from the device: 400 bytes|not in device memory" address
    mistake freed_twice "omp_target_free" address
    if [ -z "${OMPGPU_SANITIZE:-}" ]; then # which gives no address again
        mistake allocated_again "'new[0:N]'|'old[0:N]'|stale.c:$(line_of 'enter data map(alloc: old')|freed|exit data"
        mistake moved_away "'new[0:N]'|freed|exit data"
    fi
    mistake changed_early "the host has changed|400 bytes|taskwait" race
    suspect device_reads_old "'a'|stale.c:62|update to"
    suspect device_copies_old "'from'|stale.c:78|update to"
    suspect explicit_map "'a'|update to"
    suspect not_back "'b'|map(from"
    suspect not_back_at_exit "'a[0:N]'|map(from"
    suspect mapped_still "'a'|mapped still when the program ends|exit data map(from"
    suspect entered_twice "'a'|mapped still when the program ends|exit data map(from"
    suspect result_not_back "'sum'|map(tofrom"
    suspect update_of_nothing "'b'|not mapped"
    suspect never_sent "'limit|update to"
    suspect all_but_one "'text'|update to"
}
check "with a sanitizer's library there is a word" said_of_both
check "a program without constructs" without_constructs
check "-fompgpu-check: compiles" "$CC" -w -O1 -g -fompgpu-check --gpu-arch=emu "$src" -o prog
both
check "abort(), as by assert(): what was kept is shown" ends_with_abort device_reads_old "'a'|stale.c:62|update to"
check "-fompgpu-check-host: compiles" "$CC" -w -O1 -g -fompgpu-check-host --gpu-arch=emu "$src" -o prog
both
if [ -n "${OMPGPU_SANITIZE:-}" ]; then skip "reads of the host" "the sanitizers' library takes the calls"
else
    suspect host_reads_old "'a', byte 28|stale.c:91|update from"
    suspect host_reads_before_from "'b', byte 396|stale.c:104|update from"
    suspect host_reads_variable "declare target|update from"
    OMPGPU_EMU_SPEED=1; export OMPGPU_EMU_SPEED # so that the host is early
    mistake host_is_early "taskwait|read 4 bytes" race
    unset OMPGPU_EMU_SPEED
    mistake host_reads_device "device 0|omp_target_memcpy" address
fi
# The runtime looks at freed memory that is still mapped, which a sanitizer says.
[ -n "${OMPGPU_SANITIZE:-}" ] || check "freed and allocated again, and no construct uses that" silent_run freed_first
OMPGPU_CHECK=stale,leak; export OMPGPU_CHECK
mistake mapped_still "'a'|exit data map(from" leak
OMPGPU_CHECK=address,uninit,race,stale-all,leak
check "what both sides know" silent_run both_know
check "items that overlap" silent_run twice
check "a mapping that is removed unchanged" silent_run deleted_unchanged
unset OMPGPU_CHECK
check "each side may use its copy" silent_run both_sides
check "the device's memory is in reach of a function that runs as part of it" silent_run in_reach
finish
