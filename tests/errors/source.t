#!/bin/sh
# Errors in the source: clang's own for C and OpenMP, once, with the user's file and line; ours for what the device cannot do.
# Exit code 1, no output.
. tests/lib.sh
# bad NAME PLACE WORDS [FLAGS] <SOURCE: the first error is at that place and mentions the words (error_at)
bad() {
    name=$1 place=$2 words=$3; shift 3
    cat >t.c; rm -f t.o
    # shellcheck disable=SC2086
    check "$name" test_must_fail 1 "$CC" $ARCH -c t.c "$@" || return
    cp .log err
    check "$name: what is said" error_at err "$place" "$words"
    check "$name: no output" test ! -e t.o
}
bad "syntax" t.c:3:12 "';'" <<'C'
int main(void) { int x = 0;
#pragma omp target map(x)
{ x = x + 1 x++; } }
C
bad "a comma before what is no clause" t.c:2:27 "expected '('" <<'C'
int j;
#pragma omp declare target, (j)
int main(void) { int x = 0;
#pragma omp target, map(x)
x++; }
C
# directives that clang does not see
while IFS='|' read -r directive column words; do
    bad "$directive" "t.c:3:$column" "$words" <<C
int a[8];
int main(int argc, char **argv) {
#pragma omp $directive
for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) a[i] = j;
#pragma omp target
a[0] = 1;
}
C
done <<'EOF'
tile sizes(4) foo|27|unexpected OpenMP clause 'foo'
stripe sizes(2) nowait|29|unexpected OpenMP clause 'nowait'
unroll if(1)|20|unexpected OpenMP clause 'if'
reverse foo(1, 2)|21|unexpected OpenMP clause 'foo'
interchange private(a)|25|unexpected OpenMP clause 'private'
split counts(2, omp_fill) foo|39|unexpected OpenMP clause 'foo'
split counts(2, 3)|19|one item of 'counts' must be 'omp_fill'
split counts(omp_fill, 2, omp_fill)|19|one item of 'counts'
split apply(reverse)|13|requires the 'counts' clause
split counts(omp_fill,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2)|65|more than 16 parts
taskgraph if(1) num_threads(2)|29|unexpected OpenMP clause 'num_threads'
tile sizes(2) sizes(2)|27|more than one 'sizes'
unroll full, full|26|more than one 'full'
unroll full partial(2)|25|'full' clause
interchange permutation(2, 1) permutation(1, 2)|43|more than one 'permutation'
taskgraph nogroup if(1) nogroup|37|more than one 'nogroup'
EOF
# clauses that clang does not know there
while IFS='|' read -r clauses column words; do
    bad "target $clauses" "t.c:2:$column" "$words" <<C
int main(void) { int x = 0; float f = 1;
#pragma omp target map(x) $clauses
x += (int)f; }
C
done <<'EOF'
priority(undeclared)|27|'priority' is no expression
priority()|27|'priority' is no expression
priority(f)|27|'priority' must be an integer
priority(1) priority(2)|39|more than one 'priority'
device_type(foo)|27|'device_type' needs
device_type(any) device_type(any)|44|more than one 'device_type'
nowait()|27|'nowait' is no expression
nowait(0) nowait(1)|37|more than one 'nowait'
nowait(undeclared)|27|'nowait' is no expression
nowait(*(struct { int i; } *)0)|27|'nowait' must be a scalar
EOF
# arguments of what becomes another directive: clang does not see them there
while IFS='|' read -r directive column words; do
    bad "$directive" "t.c:4:$column" "$words" <<C
