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
