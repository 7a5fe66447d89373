#!/bin/sh
# Mistakes that the compiler sees with -Wall: each is said at its place, under its own name, and its mended twin (-DMENDED) is silent.
. tests/lib.sh
flags="--gpu-arch=emu -Wall -fsyntax-only"
silent_when() { # FLAGS…
    # shellcheck disable=SC2086
    "$CC" $flags "$@" t.c >out 2>&1 && [ ! -s out ] || { cat out; return 1; }
}
# mistake NAME PLACE WORDS <SOURCE
mistake() {
    cat >t.c
    # shellcheck disable=SC2086
    "$CC" $flags t.c 2>err; rc=$?
    check "$2" [ $rc = 0 ] && check "$2: what is said" mentions "$(grep warning: err)" "t.c:$2: warning: |$3|[-Wompgpu-$1]"
    check "$2: once" [ "$(grep -c 'warning:' err)" = 1 ] || show err
    check "$2: mended" silent_when -DMENDED
    check "$2: -Wno-ompgpu-$1" silent_when "-Wno-ompgpu-$1"
}
mistake lost 9:5 "'found'|map(tofrom: found)" <<'C'
#ifdef MENDED
#define MAP map(tofrom: found)
#else
#define MAP
#endif
int f(int *a) {
    int found = 0, own = 0;
#pragma omp target map(to: a[0:10]) MAP
    found = a[3] == 4, own = 1;
    own = 2;
    return found + own;
}
C
check "an error" test_must_fail 1 "$CC" $flags -Werror=ompgpu-lost t.c
cp .log err
check "... by its name" has err 't.c:9:5: error: .*-Werror,-Wompgpu-lost\]'
check "not with -Wno-error=" "$CC" $flags -Werror -Wno-error=ompgpu-lost t.c
check "not without -Wall" "$CC" --gpu-arch=emu -Werror -fsyntax-only t.c
mistake lost 5:33 "'n'" <<'C'
int f(void) {
    int n = 0;
#ifndef MENDED
#pragma omp target
    for (int i = 0; i < 9; i++, n++)
#else
#pragma omp target map(n)
    for (int i = 0; i < 9; i++, n++)
#endif
    ;
    return n;
}
C
mistake lost-reduction 6:23 "'s'|map(tofrom: s)" <<'C'
int f(void) {
    int s = 0;
#ifndef MENDED
#pragma omp target
#pragma omp teams distribute parallel for \
                      reduction(+: s)
#else
#pragma omp target teams distribute parallel for reduction(+: s)
#endif
    for (int i = 0; i < 10; i++)
        s += i;
    return s;
}
C
mistake limits 4:35 "2048|1024" <<'C'
void f(int *a) {
#pragma omp target map(a[0:10])
#ifndef MENDED
#pragma omp parallel for simd     num_threads(2048)
#else
#pragma omp parallel for simd     num_threads(1024)
#endif
    for (int i = 0; i < 10; i++)
        a[i]++;
}
C
mistake limits 3:26 "1025" <<'C'
void f(int *a) {
#ifndef MENDED
#pragma omp target teams thread_limit(1025) map(a[0:10])
#else
#pragma omp target teams thread_limit(1024) map(a[0:10])
#endif
    a[0] = 1;
}
C
mistake unmapped 7:36 "'p'|map(p" <<'C'
#include <stdlib.h>
void f(int n) {
    int *p = (int *)malloc(sizeof *p * n), *q = calloc(4, 4);
    if (p == NULL || !q) return;
#ifndef MENDED
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++)    p[i] = i;
#else
#pragma omp target teams distribute parallel for map(p[0:n])
    for (int i = 0; i < n; i++)    p[i] = i;
