#!/bin/sh
# A region that uses an address of the host: the message names the pointer that leads there, and the clause that would map it; mended it is silent.
. tests/lib.sh
OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY; export OMPGPU_DEVICE OMP_TARGET_OFFLOAD
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0; export ASAN_OPTIONS # the programs free nothing
silent_run() { in_time ./prog mended 2>err && [ ! -s err ] || { cat err; return 1; }; }
says() { test_must_fail 1 in_time ./prog 2>err && mentions "$(cat err)" "$1" && [ "$(grep -c 'error:' err)" = 1 ] || { cat err; return 1; }; }
# leads NAME WORDS <STATEMENTS, of which DATA is around those that use `mended`
leads() {
    {
        cat <<'C'
#include <omp.h>
#include <stdlib.h>
enum { N = 10 };
struct vector { int n; double *x; } v;
struct node { int value; struct node *next; };
int a[N];
int main(int n, char **args)
{
    const int mended = n > 1;
    double *p = calloc(N, sizeof *p), *q = p;
    (void)args, (void)q;
C
        cat
        printf '    return 0;\n}\n'
    } >t.c
    line=$(grep -n '/\* here \*/' t.c | cut -d: -f1)
    for flags in -O0 -O2 "-O2 -fompgpu-check"; do
        # shellcheck disable=SC2086
        check "$1, $flags: compiles" "$CC" -w $flags --gpu-arch=emu t.c -o prog
        check "... is said" says "memory of the host, at line $line, column|$2"
        check "... mended" silent_run
    done
}
leads "a pointer that no clause names" "'p' leads there: map(tofrom: p[0:n])" <<'C'
#pragma omp target data if(mended) map(tofrom: p[0:N])
#pragma omp target
    p[2] += 1; /* here */
C
leads "a member" "the pointer at byte 8 of 'v' leads there|map(s.p[0:n])" <<'C'
    v.n = N, v.x = p;
#pragma omp target enter data map(to: v)
    if (mended) {
#pragma omp target enter data map(to: v.x[0:N])
    }
#pragma omp target
    v.x[3] = 1; /* here */
C
leads "a row of a matrix" "byte 16 of 'm[0:3]' leads there" <<'C'
    double *m[3] = { calloc(N, sizeof **m), calloc(N, sizeof **m), p };
#pragma omp target enter data map(to: m[0:3])
    for (int i = 0; i < (mended ? 3 : 2); i++) {
#pragma omp target enter data map(to: m[i][0:N])
    }
#pragma omp target map(to: m[0:3])
    for (int i = 0; i < 3; i++)
        m[i][0] = i; /* here */
C
leads "is_device_ptr" "is_device_ptr(p) passes an address of the host|map(tofrom: p[0:n]) in its place" <<'C'
    p = mended ? omp_target_alloc(N * sizeof *p, omp_get_default_device()) : p;
#pragma omp target is_device_ptr(p)
    p[2] = 1; /* here */
C
leads "firstprivate" "firstprivate(p) passes an address of the host|map(tofrom: p[0:n]) in its place" <<'C'
    p = mended ? omp_target_alloc(N * sizeof *p, omp_get_default_device()) : p;
#pragma omp target firstprivate(p)
    p[2] = 1; /* here */
C
leads "has_device_addr" "has_device_addr(a) passes an address of the host|map(tofrom: a) in its place" <<'C'
    if (mended) {
#pragma omp target data map(tofrom: a) use_device_addr(a)
#pragma omp target has_device_addr(a)
        a[1] = 1;
        return 0;
    }
#pragma omp target has_device_addr(a)
    a[1] = 1; /* here */
C
leads "use_device_ptr" "is_device_ptr(p) passes|'target data use_device_ptr(p)' at t.c:13 found nothing mapped there" <<'C'
#pragma omp target data if(mended) map(tofrom: p[0:N])
#pragma omp target data use_device_ptr(p)
#pragma omp target is_device_ptr(p)
    p[2] = 1; /* here */
C
leads "use_device_addr" "is_device_ptr(d) passes|'target data use_device_addr(a)' at t.c:14 found nothing mapped there" <<'C'
    int *d;
#pragma omp target data if(mended) map(tofrom: a)
#pragma omp target data use_device_addr(a)
    d = a;
    if (mended) {
#pragma omp target enter data map(to: a)
#pragma omp target data use_device_addr(a)
        d = a;
    }
#pragma omp target is_device_ptr(d)
    d[2] = 1; /* here */
C
leads "nowait" "'p' leads there: map(tofrom: p[0:n])" <<'C'
#pragma omp target data if(mended) map(tofrom: p[0:N])
    {
#pragma omp target nowait
        p[2] += 1; /* here */
#pragma omp taskwait
    }
C
# Neither a place of the compiler's own text nor one of ompgpu_device.h.
cat >t.c <<'C'
#include <stdlib.h>
int main(void)
{
    int n = 4;
    double **m = malloc(n * sizeof *m);
    for (int i = 0; i < n; i++) m[i] = calloc(n, 8);
#pragma omp target teams distribute parallel for collapse(2) map(to: m[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            m[i][j] = i + j;
    return 0;
}
C
for flags in -O0 -O2 "-O2 -g"; do
    # shellcheck disable=SC2086
    check "$flags: compiles" "$CC" -w $flags --gpu-arch=emu t.c -o prog
    check "... a line of the user's" says "byte 0 of 'm[0:n]' leads there"
    check "..." has err 'at line \(7\|10, column [0-9]*\) (team'
done
finish