int a[8], g; struct { int i; } s; double d;
void f(int *p) { *p = 1; }
int main(int argc, char **argv) { int x = 0;
#pragma $directive
for (int i = 0; i < 8; i++) a[i] = x;
#pragma omp target
a[0] = 1;
}
C
done <<'EOF'
omp taskgraph if(undeclared)|26|'undeclared'
omp taskgraph if(s)|26|'if' must be a scalar
omp taskgraph graph_id(undeclared)|32|'undeclared'
omp taskgraph graph_id(d)|32|'graph_id' must be an integer
omp taskgraph graph_reset(s)|35|'graph_reset' must be a scalar
omp task replayable(undeclared)|29|'undeclared'
omp task transparent(d)|30|'transparent' must be an integer
omp parallel num_threads(2, undeclared)|37|'undeclared'
omp parallel num_threads(undeclared, 2)|34|'undeclared'
omp target teams num_teams(undeclared: 4)|36|'undeclared'
omp target teams num_teams(d: 4)|36|'num_teams' must be an integer
omp tile sizes(undeclared)|24|'undeclared'
omp stripe sizes(2 +)|29|expected expression
omp split counts(omp_fill, undeclared)|36|'undeclared'
omp unroll partial(undeclared)|28|'undeclared'
omp for reduction(original(private), +: undeclared)|49|'undeclared'
omp for reduction(original(foo), +: x)|36|'original' needs
omp metadirective when(user={condition(argc > 1)}: parallel num_threads(undeclared))|81|'undeclared'
omp metadirective when(user={condition(undeclared > 1)}: parallel)|48|'undeclared'
omp target default(foo)|20|'default' needs
ompx target spread devices(undeclared) map(a)|36|'undeclared'
ompx target spread devices(0) spread_schedule(static, undeclared) map(a)|63|'undeclared'
ompx target spread devices(0) map(a[omp_spread_start: undeclared])|63|'undeclared'
ompx target spread teams distribute parallel for devices(0) num_threads(undeclared)|81|'undeclared'
ompx target spread devices(0) foo|39|directive '#pragma ompx target spread'
ompx target data spread devices(0) range(0: undeclared) map(a)|53|'undeclared'
EOF
# what is right there
cat >right.c <<'C'
int main(int n, char **v) { int x = 0;
#pragma omp metadirective when(user={condition(n > 2)}: nothing) when(implementation={vendor(amd)}: parallel num_threads(nonexistent)) default(nothing)
x++;
#pragma omp target default(target: shared)
x++;
#pragma omp target ompx_attribute(__attribute((launch_bounds(64, 1))))
x++;
_BitInt(7) b = 1;
#pragma omp task priority(b) transparent
x++;
return x; }
C
check "arguments that only look wrong" "$CC" $ARCH -c right.c
bad "unroll full where a loop is wanted" t.c:3:13 "leaves no loop" <<'C'
int main(void) { int a[4];
#pragma omp simd
#pragma omp unroll full
for (int i = 0; i < 4; i++) a[i] = 1; }
C
bad "unroll full of a loop that may be of any length" t.c:3:1 "constant trip count" <<'C'
int main(int n, char **v) { int a[4];
#pragma omp unroll full
for (int i = 0; i < n; i++) a[i] = 1; }
C
bad "dispatch" t.c:3:36 "'undeclared'" <<'C'
void f(int *p) { *p = 1; }
int main(void) { int x = 0;
#pragma omp dispatch is_device_ptr(undeclared)
f(&x); }
C
bad "indirect" t.c:2:46 "'undeclared'" <<'C'
void f(int *p) { *p = 1; }
#pragma omp declare target enter(f) indirect(undeclared)
C
bad "device_type of groupprivate" t.c:2:29 "'device_type' needs" <<'C'
int g;
#pragma omp groupprivate(g) device_type(foo)
C
bad "a clause after the last one of depobj" t.c:4:34 "clause 'foo'" <<'C'
#include <omp.h>
int main(void) { omp_depend_t a; int x;
#pragma omp depobj(a) depend(in: x)
#pragma omp depobj(a) destroy(a) foo
}
C
bad "a clause of task_iteration" t.c:4:45 "clause 'foo'" <<'C'
int main(void) { int x = 0;
#pragma omp taskloop
for (int i = 0; i < 4; i++) {
#pragma omp task_iteration depend(inout: x) foo
x++; } }
C
# loops that become others before clang sees them
for loop in 'for (int i = 0; i < 8; i--) n++;' 'for (int i = 0; i < 8; i += 0) n++;' 'for (int i = 8; i > 0; i++) n++;' \
    'for (int i = 0; i < 8; i++) { if (i == n) break; n++; }' 'for (int i = 0; i < 8; i++) { if (i == n) return 2; n++; }' \
    'for (int i = 0; i < 8; i++) { if (i == n) goto end; n++; }'; do
    for directive in reverse 'split counts(1, omp_fill)' 'stripe sizes(2)'; do
        printf 'int main(int n, char **v) {\n#pragma omp %s\n%s\nend: ;\n#pragma omp target\n;\nreturn n; }\n' "$directive" "$loop" >t.c
        check "$directive: $loop" test_must_fail 1 "$CC" $ARCH -c t.c; cp .log err
        check "... says where" grep -q "^t.c:3:[0-9]*: error" err
    done
