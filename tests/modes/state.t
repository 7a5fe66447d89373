#!/bin/sh
# What the state machine costs: barriers per region, in the text and when it runs; shared memory for state that somebody reads, and for no other;
# direct calls of regions.
# shellcheck disable=SC1091,SC2086
. tests/lib.sh

# program NAME BODY [EXTRA]: one generic kernel; EXTRA stands before main
program() {
    cat >"$1.c" <<C
#include <omp.h>
$3
int main(int argc, char **argv)
{
    int r[64] = { 0 }, n = argc * 10;
    #pragma omp target teams num_teams(1) thread_limit(64) map(tofrom: r) firstprivate(n)
    {
        r[0] = 1;
$2
        r[1]++;
    }
    return r[1] != 1;
}
C
    check "$1: PTX" "$CC" --gpu-arch=sm_75 -O2 -fompgpu-mode=generic --emit=ptx "$1.c" -o "$1.ptx"
    sed -n 's/.*\.shared .*\(__ompgpu_state_[a-z_]*\).*;/\1/p; s/^\/\/ \(__ompgpu_state_[a-z_]*\) has been demoted/\1/p' "$1.ptx" | sort -u >"$1.state"
}
# state NAME WORD…: exactly these variables of the runtime are in shared memory
state() { st_name=$1; shift; printf '__ompgpu_state_%s\n' "$@" | sort -u >want; check "$st_name: state that is read, and no other" same want "$st_name.state"; }

program one '
        #pragma omp parallel for
        for (int i = 2; i < 64; i++) r[i] = r[0];'
state one fn region_threads
check "one: no level is counted" lacks one.ptx nest
check "one: two barriers a region, for each side, and one to end" test "$(grep -c 'call.uni __ompgpu_gathered_barrier' one.ptx)" = 5
check "one: no indirect call" lacks one.ptx callprototype
check "one: shared bytes" sh -c '"$1" --gpu-arch=sm_75 -O2 -fompgpu-mode=generic -Rompgpu=all --emit=ptx one.c -o again.ptx 2>&1 | grep -E "; [12][0-9] bytes of shared memory"' sh "$CC"
check "one: PTX at -O0" "$CC" --gpu-arch=sm_75 -O0 --emit=ptx one.c -o plain.ptx
check "one: at -O0 no lists of events without detached tasks" lacks plain.ptx __ompgpu_state_event

program captured '
        int local = n;
        #pragma omp parallel for
        for (int i = 2; i < 64; i++) r[i] = r[0] + local + n;'
state captured fn region_threads

program sizes '
        #pragma omp parallel num_threads(n)
        r[2 + omp_get_thread_num()] = omp_get_num_threads();'
state sizes fn region_threads

program setter '
        omp_set_num_threads(n);
        #pragma omp parallel
        r[2 + omp_get_thread_num() % 8] = 1;'
state setter fn region_threads

program levels '
        #pragma omp parallel
        r[2 + omp_get_level() + omp_get_active_level()] = omp_get_ancestor_thread_num(1) + omp_in_parallel();'
state levels fn region_threads

program nested '
        #pragma omp parallel
        {
            #pragma omp parallel
            r[2 + omp_get_level()] = omp_get_ancestor_thread_num(1);
        }'
state nested fn nest region_threads
check "nested: the inner region is no call of the runtime" lacks nested.ptx __ompgpu_parallel

program several '
        for (int k = 0; k < n; k++) {
            #pragma omp parallel for
            for (int i = 2; i < 64; i++) r[i] = k;
            inc(r, 3);
        }
        other(r);' '
static void inc(int *a, int v) {
    #pragma omp parallel for
    for (int i = 2; i < 64; i++) a[i] += v;
}
__attribute__((noinline)) static void other(int *a) { inc(a, 4); }'
state several ctx fn region_threads
check "several: the barriers stand in the text once, or once for each call that is inlined" test "$(grep -c 'call.uni __ompgpu_gathered_barrier' several.ptx)" -le 13

program table '
        int (*f)(int *) = n > 15 ? work : idle;
        r[2] = f(r);' '
static int work(int *a) {
    #pragma omp parallel for
    for (int i = 2; i < 64; i++) a[i]++;
    return 1;
}
static int idle(int *a) { return a[0]; }'
check "a region in a function that is called through a pointer: called directly" has table.ptx __ompgpu_cascade
check "…; only the pointer itself is" test "$(grep -c '^prototype\|callprototype' table.ptx)" -le 2

# what a thread keeps of itself, its level and the size of its region, is a register where all of the kernel is inline
program own '
        #pragma omp parallel for num_threads(24) reduction(+: r[0])
        for (int i = 2; i < n; i++) r[0] += i * omp_get_num_threads();
        #pragma omp parallel num_threads(40)
        {
            #pragma omp parallel
            r[2 + omp_get_thread_num() + omp_get_level()] = omp_get_level();
        }'
for mode in spmd generic; do
    check "own, $mode: PTX" "$CC" --gpu-arch=sm_75 -O2 -fompgpu-mode=$mode --emit=ptx own.c -o own.ptx
    [ $mode = generic ] || check "own, $mode: no level and no size in shared memory" lacks own.ptx __ompgpu_state_nest __ompgpu_state_size
    check "own, $mode: compiles" "$CC" --gpu-arch=emu -O2 -fompgpu-mode=$mode own.c -o own.emu
    check "own, $mode: runs" env OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY ./own.emu
done

# a generic kernel beside an SPMD kernel: one byte says which
cat >both.c <<'C'
int main(void)
{
    int r[64] = { 0 };
    #pragma omp target teams num_teams(1) map(tofrom: r)
    {
        r[0] = 1;
        #pragma omp parallel for
        for (int i = 2; i < 64; i++) r[i] = r[0];
    }
    #pragma omp target teams distribute parallel for map(tofrom: r)
    for (int i = 0; i < 64; i++) r[i]++;
    return r[5] != 2;
}
C
check "both: PTX" "$CC" --gpu-arch=sm_75 -O2 -fompgpu-mode=generic --emit=ptx both.c -o both.ptx
sed -n '/entry main_10/,/^}/p' both.ptx >spmd
check "the SPMD kernel beside a generic one: no state" lacks spmd __ompgpu_state barrier 'shared'

# barriers that are met at run time: team of 64, two a region for each thread and one at the end
barriers() { OMPGPU_DEVICE=emu OMPGPU_INFO=1 OMP_TARGET_OFFLOAD=MANDATORY "$@" 2>&1 | sed -n 's/.*, \([0-9]*\) barriers.*/\1/p'; }
for p in one captured sizes setter nested several; do
    for o in "-O0" "-O2" ${OMPGPU_LONG:+"-O2 -g"}; do
        check "$p $o: compiles" "$CC" --gpu-arch=emu $o -fompgpu-mode=generic $p.c -o $p.emu || continue
        case $p in several) regions=21 ;; *) regions=1 ;; esac
        barriers ./$p.emu >got; echo $((2 * regions + 1)) >want
        check "$p $o: two barriers a region" same want got
    done
done
program none '
        r[2] = n;'
check "no region: compiles" "$CC" --gpu-arch=emu -O2 -fompgpu-mode=generic none.c -o none.emu
barriers ./none.emu >got; echo 0 >want
check "no region: no barrier" same want got
finish
