/* declare target link variables in device functions: scalars, arrays, structs; mapped, mapped again, in part */ /* also: -O0 -g */
#include "check.h"

static int factor = 10;
double table[40];
struct { int a; float b[3]; } record;
int unused_there[5];
#pragma omp declare target link(factor, table, record, unused_there)

static void scale(int *to, const int *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i] * factor;
}

static double sum(int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += table[i];
    return s;
}

#pragma omp begin declare target
static void fill(void)
{
#pragma omp parallel for
    for (int i = 0; i < COUNT(table); i++)
        table[i] = i + record.a + record.b[2];
}
#pragma omp end declare target

int main(void)
{
    int x[10], y[10], on = 0;
    double total = 0;
    for (int i = 0; i < 10; i++)
        x[i] = i;
    factor = 12;
#pragma omp target map(to: x, factor) map(from: y, on)
    {
        scale(y, x, 10);
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(y[9], 108);

    factor = -1;
    record.a = 3, record.b[2] = 0.5f;
#pragma omp target data map(to: factor, record) map(from: table)
    {
#pragma omp target map(from: y)
        scale(y, x, 10);
        CHECK_EQ(y[9], -9);
#pragma omp target
        fill();
#pragma omp target map(from: total)
        total = sum(COUNT(table));
    }
    CHECK_EQ(total, 39 * 20 + 40 * 3.5);
    CHECK_EQ(table[39], 42.5);

    table[0] = 100, table[1] = 200;
#pragma omp target map(to: table[0:2]) map(from: total)
    total = sum(2);
    CHECK_EQ(total, 300);

    static double *p = table;
    int n = 4;
#pragma omp target enter data map(to: p[0:n])
    table[2] = -5;
#pragma omp target update to(table[2:1])
#pragma omp target teams distribute parallel for reduction(+: total)
    for (int i = 0; i < 64; i++)
        total += sum(4);
#pragma omp target exit data map(delete: p[0:n])
    CHECK_EQ(total, 300 + 64 * (300 - 5 + 3 + 3.5));
    return RESULT;
}
