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
int main(void)
{
    CHECK_EQ(count(3), 8);
    CHECK_EQ(count(1), 9);
    CHECK_EQ(twice(1), 600 + 20 + 2 + 7);
    CHECK_EQ(twice(2), 600 + 40 + 2 + 7);
    CHECK_EQ(large(42), 84);
    return RESULT;
}
