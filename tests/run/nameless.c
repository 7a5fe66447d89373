/* members of what has no name, `target loop`, `target update` of a static variable: clang 22 rejects them */ /* also: -O0 -g */
#include "check.h"
#include <stddef.h>

struct pair { int a, b; unsigned field : 5; int many[3]; struct pair *next; };
struct outer { char c; struct pair inner; };
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
static struct pair kept;
static int table[4] = { 1, 2, 3, 4 };
#pragma omp declare target enter(kept, table)

static struct pair make(int x)
{
    struct pair r = { x, x * 3, 7, { x, x + 1, x + 2 }, &kept };
    return r;
}
static struct pair *find(void) { return &kept; }
static int sum(const int *v) { return v[0] + v[1] + v[2]; }

static void reads(void)
{
    struct pair s = { 1, 2, 3, { 4, 5, 6 }, NULL }, t = { 3, 4, 5, { 6, 7, 8 }, NULL }, list[3] = { s, t, s }, *p = list;
    struct outer o = { 'o', t };
    int got[16] = { 0 }, on = 0, y = 1;
#pragma omp target map(tofrom: got, on) map(to: p[0:3], o)
    {
        kept.b = 40, kept.field = 9, kept.next = &kept, kept.many[2] = 12;
        on = ON_DEVICE;
        got[0] = make(3).b;
        got[1] = find()->b;
        got[2] = (y ? s : t).b;
        got[3] = (y ? &s : &t)->b;
        got[4] = p++->b;
        got[4] += p->b;
        got[5] = (s = t).b;
        got[6] = container_of(&o.inner, struct outer, inner)->c;
        got[7] = find()->field + make(1).field;
        got[8] = make(4).many[1] + find()->many[2];
        got[9] = find()->next->next->b + make(1).next->b;
        got[10] = (*find()).b + find()[0].b + make(find()->a).a;
        got[11] = sum((y ? &s : &t)->many) + (&(struct pair){ 1, 2, 3, { 1 }, NULL })->b + ((struct pair){ 1, 2, 3, { 1 }, NULL }).a;
    }
    static const int want[16] = { 9, 40, 2, 2, 6, 4, 'o', 16, 5 + 12, 80, 80, 21 + 2 + 1 };
    CHECK(on);
    for (int i = 0; i < 16; i++)
        CHECK_EQ(got[i], want[i]);
}

/* Array literals: subscripts and arrows come before the member. */
static void in_arrays(void)
{
    int got[7] = { 0 }, on = 0, two = 2;
#pragma omp target map(tofrom: got, on)
    {
        struct pair z = { 1, 7, 3, { 4, 5, 6 }, NULL };
        z.next = &z;
        on = ON_DEVICE;
        got[0] = ((struct pair[2]){ { 1 }, { 5, 6 } })[1].b;
        got[1] = (struct pair[]){ { 1 }, { 2 }, { .many = { two, 8 } } }[two].many[1];
        got[2] = ((struct pair[2][2]){ { { 1 } }, { { 3 }, { 5, 9 } } })[1][1].b;
        got[3] = ((struct pair *[]){ &z, &z })[1]->next->b;
        got[4] = ((struct outer[]){ { .inner = { .next = &z } } })[0].inner.next->many[two];
        got[5] = ((struct pair[2]){ { 11 } })->a;
        ((struct pair[1]){ z })[0].b = 3;
        *(int *)&((struct pair[1]){ z })[0].b += ++got[6];
    }
    static const int want[7] = { 6, 8, 9, 7, 6, 11, 1 };
    CHECK(on);
    for (int i = 0; i < 7; i++)
        CHECK_EQ(got[i], want[i]);
}

static void writes(void)
{
    int got[8] = { 0 };
#pragma omp target map(from: got)
    {
        kept = make(1);
        find()->b = 5;
        (*find()).a += 6;
        find()->field = 3;
        find()->field += 2;
        (*find()).field++;
        find()->many[1] = find()->next->a + 1;
        int *p = &find()->many[2];
        *p = 20;
        got[0] = kept.a, got[1] = kept.b, got[2] = kept.field, got[3] = kept.many[1], got[4] = kept.many[2];
    }
    CHECK(got[0] == 7 && got[1] == 5 && got[2] == 6 && got[3] == 8 && got[4] == 20);
    int s = 0;
#pragma omp target teams distribute parallel for reduction(+: s)
    for (int i = 0; i < 100; i++) {
        if (make(i).a % 2)
            continue;
        s += make(i).b;
    }
    CHECK_EQ(s, 3 * 2450);
}

static void directives(void)
{
    int s = 0, a[100];
#pragma omp target loop map(from: a)
    for (int i = 0; i < 100; i++)
        a[i] = i;
#pragma omp target loop reduction(+: s) \
    map(to: a)
    for (int i = 0; i < 100; i++)
        s += a[i];
    CHECK_EQ(s, 4950);
#pragma omp target
    table[1] = 9;
#pragma omp target update from(table)
    table[2] = 11;
#pragma omp target update \
    to(table[2:1])
#pragma omp target map(from: s)
    s = table[2];
    CHECK(table[1] == 9 && s == 11);
}

/* They live as long as the block. */
struct nest { int a[4]; int n; struct { int x[2]; unsigned f : 3; } in; const struct nest *next; };
static void literals(int no)
{
    int r = 0, k = 2, w = 0;
#pragma omp target map(tofrom: r, w) if(!no)
    {
        r = ((struct nest){ { 1, 2, 3, 4 }, 5 }).a[k];
        r += (struct nest){ .n = 7 }.n;
        int *p = ((struct nest){ { 1, 2, 3, 4 }, 5 }).a, *q = (&(struct nest){ { 9, 8, k, 6 }, 5 })->a, *n = &(struct nest){ .n = 7 }.n;
        ++*n;
        p[0] = 40;
        r += p[1] + p[0] + *((struct nest){ { 1, 2, 3, 4 }, 5 }).a;
        r += (&(struct nest){ { 1, 2, 3, 4 }, 5 })->a[3] + ((int[]){ 4, 5, 6 })[k];
        r += ((struct nest){ .in = { { 3, 4 }, 5 } }).in.x[1] + (struct nest){ .in.f = 6 }.in.f;
        w = (((struct nest){ .n = 3 }).n = 11) + q[0] + q[2] + p[3] + *n;
        w += ((struct nest){ .next = &(struct nest){ { 5 }, 6 } }).next->n;
        w += ((struct nest){ .next = &(struct nest){ { 5 }, 6 } }).next->a[0];
        w += ((struct nest){ .a = { (struct nest){ .n = 2 }.n } }).a[0];
        w += sizeof ((struct nest){ { 1 } }).a;
    }
    CHECK_EQ(r, 73);
    CHECK_EQ(w, 63);
}

/* a member of a value whose type is local to the region */
static void local_types(void)
{
    unsigned sum = 0;
#pragma omp target map(tofrom: sum)
    {
        struct local { unsigned a, b[2]; };
        sum += ((struct local){ .b[1] = 27 }).b[1];
        sum += (struct { unsigned b[2]; }){ .b[1] = 15 }.b[1];
    }
    CHECK_EQ(sum, 42u);
}

int main(void)
{
    reads();
    in_arrays();
    writes();
    directives();
    literals(0);
    literals(1);
    local_types();
    return RESULT;
}
