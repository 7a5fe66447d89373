/* induction on distribute inside of teams, which share the variable or have one each: the last team stores the new value */ /* also: -O0 -g */
#include "check.h"

enum { N = 100 };
static int one[N], own[N], at[N];
static long many[N];

/* Target and teams in two directives; the host's own teams. */
static int alone(void)
{
    int k = 1, m = 7;
#pragma omp target map(tofrom: k) map(from: at)
#pragma omp teams default(none) shared(k, at) num_teams(3)
#pragma omp distribute parallel for induction(step(2), *: k)
    for (int i = 0; i < 10; i++)
        at[i] = k;
    for (int i = 0; i < 10; i++)
        CHECK_EQ(at[i], 1 << i);
#pragma omp teams num_teams(2) shared(m)
#pragma omp distribute induction(step(2), +: m)
    for (int i = 0; i < 10; i++)
        at[i] = m;
    CHECK_EQ(at[9], 25);
    CHECK_EQ(m, 27);
    return k;
}

int main(void)
{
    int k = 5, on = 0, given = 4, right = 1;
    long s = 1000;
#pragma omp target teams map(from: one, own, many) map(tofrom: k, s, on, right) num_teams(7) \
    thread_limit(64) firstprivate(given) reduction(&&: right)
    {
        int z = 3;
#pragma omp distribute induction(step(2), +: k)
        for (int i = 0; i < N; i++)
            one[i] = k;
#pragma omp distribute parallel for induction(step(-3), +: s) induction(step(1), +: z, given)
        for (int i = 0; i < N; i++) {
            many[i] = s;
            own[i] = 10 * z + given;
            if (i == 5)
                on = ON_DEVICE;
        }
        right = right && z == 3 + N && given == 4 + N;
    }
    CHECK(on && right);
    CHECK_EQ(k, 5 + 2 * N);
    CHECK_EQ(s, 1000 - 3 * N);
    for (int i = 0; i < N; i++) {
        CHECK_EQ(one[i], 5 + 2 * i);
        CHECK_EQ(many[i], 1000 - 3 * i);
        CHECK_EQ(own[i], 10 * (3 + i) + 4 + i);
    }
    CHECK_EQ(alone(), 1024);
    return RESULT;
}
