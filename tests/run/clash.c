/* names that a generator might choose for itself, as variables, members, functions, labels and types */
#include "check.h"

struct s { int s, a, b; };
typedef struct rec { int rec; } tmp;
static int region(int env) { return env + 1; }
static int fn(int ctx) { return ctx * 2; }

int main(void)
{
    int s = 1, a = 2, b = 3, rec = 4, i = 5, k = 6, n = 0, ctx = 7, env = 8, tid = 9, map = 10, x[12] = { 0 };
    int team = 1, nteams = 2, nthreads = 3, stride = 4, trip = 5, lb = 6, ub = 7, from = 8, to = 9, lo = 1, hi = 2, r = 3, p = 4, m = 5, l = 6;
    struct s both = { 1, 2, 3 };
    double sum = 0, max = 0;

#pragma omp target map(tofrom: n) map(tofrom: x, both)
    {
        tmp t = { rec };
        x[0] = s + a + b + rec + i + k + ctx + env + tid + map + t.rec;
        x[1] = team + nteams + nthreads + stride + trip + lb + ub + from + to + lo + hi + r + p + m + l;
        both.s += s, both.a += a, both.b += b;
        x[2] = region(env) + fn(ctx);
        goto out;
    out:
        n = ON_DEVICE;
    }
    CHECK(n);
    CHECK_EQ(x[0], 59);
    CHECK_EQ(x[1], 66);
    CHECK(both.s == 2 && both.a == 4 && both.b == 6);
    CHECK_EQ(x[2], 23);
#pragma omp target teams distribute parallel for reduction(+: sum, s, rec) reduction(max: max, a, i, b) map(tofrom: k)
    for (int tmp_ = 0; tmp_ < 50; tmp_++) {
        sum += tmp_, s += 1, rec += 2;
        max = tmp_ > max ? tmp_ : max;
        a = tmp_ > a ? tmp_ : a, b = tmp_ > b ? tmp_ : b, i = 2 * tmp_ > i ? 2 * tmp_ : i;
    }
    CHECK(sum == 1225 && s == 51 && rec == 104 && max == 49 && a == 49 && b == 49 && i == 98);
    int c[30];
#pragma omp target map(from: c)
    {
        int i = 3, k = 4, trip = 5, into = 6, from = 7, a = 8, b = 9;
#pragma omp parallel for firstprivate(i, into) reduction(+: a) lastprivate(b)
        for (int k = 0; k < 30; k++) {
            c[k] = i + k + trip + into + from;
            a += 1;
            b = k;
        }
        c[0] += a + k + b;
    }
    CHECK_EQ(c[0], 21 + 38 + 4 + 29);
    CHECK_EQ(c[29], 21 + 29);
    return RESULT;
}
