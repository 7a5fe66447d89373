/* members of structs: just their storage is mapped, those of one construct as one block; flexible array members; siblings mapped later */
#include "check.h"

enum { N = 20 };
struct large { int w[1 << 16]; int x, y; double z; int v; };
struct matrix { int rows, cols; double v[]; };
struct pair { int *a, *b; int na, nb; };
struct nest { int id; struct pair in[3]; struct { int k, l; } part; };

#ifndef HOST_ONLY
static void extents(void)
{
    static struct large s;
    int r = -1;
#pragma omp target enter data map(alloc: s.y, s.z)
    CHECK(!PRESENT(&s.w) && !PRESENT(&s.x) && PRESENT(&s.y) && PRESENT(&s.z) && !PRESENT(&s.v));
    s.w[5] = 9;
#pragma omp target map(to: s.w) map(from: r)     /* not allowed by 5.2, but there is nothing wrong about it */
    r = s.w[5];
    CHECK_EQ(r, 9);
    s.y = 3, s.z = 4;
#pragma omp target update to(s.y)
#pragma omp target map(from: r)
    r = s.y;
    CHECK_EQ(r, 3);
#pragma omp target exit data map(delete: s.y, s.z)
    CHECK(!PRESENT(&s.y) && !PRESENT(&s.z));
    /* holes are there, and not copied */
    s.x = 1, s.y = 2, s.z = 3, s.v = 4;
#pragma omp target data map(to: s.v) map(tofrom: s.x) map(alloc: s.y)
    {
        CHECK(PRESENT(&s.z) && PRESENT(&s.v) && !PRESENT(s.w));
#pragma omp target map(from: r)
        r = s.v, s.x = 10, s.y = 20;
        s.z = 5;
    }
    CHECK(r == 4 && s.x == 10 && s.y == 2 && s.z == 5 && s.v == 4);
}
#endif

static struct matrix *new_matrix(void)
{
    struct matrix *m = malloc(sizeof *m + N * sizeof(double));
    *m = (struct matrix){ 4, 5 };
    for (int i = 0; i < N; i++)
        m->v[i] = i;
    return m;
}

static void flexible(void)
{
    struct matrix *m = new_matrix();
    int on = 0;
#pragma omp target data map(tofrom: m[0:1]) map(tofrom: m->v[0:N])
    {
#pragma omp target teams distribute parallel for
        for (int i = 0; i < N; i++)
            m->v[i] *= m->rows;
    }
    CHECK(m->v[19] == 76 && m->v[1] == 4);
#pragma omp target map(tofrom: m->rows, m->v[0:N])
    m->v[3] = m->rows;
    CHECK_EQ(m->v[3], 4);
#pragma omp target map(tofrom: m->v[0:N], on)
    m->v[4] = 200, on = ON_DEVICE;
    CHECK(on && m->v[4] == 200);
#pragma omp target map(tofrom: m->v[10:2])      /* a member that the list does not name */
    m->v[10] = m->cols;
    CHECK(m->v[10] == 5 && m->cols == 5);
#pragma omp target enter data map(to: *m, m->v[2:N - 2])
#pragma omp target map(from: on)
    on = m->rows * m->cols, m->v[2] = on;
#pragma omp target exit data map(from: *m, m->v[2:N - 2])
    CHECK(on == 20 && m->v[2] == 20 && m->rows == 4);
    free(m);
}

