/* static local variables that are declare target: enter, link, arrays, initial values */
#include "check.h"
struct pair {
    int a, b;
};
static int count(int k)
{
    static int n = 5;
#pragma omp declare target enter(n)
#pragma omp target
    n += k;
#pragma omp target update from(n)
    return n;
}
static int twice(int k)
{
    static const int table[3] = { 1, 2,
                                  3 };
    static struct pair n = { 1, 2 };
#pragma omp declare target(n)
#pragma omp declare target(table)
    int sum = 0;
#pragma omp target map(from : sum)
    {
        int n2 = 0;
        for (int i = 0; i < 3; i++)
            n2 += table[i];
        n.a += k;
        sum = n2 * 100 + n.a * 10 + n.b;
    }
    {
        int n = 7;
        sum += n;
    }
    return sum;
}
static double large(int i)
{
    static double a[100];
#pragma omp declare target link(a)
    a[i] = i;
#pragma omp target map(tofrom : a)
    a[i] *= 2;
    return a[i];
}
/* of functions that run on both: the directive is in device code, too */
static int both(int k)
{
    static int n = 20;
    static int other;
#pragma omp declare target enter(n)
    other++;
    return n += k;
}
#pragma omp begin declare target
static int in_block(int k)
{
    static int n[2] = { 1, 2 };
#pragma omp declare target(n)
    return n[1] += k;
}
#pragma omp end declare target
static void on_both(void)
{
    int r = 0;
    CHECK_EQ(both(1), 21);
    CHECK_EQ(in_block(1), 3);
#pragma omp target map(tofrom : r)
    r += 1000 * both(2) + in_block(3);
#pragma omp target map(tofrom : r)
    r += 1000 * both(3) + in_block(4);
    CHECK_EQ(r, 1000 * (22 + 25) + 5 + 9);
    CHECK_EQ(both(1), 22);
    CHECK_EQ(in_block(1), 4);
}
int main(void)
{
    on_both();
    CHECK_EQ(count(3), 8);
    CHECK_EQ(count(1), 9);
    CHECK_EQ(twice(1), 600 + 20 + 2 + 7);
    CHECK_EQ(twice(2), 600 + 40 + 2 + 7);
    CHECK_EQ(large(42), 84);
    return RESULT;
}
