#!/bin/sh
# Clauses on which clang 22 hangs are found without it, and only those (frontend/clang22.c).  OMPGPU_LONG: it really does.
. tests/lib.sh
endless="adjust_args append_args apply collector combiner counts device_safesync graph_id graph_reset inbranch indirect induction
inductor init_complete initializer interop link local memory_order memscope notinbranch otherwise replayable safesync transparent"
SPLIT=$(dirname "$CC")/../lib/ompgpu/omp-split
target='
#pragma omp target
{ }'
# endless NAME PLACE CLAUSE <SOURCE: the only error names the clause
endless() {
    cat >e.c; rm -f e.o
    # shellcheck disable=SC2086
    check "$1" test_must_fail 1 in_time "$CC" $ARCH -c e.c
    cp .log err
    check "$1: what is said" error_at err "$2" "'$3'|clang"
    check "$1: nothing else" [ "$(grep -c error: err)" = 1 -a ! -e e.o ]
}
endless "allowed by clang, which says nothing" e.c:3:22 replayable <<C
void f(void) {
int n = 1;
#pragma omp taskwait replayable
n++; $target
}
C
endless "not allowed" e.c:3:21 memscope <<C
void f(int n) {
#pragma omp parallel if(n > 1) \\
    num_threads(2), memscope(all)
n++; $target
}
C
endless "_Pragma, a macro" e.c:3:1 memscope <<C
#define RECORD(id) _Pragma("omp taskgroup memscope(all)")
void f(int n) {
RECORD(1)
n++; $target
}
C
cat >def.h <<'C'
#define SAFE replayable
C
endless "a clause from a header" e.c:3:22 replayable <<C
#include "def.h"
void f(int n) {
#pragma omp taskwait SAFE
n++; $target
}
C
endless "a file without target constructs" e.c:2:24 replayable <<'C'
void f(int n) {
#pragma omp   taskwait replayable
n++;
}
C
cat >inner.h <<'C'
static void g(int n) {
#pragma omp taskwait \
  replayable(1)
n++; }
C
# clang has longer for a file that does not name OpenMP; in the short form only the second of these two is one.
names='/* omp */'
[ -z "${OMPGPU_LONG:-}" ] || names=
endless "a header of such a file" ./inner.h:3:3 replayable <<C
#include "inner.h" $names
void f(int n) { g(n); }
C
endless "after a map without an argument" e.c:2:56 link <<C
struct s { int n; };
#pragma omp declare mapper(m: struct s s) map(s.n) map link(s.n)
void f(int n) { 
}
C
cat >task.h <<'C'
static int g(int n) {
#pragma omp task transparent(1) shared(n)
n++;
return n; }
C
cat >e.c <<'C'
#include "task.h"
int main(void) { return g(1) != 2; }
C
compile_run "a construct of a header that becomes another" e.c
cat >w.c <<C
int main(void) {
int x = 0, unused; $target
#pragma omp task transparent
x++;
return x; }
C
check "what is checked instead is said" "$CC" $ARCH -Wall -c w.c
cp .log err
check "the warning" has err "^w.c:2:12: warning: .*unused"
echo 'void f(void) { none = 1; }' >>w.c
check "an error in it" test_must_fail 1 "$CC" $ARCH -c w.c
cp .log err
check "the error" error_at err w.c:8:16 none
check "the error: nothing else" [ "$(grep -c 'error: ' err)" = 1 -a "$(grep -c 'note: ' err)" = 0 ]
cat >e.c <<C
int f(void) {
y = 1;
int a[4];
#pragma omp unroll full apply(x)
for (int i = 0; i < 4; i++) a[i] = 0;
return a[1]; $target
}
C
check "an error beside it" test_must_fail 1 in_time "$CC" $ARCH -c e.c
cp .log err
check "an error beside it: what is said" error_at err e.c:2:1 y
cat >e.c <<C
#error no
void f(void) {
#pragma omp parallel memscope(all)
{ } $target
}
C
in_time "$CC" $ARCH -c e.c 2>err
check "a file that cannot be preprocessed" [ $? = 1 ] && check "… says why" has err "^e.c:1:2: error: no$"
# One line each; the screen sees them all.
{
    n=1
    echo 'int (*a[2])(int), b, n; void *o;'
    for c in $endless; do n=$((n + 1)); echo "#pragma omp parallel for if(a[1](b)) $c(x)"; done
    cat <<'C'
#pragma omp cancel parallel transparent
#pragma omp cancellation point for transparent
#pragma omp critical (name) transparent
#pragma omp flush(n) transparent
#pragma omp allocate(n) transparent
#pragma omp requires device_safesync
#pragma omp scan inclusive(n) transparent
#pragma omp interop init(target: o) interop(o)
#pragma omp dispatch interop(o)
#pragma omp metadirective when(user={condition(1)}: parallel transparent)
#pragma omp metadirective when(device={kind(gpu)}: parallel if(n)) otherwise(task nowait transparent)
#pragma omp begin assumes absent(parallel)
#pragma omp assume safesync
#pragma omp target teams distribute parallel for simd safelen(4) indirect
C
} >all.i
screen() { "$SPLIT" --path x.c --screen "$1" 2>err; [ $? = "$2" ] && [ "$(grep -c 'error:' err)" = "$3" ] || { cat err; return 1; }; }
check "every word, many directives" screen all.i 5 36
cat >none.i <<'C'
int n(void);
#pragma omp declare target enter(n) device_type(any) indirect
#pragma omp begin declare target indirect
#pragma omp end declare target
#pragma omp declare reduction(x: int: omp_out += omp_in) initializer(omp_priv = 0)
#pragma omp declare simd notinbranch
#pragma omp declare simd simdlen(4) inbranch
#pragma omp declare variant(g) match(construct={dispatch}) append_args(interop(target))
#pragma omp metadirective when(user={condition(1)}: parallel) otherwise(parallel)
#pragma omp parallel private(transparent, local) shared(link)
#pragma omp parallel for schedule(static, counts) firstprivate(apply) reduction(+: induction)
#pragma omp parallel unknown transparent
#pragma omp unknown transparent
#pragma omp critical (transparent)
#pragma omp interop init(target: interop)
#pragma omp assumes transparent
#pragma omp nothing transparent
#pragma GCC transparent
#pragma transparent omp task transparent
#pragma ompx task transparent
const char *s = "#pragma omp task transparent";
C
check "the same words elsewhere" screen none.i 0 0
cat >words.c <<'C'
/* #pragma omp task transparent */
#include <stdio.h>
#define transparent(x) private(x)
#define link if(1)
#define local(x) x
#if 0
#pragma omp task safesync
#endif
int apply(int counts) { return counts + 1; }
int main(void)
{
    int interop = 0, otherwise = 0, safesync = 4;
    const char *s = "\n#pragma omp task transparent\n";
#pragma omp parallel transparent(otherwise) link
    otherwise = 1; /* transparent */
#pragma omp target map(interop) firstprivate(safesync)   // transparent
    {
#pragma omp parallel for num_threads(local(4)) reduction(+: interop)
        for (int memscope = 0; memscope < safesync; memscope++) interop += memscope;
    }
    printf("%d %d%s", interop, apply(otherwise), s);
    return interop != 6;
}
C
compile_run "names, strings, comments, macros, #if 0" words.c
sed '/target/,/{/d; /parallel for/,/}/d; s/interop != 6/0/' words.c >plain.c
compile_run "… in a file without target constructs" plain.c
# clang takes one ordered region in the text of a loop
cat >ordered.c <<'C'
int main(void)
{
    int a[300], n = 0, bad = 0;
#pragma omp parallel for ordered schedule(dynamic) num_threads(4)
    for (int i = 0; i < 300; i++) {
        if (i % 3) {
#pragma omp ordered
            a[n++] = i;
        } else {
#pragma omp ordered threads
            { a[n++] = i; }
        }
    }
    for (int i = 0; i < 300; i++) bad += a[i] != i;
    return bad;
}
C
compile_run "two ordered regions in a loop of the host" ordered.c

if [ -n "${OMPGPU_LONG:-}" ]; then
    for c in $endless; do
        printf 'void f(int n) {\n#pragma omp parallel %s(n)\nn++;\n}\n' "$c" >c.c
        timeout 2 "$CLANG" -fsyntax-only -fopenmp -fopenmp-version=60 -w c.c >log 2>&1
        check "clang hangs on $c" [ $? = 124 ]
    done
    while IFS= read -r line; do
        case $line in '#pragma omp'*) ;; *) continue ;; esac
        case $line in *declare* | *assumes*) printf 'int n; int g(int);\n%s\nint f(int x) { return x; }\n' "$line" ;;
        *) printf 'void f(int n) { int a[9];\n%s\nfor (int i = 0; i < 9; i++) a[i] = n;\n}\n' "$line" ;; esac >c.c
        timeout 10 "$CLANG" -fsyntax-only -fopenmp -fopenmp-version=60 -w c.c >log 2>&1
        check "clang ends on ${line#?}" [ $? -le 1 ]
    done <none.i
fi
finish
