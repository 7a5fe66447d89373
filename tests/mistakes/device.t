#!/bin/sh
# -fompgpu-check: mistakes of device code (device.c) that the emulated device finds: at their place, once, by region and variable.  Their mended
# twins are silent.
. tests/lib.sh
src=$ROOT/tests/mistakes/device.c
OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY; export OMPGPU_DEVICE OMP_TARGET_OFFLOAD
# finds NAME KIND WORDS
finds() {
    line=$(grep -n "/\* ${4:-$1} \*/" "$src" | cut -d: -f1 | paste -s -d '|' | sed 's/|/\\|/g') # either of two that race
    in_time ./prog "$1" 2>err; rc=$?
    [ $rc = 1 ] && has err "device.c:\\($line\\):[0-9]*: error: region $1_[0-9]*: .*\[OMPGPU_CHECK=$2\]" && mentions "$(cat err)" "$3" &&
        [ "$(grep -c 'error:' err)" = 1 ] || { echo "exit code $rc"; cat err; return 1; }
}
# copy_races NAME WORDS: with a region; found at the one's line or the other's
copy_races() {
    line=$(grep -n "/\* $1 \*/" "$src" | cut -d: -f1 | paste -s -d '|' | sed 's/|/\\|/g')
    test_must_fail 1 in_time ./prog "$1" 2>err && has err "error: .*race: .*\[OMPGPU_CHECK=race\]" && has err "device.c:\($line\)[: ]" &&
        mentions "$(cat err)" "$2|taskwait between them" && [ "$(grep -c 'error:' err)" = 1 ] || { cat err; return 1; }
}
copy_mistake() { check "$level $1" copy_races "$@"; check "$level $1: mended" silent_run "$1" mended; }
silent_run() { in_time ./prog "$@" 2>err && [ ! -s err ] || { cat err; return 1; }; }
mistake() { check "$level $1" finds "$@"; check "$level $1: mended" silent_run "$1" mended; }
for level in -O2 -O0; do
    check "$level" "$CC" -w $level -fompgpu-check --gpu-arch=emu "$src" -o prog
    mistake past_the_end address "'a[0:n]'|0 bytes past its end|team|thread|section in map"
    mistake before_the_begin address "'a[first:N - first]'|4 bytes before it"
    mistake neighbour address "write of 4 bytes|'small'"
    mistake reduced_section address "byte 360 of 'sum', which has 360"
    mistake reduced_bins address "byte 80 of 'sum', which has 80"
    mistake reduced_in_team address "byte 240 of 'sum', which has 240"
    mistake freed address "freed"
    mistake local_array address "byte 40 of 'k', which has 40"
    mistake static_array address "'counters', which has 40"
    mistake static_of_function address "'own', which has 40"
    mistake block_copy address "404 bytes"
    mistake misaligned address "multiples of 4"
    mistake atomic_update address "'count'|:9: error: "
    mistake only_from uninit "'b[0:N]'|map(to:)"
    mistake never_written uninit "read of 4 bytes"
    mistake partly_written uninit "'b[0:N]'"
    mistake in_a_function uninit "'x'" "through a function"
    [ $level = -O2 ] || mistake member uninit "'q'"
    mistake from_malloc uninit "read of 4 bytes|byte 8 of a block of malloc in a region, which has 16"
    mistake missing_reduction race "'sum'|nothing orders it with|team|thread|reduction("
    mistake loop_carried race "'a[0:N]'"
    mistake team_storage race "team-shared memory, '"
    mistake no_barrier race "'a[0:n]'|write of 4 bytes|with a read|barrier"
    mistake half_atomic race "'count'|both have to be atomic"
    mistake half_critical race "'count'"
    mistake critical_of_teams race "'count'"
    mistake locks_of_teams race "'count'"
    check "$level: critical constructs and atomic updates order teams" silent_run last_of_teams
    mistake between_teams race "'a[0:N]'"
    mistake histogram race "'a[0:N]'"
    mistake shared_temporary race "'shared'"
    mistake no_wait_single race "'first'"
    mistake unordered_regions race "'a[0:N]'|a region that may run at the same time"
    mistake beside_nowait race "'a[0:N]'|in a region that may run at the same time|taskwait"
    check "$level: regions side by side" silent_run side_by_side
    copy_mistake update_beside_region "copy to the device|target update to"
    copy_mistake region_beside_update "copy from the device|target update from|write of 4 bytes"
    copy_mistake update_at_once "copy from the device|target update from|write of 4 bytes"
    copy_mistake memcpy_beside_region "copy from the device|omp_target_memcpy|write of 4 bytes"
    check "$level: copies side by side" silent_run copies_side_by_side
    mistake endless_text address "read of 9 bytes|'text'"
    mistake long_text address "write of 12 bytes|'to[0:have]'"
    mistake appended_text address "write of 5 bytes|'to[0:have]'"
    mistake compared_bytes address "read of 20 bytes|'k'"
    mistake text_of_nothing uninit "'s'|map(to:)"
    mistake two_pointers race "nothing orders it with"
    mistake two_origins race "'a[N / 2:N / 2]'"
    mistake two_sections race "'a[0:N]'"
    mistake reversed race "'a[0:N]'"
    mistake set_too_much address "404 bytes"
    mistake kept_address address "freed"
    mistake past_malloc address "read of 4 bytes|byte 16 of a block of malloc in a region, which has 16"
    mistake freed_allocation address "freed|a block of omp_target_alloc with 400 bytes was there until omp_target_free"
    mistake enter_alloc uninit "'a[0:N]'"
    mistake private_copy uninit "'x'|firstprivate(x)"
    mistake private_vla uninit "an array of variable length|firstprivate"
    mistake own_vla uninit "an array of variable length"
    mistake no_begin uninit "'sum'"
    mistake no_element uninit "'k'"
    mistake each_iteration uninit "'fresh'"
    mistake private_pointer uninit "'p'"
    mistake read_before_call uninit "'x'"
    mistake shared_local uninit "'x', which the team shares"
    mistake beside_shared address "byte 160 of 'k', which has 160|the team shares"
    mistake shared_array uninit "'k', which the team shares"
    mistake large_array uninit "which the team shares|team 2"
    mistake many_large_arrays uninit "which the team shares|team 199"
    mistake group_private uninit "'of_team'|team 1"
    mistake private_of_team uninit "which the team shares"
    mistake before_local address "byte -4|16 bytes"
    mistake read_variable address "byte 412 of 'table', which has 400"
    mistake update_too_late uninit "'a[0:N]'"
    mistake halves race "'h'"
    mistake in_place race "'a[0:N]'"
    mistake largest race "'max'|reduction("
    mistake swapped uninit "omp_target_memcpy"
    mistake masked_first race "'set'"
    mistake last_team race "'last'"
    mistake plain_read race "'count'|atomic"
    mistake static_temporary race "static"
    mistake beside_large address "write of 4 bytes at byte 20000 of 'k', which has 20000"
    mistake beside_vla address "write of 4 bytes at byte 400 of a variable of the team, which has 400"
    mistake beside_recursive address "byte 32 of a variable of the team, which has 32"
    mistake own_vla_end address "read of 4 bytes at byte 400 of an array of variable length, which has 400"
    mistake past_local address "byte 40 of 'own', which has 40"
    mistake past_copy address "byte 400 of 's', which has 400"
    mistake past_large_copy address "byte 12000 of the private copies, which has 12000"
    mistake past_block address "byte 40 of a block of omp_alloc, which has 40"
    mistake past_block_of_team address "byte 40 of a block of omp_alloc, which has 40"
    [ $level = -O2 ] || mistake ended_block address "a variable that no longer exists"
    mistake in_guard address "'a[0:N - 1]'|0 bytes past its end"
    mistake uninit_in_guard uninit "'b[0:N]'"
    mistake race_in_guard race "'a[0:N]'"
    check "$level: copies for a construct are no reads" silent_run copied_only
    for seed in 1 2; do
        OMPGPU_EMU_SCHEDULE=random:$seed; export OMPGPU_EMU_SCHEDULE
        check "$level: nothing is wrong in any order, $seed" silent_run in_order
    done
    unset OMPGPU_EMU_SCHEDULE
    check "$level: nothing is wrong" silent_run in_order
