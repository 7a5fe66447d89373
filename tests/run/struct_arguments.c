/* structs as variable arguments, after smaller ones */ /* also: -O0, -O2 -g */
#include <stdarg.h>
#include "check.h"

struct mixed { char c; double d; };
union wide { char raw[16]; long l; };
#pragma omp begin declare target
static __attribute__((noinline)) double sum_of(int n, ...)
{
    va_list l;
    double sum = n;
    va_start(l, n);
    sum += va_arg(l, int);
    struct mixed m = va_arg(l, struct mixed);
    sum += 10 * m.c + 100 * m.d + 1000 * va_arg(l, int);
    union wide w = va_arg(l, union wide);
    sum += 1e4 * w.raw[1] + 1e5 * w.raw[15] + 1e6 * va_arg(l, int);
    va_end(l);
    return sum;
}
#pragma omp end declare target

int main(void)
{
    double r = 0;
#pragma omp target map(tofrom: r)
    {
        struct mixed m = { 2, 3 };
        union wide w = { { 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6 } };
        double (*f)(int, ...) = sum_of;
        r = sum_of(0, 1, m, 4, w, 7) + f(0, 1, m, 4, w, 7);
    }
    CHECK(r == 2 * 7654321.0);
    return RESULT;
}
