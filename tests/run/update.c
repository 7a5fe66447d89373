/* target update: to, from, sections, if, several items */
#include "check.h"

int main(void)
{
    enum { N = 40 };
    int a[N], x = 1, on = 0, m[6][5];

    for (int i = 0; i < N; i++)
        a[i] = i;
    for (int i = 0; i < 30; i++)
        m[i / 5][i % 5] = i;
#pragma omp target data map(to: a, x, m)
    {
#pragma omp target map(tofrom: on, x)
        {
            on = ON_DEVICE;
            x += 10;
            for (int i = 0; i < N; i++)
                a[i] *= 2;
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 5; j++)
                    m[i][j] += 100;
        }
#ifndef HOST_ONLY
        CHECK_EQ(x, 1);
#pragma omp target update from(a[10:5]) from(x) from(m[2:2])
        CHECK_EQ(x, 11);
        for (int i = 0; i < N; i++)
            CHECK_EQ(a[i], i >= 10 && i < 15 ? 2 * i : i);
        for (int i = 0; i < 30; i++)
            CHECK_EQ(m[i / 5][i % 5], i / 5 == 2 || i / 5 == 3 ? i + 100 : i);
        for (int i = 0; i < N; i++)
            a[i] = -i;
        x = 5;
#pragma omp target update to(x) if(0)
#pragma omp target update to(a[20:N - 20]) if(x == 5)
#pragma omp target map(tofrom: x)    /* a scalar would be firstprivate otherwise */
        {
            a[0] = x;
            a[1] = a[19];
            a[2] = a[20];
            a[3] = a[N - 1];
        }
#pragma omp target update from(a[:4])
        CHECK_EQ(a[0], 11);
        CHECK_EQ(a[1], 38);
        CHECK_EQ(a[2], -20);
        CHECK_EQ(a[3], -39);
#endif
    }
    CHECK(on);
    return RESULT;
}