#endif
    p[1] = *q;
    free(p), free(q);
}
C
# No mistakes: a copy that the program asks for, another variable of the name, what the program does not read again.
cat >t.c <<'C'
int f(int *a) {
    int asked = 1, scratch, inner = 0, all = 0, s = 0;
#pragma omp target firstprivate(asked) map(a[0:10])
    a[0] = asked++;
#pragma omp target map(a[0:10])
    a[1] = scratch = a[0];
    scratch = 5;
#pragma omp target map(a[0:10])
    {
        int inner = a[2];
        inner++;
#pragma omp parallel for private(s)
        for (int i = 0; i < 10; i++)
            s = i, a[i] = s + inner;
    }
#pragma omp target defaultmap(tofrom: scalar)
    all++;
#pragma omp target teams distribute parallel for reduction(+: s)
    for (int i = 0; i < 10; i++)
        s++;
    return asked + scratch + inner + all + s;
}
void elsewhere(int *);
void g(int *parameter) {
    int *data = malloc(40), *handed = malloc(40), *alias = malloc(40), *other = alias, *on_host = malloc(40);
    elsewhere(handed);
#pragma omp target data map(data[0:10]) map(other[0:10])
#pragma omp target
    data[1] = handed[1] + parameter[1] + alias[1];
#pragma omp target if(0)
    on_host[0] = 1;
    free(data), free(handed), free(alias), free(on_host);
}
C
sed '1i #include <stdlib.h>' t.c >h.c && mv h.c t.c
check "no mistakes" silent_when -Wompgpu-lost -Wompgpu-lost-reduction -Wompgpu-unmapped -Wompgpu-limits
# Mistakes that are errors: refused PLACE WORDS <SOURCE
refused() {
    cat >t.c
    # shellcheck disable=SC2086
    check "$1: is refused" test_must_fail 1 "$CC" $flags t.c
    cp .log err
    check "$1: what is said" mentions "$(grep -m1 error: err)" "t.c:$1: error: |$2"
    check "$1: mended" silent_when -DMENDED
}
refused 3:32 "'p[:]'" <<'C'
void f(int *p, int n) {
#ifndef MENDED
#pragma omp target map(tofrom: p[:])
#else
#pragma omp target map(tofrom: p[:n])
#endif
    p[0] = n;
}
C
refused 4:30 "'a[50:60]'" <<'C'
int f(void) {
    int a[100];
#ifndef MENDED
#pragma omp target map(from: a[50:60])
#else
#pragma omp target map(from: a[50:50])
#endif
    a[60] = 1;
    return a[60];
}
C
refused 4:71 "'s'" <<'C'
int f(void) {
    int s[10] = { 0 };
#ifndef MENDED
#pragma omp target teams distribute parallel for reduction(+: s[0:4], s[5:2])
#else
#pragma omp target teams distribute parallel for reduction(+: s[0:7])
#endif
    for (int i = 0; i < 100; i++)
        s[i % 4] += i;
    return s[1];
}
C
refused 6:1 "nested" <<'C'
void f(int *a) {
#pragma omp target data map(a[0:10])
#ifndef MENDED
#pragma omp target
#endif
#pragma omp target
    a[0]++;
}
C
refused 5:1 "nested" <<'C'
void f(int *a) {
#pragma omp target parallel for map(a[0:10])
    for (int i = 0; i < 10; i++) {
#ifndef MENDED
#pragma omp barrier
#endif
        a[i]++;
    }
}
C
refused 3:44 "private" <<'C'
void f(int *a) {
#ifndef MENDED
#pragma omp target map(to: a[0:9]) private(a)
#else
#pragma omp target map(tofrom: a[0:9])
#endif
    a[0]++;
}
C
# Misspelt words, on constructs of the host, too: errors with a suggestion.
refused 3:20 "'mapp'|'map'" <<'C'
int f(int x) {
#ifndef MENDED
#pragma omp target mapp(tofrom: x)
#else
#pragma omp target map(tofrom: x)
#endif
    x++;
    return x;
}
C
refused 3:37 "'paralel'|'parallel'" <<'C'
void f(void) {
#ifndef MENDED
#pragma omp target teams distribute paralel for
#else
#pragma omp target teams distribute parallel for
#endif
    for (int i = 0; i < 10; i++);
}
C
refused 3:26 "'schedul'|'schedule'" <<'C'
void f(void) {
#ifndef MENDED
#pragma omp parallel for schedul(static)
#else
#pragma omp parallel for schedule(static)
#endif
    for (int i = 0; i < 10; i++);
#pragma omp target
    ;
}
C
printf 'void f(void) {\n#pragma omp target nothing_like_it\n;\n}\n' >t.c
# shellcheck disable=SC2086
check "no suggestion" test_must_fail 1 "$CC" $flags t.c
cp .log err
check "... where nothing is near" sh -c "grep 't.c:2:20: error: .*nothing_like_it' err | grep -v 'did you mean'"
finish
