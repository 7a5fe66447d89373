/* other names of declare target variables, here and in another file: one storage, in code and in mapping */ /* with: parts/alias_variable.c */ /* also: -O0 -g */
#include "check.h"
#define COUNT_IN 4
int a[COUNT_IN] = { 1, 2, 3, 4 };
extern int b[COUNT_IN] __attribute__((alias("a")));
#pragma omp declare target enter(b)

#pragma omp begin declare target
static double hidden = 0.5;
extern double shown __attribute__((__alias__("hidden")));
extern double shown_again __attribute__((weak, alias("shown")));
static void add(int i) { b[i] += 10; }
double half(void);
#pragma omp end declare target

static long linked = 5;
#pragma omp declare target link(linked)
extern long linked_too __attribute__((alias("linked")));

int plain = 1; /* of no directive: each name is mapped by its address */
extern int plain_too __attribute__((alias("plain")));

struct pair { int x, y; } pair = { 1, 2 };
extern struct pair pair_too __attribute__((alias("pair")));
static int sum_of_pair(void) { return pair.x + pair_too.y; }

int main(void)
{
    int on = 0, sum = 0;
    double d = 0;
#pragma omp target map(tofrom: on, sum, d)
    {
        on = ON_DEVICE;
        for (int i = 0; i < COUNT_IN; i++)
            add(i), sum += a[i];
        shown = 2;
        d = hidden + half() + shown_again;
        sum += 1000 * sum_of_pair();
    }
    CHECK(on && d == 6 && sum == 3050);
    CHECK(a[0] == 1 && hidden == 0.5);
#pragma omp target update from(a)
    CHECK(a[0] == 11 && b[3] == 14);
    b[1] = 100;
#pragma omp target update to(b[1:1])
#pragma omp target map(from: sum)
    sum = a[1];
    CHECK_EQ(sum, 100);
#pragma omp target map(tofrom: linked_too)
    linked_too += linked;
    CHECK_EQ(linked, 10);
#pragma omp target map(tofrom: plain)
    plain = 7;
#pragma omp target map(tofrom: plain_too)
    plain_too += 1;
    CHECK_EQ(plain, 8);
    CHECK(PRESENT(b) && omp_get_mapped_ptr(b, omp_get_default_device()) == omp_get_mapped_ptr(a, omp_get_default_device()));
    return RESULT;
}
