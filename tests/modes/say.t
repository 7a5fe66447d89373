#!/bin/sh
# What -Rompgpu=all says of each way a region can go, with LLVM's numbers; what is said of assumptions.
# shellcheck disable=SC1091,SC2086,SC2317
. tests/lib.sh

# says NAME PATTERN FLAGS…: the file on standard input compiles, and the remarks have PATTERN
says() {
    sy_name=$1 sy_pattern=$2; shift 2
    { echo '#include <omp.h>'; cat; } >t.c
    check "$sy_name: compiles" "$CC" $ARCH -O2 -Rompgpu=all "$@" --emit=ir t.c -o t.ll || return
    cp .log log
    check "$sy_name" has log "$sy_pattern"
}
all='void f(int *a, int n) {
int s[3] = { 0 }, u = n;
#pragma omp target map(tofrom: a[0:40])
{ int slot[2], own = u * 2; slot[0] = a[u]; a[1] = own + slot[0] + omp_get_num_threads();
  _Pragma("omp parallel for") for (int i = 0; i < 40; i++) { a[i] += slot[i & 1]; if (i == 39) slot[1] = s[0]; } } }'
says "late" "^t.c:4:13: remark: region 'f_4': .*1 parallel region.*1 guard.*\[OMP120\]" <<C
$all
C
check "late: locals in slots" has log '1 local in 8 bytes.*\[OMP111\]'
check "late: private locals" has log '\[OMP110\]'
check "late: folded calls" has log '1 runtime call.*\[OMP180\]'
check "late: one line a region" test "$(grep -c 'remark: region.*OMP120' log)" = 1
check "late: which local is in a slot, and where it is declared" has log "^t.c:5:7: remark: .*'slot'.* 8 bytes.*\[OMP111\] \[-Rompgpu=all\]"
check "late: which call is folded" has log "^t.c:5:68: remark: .*'omp_get_num_threads'.* 1[ ,].*\[OMP180\]"
says "by the flag" "generic mode by -fompgpu-mode=generic; .*1 .*parallel region \[OMP131\]" -fompgpu-mode=generic <<C
$all
C
says "thread 0's own" '; 2 locals [^;]*\[OMP110\]; 1 local in 4 bytes [^;]*\[OMP111\]' <<'C'
void f(int *a, int n) {
#pragma omp target map(tofrom: a[0:40])
{ int s = 0, m = 1, all = 0;
_Pragma("omp parallel for reduction(+: s, all)") for (int i = 0; i < n; i++) s += a[i], all += i;
_Pragma("omp parallel") { _Pragma("omp masked") m += 2; _Pragma("omp for") for (int i = 0; i < n; i++) a[i] += all; }
a[0] = s; a[1] = m; } }
C
says "fewer barriers" '; 1 of 2 barriers [^;]*\[OMP190\]' <<'C'
void f(int *a) {
#pragma omp target map(tofrom: a[0:40])
{ a[0] = 3;
_Pragma("omp parallel for") for (int i = 0; i < 40; i++) a[i]++; } }
C
says "both barriers" 'SPMD mode' <<'C'
void f(int *a) {
#pragma omp target map(tofrom: a[0:40])
{ a[0] = 3;
_Pragma("omp parallel for") for (int i = 0; i < 40; i++) a[i]++;
a[1] = 3; } }
C
check "... are needed" lacks log OMP190
says "two locals that stay private" "^t.c:5:26: remark: .*'r' .*\[OMP110\]" <<'C'
void use(int *p);
void f(int *a, int n) {
#pragma omp target map(tofrom: a[0:40])
{ int own[4] = { n, 2 }, r = 0;
a[0] = own[n & 3] + own[1];
_Pragma("omp parallel for reduction(+: r)") for (int i = 0; i < 40; i++) r += a[i];
a[1] = r; } }
C
check "... the other one" has log "^t.c:5:7: remark: .*'own' .*\[OMP110\]"
cat >shared.c <<'C'
#pragma omp begin declare target
int *kept;
__attribute__((noinline)) void keep(KEEPS int *p) { kept = p; }
#pragma omp end declare target
void f(int *a, int n) {
#pragma omp target map(tofrom: a[0:40])
{ int big[3000], vla[n], q;
big[n] = 3; vla[1] = 4;
keep(&q);
a[3] = q;
_Pragma("omp parallel for") for (int i = 0; i < 40; i++) a[i] += vla[i] + big[i]; } }
C
for m in late generic; do
    room=8192 flag=; [ $m = late ] || room=1024 flag=-fompgpu-mode=generic
    says "$m: too large for team-shared storage" "^t.c:8:7: remark: .*'big' .*12000 bytes.* $room bytes .*\[OMP112\]" -DKEEPS= $flag <shared.c
    check "$m: an array of run-time size" has log "^t.c:8:18: remark: .*'vla'.* $room bytes .*\[OMP112\]"
    check "$m: a call may keep the address" has log "^t.c:8:26: remark: .*'q' .* 4 bytes .*\[OMP111\]" "^t.c:8:26: remark: .*'q' .*'keep'.* line 10 .*noescape.*\[OMP113\]"
    says "$m: the remedy helps" "'vla'.*OMP112" "-DKEEPS=__attribute__((noescape))" $flag <shared.c
    check "$m: nothing is said of 113" lacks log OMP113
