/* loop transformations, in device code and around it; each order of iterations against its definition */
#include "check.h"
enum { N = 23, M = 14 };
static int order[4 * N * M], n;
static void start(void) { n = 0; }
#define IS(...) do { int want[] = { __VA_ARGS__ }; \
        CHECK_EQ(n, COUNT(want)); \
        for (int c = 0; c < n && c < COUNT(want); c++) CHECK_EQ(order[c], want[c]); } while (0)

static void orders(void)
{
    start();
#pragma omp target map(tofrom: order, n)
    {
#pragma omp reverse
        for (int i = 9; i > 2; i -= 3) order[n++] = i;
#pragma omp interchange
        for (int i = 0; i < 2; i++) for (long j = 3; j <= 5; ++j) order[n++] = 10 * i + (int)j;
#pragma omp interchange permutation(2, 3, 1)
        for (int i = 0; i < 2; i++) for (int j = 0; j != 2; j++) for (int k = 0; k < 2; k++)
            order[n++] = 100 * i + 10 * j + k;
    }
    IS(3, 6, 9, 3, 13, 4, 14, 5, 15, 0, 100, 1, 101, 10, 110, 11, 111);
    start();
#pragma omp target map(tofrom: order, n)
    {
#pragma omp tile sizes(2, 3)
        for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) order[n++] = 10 * i + j;
#pragma omp stripe sizes(2)
        for (unsigned char i = 0; i < 5; i++) { if (i == 1) continue; order[n++] = i; }
    }
    IS(0, 1, 2, 10, 11, 12, 3, 13, 20, 21, 22, 23, 0, 2, 4, 3);
    start();
#pragma omp target map(tofrom: order, n)
    {
#pragma omp fuse
        {
            for (int i = 0; i < 2; i++) { if (i == 0) continue; order[n++] = i; }
            for (int j = 10; j > 7; j--) order[n++] = j;
        }
#pragma omp fuse looprange(2, 2)
        {
            for (int i = 0; i < 2; i++) order[n++] = i;
            for (int i = 0; i < 2; i++) order[n++] = 10 + i;
            for (int i = 0; i < 2; i++) order[n++] = 20 + i;
        }
#pragma omp split counts(1, omp_fill, 2) apply(split(2): reverse)
        for (int i = 0; i < 5; i++) order[n++] = i;
#pragma omp tile sizes(2) apply(grid: reverse) apply(intratile: unroll)
        for (int i = 0; i < 5; i++) order[n++] = i;
#pragma omp reverse
#pragma omp tile sizes(2) apply(intratile: reverse)
        for (int i = 0; i < 4; i++) order[n++] = i;
#pragma omp tile sizes(2, 2) apply(intratile: nothing, reverse)
        for (int i = 0; i < 2; i++) for (int j = 0; j < 4; j++) order[n++] = 10 * i + j;
    }
    IS(10, 1, 9, 8, 0, 1, 10, 20, 11, 21, 0, 2, 1, 3, 4, 4, 2, 3, 0, 1, 3, 2, 1, 0, 1, 0, 11, 10, 3, 2, 13, 12);
}

/* What is applied to the innermost of the generated loops goes on with the loops in it. */
static void deep(void)
{
    static int a[7][5][3];
    int n = 0, order[12] = { 0 };
#pragma omp target map(tofrom: n, order, a)
    {
#pragma omp tile sizes(2) apply(intratile: interchange)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 3; j++) order[n++] = 10 * i + j;
#pragma omp tile sizes(4, 4) apply(grid: interchange, nothing) apply(intratile: nothing, interchange)
        for (int i = 0; i < 7; i++)
            for (int j = 0; j < 5; j++)
                for (int k = 0; k < 3; k++) a[i][j][k] += i + j * k;
#pragma omp parallel for
#pragma omp unroll partial(2) apply(tile sizes(1, 2, 2))
        for (int i = 0; i < 7; i++)
            for (int j = 0; j < 5; j++)
                for (int k = 0; k < 3; k++) a[i][j][k] += 100;
    }
    static const int want[] = { 0, 10, 1, 11, 2, 12, 20, 30, 21, 31, 22, 32 };
    for (int i = 0; i < 12; i++) CHECK_EQ(order[i], want[i]);
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 5; j++)
            for (int k = 0; k < 3; k++) CHECK_EQ(a[i][j][k], i + j * k + 100);
}

