/* rows - row sums of a sparse matrix: rows of very different length, each added up by one team.
 *
 * The matrix is in CSR form: the elements of row i are value[start[i]] … value[start[i + 1] - 1].  `distribute` gives rows to teams;
 * the threads of a team share the elements of a row, and a reduction adds up what they found.  The sum is written by one thread.
 *
 * usage: rows [n]                                                                                          */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 500;
    if (n < 1 || n > 1000000)
        return fprintf(stderr, "rows: bad size\n"), 1;
    int *start = malloc((n + 1) * sizeof *start);
    if (!start)
        return fprintf(stderr, "rows: out of memory\n"), 1;
    start[0] = 0;
    for (int i = 0; i < n; i++)
        start[i + 1] = start[i] + i * 37 % 900;
    int elements = start[n];
    double *value = malloc((elements + 1) * sizeof *value), *sum = malloc(n * sizeof *sum);
    if (!value || !sum)
        return fprintf(stderr, "rows: out of memory\n"), 1;
    for (int k = 0; k < elements; k++)
        value[k] = k % 19;

#pragma omp target teams distribute map(to: start[0:n + 1], value[0:elements]) map(from: sum[0:n])
    for (int i = 0; i < n; i++) {
        double s = 0;
#pragma omp parallel for reduction(+: s)
        for (int k = start[i]; k < start[i + 1]; k++)
            s += value[k];
        sum[i] = s;
    }

    double error = 0;                 /* small whole numbers: every sum is exact */
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int k = start[i]; k < start[i + 1]; k++)
            s += value[k];
        error = fmax(error, fabs(s - sum[i]));
    }
    printf("rows: n=%d elements=%d max error %g %s\n", n, elements, error, error == 0 ? "OK" : "FAILED");
    free(start), free(value), free(sum);
    return error != 0;
}