done
printf 'int main(int n, char **v) {\n#pragma omp reverse\nfor (int i = 0; i < 8; i++) { for (int k = 0;; k++) if (k == i) break; if (n) goto on; on: n++; switch (n) { case 1: break; } }\nreturn n; }\n' >t.c
check "what stays in the loop" "$CC" $ARCH -c t.c
bad "another object is destroyed" t.c:5:31 "'destroy' is not the object" <<'C'
#include <omp.h>
int main(void) { omp_depend_t a, b; int x;
#pragma omp depobj(a) depend(in: x)
#pragma omp depobj(b) depend(in: x)
#pragma omp depobj(a) destroy(b)
}
C
bad "an error beside what OpenMP 6.0 has taken out" t.c:5:7 "'unknown'" <<'C'
int a;
#pragma omp declare target to(a)
int main(void) { int x = 0;
#pragma omp target map(x)
x = a+unknown; }
C
bad "indirect twice" t.c:2:40 "'indirect'" <<'C'
void f(void) { }
#pragma omp declare target indirect(1) indirect(0) enter(f)
C
bad "indirect functions of the host" t.c:2:37 "'device_type" <<'C'
void f(void) { }
#pragma omp declare target indirect device_type(host) enter(f)
C
bad "indirect without a list or a block" t.c:2:28 "'indirect'" <<'C'
void f(void) { }
#pragma omp declare target indirect
C
bad "defaultmap(none) beside default(none)" t.c:2:1 "'a'" <<'C'
int main(void) { int a[4];
#pragma omp target parallel for default(none) shared(a) defaultmap(none)
for (int i = 0; i < 4; i++) a[i] = 1; }
C
bad "what OpenMP 6.0 has taken out beside what it has added: its errors count" t.c:2:28 "'to'" <<'C'
int b;
#pragma omp declare target to(b)
int main(void) { int a[9] = { 0 };
#pragma omp target defaultmap(storage: all)
a[0]=unknown; }
C
check "... alone" lacks err storage
triangle() { bad "a triangle: $1" t.c:5:25 "$2" <<C
int main(void) { int i, j, a[9][9] = { 0 };
#pragma omp target map(a)
#pragma omp $1
for (i = 0; i < 9; i++)
    for (j = 0; j < 2 * i + 1; j++) a[i][j] = 1; }
C
}
triangle 'tile sizes(2, 2)' "rectangular"
triangle interchange "rectangular"
triangle 'tile sizes(2) apply(intratile: interchange)' "rectangular|'i'"
bad "inline assembly" t.c:3:3 "inline assembly" <<'C'
int main(void) { int x = 0;
#pragma omp target map(x)
{ __asm__ volatile("nop"); } }
C
bad "inline assembly with values in registers" t.c:3:3 "inline assembly" <<'C'
int main(void) { long x = 0;
#pragma omp target map(x)
{ __asm__("" : : "r"(x + 1), "a"(x)); } }
C
bad "allocate with an alignment, reduced array" t.c:2:72 "'align'|'allocate'|'x'" <<'C'
int main(void) { int x[9] = { 0 };
#pragma omp target parallel map(x) reduction(+: x) allocate(align(64): x)
x[0]++; }
C
bad "undeclared name" t.c:3:3 "'y'" <<'C'
int main(void) { int x = 0;
#pragma omp target map(x)
{ y = x; } }
C
bad "declare target that does not end" t.c:1:1 "'#pragma omp begin declare target'|'#pragma omp end declare target'" -w <<'C'
#pragma omp begin declare target
int x;
#pragma omp begin declare target
int y;
#pragma omp end declare target
#pragma omp begin declare target device_type(nohost)
int main(void) {
#pragma omp parallel
#pragma omp target
x++; }
#pragma omp end declare target
C
bad "variant that some GPUs have" t.c:2:13 "'declare variant'|'isa'" --gpu-arch=sm_75,sm_90 <<'C'
int g(void);
#pragma omp declare variant(g) match(device={isa("sm_90")})
int f(void) { return 1; }
int main(void) { int x = 0;
#pragma omp target map(x)
x = f(); }
C
bad_item() { # name, column, clause, item
    printf 'struct s { int n, v[]; }; struct t { int a[4], b[2]; };\nextern int open[];\nvoid f(int *p, struct s *s, struct t *t) { int a[10], b[5][6];\n#pragma omp target %s\n;\n(void)a, (void)b, (void)p, (void)s, (void)t; }\n' "$3" >item.c
    bad "$1" "t.c:4:$2" "'$4'" <item.c
}
bad_item "section of a pointer without length" 24 "map(p[1:])" "p[1:]"
bad_item "section of a pointer without length in update" 30 "update to(p[:])" "p[:]"
bad_item "flexible array member without length" 39 "enter data map(to: s->v[0:])" "s->v[0:]"
bad_item "array of unknown size without length" 39 "enter data map(to: open[:])" "open[:]"
bad_item "section past the end" 24 "map(a[5:6])" "a[5:6]"
bad_item "section past the end of a row" 32 "update from(b[0:5][3:4])" "b[0:5][3:4]"
bad_item "section with a stride past the end" 30 "update to(a[0:6:2])" "a[0:6:2]"
bad_item "section past the end of a member, others behind it" 39 "enter data map(to: t->a[2:3])" "t->a[2:3]"
bad_item "element past the end" 24 "map(a[10])" "a[10]"
bad "allocate, static" t.c:4:22 "'allocate'|'n'" <<'C'
int main(void) { int x = 0;
#pragma omp target map(x)
{ static int n;
#pragma omp allocate(n)
x = n++; } }
C
# rows of the support matrix
bad "copyin" t.c:4:29 "'copyin'" <<'C'
int t;
#pragma omp threadprivate(t)
int main(void) {
#pragma omp target parallel copyin(t)
t++; }
C
bad "device(ancestor), not alone" t.c:2:29 "ancestor" <<'C'
int main(void) { int x = 0;
#pragma omp target parallel device(ancestor: 1)
x++;
return x; }
C
bad "device(ancestor), another clause" t.c:3:40 "'if'|ancestor" <<'C'
int f(int x) {
#pragma omp target map(x)
#pragma omp target device(ancestor: 1) if(x)
x++;
return x; }
C
bad "device(ancestor), another list item" t.c:3:52 "'s.x'|'map'" <<'C'
int f(int x) { struct { int x; } s = { x };
#pragma omp target map(s)
#pragma omp target device(ancestor: 1) map(tofrom: s.x)
s.x++;
return s.x; }
C
bad "device(ancestor), a local type" t.c:4:1 "'s'|ancestor" <<'C'
int f(int x) { struct { int x; } s = { x };
#pragma omp target map(s)
#pragma omp target device(ancestor: 1)
s.x++;
return s.x; }
C
bad "device(ancestor: 2)" t.c:3:27 "ancestor" <<'C'
int f(int x) {
#pragma omp target map(x)
#pragma omp target device(ancestor: 2)
x++;
return x; }
C
bad "ompx_bare" t.c:2:26 "ompx_bare" <<'C'
int main(void) {
#pragma omp target teams ompx_bare
{} }
C
while read -r words; do
    bad "ompx target spread: $words" t.c:2:9 "spread" <<C