static void shared_out(void)
{
    static int a[N][M], b[N], c[N];
    int on = 0, size = 4, sum = 0, i, *p;
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: a)
#pragma omp tile sizes(size, 5)
    for (i = 0; i < N; i++) for (int j = 0; j < M; j++) a[i][j] += i * M + j + 1;
#pragma omp target parallel for collapse(4) map(tofrom: a)
#pragma omp tile sizes(3, 5)
    for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) a[i][j] += i * M + j + 1;
#pragma omp target parallel for map(tofrom: b, on) reduction(+: sum)
#pragma omp unroll partial(4)
    for (int i = 0; i < N; i++) { b[i] += i; sum += i; if (i == 3) on = ON_DEVICE; }
#pragma omp target map(tofrom: c, sum)
    {
#pragma omp unroll
        for (int i = 0; i < N; i++) sum += i;
#pragma omp unroll full
        for (int i = 0; i < 7; i++) sum += i;
#pragma omp parallel for
#pragma omp unroll
        for (p = c; p < c + N; p += 2) *p = (int)(p - c);
    }
    CHECK(on);
    for (int i = 0; i < N; i++) {
        CHECK_EQ(b[i], i);
        CHECK_EQ(c[i], i % 2 ? 0 : i);
        for (int j = 0; j < M; j++) CHECK_EQ(a[i][j], 2 * (i * M + j + 1));
    }
    CHECK_EQ(sum, N * (N - 1) + 21);
}

/* A variable that the loop does not declare is the user's, in what the body calls and after the loop; in what shares
 * the iterations out it is private. */
#pragma omp begin declare target
static int at;
static int seen(void) { return at; }
#pragma omp end declare target
#define OUTER_VARIABLES(ok) do { \
        int i, j, n = 0; \
        _Pragma("omp tile sizes(2, 3)") \
        for (i = 0; i < 7; i++) for (j = 1; j < 10; j += 2) n += i * j; \
        ok |= (n == 21 * 25 && i == 6 && j == 9) << 0; \
        n = 0; \
        _Pragma("omp reverse") \
        for (at = 5; at < 9; at++) n += 2 * seen() - at; \
        ok |= (n == 26 && at == 5) << 1; \
        _Pragma("omp interchange") \
        for (i = 0; i < 3; i++) for (at = 0; at < 4; at++) n += seen() == at; \
        ok |= (n == 38 && i == 2 && at == 3) << 2; \
        _Pragma("omp unroll partial(3)") _Pragma("omp tile sizes(2)") \
        for (at = 0; at < 8; at++) n += seen() == at; \
        ok |= (n == 46 && at == 7) << 3; \
        _Pragma("omp fuse") \
        { for (i = 0; i < 3; i++) n += i; for (at = 0; at < 5; at++) n -= seen(); } \
        ok |= (n == 39 && i == 2 && at == 4) << 4; \
        _Pragma("omp split counts(2, omp_fill)") \
        for (at = 3; at < 9; at++) n += seen() == at; \
        ok |= (n == 45 && at == 8) << 5; \
        _Pragma("omp parallel for reduction(+: n)") _Pragma("omp tile sizes(4)") \
        for (at = 0; at < 64; at++) n += at; \
        ok |= (n == 45 + 63 * 32 && at == 8) << 6; \
        _Pragma("omp parallel for collapse(2) reduction(+: n)") \
        for (i = 0; i < 8; i++) _Pragma("omp unroll partial(2)") for (j = 0; j < 8; j++) n += j; \
        ok |= (n == 45 + 63 * 32 + 28 * 8) << 7; \
    } while (0)
static void outer_variables(void)
{
    int device = 0, host = 0;
#pragma omp target map(tofrom: device)
    OUTER_VARIABLES(device);
    OUTER_VARIABLES(host);
    CHECK_EQ(device, 255);
    CHECK_EQ(host, 255);
}

int main(void)
{
    outer_variables();
    orders();
    deep();
    shared_out();
    return RESULT;
}
