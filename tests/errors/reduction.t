#!/bin/sh
# What the specification (OpenMP 5.2 section 5.5) forbids in reductions is an error, from clang or from us, at its place; what it allows in the
# corners compiles.
. tests/lib.sh
# bad NAME PLACE WORDS <SOURCE: the first error is at that place and mentions the words (error_at); LOOP in the source is a loop's header
bad() {
    sed 's/LOOP/for (int i = 0; i < 10; i++)/' >t.c
    # shellcheck disable=SC2086
    check "$1" test_must_fail 1 "$CC" $ARCH -c t.c -o t.o || return
    cp .log err
    check "$1: what is said" error_at err "$2" "$3"
}
good() {
    sed 's/LOOP/for (int i = 0; i < 10; i++)/' >t.c
    # shellcheck disable=SC2086
    check "allowed: $1" "$CC" $ARCH -c t.c -o t.o
}
bad "pointer" t.c:2:43 "'int *'" <<'C'
void f(int *p) {
#pragma omp target parallel for reduction(+: p)
LOOP p++; }
C
bad "pointer max" t.c:2:48 "'p'|'int *'" <<'C'
void f(int *p) {
#pragma omp target parallel for reduction(max: p)
LOOP p++; }
C
bad "array of pointers" t.c:2:43 "'int *'" <<'C'
void f(void) { int *p[4];
#pragma omp target parallel for reduction(+: p)
LOOP p[0]++; }
C
bad "bit-precise" t.c:2:46 "'u24'|_BitInt|declare reduction" <<'C'
typedef unsigned _BitInt(24) u24; void f(void) { u24 p = 0;
#pragma omp target parallel for reduction(+: p)
LOOP p++; }
C
bad "const" t.c:2:46 "const-qualified" <<'C'
void f(void) { const int c = 0; int s = 0;
#pragma omp target parallel for reduction(+: c)
LOOP s += c; }
C
bad "zero-length" t.c:2:46 "'a[1:0]'|'int [4]'" <<'C'
void f(void) { int a[4];
#pragma omp target parallel for reduction(+: a[1:0])
LOOP a[1]++; }
C
bad "strided/non contiguous" t.c:2:46 "'a[0:2][0:2]'|'int [4][4]'" <<'C'
void f(void) { int a[4][4];
#pragma omp target parallel for reduction(+: a[0:2][0:2])
LOOP a[1][1]++; }
C
bad "pp[1:2][0:4]" t.c:2:46 "'p[1:2][0:2]'|'int *'" <<'C'
void f(int **p) {
#pragma omp target parallel for reduction(+: p[1:2][0:2])
LOOP p[1][1]++; }
C
bad "p[1][0:4]" t.c:2:46 "'p[1][0:2]'|'int *'" <<'C'
void f(int **p) {
#pragma omp target parallel for reduction(+: p[1][0:2])
LOOP p[1][1]++; }
C
bad "member" t.c:3:48 "base of the array section" <<'C'
struct s { int a[4]; };
void f(struct s s) {
#pragma omp target parallel for reduction(+: s.a[0:2])
LOOP s.a[1]++; }
C
bad "member scalar" t.c:3:48 "expected variable name" <<'C'
struct s { int a; };
void f(struct s s) {
#pragma omp target parallel for reduction(+: s.a)
LOOP s.a++; }
C
bad "twice" t.c:2:64 "'reduction'" <<'C'
void f(int s) {
#pragma omp target parallel for reduction(+: s) reduction(max: s)
LOOP s++; }
C
bad "parts of one array" t.c:2:52 "'a[1]'|'a'" <<'C'
void f(int a[2]) {
#pragma omp target parallel for reduction(+: a[0], a[1])
LOOP a[1] += a[0]++; }
C
bad "parts of one array in two clauses" t.c:2:69 "'p[2:2]'|'p'" <<'C'
void f(int *p) {
#pragma omp target parallel for reduction(+: p[0:2]) reduction(max: p[2:2])
LOOP p[0]++; }
C
bad "private and reduction" t.c:2:57 "private" <<'C'
void f(int s) {
#pragma omp target parallel for reduction(+: s) private(s)
LOOP s++; }
C
bad "for: private in parallel" t.c:4:30 "'s'|'for'" <<'C'
void f(int s) {
#pragma omp target
#pragma omp parallel private(s)
#pragma omp for reduction(+: s)
LOOP s++; }
C
bad "for: local of parallel" t.c:4:30 "'s'|'for'" <<'C'
void f(void) {
#pragma omp target parallel
{ int s = 0;
#pragma omp for reduction(+: s)
LOOP s++; } }
C
bad "bitwise on float" t.c:2:43 "'float'" <<'C'
void f(float s) {
#pragma omp target parallel for reduction(&: s)
LOOP s++; }
C
bad "max on complex" t.c:2:48 "'_Complex float'" <<'C'
void f(_Complex float s) {
#pragma omp target parallel for reduction(max: s)
LOOP s++; }
C
bad "task modifier with nowait" t.c:3:17 "'reduction'|'task'|'nowait'" <<'C'
void f(int s) {
#pragma omp target parallel map(s)
#pragma omp for reduction(task, +: s) nowait
LOOP s++; }
C
bad "task modifier on simd" t.c:2:35 "'reduction'|'task'" <<'C'
void f(int s) {
#pragma omp target simd reduction(task, +: s)
LOOP s++; }
C
bad "task modifier on teams distribute" t.c:2:47 "'reduction'|'task'" <<'C'
void f(int s) {
#pragma omp target teams distribute reduction(task, +: s)
LOOP s++; }
C
bad "task modifier on loop" t.c:2:34 "'reduction'|'task'|'target parallel loop'" <<'C'
void f(int s) {
#pragma omp target parallel loop reduction(task, +: s)
LOOP s++; }
C
good "task modifier on target teams distribute parallel for" <<'C'
void f(int s) {
#pragma omp target teams distribute parallel for reduction(task, +: s)
LOOP s++; }
C
bad "unknown modifier" t.c:2:33 "'default'|'inscan'|'task'|'reduction'" <<'C'
void f(int s) {
#pragma omp target parallel for reduction(mine, +: s)
LOOP s++; }
C
bad "in_reduction without group" t.c:3:34 "'in_reduction'|'s'" <<'C'
void f(int s) {
#pragma omp target map(s)
#pragma omp task in_reduction(+: s)
s++; }
C
bad "in_reduction other operator" t.c:4:31 "same reduction operation" <<'C'
void f(int s) {
#pragma omp target map(s)
#pragma omp taskgroup task_reduction(+: s)
#pragma omp task in_reduction(*: s)
s++; }
C
bad "in_reduction behind a parallel" t.c:5:34 "'in_reduction'|'s'" <<'C'
void f(int s) {
#pragma omp target map(s)
#pragma omp taskgroup task_reduction(+: s)
#pragma omp parallel
#pragma omp task in_reduction(+: s)
s++; }
C
bad "in_reduction orphaned" t.c:3:34 "'in_reduction'|'s'" <<'C'
static int s;
void g(void) {
#pragma omp task in_reduction(+: s)
s++; }
void f(void) {
#pragma omp target map(s)
#pragma omp taskgroup task_reduction(+: s)
g(); }
C
bad "in_reduction of parallel reduction without task" t.c:3:34 "'in_reduction'|'s'" <<'C'
void f(int s) {
#pragma omp target parallel reduction(+: s)
#pragma omp task in_reduction(+: s)
s++; }
C
bad "taskloop reduction nogroup" t.c:3:22 "'reduction'|'nogroup'" <<'C'
void f(int s) {
#pragma omp target map(s)
#pragma omp taskloop reduction(+: s) nogroup
LOOP s++; }
C
bad "taskloop reduction and in_reduction" t.c:4:54 "'in_reduction'" <<'C'
void f(int s) {
#pragma omp target map(s)
#pragma omp taskgroup task_reduction(+: s)
#pragma omp taskloop reduction(+: s) in_reduction(+: s)
LOOP s++; }
C
good "task_reduction private" <<'C'
void f(int s) {
#pragma omp target parallel private(s)
#pragma omp taskgroup task_reduction(+: s)
{ } }
C
bad "task_reduction long double" t.c:3:41 "'s'|'long double'" <<'C'
void f(void) { long double s;
#pragma omp target map(s)
#pragma omp taskgroup task_reduction(+: s)
{ } }
C
bad "UDR without type" t.c:4:43 "'struct t'" <<'C'
struct t { int x; };
#pragma omp declare reduction(mine : int : omp_out += omp_in)
void f(struct t s) {
#pragma omp target parallel for reduction(mine: s)
LOOP s.x++; }
C
bad "UDR uses another variable" t.c:2:64 "'omp_in'|'omp_out'" <<'C'
static int q;
#pragma omp declare reduction(mine : int : omp_out += omp_in + q)
void f(int s) {
#pragma omp target parallel for reduction(mine: s)
LOOP s++; }
C
bad "UDR with omp_priv in combiner" t.c:1:55 "'omp_priv'" <<'C'
#pragma omp declare reduction(mine : int : omp_out += omp_priv)
void f(int s) {
#pragma omp target parallel for reduction(mine: s)
LOOP s++; }
C
bad "UDR no omp_priv = " t.c:1:13 "'declare reduction'|'omp_priv = …'" <<'C'
#pragma omp declare reduction(mine : int : omp_out += omp_in) initializer(omp_orig = 3)
void f(int s) {
#pragma omp target parallel for reduction(mine: s)
LOOP s++; }
C
bad "incomplete array" t.c:3:46 "'int[]'" <<'C'
extern int a[];
void f(int s) {
#pragma omp target parallel for reduction(+: a)
LOOP a[0]++; }
C
bad "section beyond" t.c:2:46 "'a[2:4]'|'int [4]'" <<'C'
void f(void) { int a[4];
#pragma omp target parallel for reduction(+: a[2:4])
LOOP a[2]++; }
C
good "loop reduction nested bind" <<'C'
void f(int s) {
#pragma omp target map(s)
#pragma omp loop reduction(+: s)
LOOP s++; }
C
bad "threadprivate" t.c:4:46 "threadprivate" <<'C'
static int s;
#pragma omp threadprivate(s)
void f(void) {
#pragma omp target parallel for reduction(+: s)
LOOP s++; }
C
bad "reduction on distribute" t.c:3:24 "'reduction'|'#pragma omp distribute'" <<'C'
void f(int s) {
#pragma omp target teams
#pragma omp distribute reduction(+: s)
LOOP s++; }
C
bad "reduction on target" t.c:2:20 "'reduction'|'#pragma omp target'" <<'C'
void f(int s) {
#pragma omp target reduction(+: s)
s++; }
C
bad "reduction on single" t.c:3:20 "'reduction'|'#pragma omp single'" <<'C'
void f(int s) {
#pragma omp target parallel map(s)
#pragma omp single reduction(+: s)
s++; }
C
bad "in_reduction on target parallel" t.c:3:29 "'in_reduction'|'#pragma omp target parallel'" <<'C'
void f(int s) {
#pragma omp taskgroup task_reduction(+: s)
#pragma omp target parallel in_reduction(+: s)
s++; }
C
good "element" <<'C'
void f(void) { int a[4] = {0};
#pragma omp target parallel for reduction(+: a[2])
LOOP a[2]++; }
C
good "volatile" <<'C'
void f(void) { volatile int a = 0;
#pragma omp target parallel for reduction(+: a)
LOOP a++; }
C
good "enum" <<'C'
enum e { A } ;
void f(enum e s) {
#pragma omp target parallel for reduction(max: s)
LOOP s = 1; }
C
bad "function pointer struct" t.c:2:43 "'void (*)(void)'" <<'C'
void f(void (*g)(void)) {
#pragma omp target parallel for reduction(+: g)
LOOP ; }
C
bad "bitint" t.c:2:46 "'g'|'_BitInt(37)'" <<'C'
void f(_BitInt(37) g) {
#pragma omp target parallel for reduction(+: g)
LOOP g++; }
C
bad "vector" t.c:3:46 "'v4'|'float'" <<'C'
typedef float v4 __attribute__((vector_size(16)));
void f(v4 g) {
#pragma omp target parallel for reduction(+: g)
LOOP g+=1; }
C
bad "bfloat" t.c:2:46 "'g'|'__bf16'" <<'C'
void f(__bf16 g) {
#pragma omp target parallel for reduction(+: g)
LOOP g+=1; }
C
good "float16 complex" <<'C'
void f(_Complex _Float16 g) {
#pragma omp target parallel for reduction(+: g)
LOOP g+=1; }
C
good "int complex" <<'C'
void f(_Complex int g) {
#pragma omp target parallel for reduction(+: g)
LOOP g+=1; }
C
bad "float128" t.c:3:30 "__float128" <<'C'
void f(__float128 g) {
#pragma omp target parallel for reduction(+: g)
LOOP g+=1; }
C
bad "atomic" t.c:2:46 "'_Atomic(int)'" <<'C'
void f(_Atomic int g) {
#pragma omp target parallel for reduction(+: g)
LOOP g+=1; }
C
finish
