/* collapsed nests whose last loop depends on another: each iteration that there is runs once, no other */
/* also: -O0 */
#include "check.h"
enum { SIDE = 40, STEPS = 2 * SIDE };
int hits[SIDE][STEPS], want[SIDE][STEPS];
#pragma omp declare target(hits)

static void clear(void)
{
    memset(hits, 0, sizeof hits), memset(want, 0, sizeof want);
#pragma omp target update to(hits)
}
static void see(const char *what, int n)
{
    int wrong = 0;
#pragma omp target update from(hits)
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < STEPS; j++)
            wrong += hits[i][j] != want[i][j];
    if (wrong)
        printf("%s, n = %d: %d wrong\n", what, n, wrong);
    CHECK_EQ(wrong, 0);
    clear();
}
/* the nest on the device and on the host: `what`, its pragma's clauses, two loop heads, the place of an iteration */
#define STRING(x) #x
#define NEST(what, directive, outer, inner, i, j)                                                                                    \
    {                                                                                                                                \
        _Pragma(STRING(omp target directive)) outer inner hits[i][j]++;                                                             \
        outer inner want[i][j]++;                                                                                                    \
        see(what, n);                                                                                                                \
    }
#define LEAGUE teams distribute parallel for collapse(2)

static void shapes(int n, int teams, int threads)
{
    long wide = n;
    unsigned char tiny = (unsigned char)n;
    int base = -3;
    NEST("lower", LEAGUE, for (int i = 0; i < n; i++), for (int j = 0; j <= i; j++), i, j)
    NEST("lower, without the diagonal", LEAGUE num_teams(teams) thread_limit(threads), for (int i = 0; i < n; i++), for (int j = 0; j < i; j++), i, j)
    NEST("upper", LEAGUE num_teams(teams), for (long i = 0; i < wide; i++), for (long j = i; j < wide; j++), i, j)
    NEST("upper, types mixed", LEAGUE, for (unsigned char i = 0; i < tiny; i++), for (long j = i + 1; j < wide; j++), i, j)
    NEST("downwards", LEAGUE thread_limit(threads), for (int i = n - 1; i >= 0; i--), for (int j = n; j > i; j -= 2), i, j)
    NEST("a band", LEAGUE, for (int i = 0; i < n; i++), for (int j = i; j < i + 3; j++), i, j)
    NEST("both bounds, steps", LEAGUE, for (int i = 1; i < n; i += 3), for (int j = n - i; j <= 2 * n - 2 * i; j += 2), i, j)
    NEST("empty at the begin", LEAGUE num_teams(teams), for (int i = base; i < n + base; i++), for (int j = 5; j < 2 * i; j++), i - base, j)
    NEST("empty at the end", LEAGUE, for (int i = 0; i < n; i++), for (int j = 3 * i; j < n; j++), i, j)
    NEST("always empty", LEAGUE, for (int i = 0; i < n; i++), for (int j = i; j < i; j++), i, j)
    NEST("a schedule", LEAGUE schedule(dynamic), for (int i = 0; i < n; i++), for (int j = 0; j <= i; j++), i, j)
    NEST("distribute", teams distribute collapse(2) num_teams(teams), for (int i = 0; i < n; i++), for (int j = 0; j <= i; j++), i, j)
    NEST("a team", parallel for collapse(2) num_threads(threads), for (int i = 0; i < n; i++), for (int j = 0; j <= i; j++), i, j)
}

static void others(int n)
{
    int count = 0, expect = 0, i, j;
#pragma omp target teams distribute parallel for collapse(3) reduction(+: count)
    for (int k = 0; k < 4; k++)
        for (i = 0; i < n; i++)
            for (j = i; j < n; j++) {
                if ((i + j) % 3 == k)
                    continue;
                count += k + 1;
            }
    for (int k = 0; k < 4; k++)
        for (i = 0; i < n; i++)
            for (j = i; j < n; j++)
                expect += (i + j) % 3 == k ? 0 : k + 1;
    CHECK_EQ(count, expect);
#pragma omp target teams distribute parallel for collapse(3) map(tofrom: count)
    for (int k = 0; k < n; k++)
        for (int q = 0; q < k; q++)                     /* two loops depend on others */
            for (int r = 0; r < q; r++) {
#pragma omp atomic
                count--;
            }
    CHECK_EQ(count, expect - n * (n - 1) * (n - 2) / 6);
}

int main(void)
{
    static const int sizes[] = { 0, 1, 2, 13, SIDE - 1 }, teams[] = { 1, 3, 50 }, threads[] = { 1, 33, 128 };
    int on = 0;
#pragma omp target map(tofrom: on)
    on = ON_DEVICE;
    CHECK(on);
    clear();
    for (int i = 0; i < COUNT(sizes); i++)
        shapes(sizes[i], teams[i % 3], threads[(i + i / 3) % 3]), others(sizes[i]);
    return RESULT;
}
