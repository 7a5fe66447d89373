/* declare reduction: structs of several sizes, combiners that call functions, every form of initialiser and none, names per type and
 * per scope, operators for structs, arrays */
#include "check.h"

enum { N = 500 };
struct best { double value; int index; };
struct big { int n; double v[60]; };
typedef struct { float re, im; } pair;
typedef unsigned char byte;

static void better(struct best *out, const struct best *in)
{
    if (in->value > out->value || (in->value == out->value && in->index < out->index))
        *out = *in;
}
static void worst(struct best *p) { *p = (struct best){ -1e300, 1 << 30 }; }
static struct big add(struct big a, const struct big *b)
{
    a.n += b->n;
    for (int i = 0; i < 60; i++)
        a.v[i] += b->v[i];
    return a;
}
static void like(struct big *p, const struct big *orig)
{
    p->n = 0;
    for (int i = 0; i < 60; i++)
        p->v[i] = orig->n == 7 || orig->n == 0 ? 0 : 1e9;
}

#pragma omp declare reduction(best : struct best : better(&omp_out, &omp_in)) initializer(worst(&omp_priv))
#pragma omp declare reduction(add : struct big : omp_out = add(omp_out, &omp_in)) initializer(like(&omp_priv, &omp_orig))
#pragma omp declare reduction(+ : pair : omp_out.re += omp_in.re, omp_out.im += omp_in.im) initializer(omp_priv = { 0, 0 })
#pragma omp declare reduction(mul : int, long : omp_out *= omp_in) initializer(omp_priv = 1)
#pragma omp declare reduction(mul : double, float : omp_out *= omp_in) initializer(omp_priv = 1.0)
#pragma omp declare reduction(mul : byte : omp_out = (byte)(omp_out * omp_in)) initializer(omp_priv = (byte)1)
#pragma omp declare reduction(plus : int : omp_out += omp_in)

static double value(int i) { return (i * 7919 % 1013) * 0.5; }

static void league(void)
{
    struct best b = { -1, -1 }, hb = b;
    struct big s = { 7, { 0 } }, hs = s;
    pair c = { 1, 2 }, hc = c;
    int count = 5, on = 0;
#pragma omp target teams distribute parallel for reduction(best: b) reduction(add: s) reduction(+: c, count) map(tofrom: on) num_teams(9)
    for (int i = 0; i < N; i++) {
        struct best k = { value(i), i };
        better(&b, &k);
        s.n++;
        s.v[i % 60] += i;
        c.re += i;
        c.im -= i;
        count++;
        on = ON_DEVICE;
    }
    for (int i = 0; i < N; i++) {
        struct best k = { value(i), i };
        better(&hb, &k);
        hs.n++;
        hs.v[i % 60] += i;
        hc.re += i;
        hc.im -= i;
    }
    CHECK(on && count == 5 + N);
    CHECK(b.value == hb.value && b.index == hb.index);
    CHECK_EQ(s.n, hs.n);
    for (int i = 0; i < 60; i++)
        CHECK_EQ(s.v[i], hs.v[i]);
    CHECK(c.re == hc.re && c.im == hc.im);
}

static void types_and_scopes(void)
{
    int i1 = 3;
    long l1 = 2;
    double d1 = 0.5;
    byte b1 = 3;
    pair many[20] = { { 0 } }, hm[20] = { { 0 } };
    struct best list[3] = { { 0, 0 } }, hl[3] = { { 0, 0 } };
#pragma omp target teams distribute parallel for reduction(mul: i1, l1, d1, b1) num_teams(3)
    for (int i = 0; i < 20; i++) {
        i1 *= i % 5 == 0 ? 2 : 1;
        l1 *= i % 2 ? 2 : 1;
        d1 *= 2;
        b1 = (byte)(b1 * 3);
    }
    byte hb = 3;
    for (int i = 0; i < 20; i++)
        hb = (byte)(hb * 3);
    CHECK(i1 == 48 && l1 == 2048 && d1 == 524288 && b1 == hb);
#pragma omp target parallel for reduction(+: many) reduction(best: list) num_threads(50)
    for (int i = 0; i < N; i++) {
        struct best k = { value(i), i };
        many[i % 20].re += i;
        better(&list[i % 3], &k);
    }
    for (int i = 0; i < N; i++) {
        struct best k = { value(i), i };
        hm[i % 20].re += i;
        better(&hl[i % 3], &k);
    }
    for (int i = 0; i < 20; i++)
        CHECK_EQ(many[i].re, hm[i].re);
    for (int i = 0; i < 3; i++)
        CHECK(list[i].value == hl[i].value && list[i].index == hl[i].index);

    int inner = 1, outer = 1;
    {
#pragma omp declare reduction(plus : int : omp_out += 2 * omp_in)
        /* each of 4 threads counts 1: 2 * 4 combinations of parts, each part counted by how often it is combined */
#pragma omp target parallel reduction(plus: inner) num_threads(1)
        inner += 1;
    }
#pragma omp target parallel reduction(plus: outer) num_threads(1)
    outer += 1;
    CHECK(inner == 3 && outer == 2);
}

static void generic(void)
{
    struct best b = { -1, -1 }, hb = b;
#pragma omp target teams reduction(best: b) num_teams(4)
    {
#pragma omp distribute parallel for reduction(best: b)
        for (int i = 0; i < N; i++) {
            struct best k = { value(i), i };
            better(&b, &k);
        }
    }
    for (int i = 0; i < N; i++) {
        struct best k = { value(i), i };
        better(&hb, &k);
    }
    CHECK(b.value == hb.value && b.index == hb.index);
    b = (struct best){ -1, -1 };
#pragma omp target map(tofrom: b)
    {
        int one = 1;
        if (one) {
#pragma omp parallel for reduction(best: b)
            for (int i = 0; i < N; i++) {
                struct best k = { value(i), i };
                better(&b, &k);
            }
        }
    }
    CHECK(b.value == hb.value && b.index == hb.index);
}

int main(void)
{
    league();
    types_and_scopes();
    generic();
    return RESULT;
}
