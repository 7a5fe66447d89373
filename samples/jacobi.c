/* jacobi - Helmholtz equation on an n x n grid by Jacobi iteration with over-relaxation.
 *
 * `target data` keeps the three grids on the device for the whole iteration: u is copied back once, at its end; f is only read;
 * uold never exists on the host.  Each iteration launches two regions, the copy and the stencil, and brings back one number,
 * the error, through a reduction.
 *
 * usage: jacobi [n [iterations]]                                                                           */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct problem { double ax, ay, b, omega; };

/* Both return the last error; the grids are n x n, row by row. */
static double on_device(int n, int iterations, struct problem p, double *u, double *uold, const double *f)
{
    double error = 0, ax = p.ax, ay = p.ay, b = p.b, omega = p.omega;

#pragma omp target data map(to: f[0:n * n]) map(tofrom: u[0:n * n]) map(alloc: uold[0:n * n])
    for (int k = 0; k < iterations; k++) {
#pragma omp target teams distribute parallel for collapse(2)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                uold[i * n + j] = u[i * n + j];

        error = 0;
#pragma omp target teams distribute parallel for collapse(2) reduction(+: error)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                double resid = (ax * (uold[(i - 1) * n + j] + uold[(i + 1) * n + j])
                                + ay * (uold[i * n + j - 1] + uold[i * n + j + 1])
                                + b * uold[i * n + j] - f[i * n + j]) / b;
                u[i * n + j] = uold[i * n + j] - omega * resid;
                error += resid * resid;
            }
        error = sqrt(error) / n / n;
    }
    return error;
}

static double on_host(int n, int iterations, struct problem p, double *u, double *uold, const double *f)
{
    double error = 0;

    for (int k = 0; k < iterations; k++) {
        for (int i = 0; i < n * n; i++)
            uold[i] = u[i];
        error = 0;
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                double resid = (p.ax * (uold[(i - 1) * n + j] + uold[(i + 1) * n + j])
                                + p.ay * (uold[i * n + j - 1] + uold[i * n + j + 1])
                                + p.b * uold[i * n + j] - f[i * n + j]) / p.b;
                u[i * n + j] = uold[i * n + j] - p.omega * resid;
                error += resid * resid;
            }
        error = sqrt(error) / n / n;
    }
    return error;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 200, iterations = argc > 2 ? atoi(argv[2]) : 50;
    if (n < 3 || n > 20000)
        return fprintf(stderr, "jacobi: bad size\n"), 1;
    size_t size = (size_t)n * n;
    double *u = calloc(size, sizeof *u), *uold = calloc(size, sizeof *uold), *f = calloc(size, sizeof *f);
    double *v = calloc(size, sizeof *v), h = 2.0 / (n - 1), alpha = 0.05;
    struct problem p = { 1 / (h * h), 1 / (h * h), -4 / (h * h) - alpha, 0.8 };

    if (!u || !uold || !f || !v)
        return fprintf(stderr, "jacobi: out of memory\n"), 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double x = -1 + h * i, y = -1 + h * j;
            f[i * n + j] = -alpha * (1 - x * x) * (1 - y * y) - 2 * (1 - x * x) - 2 * (1 - y * y);
        }
    double error = on_device(n, iterations, p, u, uold, f), host_error = on_host(n, iterations, p, v, uold, f);

    double worst = fabs(error - host_error) / (host_error + 1e-300);
    for (size_t i = 0; i < size; i++)
        worst = fmax(worst, fabs(u[i] - v[i]));
    int ok = worst < 1e-9;
    printf("jacobi: n=%d iterations=%d residual %.6g max error %.1g %s\n", n, iterations, error, worst, ok ? "OK" : "FAILED");
    free(u), free(uold), free(f), free(v);
    return !ok;
}
