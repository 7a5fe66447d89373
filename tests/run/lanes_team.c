/* simd loops and parallel loops inside of a team's loop that has fewer iterations than threads, which lanes of a warp share: results as on the host (lanes_team.t: in
 * other orders, with the race check, and what is said of it) */
/* also: -O0 */
/* gpus: all */
#include <math.h>
#include "check.h"
enum { B = 7, R = 20, K = 70 };
static double a[B][R][K], x[B][K], y[B][R], z[B][R][K], want[B][R];
static int e[B * R + 1], n[B * R * K], on;
static long count[B];

static void set_up(void)
{
    for (int b = 0; b < B; b++)
        for (int r = 0; r < R; r++) {
            e[b * R + r + 1] = e[b * R + r] + (b + r * 13) % K;
            for (int k = 0; k < K; k++) {
                a[b][r][k] = (b * 5 + r * 3 + k) % 11 - 4;
                x[b][k] = (b + k) % 7 - 2;
                n[(b * R + r) * K + k] = b * 31 + r * 7 + k * k % 101;
            }
        }
}
static double product(int b, int r)
{
    double s = 0;
    for (int k = 0; k < K; k++)
        s += a[b][r][k] * x[b][k];
    return s;
}
static void compare(const char *what)
{
    for (int b = 0; b < B; b++)
        for (int r = 0; r < R; r++)
            if (y[b][r] != want[b][r]) {
                printf("%s: %d, %d is %g, not %g\n", what, b, r, y[b][r], want[b][r]);
                check_failures++;
                return;
            }
}

/* ------------------------------------------------------------------ three levels */
static void three(void)
{
#pragma omp target teams distribute map(to: a, x) map(from: y) map(tofrom: on)
    for (int b = 0; b < B; b++) {
#pragma omp parallel for
        for (int r = 0; r < R; r++) {
            double s = 0;
#pragma omp simd reduction(+: s)
            for (int k = 0; k < K; k++)
                s += a[b][r][k] * x[b][k];
            y[b][r] = s;
            if (r == 0 && b == 0)
                on = ON_DEVICE;
        }
    }
    CHECK(on);
    for (int b = 0; b < B; b++)
        for (int r = 0; r < R; r++)
            want[b][r] = product(b, r);
    compare("three levels");
    /* simdlen, also where there are more iterations than threads */
#pragma omp target teams distribute map(to: a, x) map(from: y) thread_limit(32)
    for (int b = 0; b < B; b++) {
#pragma omp parallel for
        for (int r = 0; r < R; r++) {
            double s = 0;
#pragma omp simd reduction(+: s) simdlen(8)
            for (int k = 0; k < K; k++)
                s += a[b][r][k] * x[b][k];
            y[b][r] = s;
        }
    }
    compare("simdlen");
}

/* A team that is no whole number of warps, one with a thread a row, and few threads. */
static void threads(int many)
{
#pragma omp target teams distribute map(to: a, x) map(from: y)
    for (int b = 0; b < B; b++) {
#pragma omp parallel for num_threads(many)
        for (int r = 0; r < R; r++) {
            double s = 0;
#pragma omp simd reduction(+: s)
            for (int k = 0; k < K; k++)
                s += a[b][r][k] * x[b][k];
            y[b][r] = s;
        }
    }
    compare("threads");
}

/* ------------------------------------------------------------------ regions inside of regions */
static void inside(void)
{
#pragma omp target teams distribute map(to: a, x) map(from: y)
    for (int b = 0; b < B; b++) {
#pragma omp parallel for
        for (int r = 0; r < R; r++) {
            double s = 0;
#pragma omp parallel for reduction(+: s)
            for (int k = 0; k < K; k++)
                s += a[b][r][k] * x[b][k];
            y[b][r] = s;
        }
    }
    compare("parallel in parallel");
#pragma omp target map(to: a, x) map(from: y)
    for (int b = 0; b < B; b++) {
#pragma omp parallel
        {
#pragma omp for nowait
            for (int r = 0; r < R / 2; r++) {
                double s = 0;
#pragma omp simd reduction(+: s)
                for (int k = 0; k < K; k++)
                    s += a[b][r][k] * x[b][k];
                y[b][r] = s;
            }
#pragma omp for
            for (int r = R / 2; r < R; r++) {
                double s = 0;
#pragma omp simd reduction(+: s)
                for (int k = 0; k < K; k++)
                    s += a[b][r][k] * x[b][k];
                y[b][r] = s;
            }
        }
    }
    compare("loops of a region");
}

