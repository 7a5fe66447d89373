/* declare reduction whose combiner is a statement expression, of the file and of a block, with calls and loops in it */
#include "check.h"
struct w { int v[4]; };
static void helper(struct w *a, const struct w *b) { for (int i = 0; i < 4; i++) a->v[i] += b->v[i]; }
#pragma omp declare reduction(add : struct w : ({ for (int k = 0; k < 4; k++) omp_out.v[k] += omp_in.v[k]; })) initializer(omp_priv = { { 0 } })
#pragma omp declare reduction(add2 : struct w : ({ helper(&omp_out, &omp_in); })) initializer(omp_priv = { { 0 } })
int main(void)
{
    int on = 0;
    struct w a = { { 0 } }, b = { { 0 } }, c = { { 0 } };
#pragma omp declare reduction(in : struct w : ({ for (int k = 0; k < 4; k++) omp_out.v[k] += omp_in.v[k]; })) initializer(omp_priv = { { 0 } })
#pragma omp target teams distribute parallel for reduction(add : a) reduction(add2 : b) reduction(in : c) map(tofrom: on)
    for (int i = 0; i < 1000; i++) {
        on = ON_DEVICE;
        a.v[i % 4]++, b.v[i % 4]++, c.v[i % 4]++;
    }
    CHECK(on);
    for (int i = 0; i < 4; i++)
        CHECK(a.v[i] == 250 && b.v[i] == 250 && c.v[i] == 250);
    return RESULT;
}
