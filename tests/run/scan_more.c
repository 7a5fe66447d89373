/* scan: user-defined reductions that do not commute or take the original value, functions of the device, globals, arrays, local types,
 * complex numbers, teams around it */
#include <complex.h>
#include "check.h"

enum { N = 700 };
static int a[N], b[N];
static double d[N];

struct best { double value; int at, steps; };
static void start(struct best *p, const struct best *orig) { *p = (struct best){ -1e30, -1, 0 }; (void)orig; }
static void better(struct best *l, const struct best *r)
{
    if (r->value > l->value) { l->value = r->value; l->at = r->at; }
    l->steps += r->steps;
}
#pragma omp declare reduction(best : struct best : better(&omp_out, &omp_in)) initializer(start(&omp_priv, &omp_orig))
/* The last one that is not 0: associative, not commutative. */
#pragma omp declare reduction(last : int : omp_out = omp_in ? omp_in : omp_out) initializer(omp_priv = 0)
/* The scale is that of the original. */
struct scaled { int scale; long sum; };
#pragma omp declare reduction(sum : struct scaled : omp_out.sum += omp_in.sum) initializer(omp_priv = { omp_orig.scale, 0 })

#pragma omp begin declare target
long total;
int seen[N];
static void orphan(int n)
{
#pragma omp for reduction(inscan, +: total)
    for (int i = 0; i < n; i++) {
        seen[i] = (int)total;
#pragma omp scan exclusive(total)
        total += i;
    }
}
#pragma omp end declare target

static void user_defined(int threads)
{
    struct best m = { 1.5, -7, 3 }, out[N];
    int word = 9, on = 0;
    struct scaled s = { 3, 11 };
    long sums[N];
#pragma omp target parallel for num_threads(threads) reduction(inscan, best: m) reduction(inscan, last: word) reduction(inscan, sum: s) \
    map(from: out, b, sums) map(tofrom: on)
    for (int i = 0; i < N; i++) {
        better(&m, &(struct best){ d[i], i, 1 });
        if (i % 5 == 3) word = i;
        s.sum += s.scale * a[i];
        if (i == 0) on = ON_DEVICE;
#pragma omp scan inclusive(m, word, s)
        out[i] = m;
        b[i] = word;
        sums[i] = s.sum + s.scale;
    }
    struct best h = { 1.5, -7, 3 };
    long sum = 11;
    for (int i = 0; i < N; i++) {
        better(&h, &(struct best){ d[i], i, 1 });
        sum += 3 * a[i];
        CHECK(out[i].value == h.value && out[i].at == h.at && out[i].steps == h.steps);
        CHECK_EQ(b[i], i < 3 ? 9 : (i - 3) / 5 * 5 + 3);
        CHECK_EQ(sums[i], sum + 3);
    }
    CHECK(on && m.at == h.at && word == 698 && s.sum == sum && s.scale == 3);
}

static void local_things(void)
{
    struct pair { int x, y; } p = { 1, 2 }, q[N];
#pragma omp declare reduction(add : struct pair : (omp_out.x += omp_in.x, omp_out.y += omp_in.y))
    double _Complex z = 1, zs[N];
    int grid[2][3] = { { 1 } }, grids[N];
#pragma omp target map(tofrom: p, z, grid) map(from: q, zs, grids)
    {
        int k = 4;
#pragma omp parallel for reduction(inscan, add: p) reduction(inscan, *: z) reduction(inscan, +: grid) firstprivate(k)
        for (int i = 0; i < N; i++) {
            q[i] = p;
            zs[i] = z;
            grids[i] = grid[1][2] + k;
#pragma omp scan exclusive(p, z, grid)
            p.x++;
            p.y += i;
            z *= i % 3 ? 1 : I;
            grid[i % 2][i % 3]++;
        }
    }
    double _Complex h = 1;
    int last = 0;
    for (int i = 0; i < N; i++) {
        CHECK(q[i].x == 1 + i && q[i].y == 2 + i * (i - 1) / 2);
        CHECK(zs[i] == h);
        CHECK_EQ(grids[i], last + 4);
        h *= i % 3 ? 1 : I;
        last += i % 6 == 5;
    }
    CHECK(z == h && p.x == N + 1 && grid[1][2] == last);
}

