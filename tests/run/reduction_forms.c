/* where a reduction may stand: the construct, teams + inner parallel, parallel without for, several variables and clauses,
 * results that start from the original value, members used in between, minus, negative extremes, an empty range */ /* also: -O0 -g */
#include <float.h>
#include <limits.h>
#include "check.h"

int main(void)
{
    enum { N = 1234 };
    int v[N], on = 0, count = 100, max = INT_MIN, min = INT_MAX;
    double sum = 0.5, big = -DBL_MAX;
    unsigned bits = 0;
    _Bool any = 0, all = 1;

    for (int i = 0; i < N; i++)
        v[i] = i * 7919 % 1000 - 2000;
#pragma omp target teams distribute parallel for reduction(+: sum, count) reduction(max: max, big) reduction(min: min) \
    reduction(|: bits) reduction(||: any) reduction(&&: all) map(tofrom: on)
    for (int i = 0; i < N; i++) {
        sum += v[i] * 0.25;
        count++;
        max = v[i] > max ? v[i] : max;
        min = v[i] < min ? v[i] : min;
        big = v[i] > big ? v[i] : big;
        bits |= 1u << (i % 31);
        any = any || v[i] == -1500;
        all = all && v[i] < 0;
        if (i == 0)
            on = ON_DEVICE;
    }
    double hs = 0.5;
    int hx = INT_MIN, hn = INT_MAX, ha = 0;
    for (int i = 0; i < N; i++) {
        hs += v[i] * 0.25;
        hx = v[i] > hx ? v[i] : hx;
        hn = v[i] < hn ? v[i] : hn;
        ha |= v[i] == -1500;
    }
    CHECK(on && all && any == ha);
    CHECK_EQ(sum, hs);
    CHECK_EQ(count, 100 + N);
    CHECK(max == hx && min == hn && big == hx);
    CHECK_EQ(bits, 0x7fffffff);

    int teams = 0, outer = 1, inner = 1;
#pragma omp target teams num_teams(4) reduction(+: outer, teams) map(tofrom: outer, inner, teams)
    {
        int local = 0;
        teams++;
#pragma omp parallel num_threads(10) reduction(+: local)
        local += 1 + omp_get_thread_num();
#pragma omp parallel for reduction(+: local)
        for (int i = 0; i < 50; i++)
            local += i;
        outer += local;
    }
    CHECK(teams >= 1 && (outer - 1) % teams == 0);
    CHECK((outer - 1) / teams >= 1225 + 1 && (outer - 1) / teams <= 1225 + 55);
#pragma omp target map(tofrom: inner)
#pragma omp parallel
#pragma omp for reduction(*: inner)
    for (int i = 0; i < 11; i++)
        inner *= 1 + (i & 1);
    CHECK_EQ(inner, 32);
    int none = 4, zero = 0;
#pragma omp target teams distribute parallel for reduction(+: none)
    for (int i = 0; i < zero; i++)
        none += 1;
    CHECK_EQ(none, 4);
    /* a reduction variable that is firstprivate on target by default: mapped by the reduction (OpenMP 5.0) */
    long auto_mapped = 1;
#pragma omp target parallel for reduction(+: auto_mapped)
    for (int i = 0; i < N; i++)
        auto_mapped += i;
    CHECK_EQ(auto_mapped, 1 + N * (N - 1) / 2);
    return RESULT;
}
