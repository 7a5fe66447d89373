#!/bin/sh
# Errors in the source: clang's own for C and OpenMP, once, with the user's file and line; ours for what the device cannot do.
# Exit code 1, no output.
. tests/lib.sh
# bad NAME PATTERN [FLAGS…] <SOURCE: the first error line
bad() {
    name=$1 message=$2; shift 2
    cat >t.c; rm -f t.o
    # shellcheck disable=SC2086
    "$CC" $ARCH -c t.c "$@" 2>err; rc=$?
    first=$(grep -m1 'error: ' err)
    if [ $rc = 1 ] && [ "$first" = "$message" ] && [ ! -e t.o ] && [ "$(grep -c -F -e "$message" err)" = 1 ]; then ok "$name"
    else not_ok "$name"; echo "# exit code $rc, wanted: $message"; show err; fi
}
bad "syntax" "t.c:3:12: error: expected ';' after expression" <<'C'
int main(void) { int x = 0;
#pragma omp target map(x)
{ x = x + 1 x++; } }
C
bad "undeclared name" "t.c:3:3: error: use of undeclared identifier 'y'" <<'C'
int main(void) { int x = 0;
#pragma omp target map(x)
{ y = x; } }
C
bad "indirect" "t.c:1:34: error: clause 'indirect' is not supported yet: device code cannot call through function pointers of the host" <<'C'
#pragma omp begin declare target indirect
int twice(int x) { return 2 * x; }
#pragma omp end declare target
int main(void) { int x = 0;
#pragma omp target map(x)
x = twice(x); }
C
bad "metadirective that the program decides" "t.c:3:81: error: a metadirective whose choice depends on 'device_num' is not supported yet in device code or with a target construct" <<'C'
int main(void) { int x = 0, n = 0;
#pragma omp target map(x)
#pragma omp metadirective when(user={condition(1)}: single) when(target_device={device_num(n)}: parallel) otherwise(nothing)
x++; }
C
bad "variant that the program decides" "t.c:2:13: error: 'declare variant' of a function that runs on the device, which depends on 'isa', is not supported yet" <<'C'
int g(void);
#pragma omp declare variant(g) match(device={isa("sm_90")})
int f(void) { return 1; }
int main(void) { int x = 0;
#pragma omp target map(x)
x = f(); }
C
bad "variants of the device in a block" "t.c:1:13: error: 'begin declare variant' whose context may be the device's is not supported yet in a file with constructs for the device" <<'C'
#pragma omp begin declare variant match(device={kind(nohost)})
int f(void) { return 2; }
#pragma omp end declare variant
int f(void) { return 1; }
int main(void) { int x = 0;
#pragma omp target map(x)
x = f(); }
C
bad "allocate, static" "t.c:4:22: error: 'allocate' for 'n', which is static, is not supported yet in code that runs on the device" <<'C'
int main(void) { int x = 0;
#pragma omp target map(x)
{ static int n;
#pragma omp allocate(n)
x = n++; } }
C
bad "allocate, align" "t.c:4:25: error: clause 'align' is not supported yet on 'allocate' for the device; use _Alignas" <<'C'
int main(void) { int x = 0;
#pragma omp target map(x)
{ int n = 1;
#pragma omp allocate(n) align(64)
x = n++; } }
C
bad "requires self_maps" "t.c:1:22: error: 'requires self_maps' is not supported" <<'C'
#pragma omp requires self_maps
int main(void) { int x = 0;
#pragma omp target map(x)
x++; }
C
bad "outside of the regions" "t.c:1:25: error: use of undeclared identifier 'y'" <<'C'
int main(void) { return y;
#pragma omp target
{ }
}
C
bad "-Werror in a region" "t.c:3:7: error: unused variable 'y' [-Werror,-Wunused-variable]" -Wall -Werror <<'C'
int main(void) { int x = 0;
#pragma omp target map(x)
{ int y; x++; } return x; }
C
bad "missing header" "t.c:1:10: fatal error: 'no-such-header.h' file not found" <<'C'
#include "no-such-header.h"
void f(void) {
#pragma omp target
{ } }
C
bad "unknown variable in a clause" "t.c:2:28: error: use of undeclared identifier 'y'" <<'C'
int main(void) { int x = 0;
#pragma omp target map(to: y)
x++; }
C
bad "clause twice" "t.c:2:39: error: directive '#pragma omp target teams' cannot contain more than one 'num_teams' clause" <<'C'
int main(void) {
#pragma omp target teams num_teams(2) num_teams(3)
{ } }
C
bad "loop that is not canonical" "t.c:3:17: error: condition of OpenMP for loop must be a relational comparison ('<', '<=', '>', '>=', or '!=') of loop variable 'i'" <<'C'
int a[10]; int main(void) {
#pragma omp target teams distribute parallel for
for (int i = 0; i * i < 10; i++) a[i]++; }
C
bad "reduction on long double" "t.c:2:63: error: reduction variable 's' of type 'long double': the device has no long double" <<'C'
int a[10]; int main(void) { long double s = 0;
#pragma omp target teams distribute parallel for reduction(+: s)
for (int i = 0;  i < 10; i++) s += a[i]; }
C
bad "reduction of an array of long double" "t.c:2:63: error: reduction variable 's[2:3]' of type 'long double [8]': the device has no long double" <<'C'
int a[10]; int main(void) { long double s[8] = { 0 };
#pragma omp target teams distribute parallel for reduction(+: s[2:3])
for (int i = 0;  i < 10; i++) s[2 + i % 3] += a[i]; }
C
bad "reduction of a struct" "t.c:2:63: error: list item of type 'struct s' is not valid for specified reduction operation: unable to provide default initialization value" <<'C'
struct s { int x; } s; int main(void) {
#pragma omp target teams distribute parallel for reduction(+: s)
for (int i = 0;  i < 10; i++) s.x += i; }
C
bad "ordered" "t.c:2:33: error: clause 'ordered' is not supported yet on 'target parallel for' for the device" <<'C'
int a[10]; int main(void) {
#pragma omp target parallel for ordered
for (int i = 0; i < 10; i++) {
#pragma omp ordered
a[0]++;
} }
C
bad_scan() {                          # NAME MESSAGE DIRECTIVE BODY: a loop of 10 iterations, line 2 and on
    bad "scan: $1" "$2" <<C
int a[10], b[10]; void f(int x, int y) {
#pragma omp $3
for (int i = 0; i < 10; i++) {
$4
} }
C
}
inclusive=$(printf 'x += a[i];\n#pragma omp scan inclusive(x)\nb[i] = x;')
bad_scan "under distribute" "t.c:2:50: error: modifier 'inscan' is not allowed on 'target teams distribute parallel for': it includes 'distribute', whose teams run in no order (OpenMP 5.2, section 5.5.8)" \
    "target teams distribute parallel for reduction(inscan, +: x)" "$inclusive"