int main(void) { int a[9] = { 0 }, s = 0;
#pragma ompx target $words
for (int i = 0; i < 9; i++) s += a[i]++; }
C
done <<'W'
spread map(a)
data spread devices(0) map(a)
update spread range(0 : 9) to(a)
W
while read -r column clause; do
    bad "ompx target spread: $clause" "t.c:2:$column" "${clause%%(*}" <<C
int main(void) { int a[9] = { 0 }, s = 0;
#pragma ompx target spread devices(0) map(a) $clause
for (int i = 0; i < 9; i++) s += a[i]++; }
C
done <<'W'
46 device(0)
46 lastprivate(s)
46 linear(s)
46 spread_schedule(dynamic)
46 spread_schedule(weighted, 3)
59 reduction(+: a[0])
62 reduction(+: s) nowait
46 mapp(a)
W
bad "ompx target spread: the size of a reduced array" t.c:3:48 "'a'|spread" <<'C'
int f(void) { int a[9] = { 0 };
#pragma ompx target spread devices(0) reduction(+: a)
for (int i = 0; i < 9; i++) a[i % (sizeof *a * sizeof(a) / 4)]++;
return a[0]; }
C
for clause in nowait 'depend(out: a)'; do
    bad "exchange with $clause" t.c:2:78 "${clause%%(*}|from" <<C
void f(int *a) {
#pragma ompx target update spread devices(0) range(0 : 9) from(a[0:1]) to(a) $clause
}
C
done
bad "workdistribute" t.c:3:13 "" <<'C'
int main(void) { int a[9];
#pragma omp target teams
#pragma omp workdistribute
for (int i = 0; i < 9; i++) a[i] = 1; }
C
for modifier in ref_ptr ref_ptee; do
    bad "$modifier" t.c:2:24 "" <<C
int main(void) { int a[9], *p = a;
#pragma omp target map($modifier, to: p[0:9])
p[0]++; }
C
done
for more in 'int n, m' 'int m, n' 'int m, *n = &m' 'struct { int a; } n'; do
bad "declare target of a static variable of a function: $more" t.c:3:28 "'n'" <<C
int f(void) {
    static $more;
#pragma omp declare target(n)
    return 0; }
