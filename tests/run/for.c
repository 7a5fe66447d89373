/* for inside parallel: implicit barrier, nowait, two loops in a row, ordinary code between */ /* also: -O0 -g */
#include "check.h"

int main(void)
{
    enum { N = 777 };
    int a[N], b[N], c[N], on = 0;

#pragma omp target map(tofrom: on) map(from: a, b, c)
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < N; i++)
            a[i] = i;
        int mine = a[N - 1] - (N - 1);           /* all of a is complete here */
#pragma omp for nowait
        for (int i = 0; i < N; i++)
            b[i] = a[N - 1 - i] + mine;
#pragma omp barrier
#pragma omp for
        for (int i = N - 1; i >= 0; i--) {
            if (i % 3 == 0)
                continue;
            c[i] = b[(i * 5) % N];
        }
#pragma omp for
        for (int i = 0; i < N; i += 3)
            c[i] = -i;
#pragma omp single
        on = ON_DEVICE;
    }
    CHECK(on);
    for (int i = 0; i < N; i++) {
        CHECK_EQ(a[i], i);
        CHECK_EQ(b[i], N - 1 - i);
        CHECK_EQ(c[i], i % 3 ? N - 1 - i * 5 % N : -i);
    }
    return RESULT;
}