bad_scan "on loop" "t.c:2:44: error: 'inscan' modifier can be used only in 'omp for', 'omp simd', 'omp for simd', 'omp parallel for', or 'omp parallel for simd' directive" \
    "target parallel loop reduction(inscan, +: x)" "$inclusive"
bad_scan "schedule" "t.c:2:57: error: clause 'schedule' on a construct with an 'inscan' reduction (OpenMP 5.2, section 5.5.8)" \
    "target parallel for reduction(inscan, +: x) schedule(static)" "$inclusive"
bad_scan "ordered" "t.c:2:57: error: clause 'ordered' on a construct with an 'inscan' reduction (OpenMP 5.2, section 5.5.8)" \
    "target parallel for reduction(inscan, +: x) ordered" "$inclusive"
bad_scan "beside another reduction" "t.c:2:57: error: expected 'reduction' clause with the 'inscan' modifier" \
    "target parallel for reduction(inscan, +: x) reduction(+: y)" "$inclusive"
bad_scan "without a directive" "t.c:2:54: error: the inscan reduction list item must appear as a list item in an 'inclusive' or 'exclusive' clause on an inner 'omp scan' directive" \
    "target parallel for reduction(inscan, +: x)" "x += a[i];"
bad_scan "without inscan" "t.c:5:28: error: the list item must appear in 'reduction' clause with the 'inscan' modifier of the parent directive" \
    "target parallel for reduction(+: x)" "$inclusive"
