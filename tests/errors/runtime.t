#!/bin/sh
# Errors of compiled programs, by what the message mentions: region, file, line, call and reason; exit code 1, exit handlers run, and the host's
# data is as it was before the region.  On the emulated device, and on the CUDA plugin over nullcuda, which can fail any call.
. tests/lib.sh
unset OMPGPU_EMU_MEMORY OMPGPU_EMU_STACK NULLCUDA_FAIL NULLCUDA_FAIL_AT_SYNC NULLCUDA_MEMORY NULLCUDA_ARCH
# For the GPU, too, what runs over nullcuda, and in the long form all.
CC_BOTH=--gpu-arch=emu,sm_90 CC_EMU=--gpu-arch=emu
[ -z "${OMPGPU_LONG:-}" ] || CC_EMU=$CC_BOTH
# Every program: `s` and `a` are mapped tofrom and written before the failure; an exit handler prints whether they are as before.
cat >common.h <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <omp.h>
static int s = 5, a[1000], *null;
static void at_end(void) { printf("%s\n", s == 5 && a[0] == 7 ? "data as before" : "data changed"); }
#define BEGIN a[0] = 7, atexit(at_end)
C
program() {
    case $1 in fault | later | block | kept) archs=$CC_BOTH ;; *) archs=$CC_EMU ;; esac
    cat >"$1.c"; check "$1.c compiles" "$CC" $archs -O2 "$1.c" -o "$1"
}
program fault <<'C'
#include "common.h"
int main(int argc, char **argv)
{
    BEGIN;
    int *p = argc > 1 ? a : null;
    #pragma omp target map(tofrom: s, a) is_device_ptr(p)
    {
        s = 9; a[0] = 1; *p = 3;
    }
    return 0;
}
C
program later <<'C'
#include "common.h"
int main(int argc, char **argv)
{
    BEGIN;
    int *p = argc > 2 ? a : null;
    #pragma omp target map(tofrom: s, a) is_device_ptr(p) nowait depend(out: s)
    {
        s = 9; a[0] = 1; *p = 3;
    }
    #pragma omp target map(tofrom: s, a) nowait depend(inout: s)
    s = a[0] + 1;
    #pragma omp task depend(in: s) if(argc > 1)
    s = 4;
    #pragma omp taskwait
    return 0;
}
C
program pool <<'C'
#include "common.h"
int main(void)
{
    BEGIN;
    const omp_alloctrait_t small[] = { { omp_atk_pool_size, 100 }, { omp_atk_fallback, omp_atv_abort_fb } };
    omp_allocator_handle_t from;
    #pragma omp target map(tofrom: s, a) uses_allocators(traits(small): from)
    s = omp_alloc(60, from) && omp_alloc(60, from);
    return 0;
}
C
program room <<'C'
#include "common.h"
int main(void)
{
    enum { N = 150 << 10 };
    static int p[3][N];
    for (int i = 0; i < 9; i++) {
        #pragma omp target map(tofrom: p[i % 3][0:N]) nowait depend(inout: p)
        for (int k = 0; k < N; k++)
            p[i % 3][k]++;
    }
    #pragma omp taskwait
    return p[0][0] + p[1][5] + p[2][N - 1] == 9 ? 0 : 3;
}
C
program cancel <<'C'
#include "common.h"
int main(void)
{
    BEGIN;
    #pragma omp target parallel map(tofrom: s, a) num_threads(1)
    {
        s = a[0] = 1;
        #pragma omp barrier
        #pragma omp cancel parallel if(s == 1)
    }
    return 0;
}
C
program kept <<'C'
#include "common.h"
int main(void)
{
    BEGIN; if (!omp_target_alloc(8, omp_get_default_device())) return 2; /* cannot move to the host */
    #pragma omp target enter data map(to: a)
    #pragma omp target map(tofrom: s, a)
    s = a[0] = 1;
    return 0;
}
C
program block <<'C'
#include "common.h"
int main(void)
{
    BEGIN;
    double *p = malloc(8);
    size_t n = (size_t)1 << 33;
    #pragma omp target map(tofrom: s, a) map(alloc: p[0:n])
    { s = 9; a[0] = 1; p[0] = 1; }
    return 0;
}
C
program barrier <<'C'
#include "common.h"
int main(void)
{
    BEGIN;
    #pragma omp target parallel num_threads(64) map(tofrom: s, a)
    {
        s = 9, a[0] = 1;
        if (omp_get_thread_num() < 60) {
            #pragma omp barrier
            a[1] = 3;
        }
    }
    return 0;
}
C
program overflow <<'C'
#include "common.h"
int depth(int n) { volatile int x[64]; x[n & 63] = n; return n < 100000000 ? depth(n + 1) + x[n & 63] : n; }
int main(void)
{
    BEGIN;
    #pragma omp target map(tofrom: s, a)
    { s = 9; a[0] = depth(0); }
    return 0;
}
C
program gather <<'C'
#include "common.h"
static int at[1000], y[1000];
int main(void)
{
    BEGIN;
    at[777] = 1 << 29;
    #pragma omp target teams distribute parallel for map(tofrom: s, a, y) map(to: at) num_threads(128)
    for (int i = 0; i < 1000; i++) {
        if (i == 0) a[0] = s = 9;
        y[i + at[i]] += i;
    }
    return 0;
}
C
cat >host.c <<'C'
#include "common.h"
#include <string.h>
struct s { int *p; };
static __attribute__((noinline)) int get(const int *p) { return p[3]; }
int main(int argc, char **argv)
{
    BEGIN;
    char way = argv[1][0];
    struct s h = { a };
    int *d = a;
    #pragma omp target map(tofrom: s) map(tofrom: d[0:10]) map(to: h) firstprivate(way, argc)
    {
        if (way == 'r') s = h.p[3];
        if (way == 'w') h.p[3] = s;
        if (way == 'f') s = get(h.p);
        if (way == 'c') memcpy(d, h.p, argc * sizeof *d);
        if (way == 'a') __atomic_fetch_add(h.p, 1, __ATOMIC_RELAXED);
        if (way == 'n') d[30000000000] = 1;
        if (way == 'm') { int *q = malloc(8); free(q); free(q); }
        if (way == 'o') { struct s o = h, *q = argc > 100 ? 0 : &o; d[1] = q->p == h.p; }
        if (way == 'p') printf("%.*s%s", 0, (char *)d, (char *)h.p);
        if (way == 'x') s = *(argc > 100 ? d : (int *)0x1234560);
    }
    if (d[1]) a[0] = 0;
    return 0;
}
C
program division <<'C'
#include "common.h"
int main(int argc, char **argv)
{
    BEGIN;
    int zero = argc - 1;
    #pragma omp target map(tofrom: s, a)
    { s = 9; a[0] = 10 / zero; }
    return 0;
}
C
program asserts <<'C'
#include "common.h"
#include <assert.h>
int main(void)
{
    BEGIN;
    #pragma omp target map(tofrom: s, a)
    { s = 9; a[0] = 1; assert(a[0] == 7); }
    return 0;
}
C
program part <<'C'
#include "common.h"
int main(void)
{
    BEGIN;
    #pragma omp target data map(tofrom: a[10:10])
    {
        #pragma omp target map(tofrom: a)
        a[0] = 1;
    }
    return 0;
}
C
program member <<'C'
#include "common.h"
struct t { int n, *p, *q; } t, *u = &t;
int main(int argc, char **argv)
{
    BEGIN;
    t.p = t.q = a;
    #pragma omp target enter data map(to: t.p, t.p[0:100], t.q[0:0])
    if (argc > 1) {
        #pragma omp target
        t.p[0] = t.n;
    } else {
        struct t *v = u;
        #pragma omp target
        v->p[0] = v->n;
    }
    return 0;
}
C
program present <<'C'
#include "common.h"
int main(int argc, char **argv)
{
    BEGIN;
    switch (atoi(argv[argc - 1])) {
    case 1:;
        #pragma omp target update to(present: a)
        break;
    case 2:;
        #pragma omp target update from(present: s) to(a)
        break;
    case 3:;
        #pragma omp target enter data map(alloc: a[0:0])
        #pragma omp target exit data map(present, release: a[0:0])
        break;
    case 4:;
        #pragma omp target update to(present: a[argc:0])
        break;
    case 5:;
        #pragma omp target update to(present: a[0:50:2])
        break;
    case 6:; /* what is mapped of its struct is another member */
        static struct { int x, y, z; } parts[2];
        #pragma omp target enter data map(to: parts[1].y)
        #pragma omp target enter data map(present, alloc: parts[1].x)
        break;
    case 7:;
        int *where = a;
        #pragma omp target update to(present: *where)
        break;
    case 8:; /* `present` comes before the other clauses (OpenMP 5.1, 2.21.7.1) */
        #pragma omp target map(tofrom: a) map(present, alloc: a[2:3])
        a[0] = 8;
        break;
    case 9:;
        static struct { int x, y; } whole;
        #pragma omp target data map(to: whole.x) map(present, to: whole.y)
        ;
        break;
    }
    return 0;
}
C
program stops <<'C'
#include "common.h"
static int check(int i)
{
    if (i == 3) {
        #pragma omp error at(execution) severity(fatal) message("three")
    }
    return i;
}
int main(void)
{
    BEGIN;
    #pragma omp target map(tofrom: s)
    for (int i = 0; i < 10; i++)
        s = check(i);
    return 0;
}
C
program number <<'C'
#include "common.h"
int main(void)
{
    BEGIN;
    #pragma omp target device(7) map(tofrom: a)
    a[0] = 1;
    return 0;
}
C
program teams <<'C'
#include "common.h"
static void f(int *p)
{
    #pragma omp teams num_teams(2)
    p[0] = 0;
}
#pragma omp declare target enter(f)
int main(void)
{
    BEGIN;
    #pragma omp target parallel for map(tofrom: a) num_threads(4)
    for (int i = 0; i < 4; i++)
        f(&a[i]);
    return 0;
}
C
program detach <<'C'
#include "common.h"
int main(void)
{
    BEGIN;
    #pragma omp target map(tofrom: a)
    {
        omp_event_handle_t e;
        #pragma omp task detach(e) shared(a)
        a[0] = 1;
        #pragma omp taskwait
        omp_fulfill_event(e);
    }
    return 0;
}
C
cat >inner.c <<'C'
#include "common.h"
static void set(int device)
{
    if (device)
        #pragma omp target map(tofrom: s)
        s = 4;
}
int main(void)
{
    BEGIN;
    #pragma omp target map(tofrom: s)
    {
        s = 3;
        set(!omp_is_initial_device());
    }
    return 0;
}
C
"$CC" $CC_EMU -w inner.c -o inner
program nohost <<'C'
#include "common.h"
int main(int argc, char **argv)
{
    BEGIN;
    (void)argv;
    #pragma omp target device_type(nohost) map(tofrom: s) if(argc < 2)
    s = omp_is_initial_device() ? 6 : 5;
    return 0;
}
C
one_message() { [ "$(grep -c '^ompgpu: ' err)" = 1 ] || { echo "not one message:"; cat err; return 1; }; }
# dies NAME "PROGRAM [ARGUMENT]" LINE WORDS: exit code 1, data as before, and one message, the last line on standard error: of that line, with the words
dies() {
    check "$1" test_must_fail 1 in_time sh -c "./$2 >out 2>err" || show err
    check "$1: data as before" [ "$(cat out)" = "data as before" ]
    check "$1: one message" one_message
    check "$1: what is said" mentions "$(tail -n 1 err)" "ompgpu: ${2%% *}.c:$3: error: |$4"
}
# runs_on_host NAME PROGRAM [LINE WORDS]: the region's result is there (argument 1: no null pointer), and one warning or nothing
runs_on_host() {
    check "$1" in_time sh -c "./$2 1 >out 2>err"
    check "$1: has run" [ "$(cat out)" = "data changed" ]
    if [ -z "${3:-}" ]; then check "$1: nothing is said" [ ! -s err ]; return; fi
    check "$1: one message" one_message
    check "$1: what is said" mentions "$(cat err)" "ompgpu: ${2%% *}.c:$3: warning: |$4"
}
OMPGPU_DEVICE=emu; export OMPGPU_DEVICE
dies "emu: null pointer" fault 6 "region main_6|memory access|(nil)|team 0, thread 0"
dies "emu: null pointer, nowait" later 6 "region main_6|memory access|(nil)|team 0, thread 0|later.c:6"
dies "emu: null pointer, nowait, a task waits" "later 1" 6 "region main_6|memory access|(nil)"
OMPGPU_EMU_MEMORY=1M; export OMPGPU_EMU_MEMORY
dies "emu: out of device memory" block 7 "region main_7|p[0:n], 68719476736 bytes|out of device memory|1044224 of 1048576"
check "emu: memory that regions with nowait give back" in_time ./room
unset OMPGPU_EMU_MEMORY
dies "emu: an empty pool with abort_fb" pool 7 "region main_7|omp_atv_abort_fb|team 0, thread 0"
dies "emu: teams in a parallel region" teams 11 "region main_11|'teams' region|line 4|team 0"
dies "emu: an event that only the waiting thread can fulfill" detach 5 "region main_5|detached task|line 10|team 0"
dies "emu: divergent barrier" barrier 5 "region main_5|barrier at line 9|60 of 64 threads|thread 60: exited|team 0"
# What the kernel must not touch, how it does it, in which line, the address' neighbour.
for level in 0 2; do
    check "host.c compiles" "$CC" $CC_EMU -O$level host.c -o host
    for case in 'r 11 at line 13' 'w 11 at line 14' 'f 11 at line 4' 'c 11 at line 16' 'a 11 at line 17' 'p 11 at line 21' 'x 11 at line 22'; do
        way=${case%% *} rest=${case#* }
        case $way${OMPGPU_SANITIZE:-} in
        c1 | p1) skip "emu: host memory, $way" "the sanitizer's function faults first"; continue ;;
        esac
        dies "emu: host memory, $way at -O$level" "host $way" "${rest%% *}" "memory access|memory of the host|${rest#* }|map(p[0:n])|nearest mapping|host.c:"
    done
    dies "emu: far from a mapping at -O$level" "host n" 11 "memory access|at line 18|team 0, thread 0|nearest mapping"
