/* the loop variable of simd and loop constructs, composite ones also, has its last value after the loop */
#include "check.h"

enum { N = 61, M = 5 };
static int u[N];
int g = -1;
#pragma omp declare target enter(g, u)

static int orphaned(int n)
{
    int i;
#pragma omp for simd
    for (i = 0; i < n; i += 2)
        u[i] = i;
    return i;
}
#pragma omp declare target enter(orphaned)

static void mapped(void)
{
    int a = -1, b = -1, c = -1, d = -1, e = -1, f = -1, on = 0;
#pragma omp target map(tofrom: a, on)
#pragma omp teams distribute parallel for simd
    for (a = 0; a < N; a++) {
        u[a] = 1;
        if (a == N - 1)
            on = ON_DEVICE;
    }
#pragma omp target map(tofrom: b)
#pragma omp teams distribute simd
    for (b = N; b > 0; b -= 7)
        u[b - 1] = 1;
#pragma omp target map(tofrom: c)
#pragma omp parallel for simd schedule(dynamic, 3)
    for (c = 0; c < N; c++)
        u[c] = 1;
#pragma omp target teams distribute parallel for simd collapse(2) map(tofrom: d, e)
    for (d = 0; d < M; d++)
        for (e = 0; e < M; e++)
            u[d * M + e] = 1;
#pragma omp target simd map(tofrom: f)
    for (f = 0; f < N; f++)
        u[f] = 1;
    CHECK(on);
    CHECK(a == N && b == -2 && c == N && d == M && e == M && f == N);
}

static void listed(void)
{
    int a = -1, b = -1, c = -1;
#pragma omp target teams distribute parallel for simd linear(a)
    for (a = 3; a < N; a++)
        u[a] = 1;
#pragma omp target parallel for simd linear(b: 2) map(tofrom: b)
    for (b = 0; b < N; b += 2)
        u[b] = 1;
#pragma omp target simd linear(c: -1)
    for (c = N; c > 3; c--)
        u[c - 1] = 1;
    CHECK(a == N && b == N + 1 && c == 3);
}

static void by_loop(void)
{
    int a = -1, b = -1, c = -1;
#pragma omp target teams loop map(tofrom: a)
    for (a = 0; a < N; a++)
        u[a] = 1;
#pragma omp target parallel loop map(tofrom: b)
    for (b = 0; b < N; b++)
        u[b] = 1;
#pragma omp target map(tofrom: c)
#pragma omp loop bind(thread)
    for (c = 0; c < N; c++)
        u[c] = 1;
    CHECK(a == N && b == N && c == N);
}

static void of_the_region(void)
{
    int a = -1, b = -1, after[3] = { 0 };
#pragma omp target map(from: after)
    {
        int c = -1;
#pragma omp parallel for simd
        for (a = 0; a < N; a++)
            u[a] = 1;
#pragma omp parallel num_threads(3)
#pragma omp for simd schedule(static, 2)
        for (c = 0; c < N; c++)
            u[c] = 1;
#pragma omp parallel num_threads(3)
        {
            int n = orphaned(N);
#pragma omp single
            b = n;
        }
        after[0] = a;
        after[1] = b;
        after[2] = c;
    }
    CHECK(a == -1 && after[0] == N && after[1] == N + 1 && after[2] == N);
}

static void elsewhere(void)
{
    int a = -1;
    char *p = NULL;
    static char text[N];
#pragma omp target parallel for simd defaultmap(tofrom: scalar)
    for (a = 0; a < N; a++)
        u[a] = 1;
#pragma omp target teams distribute parallel for simd
    for (g = 0; g < N; g++)
        u[g] = 1;
#pragma omp target update from(g)
#pragma omp target data map(tofrom: text)
#pragma omp target simd map(tofrom: p)
    for (p = text; p < text + N; p += 10)
        *p = 1;
    CHECK(a == N && g == N);
    (void)p;
}

static void triangles(void)
{
    int a = -1, b = -1, c = -1, d = -1, sum = 0;
#pragma omp target parallel for simd collapse(2) map(tofrom: a, b) reduction(+: sum)
    for (a = 0; a < N; a++)
        for (b = 0; b <= a; b++)
            sum += b;
    CHECK(a == N && b == N && sum == N * (N * N - 1) / 6);
#pragma omp target map(tofrom: c, d)
#pragma omp simd collapse(2)
    for (c = 0; c < M; c++)
        for (d = c; d < M; d++)
            u[d] = 1;
    CHECK(c == M && d == M);
}

/* the inner loop in a block of its own, with statements beside both */
static void blocks(void)
{
    int count[N][M] = { { 0 } }, row[N] = { 0 }, j;
#pragma omp target parallel for collapse(2) map(tofrom: count, row)
    for (int i = 0; i < N; i++) {
        row[i] = i;
        {
            int twice = 2 * i;
            {
                for (j = 0; j < M; j++)
                    count[i][j] += twice + j;
                row[i] += 0;
            }
        }
    }
    for (int i = 0; i < N; i++)
        for (j = 0; j < M; j++)
            CHECK(count[i][j] == 2 * i + j && row[i] == i);
}

int main(void)
{
    mapped();
    listed();
    by_loop();
    of_the_region();
    elsewhere();
    triangles();
    blocks();
    return RESULT;
}
