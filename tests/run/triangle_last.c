/* lastprivate in collapsed nests that are not rectangular: values of the last iteration that there is, also where the last
 * iterations of the outer loops have none; the loops' variables after the whole nest */
/* also: -O0 */
#include "check.h"
enum { SIDE = 23 };
static int use = 1; /* the device, else the regions' host versions */

struct pair { int a; double b; };

/* the nest on the device, or by OpenMP on the host, then one iteration after the other */
#define STRING(x) #x
#define NEST(what, clauses, outer, inner)                                                       \
    {                                                                                           \
        int i = -5, j = -5, on = 0, ran = 0;                                                    \
        long last = -1, part[3] = { -1, -1, -1 };                                               \
        struct pair p = { -1, -1 };                                                             \
        _Pragma(STRING(omp clauses lastprivate(i, j, last, part, p))) outer inner               \
        {                                                                                       \
            last = 100 * i + j;                                                                 \
            part[0] = i, part[1] = j, part[2] = i + j;                                          \
            p = (struct pair){ i, j / 2. };                                                     \
        }                                                                                       \
        int gi = i, gj = j;                                                                     \
        long want = -1;                                                                         \
        outer inner { want = 100 * i + j, ran++, on = i + j; }                                  \
        if (last != want || (ran && (gi != i || gj != j)))                                      \
            printf("%s, n = %d: %ld (%ld) i %d (%d) j %d (%d)\n", what, n, last, want, gi, i, gj, j); \
        CHECK_EQ(last, want);                                                                   \
        if (ran) {                                                                              \
            CHECK_EQ(gi, i);                                                                    \
            CHECK_EQ(gj, j);                                                                    \
            CHECK_EQ(100 * part[0] + part[1], want);                                            \
            CHECK_EQ(part[2], on);                                                              \
            CHECK_EQ(100 * p.a + 2 * p.b, want);                                                \
        } else {                                                                                \
            CHECK(part[2] == -1 && p.a == -1);                                                  \
        }                                                                                       \
    }
#define MAPPED if(target: use) map(tofrom: i, j, last, part, p) collapse(2)
#define LEAGUE target teams distribute parallel for MAPPED
#define ALL(what, outer, inner)                                                                 \
    NEST(what ", league", LEAGUE num_teams(teams) thread_limit(threads), outer, inner)          \
    NEST(what ", dynamic", LEAGUE schedule(dynamic), outer, inner)                              \
    NEST(what ", team", target parallel for MAPPED num_threads(threads) schedule(static), outer, inner) \
    NEST(what ", guided", target parallel for MAPPED schedule(guided), outer, inner)            \
    NEST(what ", distribute", target teams distribute MAPPED num_teams(teams), outer, inner)    \
    NEST(what ", simd", target teams distribute parallel for simd MAPPED num_teams(teams), outer, inner)

static void shapes(int n, int teams, int threads)
{
    ALL("lower", for (i = 0; i < n; i++), for (j = 0; j <= i; j++))
    ALL("upper", for (i = 0; i < n; i++), for (j = i; j < n; j++))
    ALL("downwards", for (i = n - 1; i >= 0; i--), for (j = n; j > i; j -= 2))
    ALL("empty at the begin", for (i = 0; i < n; i++), for (j = 5; j < 2 * i; j++))
    ALL("empty at the end", for (i = 0; i < n; i++), for (j = 3 * i; j < n; j++))
    ALL("empty at the end, steps", for (i = n; i > 0; i -= 3), for (j = n / 2; j < 2 * i - n; j += 2))
    ALL("always empty", for (i = 0; i < n; i++), for (j = i; j < i; j++))
}

