/* variables that have a value on some ways only: PTX reads no register that was never written */ /* also: -O0 */
#include "check.h"
#define NO __attribute__((noinline))

NO static void scaled(int *p, int n, int v)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        p[i] = p[i] * 3 + v + i;
}
/* The value that `return r` leaves in the loop is none after the loop. */
NO static int left_early(int n, int v, int *q)
{
    int r = v;
    scaled(q, 4, r);
#pragma omp parallel for reduction(+: r)
    for (int i = 0; i < 4; i++)
        r += q[i] & 15;
    for (int k = 0; k < 3; k++) {
        n += 1;
        if ((r ^ v) & 2) {
            scaled(q, 4, r);
            for (int j = 0; j < 3; j++) {
                n += 1;
                scaled(q, 4, r);
                int w = (n + 64) % 17 + 1, d[w];
                for (int i = 0; i < w; i++)
                    d[i] = i - v;
            }
            return r;
        }
    }
    scaled(q, 4, r);
    int w = (n + 64) % 3 + 1, d[w];
    for (int i = 0; i < w; i++)
        d[i] = i - v;
    return r + q[0];
}
static int twice(int k)
{
    int q[4] = { k, 1, 2, 3 }, r = 0;
    for (int i = 0; i < 2; i++)
        r = r * 3 + left_early(k, 2, q);
    return r + q[3];
}
NO static int sometimes(int c, const int *p)
{
    int x, sum = 0;
    if (c)
        x = p[0];
    for (int i = 0; i < 3; i++)
        sum += p[i];
    if (c)
        sum += x;
    return sum;
}

int main(void)
{
    int got[16], a[32];
#pragma omp target teams distribute num_teams(2) thread_limit(33) map(from: got)
    for (int k = 0; k < 16; k++)
        got[k] = twice(k);
    for (int k = 0; k < 16; k++)
        CHECK_EQ(got[k], twice(k));
#pragma omp target teams distribute parallel for map(from: a)
    for (int i = 0; i < 32; i++) {
        int p[3] = { i, 2, 3 };
        a[i] = sometimes(i % 3, p);
    }
    for (int i = 0; i < 32; i++)
        CHECK_EQ(a[i], i + 5 + (i % 3 ? i : 0));
    return RESULT;
}
