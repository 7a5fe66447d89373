/* Loops that tile, stripe, reverse and unroll make, under directives that are about several loops: collapse past them into the user's own, tile over reverse, simd */
/* also: -O0 */
#include "check.h"

enum { N = 7, M = 5 };
static int order[N * M], steps;

static void note(int i, int j) { order[steps++] = i * 10 + j; }

/* The numbers i * M + j, each once. */
#define SUM (N * M * (N * M - 1) / 2)

static int collapsed_on_device(void)
{
    int a = 0, b = 0, c = 0, on = 0;
#pragma omp target teams distribute parallel for collapse(3) reduction(+ : a) map(tofrom : on)
#pragma omp tile sizes(4)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            a += i * M + j;
            if (i == 0 && j == 0)
                on = ON_DEVICE;
        }
#pragma omp target parallel for collapse(4) reduction(+ : b)
#pragma omp tile sizes(3)
#pragma omp reverse
    for (int i = 0; i < N; i++)
        for (int j = M - 1; j >= 0; j--)
            for (int k = 0; k < 2; k++)
                b += k * (i * M + j);
#pragma omp target teams distribute parallel for simd reduction(+ : c)
#pragma omp unroll partial(2)
    for (int i = 0; i < N * M; i++)
        c += i;
    CHECK(on);
    return a == SUM && b == SUM && c == SUM;
}

static int collapsed_on_host(void)
{
    int a = 0, b = 0, c = 0, d = 0, e = 0;
#pragma omp parallel for collapse(2) reduction(+ : a)
#pragma omp tile sizes(2)
    for (int i = 0; i < N * M; i++)
        a += i;
#pragma omp parallel for collapse(3) reduction(+ : b)
    for (int i = 0; i < N; i++)
#pragma omp tile sizes(2)
        for (int j = 0; j < M; j++)
            b += i * M + j;
#pragma omp teams distribute collapse(3) reduction(+ : c) num_teams(2)
#pragma omp tile sizes(4)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            c += i * M + j;
#pragma omp simd reduction(+ : d)
#pragma omp stripe sizes(4)
    for (int i = 0; i < N * M; i++)
        d += i;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop collapse(2) reduction(+ : e)
#pragma omp tile sizes(3)
    for (int i = 0; i < N * M; i++)
        e += i;
    return a == SUM && b == SUM && c == SUM && d == SUM && e == SUM;
}

/* What is seen after the loops, and nests that are none, stay as they were. */
static void outside(void)
{
    int i = -7, j = -7, c = 0, d = 0, e = 0;
#pragma omp simd collapse(2) reduction(+ : c)
#pragma omp reverse
    for (i = 0; i < N; i++)
        for (j = 0; j < 4; j++)
            c++;
    CHECK_EQ(j, 4);
    j = -7;
#pragma omp parallel for collapse(2) lastprivate(j) reduction(+ : d)
#pragma omp reverse
    for (i = 0; i < N; i++)
        for (j = 0; j < 4; j++)
            d++;
    CHECK_EQ(j, 4);
#pragma omp target teams distribute parallel for collapse(2) reduction(+ : e)
#pragma omp reverse
    for (int k = 0; k < N; k++) {
        int x = k;
        for (int l = 0; l < M; l++)
            e += x;
    }
    CHECK(c == 4 * N && d == 4 * N && e == M * N * (N - 1) / 2);
}

static void reversed(void)
{
    static const int expected[] = { 30, 31, 20, 21, 32, 33, 22, 23, 10, 11, 0, 1, 12, 13, 2, 3 };
    steps = 0;
#pragma omp tile sizes(2, 2)
#pragma omp reverse
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            note(i, j);
    CHECK_EQ(steps, 16);
    CHECK(!memcmp(order, expected, sizeof expected));
}

int main(void)
{
    CHECK(collapsed_on_device());
    CHECK(collapsed_on_host());
    outside();
    reversed();
    return RESULT;
}
