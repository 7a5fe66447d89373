/* more names: parameters, captured names as members, in designated initialisers, sizeof, typeof, macros, nested functions' locals, tags */
#include "check.h"

#define SCALE(v) ((v) * scale)
#define SWAP(T, p, q) do { T tmp = p; p = q; q = tmp; } while (0)
struct pack { int n, scale; struct { int n; } sub; };
typedef int scale_t;

static int sum_of(int n, int scale) { int v = 0; for (int i = 0; i < n; i++) v += scale; return v; }

int main(void)
{
    int n = 6, scale = 2, v[6] = { 1, 2, 3, 4, 5, 6 }, tmp = 9, out[8] = { 0 }, on = 0;
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
