/* match_any and match_none: each trait of a list counts for itself; a vendor that nobody is */
#include "check.h"
#pragma omp begin declare target
static int either(void) { return 1; }
#pragma omp declare variant(either) match(implementation={extension(match_any)}, device={kind(cpu, gpu)})
static int base(void) { return 0; }
static int neither(void) { return 1; }
#pragma omp declare variant(neither) match(implementation={extension(match_none)}, device={kind(fpga, gpu)})
static int other(void) { return 0; }
static int both(void) { return 1; }
#pragma omp declare variant(both) match(device={kind(nohost, gpu)})
static int third(void) { return 0; }
#pragma omp end declare target
int main(void)
{
    int r[4] = { 0 }, n = 0;
#pragma omp target map(tofrom: n)
#pragma omp metadirective when(implementation={vendor(unknown)}: parallel num_threads(3) reduction(+: n)) otherwise(nothing)
    n++;
    CHECK_EQ(n, 1);
#pragma omp target map(from: r)
    r[0] = base(), r[1] = other(), r[2] = third(), r[3] = ON_DEVICE;
    CHECK(r[0] == 1 && r[1] == 0 && r[2] == 1 && r[3]);
    CHECK(base() == 1 && other() == 1 && third() == 0);
    return RESULT;
}
