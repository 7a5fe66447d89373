/* default(none|shared|private|firstprivate), shared, and what is private in spite of them */
#include "check.h"

int main(void)
{
    int n = 60, a[60], b = 2, on = 0, sum = 0;

#pragma omp target teams distribute parallel for default(none) shared(a, on) firstprivate(b, n) map(from: a) map(tofrom: on)
    for (int i = 0; i < n; i++) {
        int k = i * b;
        a[i] = k;
        on = ON_DEVICE;
    }
    CHECK(on);
    for (int i = 0; i < n; i++)
        CHECK_EQ(a[i], 2 * i);
#pragma omp target map(tofrom: sum) map(to: a)
#pragma omp parallel for default(shared) reduction(+: sum)
    for (int i = 0; i < n; i++)
        sum += a[i] + b;
    CHECK_EQ(sum, n * (n - 1) + 2 * n);
    int after = 0;
#pragma omp target map(from: after)
    {
        int k = 1, l = 2;
#pragma omp parallel default(firstprivate) shared(l)
        {
            k += omp_get_thread_num();
#pragma omp single
            l += 10;
        }
        after = 100 * k + l;
    }
    CHECK_EQ(after, 112);
#pragma omp target map(from: after)
    {
        int k = 1;
#pragma omp parallel default(private)
        k = omp_get_thread_num();
        after = k;
    }
    CHECK_EQ(after, 1);
    return RESULT;
}
