/* sizes: a struct by value of 1 KiB, an array of a megabyte, 100000 iterations with 1 and many threads, long strings of launches */
#include "check.h"

struct kib { int v[256]; };

int main(void)
{
    struct kib k = { { 5, [255] = 6 } };
    enum { N = 1 << 18 };
    int *big = malloc(N * sizeof *big), on = 0, bad = 0;
    double s = 0;

#pragma omp target firstprivate(k) map(tofrom: on)
    {
        k.v[1] = k.v[0] + k.v[255];
        on = ON_DEVICE ? k.v[1] : 0;
    }
    CHECK_EQ(on, 11);
#pragma omp target teams distribute parallel for firstprivate(k) map(from: big[0:N])
    for (int i = 0; i < N; i++)
        big[i] = i + k.v[i & 255];
    for (int i = 0; i < N; i++)
        bad += big[i] != i + ((i & 255) == 0 ? 5 : (i & 255) == 255 ? 6 : 0);
    CHECK_EQ(bad, 0);
#pragma omp target teams distribute parallel for num_teams(1) thread_limit(1) reduction(+: s) map(to: big[0:N])
    for (int i = 0; i < 100000; i++)
        s += big[i] & 1;
#pragma omp target teams distribute parallel for num_teams(500) thread_limit(1000) reduction(+: s) map(to: big[0:N])
    for (int i = 0; i < 100000; i++)
        s += big[i] & 1;
    double h = 0;
    for (int i = 0; i < 100000; i++)
        h += 2 * (big[i] & 1);
    CHECK_EQ(s, h);
    free(big);
    return RESULT;
}
