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
bad "clause that clang goes round on" "t.c:2:20: error: unexpected OpenMP clause 'memscope' in directive '#pragma omp target'" <<'C'
int a[10]; int main(void) {
#pragma omp target memscope(device)
{ a[0] = 1; } }
C
bad "function without a body" "t.c:3:3: error: function 'ext' called in the target region at line 2 has no body in this file; define it here, or include its definition" <<'C'
void ext(int); int main(void) {
#pragma omp target
{ ext(1); } }
C
bad "function without a body, called by a function" "t.c:2:17: error: function 'ext' called in 'g', which the target region at line 4 calls, has no body in this file; define it here, or include its definition" <<'C'
void ext(int);
void g(int i) { ext(i); }
int main(void) {
#pragma omp target
{ g(1); } }
C
bad "reduction on long double" "t.c:2:63: error: reduction variable 's' of type 'long double': the device has no long double" <<'C'
int a[10]; int main(void) { long double s = 0;
#pragma omp target teams distribute parallel for reduction(+: s)
for (int i = 0;  i < 10; i++) s += a[i]; }
C
bad "construct that is not supported" "t.c:4:13: error: 'task' is not supported yet in code that runs on the device" <<'C'
int a[10]; int main(void) {
#pragma omp target
{
#pragma omp task
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
