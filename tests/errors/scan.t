#!/bin/sh
# The restrictions of scan that clang checks as well (source.t), as the frontend alone sees them; and the text that clang is shown.
. tests/lib.sh
SPLIT=$(dirname "$CC")/../lib/ompgpu/omp-split
# split NAME PLACE WORDS <SOURCE: the first error is at that place and mentions the words (error_at)
split() {
    cat >t.c
    "$CLANG" -E -fopenmp -fopenmp-version=60 -w t.c -o t.i
    check "$1" test_must_fail 1 "$SPLIT" --path t.c --device t.device.c --host t.host.c t.i -- || return
    cp .log err
    check "$1: what is said" error_at err "$2" "$3"
}
# loop NAME PLACE WORDS DIRECTIVE BODY: the directive is in line 3, the body begins in line 5
loop() {
    split "$1" "$2" "$3" <<C
int a[10], b[10]; void f(int x, int y) { int big[300];
#pragma omp target
#pragma omp $4
for (int i = 0; i < 10; i++) {
$5
} }
C
}
inclusive=$(printf 'x += a[i];\n#pragma omp scan inclusive(x)\nb[i] = x;')
loop "loop" t.c:3:27 "'inscan'|'parallel loop'|'for'|'simd'" \
    "parallel loop reduction(inscan, +: x)" "$inclusive"
loop "distribute simd" t.c:3:35 "'inscan'|'teams distribute simd'|'distribute'" \
    "teams distribute simd reduction(inscan, +: x)" "$inclusive"
loop "another reduction" t.c:3:50 "'reduction'|'inscan'" \
    "parallel for reduction(inscan, +: x) reduction(+: y)" "$inclusive"
loop "schedule of any kind" t.c:3:50 "'schedule'|'inscan'" \
    "parallel for reduction(inscan, +: x) schedule(auto)" "$inclusive"
loop "a block of the innermost of two loops" t.c:7:13 "'scan'" \
    "parallel for collapse(2) reduction(inscan, +: x)" "$(printf 'for (int j = 0; j < 2; j++) {\nx += a[i]; {\n#pragma omp scan inclusive(x)\nb[i] = x; } }')"
split "a section of run-time length on the host, beside constructs" t.c:2:47 "'s[0:n]'|'reduction'|'inscan'" <<'C'
void f(int n, int *s, int *a) {
#pragma omp parallel for reduction(inscan, +: s[0:n])
for (int i = 0; i < n; i++) {
#pragma omp atomic
s[0] += a[i];
#pragma omp scan inclusive(s[0:n])
a[i] = s[0]; } }
C
loop "no directive" t.c:3:26 "'reduction'|'inscan'|'scan'" \
    "parallel for reduction(inscan, +: x)" "x += a[i];"
loop "no inscan" t.c:6:13 "'scan'|'parallel for'|'reduction'|'inscan'" \
    "parallel for reduction(+: x)" "$inclusive"
loop "two directives" t.c:8:13 "'scan'" \
    "parallel for reduction(inscan, +: x)" "$(printf '%s\n#pragma omp scan inclusive(x)\n;' "$inclusive")"
loop "two clauses" t.c:6:13 "'scan'|'inclusive'|'exclusive'" \
    "parallel for reduction(inscan, +: x, y)" "$(printf 'x += a[i];\n#pragma omp scan inclusive(x) exclusive(y)\nb[i] = x;')"
loop "no clause" t.c:6:13 "'scan'|'inclusive'|'exclusive'" \
    "parallel for reduction(inscan, +: x)" "$(printf 'x += a[i];\n#pragma omp scan\nb[i] = x;')"
loop "an item that is not reduced" t.c:6:31 "'y'|'reduction'|'inscan'|'parallel for'" \
    "parallel for reduction(inscan, +: x)" "$(printf 'x += a[i];\n#pragma omp scan inclusive(x, y)\nb[i] = x;')"
loop "an item that is not scanned" t.c:3:50 "'y'|'inscan'|'scan'" \
    "parallel for reduction(inscan, +: x, y)" "$inclusive"
loop "in an inner block" t.c:7:13 "'scan'" \
    "parallel for reduction(inscan, +: x)" "$(printf 'x += a[i];\n{\n#pragma omp scan inclusive(x)\nb[i] = x; }')"
loop "in an inner loop" t.c:7:13 "'scan'" \
    "parallel for reduction(inscan, +: x)" "$(printf 'x += a[i];\nfor (int j = 0; j < 2; j++) {\n#pragma omp scan inclusive(x)\nb[i] = x; }')"
loop "in another construct" t.c:3:26 "'reduction'|'inscan'|'scan'" \
    "parallel for reduction(inscan, +: x)" "$(printf 'x += a[i];\n#pragma omp critical\n{\n#pragma omp scan inclusive(x)\nb[i] = x; }')"
