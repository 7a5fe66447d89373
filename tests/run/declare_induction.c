/* declare induction: collector and inductor, once; by type and scope; pairs of types */ /* also: -O0 -g */
#include "check.h"

enum { N = 50, BIG = 1000 };
typedef struct {
    double x, y;
} point;

struct by {
    int n;
};

static point along(point p, double distance)
{
    point q = { p.x + distance, p.y + 2 * distance };
    return q;
}

#pragma omp declare target
static unsigned power(unsigned x, long n)
{
    unsigned y = 1;
    for (; n; n--)
        y *= x;
    return y;
}
#pragma omp end declare target

#pragma omp declare induction(next : (point, double)) inductor(omp_var = along(omp_var, omp_step)) \
    collector(omp_step * omp_idx)
#pragma omp declare_induction(next: int, long) collector(omp_step * omp_idx), inductor(omp_var -= omp_step)
#pragma omp declare induction(times : unsigned) inductor(omp_var = omp_var * omp_step) collector(power(omp_step, omp_idx))
#pragma omp declare induction(shift : (unsigned long, struct by)) inductor(omp_var <<= omp_step.n) collector((struct by){ omp_step.n * (int)omp_idx })
#pragma omp declare induction(never : char *) inductor(omp_var += 1) collector(omp_step)

static int device(void)
{
    point p = { 1, 1 }, at[N];
    int on = 0, n = 0, i1 = 100, ints[N];
    long l = 7, longs[N];
    unsigned u = 3, powers[N];
#pragma omp target teams distribute parallel for induction(step(0.5), next : p) induction(strict, step(3), next: i1, l) \
    induction(step(5u), times: u) map(from: at, ints, longs, powers) map(tofrom: on)
    for (int i = 10; i < 10 + 2 * N; i += 2) {
        int k = (i - 10) / 2;
        at[k] = p;
        ints[k] = i1;
        longs[k] = l;
        powers[k] = u;
        if (k == 5)
            on = ON_DEVICE;
        p = along(p, 0.5);
        i1 -= 3;
        l -= 3;
        u *= 5;
    }
    for (int i = 0; i < N; i++)
        n += at[i].x != 1 + 0.5 * i || at[i].y != 1 + i || ints[i] != 100 - 3 * i || longs[i] != 7 - 3 * i || powers[i] != 3 * power(5, i);
    CHECK(on);
    CHECK_EQ(p.x, 1 + 0.5 * N);
    CHECK_EQ(i1, 100 - 3 * N);
    CHECK_EQ(l, 7 - 3 * N);
    CHECK_EQ(u, 3 * power(5, N));
    return n;
}

/* The innermost declaration counts; one of another scope is none. */
static int host(void)
{
    int x = 1, y = 1, n = 0, xs[BIG], ys[BIG], first = -1;
    {
#pragma omp declare induction(next : int) inductor(omp_var = omp_var + 2 * omp_step) collector(omp_step * omp_idx)
#pragma omp parallel for schedule(dynamic, 3) num_threads(4) induction(relaxed, step(x), next: y)
        for (int i = 0; i < BIG; i++)
            ys[i] = y;
    }
#pragma omp parallel num_threads(3)
    {
#pragma omp for simd induction(step(1), next: x)
        for (int i = BIG; i > 0; i--) {
            xs[BIG - i] = x;
            x--;
        }
    }
    for (int i = 0; i < BIG; i++)
        n += xs[i] != 1 - i || ys[i] != 1 + 2 * i;
    CHECK_EQ(x, 1 - BIG);
    CHECK_EQ(y, 1 + 2 * BIG);
    /* no iteration, no step */
#pragma omp parallel for induction(step(1), next: first)
    for (int i = 5; i < n + 5 - n; i++)
        first = i;
    CHECK_EQ(first, -1);
    return n;
}

static unsigned long shifted(void)
{
    unsigned long bits = 1, all = 0;
    struct by two = { 2 };
#pragma omp target parallel for induction(step(two), shift: bits) reduction(|: all) num_threads(8)
    for (int i = 0; i < 20; i++)
        all |= bits;
    return all;
}

int main(void)
{
    CHECK_EQ(device(), 0);
    CHECK_EQ(host(), 0);
    CHECK_EQ(shifted(), 0x5555555555);
    return RESULT;
}
