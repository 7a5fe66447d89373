/* -fpack-struct, #pragma pack (its macro is expanded, as that of #pragma unroll is) and -fshort-wchar: of the program's types only */ /* flags: -fpack-struct=1 -fshort-wchar */
/* also: -O0 -g */
#include <stddef.h>
#include "check.h"
struct flags { char c; double d; short s; };
#define BYTES 2
#pragma pack(BYTES)
struct file { struct flags a[3]; char z; double d; };

static void types(void)
{
    struct file v[4] = { 0 };
    wchar_t w = 0;
    int on = 0;
#pragma omp target map(tofrom: v, w, on)
    {
        v[2].a[1].d = 2.5;
        v[2].a[1].s = sizeof(struct flags);
        v[3].z = (char)sizeof(struct file);
        w = L"ab\u20ac"[2];
        on = ON_DEVICE;
    }
    CHECK(on && v[2].a[1].d == 2.5 && v[2].a[1].s == 11 && v[3].z == 42 && w == 0x20ac && sizeof w == 2);
}

static void records(void)
{
    char tag = 3, most = 0;
    signed char least = 100;
    short q = 5, n = 0;
    double sum = 0;
    _Complex double c = 0;
    char v[4];
#pragma omp target teams distribute parallel for map(from: v) firstprivate(tag, q) \
    reduction(+: sum, n, c) reduction(max: most) reduction(min: least)
    for (int i = 0; i < 1000; i++) {
        sum += i * 0.5;
        n++;
        c += i + 1i;
        most = most > i % 100 ? most : (char)(i % 100);
        least = least < -(i % 50) ? least : (signed char)-(i % 50);
        if (i < 4)
            v[i] = (char)(tag + q);
    }
    CHECK(sum == 249750 && n == 1000 && __real__ c == 499500 && __imag__ c == 1000);
    CHECK(most == 99 && least == -49 && v[3] == 8);
#pragma omp target map(tofrom: sum, n) map(to: tag, q)
    {
        double in = tag;
        long many[5] = { 1, 2, 3 };
#pragma unroll BYTES
        for (int i = 0; i < 3; i++)
            many[i]++;
#pragma omp parallel for reduction(+: in, n) firstprivate(q) num_threads(40)
        for (int i = 0; i < 100; i++) {
            in += (double)many[1] - 1 + q;
            n++;
        }
        sum = in;
    }
    CHECK(sum == 703 && n == 1100);
}

/* Neighbours that share a word are accessed by threads of their own: that is no race. */
static void neighbours(void)
{
    struct { char c[9]; } nine[40];
    struct { char c; short s; } three[40];
    int wrong = 0;
#pragma omp target map(from: nine, three)
#pragma omp parallel for
    for (int i = 0; i < 40; i++) {
        nine[i] = (__typeof__(*nine)){ { (char)i } };
        three[i].c = (char)i;
        three[i].s = (short)(2 * i);
        three[i].s++;
    }
#pragma omp target teams distribute parallel for map(to: nine, three) reduction(+: wrong)
    for (int i = 0; i < 40; i++)
        wrong += nine[i].c[0] != i || three[i].c != i || three[i].s != 2 * i + 1;
    CHECK_EQ(wrong, 0);
}

int main(void)
{
    types();
    records();
    neighbours();
    return RESULT;
}