/* ------------------------------------------------------------------ what the rows leave behind */
static void reductions(void)
{
    long all = 0, most = 0, wanted = 0, largest = 0;
    for (int b = 0; b < B; b++)
        count[b] = 0;
#pragma omp target teams distribute map(to: e, n) map(tofrom: count) reduction(+: all) reduction(max: most)
    for (int b = 0; b < B; b++) {
        long sum = 0, top = 0;
#pragma omp parallel for reduction(+: sum) reduction(max: top)
        for (int r = 0; r < R; r++) {
            int best = 0, odd = 0;
#pragma omp simd reduction(max: best) reduction(+: sum, odd)
            for (int k = e[b * R + r]; k < e[b * R + r + 1]; k++) {
                best = n[k] > best ? n[k] : best;
                odd += n[k] & 1;
                sum += n[k];
            }
            top = best > top ? best : top;
            if (odd > 3) {
#pragma omp atomic
                count[b] += odd;
            }
        }
        all += sum;
        most = top > most ? top : most;
    }
    for (int b = 0; b < B; b++) {
        long sum = 0;
        for (int r = 0; r < R; r++) {
            int odd = 0;
            for (int k = e[b * R + r]; k < e[b * R + r + 1]; k++) {
                largest = n[k] > largest ? n[k] : largest;
                odd += n[k] & 1;
                wanted += n[k];
            }
            sum += odd > 3 ? odd : 0;
        }
        CHECK(count[b] == sum);
    }
    CHECK(all == wanted && most == largest);
}

/* Memory of the team, stores in the inner loop, and what later statements of the row read. */
static void stores(void)
{
#pragma omp target teams distribute map(to: a, x) map(from: y, z)
    for (int b = 0; b < B; b++) {
        double scale[R], last = b;
#pragma omp parallel for
        for (int r = 0; r < R; r++) {
            double s = 0;
            scale[r] = r % 3 + last;
#pragma omp simd
            for (int k = 0; k < K; k++)
                z[b][r][k] = a[b][r][k] * scale[r];
#pragma omp simd reduction(+: s)
            for (int k = 0; k < K; k++)
                s += z[b][r][K - 1 - k];
            y[b][r] = s;
            y[b][r] += scale[r];
            if (s > 0)
                y[b][r] += sqrt(s);
        }
    }
    for (int b = 0; b < B; b++)
        for (int r = 0; r < R; r++) {
            double s = 0;
            for (int k = 0; k < K; k++)
                s += a[b][r][k] * (r % 3 + b);
            want[b][r] = s + (r % 3 + b) + (s > 0 ? sqrt(s) : 0);
        }
    compare("stores");
}

/* Collapsed rows, which end early; what a thread has of its own is no row's. */
static void others(void)
{
    double own[B] = { 0 };
#pragma omp target map(to: e, n) map(from: y)
    {
#pragma omp parallel for collapse(2)
        for (int b = 0; b < B; b++)
            for (int r = 0; r < 5; r++) {
                int s = 0;
                y[b][r] = -1;
                if (r == b)
                    continue;
#pragma omp simd reduction(+: s) simdlen(4)
                for (int k = e[b * R + r + 1] - 1; k >= e[b * R + r]; k--)
                    s += n[k];
                for (int i = 0; i < r; i++)
                    s += i;
                y[b][r] = s;
            }
    }
    for (int b = 0; b < B; b++)
        for (int r = 0; r < 5; r++) {
            int s = 0;
            for (int k = e[b * R + r]; k < e[b * R + r + 1]; k++)
                s += n[k];
            CHECK(y[b][r] == (r == b ? -1 : s + r * (r - 1) / 2));
        }
#pragma omp target map(to: a) map(tofrom: own)
#pragma omp parallel
    {
        double mine = 0;
#pragma omp for
        for (int b = 0; b < B; b++) {
            double s = mine;
#pragma omp simd reduction(+: s)
            for (int k = 0; k < K; k++)
                s += a[b][0][k];
            own[b] += s;
            mine += 0;
        }
    }
    for (int b = 0; b < B; b++) {
        double s = 0;
        for (int k = 0; k < K; k++)
            s += a[b][0][k];
        CHECK(own[b] == s);
    }
}

int main(void)
{
    set_up();
    three();
    threads(128);
    threads(64);
    threads(48);
    threads(20);
    threads(1);
    inside();
    reductions();
    stores();
    others();
    return RESULT;
}
