/* scan of array sections: with a lower bound, of what a pointer leads to, of several dimensions, of one element; all threads and one, device and host */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { N = 300, K = 3 };
struct map { unsigned a, b; };
static void compose(struct map *f, const struct map *g) { *f = (struct map){ f->a * g->a, f->b * g->a + g->b }; }
#pragma omp declare reduction(own : struct map : compose(&omp_out, &omp_in)) initializer(omp_priv = { 1, 0 })
int grid[4][5][6], in[N];
static int sections(int threads, int n)
{
    int bad = 0, s[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, h[8]; memcpy(h, s, sizeof h);
    static int out[N][8]; memset(out, 0, sizeof out);
#pragma omp target parallel for num_threads(threads) reduction(inscan, +: s[2:K]) map(to: in) map(from: out)
    for (int i = 0; i < n; i++) {
        s[2 + i % 3] += in[i];
#pragma omp scan inclusive(s[2:K])
        for (int k = 2; k < 5; k++) out[i][k] = s[k];
    }
    for (int i = 0; i < n; i++) {
        h[2 + i % 3] += in[i];
        for (int k = 2; k < 5; k++) bad += out[i][k] != h[k];
    }
    bad += memcmp(s, h, sizeof s) != 0;
    return bad;
}
static int pointers(int threads, int n, double *p, struct map *q)
{
    int bad = 0;
    double hp[10]; struct map hq[10]; memcpy(hp, p, sizeof hp); memcpy(hq, q, sizeof hq);
    static double out[N][4]; static struct map mo[N][2];
#pragma omp target map(tofrom: p[0:10], q[:10]) map(to: in) map(from: out, mo)
#pragma omp parallel num_threads(threads)
#pragma omp for reduction(inscan, max: p[:4]) reduction(inscan, own: q[3:2])
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 4; k++) out[i][k] = p[k];
        mo[i][0] = q[3]; mo[i][1] = q[4];
#pragma omp scan exclusive(q[3:2], p[0:4])
        if (in[i] > p[i % 4]) p[i % 4] = in[i];
        compose(&q[3 + (i & 1)], &(struct map){ i * 2654435761u | 1, in[i] });
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 4; k++) bad += out[i][k] != hp[k];
        bad += memcmp(mo[i], hq + 3, sizeof mo[i]) != 0;
        if (in[i] > hp[i % 4]) hp[i % 4] = in[i];
        compose(&hq[3 + (i & 1)], &(struct map){ i * 2654435761u | 1, in[i] });
    }
    return bad + (memcmp(p, hp, sizeof hp) || memcmp(q, hq, sizeof hq));
}
static int rows(int threads, int n)
{
    int bad = 0, h[4][5][6];
    for (int i = 0; i < 120; i++) grid[0][0][i] = i;
    memcpy(h, grid, sizeof h);
    static int out[N][12];
#pragma omp target parallel for simd num_threads(threads) collapse(2) reduction(inscan, ^: grid[1][2:2][:]) map(to: in) map(from: out) map(tofrom: grid)
    for (int r = 0; r < n / 3; r++)
        for (int c = 0; c < 3; c++) {
            int i = r * 3 + c;
            grid[1][2 + i % 2][i % 6] ^= in[i] << i % 7;
#pragma omp scan inclusive(grid[1][2:2][:])
            int j = r * 3 + c;
            for (int k = 0; k < 12; k++) out[j][k] = grid[1][2][k];
        }
    for (int i = 0; i < n / 3 * 3; i++) {
        h[1][2 + i % 2][i % 6] ^= in[i] << i % 7;
        for (int k = 0; k < 12; k++) bad += out[i][k] != h[1][2][k];
    }
    return bad + (memcmp(grid, h, sizeof h) != 0);
}
static int element(int threads, int n, int at)
{
    long a[5] = { 1, 2, 3, 4, 5 }, h = a[3], out[N], sum[N];
    int bad = 0;
#pragma omp target parallel for num_threads(threads) reduction(inscan, +: a[3]) map(to: in) map(from: out)
    for (int i = 0; i < n; i++) {
        a[3] += in[i];
#pragma omp scan inclusive(a[3])
        out[i] = a[3];
    }
    for (int i = 0; i < n; i++) bad += out[i] != (h += in[i]);
    bad += a[3] != h || a[2] != 3 || a[4] != 5;
    h = a[at];
    long *p = a;
#pragma omp target simd reduction(inscan, +: p[at:1]) map(to: in) map(from: sum) map(tofrom: a)
    for (int i = 0; i < n; i++) {
        sum[i] = p[at];
#pragma omp scan exclusive(p[at:1])
        p[at] += in[i];
    }
    for (int i = 0; i < n; i++) { bad += sum[i] != h; h += in[i]; }
    return bad + (a[at] != h);
}
int main(void)
{
    int bad = 0, sizes[] = { 1, 7, 32, 100, 256 }, trips[] = { 0, 1, 33, 300 };
    for (int i = 0; i < N; i++) in[i] = i * 37 % 101 - 20;
    for (int t = 0; t < 5; t++) for (int k = 0; k < 4; k++) {
        double p[10]; struct map q[10];
        for (int i = 0; i < 10; i++) p[i] = i - 3, q[i] = (struct map){ i + 1, i };
        int b[4] = { sections(sizes[t], trips[k]), pointers(sizes[t], trips[k], p, q), rows(sizes[t], trips[k]), element(sizes[t], trips[k], t % 5) };
        for (int j = 0; j < 4; j++) if (b[j]) printf("%d: %d threads %d trips: %d\n", j, sizes[t], trips[k], b[j]), bad = 1;
    }
    return bad;
}