done
variable() {
    test_must_fail 1 in_time ./prog variable 2>err && mentions "$(cat err)" "region variable_|byte 400 of 'table', which has 400|beside it"
}
mapped_before() {
    line=$(grep -n "/\* after_exit \*/" "$src" | cut -d: -f1)
    test_must_fail 1 in_time ./prog after_exit 2>err && mentions "$(cat err)" "region after_exit_|'a[0:N]' was mapped there until|device.c:$line"
}
maps_device_memory() {
    line=$(grep -n "/\* mapped_allocation \*/" "$src" | cut -d: -f1)
    test_must_fail 1 in_time ./prog mapped_allocation 2>err && has err "device.c:$line: error: region mapped_allocation_[0-9]*: 'kept\[0:N\]' is memory of the device" &&
        mentions "$(cat err)" "is_device_ptr|[OMPGPU_CHECK=address]" && [ "$(grep -c 'error:' err)" = 1 ]
}
check "memory of the device is mapped" maps_device_memory
check "... mended" silent_run mapped_allocation mended
check "use after exit data: until when it was mapped" mapped_before
check "... mended" silent_run after_exit mended
check "a store outside of a variable ends the region" variable
check "... mended" silent_run variable mended
# A fault in sequential code of a region that all threads run, too.
cat >guard.c <<'C'
#include <stdlib.h>
int main(int argc, char **argv)
{
    int *a = calloc(20, sizeof *a);
    long far = argc * 100000000l;
#pragma omp target map(tofrom: a[0:10])
    {
        a[3] = a[1] + 1;
        a[9 + far] = 1;
        a[5] = 1;
#pragma omp parallel for
        for (int i = 0; i < 10; i++)
            a[i]++;
    }
    return 0;
}
C
for flags in "-O2 -fompgpu-check" -O0 -O2 "-O0 -fno-ompgpu-check" "-O2 -g"; do
    # shellcheck disable=SC2086
    check "$flags: faults of the main thread" "$CC" -w $flags --gpu-arch=emu guard.c -o guard
    in_time ./guard 2>err
    check "... are where they are" has err 'invalid memory access .* at line 9, column 20'
