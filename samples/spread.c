/* spread - three loops over all devices: axpy, a matrix product by rows, and a heat equation whose halos are exchanged.
 *
 * `ompx target spread` divides the iterations of a loop into one chunk for each device; the clauses say what each chunk needs of
 * the data. The grids of the heat equation stay on the devices: after each step neighbours exchange one row each.
 *
 * OMPGPU_EMU_DEVICES=4 spread has four emulated devices.
 *
 * usage: spread [n [steps]]                                                                                */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void axpy(int n, double a, const double *x, double *y)
{
#pragma ompx target spread devices(all) teams distribute parallel for \
    map(to: x[omp_spread_start : omp_spread_size]) map(tofrom: y[omp_spread_start : omp_spread_size])
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
}

/* c = a b, n x n each; every device has b and its rows of a and c. The result: the sum of all elements. */
static double product(int n, const double *a, const double *b, double *c)
{
    double sum = 0;
#pragma ompx target spread devices(all) teams distribute parallel for collapse(2) reduction(+: sum) map(to: b[0 : n * n]) \
    map(to: a[omp_spread_start * n : omp_spread_size * n]) map(from: c[omp_spread_start * n : omp_spread_size * n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int k = 0; k < n; k++)
                s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
            sum += s;
        }
    return sum;
}

/* Grids of n x n with a border of one. */
static void heat(int n, int steps, double *u, double *v)
{
    int w = n + 2;
#pragma ompx target data spread devices(all) range(1 : n) \
    map(from: u[omp_spread_start * w : omp_spread_size * w]) \
    map(to: u[(omp_spread_start - 1) * w : (omp_spread_size + 2) * w], v[(omp_spread_start - 1) * w : (omp_spread_size + 2) * w])
    for (int k = 0; k < steps; k++) {
        double *from = k & 1 ? v : u, *to = k & 1 ? u : v;
#pragma ompx target spread devices(all) teams distribute parallel for collapse(2) \
    map(to: from[(omp_spread_start - 1) * w : (omp_spread_size + 2) * w]) map(from: to[(omp_spread_start - 1) * w : (omp_spread_size + 2) * w])
        for (int i = 1; i <= n; i++)
            for (int j = 1; j <= n; j++)
                to[i * w + j] = 0.25 * (from[(i - 1) * w + j] + from[(i + 1) * w + j] + from[i * w + j - 1] + from[i * w + j + 1]);
#pragma ompx target update spread devices(all) range(1 : n) \
    from(to[omp_spread_start * w : (omp_spread_start > 1) * w], to[(omp_spread_start + omp_spread_size - 1) * w : (omp_spread_start + omp_spread_size <= n) * w]) \
    to(to[(omp_spread_start - 1) * w : (omp_spread_start > 1) * w], to[(omp_spread_start + omp_spread_size) * w : (omp_spread_start + omp_spread_size <= n) * w])
    }
}

/* The same without directives. */
static void heat_on_host(int n, int steps, double *u, double *v)
{
    int w = n + 2;
    for (int k = 0; k < steps; k++) {
        double *from = k & 1 ? v : u, *to = k & 1 ? u : v;
        for (int i = 1; i <= n; i++)
            for (int j = 1; j <= n; j++)
                to[i * w + j] = 0.25 * (from[(i - 1) * w + j] + from[(i + 1) * w + j] + from[i * w + j - 1] + from[i * w + j + 1]);
    }
}

static double *numbers(int n, double first)
{
    double *p = malloc(sizeof *p * (size_t)n);
    for (int i = 0; p && i < n; i++)
        p[i] = first + i % 7;
    return p;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 128, steps = 2 * (argc > 2 ? atoi(argv[2]) / 2 : 5), w = n + 2;
    double *a = numbers(n * n, 1), *b = numbers(n * n, -3), *c = numbers(n * n, 0);
    double *u = numbers(w * w, 0), *v = numbers(w * w, 0), *hu = numbers(w * w, 0), *hv = numbers(w * w, 0);
    if (!a || !b || !c || !u || !v || !hu || !hv)
        return 1;
    double wrong = 0, sum = product(n, a, b, c);
    for (int i = 0; i < n * n; i++)
        sum -= c[i];
    axpy(n * n, 2, a, b);
    for (int i = 0; i < n * n; i++)
        wrong += fabs(b[i] - (-3 + i % 7 + 2 * a[i]));
    heat(n, steps, u, v);
    heat_on_host(n, steps, hu, hv);
    for (int i = 0; i < w * w; i++)
        wrong += fabs(u[i] - hu[i]);
    printf("spread: %d x %d, %d steps: %s\n", n, n, steps, wrong == 0 && fabs(sum) < 1e-6 ? "OK" : "FAILED");
    free(a), free(b), free(c), free(u), free(v), free(hu), free(hv);
    return wrong != 0 || fabs(sum) >= 1e-6;
}
