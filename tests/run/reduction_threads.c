/* reductions over leagues from several host threads at once: each has a scratchpad and a counter of its own */
#include <string.h>
#include "check.h"

enum { THREADS = 5, ROUNDS = 4, N = 1000 };
static double x[N];

struct result { double d; float f; int n, v[40]; };

/* The same kernels for all threads, with other numbers of teams: a scratchpad grows while others are in use. */
static struct result once(int teams)
{
    struct result r = { 0.5, 0.25f, 1, { 0 } };
    double d = r.d;
    float f = r.f;
    int n = r.n, v[40] = { 0 };
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(32) reduction(+: d, f, n) map(to: x)
    for (int i = 0; i < N; i++) {
        d += x[i];
        f += (float)x[i] / 3;
        n += i;
    }
#pragma omp target teams distribute parallel for num_teams(teams / 4 + 1) thread_limit(32) reduction(+: v)
    for (int i = 0; i < N; i++)
        v[i % 40] += i;
#pragma omp target teams distribute num_teams(teams) reduction(+: d, n)
    for (int i = 0; i < N; i++) {
        d += 1;
        n += 2;
    }
    r.d = d, r.f = f, r.n = n;
    memcpy(r.v, v, sizeof v);
    return r;
}

int main(void)
{
    struct result alone[THREADS];
    int other[THREADS] = { 0 };
    for (int i = 0; i < N; i++)
        x[i] = 1.0 / (i + 1);
    for (int t = 0; t < THREADS; t++)
        alone[t] = once(1 + t * t * 20);               /* 1 … 321 teams: more than fit on the device at once */
#pragma omp parallel for num_threads(THREADS) schedule(static, 1)
    for (int t = 0; t < THREADS; t++)
        for (int k = 0; k < ROUNDS; k++) {
            int which = (t + k) % THREADS;
            struct result r = once(1 + which * which * 20);
            other[t] += memcmp(&r, &alone[which], sizeof r) != 0;
        }
    for (int t = 0; t < THREADS; t++) {
        CHECK_EQ(other[t], 0);                         /* the same bits */
        CHECK_EQ(alone[t].n, 1 + N * (N - 1) / 2 + 2 * N);
        CHECK_EQ(alone[t].v[7], 7 * 25 + 40 * (24 * 25 / 2));
    }
    return RESULT;
}
