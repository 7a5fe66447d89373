/* fork_join - rows of a matrix made to sum up to one: sequential code before and after an inner `parallel for`.
 *
 * Each iteration of `distribute` belongs to the first thread of a team, which the others join for the two parallel loops.
 * `sum` and `scale` belong to that first thread, and the team's threads share them in the parallel loops.
 * As it stands that is the generic mode: -fompgpu-mode=generic shows it.  The compiler finds that all threads can run this code as
 * in the fully nested form of the other samples, the SPMD mode, when one alone writes what others see: -Rompgpu tells.
 *
 * usage: fork_join [n]                                                                                     */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 200;
    if (n < 1 || n > 20000)
        return fprintf(stderr, "fork_join: bad size\n"), 1;
    size_t size = (size_t)n * n;
    double *a = malloc(size * sizeof *a), *total = malloc(n * sizeof *total);

    if (!a || !total)
        return fprintf(stderr, "fork_join: out of memory\n"), 1;
    for (size_t i = 0; i < size; i++)
        a[i] = (double)(1 + i % 17);

#pragma omp target teams distribute map(tofrom: a[0:size]) map(from: total[0:n])
    for (int i = 0; i < n; i++) {
        double *row = a + (size_t)i * n, sum = 0;      /* before: one thread */
#pragma omp parallel for reduction(+: sum)
        for (int j = 0; j < n; j++)
            sum += row[j];

        double scale = 1 / sum;                        /* between: one thread */
#pragma omp parallel for
        for (int j = 0; j < n; j++)
            row[j] *= scale;

        total[i] = sum;                                /* after: one thread */
    }

    double error = 0;
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += (double)(1 + ((size_t)i * n + j) % 17);
        error = fmax(error, fabs(total[i] - sum));
        for (int j = 0; j < n; j++)
            error = fmax(error, fabs(a[(size_t)i * n + j] - (double)(1 + ((size_t)i * n + j) % 17) / sum));
    }
    int ok = error < 1e-12;
    printf("fork_join: n=%d max error %.1g %s\n", n, error, ok ? "OK" : "FAILED");
    free(a), free(total);
    return !ok;
}
