/* firstprivate structures: each thread has a copy, sequential code changes the team's; printf and an assertion between */
#include "check.h"
#include <assert.h>
struct big { int n; double w[6]; int *p; };
struct small { int a, b; };
static double sum(const struct big *b) { return b->w[0] + b->w[5] + b->n; }
int main(void)
{
    struct big big = { 3, { 1, 2, 3, 4, 5, 6 }, 0 };
    struct small small = { 4, 5 };
    double out[40] = { 0 };
    int on = 0, row[5] = { 1, 2, 3, 4, 5 };
#pragma omp target teams distribute num_teams(2) firstprivate(big, small, row) map(tofrom: out) map(tofrom: on)
    for (int t = 0; t < 2; t++) {
        struct big copy = big;
        copy.n += t;
        big.w[5] = 60;
        small.a = copy.n;
        row[2] = 30 + t;
        assert(small.a == 3 + t);
#pragma omp parallel for
        for (int i = 0; i < 20; i++)
            out[t * 20 + i] = sum(&big) + small.a + row[2] + copy.w[1];
        printf("team %d: %d %g\n", t, small.a, copy.w[1]);
        on = ON_DEVICE;
    }
    CHECK(on);
    for (int i = 0; i < 40; i++)
        CHECK_EQ(out[i], 64 + 3 + i / 20 + 30 + i / 20 + 2);
    return RESULT;
}
