#!/bin/sh
# clang's warnings are about what the user wrote, at its place, not about the loops that directives generate.
. tests/lib.sh
name='odd "na\me.c'
cat >"$name" <<'C'
enum { N = 12 };
int a[N][N], order[N];
void f(int n)
{
    int i = 1, j = i;
#pragma omp parallel for
#pragma omp tile sizes(4)
    for (int i = 0; i < N; i++) a[i][0] += n;
#pragma omp target parallel for collapse(2) map(a)
#pragma omp tile sizes(4, 2) apply(intratile: reverse, unroll partial(2))
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) a[i][j]++;
#pragma omp for
#pragma omp reverse
    for (i = 0; i < N; i++) order[i] = j;
#pragma omp interchange
    for (i = 0; i < N; i++)
        for (j = 0; j < N; j++) a[i][j]++;
#pragma omp fuse
    {
        for (int i = 0; i < N; i++) order[i]++;
        for (long k = 0; k < N; k++) order[k]++;
    }
#pragma omp split counts(2, omp_fill)
    for (int i = 0; i < N; i++) order[i]++;
#pragma omp unroll partial(2)
    for (int i = 0; i < N; i++) { unsigned u = i; order[i] += u; }
}
C
strict="-Weverything -Wno-unsafe-buffer-usage -Wno-missing-prototypes -Wno-missing-variable-declarations -Wno-declaration-after-statement -Wno-pre-c11-compat"
# shellcheck disable=SC2086
check "compiles" "$CC" --gpu-arch=emu $strict -c "$name" -o f.o
grep -F "$name:" .log | grep -o ':[0-9]*:[0-9]*: warning: .*' >warnings
check "the user's own warnings, and no others" test "$(wc -l <warnings)" = 1
check "... at their places" has warnings "^:27:48: warning: implicit conversion changes signedness: .* to 'unsigned int'"
cat >sink.c <<'C'
int y[8];
void g(int n)
{
#pragma omp target teams distribute parallel for map(y)
#pragma omp tile sizes(2)
    for (int i = 0; i < 8; i++) y[i] = n
}
C
check "an error in the body is at its place" test_must_fail 1 "$CC" --gpu-arch=emu -c sink.c
cp .log err
check "..." has err 'sink\.c:6:41: error: expected .;'
finish
