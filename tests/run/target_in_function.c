/* Constructs that need the host, in a function that regions call, too: they do not get there. */ /* also: -O0 -g */
/* says: which regions on the device call\| | */
#include "check.h"
static int calls;
static void write_line(void)
{
    FILE *f = fopen("/dev/null", "w");
    calls += fprintf(f, "x");
    fclose(f);
}
static int both(int x, int on_host)
{
    int a[4] = { 1, 2, 3, 4 };
    if (on_host) {
#pragma omp target map(tofrom: x, a)
#pragma omp parallel for reduction(+: x)
        for (int i = 0; i < 4; i++)
            x += a[i] * ON_DEVICE;
#pragma omp target data map(tofrom: a)
        {
            write_line();
            a[0]++;
#pragma omp target update to(a)
        }
#pragma omp target device_type(host) map(tofrom: x)
        write_line();
    }
#pragma omp parallel for reduction(+: x)
    for (int i = 0; i < 4; i++)
        x += a[i];
    return x + 1;
}
static int recursive(int n)
{
    if (n == 0) {
#pragma omp target map(tofrom: n)
        n = recursive(n + 1) + ON_DEVICE;
    }
    return n + 1;
}
int main(void)
{
    int r = 0, on = 0;
#pragma omp target map(tofrom: r, on)
    {
        on = ON_DEVICE;
        r = both(3, !on);
    }
    CHECK(on && r == 14);
    CHECK_EQ(both(1, 1), 23);
    CHECK_EQ(calls, 2);
    CHECK_EQ(recursive(0), 4);
    return RESULT;
}
