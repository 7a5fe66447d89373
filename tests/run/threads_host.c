/* several host threads launch regions and map data at the same time */
#include "check.h"

int main(void)
{
    enum { T = 4, N = 200 };
    int shared[N], sums[T] = { 0 }, on[T] = { 0 };

    for (int i = 0; i < N; i++)
        shared[i] = i;
#pragma omp parallel for num_threads(T) schedule(static, 1)
    for (int t = 0; t < T; t++)
        for (int k = 0; k < 10; k++) {
            int own[N], s = 0, here = 0;
            for (int i = 0; i < N; i++)
                own[i] = t;
#pragma omp target teams distribute parallel for map(to: shared, own) map(tofrom: here) reduction(+: s)
            for (int i = 0; i < N; i++) {
                s += shared[i] + own[i];
                here = ON_DEVICE;
            }
            sums[t] += s;
            on[t] = here;
        }
    for (int t = 0; t < T; t++) {
        CHECK_EQ(sums[t], 10 * (N * (N - 1) / 2 + N * t));
        CHECK(on[t]);
    }
    return RESULT;
}
