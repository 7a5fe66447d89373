/* forms that programs have: regions in loops that converge, in branches and cases, functions with regions called from several places,
 * sequential loops before and after regions; each on the device and on the host */
#include "check.h"
#include <math.h>
struct cell { int v, n; };
struct all { float a[100], res; int it, hist[8], tail[40]; struct cell cells[10]; };
static void step(float *a, int n, int k)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] += (float)k;
}
static float norm(const float *a, int n)
{
    float s = 0;
#pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++) s += a[i] * a[i];
    return sqrtf(s);
}
static void both(float *a, int n, int c)
{
    if (c) step(a, n, 1);
    else {
#pragma omp parallel for
        for (int i = 0; i < n; i++) a[i] -= 1;
    }
}
static void run(struct all *x, int on)
{
    struct all w = *x;
    float *a = w.a;
#pragma omp target map(tofrom: w) map(tofrom: a[0:100]) if (on)
    {                                                 /* until it converges; calls from several places */
        float old = 0, now = 1;
        while (w.it < 20 && fabsf(now - old) > 1e-3f) {
            old = now;
            step(a, 100, 1);
            if (w.it % 2) both(a, 100, w.it & 2);
            else step(a, 50, 2);
            now = norm(a, 100);
            w.it++;
        }
        w.res = now;
    }
#pragma omp target teams distribute map(tofrom: w) num_teams(2) if (on)
    for (int t = 0; t < 10; t++) {                    /* regions in some cases, and iterations without any */
        struct cell c = w.cells[t];
        switch (c.n) {
        case 0:
#pragma omp parallel
            if (omp_get_thread_num() == 0) w.cells[t].v += 1;
            break;
        case 1: w.cells[t].v *= 2; break;
        default:
#pragma omp parallel for
            for (int i = 0; i < 1; i++) w.cells[t].v -= 3 * c.v;
        }
        if (c.v == 5) continue;
        w.cells[t].n += w.cells[t].v;
    }
#pragma omp target map(tofrom: w) if (on)
    {
        int local[8], k = 0;
        for (int i = 0; i < 8; i++) local[i] = 0;
#pragma omp parallel for
        for (int i = 0; i < 100; i++)
#pragma omp atomic
            local[i % 8]++;
        for (int i = 0; i < 8; i++) w.hist[i] = local[i];             /* one barrier, in front of the loop */
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 10; j++) w.tail[i * 10 + j] += w.hist[j % 8] + i;
    again:
#pragma omp parallel for
        for (int i = 0; i < 40; i++) w.tail[i] += i;
        if (++k < 4) goto again;
        for (int i = 1; i < 40; i++) w.tail[i] = w.tail[i] * 2 + 1;
    }
    *x = w;
}
int main(void)
{
    struct all d = { .it = 0 }, h;
    for (int i = 0; i < 10; i++) d.cells[i] = (struct cell){ i, i % 3 };
    h = d;
    run(&d, 1);
    run(&h, 0);
    CHECK(d.it == h.it && d.res == h.res);
    for (int i = 0; i < 100; i++) CHECK_EQ(d.a[i], h.a[i]);
    for (int i = 0; i < 8; i++) CHECK_EQ(d.hist[i], h.hist[i]);
    for (int i = 0; i < 40; i++) CHECK_EQ(d.tail[i], h.tail[i]);
    for (int i = 0; i < 10; i++) CHECK(d.cells[i].v == h.cells[i].v && d.cells[i].n == h.cells[i].n);
    return RESULT;
}
