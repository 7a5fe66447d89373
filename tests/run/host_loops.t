#!/bin/sh
# Files without target constructs, which clang 22 compiles wrongly or rejects: directives about several loops over those that others make; clauses.
# shellcheck disable=SC1091
. tests/lib.sh
cat >loops.c <<'C'
#include <stdio.h>
int main(void)
{
    int a = 0, b = 0, c = 0, d = 0;
#pragma omp parallel for collapse(2) reduction(+ : a)
#pragma omp tile sizes(2)
    for (int i = 0; i < 7; i++)
        a++;
#pragma omp parallel for collapse(3) reduction(+ : b)
    for (int i = 0; i < 6; i++)
#pragma omp tile sizes(2)
        for (int j = 0; j < 5; j++)
            b++;
#pragma omp teams distribute collapse(2) reduction(+ : c)
#pragma omp tile sizes(4)
    for (int i = 0; i < 6; i++)
        c++;
#pragma omp simd reduction(+ : d)
#pragma omp unroll partial(2)
    for (int i = 0; i < 9; i++)
        d++;
    printf("%d %d %d %d\n", a, b, c, d);
}
C
cat >singly.c <<'C'
#include <stdio.h>
enum { N = 7 };
static int a[N], b[N], c[N], d[N], e[N];
static void host(void)
{
#pragma omp teams distribute parallel for schedule(static, 1) num_teams(2) num_threads(2)
    for (int i = 0; i < N; i++) a[i]++;
#pragma omp teams num_teams(1)
#pragma omp distribute parallel for simd schedule(simd: static, 1) dist_schedule(static, 4) if(parallel: 0)
    for (int i = 0; i < N; i++) b[i]++;
}
#ifdef REGIONS
static void regions(void)
{
#pragma omp target teams distribute parallel for schedule(static, 1) map(tofrom: c) default(shared)
    for (int i = 0; i < N; i++) c[i]++;
#pragma omp target map(d)
#pragma omp teams thread_limit(1)
#pragma omp distribute parallel for schedule(monotonic: static, 1) num_threads(1)
    for (int i = 0; i < N; i++) d[i]++;
#pragma omp target parallel for schedule(static, 1) num_threads(2) map(e)
    for (int i = 0; i < N; i++) e[i]++;
}
#else
static void regions(void)
{
    for (int i = 0; i < N; i++) c[i]++, d[i]++, e[i]++;
}
#endif
int main(void)
{
    host();
    regions();
    for (int i = 0; i < N; i++) printf("%d%d%d%d%d ", a[i], b[i], c[i], d[i], e[i]);
    return 0;
}
C
singly() { [ "$(OMP_NUM_THREADS=$1 OMP_TARGET_OFFLOAD=DISABLED ./singly)" = "11111 11111 11111 11111 11111 11111 11111 " ]; }
for flags in -O0 -O2 "-O2 -DREGIONS" "-O1 -DREGIONS --host-cc=gcc"; do
    # shellcheck disable=SC2086
    check "static, 1: compiles, $flags" "$CC" $flags singly.c -o singly
    for threads in 1 3; do check "static, 1: all iterations in $threads threads, $flags" singly $threads; done
done
# last values of loops whose threads could take iterations from one another
cat >last.c <<'C'
#include <stdio.h>
enum { TIMES = 100 };
static int wrong;
static void host(int n, int size)
{
    int a = -1, b = -1, d = -1, k = -1;
    long l = 0, m = 0;
#pragma omp parallel for num_threads(3) schedule(dynamic) lastprivate(a) linear(l: 2)
    for (int i = 0; i < n; i++) a = i;
#pragma omp parallel num_threads(3)
#pragma omp for simd schedule(simd, nonmonotonic: dynamic, size) lastprivate(b) linear(m)
    for (int i = 0; i < n; i++) b = i;
#pragma omp parallel for num_threads(3) schedule(monotonic: dynamic, 3) lastprivate(d)
    for (int i = 0; i < n; i++) d = i;
#pragma omp parallel num_threads(3)
#pragma omp for simd schedule(dynamic)
    for (k = 0; k < n; k++) ;
    wrong += a != n - 1 || b != n - 1 || d != n - 1 || k != n;
#ifdef __clang__ /* gcc loses these */
    wrong += (l != 2 * n - 2 && l != 2 * n) || (m != n - 1 && m != n);
#else
    (void)l, (void)m;
#endif
}
#ifdef REGIONS
static void regions(int n)
{
    int a = -1, b = -1;
#pragma omp target teams distribute parallel for num_threads(3) schedule(dynamic, 1) lastprivate(a) map(tofrom: a)
    for (int i = 0; i < n; i++) a = i;
#pragma omp target map(tofrom: b)
#pragma omp parallel for num_threads(3) schedule(nonmonotonic: dynamic) lastprivate(b)
    for (int i = 0; i < n; i++) b = i;
    wrong += a != n - 1 || b != n - 1;
}
#else
#define regions(n) 0
#endif
int main(void)
{
    for (int k = 0; k < TIMES; k++)
        host(3000 + k, 1), regions(3000 + k);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
C
for flags in -O0 -O2 "-O2 -DREGIONS" "-O1 -DREGIONS --host-cc=gcc"; do
    # shellcheck disable=SC2086
    check "last values: compiles, $flags" "$CC" -Werror -Wall $flags last.c -o last
    check "last values, $flags" env OMP_TARGET_OFFLOAD=disabled ./last
done
for level in -O0 -O2; do
    check "compiles, $level" "$CC" $level loops.c -o loops
    check "all iterations, $level" sh -c '[ "$(./loops)" = "7 30 6 9" ]'
done
cat >clauses.c <<'C'
#include <stdio.h>
static int x;
static void last(int n)
{
#pragma omp parallel for lastprivate(conditional: x)
    for (int i = 0; i < 16; i++)
        if (i == n) x = n + 100;
}
static int filtered(int chosen)
{
    int n = 0;
#pragma omp parallel num_threads(2)
#pragma omp masked taskloop filter(chosen) shared(n)
    for (int i = 0; i < 9; i++) {
#pragma omp atomic
        n++;
    }
    return n;
}
int main(void)
{
    int v, y = 1;
    last(10);
    last(3);
#pragma omp atomic update capture
    { v = y; y++; }
    int m = 0;
#pragma omp parallel masked filter(2) num_threads(2)
    m = 1;
    printf("%d %d %d %d %d %d\n", x, filtered(1), filtered(2), m, v, y);
}
C
check "clauses: compiles" "$CC" -O1 clauses.c -o clauses
check "clauses: right" sh -c '[ "$(./clauses)" = "103 9 0 0 1 2" ]'
finish
