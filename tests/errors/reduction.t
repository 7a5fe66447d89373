#!/bin/sh
# What the specification (OpenMP 5.2 section 5.5) forbids in reductions is an error, from clang or from us, at its place; what it allows in the
# corners compiles.
. tests/lib.sh
# bad NAME PATTERN <SOURCE: the first error line; LOOP in the source is a loop's header
bad() {
    name=$1 message=$2
    sed 's/LOOP/for (int i = 0; i < 10; i++)/' >t.c
    # shellcheck disable=SC2086
    "$CC" $ARCH -c t.c -o t.o 2>err; rc=$?
    if [ $rc = 1 ] && [ "$(grep -m1 'error: ' err)" = "t.c:$message" ]; then ok "$name"
    else not_ok "$name"; echo "# exit code $rc, wanted: t.c:$message"; show err; fi
}
good() {
    sed 's/LOOP/for (int i = 0; i < 10; i++)/' >t.c
    # shellcheck disable=SC2086
    check "allowed: $1" "$CC" $ARCH -c t.c -o t.o
}
bad "pointer" "2:43: error: invalid operands to binary expression ('int *' and 'int *')" <<'C'
void f(int *p) {
#pragma omp target parallel for reduction(+: p)
LOOP p++; }
C
bad "pointer max" "2:48: error: reduction variable 'p' of type 'int *': a pointer" <<'C'
void f(int *p) {
#pragma omp target parallel for reduction(max: p)
LOOP p++; }
C
bad "array of pointers" "2:43: error: invalid operands to binary expression ('int *' and 'int *')" <<'C'
void f(void) { int *p[4];
#pragma omp target parallel for reduction(+: p)
LOOP p[0]++; }
C
bad "const" "2:46: error: const-qualified variable cannot be reduction" <<'C'
void f(void) { const int c = 0; int s = 0;
#pragma omp target parallel for reduction(+: c)
LOOP s += c; }
C
bad "zero-length" "2:46: error: reduction variable 'a[1:0]' of type 'int [4]': an array section without elements" <<'C'
void f(void) { int a[4];
#pragma omp target parallel for reduction(+: a[1:0])
LOOP a[1]++; }
C
bad "strided/non contiguous" "2:46: error: reduction variable 'a[0:2][0:2]' of type 'int [4][4]': an array section that does not lie in contiguous storage" <<'C'
void f(void) { int a[4][4];
#pragma omp target parallel for reduction(+: a[0:2][0:2])
LOOP a[1][1]++; }
C
bad "pp[1:2][0:4]" "2:46: error: reduction variable 'p[1:2][0:2]' of type 'int *': only variables and sections of arrays and of what a pointer variable points to can be reduced" <<'C'
void f(int **p) {
#pragma omp target parallel for reduction(+: p[1:2][0:2])
LOOP p[1][1]++; }
C
bad "p[1][0:4]" "2:46: error: reduction variable 'p[1][0:2]' of type 'int *': only variables and sections of arrays and of what a pointer variable points to can be reduced" <<'C'
void f(int **p) {
#pragma omp target parallel for reduction(+: p[1][0:2])
LOOP p[1][1]++; }
C
bad "member" "3:48: error: expected variable name as a base of the array section" <<'C'
struct s { int a[4]; };
void f(struct s s) {
#pragma omp target parallel for reduction(+: s.a[0:2])
LOOP s.a[1]++; }
C
bad "member scalar" "3:48: error: expected variable name, array element or array section" <<'C'
struct s { int a; };
void f(struct s s) {
#pragma omp target parallel for reduction(+: s.a)
LOOP s.a++; }
C
bad "twice" "2:64: error: variable can appear only once in OpenMP 'reduction' clause" <<'C'
void f(int s) {
#pragma omp target parallel for reduction(+: s) reduction(max: s)
LOOP s++; }
C
bad "private and reduction" "2:57: error: reduction variable cannot be private" <<'C'
void f(int s) {
#pragma omp target parallel for reduction(+: s) private(s)
LOOP s++; }
C
bad "for: private in parallel" "4:30: error: reduction variable 's' of 'for' must be shared in the parallel region" <<'C'
void f(int s) {
#pragma omp target
#pragma omp parallel private(s)
#pragma omp for reduction(+: s)
LOOP s++; }
C
bad "for: local of parallel" "4:30: error: reduction variable 's' of 'for' must be shared in the parallel region" <<'C'
void f(void) {
#pragma omp target parallel
{ int s = 0;
#pragma omp for reduction(+: s)
LOOP s++; } }
C
bad "bitwise on float" "2:43: error: invalid operands to binary expression ('float' and 'float')" <<'C'
void f(float s) {
#pragma omp target parallel for reduction(&: s)
LOOP s++; }
C
bad "max on complex" "2:48: error: list item of type '_Complex float' is not valid for specified reduction operation: unable to provide default initialization value" <<'C'
void f(_Complex float s) {
#pragma omp target parallel for reduction(max: s)
LOOP s++; }
C
bad "task modifier with nowait" "3:17: error: 'reduction' with the 'task' modifier and 'nowait' on the same construct" <<'C'
void f(int s) {
#pragma omp target parallel map(s)
#pragma omp for reduction(task, +: s) nowait
LOOP s++; }
C
bad "task modifier on simd" "2:35: error: 'reduction' clause with 'task' modifier allowed only on non-simd parallel or worksharing constructs" <<'C'
void f(int s) {
#pragma omp target simd reduction(task, +: s)
LOOP s++; }
C
bad "task modifier on teams distribute" "2:47: error: 'reduction' clause with 'task' modifier allowed only on non-simd parallel or worksharing constructs" <<'C'
void f(int s) {
#pragma omp target teams distribute reduction(task, +: s)
LOOP s++; }
C
bad "task modifier on loop" "2:34: error: 'reduction' with the 'task' modifier is not allowed on 'target parallel loop'" <<'C'
void f(int s) {
#pragma omp target parallel loop reduction(task, +: s)
LOOP s++; }
C
good "task modifier on target teams distribute parallel for" <<'C'
void f(int s) {
#pragma omp target teams distribute parallel for reduction(task, +: s)
LOOP s++; }
C
bad "unknown modifier" "2:33: error: expected 'default', 'inscan' or 'task' in OpenMP clause 'reduction'" <<'C'
void f(int s) {
#pragma omp target parallel for reduction(mine, +: s)
LOOP s++; }
C
bad "in_reduction without group" "3:34: error: 'in_reduction' variable 's': no 'task_reduction' or 'reduction(task, …)' of it stands around 'task' in this function and parallel region" <<'C'
void f(int s) {
#pragma omp target map(s)
#pragma omp task in_reduction(+: s)
s++; }
C
bad "in_reduction other operator" "4:31: error: in_reduction variable must have the same reduction operation as in a task_reduction clause" <<'C'
void f(int s) {
#pragma omp target map(s)
#pragma omp taskgroup task_reduction(+: s)
#pragma omp task in_reduction(*: s)
s++; }
C
bad "in_reduction behind a parallel" "5:34: error: 'in_reduction' variable 's': no 'task_reduction' or 'reduction(task, …)' of it stands around 'task' in this function and parallel region" <<'C'
void f(int s) {
#pragma omp target map(s)
#pragma omp taskgroup task_reduction(+: s)
#pragma omp parallel
#pragma omp task in_reduction(+: s)
s++; }
C
bad "in_reduction orphaned" "3:34: error: 'in_reduction' variable 's': no 'task_reduction' or 'reduction(task, …)' of it stands around 'task' in this function and parallel region" <<'C'
static int s;
void g(void) {
#pragma omp task in_reduction(+: s)
s++; }
void f(void) {
#pragma omp target map(s)
#pragma omp taskgroup task_reduction(+: s)
g(); }
C
bad "in_reduction of parallel reduction without task" "3:34: error: 'in_reduction' variable 's': no 'task_reduction' or 'reduction(task, …)' of it stands around 'task' in this function and parallel region" <<'C'
void f(int s) {
#pragma omp target parallel reduction(+: s)
#pragma omp task in_reduction(+: s)
s++; }
C
bad "taskloop reduction nogroup" "3:22: error: 'reduction' clause cannot be used with 'nogroup' clause" <<'C'
void f(int s) {
#pragma omp target map(s)
#pragma omp taskloop reduction(+: s) nogroup
LOOP s++; }
C
bad "taskloop reduction and in_reduction" "4:54: error: variable can appear only once in OpenMP 'in_reduction' clause" <<'C'
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
bad "task_reduction long double" "3:41: error: reduction variable 's' of type 'long double': the device has no long double" <<'C'
void f(void) { long double s;
#pragma omp target map(s)
#pragma omp taskgroup task_reduction(+: s)
{ } }
C
bad "detach" "5:18: error: clause 'detach' is not supported yet on 'task' for the device" <<'C'
#include <omp.h>
void f(int s) {
#pragma omp target map(s)
{ omp_event_handle_t e;
#pragma omp task detach(e)
s++; } }
C
bad "UDR without type" "4:43: error: incorrect reduction identifier, expected one of '+', '*', '&', '|', '^', '&&', '||', 'min' or 'max' or declare reduction for type 'struct t'" <<'C'
struct t { int x; };
#pragma omp declare reduction(mine : int : omp_out += omp_in)
void f(struct t s) {
#pragma omp target parallel for reduction(mine: s)
LOOP s.x++; }
C
bad "UDR uses another variable" "2:64: error: only 'omp_in' or 'omp_out' variables are allowed in combiner expression" <<'C'
static int q;
#pragma omp declare reduction(mine : int : omp_out += omp_in + q)
void f(int s) {
#pragma omp target parallel for reduction(mine: s)
LOOP s++; }
C
bad "UDR with omp_priv in combiner" "1:55: error: use of undeclared identifier 'omp_priv'" <<'C'
#pragma omp declare reduction(mine : int : omp_out += omp_priv)
void f(int s) {
#pragma omp target parallel for reduction(mine: s)
LOOP s++; }
C
bad "UDR no omp_priv = " "1:13: error: the initializer of a 'declare reduction' is neither 'omp_priv = …' nor a function call" <<'C'
#pragma omp declare reduction(mine : int : omp_out += omp_in) initializer(omp_orig = 3)
void f(int s) {
#pragma omp target parallel for reduction(mine: s)
LOOP s++; }
C
bad "incomplete array" "3:46: error: a reduction list item with incomplete type 'int[]'" <<'C'
extern int a[];
void f(int s) {
#pragma omp target parallel for reduction(+: a)
LOOP a[0]++; }
C
bad "section beyond" "2:46: error: reduction variable 'a[2:4]' of type 'int [4]': an array section past the end of the array" <<'C'
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
bad "threadprivate" "4:46: error: threadprivate or thread local variable cannot be reduction" <<'C'
static int s;
#pragma omp threadprivate(s)
void f(void) {
#pragma omp target parallel for reduction(+: s)
LOOP s++; }
C
bad "reduction on distribute" "3:24: error: unexpected OpenMP clause 'reduction' in directive '#pragma omp distribute'" <<'C'
void f(int s) {
#pragma omp target teams
#pragma omp distribute reduction(+: s)
LOOP s++; }
C
bad "reduction on target" "2:20: error: unexpected OpenMP clause 'reduction' in directive '#pragma omp target'" <<'C'
void f(int s) {
#pragma omp target reduction(+: s)
s++; }
C
bad "reduction on single" "3:20: error: unexpected OpenMP clause 'reduction' in directive '#pragma omp single'" <<'C'
void f(int s) {
#pragma omp target parallel map(s)
#pragma omp single reduction(+: s)
s++; }
C
bad "in_reduction on target parallel" "3:29: error: unexpected OpenMP clause 'in_reduction' in directive '#pragma omp target parallel'" <<'C'
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
bad "function pointer struct" "2:43: error: invalid operands to binary expression ('void (*)(void)' and 'void (*)(void)')" <<'C'
void f(void (*g)(void)) {
#pragma omp target parallel for reduction(+: g)
LOOP ; }
C
bad "bitint" "2:46: error: reduction variable 'g' of type '_BitInt(37)': not an arithmetic type" <<'C'
void f(_BitInt(37) g) {
#pragma omp target parallel for reduction(+: g)
LOOP g++; }
C
bad "vector" "3:46: error: list item of type 'v4' (vector of 4 'float' values) is not valid for specified reduction operation: unable to provide default initialization value" <<'C'
typedef float v4 __attribute__((vector_size(16)));
void f(v4 g) {
#pragma omp target parallel for reduction(+: g)
LOOP g+=1; }
C
bad "bfloat" "2:46: error: reduction variable 'g' of type '__bf16': not an arithmetic type" <<'C'
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
bad "float128" "3:30: error: __float128 in code that runs on the device, which has none" <<'C'
void f(__float128 g) {
#pragma omp target parallel for reduction(+: g)
LOOP g+=1; }
C
bad "atomic" "2:46: error: list item of type '_Atomic(int)' is not valid for specified reduction operation: unable to provide default initialization value" <<'C'
void f(_Atomic int g) {
#pragma omp target parallel for reduction(+: g)
LOOP g+=1; }
C
finish
