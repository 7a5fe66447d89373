/* unions and structs that functions take and return, with bytes that belong to no member of LLVM's type, and large ones */ /* also: -O0, -O2 -g */
#include "check.h"
#define NO __attribute__((noinline))
union bytes { struct { char c; double d; } s; char raw[16]; };
struct both { short n; union bytes u[2]; char end; };
struct large { double v[200]; int n; };
#pragma omp begin declare target
NO static union bytes numbered(int n)
{
    union bytes u;
    for (int i = 0; i < 16; i++)
        u.raw[i] = (char)(i + n);
    return u;
}
NO static union bytes chosen(int n) { return n & 1 ? numbered(n) : numbered(n + 50); }
NO static struct both pair(int n, const struct both *old)
{
    if (n < 0)
        return *old;
    struct both b = { .n = (short)n, .u = { numbered(n), chosen(n) }, .end = (char)n };
    return b;
}
NO static struct large many(int n)
{
    struct large l = { .n = n };
    for (int i = 0; i < 200; i++)
        l.v[i] = i + n;
    return l;
}
#pragma omp end declare target
NO static long sum(union bytes u)
{
    long s = 0;
    for (int i = 0; i < 16; i++)
        s += u.raw[i] * (i + 1);
    return s;
}
static void all(int n, long *r)
{
    union bytes (*f)(int) = n > 3 ? numbered : chosen, list[3] = { f(n), chosen(n), numbered(7) }, *p = &list[n % 3];
    struct both b = pair(n, 0), c = pair(-1, &b);
    struct large l = many(n);
    chosen(n);
    *p = f(n + 9);
    r[0] = sum(list[0]), r[1] = sum(list[1]), r[2] = sum(list[2]), r[3] = sum(*p);
    r[4] = sum(b.u[0]) + 3 * sum(c.u[1]) + b.n + c.end, r[5] = f(n).raw[3] + chosen(n).raw[5], r[6] = (long)l.v[199] + l.n;
    r[7] = (c = pair(n + 1, &b)).end + sum(c.u[0]);
}

int main(void)
{
    for (int n = 0; n < 6; n++) {
        long on[8] = { 0 }, off[8] = { 0 };
#pragma omp target map(tofrom: on)
        all(n, on);
        all(n, off);
        for (int i = 0; i < 8; i++)
            CHECK_EQ(on[i], off[i]);
        union bytes u = numbered(n), v = u;
        long firsts = 0, privates = 0;
#pragma omp target firstprivate(u) map(from: firsts)
        firsts = sum(u);
#pragma omp target teams distribute parallel for firstprivate(v) reduction(+: privates)
        for (int i = 0; i < 64; i++)
            privates += sum(v) + v.raw[i % 16];
        CHECK_EQ(firsts, sum(u));
        CHECK_EQ(privates, 64 * sum(u) + 4 * (120 + 16 * n));
    }
    return RESULT;
}
