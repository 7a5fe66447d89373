/* functions that are other names of functions, here and in another file; the function itself needs no declare target */ /* with: parts/alias.c */ /* also: -O0 -g */
#include "check.h"
static int real(int x) { return x + 1; }
int other(int) __attribute__((alias("real")));
extern int maybe(int) __attribute__((weak, alias("other")));
int alias_shared(int *), alias_weak(int *);
#pragma omp declare target enter(alias_shared, alias_weak)

#pragma omp begin declare target
static int hidden(const char *format, ...) { return format[0] - '0'; }
int variadic(const char *, ...) __attribute__((__alias__("hidden")));
#pragma omp end declare target

int main(void)
{
    int r[6] = { 0 }, on = 0;
#pragma omp target map(tofrom: r, on)
    {
        on = ON_DEVICE;
        r[0] = other(1) + 10 * maybe(2);
        r[1] = variadic("7", 1, 2);
#pragma omp parallel num_threads(8)
        {
#pragma omp single
            alias_shared(&r[2]);
#pragma omp critical
            alias_weak(&r[3]);
        }
        alias_shared(&r[4]);
    }
    CHECK(on);
    CHECK(r[0] == 32 && r[1] == 7 && r[2] == 1 && r[3] == 8 && r[4] == 4);
    CHECK(other(1) == 2 && maybe(1) == 2);
    return RESULT;
}
