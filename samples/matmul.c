/* matmul - C = A * B for square matrices: two perfectly nested loops made one by collapse(2).
 *
 * The n*n iterations of the i and j loops are spread over all threads of the device; the k loop stays inside a thread.
 *
 * usage: matmul [n]                                                                                        */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void matmul(int n, const float *a, const float *b, float *c)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n * n], b[0:n * n]) map(from: c[0:n * n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 256;
    if (n < 1 || n > 20000)
        return fprintf(stderr, "matmul: bad size\n"), 1;
    size_t size = (size_t)n * n;
    float *a = malloc(size * sizeof *a), *b = malloc(size * sizeof *b), *c = malloc(size * sizeof *c);

    if (!a || !b || !c)
        return fprintf(stderr, "matmul: out of memory\n"), 1;
    for (size_t i = 0; i < size; i++) {
        a[i] = (float)(i % 11) - 5;      /* small whole numbers: every sum is exact in float */
        b[i] = (float)(i % 13) - 6;
    }
    matmul(n, a, b, c);

    float error = 0;
    for (int i = 0; i < n; i += 1 + n / 64)      /* the host checks at most 64 rows */
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            error = fmaxf(error, fabsf(c[i * n + j] - sum));
        }
    printf("matmul: n=%d max error %g %s\n", n, (double)error, error == 0 ? "OK" : "FAILED");
    free(a), free(b), free(c);
    return error != 0;
}
