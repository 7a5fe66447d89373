#!/bin/sh
# What -Rompgpu says of each way a region can go, with LLVM's numbers; what is said of promises.
# shellcheck disable=SC1091,SC2086,SC2317
. tests/lib.sh

# says NAME PATTERN FLAGS…: the file on standard input compiles, and the remarks have PATTERN
says() {
    sy_name=$1 sy_pattern=$2; shift 2
    { echo '#include <omp.h>'; cat; } >t.c
    check "$sy_name: compiles" "$CC" $ARCH -O2 -Rompgpu "$@" -c t.c -o t.o || return
    cp .log log
    check "$sy_name" has log "$sy_pattern"
}
all='void f(int *a, int n) {
int s[3] = { 0 }, u = n;
#pragma omp target map(tofrom: a[0:40])
{ int slot[2], own = u * 2; slot[0] = a[u]; a[1] = own + slot[0] + omp_get_num_threads();
  _Pragma("omp parallel for") for (int i = 0; i < 40; i++) { a[i] += slot[i & 1]; if (i == 39) slot[1] = s[0]; } } }'
says "late" "^t.c:4:13: remark: region 'f_4': SPMD mode by the late pass: 1 parallel region called directly, 1 guard, .* bytes broadcast \[OMP120\]" <<C
$all
C
check "late: locals in slots" has log '1 local in 8 bytes of team-shared storage \[OMP111\]'
check "late: private locals" has log 'local.* private to each thread \[OMP110\]'
check "late: folded calls" has log '1 runtime call replaced by a constant \[OMP180\]'
check "late: one line a region" test "$(grep -c remark log)" = 1
says "by the flag" "generic mode by -fompgpu-mode=generic; state machine for 1 known parallel region \[OMP131\]" -fompgpu-mode=generic <<C
$all
C
says "thread 0's own" '; 2 locals of thread 0 alone \[OMP110\]; 1 local in 4 bytes of team-shared storage \[OMP111\]' <<'C'
void f(int *a, int n) {
#pragma omp target map(tofrom: a[0:40])
{ int s = 0, m = 1, all = 0;
_Pragma("omp parallel for reduction(+: s, all)") for (int i = 0; i < n; i++) s += a[i], all += i;
_Pragma("omp parallel") { _Pragma("omp masked") m += 2; _Pragma("omp for") for (int i = 0; i < n; i++) a[i] += all; }
a[0] = s; a[1] = m; } }
C
says "at -O0" "SPMD mode by the late pass: 1 parallel region called directly, 1 guard" -O0 <<C
$all
C
says "at -O0 with -g" "generic mode at -O0 with -g, where one thread is easier to follow; state machine for 1 known parallel region \[OMP131\]" -O0 -g <<C
$all
C
check "launch bound" has log 'at most 1024 threads a team'
says "by the form" "SPMD mode by its form: .*; at most 64 threads a team" <<'C'
void f(int *a) {
#pragma omp target teams distribute parallel for map(tofrom: a[0:9]) thread_limit(64)
for (int i = 0; i < 9; i++) a[i]++; }
C
says "no parallel region" "generic mode, no parallel region reached: no state machine \[OMP130\]" <<'C'
void f(int *a) {
#pragma omp target map(tofrom: a[0:9])
a[2]++; }
C
says "effect in the way" "generic mode because of the operation 'llvm.readcyclecounter.*' \[OMP121\]; state machine for 2 known parallel regions" <<'C'
void f(int *a) {
#pragma omp target map(tofrom: a[0:9])
{ a[1] = (int)__builtin_readcyclecounter();
_Pragma("omp parallel") a[omp_get_thread_num() & 7]++;
_Pragma("omp parallel") a[omp_get_thread_num() & 3]++; } }
C
pointer='static int one(int x) { return x + 1; } static int two(int x) { return x + 2; }
static int (*const table[])(int) = { one, two };
ATTRIBUTE static int call(int i) { return table[i & 1](i); }
void f(int *a, int n) {
#pragma omp target map(tofrom: a[0:9])
{ a[8] = call(n);
_Pragma("omp parallel") a[omp_get_thread_num() & 7]++; } }'
says "unknown callee" "generic mode because of a call through a function pointer \[OMP133\]" -DATTRIBUTE= <<C
$pointer
C
says "[[omp::assume]]" "SPMD mode by the late pass" '-DATTRIBUTE=[[omp::assume("omp_no_openmp")]]' -Wno-unknown-attributes <<C
$pointer
C
says "an assumption that is not known" "t.c:4:16: note: assumption 'ompx_bananas' is not known and ignored" '-DATTRIBUTE=[[omp::assume("ompx_bananas")]]' -Wno-unknown-attributes <<C
$pointer
C
check "… changes nothing" has log "because of a call through a function pointer"
says "assumes" "SPMD mode by the late pass" -DATTRIBUTE= <<C
#pragma omp assumes no_openmp
$pointer
C
says "no_openmp_routines is not enough" "because of a call through a function pointer" -DATTRIBUTE= <<C
#pragma omp assumes no_openmp_routines
$pointer
C
says "a directive's assumption that is not known" "t.c:2:21: note: assumption 'ext_bananas' is not known and ignored" -DATTRIBUTE= <<C
#pragma omp assumes ext_bananas
$pointer
C
says "nothing is said of those that are" "remark" -DATTRIBUTE= <<C
#pragma omp assumes no_openmp_routines absent(task) holds(1 < 2) ext_no_call_asm
$pointer
C
check "… nothing" lacks log 'note:.*assumption'

# a promise on a declaration is one about the definition in another file
cat >main.c <<'C'
#pragma omp begin assumes no_parallelism
#pragma omp begin declare target
int pick(int i);
#pragma omp end declare target
#pragma omp end assumes
int main(void)
{
    int a[20] = { 0 };
    #pragma omp target map(tofrom: a)
    {
        a[0] = pick(3);
        #pragma omp parallel for
        for (int i = 0; i < 20; i++) a[i]++;
    }
    return a[0] != 6;
}
C
cat >pick.c <<'C'
#pragma omp begin declare target
static int one(int i) { return i + 1; }
static int two(int i) { return i + 2; }
static int (*const table[2])(int) = { one, two };
int pick(int i) { return table[i & 1](i); }
#pragma omp end declare target
C
check "another file's function: links" "$CC" $ARCH -O2 -Rompgpu main.c pick.c -o two
cp .log log
check "another file's function: the promise counts" has log "region 'main_9': SPMD mode by the late pass"
check "another file's function: runs" ./two
finish
