/* bounds and paths of list items that are expressions of their own: `?:` in a bound, `*` before a
 * member, sizeof, casts and constants of an enum */
#include "check.h"
#include <stdlib.h>
enum { N = 4 };
struct row {
    int x[10];
};
struct table {
    struct row **rows;
};
int main(void)
{
    int on = 0, k = 2, sum = 0, v[N * 4];
    double w[20] = { 0 };
    struct table *t = malloc(sizeof *t);
    struct row *r = calloc(1, sizeof *r);
    t->rows = &r;
#pragma omp target map(tofrom: on, w[k ? 1 : 0 : k ? k + 2 : 1])
    {
        on = ON_DEVICE;
        w[k] = 42;
    }
    CHECK_EQ(w[2], 42);
#pragma omp target map(t->rows, *t->rows, (*t->rows)->x[0:(int)sizeof(short) * 5])
    for (int i = 0; i < 10; i++)
        (*t->rows)->x[i] = i * 3;
    CHECK_EQ(r->x[3], 9);
#pragma omp target teams distribute parallel for thread_limit(N * 8) map(from: v[:N << 2])
    for (int i = 0; i < N * 4; i++)
        v[i] = i;
#pragma omp target parallel for reduction(+: sum) num_threads(N > 2 ? N : 1) map(to: v[0:(N * 4)])
    for (int i = 0; i < N << 2; i += sizeof(char))
        sum += v[i];
    CHECK_EQ(sum, 120);
    CHECK(on);
    free(t);
    free(r);
    return RESULT;
}
