/* One variable reduced at several levels: each level starts from the identity and adds to the copy of the level around it. */
#include "../run/check.h"

struct best { int value, at; };
#pragma omp declare reduction(best : struct best : omp_out = omp_in.value > omp_out.value ? omp_in : omp_out) initializer(omp_priv = { -1, -1 })

/* Orphaned: the variable that is reduced is the caller's private copy. */
static void orphan(double *sum, int n)
{
#pragma omp for reduction(+: sum[0:1])
    for (int i = 0; i < n; i++) sum[0] += i;
}
long total;
#pragma omp declare target(total)
static void add(int n)
{
#pragma omp parallel for reduction(+: total)
    for (int i = 0; i < n; i++) total += i;
}

static void levels(int teams, int threads)
{
    int n = 77, s = 1, got = 0, order = 1;
    double d = 0;
    /* teams, parallel, for */
#pragma omp target teams num_teams(teams) thread_limit(threads) reduction(+: s) reduction(max: got)
    {
        s += 10;
#pragma omp parallel reduction(+: s)
        {
            s += 100;
            int before = s;
#pragma omp for
            for (int i = 0; i < n; i++) before += 0;
            s += before - s;
            if (omp_get_thread_num() == 0) s += 100000 - 100 * omp_get_num_threads();
        }
        got = omp_get_num_teams();
    }
    CHECK(got <= teams);
    CHECK_EQ(s, 1 + got * 100010);
    /* distribute, parallel for, simd */
    s = 5;
#pragma omp target teams distribute num_teams(teams) thread_limit(threads) reduction(+: s)
    for (int k = 0; k < 13; k++) {
#pragma omp parallel for reduction(+: s)
        for (int j = 0; j < 11; j++) {
#pragma omp simd reduction(+: s)
            for (int i = 0; i < 7; i++) s += i;
            s += 1000;
        }
        s += 100000;
    }
    CHECK_EQ(s, 5 + 13 * (11 * (21 + 1000) + 100000));
    /* parallel, for, simd; the worksharing loop runs several times */
    s = 0;
#pragma omp target parallel num_threads(threads) map(tofrom: s)
    for (int round = 0; round < 3; round++) {
#pragma omp for reduction(+: s)
        for (int j = 0; j < 40; j++) {
#pragma omp simd reduction(+: s)
            for (int i = 0; i < 5; i++) s += i + round;
        }
    }
    CHECK_EQ(s, 40 * (3 * 10 + 5 * 3));
    /* another operator inside */
    s = 3;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) reduction(+: s)
    for (int j = 0; j < 50; j++) {
        int p = 1;
#pragma omp simd reduction(*: p)
        for (int i = 0; i < 3; i++) p *= 2;
        s += p;
    }
    CHECK_EQ(s, 403);
    /* nested parallel regions are one thread each */
    s = 0;
#pragma omp target parallel num_threads(threads) reduction(+: s)
    {
#pragma omp parallel for reduction(+: s)
        for (int i = 0; i < 20; i++) s += i;
        if (omp_get_thread_num() == 0) s += 1000000 - 190 * omp_get_num_threads();
    }
    CHECK_EQ(s, 1000000);
    /* orphaned */
    total = 0;
#pragma omp target update to(total)
#pragma omp target parallel num_threads(threads) map(tofrom: d)
    orphan(&d, n);
#pragma omp target
    {
        add(n);
        add(n);
    }
#pragma omp target update from(total)
    CHECK_EQ(d, n * (n - 1) / 2);
    CHECK_EQ(total, n * (n - 1));
    /* a section inside of a section; user-defined; the value before counts */
    int a[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, lo = 2, len = 6;
    struct best b = { 3, 100 };
#pragma omp target teams num_teams(teams) thread_limit(threads) reduction(+: a[lo:len]) reduction(best: b) reduction(min: order)
    {
        order = 0;
#pragma omp distribute parallel for reduction(best: b) reduction(+: a[3:4])
        for (int i = 0; i < 60; i++) {
            a[3 + i % 4] += i;
            if (i * 7 % 60 > b.value) b = (struct best){ i * 7 % 60, i };
        }
    }
    CHECK(a[2] == 3 && a[7] == 8 && a[0] == 1 && order == 0);
    CHECK(a[3] == 4 + 15 * 28 && a[4] == 5 + 15 * 29 && a[5] == 6 + 15 * 30 && a[6] == 7 + 15 * 31);
    CHECK(b.value == 59 && b.at == 17);
    /* sections: the construct and a loop inside */
    s = 0;
#pragma omp target map(tofrom: s)
#pragma omp parallel sections num_threads(threads) reduction(+: s)
    {
#pragma omp simd reduction(+: s)
        for (int i = 0; i < 10; i++) s += i;
#pragma omp section
        s += 1000;
    }
    CHECK_EQ(s, 1045);
}

int main(void)
{
    levels(1, 1);
    levels(1, 40);
    levels(4, 33);
    levels(40, 1);
    return RESULT;
}
