/* locals that only thread 0 touches are its own: originals of reductions, what masked regions count; and locals that look so and are not */
#include "check.h"
#include <stdio.h>
struct sums { int n; double d; };
static void add(struct sums *to, const struct sums *s) { to->n += s->n, to->d += s->d; }
#pragma omp declare reduction(add: struct sums: add(&omp_out, &omp_in)) initializer(omp_priv = (struct sums){ 0, 0 })
enum { N = 70 };
int main(void)
{
    int out[12][8] = { 0 }, a[N], b[N] = { 0 }, on = 0;
    for (int i = 0; i < N; i++) a[i] = i % 7 + 1;
#pragma omp target teams distribute num_teams(5) map(tofrom: out, on, b) map(to: a)
    for (int t = 0; t < 12; t++) {
        int s = t, most = 0, set[3] = { 1, 2, 3 };                    /* own */
        struct sums both = { t, 0.5 };
        int seen = 0, all = 0, stop = 0, late = 0;                    /* seen: own; the others are not */
#pragma omp parallel for reduction(+: s) reduction(max: most)
        for (int i = 0; i < N; i++) s += a[i], most = a[i] > most ? a[i] : most;
        out[t][0] = s + most;
#pragma omp parallel for reduction(+: s) num_threads(t % 3 * 20 + 1) /* the old value counts */
        for (int i = 0; i < N; i++) s += a[i];
        out[t][1] = s;
#pragma omp parallel for reduction(+: set) if(t & 1)
        for (int i = 0; i < N; i++) set[i % 3] += a[i];
        out[t][2] = set[0] * 10000 + set[1] * 100 + set[2];
#pragma omp parallel for reduction(add: both)
        for (int i = 0; i < N; i++) both.n += 1, both.d += a[i];
        out[t][3] = both.n * 1000 + (int)both.d;
#pragma omp parallel
        {
#pragma omp masked
            { seen += 2; if (seen > 1) seen += a[t]; }
#pragma omp masked
            all += 3;
#pragma omp barrier
#pragma omp for
            for (int i = 0; i < N; i++) if (i % 12 == t) b[i] = all;  /* read by all */
        }
        out[t][4] = seen;
#pragma omp parallel for reduction(+: stop)
        for (int i = 0; i < N; i++) stop += a[i] > 6;
        if (stop > 9 + (t & 1)) {                                     /* decides for all */
#pragma omp parallel for reduction(+: late)
            for (int i = 0; i < N; i++) late += stop;
        }
        out[t][5] = late;
        for (int k = 0; k < 3; k++) {                                 /* set again in each turn, and read behind its life */
            int turn = k;
#pragma omp parallel for reduction(^: turn)
            for (int i = 0; i < N; i++) turn ^= i + k;
            out[t][6] += turn;
            out[t][7] += k;
        }
        if (t == 3) { printf("team %d: %d %d\n", t, s, out[t][4]); on = ON_DEVICE; }
    }
    CHECK(on);
    for (int t = 0; t < 12; t++) {
        int s = 0, turns = 0;
        for (int i = 0; i < N; i++) s += a[i];
        CHECK_EQ(out[t][0], t + s + 7);
        CHECK_EQ(out[t][1], t + 2 * s);
        int set[3] = { 1, 2, 3 };
        for (int i = 0; i < N; i++) set[i % 3] += a[i];
        CHECK_EQ(out[t][2], set[0] * 10000 + set[1] * 100 + set[2]);
        CHECK_EQ(out[t][3], (t + N) * 1000 + s);
        CHECK_EQ(out[t][4], 2 + a[t]);
        CHECK_EQ(out[t][5], t & 1 ? 0 : 10 * N);
        for (int k = 0; k < 3; k++) {
            int turn = k;
            for (int i = 0; i < N; i++) turn ^= i + k;
            turns += turn;
        }
        CHECK_EQ(out[t][6], turns);
        CHECK_EQ(out[t][7], 3);
    }
    for (int i = 0; i < N; i++) CHECK_EQ(b[i], 3);
    return RESULT;
}
