/* locals of sequential code that do not fit into shared memory: large ones, VLAs, alloca, functions called again and recursively,
 * and the same functions called from inside of a parallel region, where each thread has its own */ /* also: -O0 -g -fompgpu-mode=generic, -O2 -g */
#include "check.h"

struct big { int at[500]; };

__attribute__((noinline)) static void fill(int *p, int n, int v)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        p[i] = v + i;
}
__attribute__((noinline)) static int vla(int n, int v)
{
    int a[n], s = 0;
    fill(a, n, v);
    for (int i = 0; i < n; i++)
        s += a[i];
    for (int k = 1; k < 40; k++) {           /* each is given back before the next comes */
        int b[k * 20], *c = __builtin_alloca(4 * sizeof *c);
        fill(b, k * 20, k);
        fill(c, 4, s);
        s += b[k * 20 - 1] + c[3] - c[0];
    }
    return s;
}
__attribute__((noinline)) static int early(int n, int v)
{
    if (n < 3)
        return v;
    int a[n];
    fill(a, n, v);
    if (a[1] & 1)
        return a[n - 1];
    int b[2 * n];
    fill(b, 2 * n, a[2]);
    return b[2 * n - 1] + early(n - 1, v + 1);
}
static int deep(int n)
{
    int a[4];
    fill(a, 4, n);
    return n ? a[1] + a[3] + deep(n - 1) + a[0] + a[2] : 0;
}
__attribute__((noinline)) static int odd(int n);
__attribute__((noinline)) static int even(int n)
{
    struct big b;
    fill(b.at, 500, n);
    return (n ? odd(n - 1) : 0) + b.at[499];
}
__attribute__((noinline)) static int odd(int n)
{
    struct big b;
    fill(b.at, 500, -n);
    return (n ? even(n - 1) : 0) + b.at[498];
}
__attribute__((noinline)) static int large(int v)
{
    int a[3000];
    fill(a, 3000, v);
    return a[2999];
}
__attribute__((noinline)) static int by_value(struct big b, int v)
{
    fill(b.at + 1, 499, v);
    return b.at[0] + b.at[499];
}
static int all(int n)
{
    struct big b = { { n } };
    int r = vla(100 + n, n) + early(9, n) + deep(12) + even(5) + large(n) + large(n + 1) + by_value(b, 2);
    return r + b.at[0] + b.at[1];
}

int main(void)
{
    int got[7] = { 0 }, on = 0, mine[64];
#pragma omp target teams distribute num_teams(3) map(tofrom: got, on)
    for (int i = 0; i < 7; i++) {
        int local[2000];
        fill(local, 2000, i);
        got[i] = all(i) + local[1999];
        on = ON_DEVICE;
    }
    CHECK(on);
    for (int i = 0; i < 7; i++)
        CHECK_EQ(got[i], all(i) + i + 1999);

#pragma omp target map(tofrom: got, mine)
    {
        got[0] = all(3);
#pragma omp parallel num_threads(5)
        mine[omp_get_thread_num()] = all(omp_get_thread_num());
        got[1] = all(4);
    }
    CHECK_EQ(got[0], all(3));
    CHECK_EQ(got[1], all(4));
    for (int t = 0; t < 5; t++)
        CHECK_EQ(mine[t], all(t));

#pragma omp target parallel num_threads(40) map(from: mine)
    mine[omp_get_thread_num()] = all(omp_get_thread_num());
    for (int t = 0; t < 40; t++)
        CHECK_EQ(mine[t], all(t));
    return RESULT;
}