C
done
bad "groupprivate of another file" t.c:5:1 "'n'" <<'C'
extern int n;
#pragma omp groupprivate(n)
int main(void) {
#pragma omp target
n = 1; }
C
bad "a name of generated code" t.c:1:22 "'__ompgpu_unit'" <<'C'
int main(void) { int __ompgpu_unit = 0;
#pragma omp target
{ int __omp_k = 0; __omp_k++; } }
C
bad "beside a member of what has no name, which clang rejects" t.c:6:35 "map clause|'#pragma omp target'" <<'C'
struct s { int m; };
struct s f(void);
int main(void) { int x = 0;
#pragma omp target map(x)
x = f().m;
#pragma omp target private(x) map(x)
x++; }
C
check "... and nothing else" silent err addressable
bad "in an attribute" t.c:3:23 "'detach'|'#pragma omp target'" -std=c23 <<'C'
int main(void) { int x = 0;
    x++; [[omp::directive(target
       map(tofrom: x) detach(x))]] x++; }
C
bad "in an attribute, on the device" t.c:2:60 "'target'" -std=c23 <<'C'
int main(void) { int x = 0;
    x++; [[omp::sequence(directive(target), omp::directive(target))]] x++; }
C
bad "an attribute of a declarator, which clang ignores" t.c:1:16 "'omp::decl'|threadprivate" -std=c23 <<'C'
static int t [[omp::decl(threadprivate)]];
int main(void) {
#pragma omp target
{ }
return t; }
C
bad "outside of the regions" t.c:1:25 "'y'" <<'C'
int main(void) { return y;
#pragma omp target
{ }
}
C
bad "-Werror in a region" t.c:3:7 "'y'" -Wall -Werror <<'C'
int main(void) { int x = 0;
#pragma omp target map(x)
{ int y; x++; } return x; }
C
bad "missing header" t.c:1:10 "'no-such-header.h'" <<'C'
#include "no-such-header.h"
void f(void) {
#pragma omp target
{ } }
C
bad "unknown variable in a clause" t.c:2:28 "'y'" <<'C'
int main(void) { int x = 0;
#pragma omp target map(to: y)
x++; }
C
bad "clause twice" t.c:2:39 "'#pragma omp target teams'|'num_teams'" <<'C'
int main(void) {
#pragma omp target teams num_teams(2) num_teams(3)
{ } }
C
bad "loop that is not canonical" t.c:3:17 "'<'|'<='" <<'C'
int a[10]; int main(void) {
#pragma omp target teams distribute parallel for
for (int i = 0; i * i < 10; i++) a[i]++; }
C
bad "reduction on long double" t.c:2:63 "'s'|'long double'" <<'C'
int a[10]; int main(void) { long double s = 0;
#pragma omp target teams distribute parallel for reduction(+: s)
for (int i = 0;  i < 10; i++) s += a[i]; }
C
bad "reduction of an array of long double" t.c:2:63 "'s[2:3]'|'long double [8]'" <<'C'
int a[10]; int main(void) { long double s[8] = { 0 };
#pragma omp target teams distribute parallel for reduction(+: s[2:3])
for (int i = 0;  i < 10; i++) s[2 + i % 3] += a[i]; }
C
bad "reduction of a struct" t.c:2:63 "'struct s'" <<'C'
struct s { int x; } s; int main(void) {
#pragma omp target teams distribute parallel for reduction(+: s)
for (int i = 0;  i < 10; i++) s.x += i; }
C
bad "ordered" t.c:2:50 "'ordered'" <<'C'
int a[10]; int main(void) {
#pragma omp target teams distribute parallel for ordered
for (int i = 0; i < 10; i++) {
#pragma omp ordered
a[0]++;
} }
C
bad_scan() {                          # NAME PLACE WORDS DIRECTIVE BODY: a loop of 10 iterations, line 2 and on
    bad "scan: $1" "$2" "$3" <<C
int a[10], b[10]; void f(int x, int y) {
#pragma omp $4
for (int i = 0; i < 10; i++) {
$5
} }
C
}
inclusive=$(printf 'x += a[i];\n#pragma omp scan inclusive(x)\nb[i] = x;')
bad_scan "under distribute" t.c:2:50 "'inscan'|'target teams distribute parallel for'|'distribute'" \
    "target teams distribute parallel for reduction(inscan, +: x)" "$inclusive"
bad_scan "on loop" t.c:2:44 "'inscan'|'omp for'" \
    "target parallel loop reduction(inscan, +: x)" "$inclusive"
bad_scan "schedule" t.c:2:57 "'schedule'|'inscan'" \
    "target parallel for reduction(inscan, +: x) schedule(static)" "$inclusive"
bad_scan "ordered" t.c:2:57 "'ordered'|'inscan'" \
    "target parallel for reduction(inscan, +: x) ordered" "$inclusive"
bad_scan "beside another reduction" t.c:2:49 "'reduction'|'inscan'" \
    "target simd reduction(inscan, +: x) reduction(+: y)" "$inclusive"
bad_scan "without a directive" t.c:2:54 "'inclusive'|'exclusive'|'omp scan'" \
    "target parallel for reduction(inscan, +: x)" "x += a[i];"
