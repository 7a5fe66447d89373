/* structs of one member, and functions with variable arguments, between files with arrays of variable length and without */ /* with: parts/vla_lone.c */ /* also: -O0, -O2 -g */
#include "check.h"
#include "parts/vla_lone.h"
#pragma omp begin declare target
FUNCTIONS()
static const struct lone table[] = { { 1 }, { .x = 2 }, 3 };
static struct several flat = { 4, 5 };
#pragma omp end declare target
#pragma pack(push, 1)
struct tight { char c; struct { long l; } only; };
#pragma pack(pop)

/* of which nothing changes */
struct matrix { int m[2][2]; };
struct picked { int m[2]; };
struct unnamed { struct { int a; }; union { int b; }; };
struct nothing { int none[0]; };
typedef union { int *p; } either __attribute__((transparent_union));
static int value_of(either e) { return *e.p; }
struct __attribute__((annotate("{"))) old { int x; };

static int all(int n, double *r)
{
    struct inner { float f; } in = { 0.5f };
    struct { struct lone l; } unnamed = { { 9 } };
    struct lone l[3] = { 10, 20, 30 };
    struct tight t = { 1, { 77 } };
    union mixed u = bytes_there(7, 70), v = bytes(7, 80);
    struct matrix m = { { { n, 2 }, { 3, 4 } } };
    struct picked c = { { [1] = 5 } };
    struct unnamed o = { { 1 }, { 2 } };
    double a[n];
    int k = 0, seven = 7;
    for (int i = 0; i < n; i++)
        a[i] = i;
    a[k++] = twice_there((struct lone){ a[1] }).x, a[k++] = twice((struct lone){ a[2] }).x;
    a[k++] = count_there((element){ { n } }).a[0], a[k++] = minus_there((union narrow){ 12 }).s;
    a[k++] = more_there((struct flags){ 3 }).low, a[k++] = back_there((struct deep){ { l + 2 } }).n.p->x;
    a[k++] = both_there(flat).l.x, a[k++] = both_there(flat).e.a[0], a[k++] = both(flat).l.x;
    a[k++] = sum_there(2, l[0], 3, l[1], 4).x, a[k++] = sum(2, l[1], 3, l[2], 4).x;
    a[k++] = ends_there(3, 0.5, 0.25, 0.125).x, a[k++] = ends_there(3, 0.5, 0.25, 0.125).y, a[k++] = ends(2, 1., 8.).y;
    a[k++] = u.raw[3] * 100 + u.raw[5], a[k++] = v.raw[3] * 100 + v.raw[15];
    a[k++] = through_there(twice, ends), a[k++] = through_there(twice_there, ends), a[k++] = through(twice_there, ends_there);
    a[k++] = in.f + unnamed.l.x + table[1].x + table[2].x + (double)t.only.l;
    a[k++] = (double)(sizeof(struct lone) + 10 * sizeof(element) + 100 * sizeof t + 1000 * sizeof(struct several));
    a[k++] = m.m[0][0] + 10 * m.m[1][0] + 100 * m.m[1][1] + 1000 * c.m[1] + 1e4 * o.a + 1e5 * o.b + 1e6 * value_of(&seven);
    a[k++] = sizeof(struct nothing) + ((struct old){ 3 }).x;
    for (int i = 0; i < k; i++)
        r[i] = a[i];
    return k;
}

int main(void)
{
    double on[32] = { 0 }, off[32] = { 0 };
    int k = 0;
#pragma omp target map(tofrom: on, k)
    k = all(32, on);
    CHECK_EQ(k, all(32, off));
    CHECK_EQ(k, 23);
    for (int i = 0; i < k; i++)
        CHECK(on[i] == off[i]);
    CHECK(on[0] == 2 && on[5] == 20 && on[16] == 7258 + 150);
    return RESULT;
}