done
says "in a recursive function" "^t.c:3:5: remark: .*'x' .* 8 bytes.*\[OMP112\]" <<'C'
static void half(int *p, int m) {
int x[2] = { m };
_Pragma("omp parallel for") for (int i = 0; i < m; i++) { p[i]++; if (i == 3) x[1] = 4; }
if (m > 10) half(p, m / 2 + x[1]); }
void f(int *a) {
#pragma omp target map(tofrom: a[0:40])
half(a, 40); }
C
says "late: ... the local is thread 0's" "^t.c:8:26: remark: .*'q' .*\[OMP110\]" "-DKEEPS=__attribute__((noescape))" <shared.c
says "a region without effect" "^t.c:5: remark: .*\[OMP160\]" <<'C'
void f(int *a, int n) {
#pragma omp target map(tofrom: a[0:40])
{ int t = n;
_Pragma("omp parallel for") for (int i = 0; i < n; i++) { int x = a[i] * t; x++; }
_Pragma("omp parallel") { while (a[1] > 2) ; a[omp_get_thread_num() & 7] = 2; }
_Pragma("omp parallel") { volatile int *p = a; (void)*p; }
_Pragma("omp parallel for") for (int i = 0; i < n; i++) a[i] += i; } }
C
check "... and no other" has log '[^0-9]3 parallel regions.*\[OMP120\]'
says "at -O0" "SPMD mode.* 1 parallel region.* 1 guard.*\[OMP120\]" -O0 <<C
$all
C
says "at -O0 with -g" "generic mode .*-O0 with -g.*1 .*parallel region \[OMP131\]" -O0 -g <<C
$all
C
check "launch bound" has log 'at most 1024 threads a team'
says "by the form" "SPMD mode by its form: .*; at most 64 threads a team" <<'C'
void f(int *a) {
#pragma omp target teams distribute parallel for map(tofrom: a[0:9]) thread_limit(64)
for (int i = 0; i < 9; i++) a[i]++; }
C
says "no parallel region" "generic mode.*\[OMP130\]" <<'C'
void f(int *a) {
#pragma omp target map(tofrom: a[0:9])
a[2]++; }
C
# No construct of OpenMP makes the compiler lose sight of a region; a call of the runtime's own function does.
cat >unknown.c <<'C'
void start(void (*)(void *), void *, int, _Bool) __asm__("__ompgpu_parallel");
#pragma omp begin declare target
int x, y;
static void one(void *p) { (void)p; _Pragma("omp atomic") x++; }
static void two(void *p) { (void)p; _Pragma("omp atomic") y += 2; }
#pragma omp end declare target
int main(int argc, char **argv) {
    int a[40] = { 0 };
#pragma omp target map(tofrom: a) map(always, from: x, y) thread_limit(8)
    { a[0] = 1; start(argc > 1 ? one : two, argv, 0, 1);
_Pragma("omp parallel for") for (int i = 0; i < 40; i++) a[i] += i; }
    return !(a[0] == 1 && a[39] == 39 && x == 0 && y == 16); }
