/* flags: -fompgpu-mode=generic */ /* also: -O0 -g -fompgpu-mode=generic, -O2 -g */
/* recursive functions with parallel regions; parallel regions and functions reached through pointers, in tables and in mapped structures */
#include "check.h"
#define NO __attribute__((noinline))

/* ------------------------------------------------------------------ recursion */
NO static int tree(int depth, int *hits)                 /* two children each; a region on the way down and one on the way up */
{
    int down[4] = { 0 }, up = 0;
#pragma omp parallel num_threads(4)
    down[omp_get_thread_num()] = omp_get_thread_num() + depth;
    if (depth > 0)
        up = tree(depth - 1, hits) + tree(depth - 1, hits);
#pragma omp parallel for reduction(+: up)
    for (int i = 0; i < 10; i++)
        up += down[i % 4];
#pragma omp atomic
    ++*hits;
    return up;
}
static int tree_on_host(int depth)
{
    int up = depth > 0 ? 2 * tree_on_host(depth - 1) : 0;
    for (int i = 0; i < 10; i++)
        up += i % 4 + depth;
    return up;
}
NO static int pong(int n, int *a);
NO static int ping(int n, int *a)                        /* mutual; also called from inside of regions, where its region is serialised */
{
    int s = 0;
#pragma omp parallel for reduction(+: s)
    for (int i = 0; i < 16; i++)
        s += a[i] + n;
    return n > 0 ? s + pong(n - 1, a) : s;
}
NO static int pong(int n, int *a)
{
    int b[16];
#pragma omp parallel for
    for (int i = 0; i < 16; i++)
        b[i] = a[15 - i] + 1;
    return n > 0 ? ping(n - 1, b) - 1 : b[0];
}

/* ------------------------------------------------------------------ pointers */
typedef int op(int *a, int n, int v);
NO static int add(int *a, int n, int v)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[i] += v;
    return n;
}
NO static int scale(int *a, int n, int v)
{
    int biggest = 0;
#pragma omp parallel for reduction(max: biggest)
    for (int i = 0; i < n; i++) {
        a[i] *= v;
        if (a[i] > biggest)
            biggest = a[i];
    }
    return biggest;
}
NO static int leaf(int *a, int n, int v) { return a[n - 1] + v; }            /* no region in it */
#pragma omp begin declare target
static op *const table[] = { add, scale, leaf };
static op *chosen;
#pragma omp end declare target
struct job { op *f; int v; };
NO static int run(struct job *j, int n, int *a, int k)
{
    int local[8], r = 0;                                 /* escapes through a pointer nobody knows */
    for (int i = 0; i < 8; i++)
        local[i] = i;
    for (int i = 0; i < n; i++)
        r += j[i].f(local, 8, j[i].v + k);
    for (int i = 0; i < 8; i++)
        a[i] = local[i];
    return r;
}

int main(void)
{
    int got[8] = { 0 }, hits = 0, on = 0, a[3][16], back[8];
    for (int i = 0; i < 16; i++)
        a[0][i] = a[1][i] = a[2][i] = i * i % 7;

#pragma omp target map(tofrom: got, hits, on)
    {
        got[0] = tree(4, &hits);
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(got[0], tree_on_host(4));
    CHECK_EQ(hits, 31);

    int inside[24];
#pragma omp target map(to: a) map(from: got, inside)
    {
        got[0] = ping(5, a[0]);
        got[1] = pong(4, a[1]);
#pragma omp parallel num_threads(24)
        inside[omp_get_thread_num()] = ping(omp_get_thread_num() % 5, a[omp_get_thread_num() % 3]);
        got[2] = ping(3, a[2]);
    }
    CHECK_EQ(got[0], ping(5, a[0]));
    CHECK_EQ(got[1], pong(4, a[1]));
    CHECK_EQ(got[2], ping(3, a[2]));
    for (int t = 0; t < 24; t++)
        CHECK_EQ(inside[t], ping(t % 5, a[t % 3]));

    for (int k = 0; k < 3; k++) {
        int team[3][8], x[3][16];
        for (int t = 0; t < 3; t++)
            for (int i = 0; i < 16; i++)
                x[t][i] = i + t;
#pragma omp target teams distribute num_teams(3) thread_limit(40) map(tofrom: x) map(from: team) firstprivate(k)
        for (int t = 0; t < 3; t++) {
            struct job jobs[] = { { table[k], 2 }, { add, t }, { k == 1 ? scale : leaf, 3 } };
            team[t][0] = table[k](x[t], 16, t + 2);
            op *f = t & 1 ? add : scale;
            team[t][1] = f(x[t], 16, 3);
            int local[8];
            team[t][2] = run(jobs, 3, local, k);
            team[t][3] = local[5];
            if (t == 0)                                      /* one team: the teams share the variable */
                chosen = table[(t + k) % 3],
                team[t][4] = chosen(x[t], 8, 1);
#pragma omp parallel num_threads(7)
            {
                int own[8] = { omp_get_thread_num() };
                int r = table[(omp_get_thread_num() + k) % 3](own, 8, 2);
#pragma omp critical
                x[t][15] += r + own[1];
            }
        }
        for (int t = 0; t < 3; t++) {
            struct job jobs[] = { { table[k], 2 }, { add, t }, { k == 1 ? scale : leaf, 3 } };
            int y[16], more = 0;
            for (int i = 0; i < 16; i++)
                y[i] = i + t;
            CHECK_EQ(team[t][0], table[k](y, 16, t + 2));
            op *f = t & 1 ? add : scale;
            CHECK_EQ(team[t][1], f(y, 16, 3));
            CHECK_EQ(team[t][2], run(jobs, 3, back, k));
            CHECK_EQ(team[t][3], back[5]);
            if (t == 0)
                CHECK_EQ(team[t][4], table[(t + k) % 3](y, 8, 1));
            for (int m = 0; m < 7; m++) {
                int own[8] = { m }, r = table[(m + k) % 3](own, 8, 2);
                more += r + own[1];
            }
            CHECK_EQ(x[t][15], y[15] + more);
            for (int i = 0; i < 15; i++)
                CHECK_EQ(x[t][i], y[i]);
        }
    }
    return RESULT;
}
