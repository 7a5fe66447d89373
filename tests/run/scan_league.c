/* scans of loops that all teams share: groups of tiles, several launches, records of several sizes */ /* also: -O0 -g */
#include "check.h"
enum { N = 20000, LONG = 150000 };            /* LONG: more than 1024 tiles of teams of 32 threads (tests/reduction/scan.t) */
struct line { unsigned long a, b; };          /* x -> a * x + b: an operator that does not commute */
#pragma omp declare reduction(then : struct line : omp_out = (struct line){ omp_in.a * omp_out.a, omp_in.a * omp_out.b + omp_in.b }) \
    initializer(omp_priv = (struct line){ 1, 0 })
static int a[LONG], sums[LONG];
static unsigned long powers[LONG];
static double halves[LONG];

static void add(int n, int s)
{
    int first = s, t = s;
#pragma omp target parallel for reduction(inscan, + : s) map(to: a[:n]) map(from: sums[:n]) map(tofrom: s)
    for (int i = 0; i < n; i++) {
        s += a[i];
#pragma omp scan inclusive(s)
        sums[i] = s;
    }
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += sums[i] != (t += a[i]);
    CHECK_EQ(wrong, 0);
    CHECK_EQ(s, n ? t : first);
}

static void compose(int n, int *on)
{
    struct line f = { 3, 1 }, g = f;
    double h = 0;
#pragma omp target parallel for reduction(inscan, then : f) reduction(inscan, + : h) map(to: a[:n]) map(from: powers[:n], halves[:n]) \
    map(tofrom: f, h, on[:1])
    for (int i = 0; i < n; i++) {
        powers[i] = f.b;
        halves[i] = h;
        if (i == n - 1)
            *on = ON_DEVICE;
#pragma omp scan exclusive(f, h)
        f.b = f.b * (unsigned)(a[i] & 3) + (unsigned)a[i], f.a *= (unsigned)(a[i] & 3);
        h += 0.5;
    }
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        wrong += powers[i] != g.b || halves[i] != i * 0.5;
        g = (struct line){ (unsigned)(a[i] & 3) * g.a, (unsigned)(a[i] & 3) * g.b + (unsigned)a[i] };
    }
    CHECK_EQ(wrong, 0);
    CHECK(f.a == g.a && f.b == g.b && h == n * 0.5);
}

int main(void)
{
    int sizes[] = { N, 0, 1, 31, 33, 1024, 8193, N - 1 }, on = 0;
    for (int i = 0; i < LONG; i++)
        a[i] = (int)(i * 2654435761u >> 20);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        add(sizes[i], (int)i);
        compose(sizes[i], &on);
    }
    add(LONG, 5);
    compose(LONG / 3, &on);
    CHECK(on);
    return RESULT;
}