done
cat >accesses.c <<'C'
#include "common.h"
int main(int n, char **args)
{
    BEGIN;
    int *p = malloc(400), at = n > 1 ? args[1][0] - '0' : 0, found = 0;
    #pragma omp target teams distribute parallel for map(tofrom: found) firstprivate(at)
    for (int i = 0; i < 10; i++) {
        #pragma omp atomic
        *(at == 1 ? p : &found) += 2;

        #pragma omp atomic capture
        { found = *(at == 2 ? p : &found); *(at == 2 ? p : &found) = 3; }
    }
    #pragma omp target teams map(tofrom: found) firstprivate(at) reduction(+: found)
    #pragma omp distribute parallel for \
            reduction(+: found)
    for (int i = 0; i < 10; i++)
        found +=
            at == 3 ? *p : 1;
    return 0;
}
C
for level in 1 2; do # without -g
    check "accesses.c compiles" "$CC" $CC_EMU -O$level accesses.c -o accesses
    dies "emu: host memory in an atomic update at -O$level" "accesses 1" 6 "at line 9"
    dies "emu: host memory in an atomic capture at -O$level" "accesses 2" 6 "at line 12"
    dies "emu: host memory in a reduction's loop at -O$level" "accesses 3" 14 "at line 19"
done
dies "emu: one of several threads that run at once" gather 7 "memory access|at line 10|team 6, thread 9|nearest mapping|y"
dies "emu: free twice" "host m" 11 "not a live device memory block"
{ echo '#include <stddef.h>' ; echo '#pragma omp requires unified_shared_memory'; cat host.c; } >unified.c
check "unified.c compiles" "$CC" --gpu-arch=emu -O2 unified.c -o unified
check "emu: host memory with unified_shared_memory" test "$(./unified a)" = "data changed"
check "emu: a host pointer that is not used" test "$(./host o)" = "data changed"
OMP_CANCELLATION=true; export OMP_CANCELLATION
dies "emu: cancel of a region whose threads wait" cancel 5 "region main_5|at line 9|'cancel'"
unset OMP_CANCELLATION
check "cancel without OMP_CANCELLATION" env OMPGPU_DEVICE=emu ./cancel
dies "emu: a target construct in a function of the device" inner 11 "region main_11|'target' in 'set'|line 5"
check "device_type(nohost) on a device" in_time ./nohost
dies "device_type(nohost) with if" "nohost 1" 6 "device_type(nohost)|host"
export OMP_TARGET_OFFLOAD=DISABLED
dies "device_type(nohost) without a device" nohost 6 "device_type(nohost)|host"
unset OMP_TARGET_OFFLOAD
dies "emu: stack overflow" overflow 6 "region main_6|stack overflow|OMPGPU_STACK_SIZE|team 0, thread 0"
dies "emu: division by zero" division 6 "region main_6|division by zero|team 0, thread 0"
dies "emu: assertion" asserts 6 "region main_6|assertion|line 7|team 0, thread 0"
check "emu: assertion: text" has err "^asserts.c:7: main: team 0, thread 0: Assertion .a\[0\] == 7. failed\.$"
dies "emu: a struct of which a part is mapped" "member 1" 9 "region main_9|t, 24 bytes|t.p, 16 bytes|member.c:7"
dies "emu: the same behind a pointer" member 13 "region main_13|*v:|t.p, 16 bytes|member.c:7"
dies "emu: mapped in part" part 7 "region main_7|a, 4000 bytes|a[10:10], 40 bytes|part.c:5"
not_mapped() {                        # CASE LINE WORDS
    dies "emu: not mapped: $3" "present $1" "$2" "$3|bytes|not mapped|present"
}
not_mapped 1 7 "to(present: a)|a, 400"
not_mapped 2 10 "from(present: s)|s, 4"
not_mapped 3 14 "a[0:0], 0"
not_mapped 4 17 "a[argc:0], 0"
not_mapped 5 20 "a[0:50:2]"
not_mapped 6 25 "parts[1].x, 4"
not_mapped 7 29 "): *where, 4"
not_mapped 8 32 "a[2:3], 12"
not_mapped 9 37 "whole.y, 4"
check "emu: an error directive" test_must_fail 1 in_time sh -c './stops >out 2>err'
check "... message" mentions "$(tail -n 1 err)" "ompgpu: stops.c:12: error: |region main_12|error directive|line 5|team 0, thread 0"
check "... its own, and data as before" has out 'stops.c:5: error: .*three' 'data as before'
runs_on_host "emu: device number" number 5 "region main_5|host|device number 7|1 device"
OMP_TARGET_OFFLOAD=MANDATORY; export OMP_TARGET_OFFLOAD
dies "emu: device number, MANDATORY" number 5 "region main_5|OMP_TARGET_OFFLOAD=MANDATORY|device number 7|1 device"
OMP_TARGET_OFFLOAD=DISABLED
runs_on_host "emu: device number, DISABLED" number
runs_on_host "OMP_TARGET_OFFLOAD=DISABLED: no word" fault
unset OMP_TARGET_OFFLOAD

OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER=/no/libcuda.so.1; export OMPGPU_CUDA_DRIVER
no_driver="/no/libcuda.so.1|No such file"
runs_on_host "no driver" fault 6 "region main_6|host|$no_driver"
OMP_TARGET_OFFLOAD=MANDATORY; export OMP_TARGET_OFFLOAD
dies "no driver, MANDATORY" fault 6 "region main_6|OMP_TARGET_OFFLOAD=MANDATORY|$no_driver"
unset OMP_TARGET_OFFLOAD

OMPGPU_CUDA_DRIVER=$OBJ/nullcuda/libcuda.so.1 NULLCUDA_ARCH=90; export NULLCUDA_ARCH
fails() {                             # NAME CALL CODE PROGRAM LINE WORDS
    NULLCUDA_FAIL=$2:1:$3; export NULLCUDA_FAIL
    dies "cuda: $1" "$4" "$5" "$6"
    unset NULLCUDA_FAIL
}
dies "cuda: more memory than the GPU has" block 7 "region main_7|p[0:n], 68719476736 bytes|cuMemAlloc|CUDA_ERROR_OUT_OF_MEMORY"
fails "out of memory" cuMemAlloc_v2 2 fault 6 "region main_6|s, 4 bytes|cuMemAlloc|CUDA_ERROR_OUT_OF_MEMORY"
fails "failed launch" cuLaunchKernel 701 fault 6 "region main_6|cuLaunchKernel|CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES|32 registers"
fails "failed transfer" cuMemcpyHtoDAsync_v2 1 fault 6 "region main_6|s, 4 bytes|cuMemcpyHtoDAsync|CUDA_ERROR_INVALID_VALUE"
fails "driver that has shut down" cuMemcpyHtoDAsync_v2 4 fault 6 "region main_6|s, 4 bytes|cuMemcpyHtoDAsync|the program is exiting"
fails "image that does not load" cuModuleLoadDataEx 209 fault 6 "region main_6|cuModuleLoadDataEx|CUDA_ERROR_NO_BINARY_FOR_GPU"
for call in cuMemAlloc:_v2:2 cuStreamCreate::2 cuMemcpyHtoDAsync:_v2:2 cuMemcpyDtoHAsync:_v2:2 cuStreamQuery::1 cuLaunchKernel::1 \
    cuEventRecord::1; do
    n=${call##*:} version=${call%:*}
    NULLCUDA_FAIL=${call%%:*}${version#*:}:$n; export NULLCUDA_FAIL
    dies "cuda: nowait, $NULLCUDA_FAIL" later 6 "region main_6|${call%%:*}|CUDA_ERROR"
done
unset NULLCUDA_FAIL
NULLCUDA_FAIL_AT_SYNC=1:700; export NULLCUDA_FAIL_AT_SYNC
# The driver may tell it first to who puts the next construct into a queue.
check "cuda: kernel that faults, nowait" test_must_fail 1 in_time sh -c "./later >out 2>err"
check "... data as before" [ "$(cat out)" = "data as before" ]
check "... one message" one_message
check "... what is said" mentions "$(tail -n 1 err)" "ompgpu: later.c:|error: |region main_|cu|CUDA_ERROR_ILLEGAL_ADDRESS"
dies "cuda: kernel that faults" fault 6 "region main_6|cuStreamSynchronize|CUDA_ERROR_ILLEGAL_ADDRESS"
unset NULLCUDA_FAIL_AT_SYNC
OMPGPU_ON_FAILURE=host; export OMPGPU_ON_FAILURE
for call in cuMemAlloc_v2:1 cuMemAlloc_v2:2 cuMemcpyHtoDAsync_v2:1 cuMemcpyHtoDAsync_v2:2 cuLaunchKernel:1; do
    NULLCUDA_FAIL=$call; export NULLCUDA_FAIL
    name=${call%:*}
    runs_on_host "cuda: $call, OMPGPU_ON_FAILURE=host" fault 6 "region main_6|host|${name%_v2} failed"
    runs_on_host "cuda: $call, OMPGPU_ON_FAILURE=host, nowait" "later 1" 6 "region main_6|host|${name%_v2} failed"
done
OMPGPU_ON_FAILURE=retry
check "cuda: OMPGPU_ON_FAILURE=retry" in_time sh -c "./fault >out 2>err"
check "cuda: retry: on the device" [ "$(cat out)" = "data as before" ]
check "cuda: retry: what is said" mentions "$(cat err)" "fault.c:6: warning: |region main_6|again|cuLaunchKernel"
NULLCUDA_FAIL=cuLaunchKernel:1,cuLaunchKernel:2
check "cuda: retry, twice" in_time sh -c "./fault 1 >out 2>err"
check "cuda: retry, twice: on the host" [ "$(cat out)" = "data changed" ]
unset NULLCUDA_FAIL
OMPGPU_ON_FAILURE=host
NULLCUDA_FAIL_AT_SYNC=1:700; export NULLCUDA_FAIL_AT_SYNC
runs_on_host "cuda: kernel that faults, OMPGPU_ON_FAILURE=host" fault 6 "region main_6|host|cuStreamSynchronize"
unset NULLCUDA_FAIL_AT_SYNC
# Each of the two is asked for before the wait, and again after it.
NULLCUDA_FAIL=cuMemcpyDtoHAsync_v2:1:1,cuMemcpyDtoHAsync_v2:2:1,cuMemcpyDtoHAsync_v2:3:1; export NULLCUDA_FAIL
runs_on_host "cuda: copy back that fails, OMPGPU_ON_FAILURE=host" fault 6 "region main_6|host|cuMemcpyDtoHAsync"
unset NULLCUDA_FAIL
fails "data on the device, OMPGPU_ON_FAILURE=host" cuLaunchKernel 1 kept 6 "region main_6|its data is on the device|cuLaunchKernel"
unset OMPGPU_ON_FAILURE
NULLCUDA_ARCH=75
runs_on_host "cuda: image for another GPU" fault 6 "region main_6|host|fault.c has no image|sm_75"
OMP_TARGET_OFFLOAD=MANDATORY; export OMP_TARGET_OFFLOAD
dies "cuda: image for another GPU, MANDATORY" fault 6 "region main_6|OMP_TARGET_OFFLOAD=MANDATORY|fault.c has no image|sm_75"
unset OMP_TARGET_OFFLOAD
NULLCUDA_DEVICES=0; export NULLCUDA_DEVICES
runs_on_host "cuda: a driver without a GPU" fault 6 "region main_6|host|cuInit|CUDA_ERROR_NO_DEVICE"
finish
