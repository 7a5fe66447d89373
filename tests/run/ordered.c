/* ordered, doacross, ordered simd, cancel; linear with collapse; the forms of atomic compare with a result */
#include "check.h"
enum { N = 64 };
#pragma omp declare target
static void append(int *to, int *n, int i)
{
#pragma omp ordered
    to[(*n)++] = i;
}
#pragma omp end declare target

static void in_order(void)
{
    int a[N], n = 0, sum = 0, last = -1, chain[N + 1] = { 1 }, grid[8][8], on = 0;
#pragma omp target parallel for ordered schedule(dynamic, 3) map(tofrom: a, n, on) reduction(+: sum) lastprivate(last)
    for (int i = 0; i < N; i++) {
        sum += i;
        append(a, &n, i);
        last = 2 * i;
        on = ON_DEVICE;
    }
    CHECK(on);
    for (int i = 0; i < N; i++) CHECK_EQ(a[i], i);
    CHECK_EQ(sum, N * (N - 1) / 2);
    CHECK_EQ(last, 2 * (N - 1));
#pragma omp target map(tofrom: chain) map(from: grid)
#pragma omp parallel num_threads(16)
    {
#pragma omp for ordered
        for (int i = 1; i <= N; i++) {
#pragma omp ordered doacross(sink: i - 1)
            chain[i] = chain[i - 1] + i;
#pragma omp ordered doacross(source:)
        }
#pragma omp for ordered(2)
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) {
#pragma omp ordered depend(sink: i - 1, j) depend(sink: i, j - 1)
                grid[i][j] = (i ? grid[i - 1][j] : 1) + (j ? grid[i][j - 1] : 0);
#pragma omp ordered depend(source)
            }
    }
    for (int i = 1; i <= N; i++) CHECK_EQ(chain[i], 1 + i * (i + 1) / 2);
    CHECK_EQ(grid[2][3], 20);
    CHECK_EQ(grid[7][7], 6435);
    n = 0;
#pragma omp target map(tofrom: a, n)
#pragma omp simd
    for (int i = 0; i < N; i++) {
#pragma omp ordered simd
        a[n++] = i + 1;
    }
    for (int i = 0; i < N; i++) CHECK_EQ(a[i], i + 1);
}

static void cancelled(void)
{
    int found = 0;
#pragma omp target parallel num_threads(8) map(tofrom: found)
    {
#pragma omp for
        for (int i = 0; i < N; i++) {
            if (i == 10) {
#pragma omp atomic write
                found = 1;
#pragma omp cancel for
            }
#pragma omp cancellation point for
        }
    }
    CHECK_EQ(found, 1);
}

static void numbered(void)
{
    int a[6][10][2], k = 5, *p = &a[0][0][0], *end = p;
#pragma omp target parallel for simd collapse(3) linear(k: 2) map(from: a)
    for (int i = 0; i < 6; i++)
        for (int j = 10; j > 0; j--)
            for (int l = 0; l < 2; l++) { a[i][10 - j][l] = k; k += 2; }
    for (int i = 0; i < 120; i++) CHECK_EQ(p[i], 5 + 2 * i);
    CHECK_EQ(k, 245);
#pragma omp target parallel for collapse(2) linear(end: 1) map(tofrom: a)
    for (int i = 0; i < 12; i++)
        for (long j = 0; j < 10; j += 1) end += 1;
    CHECK(end == p + 120);
}

static void compared(void)
{
    int c = 0, r = 0, v = 0, w = -1, winners = 0, losers = 0;
#pragma omp target map(tofrom: c, r, v, w, winners, losers)
    {
        int none = 0, three = 3, seven = 7, old;
#pragma omp atomic compare capture
        { r = c == none; if (r) { c = seven; } }
#pragma omp atomic compare capture seq_cst fail(acquire)
        if (c == three) { c = none; } else { v = c; }
#pragma omp atomic compare weak
        if (c == three) { c = 9; }
#pragma omp atomic compare capture
        { old = c; if (c == seven) { c = 8; } }
        v += old * 100;
#pragma omp atomic compare capture
        { if (c == seven) { c = 8; } old = c; }
        v += old * 10000;
#pragma omp atomic compare capture
        { old = c == three; if (old) { c = three; } else { w = c; } }
        r += 10 * old;
#pragma omp parallel for num_threads(32)
        for (int i = 0; i < N; i++) {
            int won, eight = 8;
#pragma omp atomic compare capture acq_rel
            { won = c == eight; if (won) { c = i + 100; } }
#pragma omp atomic
            winners += won;
#pragma omp atomic
            losers += !won;
        }
    }
    CHECK_EQ(r, 1);
    CHECK_EQ(v, 80707);
    CHECK_EQ(w, 8);
    CHECK(c >= 100 && c < 100 + N);
    CHECK_EQ(winners, 1);
    CHECK_EQ(losers, N - 1);
}

/* Each iteration has one of the loop's ordered regions, or none; on the device, its host version, and the host. */
#define EITHER(i, to, n)                                                                                     \
    if ((i) % 3 == 0) {                                                                                      \
        _Pragma("omp ordered") to[n++] = (i);                                                                \
    } else if ((i) % 3 == 1) {                                                                               \
        _Pragma("omp ordered threads") { to[n] = (i); n++; }                                                 \
    }

static void one_of_two(void)
{
    int a[N], n = 0, b[N], m = 0;
    for (int on_host = 0; on_host < 2; on_host++) {
        n = 0;
#pragma omp target parallel for ordered map(tofrom: a, n) if(target: !on_host) schedule(dynamic)
        for (int i = 0; i < N; i++) { EITHER(i, a, n) }
        CHECK_EQ(n, (N + 1) / 3 + (N + 2) / 3);
        for (int i = 0; i < n; i++) CHECK_EQ(a[i], i / 2 * 3 + i % 2);
    }
#pragma omp parallel for ordered schedule(dynamic) num_threads(8)
    for (int i = 0; i < N; i++) { EITHER(i, b, m) }
    CHECK_EQ(m, n);
    for (int i = 0; i < m; i++) CHECK_EQ(b[i], a[i]);
}

int main(void)
{
    in_order();
    one_of_two();
    cancelled();
    numbered();
    compared();
    return RESULT;
}