static void several_pointers(void)
{
    int a[N], b[N], c[N];
    struct pair p = { a, b, N, N }, *q = &p;
    struct nest t = { 5, { { a, b, N, N }, { b, c, N, N }, { c, a, N, N } }, { 1, 2 } };
    for (int i = 0; i < N; i++)
        a[i] = i, b[i] = 2 * i, c[i] = 0;
#pragma omp target enter data map(to: p.a[0:N], p.b[4:8])
#pragma omp target
    for (int i = 4; i < 12; i++)
        p.a[i] += p.b[i];
#pragma omp target                             /* through a pointer to the struct */
    q->a[0] = q->b[5];
#pragma omp target exit data map(from: p.a[0:N]) map(release: p.b[4:8])
    CHECK(a[0] == 10 && a[3] == 3 && a[4] == 12 && a[11] == 33 && a[12] == 12 && p.a == a && p.b == b);
#pragma omp target teams distribute parallel for map(to: q->a[0:q->na], q->nb) map(tofrom: q->b[0:q->nb])
    for (int i = 0; i < N; i++)
        q->b[i] = q->a[i] + q->nb;
    CHECK(b[0] == 30 && b[19] == 39);
#pragma omp target map(tofrom: t.in[1].b[0:N], t.part.l) map(to: t.in[1].a[0:N])
    for (int i = 0; i < N; i++)
        t.in[1].b[i] = t.in[1].a[i] + ++t.part.l;
    /* two ways to write one pointer */
    struct nest *pt = &t;
    struct { struct pair *to; } hold = { t.in }, *h = &hold;
#pragma omp target map(tofrom: h->to->na, (*h).to[2].nb, pt->id)
    h->to->na++, h->to[2].nb += 2, pt->id = 6;
    CHECK(t.in[0].na == N + 1 && t.in[2].nb == N + 2 && t.id == 6 && hold.to == t.in);
    t.id = 5;
    /* the list does not name what the directives of the region need */
    struct { int *v, n, chunk; } u = { a, 3, 4 }, *w = &u;
#pragma omp target parallel for schedule(dynamic, u.chunk) map(from: u.v[0:N])
    for (int i = 0; i < N; i++)
        u.v[i] = u.chunk;
#pragma omp target map(tofrom: w->v[0:N])
#pragma omp parallel for num_threads(w->n)
    for (int i = 0; i < N; i++)
        w->v[i] += i;
    for (int i = 0; i < N; i++)
        CHECK_EQ(a[i], 4 + i);
    CHECK(c[0] == b[0] + 3 && c[19] == b[19] + 22 && t.part.l == 22 && t.part.k == 1 && t.id == 5 && t.in[1].b == c);
}

/* A region that has all it uses, though not the whole struct. */
static void parts(void)
{
    struct { int a; struct { int b, c; }; struct { int d[4], e; } f; unsigned g: 3, h: 6; int i; } s = { .c = 3, .f.e = 4, .h = 5 };
    struct pair *list = calloc(4, sizeof *list);
    int on = 0;
#pragma omp target data map(tofrom: s.c, s.f.e) map(tofrom: list[1:2])
    {
#pragma omp target map(tofrom: on)
        on = s.c * 10 + s.f.e, s.c = sizeof(s.i), s.f.e += (int)((char *)&s.c - (char *)&s.b);
#pragma omp target
        list[2].na = 7, list[1].nb = sizeof s.a;
    }
    CHECK(on == 34 && s.c == 4 && s.f.e == 8 && s.b == 0 && list[2].na == 7 && list[1].nb == 4);
#pragma omp target data map(tofrom: s.f.d[1:2])
    {
#pragma omp target
        for (int i = 1; i < 3; i++)
            s.f.d[i] = i;
    }
    CHECK(s.f.d[1] == 1 && s.f.d[2] == 2);
    struct {
        double d;
        int c[6];
    } one = { 0, { 0, 1, 2, 3 } };
#pragma omp target map(tofrom: one.c[1:3]) /* which is in the middle of eight bytes */
    {
        int two = one.c[2], three = one.c[3];
        one.c[2] = three * 3, one.c[3] = two * 5;
    }
    CHECK(one.c[2] == 9 && one.c[3] == 10);
    free(list);
}

int main(void)
{
#ifndef HOST_ONLY
    extents();
#endif
    flexible();
    several_pointers();
    parts();
    return RESULT;
}
