/* structs with pointer members: s.p[0:n], ps->p[0:n], mapped struct with attached pointer, several levels */
#include "check.h"

struct vec { int n; double *data; };
struct list { struct list *next; int value; };
struct deep { struct vec v; };

static void twice(struct vec *v)
{
#pragma omp target teams distribute parallel for map(to: v[0:1]) map(tofrom: v->data[0:v->n])
    for (int i = 0; i < v->n; i++)
        v->data[i] *= 2;
}

int main(void)
{
    struct vec v = { 50, malloc(50 * sizeof(double)) };
    struct deep d = { { 5, malloc(5 * sizeof(double)) } };
    double *host = v.data, sum = 0;
    int on = 0;

    for (int i = 0; i < v.n; i++)
        v.data[i] = i;
#pragma omp target teams distribute parallel for map(tofrom: v.data[0:v.n]) map(tofrom: on)
    for (int i = 0; i < v.n; i++) {
        v.data[i] += 1;
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK(v.data == host);
    for (int i = 0; i < 50; i++)
        CHECK_EQ(v.data[i], i + 1);
    twice(&v);
    CHECK(v.data == host);
    for (int i = 0; i < 50; i++)
        CHECK_EQ(v.data[i], 2 * i + 2);

#pragma omp target enter data map(to: v) map(to: v.data[0:50])
#pragma omp target map(tofrom: sum)
    for (int i = 0; i < v.n; i++)
        sum += v.data[i];
#pragma omp target exit data map(from: v.data[0:50]) map(release: v)
    CHECK_EQ(sum, 2 * (50 * 49 / 2 + 50));
    CHECK(v.data == host);

#pragma omp target map(to: d) map(from: d.v.data[0:5])
    for (int i = 0; i < d.v.n; i++)
        d.v.data[i] = 10 * i;
    for (int i = 0; i < 5; i++)
        CHECK_EQ(d.v.data[i], 10 * i);

    /* a linked list moved node by node */
    struct list c = { 0, 3 }, b = { &c, 2 }, a = { &b, 1 }, *head = &a;
    int total = 0;
#pragma omp target enter data map(to: a) map(to: b) map(to: c)
#pragma omp target enter data map(to: a.next[0:1]) map(to: b.next[0:1])
#pragma omp target map(tofrom: total)
    for (struct list *p = head; p; p = p->next)
        total = total * 10 + p->value;
    CHECK_EQ(total, 123);
#pragma omp target exit data map(delete: a, b, c)
    free(v.data), free(d.v.data);
    return RESULT;
}