bad_scan "without inscan" t.c:5:28 "'reduction'|'inscan'" \
    "target parallel for reduction(+: x)" "$inclusive"
bad_scan "item that is not in the list" t.c:2:57 "'inclusive'|'exclusive'|'omp scan'" \
    "target parallel for reduction(inscan, +: x, y)" "$inclusive"
bad_scan "twice" t.c:7:1 "'scan'" \
    "target parallel for reduction(inscan, +: x)" "$(printf '%s\n#pragma omp scan inclusive(x)\n;' "$inclusive")"
bad_scan "in a statement" t.c:5:1 "'omp scan'" \
    "target parallel for reduction(inscan, +: x)" "$(printf 'if (i) {\n#pragma omp scan inclusive(x)\nb[i] = x; }')"
bad_scan "both clauses" t.c:5:31 "'inclusive'|'exclusive'" \
    "target parallel for reduction(inscan, +: x, y)" "$(printf 'x += a[i];\n#pragma omp scan inclusive(x) exclusive(y)\nb[i] = x;')"
bad_scan "init_complete" t.c:5:18 "'init_complete'" \
    "target parallel for reduction(inscan, +: x)" "$(printf 'x += a[i];\n#pragma omp scan init_complete\nb[i] = x;')"
bad_scan "section of run-time length" t.c:2:54 "'a[0:x]'|'reduction'|'inscan'" \
    "target parallel for reduction(inscan, +: a[0:x])" "$(printf 'a[0] += i;\n#pragma omp scan inclusive(a[0:x])\nb[i] = a[0];')"
bad_scan "a local across the directive" t.c:6:12 "'t'|'scan'" \
    "target parallel for reduction(inscan, +: x)" "$(printf 'int t = a[i]; x += t;\n#pragma omp scan inclusive(x)\nb[i] = x + t;')"
bad_scan "a local that is set from itself" t.c:6:1 "'t'|'scan'" \
    "target parallel for reduction(inscan, +: x)" "$(printf 'int t = a[i]; x += t;\n#pragma omp scan inclusive(x)\nt = t + 1; b[i] = t;')"
bad_scan "continue in front" t.c:4:11 "'continue'|'scan'" \
    "target parallel for reduction(inscan, +: x)" "$(printf 'if (a[i]) continue; x += a[i];\n#pragma omp scan inclusive(x)\nb[i] = x;')"
bad_scan "clang's errors keep their places" t.c:6:8 "'z'" \
    "target parallel for map(to: a) reduction(inscan, +: x)" "$(printf 'x += a[i];\n#pragma omp scan inclusive(x)\nb[i] = z;')"
bad "loop without a known count" t.c:3:17 "'<'|'<='" <<'C'
int a[10]; int main(void) {
#pragma omp target parallel for
for (int i = 0; a[i]; i++) a[i]++; }
C
bad "loop in other steps than 1 with !=" t.c:3:27 "'!='|'#pragma omp target parallel for'" <<'C'
int main(void) { int x = 0;
#pragma omp target parallel for reduction(+: x)
for (int i = 0; i != 24 ; i += 2)
x++; }
C
bad "while loop" t.c:3:1 "'#pragma omp target parallel for'" <<'C'
int a[10]; int main(void) { int i = 0;
#pragma omp target parallel for
while (i < 10) a[i++]++; }
C
bad "loop that is left" t.c:3:42 "'break'" <<'C'
int a[10]; int main(void) {
#pragma omp target parallel for
for (int i = 0; i < 10; i++) { if (a[i]) break; } }
C
bad "jump out of a region" t.c:3:18 "'out'" <<'C'
int a[10]; int main(void) {
#pragma omp target
{ if (a[0]) goto out; }
out: return 0; }
C
bad "return out of a region" t.c:3:3 "return" <<'C'
int a[10]; int main(void) {
#pragma omp target
{ return 1; } }
C
bad "assembler" t.c:3:3 "assembly" <<'C'
int a; int main(void) {
#pragma omp target
{ __asm__ volatile("nop"); a = 1; } }
C
bad "library function without a body" t.c:5:13 "'fopen'" <<'C'
#include <stdlib.h>
#include <stdio.h>
int main(void) {
#pragma omp target
{ FILE *f = fopen("x", "r"); (void)f; } }
C
bad "library variable" t.c:4:3 "'optind'|'g'" <<'C'
#include <unistd.h>
int last;
int g(void); int g(void) { return
  optind; }
