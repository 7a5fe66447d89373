/* sizes: a struct by value of 1 KiB, a large array, many iterations with 1 and many threads */
#include "check.h"

#ifdef OMPGPU_LONG
enum { N = 1 << 18, TEAMS = 500, MANY = 100000 };
#else
enum { N = 1 << 14, TEAMS = 70, MANY = 10000 };
#endif

struct kib { int v[256]; };

int main(void)
{
    struct kib k = { { 5, [255] = 6 } };
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
    for (int i = 0; i < MANY; i++)
        s += big[i] & 1;
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(1000) reduction(+: s) map(to: big[0:N])
    for (int i = 0; i < MANY; i++)
        s += big[i] & 1;
    double h = 0;
    for (int i = 0; i < MANY; i++)
        h += 2 * (big[i] & 1);
    CHECK_EQ(s, h);
    free(big);
    return RESULT;
}
