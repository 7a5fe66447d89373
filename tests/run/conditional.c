/* lastprivate(conditional: …) */
#include "check.h"
#include <unistd.h>
struct pair { int a; double b; };
enum { M = 100 };

/* Loops that the threads of a parallel construct around share out, again and again, without a barrier of their own. */
static void shared_out(const int *v)
{
    int x = -1, want = -1;
    double d = 3;
#pragma omp target map(tofrom: x, d) map(to: v[0:M])
#pragma omp parallel default(none) shared(x, v, d)
    for (int turn = 0; turn < 2; turn++) {
#pragma omp for lastprivate(conditional: x, d) schedule(dynamic) nowait
        for (int i = M - 1; i >= 0; i--)
            if (v[i] > 90 + turn * 5) {
                x = v[i] + 1000 * i;
                if (turn) d = i;
            }
    }
    for (int i = M - 1; i >= 0; i--) if (v[i] > 95) want = i;
    CHECK_EQ(d, want);
    CHECK_EQ(x, v[want] + 1000 * want);
    int each[3] = { 0 };
#pragma omp target teams distribute map(from: each) map(to: v[0:M])
    for (int k = 0; k < 3; k++) {
        int y = -3;
#pragma omp parallel
        {
#pragma omp for lastprivate(conditional: y)
            for (int i = 0; i < M; i++) if (v[i] < 10 * k) y = i;
        }
        each[k] = y;
    }
    for (int k = 0; k < 3; k++) {
        int y = -3;
        for (int i = 0; i < M; i++) if (v[i] < 10 * k) y = i;
        CHECK_EQ(each[k], y);
    }
#pragma omp parallel num_threads(3)
#pragma omp for lastprivate(conditional: x)
    for (int i = 0; i < M; i++) if (v[i] < 30) x = i;
    for (int i = 0; i < M; i++) if (v[i] < 30) want = i;
    CHECK_EQ(x, want);
}

static void nests(const int *v)
{
    int x = -7, y = -7, want = -7;
#pragma omp target parallel map(tofrom: x) map(to: v[0:M]) num_threads(5)
    {
#pragma omp for nowait collapse(2) lastprivate(conditional: x)
        for (int i = 0; i < 10; i++) {
            for (int j = 9; j > 0; j -= 2) {
                if (v[i * 10 + j] % 7 == 3) x = i * 10 + j;
            }
        }
    }
    for (int i = 0; i < 10; i++) for (int j = 9; j > 0; j -= 2) if (v[i * 10 + j] % 7 == 3) want = i * 10 + j;
    CHECK_EQ(x, want);
#pragma omp target map(tofrom: y) map(to: v[0:M])
#pragma omp simd lastprivate(conditional: y)
    for (int i = 0; i < M; i++) if (v[i] < 20) y = i;
    for (int i = 0; i < M; i++) if (v[i] < 20) want = i;
    CHECK_EQ(y, want);
}

/* Functions in which no parallel construct is. */
#pragma omp begin declare target
static int gx, gy;
static double gd;
static void orphan(const int *v)
{
#pragma omp for lastprivate(conditional: gx, gd) schedule(dynamic)
    for (int i = 0; i < M; i++) {
        if (v[i] > 50) gx = i;
        if (v[i] == 3) gd = i + .5;
    }
}
static void orphan_simd(const int *v)
{
#pragma omp for simd lastprivate(conditional: gy) simdlen(4) nowait
    for (int i = 0; i < M; i++) if (v[i] > 50) gy = i;
}
static void orphan_sections(int k)
{
#pragma omp sections lastprivate(conditional: gx)
    {
        if (k & 1) gx = 101;
#pragma omp section
        if (k & 2) gx = 102;
#pragma omp section
        if (k & 4) gx = 103;
    }
}
#pragma omp end declare target

static void orphans(const int *v)
{
    int x = 0, y = 0, last = -1;
    double d = 0, at = -1;
    for (int i = 0; i < M; i++) last = v[i] > 50 ? i : last, at = v[i] == 3 ? i + .5 : at;
#pragma omp target parallel map(tofrom: x, d, y) map(to: v[0:M]) num_threads(40)
    {
#pragma omp single
        gx = -5, gd = -5, gy = -5;
        orphan(v);
#pragma omp single
        x = gx, d = gd;
        orphan_simd(v);
#pragma omp barrier
#pragma omp single
        y = gy;
    }
    CHECK(x == last && d == at && y == last);
    for (int threads = 1; threads < 5; threads += 3) {
        gx = gy = -1, gd = -1;
#pragma omp parallel num_threads(threads)
        {
            orphan(v);
            orphan_simd(v);
        }
        CHECK(gx == last && gd == at && gy == last);
    }
}

/* The last section that assigns. */
static void sections(int k)
{
    int want = k & 4 ? 103 : k & 2 ? 102 : k & 1 ? 101 : 7, x = 0, y = 7, z = 7, w = -1, u = 0;
#pragma omp target parallel map(from: x) num_threads(5)
    {
#pragma omp single
        gx = 7;
        orphan_sections(k);
#pragma omp single
        x = gx;
    }
    gx = 7;
#pragma omp parallel num_threads(2)
    orphan_sections(k);
#pragma omp target parallel sections lastprivate(conditional: y) map(tofrom: y) num_threads(2)
    {
#pragma omp section
        if (k & 1) y = 101;
#pragma omp section
        if (k & 2) y = 102;
#pragma omp section
        if (k & 4) { y = 1; y += 102; }
    }
#pragma omp parallel sections lastprivate(conditional: z, w) lastprivate(u)
    {
        if (k & 1) z = 101;
        w = 11;
#pragma omp section
        if (k & 2) z = 102;
#pragma omp section
        {
            if (k & 4) z = 103;
            u = k;
        }
    }
    CHECK(x == want && gx == want && y == want && z == want && w == 11 && u == k);
}

