#!/bin/sh
# A file without target constructs: directives about several loops over those that others make.  clang 22 runs a wrong number of iterations, or rejects them.
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
finish
