/* num_threads with a list: the levels of nested regions on the host, of several depths; the first number on the device */ /* also: -O0 */
#include "check.h"
static int two(void) { return 2; }
static int outer, middle, inner, innermost;
static void nest(int first)
{
    outer = middle = inner = innermost = 0;
#pragma omp parallel num_threads(first, two(), 3) reduction(+: outer, middle, inner, innermost)
    {
        outer = omp_get_num_threads();
#pragma omp parallel reduction(+: middle, inner, innermost)
        {
            middle = omp_get_num_threads();
#pragma omp parallel reduction(+: inner) num_threads(omp_get_level() == 2 ? 3 : 1)
            inner = omp_get_num_threads();
#pragma omp parallel reduction(+: innermost)
            innermost = omp_get_num_threads();
        }
    }
}
#pragma omp begin declare target
static int size_of(int n)
{
    int size = 0;
#pragma omp parallel num_threads(n, 2)
#pragma omp single
    size = omp_get_num_threads();
    return size;
}
#pragma omp end declare target

int main(void)
{
    int sizes[3] = { 0 }, on = 0, plain = 0;
    omp_set_max_active_levels(3);
    omp_set_dynamic(0);
    omp_set_num_threads(1);
    nest(4);
    CHECK_EQ(outer, 16);
    CHECK_EQ(middle, 4 * 4);
    CHECK_EQ(inner, 4 * 2 * 9);
    CHECK_EQ(innermost, 4 * 2 * 9);
#pragma omp parallel reduction(+: plain)
    plain++;
    CHECK_EQ(plain, 1);
#pragma omp target map(tofrom: sizes, on)
    {
        on = ON_DEVICE;
        sizes[0] = size_of(4);
#pragma omp parallel num_threads(strict: 8, 2)
#pragma omp masked
        sizes[1] = omp_get_num_threads();
    }
#pragma omp target parallel num_threads(16, 4) map(tofrom: sizes)
#pragma omp masked
    sizes[2] = omp_get_num_threads();
    CHECK(on && sizes[0] == 4 && sizes[1] == 8 && sizes[2] == 16);
    CHECK_EQ(size_of(3), 3);
    return RESULT;
}
