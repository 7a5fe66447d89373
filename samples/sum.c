/* sum - two reductions in one construct: the float sum and the double maximum of an array.
 *
 * Every thread adds up and compares its own share; the partial results are then combined inside each warp, inside each
 * team and at last across the teams.  Both variables travel that way together.
 *
 * usage: sum [n]                                                                                           */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000000;
    float *x = malloc((n + 1) * sizeof *x), sum = 1;
    double max = -DBL_MAX;

    if (n < 0 || !x)
        return fprintf(stderr, "sum: bad size\n"), 1;
    for (int i = 0; i < n; i++)
        x[i] = 1.0f / (float)(1 + (i * 7L) % 1009);

#pragma omp target teams distribute parallel for map(to: x[0:n]) reduction(+: sum) reduction(max: max)
    for (int i = 0; i < n; i++) {
        sum += x[i];
        if (max < (double)x[i] * (i % 13))
            max = (double)x[i] * (i % 13);
    }

    double host_sum = 1, host_max = -DBL_MAX;      /* the same on the host, the sum in double */
    for (int i = 0; i < n; i++) {
        host_sum += (double)x[i];
        host_max = fmax(host_max, (double)x[i] * (i % 13));
    }
    double error = fabs((double)sum - host_sum) / host_sum;
    int ok = error < 1e-3 && max == host_max;
    printf("sum: n=%d sum %g relative error %.1g max %g %s\n", n, (double)sum, error, max, ok ? "OK" : "FAILED");
    free(x);
    return !ok;
}
