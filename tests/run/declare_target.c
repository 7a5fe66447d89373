/* declare target: functions and variables, begin/end and list forms, static, arrays, initialised, link, update */
#include "check.h"

#pragma omp begin declare target
int counter = 5;
double table[4] = { 1, 2, 4, 8 };
struct { int a, b; } pair = { 3, 4 };
static int twice(int v);
int bump(int by)
{
    counter += by;
    return twice(counter);
}
#pragma omp end declare target
static int twice(int v) { return 2 * v; }

int late[3] = { 7, 8, 9 };
int enter_form = 11;
#pragma omp declare target (late)
#pragma omp declare target enter(enter_form)
int linked[10];
#pragma omp declare target link(linked)
static const int constant[3] = { 10, 20, 30 };     /* used on the device without being declared */
static int plain = 6;                              /* mapped as any variable */

/* regions in a construct of such a function, which the host runs; and on the host, where the variable is nobody's copy */
#pragma omp begin declare target
static int hosts = 1;
static int regions_in_parallel(void)
{
    int r = 0;
#pragma omp parallel num_threads(1)
    {
#pragma omp target map(from: r) if(0)
        r = ++hosts;
#pragma omp target map(tofrom: r)
        r += 10;
    }
    return r;
}
#pragma omp end declare target

int main(void)
{
    CHECK(regions_in_parallel() == 12 && hosts == 2);
    int r = 0, on = 0;
    double d = 0;

    counter = 1;                     /* the host's; the device's was initialised with 5 */
#pragma omp target map(from: r, d) map(tofrom: on)
    {
        on = ON_DEVICE;
        r = bump(10) + late[1] + constant[2] + pair.b + enter_form;
        d = table[3] + table[0];
        late[0] = r;
    }
    CHECK(on);
    CHECK_EQ(d, 9);
#ifndef HOST_ONLY
    CHECK_EQ(r, 30 + 8 + 30 + 4 + 11);
    CHECK_EQ(counter, 1);
#pragma omp target update from(counter, late)
    CHECK_EQ(counter, 15);
    CHECK_EQ(late[0], 83);
    counter = 100;
    table[3] = 0.5;
#pragma omp target update to(counter) to(table)
#endif
#pragma omp target map(from: r, d)
    {
        r = bump(1);
        d = table[3];
    }
#ifndef HOST_ONLY
    CHECK_EQ(r, 202);
    CHECK_EQ(d, 0.5);
#endif
    plain = 60;
#pragma omp target map(tofrom: plain)
    plain += 1;
    CHECK_EQ(plain, 61);

    for (int i = 0; i < 10; i++)
        linked[i] = i;
#pragma omp target data map(tofrom: linked)
#pragma omp target teams distribute parallel for
    for (int i = 0; i < 10; i++)
        linked[i] *= 3;
    for (int i = 0; i < 10; i++)
        CHECK_EQ(linked[i], 3 * i);
    return RESULT;
}