C
echo 'void __ompgpu_parallel(void (*f)(void *), void *c, int n, _Bool b) { (void)n; if (b) f(c); }' >stub.c
"$CLANG" -c stub.c -o stub.o
check "an unknown region: compiles" "$CC" $ARCH -O2 -Rompgpu=all unknown.c stub.o -o unknown
cp .log log
check "an unknown region" has log "region 'main_9': generic mode .*\[OMP101\].*1 .*parallel region.*\[OMP132\]" "^unknown.c:10:17: remark: .*'main_9'.*\[OMP101\]"
check "an unknown region: runs" on_device ./unknown
says "effect in the way" "generic mode .*'llvm.readcyclecounter.*\[OMP121\].*2 .*parallel regions" <<'C'
void f(int *a) {
#pragma omp target map(tofrom: a[0:9])
{ a[1] = (int)__builtin_readcyclecounter();
_Pragma("omp parallel") a[omp_get_thread_num() & 7]++;
_Pragma("omp parallel") a[omp_get_thread_num() & 3]++; } }
C
check "effect in the way: its place, and what helps" has log "^t.c:4:15: remark: .*'f_3'.*'llvm.readcyclecounter.*noinline.*\[OMP121\]"
pointer='static int one(int x) { return x + 1; } static int two(int x) { return x + 2; }
static int (*const table[])(int) = { one, two };
ATTRIBUTE static int call(int i) { return table[i & 1](i); }
void f(int *a, int n) {
#pragma omp target map(tofrom: a[0:9])
{ a[8] = call(n);
_Pragma("omp parallel") a[omp_get_thread_num() & 7]++; } }'
says "unknown callee" "generic mode .*function pointer.*\[OMP133\]" -DATTRIBUTE= <<C
$pointer
C
says "[[omp::assume]]" "OMP120" '-DATTRIBUTE=[[omp::assume("omp_no_openmp")]]' -Wno-unknown-attributes <<C
$pointer
C
says "an assumption that is not known" "t.c:4:1: note: .*'ompx_bananas'" '-DATTRIBUTE=[[omp::assume("ompx_bananas")]]' -Wno-unknown-attributes <<C
$pointer
C
check "… changes nothing" has log OMP133
says "assumes" "OMP120" -DATTRIBUTE= <<C
#pragma omp assumes no_openmp
$pointer
C
says "no_openmp_routines is not enough" OMP133 -DATTRIBUTE= <<C
#pragma omp assumes no_openmp_routines
$pointer
C
says "a directive's assumption that is not known" "t.c:2:21: note: .*'ext_bananas'" -DATTRIBUTE= <<C
#pragma omp assumes ext_bananas
$pointer
C
says "nothing is said of those that are" "remark" -DATTRIBUTE= <<C
#pragma omp assumes no_openmp_routines absent(task) holds(1 < 2) ext_no_call_asm
$pointer
C
check "… nothing" lacks log 'note:'

# Each number that the manual page explains has a test here; those that are never given follow after .PP.
page=$ROOT/man/ompgpu-cc.1
awk '/^\.SH REMARKS/ { inside = 1 } inside && /^\.B OMP/ { print $2; seen = 1 } seen && /^\.PP/ { exit }' "$page" | sort -u >rows
grep -o '\[OMP1[0-9][0-9]' "$ROOT/tests/modes/say.t" | tr -d '[' | sort -u >tested
check "each number of the manual page is tested" same rows tested
check "the manual page has remedies, and the numbers that are not used" has "$page" noescape OMP170

# an assumption on a declaration is one about the definition in another file
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
check "another file's function: links" "$CC" $ARCH -O2 -Rompgpu=all main.c pick.c -o two
cp .log log
check "another file's function: the assumption counts" has log "region 'main_9': .*OMP120"
check "another file's function: runs" ./two
says "a loop that is spread" "^t.c:3:13: remark: the loop is spread over several teams" <<'C'
void f(int *a, int n) {
#pragma omp target parallel for map(a[0:n])
for (int i = 0; i < n; i++) a[i]++; }
C
says "what stops that" "^t.c:6:36: remark: the loop of 'target parallel for' at line 5 runs on one team: it uses 'where'" <<'C'
static int where(int i) { return i + omp_get_thread_num(); }
static int lone(int i) { return i; }
void f(int *a, int n) {
#pragma omp target parallel for map(a[0:n])
for (int i = 0; i < n; i++) a[i] = where(lone(i)); }
C
says "in generic mode by the flag" "several teams" -fompgpu-mode=generic -fompgpu-spread <<'C'
void f(int *a, int n) {
#pragma omp target parallel for map(a[0:n])
for (int i = 0; i < n; i++) a[i]++; }
C
says "one team by the flag" "region 'f_3'" -fno-ompgpu-spread <<'C'
void f(int *a, int n) {
#pragma omp target parallel for map(a[0:n])
for (int i = 0; i < n; i++) a[i]++; }
C
check "... nothing is spread" lacks log "several teams"
finish
