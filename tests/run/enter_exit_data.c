/* target enter data / exit data across functions; release, delete, from; reference counts */
#include "check.h"

static void enter(int *a, int n)
{
#pragma omp target enter data map(to: a[0:n])
}
static void leave(int *a, int n)
{
#pragma omp target exit data map(from: a[0:n])
}
static void bump(int *a, int n)
{
#pragma omp target teams distribute parallel for map(tofrom: a[0:n])
    for (int i = 0; i < n; i++)
        a[i]++;
}

int main(void)
{
    int n = 64, *a = malloc(n * sizeof *a), on = 0, s[4] = { 1, 2, 3, 4 };

#pragma omp target map(tofrom: on)
    on = ON_DEVICE;
    CHECK(on);
    for (int i = 0; i < n; i++)
        a[i] = i;
#ifndef HOST_ONLY
    CHECK(!PRESENT(a));
#endif
    enter(a, n);
    CHECK(PRESENT(a));
    bump(a, n);
    enter(a, n);                     /* count 2 */
    bump(a, n);
#ifndef HOST_ONLY
    CHECK_EQ(a[5], 5);               /* still on the device */
#endif
    leave(a, n);                     /* count 1: no copy */
    CHECK(PRESENT(a));
    leave(a, n);
    CHECK_EQ(a[5], 7);
    CHECK_EQ(a[63], 65);
#ifndef HOST_ONLY
    CHECK(!PRESENT(a));
#endif

#pragma omp target enter data map(to: s) map(alloc: a[0:n])
#pragma omp target enter data map(to: s)
#pragma omp target
    s[0] = 50, a[0] = s[1] + 70;
#pragma omp target exit data map(delete: s)      /* whatever the count, no copy */
#pragma omp target exit data map(release: a[0:n])
#ifndef HOST_ONLY
    CHECK_EQ(s[0], 1);
    CHECK_EQ(a[0], 2);               /* bumped twice before; the region's store is lost */
    CHECK(!PRESENT(s));
    CHECK(!PRESENT(a));
#endif
    free(a);
    return RESULT;
}
