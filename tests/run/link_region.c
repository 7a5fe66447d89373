/* declare target link variables that a construct names without a map clause: as if map(tofrom) had them */ /* also: -O0 -g */
#include "check.h"

static int counter = 42;
static double table[40];
static struct { int a; int *p; } record;
static int sum = 7, last, *list;
#pragma omp declare target link(counter, table, record, sum, last, list)

static void in_regions(void)
{
    int on = 0;
#pragma omp target map(from: on)
    {
        counter += 2;
        table[39] = counter;
        record.a = 3;
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(counter, 44);
    CHECK_EQ(table[39], 44);
    CHECK_EQ(record.a, 3);
#pragma omp target defaultmap(firstprivate: scalar)
    counter++;
    CHECK_EQ(counter, 45);
#pragma omp target firstprivate(counter)
    counter++;
    CHECK_EQ(counter, 45);
}

/* Mapped before, whole or in part, nothing is copied. */
static void in_data_environments(void)
{
    int n = 4;
    table[3] = 1, table[4] = 2;
#pragma omp target enter data map(to: table[0:n], counter)
#pragma omp target
    {
        table[3] += 10;
        counter++;
    }
    CHECK_EQ(table[3], 1);
    CHECK_EQ(counter, 45);
#pragma omp target exit data map(from: table[0:n], counter)
    CHECK_EQ(table[3], 11);
    CHECK_EQ(table[4], 2);
    CHECK_EQ(counter, 46);
}

static void of_pointers(void)
{
    int x[10];
    for (int i = 0; i < 10; i++)
        x[i] = i;
    list = record.p = x;
#pragma omp target map(list[0:10])
    for (int i = 0; i < 10; i++)
        list[i] *= 2;
    CHECK_EQ(x[9], 18);
    CHECK(list == x);
#pragma omp target map(record.p[0:10])
    for (int i = 0; i < 10; i++)
        record.p[i] *= 2;
    CHECK_EQ(x[9], 36);
    CHECK(record.p == x);
}

static void of_loops(void)
{
#pragma omp target teams distribute parallel for reduction(+: sum)
    for (int i = 0; i < 10; i++)
        sum += i;
    CHECK_EQ(sum, 52);
#pragma omp target map(tofrom: sum)
#pragma omp parallel for reduction(+: sum)
    for (int i = 0; i < 10; i++)
        sum += i;
    CHECK_EQ(sum, 97);
#pragma omp target parallel for lastprivate(last)
    for (int i = 0; i < 10; i++)
        last = i;
    CHECK_EQ(last, 9);
#pragma omp target simd
    for (last = 0; last < 20; last++)
        ;
    CHECK_EQ(last, 20);
}

int main(void)
{
    in_regions();
    in_data_environments();
    of_pointers();
    of_loops();
#pragma omp target nowait depend(inout: counter)
    counter += 4;
#pragma omp taskwait
    CHECK_EQ(counter, 50);
    return RESULT;
}
