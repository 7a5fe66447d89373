/* private copies of arrays that do not fit on the stack: generic kernels, functions, nested regions, one thread, rows of constructs */
#include <stdio.h>
#include <stdlib.h>
#include <omp.h>
static long errors;
#define CHECK(c) do { if (!(c) && errors++ < 10) printf("line %d: " #c "\n", __LINE__); } while (0)

static void histogram(double *h, int n, int m)       /* orphaned: a constant and a run-time length */
{
    double (*a)[600] = (double (*)[600])h;
#pragma omp for reduction(+: a[0][0:600])
    for (int i = 0; i < m; i++) a[0][i % 600] += i;
#pragma omp for reduction(+: h[0:n])
    for (int i = 0; i < m; i++) h[i % n] += 1;
}
static void alone(long *h, int n)                    /* a region that is serialised inside of another */
{
#pragma omp parallel for reduction(+: h[1:n])
    for (int i = 0; i < 3 * n; i++) h[1 + i % n] += i % 7;
}
static double want1(int k, int m) { double s = 0; for (int i = k; i < m; i += 600) s += i; return s; }

int main(int argc, char **argv)
{
    int teams = 3, n = argc > 1 ? atoi(argv[1]) : 700, m = 5000;
    double (*out)[2000] = calloc(teams, sizeof *out);
    long (*out2)[2000] = calloc(teams, sizeof *out2);
    long *len = calloc(teams, sizeof *len), total[300] = { 0 };
    for (int t = 0; t < teams; t++) len[t] = n / (t + 1) < 1000 ? n / (t + 1) : 1000;
    /* constant size, foreseen size, run-time length computed in the kernel, in a row and in a loop */
#pragma omp target teams distribute num_teams(3) thread_limit(64) map(tofrom: out[0:teams], out2[0:teams]) map(to: len[0:teams])
    for (int t = 0; t < teams; t++) {
        double b[1000] = { 0 };
        double *p = out[t];
        long *q = out2[t];
        int l = (int)len[t];
#pragma omp parallel for reduction(+: b)
        for (int i = 0; i < m; i++) b[i % 1000] += i;
#pragma omp parallel for reduction(+: p[0:n]) num_threads(7)
        for (int i = 0; i < m; i++) p[i % n] += 1;
        for (int r = 0; r < 3; r++) {
#pragma omp parallel reduction(max: q[3:l])
            {
                for (int i = 0; i < l; i++) q[3 + i] = q[3 + i] > i + r ? q[3 + i] : i + r;
#pragma omp for reduction(+: b[0:l], p[0:2])
                for (int i = 0; i < m; i++) { b[i % l] += 2; p[i % 2] += 1; }
            }
        }
        for (int i = 0; i < 1000; i++) p[i + 1000] = b[i];
    }
    for (int t = 0; t < teams; t++) {
        int l = (int)len[t];
        for (int k = 0; k < n && k < 1000; k++) {
            double w = 0;
            for (int i = k; i < m; i += n) w += 1;
            if (k < 2) w += 3 * m / 2;
            CHECK(out[t][k] == w);
        }
        for (int k = 0; k < 1000; k++) {
            double w = 0;
            for (int i = k; i < m; i += 1000) w += i;
            if (k < l) for (int i = k; i < m; i += l) w += 3 * 2;
            CHECK(out[t][k + 1000] == w);
        }
        for (int k = 0; k < l; k++) CHECK(out2[t][3 + k] == k + 2);
    }
    /* in functions, and one thread alone */
    double h[2000] = { 0 };
    long g[64][101] = { 0 };
    int used = 0, leagues = 0;
#pragma omp target map(tofrom: h, g, used)
    {
        used = 0;
#pragma omp parallel num_threads(33)
        {
            histogram(h, 50, m);
            histogram(h + 600, n, m);
            alone(g[omp_get_thread_num()], 100);
            if (omp_get_thread_num() % 3 == 0) alone(g[omp_get_thread_num()], 40 + omp_get_thread_num());
#pragma omp single
            used = omp_get_num_threads();
        }
    }
    for (int k = 0; k < 600; k++) CHECK(h[k] == want1(k, m) + (k < 50 ? m / 50 : 0));
    for (int k = 600; k < 1200 && k < 600 + n; k++) {
        double w = want1(k - 600, m);
        for (int i = k - 600; i < m; i += n) w += 1;
        CHECK(h[k] == w);
    }
    for (int t = 0; t < used; t++) {
        long w[101] = { 0 };
        for (int i = 0; i < 300; i++) w[1 + i % 100] += i % 7;
        if (t % 3 == 0) for (int i = 0; i < 3 * (40 + t); i++) w[1 + i % (40 + t)] += i % 7;
        for (int k = 0; k < 101; k++) CHECK(g[t][k] == w[k]);
    }
    /* the teams' own copies, with regions that update them */
#pragma omp target teams num_teams(3) thread_limit(32) reduction(+: total) map(tofrom: total, leagues)
    {
        int id = omp_get_team_num();
        if (id == 0) leagues = omp_get_num_teams();
        for (int i = 0; i < 300; i++) total[i] += id;
#pragma omp parallel for reduction(+: total[0:n < 300 ? n : 300])
        for (int i = 0; i < 3000; i++) total[i % (n < 300 ? n : 300)] += 1;
    }
    for (int k = 0; k < 300; k++) {
        long w = leagues * (leagues - 1) / 2;
        if (k < n) for (int i = k; i < 3000; i += n < 300 ? n : 300) w += leagues;
        CHECK(total[k] == w);
    }
    printf(errors ? "%ld errors\n" : "OK\n", errors);
    free(out);
    free(out2);
    free(len);
    return errors != 0;
}
