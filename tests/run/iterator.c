/* iterators in map and motion clauses, shapes of arrays in target update */ /* also: -O0 -g */
#include <stdlib.h>
#include "check.h"
enum { N = 4, M = 8 };
struct grid {
    int n, *cells;
};
static void rows_of_pointers(int *p[N], int **q)
{
    int on = 0;
#pragma omp target map(iterator(i = 0 : N), tofrom : p[i][ : M]) map(tofrom : on)
    {
        on = ON_DEVICE;
        for (int i = 0; i < N; i++)
            p[i][i] += 10;
    }
    CHECK(on);
#pragma omp target data map(iterator(int i = 0 : N, unsigned char j = 4 : 0 : -4), to : q[i][j - 4 : M])
    {
#pragma omp target parallel for
        for (int i = 0; i < N; i++)
            q[i][0] += 100;
#pragma omp target update from(iterator(long i = N - 1 : 0 : -2) : q[i][0])
    }
    for (int i = 0; i < N; i++) {
        CHECK(q[i][0] == (i % 2 ? 100 : 0) + (i ? 0 : 10));
        CHECK_EQ(p[i][i], 10 + i);
    }
}
static void elements(void)
{
    int a[M] = { 0, 1, 2, 3, 4, 5, 6, 7 }, which[] = { 5, 2 }, none = 0;
    struct grid g = { M, a };
#pragma omp target map(iterator(k = 0 : 2), tofrom : a[which[k]]) map(to : which)
    a[which[0]] += 10, a[which[1]] += 20;
    CHECK_EQ(a[5], 15);
    CHECK_EQ(a[2], 22);
#pragma omp target map(iterator(it = 0 : g.n), tofrom : g.cells[it]) map(iterator(k = 0 : none), to : a[k])
    for (int i = 0; i < g.n; i++)
        g.cells[i]++;
    CHECK_EQ(a[7], 8);
}
static void shapes(int n, int m)
{
    int *p = calloc((size_t)(n * m), sizeof *p), count = 0;
    struct grid g = { n * m, p };
#pragma omp target data map(to : p[0 : n * m])
    {
#pragma omp target
        for (int i = 0; i < n * m; i++)
            p[i] = 1;
#pragma omp target update from(([n][m])p[1 : 3][2 : 4])
        for (int i = 0; i < n * m; i++)
            count += p[i] == 1;
        CHECK(count == 12);
#pragma omp target update from(([n][m])g.cells[0 : 2 : 4][0], (([m][n])p)[m - 1][ : n])
    }
    CHECK_EQ(p[0] + p[4 * m] + p[n * m - 1] + p[2 * m + 3], 4);
    CHECK(!p[m + 1]);
    free(p);
}
struct list { int n, *p; };
#pragma omp declare mapper(all : struct list s) map(s, s.p[0 : s.n])

/* Modifiers come in any order. */
static void orders(void)
{
    struct list s[3];
    int wrong = 0;
    for (int k = 0; k < 3; k++) {
        s[k].p = calloc(6, sizeof(int));
        s[k].n = 4 + k;
    }
#pragma omp target enter data map(mapper(all), iterator(k = 0 : 3), to : s[k])
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < s[k].n; i++)
            s[k].p[i] = i;
#pragma omp target update to(iterator(k = 0 : 3), mapper(all), present : s[k])
#pragma omp target map(present, mapper(all), iterator(k = 0 : 3), tofrom : s[k])
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < s[k].n; i++)
            s[k].p[i] *= k + 2;
#pragma omp target update from(iterator(int k = 0 : 3), mapper(all) : s[k])
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < s[k].n; i++)
            wrong += s[k].p[i] != i * (k + 2);
    CHECK_EQ(wrong, 0);
#pragma omp target exit data map(mapper(all), iterator(k = 0 : 3), delete : s[k])
    for (int k = 0; k < 3; k++)
        free(s[k].p);
}

int main(void)
{
    orders();
    int *p[N], *q[N];
    for (int i = 0; i < N; i++) {
        p[i] = q[i] = malloc(M * sizeof(int));
        for (int k = 0; k < M; k++)
            p[i][k] = k;
    }
    rows_of_pointers(p, q);
    elements();
    shapes(6, 8);
    for (int i = 0; i < N; i++)
        free(p[i]);
    return RESULT;
}