loop "a large array" t.c:3:58 "'big'|'reduction'|'inscan'" \
    "parallel for private(x) reduction(inscan, +: big)" "$(printf 'big[i] += a[i];\n#pragma omp scan inclusive(big)\nb[i] = big[0];')"
loop "a section of run-time length" t.c:3:47 "'big[0:y]'|'reduction'|'inscan'" \
    "parallel for reduction(inscan, +: big[0:y])" "$(printf 'big[i] += a[i];\n#pragma omp scan inclusive(big[0:y])\nb[i] = big[0];')"
loop "a section that is too large" t.c:3:47 "'big[2:]'|'reduction'|'inscan'" \
    "parallel for reduction(inscan, +: big[2:])" "$(printf 'big[i] += a[i];\n#pragma omp scan inclusive(big[2:])\nb[i] = big[0];')"
loop "another section" t.c:6:28 "'big[1:4]'|'reduction'|'inscan'|'parallel for'" \
    "parallel for reduction(inscan, +: big[0:4])" "$(printf 'big[1] += a[i];\n#pragma omp scan inclusive(big[1:4])\nb[i] = big[1];')"
loop "a section of a variable" t.c:6:31 "'big[0:4]'|'reduction'|'inscan'|'parallel for'" \
    "parallel for private(x) reduction(inscan, +: a)" "$(printf 'a[1] += i;\n#pragma omp scan inclusive(a, big[0:4])\nb[i] = a[1];')"
split "outside of a loop" t.c:2:13 "'scan'|'inscan'" <<'C'
void g(int x) {
#pragma omp scan inclusive(x)
} void f(void) {
#pragma omp target
g(1); }
C

# clang does not know `target parallel for` with inscan: what it is shown differs in nothing else.
cat >warn.c <<'C'
#include <stdio.h>
void f(int n, int *a, int *b)
{
    int x = 0;
    #pragma omp target parallel for map(to: a[0:n]) nowait firstprivate(n) default(none) shared(a, b) \
        map(from: b[0:n]) if(target: n > 10) reduction(inscan, +: x)
    for (int i = 0; i < n; i++) {
        int unused;
        x += a[i];
        #pragma omp scan inclusive(x)
        b[i] = x;
    }
}
C
# shellcheck disable=SC2086
"$CC" $ARCH -Wall -MD -c warn.c 2>err
check "a warning has its place" sh -c "[ \"\$(grep -c 'warning:' err)\" = 1 ] && grep -q '^warn.c:8:13: warning: unused variable .unused. ' err"
# Collapsed loops with scan are an error to clang: all scans of such a file are hidden.
cat >collapse.c <<'C'
#define SCAN _Pragma("omp scan inclusive(x)")
void f(int n, int *a, int *b)
{
    int x = 0;
    #pragma omp target parallel for map(tofrom: a[0:n], b[0:n]) reduction(inscan \
        , +: x) collapse \
        (2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            x += a[j]; int unused;
            SCAN
            b[j] = x;
        }
    #pragma omp target parallel for reduction( inscan , + : x) map(tofrom: a[0:n], b[0:n])
    for (int i = 0; i < n; i++) {
        b[i] = x;
        #pragma omp \
            scan exclusive(x)
        x += a[i] / y;
    }
}
C
# shellcheck disable=SC2086
"$CC" $ARCH -Wall -Wextra -pedantic -c collapse.c 2>err
check "clang's messages with collapse, and nothing else" sh -c "[ \"\$(grep -c -e 'warning:' -e error: err)\" = 2 ] && grep -q '^collapse.c:18:21: error: use of undeclared identifier .y.' err"
sed -i 's|/ y||' collapse.c
# shellcheck disable=SC2086
"$CC" $ARCH -Wall -Wextra -pedantic -c collapse.c 2>err
check "… without the error, the warning" sh -c "[ $? = 0 ] && [ \"\$(grep -c 'warning:' err)\" = 1 ] && grep -q '^collapse.c:10:28: warning: unused variable .unused.' err"
check "dependencies name the file" sh -c "grep -q '^warn.o: warn.c ' warn.d && ! grep -q check warn.d"
# shellcheck disable=SC2086
check "from standard input" sh -c "'$CC' $ARCH -c -x c - -o in.o <warn.c"
mkdir -p dir "with space" && cp warn.c dir/ && cp warn.c "with space/"
# shellcheck disable=SC2086
check "by other paths" sh -c "'$CC' $ARCH -c dir/../dir/./warn.c -o o1.o && '$CC' $ARCH -c '$T/dir/warn.c' -o o2.o && '$CC' $ARCH -c 'with space/warn.c' -o o3.o"
finish