/* Inner bounds that depend on outer variables; threads that run an earlier iteration after a later one. */
static void orders(void)
{
    int t = -1, u = -1, v = -1, want = -1, back = -1;
    for (int i = 0; i < 10; i++) for (int j = i; j < 12; j++) if ((i * j) % 7 == 3) want = i * 100 + j;
    for (int i = 9; i >= 0; i--) for (int j = i; j < 12; j++) if ((i * j) % 7 == 3) back = i * 100 + j;
#pragma omp target parallel for collapse(2) lastprivate(conditional: t) map(tofrom: t)
    for (int i = 0; i < 10; i++) for (int j = i; j < 12; j++) if ((i * j) % 7 == 3) t = i * 100 + j;
#pragma omp parallel for collapse(2) lastprivate(conditional: u)
    for (int i = 9; i >= 0; i--) for (int j = i; j < 12; j++) if ((i * j) % 7 == 3) u = i * 100 + j;
#pragma omp parallel for schedule(nonmonotonic: dynamic, 1) lastprivate(conditional: v) num_threads(2)
    for (int i = 0; i < 40; i++) {
        if (i < 20) usleep(2000);
        v = i;
    }
    CHECK(t == want && u == back && v == 39);
}

/* What is between the loops does not assign it. */
static void imperfect(void)
{
    enum { N = 20 };
    int x = -1, y = -1, want = -1, before[N], after[N];
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) if ((2 * i + j) % 7 == 0 && i < 15) want = i * 100 + j;
#pragma omp target parallel for collapse(2) lastprivate(conditional: x) map(tofrom: x) map(from: before, after)
    for (int i = 0; i < N; i++) {
        int twice = before[i] = 2 * i;
        {
            for (int j = 0; j < N; j++) if ((twice + j) % 7 == 0 && i < 15) x = i * 100 + j;
        }
        after[i] = i;
    }
#pragma omp parallel for collapse(2) lastprivate(conditional: y)
    for (int i = 0; i < N; i++) {
        int twice = 2 * i;
        for (int j = 0; j < N; j++) if ((twice + j) % 7 == 0 && i < 15) y = i * 100 + j;
    }
    CHECK_EQ(x, want);
    CHECK_EQ(y, want);
    for (int i = 0; i < N; i++) CHECK(before[i] == 2 * i && after[i] == i);
}

/* A variable of the file; each time anew. */
static int of_file;
enum { FIRST, SECOND } nameless;
static void of_no_name(void)
{
#pragma omp parallel for lastprivate(conditional: nameless)
    for (int i = 0; i < 16; i++)
        if (i < 9) nameless = i % 2 ? SECOND : FIRST;
}
static void again(int n)
{
#pragma omp parallel for lastprivate(conditional: of_file)
    for (int i = 0; i < 16; i++)
        if (i == n) of_file = n + 100;
}

int main(void)
{
    enum { N = 300 };
    int x = -1, never = 7, on = 0, v[N];
    double y = 0;
    for (int i = 0; i < N; i++) v[i] = i * 37 % 101;
#pragma omp target parallel for lastprivate(conditional: x, y, never) map(tofrom: x, on) schedule(static, 3)
    for (int i = 0; i < N; i++) {
        if (v[i] > 1000) never = i;
        if (v[i] % 2) continue;
        if (v[i] > 90) { x = i; x += v[i]; }
        if (i == 120) y = 1.5, on = ON_DEVICE;
    }
    int want = -1;
    for (int i = 0; i < N; i++) if (v[i] % 2 == 0 && v[i] > 90) want = i + v[i];
    CHECK(on || v[120] % 2);
    CHECK_EQ(x, want);
    CHECK_EQ(y, v[120] % 2 ? 0 : 1.5);
    CHECK_EQ(never, 7);
    struct pair last = { 0, 0 };
    int up = 0;
#pragma omp target teams distribute parallel for lastprivate(conditional: last) map(tofrom: last) map(to: v)
    for (int i = N - 1; i >= 0; i -= 2)
        if (v[i] < 50) last = (struct pair){ i, v[i] };
#pragma omp parallel for lastprivate(conditional: up)
    for (int i = 0; i < N; i++) if (v[i] == 5) up++, up = i;
    int down = -1, five = -1;
    for (int i = N - 1; i >= 0; i -= 2) if (v[i] < 50) down = i;
    for (int i = 0; i < N; i++) if (v[i] == 5) five = i;
    CHECK_EQ(last.a, down);
    CHECK_EQ(last.b, v[down]);
    CHECK_EQ(up, five);
    shared_out(v);
    orphans(v);
    orders();
    imperfect();
    for (int k = 0; k < 8; k++) sections(k);
    nests(v);
    nameless = SECOND;
    of_no_name();
    CHECK(nameless == FIRST);
    again(10);
    again(3);
    CHECK_EQ(of_file, 103);
    return RESULT;
}