bad_scan "item that is not in the list" "t.c:2:57: error: the inscan reduction list item must appear as a list item in an 'inclusive' or 'exclusive' clause on an inner 'omp scan' directive" \
    "target parallel for reduction(inscan, +: x, y)" "$inclusive"
bad_scan "twice" "t.c:7:1: error: exactly one 'scan' directive must appear in the loop body of an enclosing directive" \
    "target parallel for reduction(inscan, +: x)" "$(printf '%s\n#pragma omp scan inclusive(x)\n;' "$inclusive")"
bad_scan "in a statement" "t.c:5:1: error: orphaned 'omp scan' directives are prohibited; perhaps you forget to enclose the directive into a for, simd, for simd, parallel for, or parallel for simd region?" \
    "target parallel for reduction(inscan, +: x)" "$(printf 'if (i) {\n#pragma omp scan inclusive(x)\nb[i] = x; }')"
bad_scan "both clauses" "t.c:5:31: error: exactly one of 'inclusive' or 'exclusive' clauses is expected" \
    "target parallel for reduction(inscan, +: x, y)" "$(printf 'x += a[i];\n#pragma omp scan inclusive(x) exclusive(y)\nb[i] = x;')"
bad_scan "init_complete" "t.c:5:18: error: clause 'init_complete' is not supported: clang 22 hangs on it" \
    "target parallel for reduction(inscan, +: x)" "$(printf 'x += a[i];\n#pragma omp scan init_complete\nb[i] = x;')"
bad_scan "section of run-time length" "t.c:2:54: error: array 'a[0:x]' in a 'reduction' clause with 'inscan' is not supported yet: it has more than 1024 bytes or a run-time length" \
    "target parallel for reduction(inscan, +: a[0:x])" "$(printf 'a[0] += i;\n#pragma omp scan inclusive(a[0:x])\nb[i] = a[0];')"
bad_scan "a local across the directive" "t.c:6:12: error: 't' is declared in front of the 'scan' directive: only list items carry values across it (OpenMP 5.2, section 5.6); set it again here, or declare it here" \
    "target parallel for reduction(inscan, +: x)" "$(printf 'int t = a[i]; x += t;\n#pragma omp scan inclusive(x)\nb[i] = x + t;')"
bad_scan "a local that is set from itself" "t.c:6:1: error: 't' is declared in front of the 'scan' directive: only list items carry values across it (OpenMP 5.2, section 5.6); set it again here, or declare it here" \
    "target parallel for reduction(inscan, +: x)" "$(printf 'int t = a[i]; x += t;\n#pragma omp scan inclusive(x)\nt = t + 1; b[i] = t;')"
bad_scan "continue in front" "t.c:4:11: error: 'continue' in front of the 'scan' directive would skip it" \
    "target parallel for reduction(inscan, +: x)" "$(printf 'if (a[i]) continue; x += a[i];\n#pragma omp scan inclusive(x)\nb[i] = x;')"
bad_scan "clang's errors keep their places" "t.c:6:8: error: use of undeclared identifier 'z'" \
    "target parallel for map(to: a) reduction(inscan, +: x)" "$(printf 'x += a[i];\n#pragma omp scan inclusive(x)\nb[i] = z;')"