void f(void) {
#pragma omp target
last = g(); }
C
bad "too many collapsed loops" t.c:3:30 "'#pragma omp target parallel for'" <<'C'
int a[10]; int main(void) {
#pragma omp target parallel for collapse(2)
for (int i = 0; i < 10; i++) a[i]++; }
C
bad "induction on distribute inside teams that do not wait" t.c:3:13 "'induction'|'distribute inside teams with nowait'" <<'C'
void f(int n, int k, int *a) {
#pragma omp target teams nowait
#pragma omp distribute parallel for induction(step(2), +: k)
for (int i = 0; i < n; i++) a[i] = k; }
C
bad "an item of two induction clauses" t.c:2:48 "'x'|data-sharing" <<'C'
void f(int x, int *a) {
#pragma omp parallel for induction(step(1), +: x) induction(step(2), +: x)
for (int i = 0; i < 9; i++) a[i] = x; }
C
bad "an item of induction that is private" t.c:3:74 "'x'|data-sharing" <<'C'
void f(int x, int y, int *a) {
#pragma omp target teams distribute parallel for private(x) \
  map(tofrom: a[:9])                            induction(step(x), +: y, x)
for (int i = 0; i < 9; i++) a[i] = x; }
C
bad "induction on distribute in a function that teams call" t.c:3:13 "'induction'|teams|function" <<'C'
#pragma omp declare target
void f(int n, int k, int *a) {
#pragma omp distribute parallel for induction(step(2), +: k)
for (int i = 0; i < n; i++) a[i] = k; }
#pragma omp end declare target
C
bad "induction on a nest that is not rectangular" t.c:2:13 "'induction'|rectangular" <<'C'
void f(int n, int k, int *a) {
#pragma omp parallel for collapse(2) induction(step(2), +: k)
for (int i = 0; i < n; i++) for (int j = i; j < n; j++) a[j] = k;
#pragma omp target
{ } }
C
bad "an induction that is not declared for the type" t.c:4:51 "'next'|'k'" <<'C'
#pragma omp declare induction(next: float) inductor(omp_var += omp_step) collector(omp_step * omp_idx)
void f(int n, int k, int *a) {
  { _Pragma("omp declare induction(next: int) inductor(omp_var += omp_step) collector(omp_step * omp_idx)") }
#pragma omp parallel for induction(step(2), next: k)
for (int i = 0; i < n; i++) a[i] = k; }
C
bad "an inductor that is no expression" t.c:1:51 "'omp_var += other'" <<'C'
#pragma omp declare induction(next: int) inductor(omp_var += other) collector(omp_step * omp_idx)
int a[10];
C
bad "declare induction without a collector" t.c:1:13 "'declare induction'" <<'C'
#pragma omp declare induction(next: int) inductor(omp_var += omp_step)
int a[10];
C
bad "declare induction of no type" t.c:1:55 "'omp_var += 1'" <<'C'
#pragma omp declare induction(next: integer) inductor(omp_var += 1) collector(omp_step)
int a[10];
C
bad "an array in induction" t.c:3:48 "'a'|'induction'" <<'C'
int a[10];
void f(int n) {
#pragma omp parallel for induction(step(2), +: a)
for (int i = 0; i < n; i++) a[i] = i; }
C
bad "an allocator of the program without uses_allocators" t.c:4:45 "'uses_allocators'" <<'C'
#include <omp.h>
void f(omp_allocator_handle_t a, int n) {
const omp_allocator_handle_t b = omp_default_mem_alloc; (void)b;
#pragma omp target firstprivate(n) allocate(b: n)
n++; }
C
bad "a variable of a mapper that is another one where it is used" t.c:4:58 "'v'" <<'C'
struct s { int *x; };
void f(struct s *p, int n) {
int len = n;
#pragma omp declare mapper(struct s v) map(tofrom: v.x[0:len])
{ int len = 1;
#pragma omp target map(tofrom: p[0:1])
p[0].x[0] = len; } }
C
bad "teams inside of parallel" t.c:3:1 "'target parallel'|'omp teams'" <<'C'
int a[10]; int main(void) {
#pragma omp target parallel
#pragma omp teams
a[0]++; }
C
bad "target inside of target" t.c:3:1 "'target'" <<'C'
int a[10]; int main(void) {
#pragma omp target
#pragma omp target
a[0]++; }
C
bad "no text after the directive" t.c:3:1 "expected statement" <<'C'
int main(void) {
#pragma omp target
}
C
bad "misspelt directive" t.c:2:13 "OpenMP directive" <<'C'
int main(void) {
#pragma omp tarket
;
#pragma omp target
;
}
C
bad "construct that is not supported" t.c:5:13 "'interop'" <<'C'
typedef void *omp_interop_t;
int a[10]; omp_interop_t o; int main(void) {
#pragma omp target parallel
{
#pragma omp interop init(target: o)
a[0]++;
} }
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
bad "long double" t.c:3:3 "long double" <<'C'
int main(void) { int x = 0;
#pragma omp target map(x)
{ long double y = x; x = y; } }
C
D=-fompgpu-long-double=double
bad "long double in memory of both" t.c:4:1 "'x'|long double" $D <<'C'
struct list { struct list *next; struct { long double v[2]; } *in; };
void f(struct list *x) {
#pragma omp target map(x[0:1])
x->next = 0; }
C
bad "long double in a device variable" t.c:2:16 "'g'|long double" $D <<'C'
static long double g;
void h(void) { g++; }
#pragma omp declare target(g, h)
void f(void) {
#pragma omp target
h(); }
C
bad "reduction on target, of long double" t.c:3:29 "'s'|long double" $D <<'C'
void f(void) { long double s = 0;
#pragma omp target parallel for reduction(+: s)
for (int i = 0; i < 3; i++) s += i; }
C
bad "long double printed" t.c:4:1 "long double" $D <<'C'
int printf(const char *, ...);
void f(long double x) {
#pragma omp target
printf("%g %Lf", (double)x, x); }
C
bad "a thread-local variable, where it is used" t.c:4:3 "'n'" <<'C'
static _Thread_local int n;
int main(void) { int x = 0;
#pragma omp target map(x)
{ n++; n--; x++; } }
C
bad "... in a function that a region calls" t.c:2:29 "'n'" <<'C'
static _Thread_local int n;
static int f(void) { return n; }
int main(void) { int x = 0;
#pragma omp target map(x)
x = n + f(); }
C
check "... and nothing else" silent err warning
# in the order of the text, each line once, whichever pass has found it
cat >order.c <<'C'
static _Thread_local int n;
int main(void) { long double x = 0; int v[2];
#pragma omp target map(x)
{ x = 1;
  n++; }
#pragma omp target
  __asm__("nop");
#pragma omp target
#pragma omp parallel for reduction(+: v) allocate(align(64): v)
for (int i = 0; i < 2; i++) v[i] = i; }
C
check "messages in order: refused" test_must_fail 1 "$CC" $ARCH -c order.c
grep -o '^order.c:[0-9]*:[0-9]*: error' .log >places
check "messages in order" sh -c 'sort -t: -k2,2n -k3,3n -u places | diff places - && [ "$(wc -l <places)" = 4 ]'
# tokens out of macros, as clang shows them; lines that go on; one error a line
cat >macro.c <<'C'
#include <stddef.h>
#include <assert.h>
#define STOP(x) __asm__("nop"); x = 1
#define OUTER(y) do { STOP(y); } while (0)
#define REGION _Pragma("omp target parallel for reduction(+: v) allocate(align(64): v)")
#define N 10
static _Thread_local int n, k;
int main(void) { int s = 0, *p = &s, v[2];
#pragma omp target map(tofrom: s)
  {  s++;   OUTER(s); n++; }
  REGION
  for (int i = 0; i < 9; i++) v[0] = 1;
#pragma omp target parallel for reduction(+: v) map(p[0:N]) \
        num_threads(4) allocate(align(64): \
        v)
  for (int i = 0; i < 9; i++) v[0] = 1;
#pragma omp target
  { p = NULL; p = NULL; assert(s &&
        k); }
}
C
check "tokens out of macros: refused" test_must_fail 1 "$CC" $ARCH -c macro.c
cp .log err
cat >wanted <<'W'
macro.c:10:13: error
macro.c:4:23: note
macro.c:3:17: note
macro.c:11:3: error
macro.c:5:16: note
macro.c:15:9: error
macro.c:19:9: error
W
check "tokens out of macros: places" sh -c 'grep -o "^macro.c:[0-9]*:[0-9]*: [en][a-z]*" err | diff wanted -'
check "tokens out of macros: the user's line" has err '^ *10 |   {  s++;   OUTER(s); n++; }' "expanded from macro 'OUTER'" "expanded from macro 'STOP'"
# names of files are data: in messages, in what is compiled, in PTX
for name in 'ü.c' 'q"uo\te.c' "$(printf 'new\nline.c')"; do
    printf 'int main(void) { int r = 1;\n#pragma omp target map(tofrom: r)\n{ r--; BAD }\nreturn r; }\n' >"$name"
    check "$name: refused" test_must_fail 1 "$CC" $ARCH -c "$name" '-DBAD=__asm__("nop");'
    cp .log err
    check "$name: place" env NAME="$name:3:" sh -c 'case $(cat err) in "$NAME"*) ;; *) cat err; exit 1 ;; esac'
    check "$name: compiles" "$CC" --gpu-arch=emu,sm_75 -g -DBAD= "$name" -o named
    check "$name: runs" on_device ./named
done
finish
