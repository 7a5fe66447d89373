/* called functions: static, inline, recursive, mutually recursive, varied parameters, used on both sides, defined later */
#include "check.h"

struct pair { int a; double b; };
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int is_odd(unsigned n);
static int is_even(unsigned n) { return n == 0 ? 1 : is_odd(n - 1); }
static int is_odd(unsigned n) { return n == 0 ? 0 : is_even(n - 1); }
static inline struct pair make(int a, double b) { return (struct pair){ a, b }; }
static inline __attribute__((always_inline)) void swap(int *p, int *q) { int t = *p; *p = *q; *q = t; }
static __attribute__((noinline)) double sum(const double *v, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += v[i];
    return s;
}
int external(int a), weight = 3, (*no_function)(int) = 0;   /* defined below, and variables in the same declaration */
static int of_weight(int), old_weight = 4, *pointer_to(int *p);
static int of_weight(int n) { return n * weight + old_weight; }
static int *pointer_to(int *p) { return p + 1; }
static int old_style_array(int v[static 3]) { return v[0] + v[1] + v[2]; }

int main(void)
{
    int r[9] = { 0 }, on = 0;
    double v[10], d = 0;

    for (int i = 0; i < 10; i++)
        v[i] = i * 0.5;
#pragma omp target map(tofrom: on, d)
    {
        int a = 1, b = 2, t[3] = { 3, 4, 5 };
        on = ON_DEVICE;
        swap(&a, &b);
        r[0] = 10 * a + b;
        r[1] = fib(12);
        r[2] = is_even(10) + 2 * is_odd(7);
        struct pair both = make(5, 2.5);
        r[3] = both.a + (int)(2 * both.b);
        r[4] = external(20);
        r[5] = old_style_array(t);
        r[8] = of_weight(*pointer_to(t));
        d = sum(v, 10) + sum(v + 5, 2);
    }
    CHECK(on);
    CHECK_EQ(r[0], 21);
    CHECK_EQ(r[1], fib(12));
    CHECK_EQ(r[2], 3);
    CHECK_EQ(r[3], 10);
    CHECK_EQ(r[4], external(20));
    CHECK(r[5] == 12 && r[8] == 16 && !no_function);
    CHECK_EQ(d, sum(v, 10) + 5.5);
#pragma omp target parallel for map(from: r)
    for (int i = 0; i < 8; i++)
        r[i] = fib(i + 5);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(r[i], fib(i + 5));
    return RESULT;
}
int external(int a) { return a > 0 ? a + external(a - 3) : a; }
