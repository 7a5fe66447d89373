/* va_arg of each kind of type in a text that has an array of variable length */ /* also: -O0 -g */
#include <complex.h>
#include <stdarg.h>
#include "check.h"

typedef struct { int *p, *q; } pair;
typedef struct { char c[5]; } odd;
typedef struct { double d; char e; } mixed;
#pragma omp begin declare target
static double sum_of(int n, ...)
{
    va_list list, copy;
    double sum = n;
    va_start(list, n);
    sum += va_arg(list, int);
    pair p = va_arg(list, pair);
    sum += 10 * (p.p == p.q);
    double complex z = va_arg(list, double complex);
    sum += 100 * creal(z) + 1e3 * cimag(z);
    odd o = va_arg(list, odd);
    sum += 1e4 * o.c[4];
    mixed m = va_arg(list, mixed);
    sum += 1e5 * m.d + 1e6 * m.e + 1e7 * (double)va_arg(list, long);
    sum += 1e8 * (double)va_arg(list, _Float16);
    va_copy(copy, list);
    sum += 1e9 * va_arg(copy, int) + 1e10 * va_arg(list, int);
    va_end(copy);
    va_end(list);
    return sum;
}
static int variable(int n)
{
    int v[n];
    v[n - 1] = n;
    return v[n - 1];
}
#pragma omp end declare target

int main(void)
{
    double sum = 0;
    int on = 0;
#pragma omp target map(tofrom: sum, on)
    {
        int a[2] = { 0 };
        pair p = { a, a };
        odd o = { { 0, 0, 0, 0, 3 } };
        mixed m = { 4, 5 };
        sum = sum_of(2, 1, p, (double complex)(5 + 6 * I), o, m, 7l, (_Float16)0.5f, 8) + variable(4) * 0.25;
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK(sum == 2 + 1 + 10 + 500 + 6e3 + 3e4 + 4e5 + 5e6 + 7e7 + 0.5e8 + 8e9 + 8e10 + 1);
    return RESULT;
}