/* Nests of which only the outer part is shared: two loops that depend on others, statements between. */
static void deeper(int n, int teams)
{
    int i = -5, j = -5, k = -5, gi, gj, gk, last = -1, want = -1, between = 0, ran = 0;
#pragma omp target teams distribute parallel for collapse(3) lastprivate(i, j, k, last) map(tofrom: last, i, j, k) num_teams(teams) if(target: use)
    for (i = 0; i < n; i++)
        for (j = i; j < n; j++)
            for (k = 2 * j; k < n; k++)
                last = 10000 * i + 100 * j + k;
    gi = i, gj = j, gk = k;
    for (i = 0; i < n; i++)
        for (j = i; j < n; j++)
            for (k = 2 * j; k < n; k++)
                want = 10000 * i + 100 * j + k, ran = 1;
    CHECK_EQ(last, want);
    if (ran)
        CHECK(gi == i && gj == j && gk == k);
    last = want = -1;
#pragma omp target teams distribute parallel for collapse(3) lastprivate(last) map(tofrom: last) num_teams(teams) if(target: use)
    for (int q = 0; q < 3; q++)                         /* a box of three */
        for (int r = 0; r < n; r++)
            for (int s = 3 * q; s < n; s += 2)
                last = 10000 * q + 100 * r + s;
    for (int q = 0; q < 3; q++)
        for (int r = 0; r < n; r++)
            for (int s = 3 * q; s < n; s += 2)
                want = 10000 * q + 100 * r + s;
    CHECK_EQ(last, want);
    last = want = -1;
#pragma omp target parallel for collapse(4) lastprivate(last) map(tofrom: last) schedule(dynamic) if(target: use)
    for (int q = 0; q < 3; q++)                         /* two outer loops are shared */
        for (int r = n - 1; r >= 0; r--)
            for (int s = 3 * r; s < n; s += 2)
                for (int t = s; t < n - 4; t++)
                    last = 10000 * q + 100 * r + s + t;
    for (int q = 0; q < 3; q++)
        for (int r = n - 1; r >= 0; r--)
            for (int s = 3 * r; s < n; s += 2)
                for (int t = s; t < n - 4; t++)
                    want = 10000 * q + 100 * r + s + t;
    CHECK_EQ(last, want);
    last = want = -1;
#pragma omp target teams distribute parallel for collapse(2) lastprivate(last) map(tofrom: last) reduction(+: between) if(target: use)
    for (int q = 0; q < n; q++) {
        between++;
        for (int r = 4 * q; r < n + 1; r++)
            last = 100 * q + r;
    }
    for (int q = 0; q < n; q++)
        for (int r = 4 * q; r < n + 1; r++)
            want = 100 * q + r;
    CHECK_EQ(last, want);
    CHECK_EQ(between, n);
}

/* Worksharing by itself, with other copies beside. */
static void inside(int n)
{
    int i = -5, j = -5, last = -1, want = -1, t = 3, f = 4, sum = 10, runs = 0;
#pragma omp target map(tofrom: last, sum, t, f, i) if(use)
#pragma omp parallel
#pragma omp for collapse(2) lastprivate(last, i) private(t) firstprivate(f) reduction(+: sum)
    for (i = 0; i < n; i++)
        for (j = 3 * i; j < n; j++) {
            t = i + j, f += t;
            sum++;
            last = 100 * i + j;
        }
    for (int q = 0; q < n; q++)
        for (int r = 3 * q; r < n; r++)
            want = 100 * q + r, runs++;
    CHECK_EQ(last, want);
    CHECK_EQ(sum, 10 + runs);
    CHECK(t == 3 && f == 4 && j == -5);
    if (runs)
        CHECK_EQ(i, n);
    last = -1;
#pragma omp target teams num_teams(2) map(tofrom: last) if(target: use)
#pragma omp distribute collapse(2) lastprivate(last) private(t)
    for (int q = 0; q < n; q++)
        for (int r = 3 * q; r < n; r++)
            t = 1, last = 100 * q + r;
    CHECK_EQ(last, want);
}

static void tasks(int n)
{
    int last = -1, want = -1, after = 0;
#pragma omp target map(tofrom: last, after) if(use)
#pragma omp parallel
#pragma omp single
    {
        int own = 4;                                    /* firstprivate in the tasks */
#pragma omp taskloop collapse(2) lastprivate(last)
        for (int q = 0; q < n; q++)
            for (int r = 3 * q; r < n; r++)
                last = 100 * q + r, own++;
        after = own;
    }
    for (int q = 0; q < n; q++)
        for (int r = 3 * q; r < n; r++)
            want = 100 * q + r;
    CHECK_EQ(last, want);
    CHECK_EQ(after, 4);
}

int main(void)
{
    static const int sizes[] = { 0, 1, 2, 7, SIDE }, teams[] = { 1, 3, 50 }, threads[] = { 1, 33, 128 };
    int on = 0;
#pragma omp target map(tofrom: on)
    on = ON_DEVICE;
    CHECK(on);
    for (use = 1; use >= 0; use--)
        for (int i = 0; i < COUNT(sizes); i++) {
            shapes(sizes[i], teams[i % 3], threads[(i + i / 3) % 3]);
            deeper(sizes[i], teams[i % 3]);
            inside(sizes[i]);
            tasks(sizes[i]);
        }
    return RESULT;
}
