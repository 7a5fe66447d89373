/* simd in its combinations: the same result as without */
#include "check.h"

int main(void)
{
    enum { N = 500 };
    float a[N], b[N], sum = 0;
    int on = 0, last = -1, lin = 4;

#pragma omp target teams distribute parallel for simd map(from: a) map(tofrom: on) simdlen(8)
    for (int i = 0; i < N; i++) {
        a[i] = (float)i;
        if (i == 0)
            on = ON_DEVICE;
    }
    CHECK(on);
#pragma omp target simd map(to: a) map(from: b) safelen(4)
    for (int i = 0; i < N; i++)
        b[i] = a[i] * 2;
    for (int i = 0; i < N; i++)
        CHECK_EQ(b[i], 2 * i);
#pragma omp target parallel for simd reduction(+: sum)
    for (int i = 0; i < N; i++)
        sum += b[i];
    CHECK_EQ(sum, N * (N - 1));
#pragma omp target teams distribute simd map(tofrom: last) lastprivate(last)
    for (int i = 0; i < N; i++)
        last = 3 * i;
    CHECK_EQ(last, 3 * (N - 1));
#pragma omp target map(tofrom: b) map(tofrom: lin)
    {
#pragma omp simd linear(lin: 2)
        for (int i = 0; i < N; i++) {
            b[i] = (float)lin;
            lin += 2;
        }
#pragma omp parallel for simd
        for (int i = 0; i < N; i++)
            a[i] = b[i] + 1;
    }
    CHECK_EQ(lin, 4 + 2 * N);
    for (int i = 0; i < N; i++)
        CHECK_EQ(b[i], 4 + 2 * i);
    return RESULT;
}
