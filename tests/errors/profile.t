#!/bin/sh
# OMPGPU_PROFILE (a table, a trace, CSV) and OMPGPU_INFO=2: what is said of one program whose counts are known.
. tests/lib.sh
cat >app.c <<'C'
#include <omp.h>
#include <stdio.h>
float x[1000], sum;
int main(void) {
    float *p = x;
    for (int k = 0; k < 12; k++) {
        #pragma omp target map(to: x) map(from: sum) /* line 7 */
        for (int i = 0; i < 1000; i++) sum = x[i] + 1;
    }
    #pragma omp target enter data map(to: x[0:10]) /* line 10 */
    #pragma omp target teams distribute parallel for num_teams(2) thread_limit(32) map(p[0:5])
    for (int i = 0; i < 5; i++) p[i] += 1;
    #pragma omp target parallel for nowait num_threads(8)
    for (int i = 0; i < 5; i++) p[i] += 1;
    #pragma omp taskwait
    #pragma omp target update from(sum) /* line 16 */
    void *q = omp_target_alloc(100000, 0);
    omp_target_memcpy(q, x, sizeof x, 0, 0, 0, omp_get_initial_device());
    omp_target_free(q, 0);
    #pragma omp target exit data map(from: sum)
    return sum != 1;
}
C
check "compiles" "$CC" --gpu-arch=emu -O1 -w app.c -o app
OMPGPU_DEVICE=emu; export OMPGPU_DEVICE
check "OMPGPU_PROFILE=1" sh -c "OMPGPU_PROFILE=1 ./app 2>log"
check "... is a table of regions and copies" has log ' 12 .*app.c:7 main_7: 1 team x 1 thread$' ' 1 .*app.c:11 main_11: 2 teams x 32 threads' \
    ' 12 .* 46.9 KiB .*app.c:7 .*to device: x$' ' 12 .* 48 bytes .*app.c:7 .*from device: sum$' ' 97.7 KiB  omp_target_alloc'
check "OMPGPU_PROFILE=FILE.csv" sh -c "OMPGPU_PROFILE=p.csv ./app 2>log && [ ! -s log ]"
check "... has the same" has p.csv '^kind,name,' '^"region","main_7","app.c",7,.*,12,' '^"copy to device","x","app.c",7,.*,0,12,.*,48000,' '^"copy to device","omp_target_memcpy","",0,"",0,1,'
check "OMPGPU_PROFILE=FILE" sh -c "OMPGPU_PROFILE=p.%p.json ./app 2>log && [ ! -s log ] && mv p.*.json p.json"
if perl -MJSON::PP -e 1 2>/dev/null; then
    # shellcheck disable=SC2016
    trace() { perl -MJSON::PP -e 'local $/; my @e = @{decode_json(<STDIN>)->{traceEvents}}; my %n; $n{"$_->{name}/$_->{ph}"}++ for @e;
        (grep { $_->{ph} eq "X" && ($_->{ts} < 0 || $_->{dur} < 0) } @e) && die "times";
        exit !($n{"main_7/X"} == 12 && $n{"main_13/b"} == 1 && $n{"main_13/e"} == 1)' <p.json; }
    check "... is a trace of all that happened" trace
else skip "the trace" "no JSON::PP"; fi
check "a file that cannot be written is a warning" sh -c "OMPGPU_PROFILE=/no/p.json ./app 2>log && grep -q 'warning.*OMPGPU_PROFILE.*/no/p.json' log"
check "regions on the host" sh -c "ASAN_OPTIONS=detect_leaks=0 OMPGPU_DEVICE=cuda OMPGPU_PROFILE=1 ./app 2>log; grep -q 'hint: main_7 ran on the host, 12 times' log"
# Each hint, and silence where nothing is to be said.
cat >hints.c <<'C'
#include <stdlib.h>
static double big[100000], small[10];
int main(int n, char **args) {
    int way = n > 1 ? atoi(args[1]) : 0;
    for (int k = 0; k < 20 && way == 1; k++) {
        #pragma omp target map(tofrom: big) /* line 6 */
        big[0] += k;
    }
    #pragma omp target data map(tofrom: small, big)
    for (int k = 0; k < (way ? 1000 : 50000) && way != 1; k++) {
        if (way == 2) {
            #pragma omp target /* line 12 */
            for (int i = 0; i < 1000; i++) small[i % 10] += i;
        } else {
            #pragma omp target teams distribute parallel for /* line 15 */
            for (int i = 0; i < 100000; i++) big[i] += i;
        }
    }
    return 0;
}
C
check "hints.c compiles" "$CC" --gpu-arch=emu,sm_90 -O1 -w hints.c -o hints
hinted() { # WAY WORDS [VARIABLE=VALUE…]
    way=$1 words=$2; shift 2
    env "$@" OMPGPU_PROFILE=1 ./hints "$way" >out 2>&1; grep 'hint:' out >hinted
    if [ "$words" ]; then mentions "$(cat hinted)" "$words"; else [ ! -s hinted ] || { cat out; return 1; }; fi
}
null="OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER=$OBJ/nullcuda/libcuda.so.1"
check "hint: copies that cross again and again" hinted 1 "hints.c:6 hint: big goes to the device 20 times|hint: big goes back from the device 20 times"
check "hint: one team" hinted 2 "hints.c:12 hint: main_12 runs on one team"
# shellcheck disable=SC2086
check "hint: registers" hinted 0 "hints.c:15 hint: main_15: occupancy 25 %, limited by its 128 registers" $null NULLCUDA_REGISTERS=128
# shellcheck disable=SC2086
check "no hint: full occupancy, all teams, no copies" hinted 0 "" $null
check "OMPGPU_INFO=2, OMPGPU_INFO_FILE" sh -c "OMPGPU_INFO=2 OMPGPU_INFO_FILE=info ./app 2>log && [ ! -s log ]"
check "... has what happens to list items" has info 'app.c:10: alloc on device: x\[0:10\], 40 bytes' 'app.c:11: map: p\[0:5\], 20 bytes, present, mapped as x\[0:10\] at app.c:10, references 2' \
    'app.c:11: unmap: p\[0:5\], 20 bytes, references 1' 'app.c:13: pointer: p, implicit, present, mapped as x\[0:10\] at app.c:10' 'app.c:16: not mapped.*: sum' 'app.c:20: not mapped.*: sum' \
    'alloc on device: .*100000 bytes (97.7 KiB)' 'free on device: x, 4000 bytes' 'app.c:10: mapped still at the end: x\[0:10\], 40 bytes, references 1'
finish