static void functions(void)
{
    total = 5;
#pragma omp target update to(total)
#pragma omp target parallel num_threads(50)
    orphan(N);
#pragma omp target                    /* sequential code: a team of one */
    orphan(10);
#pragma omp target update from(total, seen)
    CHECK_EQ(total, 5 + N * (N - 1) / 2 + 45);
    for (int i = 0; i < N; i++)
        CHECK_EQ(seen[i], i < 10 ? 5 + N * (N - 1) / 2 + i * (i - 1) / 2 : 5 + i * (i - 1) / 2);
    total = 7;
    orphan(N);                        /* on the host */
    CHECK_EQ(total, 7 + N * (N - 1) / 2);
    CHECK_EQ(seen[N - 1], 7 + (N - 1) * (N - 2) / 2);
}

/* Each team scans for itself. */
static void teams(void)
{
    enum { T = 3 };
    int out[T][100] = { { 0 } }, count = 0;
#pragma omp target teams num_teams(T) thread_limit(64) map(tofrom: out, count)
    {
        int t = omp_get_team_num(), x = 10 * t;
        if (t == 0) count = omp_get_num_teams();
#pragma omp parallel for reduction(inscan, +: x)
        for (int i = 0; i < 100; i++) {
            x += a[i];
#pragma omp scan inclusive(x)
            out[t][i] = x;
        }
        out[t][0] += x;
    }
    for (int t = 0; t < count; t++)
        for (int i = 0, x = 10 * t; i < 100; i++) {
            x += a[i];
            if (i) CHECK_EQ(out[t][i], x);
            if (i == 99) CHECK_EQ(out[t][0], 10 * t + a[0] + x);
        }
    CHECK(count >= 1);
}

/* Row by row: each thread, and each team, has rows of its own. */
static void rows(void)
{
    enum { R = 37, C = 90 };
    static int m[R][C], p[R][C], q[R][C];
    int sums[R];
    for (int i = 0; i < R * C; i++)
        m[i / C][i % C] = i * 17 % 23 - 5;
#pragma omp target teams distribute parallel for num_teams(2) thread_limit(8) map(to: m) map(from: p, sums)
    for (int i = 0; i < R; i++) {
        int x = i;
#pragma omp simd reduction(inscan, +: x)
        for (int j = 0; j < C; j++) {
            x += m[i][j];
#pragma omp scan inclusive(x)
            p[i][j] = x;
        }
        sums[i] = x;
    }
#pragma omp target teams distribute num_teams(3) thread_limit(64) map(to: m) map(from: q)
    for (int i = 0; i < R; i++) {
        int x = i;
#pragma omp parallel for simd reduction(inscan, +: x)
        for (int j = C - 1; j >= 0; j -= 2) {
            q[i][j] = x;
#pragma omp scan exclusive(x)
            x += m[i][j];
        }
        q[i][0] = x;
    }
    for (int i = 0; i < R; i++) {
        int x = i, y = i;
        for (int j = 0; j < C; j++) {
            x += m[i][j];
            CHECK_EQ(p[i][j], x);
        }
        CHECK_EQ(sums[i], x);
        for (int j = C - 1; j >= 0; j -= 2) {
            CHECK_EQ(q[i][j], y);
            y += m[i][j];
        }
        CHECK_EQ(q[i][0], y);
    }
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        a[i] = i * 31 % 100 - 40;
        d[i] = i * 7919 % 1000 * 0.5 - 100;
    }
    user_defined(64);
    user_defined(45);
    user_defined(1);
    local_things();
    functions();
    teams();
    rows();
    return RESULT;
}
