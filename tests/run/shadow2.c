/* more names: parameters, captured names as members, in designated initialisers, sizeof, typeof, macros, nested functions' locals, tags */
#include "check.h"

#define SCALE(v) ((v) * scale)
#define SWAP(T, p, q) do { T tmp = p; p = q; q = tmp; } while (0)
struct pack { int n, scale; struct { int n; } sub; };
typedef int scale_t;

static int sum_of(int n, int scale) { int v = 0; for (int i = 0; i < n; i++) v += scale; return v; }

/* extern in a block: what a local variable or constant hides, and what has no other declaration before */
int hidden = 3, linked = 5, entered = 6;
static int own = 7, array[4] = { 1, 2, 3, 4 };
#pragma omp declare target enter(entered) link(linked)
static int on_device(void) { int entered = 1; { extern int entered; int twice(int), last; return twice(entered); } }
int twice(int x) { return 2 * x; }

static void blocks(void)
{
    int r = 0;
    {
        int hidden = 100, array = 50;
#pragma omp target map(tofrom: r) map(linked)
        {
            { int linked = 1; r += linked; { extern int linked; r += linked; } }
            extern int later;
            r += later + hidden + array + on_device();
            { extern int hidden; r += hidden; }
        }
        CHECK_EQ(r, 1 + 5 + 8 + 100 + 50 + 12 + 3);
    }
    r = 0;
#pragma omp target map(tofrom: r, hidden, own) map(array)
    {
        int hidden = 4;
        r += hidden;
        { extern int hidden, own; r += hidden++; { int own = 4; r += own; } r += own++; extern int array[4]; array[0] += array[3]; }
        enum { array = 6 };
        r += array;
#pragma omp parallel num_threads(4)
        {
            extern int hidden;
#pragma omp atomic
            hidden++;
        }
    }
    CHECK(r == 4 + 3 + 4 + 7 + 6 && hidden == 8 && own == 8 && array[0] == 5);
    r = 0;
#pragma omp target parallel for private(hidden) firstprivate(entered) reduction(+: r) num_threads(8)
    for (int i = 0; i < 8; i++) {
        hidden = i;
        { int entered = 5; extern int hidden; r += hidden + entered; { extern int entered; r += entered; } }
    }
    CHECK_EQ(r, 28 + 40 + 48);
}
int later = 8;

int main(void)
{
    int n = 6, scale = 2, v[6] = { 1, 2, 3, 4, 5, 6 }, tmp = 9, out[8] = { 0 }, on = 0;
    blocks();
    struct pack pack = { .n = 1, .scale = 3, .sub = { .n = 4 } };
    int (*fp)(int, int) = 0;

#pragma omp target map(tofrom: v, out, on, pack, tmp)
    {
        on = ON_DEVICE;
        struct pack q = { .n = n, .scale = scale, .sub.n = pack.sub.n + n };
        SWAP(int, v[0], v[5]);
        tmp = pack.n;
        out[0] = SCALE(n) + q.sub.n + q.scale;
        out[1] = (int)(sizeof n + sizeof(v) / sizeof *v + sizeof(scale_t));
        __typeof__(v[0]) n2 = n, *pn = &n2;
        *pn += 1;
        out[2] = n2 + sum_of(n, scale);
        out[3] = ({ int n = 3; n * scale; }) + n;
        for (int n = 0, scale = 10; n < 3; n++)
            out[4] += n * scale;
        out[5] = (n ? : 7) + (tmp++, n);
        pack = (struct pack){ n, scale, { out[4] } };
        struct n { int scale; } scale_of = { scale };
        out[6] = scale_of.scale + (int)sizeof(struct n);
        int (*fp)(int, int) = sum_of;
        out[7] = fp(2, 5);
    }
    CHECK(on && fp == 0);
    int want[8] = { 12 + 10 + 2, 4 + 6 + 4, 7 + 12, 12, 30, 12, 6, 10 };
    for (int i = 0; i < 8; i++)
        CHECK_EQ(out[i], want[i]);
    CHECK(v[0] == 6 && v[5] == 1 && tmp == 2 && pack.n == 6 && pack.scale == 2 && pack.sub.n == 30);
    /* private copies at several depths of one name */
    int x = 1, r[4] = { 0 };
#pragma omp target map(tofrom: r) firstprivate(x)
    {
        x += 1;                                       /* 2 */
#pragma omp parallel num_threads(4) firstprivate(x)
        {
            x += 10;                                  /* 12 */
#pragma omp for
            for (int i = 0; i < 4; i++) {
                int y = x + i;
                int x = y * 2;
                r[i] = x;
            }
#pragma omp single
            r[3] += 1000 * x;
        }
        r[0] += 100 * x;
    }
    CHECK_EQ(r[0], 24 + 200);
    CHECK_EQ(r[1], 26);
    CHECK_EQ(r[3], 30 + 12000);
    return RESULT;
}