done
# The column is the user's also after a name that is another one in device code.
cat >column.c <<'C'
int main(int argc, char **argv)
{
    int n = 10, one = argc;
    double a[10] = { 0 }, b[10] = { 0 };
#pragma omp target teams distribute parallel for map(tofrom: a, n) map(to: b)
    for (int i = 0; i < 10; i++)
        if (n > 2 && n + one) a[i] = n + b[one + 9 * one];
    return 0;
}
C
for flags in "-O2 -fompgpu-check" -O0 "-O0 -g"; do
    # shellcheck disable=SC2086
    check "$flags: columns" "$CC" -w $flags --gpu-arch=emu column.c -o column
    in_time ./column 2>err
    check "... after a replaced name" has err 'column.c:7:42: error: .*address'
done
# ... and of a statement without braces, which begins in a line of the compiler's.
cat >first.c <<'C'
#include <stdlib.h>
int main(int argc, char **argv)
{
    double *p = calloc(10, sizeof *p);
#pragma omp target data map(tofrom: p[0:10])
    {
#pragma omp target teams distribute parallel for
        for (int i = 0; i < 10; i++)
            p[i] = p[i + 10] + 1;
#pragma omp target
#pragma omp parallel num_threads(2)
#pragma omp single
                p[10] = argc;
    }
    return 0;
}
C
for flags in "-O2 -fompgpu-check" -O0 "-O0 -g"; do
    # shellcheck disable=SC2086
    check "$flags: columns of first statements" "$CC" -w $flags --gpu-arch=emu first.c -o first
    in_time ./first 2>err
    check "... are the user's" has err 'first.c:9:20: error: .*address' && check "..." has err 'first.c:13:23: error: .*address'
done
# Before and after a macro, and between two, and of the macro's name for what it stands for.
cat >macro.c <<'C'
#include <stdlib.h>
#define FAR 100
#define AT(p, i) ((p)[(i) * 2])
int main(void)
{
    int *a = calloc(100, 4), *b = calloc(100, 4);
#pragma omp target teams distribute parallel for map(tofrom: a[0:100], b[0:100])
    for (int i = 0; i < 2; i++)
        a[i] = b[i + 100] + AT(b, i + FAR);
#pragma omp target teams distribute parallel for map(tofrom: a[0:100], b[0:100])
    for (int i = 0; i < 2; i++)
        a[i] = AT(b, i + FAR)  +  b[i + 100];
#pragma omp target teams distribute parallel for map(tofrom: a[0:100], b[0:100])
    for (int i = 0; i < 2; i++)
        b[0] = AT(b, 1) + b[i + 100] + AT(b, 2);
    return 0;
}
C
for flags in "-O2 -fompgpu-check" -O0 "-O0 -g"; do
    # shellcheck disable=SC2086
    check "$flags: lines with macros" "$CC" -w $flags --gpu-arch=emu macro.c -o macro
    in_time ./macro 2>err
    check "... the column before one" has err 'macro.c:9:16: error: .*address' && check "... after it" has err 'macro.c:12:35: error: .*address'
    check "... of it" has err 'macro.c:9:29: error: .*address' && check "... between two" has err 'macro.c:15:27: error: .*address'
