/* loops whose launch has a thread for each iteration, and those whose launch has not: each iteration runs once, whatever the types, bounds, geometry */
/* also: -O0 */
#include <limits.h>
#include "check.h"
enum { MOST = 3000 };
int hits[MOST + 1], order[MOST + 1];
#pragma omp declare target(hits, order)

static void clear(void)
{
    memset(hits, 0, sizeof hits), memset(order, -1, sizeof order);
#pragma omp target update to(hits, order)
}
/* n iterations: order[k] is that of the k-th */
static void see(const char *what, int n, int teams, int threads)
{
    int wrong = 0;
#pragma omp target update from(hits, order)
    for (int k = 0; k <= MOST; k++)
        wrong += hits[k] != (k < n) || (k < n && order[k] != k);
    if (wrong)
        printf("%s, %d iterations, %d x %d: %d wrong\n", what, n, teams, threads, wrong);
    CHECK_EQ(wrong, 0);
    clear();
}
#define DONE(k, value) hits[k]++, order[k] = (int)(value)
#define CLAUSES num_teams(teams) thread_limit(threads)
#define LOOP(name, T)                                                                                    \
    static void name(int trip, int teams, int threads)                                                   \
    {                                                                                                    \
        T n = (T)trip;                                                                                   \
        _Pragma("omp target teams distribute parallel for CLAUSES") for (T i = 0; i < n; i++) DONE(i, i); \
        see(#name, n, teams, threads);                                                                   \
    }
LOOP(loop_int, int)
LOOP(loop_unsigned, unsigned)
LOOP(loop_long, long)
LOOP(loop_size, unsigned long)
LOOP(loop_short, short)

static void limits(int n, int teams, int threads)
{
    int top = INT_MAX - n, low = INT_MIN + n;
    unsigned long all = ULONG_MAX - (unsigned long)n;
#pragma omp target teams distribute parallel for CLAUSES
    for (int i = top; i < INT_MAX; i++)
        DONE(i - top, i - top);
    see("up to the last int", n, teams, threads);
#pragma omp target teams distribute parallel for CLAUSES
    for (int i = low; i > INT_MIN; --i)
        DONE(low - i, low - i);
    see("down to the first int", n, teams, threads);
#pragma omp target teams distribute parallel for CLAUSES
    for (unsigned long i = all; i < ULONG_MAX; i++)
        DONE(i - all, i - all);
    see("up to the last unsigned long", n, teams, threads);
#pragma omp target teams distribute parallel for CLAUSES
    for (long i = LONG_MIN; i < LONG_MIN + 7L * n; i += 7)
        DONE((i - LONG_MIN) / 7, (i - LONG_MIN) / 7);
    see("from the first long in steps", n, teams, threads);
}

static void schedules(int n, int teams, int threads)
{
#pragma omp target teams distribute parallel for CLAUSES schedule(static)
    for (int i = 0; i < n; i++)
        DONE(i, i);
    see("static", n, teams, threads);
#pragma omp target teams distribute parallel for CLAUSES schedule(static, 1)
    for (long i = n; i > 0; i--)
        DONE(n - i, n - i);
    see("static, 1", n, teams, threads);
#pragma omp target teams distribute parallel for CLAUSES schedule(static, 3)
    for (int i = 0; i < n; i++)
        DONE(i, i);
    see("static, 3", n, teams, threads);
#pragma omp target teams distribute parallel for CLAUSES schedule(static, 1) dist_schedule(static, 64)
    for (int i = 0; i < n; i++)
        DONE(i, i);
    see("static, 1, distributed by 64", n, teams, threads);
}

/* where there is a thread for each iteration, nothing is taken on demand */
static void on_demand(int n, int m, int teams, int threads)
{
    int last = -1, bound = n;
#pragma omp target teams distribute parallel for CLAUSES schedule(dynamic)
    for (int i = 0; i < n; i++)
        DONE(i, i);
    see("dynamic", n, teams, threads);
#pragma omp target teams distribute parallel for CLAUSES schedule(monotonic : dynamic, 1) lastprivate(last) firstprivate(bound)
    for (long i = 3L * bound; i > 0; i -= 3) {
        for (int k = 0; k < 3; k++) {
            if (k == 2)
                goto done;
        }
done:
        last = (int)(bound - (i + 2) / 3);
        DONE(last, last);
    }
    see("dynamic, 1, with a label", n, teams, threads);
    CHECK_EQ(last, n - 1);
#pragma omp target teams distribute parallel for CLAUSES schedule(guided)
    for (unsigned short i = 0; i < n; i++)
        DONE(i, i);
    see("guided", n, teams, threads);
#pragma omp target teams distribute parallel for CLAUSES schedule(dynamic, 2)
    for (int i = 0; i < n; i++)
        DONE(i, i);
    see("dynamic, 2", n, teams, threads);
#pragma omp target teams distribute parallel for CLAUSES schedule(dynamic) dist_schedule(static)
    for (int i = 0; i < n; i++)
        DONE(i, i);
    see("dynamic, dist_schedule", n, teams, threads);
    last = -1;
#pragma omp target teams distribute parallel for CLAUSES schedule(dynamic) collapse(3) lastprivate(last)
    for (int i = 0; i < n / 3; i++)
        for (long j = m; j > 0; j--)
            for (short k = 0; k < 2; k++) {
                last = (int)((i * m + m - j) * 2 + k);
                DONE(last, last);
            }
    see("dynamic, three loops", n / 3 * m * 2, teams, threads);
    CHECK_EQ(last, n / 3 * m * 2 - 1);
#pragma omp target teams distribute parallel for CLAUSES schedule(guided) collapse(2)
    for (int i = 0; i < 7; i++)
        for (int j = i; j < 7; j++)
            DONE(i * (15 - i) / 2 + j - i, i * (15 - i) / 2 + j - i);
    see("guided, a triangle between constants", 28, teams, threads);
#pragma omp target teams distribute parallel for CLAUSES schedule(dynamic) collapse(2)
    for (int i = 0; i < m; i++)
        for (int j = 0; j <= i; j++)
            DONE(i * (i + 1) / 2 + j, i * (i + 1) / 2 + j);
    see("dynamic, a triangle", m * (m + 1) / 2, teams, threads);
}

static void nests(int n, int m, int l, int teams, int threads)
{
    int last = -1;
    long wide = m;
    unsigned deep = (unsigned)l;
#pragma omp target teams distribute parallel for collapse(2) CLAUSES
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            DONE(i * m + j, i * m + j);
    see("two loops", n * m, teams, threads);
#pragma omp target teams distribute parallel for collapse(3) CLAUSES lastprivate(last)
    for (short i = 0; i < n; i++)
        for (long j = wide; j > 0; j -= 1)
            for (unsigned k = 0; k < deep; k++) {
                last = (int)((i * wide + wide - j) * deep + k);
                DONE(last, last);
            }
    see("three loops", n * m * l, teams, threads);
    CHECK_EQ(last, n * m * l - 1);
#pragma omp target teams distribute parallel for collapse(3) CLAUSES lastprivate(last)
    for (short i = 2; i <= 6; i++)
        for (long j = 9; j > 3; j--)
            for (unsigned k = 0; k < 7; k++) {
                last = (int)(((i - 2) * 6 + 9 - j) * 7 + k);
                DONE(last, last);
            }
    see("three loops between constants", 5 * 6 * 7, teams, threads);
    CHECK_EQ(last, 5 * 6 * 7 - 1);
#pragma omp target teams distribute parallel for collapse(4) CLAUSES
    for (int i = 5; i < 5 + 2 * n; i += 2)
        for (int j = 0; j < m; j++)
            for (int k = -l; k < 0; k++)
                for (long q = 0; q < 2; q++)
                    DONE((((i - 5) / 2 * m + j) * l + k + l) * 2 + q, (((i - 5) / 2 * m + j) * l + k + l) * 2 + q);
    see("four loops", n * m * l * 2, teams, threads);
}

/* what the host sees before the launch is not what counts */
static void values_of_the_device(int n)
{
    int bound = n, other = n;
#pragma omp target data map(to: bound)
    {
        bound = 3;                                              /* the device keeps n */
#pragma omp target teams distribute parallel for map(to: bound)
        for (int i = 0; i < bound; i++)
            DONE(i, i);
    }
    int on_device = 0;
#pragma omp target map(tofrom: on_device)
    on_device = ON_DEVICE;
    if (on_device)
        see("a mapped bound", n, 0, 0);
    else
        clear();
#pragma omp target teams distribute parallel for firstprivate(other)
    for (int i = 0; i < other; i++) {
        DONE(i, i);
        other = 1;
    }
    see("a bound that the body changes", n, 0, 0);
}

int main(void)
{
    static const int teams[] = { 1, 2, 7, 40, 0 }, threads[] = { 1, 31, 32, 100, 128 };
    unsigned seed = 12345;
    int on = 0;
    clear();
#pragma omp target teams distribute parallel for map(tofrom: on)
    for (int i = 0; i < 1; i++)
        on = ON_DEVICE;
    CHECK(on);
    for (int i = 0; i < COUNT(teams) * COUNT(threads); i++) {
        int t = teams[i / COUNT(threads)], h = threads[i % COUNT(threads)], space = t ? t * h : 300;
        int n = i % 3 == 0 ? space : i % 3 == 1 ? space + 1 : (int)((seed = seed * 1103515245 + 12345) >> 16) % 400;
        n = n > MOST / 12 ? n % (MOST / 12) : n;
        t = t ? t : 1000;
        switch (i % 4) {
        case 0: loop_int(n, t, h), loop_short(n, t, h), nests(n % 12 + 1, 1 + i % 3, 4, t, h); break;
        case 1: loop_unsigned(n, t, h), limits(n, t, h); break;
        case 2: loop_long(n, t, h), schedules(n, t, h), on_demand(n, i % 5 + 1, t, h); break;
        default: loop_size(n, t, h), nests(n / 12 + 1, 3, 1 + i % 2, t, h);
        }
    }
    loop_int(0, 3, 32), loop_int(-5, 3, 32), loop_unsigned(1, 1, 1), on_demand(0, 0, 3, 32), on_demand(250, 9, 1000, 64);
    values_of_the_device(200);
    return RESULT;
}