bad "loop without a known count" "t.c:3:17: error: condition of OpenMP for loop must be a relational comparison ('<', '<=', '>', '>=', or '!=') of loop variable 'i'" <<'C'
int a[10]; int main(void) {
#pragma omp target parallel for
for (int i = 0; a[i]; i++) a[i]++; }
C
bad "while loop" "t.c:3:1: error: statement after '#pragma omp target parallel for' must be a for loop" <<'C'
int a[10]; int main(void) { int i = 0;
#pragma omp target parallel for
while (i < 10) a[i++]++; }
C
bad "loop that is left" "t.c:3:42: error: 'break' statement cannot be used in OpenMP for loop" <<'C'
int a[10]; int main(void) {
#pragma omp target parallel for
for (int i = 0; i < 10; i++) { if (a[i]) break; } }
C
bad "jump out of a region" "t.c:3:18: error: use of undeclared label 'out'" <<'C'
int a[10]; int main(void) {
#pragma omp target
{ if (a[0]) goto out; }
out: return 0; }
C
bad "return out of a region" "t.c:3:3: error: cannot return from OpenMP region" <<'C'
int a[10]; int main(void) {
#pragma omp target
{ return 1; } }
C
bad "assembler" "t.c:3:3: error: inline assembly in code that runs on the device, which has none" <<'C'
int a; int main(void) {
#pragma omp target
{ __asm__ volatile("nop"); a = 1; } }
C
bad "library function without a body" "t.c:5:13: error: function 'fopen' called in the target region at line 4 has no body in this file; define it here, or include its definition" <<'C'
#include <stdlib.h>
#include <stdio.h>
int main(void) {
#pragma omp target
{ FILE *f = fopen("x", "r"); (void)f; } }
C
bad "library variable" "t.c:4:3: error: variable 'optind' of a system header is used in the device function 'g', but the device does not have it" <<'C'
#include <unistd.h>
int last;
int g(void); int g(void) { return
  optind; }
void f(void) {
#pragma omp target
last = g(); }
C
bad "too many collapsed loops" "t.c:3:30: error: expected 2 for loops after '#pragma omp target parallel for', but found only 1" <<'C'
int a[10]; int main(void) {
#pragma omp target parallel for collapse(2)
for (int i = 0; i < 10; i++) a[i]++; }
C
bad "teams inside of parallel" "t.c:3:1: error: region cannot be closely nested inside 'target parallel' region; perhaps you forget to enclose 'omp teams' directive into a target region?" <<'C'
int a[10]; int main(void) {
#pragma omp target parallel
#pragma omp teams
a[0]++; }
C
bad "target inside of target" "t.c:3:1: error: region cannot be nested inside 'target' region" <<'C'
int a[10]; int main(void) {
#pragma omp target
#pragma omp target
a[0]++; }
C
bad "no text after the directive" "t.c:3:1: error: expected statement" <<'C'
int main(void) {
#pragma omp target
}
C
bad "misspelt directive" "t.c:2:13: error: expected an OpenMP directive" <<'C'
int main(void) {
#pragma omp tarket
;
#pragma omp target
;
}
C
bad "construct that is not supported" "t.c:4:13: error: 'cancel' is not supported yet in code that runs on the device" <<'C'
int a[10]; int main(void) {
#pragma omp target parallel
{
#pragma omp cancel parallel
a[0]++;
} }
C
bad "declare mapper" "t.c:2:13: error: 'declare mapper' is not supported yet in a file that maps data; map the members" <<'C'
struct s { int n, *p; };
#pragma omp declare mapper(struct s v) map(v, v.p[0:v.n])
void f(struct s *a);
void f(struct s *a)
{
    #pragma omp target map(tofrom: a[0:1])
    a->p[0] = 1;
}
C
printf 'int x;\n' >ok.c
check "warnings do not fail" sh -c "'$CC' $ARCH -Wall -c ok.c"
cat >warn.c <<'C'
void f(void)
{
    #pragma omp target
    { int unused_here; }
}
C
"$CC" $ARCH -Wall -O2 -c warn.c 2>err
check "a warning shows once, at its place" sh -c "[ \"\$(grep -c 'warning:' err)\" = 1 ] && grep -q '^warn.c:4:11: warning: unused variable .unused_here. \[-Wunused-variable\]' err"
finish