done
cat >race.c <<'C'
#define ADD(x, y) ((x) += (y))
int main(void)
{
    int s = 0;
#pragma omp target teams distribute parallel for map(tofrom: s)
    for (int i = 0; i < 100; i++)
        ADD(s, i);
    return 0;
}
C
check "a race in a macro" "$CC" -w -O0 --gpu-arch=emu race.c -o race
in_time ./race 2>err
check "... has the lines of both, and the macro's columns" has err 'race.c:7:9: error: .*race: .* at race.c:7:9;'
check "columns of the GPU's code" "$CC" -w -g -O0 --gpu-arch=sm_75 --emit=ptx column.c -o column.ptx
check "... are the user's" has column.ptx "\.loc[^a-z]* 7 31\$" "\.loc[^a-z]* 7 42\$"
# What the checks keep of a byte that is mapped: two of the race check, a half of what was copied to the device, and for the parts of kernels
# between barriers.
cat >memory.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    enum { N = 8 << 20 };
    float *a = calloc(N, sizeof *a);
    char line[256];
#pragma omp target teams distribute parallel for map(TYPE: a[0:N])
    for (int i = 0; i < N; i++)
        a[i] = i;
    FILE *f = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "VmHWM:", 6) == 0)
            printf("%d\n", atoi(line + 6) / 1024);
    return a[7] != 7;
}
C
at_most() { # MIB
    less=$(./unchecked) more=$(./memory)
    echo "32 MiB are mapped; $less MiB without the checks, $more with them"
    [ $((more - less)) -le "$1" ] && [ $((more - less)) -ge 64 ]
}
for type in tofrom from; do
    check "memory of the checks, map($type:): compiles" "$CC" -DTYPE=$type -w -O2 -fompgpu-check --gpu-arch=emu memory.c -o memory
    check "... without" "$CC" -DTYPE=$type -w -O2 --gpu-arch=emu memory.c -o unchecked
    if [ -n "${OMPGPU_SANITIZE:-}" ]; then skip "... at most 3 bytes" "a sanitizer has its own"; else check "... at most 3 bytes for one that is mapped" at_most 96; fi
done
printf 'int main(void) { double s = 0, x[100] = { 0 };\n#pragma omp target teams distribute parallel for reduction(+: s)\nfor (int i = 0; i < 100; i++) s += x[i];\nreturn s != 0; }\n' >sum.c
quiet() { "$@" 2>err && [ ! -s err ] || { cat err; return 1; }; }
check "a reduction compiles without a message" quiet "$CC" -O2 -fompgpu-check --gpu-arch=emu sum.c -o sum
OMPGPU_CHECK=uninit; export OMPGPU_CHECK
check "only what OMPGPU_CHECK says" silent_run past_the_end
check "only_from" finds only_from uninit "'b[0:N]'"
# Which flags bring the checks: one of the mistakes is enough.
mkdir one
{
    printf '#include <stdlib.h>\nenum { N = 100 };\nstatic int mended, *b;\n'
    sed -n '/^static void only_from/,/^}/p' "$src"
    printf 'int main(void) { b = calloc(N, sizeof *b); only_from(); return mended; }\n'
} >one/device.c
src=one/device.c
for flags in -O0 -Og "-Og -g" -g; do
    # shellcheck disable=SC2086
    check "$flags without the flag" "$CC" -w $flags --gpu-arch=emu "$src" -o prog
    check "only_from" finds only_from uninit "'b[0:N]'"
done
check "-g -O1 without the flag" "$CC" -w -g -O1 --gpu-arch=emu "$src" -o prog
check "finds nothing" silent_run only_from
check "-fno-ompgpu-check" "$CC" -w -fompgpu-check -fno-ompgpu-check --gpu-arch=emu "$src" -o prog
check "finds nothing" silent_run only_from
finish
