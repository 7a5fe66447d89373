/* inscan reductions on loops of the host, which clang 22 gets wrong: it leaves out what the variable had before */
/* also: -O0, -O2 --host-cc=gcc */
#include "check.h"
enum { N = 200 };
static int a[N], e[N], t[N];
static double c[N];

static void fill(void)
{
    for (int i = 0; i < N; i++) {
        a[i] = i * 7 % 13 - 4;
        c[i] = i % 5 - 1;
    }
}
static int wrong(int before, int inclusive)
{
    int bad = 0, s = before;
    for (int i = 0; i < N; i++) {
        bad += !inclusive && e[i] != s;
        s += a[i];
        bad += inclusive && e[i] != s;
        e[i] = 0;
    }
    return bad;
}
static int total(int before)
{
    for (int i = 0; i < N; i++) before += a[i];
    return before;
}

/* Constructs in the phases. */
static void with_constructs(void)
{
    int s = 7, n = 0, tasks = 0;
#pragma omp parallel for reduction(inscan, +: s) num_threads(4) schedule(static)
    for (int i = 0; i < N; i++) {
#pragma omp atomic
        n++;
        s += a[i];
#pragma omp scan inclusive(s)
        if (i % 2)
            continue;
#pragma omp critical
        e[i] = s;
    }
    for (int i = 1, sum = 7 + a[0]; i < N; i++) {
        sum += a[i];
        if (i % 2)
            e[i] = sum;
    }
    CHECK(s == total(7) && !wrong(7, 1) && n == N);
    s = 9;
#pragma omp parallel num_threads(3)
    {
#pragma omp for reduction(inscan, +: s) nowait
        for (int i = 0; i < N; i++) {
            int now = s;
#pragma omp task firstprivate(i, now) shared(tasks)
            {
                e[i] = now;
#pragma omp atomic
                tasks++;
            }
#pragma omp scan exclusive(s)
#pragma omp parallel for num_threads(2) reduction(+: s)
            for (int k = 0; k < 2; k++)
                s += k ? a[i] - 1 : 1;
        }
    }
    CHECK(s == total(9) && !wrong(9, 0) && tasks == N);
}

/* firstprivate and lastprivate, of one variable too; collapsed loops; arrays; a reduction of one's own */
#pragma omp declare reduction(mine : int : omp_out += omp_in) initializer(omp_priv = 0)
static void with_clauses(int vla)
{
    int s = 5, first = 3, last = 0, both = 4, sum = 1, v[3] = { 1, 2, 3 }, large[vla], bad = 0;
#pragma omp parallel for reduction(inscan, mine: s) firstprivate(first, both) lastprivate(last, both) reduction(+: sum)
    for (int i = 0; i < N; i++) {
        e[i] = s;
        last = i + first;
        sum += i ? both == i - 1 : both == 4;
        both = i;
#pragma omp scan exclusive(s)
        s += a[i];
    }
    CHECK(s == total(5) && !wrong(5, 0) && last == N + 2 && both == N - 1 && sum == N + 1);
    s = 6;
#pragma omp parallel for collapse(2) reduction(inscan, +: s) lastprivate(last)
    for (int i = 0; i < N / 10; i++)
        for (int j = 0; j < 10; j++) {
            s += a[i * 10 + j];
#pragma omp scan inclusive(s)
            e[i * 10 + j] = s;
            last = j;
        }
    CHECK(s == total(6) && !wrong(6, 1) && last == 9);
    for (int i = 0; i < vla; i++) large[i] = i;
#pragma omp parallel for reduction(inscan, +: v, large) firstprivate(last) lastprivate(last)
    for (int i = 0; i < N; i++) {
        v[0] += a[i];
        v[2]++;
        large[vla - 1] -= 2;
#pragma omp scan inclusive(v, large)
        e[i] = v[0];
        bad += v[2] != i + 4 || large[vla - 1] != vla - 1 - 2 * (i + 1);
        last = bad;
    }
    CHECK(v[0] == total(1) && !wrong(1, 1) && v[1] == 2 && v[2] == N + 3 && last == 0);
    CHECK(large[0] == 0 && large[vla - 1] == vla - 1 - 2 * N);
}

