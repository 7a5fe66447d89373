/* a declare target block with indirect, whose functions use those of the compiler; a table of functions of the device */
#include <stdarg.h>
#include "check.h"
typedef int operation(int, int);
#pragma omp begin declare target indirect
static int add(int a, int b) { return a + b; }
static int count(int a, int b) { return __builtin_popcount((unsigned)a) + b; }
static int sum(int n, ...)
{
    va_list list;
    int total = 0;
    va_start(list, n);
    while (n-- > 0)
        total += va_arg(list, int);
    va_end(list);
    return total;
}
static operation *const table[] = { add, count };
#pragma omp end declare target
int main(void)
{
    int r[3] = { 0 }, on = 0;
    operation *chosen = count;
#pragma omp target map(tofrom: r, on)
    {
        r[0] = table[0](2, 3);
        r[1] = chosen(7, 10);
        r[2] = sum(3, 1, 2, 4);
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK(r[0] == 5 && r[1] == 13 && r[2] == 7);
    return RESULT;
}
