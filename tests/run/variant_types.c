/* structs and unions in functions that a directive right before them is about, which clang 22 does not take for defined */ /* also: -O0 */
#include "check.h"

static int first(const int *a) { struct { int more; } s = { 100 }; return a[0] + s.more; }
static int second(const int *a) { return -a[1]; }
#pragma omp declare variant(second) match(user={condition(0)})
#pragma omp declare variant(first) match(construct={dispatch})
static int base(const int *a)
{
    struct named { int x; } s = { 1 };
    union __attribute__((aligned(8))) { int i; float f; } u = { 3 };
    int k = 0;
#pragma omp target map(tofrom: k)
    k += s.x + u.i;
#pragma omp target parallel for reduction(+: k)
    for (int i = 0; i < 10; i++)
        k += i;
    return a[0] + k;
}
#pragma omp begin declare target
#pragma omp declare simd
#pragma omp declare simd uniform(a)
static int element(const int *a, int i) { struct { const int *p; } s = { a }; return s.p[i]; }
#pragma omp end declare target

int main(void)
{
    int a[2] = { 5, 6 }, r = base(a), s, t = 0;
#pragma omp dispatch
    s = base(a);
#pragma omp target map(tofrom: t) map(to: a)
    t = element(a, 1);
    CHECK_EQ(r, 54);
    CHECK_EQ(s, 105);
    CHECK_EQ(t, element(a, 1));
    return RESULT;
}
