/* axpy - y = a*x + y, the first loop to offload.
 *
 * One directive does everything: `target` runs the loop on the device, `teams distribute parallel for` spreads its
 * iterations over all threads there, and `map` says what is copied to the device before and back after it.
 *
 * usage: axpy [n]                                                                                          */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void axpy(int n, float a, const float *x, float *y)
{
#pragma omp target teams distribute parallel for map(to: x[0:n]) map(tofrom: y[0:n])
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000000;
    float a = 2.5f, *x = malloc((n + 1) * sizeof *x), *y = malloc((n + 1) * sizeof *y);

    if (n < 0 || !x || !y)
        return fprintf(stderr, "axpy: bad size\n"), 1;
    for (int i = 0; i < n; i++) {
        x[i] = (float)(i % 1000) * 0.5f;
        y[i] = (float)(i % 7);
    }
    axpy(n, a, x, y);

    float error = 0;
    for (int i = 0; i < n; i++)      /* x and y are small multiples of 1/4: the sum is exact */
        error = fmaxf(error, fabsf(y[i] - (a * (float)(i % 1000) * 0.5f + (float)(i % 7))));
    printf("axpy: n=%d max error %g %s\n", n, (double)error, error == 0 ? "OK" : "FAILED");
    free(x), free(y);
    return error != 0;
}
