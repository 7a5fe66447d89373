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
mistake lost 9:37 "'y'|line 10|map(tofrom" <<'C'
#include <stdlib.h>
double f(int n, double *x) {
    double *y = calloc(n, 8), last;
#ifndef MENDED
#pragma omp target teams distribute parallel for map(to: x[0:n], y[0:n])
#else
#pragma omp target teams distribute parallel for map(to: x[0:n]) map(tofrom: y[0:n])
#endif
    for (int i = 0; i < n; i++)     y[i] = 2 * x[i];
    last = y[n - 1];
    free(y);
    return last;
}
C
mistake lost 7:34 "'a'|line 13" <<'C'
int f(void) {
    int a[100] = { 0 };
#pragma omp target enter data map(to: a)
#pragma omp target teams distribute parallel for
    for (int i = 0; i < 100; i++) a[i] = i;
#pragma omp target teams distribute parallel for
    for (int i = 1; i < 99; i++) a[i] = 3;
#ifndef MENDED
#pragma omp target exit data map(release: a)
#else
#pragma omp target exit data map(from: a)
#endif
    return a[7];
}
C
mistake lost 4:69 "'s'|line 9" <<'C'
int f(const int *a, int n) {
    int s = 0;
#ifndef MENDED
#pragma omp target teams distribute parallel for map(to: s, a[0:n]) reduction(+: s)
#else
#pragma omp target teams distribute parallel for map(to: a[0:n]) map(s) reduction(+: s)
#endif
    for (int i = 0; i < n; i++) s += a[i];
    return s;
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
mistake uninitialized 5:45 "'a'|map(tofrom: …)" <<'C'
int f(void) {
    int a[100], b[100];
#ifndef MENDED
#pragma omp target teams distribute parallel for map(from: a, b)
    for (int i = 0; i < 100; i++) b[i] = 1, a[i] += i;
#else
#pragma omp target teams distribute parallel for map(tofrom: a) map(from: b)
    for (int i = 0; i < 100; i++) b[i] = 1, a[i] += i;
#endif
    return a[7] + b[7];
}
C
mistake uninitialized 7:28 "'p'|map(to: …)" <<'C'
#include <stdlib.h>
int f(int n) {
    int *p, s = 0;
    p = malloc(n * sizeof *p);
#ifndef MENDED
#pragma omp target map(alloc: p[0:n]) map(tofrom: s)
    (void)(p != NULL), s = p[3] + p[4];
#else
#pragma omp target map(to: p[0:n]) map(tofrom: s)
    (void)(p != NULL), s = p[3] + p[4];
#endif
    free(p);
    return s;
}
C
mistake uninitialized 5:15 "'a'" <<'C'
int f(void) {
    int a[4], r;
#ifndef MENDED
#pragma omp target map(from: r)
    r = 1 + 2*a[0];
#else
    a[0] = 1;
#pragma omp target map(from: r)
    r = 1 + 2*a[0];
#endif
    return r;
}
C
mistake uninitialized 10:22 "'x'" <<'C'
struct pair { int x, y; };
void f(int *r) {
#pragma omp parallel num_threads(2)
    {
        int x, first;
#ifdef MENDED
        x = 2;
#endif
#pragma omp target teams distribute parallel for map(from: r[0:9]) private(first)
        for (int i = x; i < 9; i++) r[i] = first = i;
    }
}
C
mistake uninitialized 7:12 "'p'" <<'C'
int f(int *r) {
    struct pair { int x, y; } p;
#ifdef MENDED
    p.x = 3;
#endif
#pragma omp target firstprivate(p) map(from: r[0:1])
    r[0] = p.x;
    return r[0];
}
C
cat >t.c <<'C'
int f(int *r) {
    int x, y;
#pragma omp target map(from: r[0:1])
    r[0] = x;
#pragma omp target teams distribute parallel for map(from: r[0:9]) firstprivate(y)
    for (int i = 0; i < 9; i++) r[i] = y + i;
    return r[0];
}
C
check "compiles" "$CC" $flags t.c
grep warning: .log >err
check "clang's own words of scalars that are taken by value" mentions "$(cat err)" "t.c:4:12|'x'|t.c:5:|'y'|[-Wuninitialized]"
check "... once each" [ "$(grep -c . err)" = 2 ]
mistake dependence 5:47 "'a'|'parallel for'" <<'C'
void f(double *a, const double *b, int n) {
#ifndef MENDED
#pragma omp target teams map(a[0:n], b[0:n]) num_teams(2)
#pragma omp parallel for
    for (int i = 1; i < n; i++) a[i] = b[i] + a[i - 1];
#else
#pragma omp target map(a[0:n], b[0:n])
    for (int i = 1; i < n; i++) a[i] = b[i] + a[i - 1];
#endif
}
C
mistake dependence 7:23 "'m'" <<'C'
int m[100][100];
void f(void) {
#pragma omp target teams distribute parallel for map(m)
    for (int i = 98; i >= 0; i--)
        for (int j = 0; j < 100; j++)
#ifndef MENDED
            m[i][j] = m[1 + i][j];
#else
            m[i][j] = m[i][j] + m[99][j];
#endif
}
C
mistake dependence 9:13 "'s'|reduction" <<'C'
int f(const int *a, int n) {
    int s = 0;
#ifndef MENDED
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n]) map(s)
#else
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n]) map(s) reduction(+: s)
#endif
    for (int i = 0; i < n; i++) for (int j = 0; j < 2; j++)
            s += a[i] * j;
    return s;
}
C
mistake dependence 8:9 "element of 'c'" <<'C'
void f(double *c, const double *a, int n) {
#ifndef MENDED
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*n]) map(c[0:n])
#else
#pragma omp target teams distribute parallel for map(to: a[0:n*n]) map(c[0:n])
#endif
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
        c[i] += a[i * n + j];
}
C
mistake dependence 12:45 "'t'|private(t)" <<'C'
void f(double *c, const double *a, int n) {
    double t = 1;
#ifndef MENDED
#pragma omp target map(to: a[0:n*n]) map(c[0:n]) private(t)
#pragma omp teams distribute parallel for
#else
#pragma omp target map(to: a[0:n*n]) map(c[0:n])
#pragma omp teams distribute parallel for private(t)
#endif
    for (int i = 0; i < n; i++) {
        t = 0;
        for (int j = 0; j < n; j++)         t += a[i * n + j];
        c[i] = t;
    }
}
C
mistake dependence 10:9 "'t'|private(t)" <<'C'
void f(double *c, const double *a, int n) {
    double t;
#ifndef MENDED
#pragma omp target teams distribute parallel for map(to: a[0:n]) map(c[0:n])
#else
#pragma omp target teams distribute parallel for map(to: a[0:n]) map(c[0:n]) private(t)
#endif
    for (int i = 0; i < n; i++)
    {
        t = a[i];
        c[i] = t * t;
    }
}
C
mistake dependence 4:33 "element of 'c'" <<'C'
void f(double *c, const double *a, int n) {
#ifndef MENDED
#pragma omp target teams distribute parallel for map(to: a[0:n]) map(c[0:n])
    for (int i = 0; i < n; i++) c[0] = a[i];
#else
#pragma omp target teams distribute parallel for map(to: a[0:n]) map(c[0:n])
    for (int i = 0; i < n; i++) c[i] = a[0];
#endif
}
C
mistake uninitialized 9:40 "'base'|firstprivate(base)" <<'C'
int f(int n, int *a) {
    int base = 10, own;
#ifndef MENDED
#pragma omp target teams distribute parallel for map(from: a[0:n]) private(base, own)
#else
#pragma omp target teams distribute parallel for map(from: a[0:n]) firstprivate(base) private(own)
#endif
    for (int i = 0; i < n; i++)
        a[i] = own = (i > 3 ? 1 : 2) * base;
    return a[0];
}
C
mistake one-thread 6:5 "one thread" <<'C'
void f(double *a, int n) {
#ifndef MENDED
#pragma omp target map(a[0:n])
    /* to be moved */
    // iteration by iteration
    for (int i = 0; i < n; i++) a[i] = 2 * a[i];
#else
#pragma omp target teams distribute parallel for map(a[0:n])
    for (int i = 0; i < n; i++) a[i] = 2 * a[i];
#endif
}
C
mistake one-team 6:5 "'weigh'" <<'C'
#ifndef MENDED
double weigh(int); /* in another file: it may ask for its thread */
void f(double *a, int n) {
#pragma omp target parallel for map(a[0:n])
    // iteration by iteration
    for (int i = 0; i < n; i++) a[i] = weigh(i);
}
#else
static double weigh(int i) { return i; }
void f(double *a, int n) {
#pragma omp target parallel for map(a[0:n])
    for (int i = 0; i < n; i++) a[i] = weigh(i);
}
#endif
C
mistake repeated-transfer 9:62 "'p'|line 7" <<'C'
#include <stdlib.h>
double f(int n) {
    double *p = calloc(n, 8), last;
#ifdef MENDED
#pragma omp target data map(tofrom: p[0:n])
#endif
    for (int step = 0; step < 100; step++) {
#ifndef MENDED
#pragma omp target teams distribute parallel for map(tofrom: p[0:n])
#else
#pragma omp target teams distribute parallel for
#endif
        for (int i = 0; i < n; i++) p[i] += step;
    }
    last = p[n - 1];
    free(p);
    return last;
}
C
mistake shallow 11:36 "'s.p'|map(s.p" <<'C'
#include <stdlib.h>
struct vector { double *p; int n; };
double f(int n) {
    struct vector s = { .n = n };
    s.p = malloc(n * sizeof *s.p);
#ifndef MENDED
#pragma omp target teams distribute parallel for map(tofrom: s)
#else
#pragma omp target teams distribute parallel for map(tofrom: s, s.p[0:n])
#endif
    for (int i = 0; i < n; i++)    s.p[i] = i;
    double last = s.p[n - 1];
    free(s.p);
    return last;
}
C
mistake shallow 17:50 "'next'" <<'C'
#include <stdlib.h>
struct node { int x; struct node *next; };
int f(void) {
    int sum = 0;
    struct node *head = NULL;
    for (int i = 0; i < 9; i++) {
        struct node *n = malloc(sizeof *n);
        n->x = i, n->next = head, head = n;
    }
#ifdef MENDED
#pragma omp target enter data map(to: head[0:1])
    for (struct node *n = head; n->next; n = n->next) {
#pragma omp target enter data map(to: n->next[0:1])
    }
#endif
#pragma omp target map(tofrom: sum) map(to: head[0:1])
    for (const struct node *k = head; k != NULL; k = k->next)
        sum += k->x;
    return sum;
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
cat >>t.c <<'C'
void give(double *);
double back(int n, int some, double *parameter) {
    double *a = malloc(8 * n), *b = malloc(8 * n), *c = malloc(8 * n), *d = malloc(8 * n), *e = malloc(8 * n), *g = malloc(8 * n), own[4], implicit[4], set[4];
    give(c);
#pragma omp target data map(to: a[0:n], b[0:n], parameter[0:n])
    {
#pragma omp target map(to: a[0:n])
        a[0] = b[0] = parameter[0] = 1;
#pragma omp target update from(b[0:n])
#pragma omp target map(to: c[0:n])
        c[0] = 2;
    }
    a[0] = 3;
#pragma omp target map(to: d[0:n], e[0:n], own, set) if(some)
    d[0] = e[0] = own[0] = set[0] = 4;
#pragma omp target map(to: e[0:n]) map(to: g[0:n], set)
    g[0] = e[0] = set[0] = 4;
#pragma omp target
    implicit[0] = 5;
#pragma omp target map(from: e[0:n])
    e[0] = 6;
    set[0] = 1;
    free(g);
    return a[0] + b[0] + c[0] + d[0] + e[0] + own[0] + implicit[0] + set[0] + parameter[0];
}
C
check "no mistakes" silent_when -Wno-uninitialized -Wno-ompgpu-uninitialized -Wompgpu-lost -Wompgpu-lost-reduction -Wompgpu-unmapped -Wompgpu-limits
# No mistakes: what has a value, or may have one; what no two threads do; what is short.
cat >t.c <<'C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
void elsewhere(int *);
int values(int n) {
    int a[10], b[10], given[10], *p = malloc(40), *alias = p, kept[10], both = 1, x, sized;
    elsewhere(given);
#pragma omp target map(from: a, x, sized) map(alloc: given)
    {
        if (n) a[0] = given[0];
        x = a[0] + sizeof sized;
    }
#pragma omp target data map(tofrom: kept)
#pragma omp target map(from: kept) map(to: both) map(alloc: both)
    kept[0] += both;
#pragma omp target map(from: p[0:10]) if(n)
    p[0]++;
#pragma omp target map(from: p[0:10])
    p[0]++;
#pragma omp target map(from: b)
    for (int i = 0; i < 10; i++) {
        if (i > 0 && b[i - 1]) b[i] = 2;
        b[i] = 1;
    }
    return a[0] + b[1] + x + alias[0] + kept[0];
}
void independent(int *a, int *b, int n, int m) {
    int s = 0, own, c[100][100] = { 0 };
#pragma omp target teams distribute parallel for map(a[0:n], b[0:n], s, c) private(own)
    for (int i = 2; i < n; i += 2) {
        a[i] = a[i - 1], b[i] = b[i] + b[i + m];
        own = 1, own++;
        if (i % 4) b[i] = b[i - 2];
#pragma omp atomic
        s += own;
        for (int j = 0; j < i; j++)
            c[i][j] = c[i - 2][j];
    }
#pragma omp target teams distribute parallel for map(a[0:100])
    for (int i = 0; i < 50; i++)
        a[i] = a[i + 50];
#pragma omp target parallel for num_threads(1) map(a[0:n])
    for (int i = 1; i < n; i++)
        a[i] += a[i - 1];
#pragma omp target parallel for ordered map(a[0:n])
    for (int i = 1; i < n; i++)
#pragma omp ordered
        a[i] += a[i - 1];
#pragma omp target teams distribute map(a[0:n])
    for (int k = 0; k < n; k++)
#pragma omp parallel for
        for (int i = 0; i < 1; i++)
            a[k] += a[k] + i;
#pragma omp target simd map(a[0:n]) safelen(2)
    for (int i = 2; i < 100; i++)
        a[i] = a[i - 2];
}
void own(double *a, const double *b, int n) {
    double t, w[3];
    int i, j, last, set;
#pragma omp target teams distribute parallel for map(a[0:n]) map(to: b[0:n]) private(t, w, j)
    for (i = 0; i < n; i++) {
        t = b[i];
        for (j = 0; j < 3; j++)
            w[j] = t + j;
        a[i] = w[1];
    }
#pragma omp target parallel for lastprivate(last) map(tofrom: last, set, a[0:n])
    for (i = 0; i < n; i++) {
        last = i, set = 1;
        a[i] = last;
    }
#pragma omp target teams loop collapse(2) map(a[0:n])
    for (i = 0; i < n / 16; i++)
        for (j = 16 * i; j < 16 * i + 16; j++)
            a[j] = i + j;
#pragma omp target parallel map(a[0:n]) private(i, j, t)
    {
        j = 3;
#pragma omp for
        for (i = 0; i < n; i++) {
            t = j + i;
            a[i] = t;
        }
    }
}
void threads(int *a, int n) {
    int s = 0;
#pragma omp target map(a[0:n]) map(s)
    for (int i = 0; i < n; i++)
        a[s++] = i;
#pragma omp target map(a[0:n])
    for (int i = 0; i < 1000; i++)
        a[i] = i;
#pragma omp target parallel for map(a[0:1000])
    for (int i = 0; i < 1000; i++)
        a[i] = omp_get_thread_num();
#pragma omp target parallel for num_threads(32) map(a[0:n])
    for (int i = 0; i < n; i++)
        a[i] = omp_get_thread_num();
}
void transfers(int n, int *parameter) {
    int *printed = malloc(4 * n), *moving = malloc(8 * n), *data = malloc(4 * n), *chosen = malloc(4 * n), few[10];
#pragma omp target enter data map(to: data[0:n])
    for (int step = 0; step < 10; step++) {
#pragma omp target teams distribute parallel for map(printed[0:n], moving[step:n], data[0:n], few, parameter[0:n])
        for (int i = 0; i < n; i++)
            printed[i] = data[i] = moving[step + i] = few[i % 10] = parameter[i];
        if (step == 3) {
#pragma omp target teams distribute parallel for map(chosen[0:n])
            for (int i = 0; i < n; i++)
                chosen[i] = i;
        }
        printf("%d\n", printed[0]);
    }
    do {
#pragma omp target teams distribute parallel for map(chosen[0:n])
        for (int i = 0; i < n; i++)
            chosen[i]++;
    } while (0);
#pragma omp target exit data map(from: data[0:n])
    free(printed), free(moving), free(data), free(chosen);
}
C
check "nothing more" silent_when -Wno-uninitialized -Wompgpu-uninitialized -Wompgpu-dependence -Wompgpu-one-thread -Wompgpu-one-team -Wompgpu-repeated-transfer
# No mistakes: what a loop, or a jump, has assigned before; what the region sets; what another thread may set.
cat >t.c <<'C'
void fill(int *);
int f(int n, int *r) {
    int a[4], b[4], c[4], d[4], e[4], g[4], i, all;
    struct pair { int x, y; } p, q;
    fill(a), p.x = 3;
#pragma omp target map(from: r[0:1]) firstprivate(a, p)
    r[0] = a[0] + p.x;
    for (i = 0; i < n; i++) {
        if (i > 0) {
#pragma omp target map(from: r[0:1])
            r[0] = b[0];
        }
        b[0] = i;
    }
#pragma omp target map(from: r[0:1])
    c[0] = 1, r[0] = c[0];
#pragma omp target map(tofrom: r[0:1])
    if (r[0]) r[0] = d[0];
#pragma omp target map(from: r[0:1]) private(e, q)
    e[0] = 2, q.x = 3, r[0] = e[0] + q.x;
#pragma omp parallel num_threads(2) shared(g, all)
    {
#pragma omp single
        g[0] = all = 1;
        int own;
        for (own = 0; own < 3; own++) {
#pragma omp target map(from: r[0:1])
            r[0] = g[0] + all + own;
        }
    }
    return r[0];
}
int back(int n, int *r) {
    int a[4];
again:
    if (n > 1) {
#pragma omp target map(from: r[0:1])
        r[0] = a[0];
    } else {
        a[0] = n++;
        goto again;
    }
    return r[0];
}
C
check "nothing of what may have a value" silent_when -Wno-uninitialized -Wompgpu-uninitialized
# No mistakes: loops that are short, however their bounds are written, and what is about one team.
cat >t.c <<'C'
#include <omp.h>
static int count = 10;
int few[20], room[4][8];
struct row { double at[16]; int n; } row;
void f(int n, int *p, int *who, struct row *rows) {
    int length = 11, trial;
#pragma omp target map(p[0:length], few, row, room)
    {
        for (int i = 0; i < length; i++) p[i] = i;
        for (int i = 0; i < count; i++) p[i] += i;
        for (int i = 0; i < n; i++) few[i] = p[i];
        for (int i = n; i < row.n; i++) row.at[i] = i;
        for (int i = 0; i < n; i++) room[i][n] = 0;
        for (int i = 0; i < n && i < 4; i++) p[i] = 3;
    }
#pragma omp target map(rows[0:n])
    for (int i = 0; i < n; i++) rows[4].at[i] = 1;
#pragma omp target parallel for map(who[0:n])
    for (int i = 0; i < n; i++) who[i] = omp_get_thread_num();
    for (trial = 0; trial < 1 && p[0] == 0; trial++) {
#pragma omp target teams distribute parallel for map(who[0:n])
        for (int i = 0; i < n; i++) who[i] = i;
    }
}
C
check "nothing of short loops and of what is about one team" silent_when
# No mistakes: a mapper, a struct that another file or the device may fill, or that is not followed.
cat >t.c <<'C'
#include <stdlib.h>
struct mapped { double *p; int n; };
#pragma omp declare mapper(struct mapped s) map(s.n, s.p[0:s.n])
struct given { double *p; int n; };
void map_it(struct given *);
struct made { double *p; double at[4]; };
struct kept { double *p; int n; };
void f(struct kept *parameter, double *other) {
    struct mapped a = { .n = 4 };
    struct given b;
    struct made c;
    struct kept d;
    a.p = malloc(32), b.p = malloc(32), c.p = malloc(32), d.p = malloc(32);
    map_it(&b);
#pragma omp target
    a.p[0] = b.p[0];
#pragma omp target map(c)
    {
        c.p = c.at;
        c.p[0] = 1;
    }
#pragma omp target map(d)
    if (d.p) d.n = 1;
#pragma omp target
    parameter->p[0] = 1;
    free(a.p), free(b.p), free(d.p);
}
C
check "nor here" silent_when -Wompgpu-shallow
# Mistakes that are errors: refused PLACE WORDS <SOURCE
refused() {
    cat >t.c
    # shellcheck disable=SC2086
    check "$1: is refused" test_must_fail 1 "$CC" $flags t.c
    cp .log err
    check "$1: what is said" mentions "$(grep -m1 error: err)" "t.c:$1: error: |$2" && silent err 'extra tokens'
    check "$1: mended" silent_when -DMENDED
}
refused 3:32 "'p[1:]'" <<'C'
void f(int *p, int n) {
#ifndef MENDED
#pragma omp target map(tofrom: p[1:])
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
refused 3:13 "'paralel'|'parallel'" <<'C'
void f(void) {
#ifndef MENDED
#pragma omp paralel for
#else
#pragma omp parallel for
#endif
    for (int i = 0; i < 10; i++);
#pragma omp target
    ;
}
C
printf 'void f(int x) {\n#pragma omp target mapp(x)\nx++;\n}\n' >t.c
# shellcheck disable=SC2086
check "-Werror" test_must_fail 1 "$CC" $flags -Werror t.c
cp .log err
check "... says the same" has err "^t.c:2:20: error: unexpected OpenMP clause 'mapp'" && silent err 'extra tokens'
printf 'void f(void) {\n#pragma omp target nothing_like_it\n;\n}\n' >t.c
# shellcheck disable=SC2086
check "no suggestion" test_must_fail 1 "$CC" $flags t.c
cp .log err
check "... where nothing is near" sh -c "grep 't.c:2:20: error: .*nothing_like_it' err | grep -v 'did you mean'"
finish