/* Clauses and constructs beside the scan. */
static void beside(void)
{
    int x = 7, q = 100, two = 2, last = -1, count = 0, z = 5;
#pragma omp parallel num_threads(3)
    {
#pragma omp for reduction(inscan, +: x) firstprivate(q, two) lastprivate(q) schedule(static, 2)
        for (int i = 0; i < N; i++) {
            e[i] = x;
#pragma omp scan exclusive(x)
            x += a[i] + two - 2;
            q = q * 0 + i;
        }
#pragma omp single
        CHECK(!wrong(7, 0) && x == total(7) && q == N - 1);
#pragma omp for reduction(inscan, +: x) reduction(+: z) schedule(dynamic, 3) firstprivate(two) lastprivate(last) nowait
        for (int i = 0; i < N; i++) {
            x += a[i];
            last = i + two;
            z += i;
#pragma omp scan inclusive(x)
            e[i] = x;
        }
    }
    CHECK(!wrong(total(7), 1) && last == N + 1 && z == 5 + N * (N - 1) / 2);
    x = 3;
#pragma omp parallel for simd reduction(inscan, +: x) schedule(simd: static) num_threads(4)
    for (int i = 0; i < N; i++) {
        x += a[i];
#pragma omp scan inclusive(x)
        e[i] = x;
    }
    CHECK(!wrong(3, 1));
    x = 3;
#pragma omp parallel for reduction(inscan, +: x)
    for (int i = 0; i < N; i++) {
        x += a[i];
#pragma omp scan inclusive(x)
        e[i] = x;
#pragma omp atomic
        count++;
    }
    CHECK(!wrong(3, 1) && count == N);
}

int main(void)
{
    int s = 7, last = 0, first = 3, m = -100, n = N;
    double sum = 0, x = 1;
    fill();
#pragma omp parallel for reduction(inscan, +: s) num_threads(4) default(none) shared(a, e, n)
    for (int i = 0; i < n; i++) {
        s += a[i];
#pragma omp scan inclusive(s)
        e[i] = s;
    }
    CHECK(s == total(7) && !wrong(7, 1));
    s = 9;
#pragma omp parallel for simd reduction(inscan, +: s) lastprivate(last)
    for (int i = 0; i < N; i++) {
        e[i] = s;
        last = i;
#pragma omp scan exclusive(s)
        s += a[i];
    }
    CHECK(s == total(9) && !wrong(9, 0) && last == N - 1);
    s = 1;
#pragma omp parallel num_threads(3)
    {
#pragma omp for reduction(inscan, +: s) firstprivate(first) nowait
        for (int i = 0; i < N; i++) {
            s += a[i] + first - 3;
#pragma omp scan inclusive(s)
            e[i] = s;
        }
#pragma omp for
        for (int i = 0; i < N; i++)
            t[i] = i;
    }
    CHECK(s == total(1) && !wrong(1, 1) && t[N - 1] == N - 1);
    /* two of them, and another reduction beside */
    s = 2;
#pragma omp parallel for reduction(inscan, +: s) reduction(inscan, max: m) reduction(+: sum)
    for (int i = 0; i < N; i++) {
        s += a[i];
        m = m > a[i] ? m : a[i];
#pragma omp scan inclusive(s, m)
        e[i] = s;
        t[i] = m;
        sum += c[i];
    }
    CHECK(s == total(2) && !wrong(2, 1) && m == 8 && t[0] == -4 && t[N - 1] == 8);
    CHECK_EQ(sum, N);
    /* OpenMP's example of a polynomial */
    sum = 0;
#pragma omp parallel for reduction(+: sum) reduction(inscan, *: x)
    for (int i = 0; i < 20; i++) {
        sum += c[i] * x;
#pragma omp scan exclusive(x)
        x *= 2;
    }
    double y = 1, want = 0;
    for (int i = 0; i < 20; i++, y *= 2) want += c[i] * y;
    CHECK_EQ(sum, want);
    CHECK_EQ(x, y);
    with_constructs();
    with_clauses(1000);
    beside();
    return RESULT;
}
