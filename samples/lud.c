/* lud - a matrix taken apart into L * U, block by block: three regions, each with team code around parallel loops.
 *
 * In each step one team factorises the block on the diagonal; then teams solve for the blocks to its right and below it, a block each;
 * then teams update the blocks that remain.  `tile`, `left` and `upper` are locals of the team that its threads share.
 *
 * usage: lud [n]                                                                                           */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 16 };
typedef float tile_t[BLOCK][BLOCK];

/* The block of the matrix at a, for all threads of the team. */
static void load(tile_t tile, const float *a, int n)
{
#pragma omp parallel for collapse(2)
    for (int i = 0; i < BLOCK; i++)
        for (int j = 0; j < BLOCK; j++)
            tile[i][j] = a[i * n + j];
}

static void diagonal(float *a, int n, int k)
{
#pragma omp target thread_limit(BLOCK * BLOCK)
    {
        tile_t tile;
        float *block = &a[k * n + k];
        load(tile, block, n);
        for (int p = 0; p < BLOCK - 1; p++) {
            float pivot = 1 / tile[p][p];
#pragma omp parallel for
            for (int i = p + 1; i < BLOCK; i++)
                tile[i][p] *= pivot;
#pragma omp parallel for collapse(2)
            for (int i = 1; i < BLOCK; i++)
                for (int j = 1; j < BLOCK; j++)
                    if (i > p && j > p)
                        tile[i][j] -= tile[i][p] * tile[p][j];
        }
#pragma omp parallel for collapse(2)
        for (int i = 0; i < BLOCK; i++)
            for (int j = 0; j < BLOCK; j++)
                block[i * n + j] = tile[i][j];
    }
}

/* Blocks b = 0, 1, … to the right of the diagonal block and below it, by turns. */
static void perimeter(float *a, int n, int k)
{
    int rest = (n - k) / BLOCK - 1;

#pragma omp target teams distribute thread_limit(BLOCK)
    for (int b = 0; b < 2 * rest; b++) {
        tile_t tile;
        int at = k + (b / 2 + 1) * BLOCK;
        load(tile, &a[k * n + k], n);
        if (b % 2 == 0) {             /* to the right: a thread a column */
#pragma omp parallel for
            for (int j = at; j < at + BLOCK; j++)
                for (int i = 1; i < BLOCK; i++) {
                    float x = a[(k + i) * n + j];
                    for (int l = 0; l < i; l++)
                        x -= tile[i][l] * a[(k + l) * n + j];
                    a[(k + i) * n + j] = x;
                }
        } else {                      /* below: a thread a row */
#pragma omp parallel for
            for (int i = at; i < at + BLOCK; i++)
                for (int j = 0; j < BLOCK; j++) {
                    float x = a[i * n + k + j];
                    for (int l = 0; l < j; l++)
                        x -= a[i * n + k + l] * tile[l][j];
                    a[i * n + k + j] = x / tile[j][j];
                }
        }
    }
}

static void interior(float *a, int n, int k)
{
#pragma omp target teams distribute collapse(2) thread_limit(BLOCK * BLOCK)
    for (int top = k + BLOCK; top < n; top += BLOCK)
        for (int side = k + BLOCK; side < n; side += BLOCK) {
            tile_t left, upper;
            load(left, &a[top * n + k], n);
            load(upper, &a[k * n + side], n);
#pragma omp parallel for collapse(2)
            for (int i = 0; i < BLOCK; i++)
                for (int j = 0; j < BLOCK; j++) {
                    float sum = 0;
                    for (int l = 0; l < BLOCK; l++)
                        sum += left[i][l] * upper[l][j];
                    a[(top + i) * n + side + j] -= sum;
                }
        }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 128;
    if (n < 1 || n > 20000)
        return fprintf(stderr, "lud: bad size\n"), 1;
    n = (n + BLOCK - 1) / BLOCK * BLOCK;
    int size = n * n;
    float *a = malloc(size * sizeof *a);
    double *b = malloc(size * sizeof *b), error = 0;

    if (!a || !b)
        return fprintf(stderr, "lud: out of memory\n"), 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i * n + j] = a[i * n + j] = i == j ? (float)n : (float)((i * 7 + j * 3) % 11) / 11;

#pragma omp target data map(tofrom: a[0:size])
    for (int k = 0; k < n; k += BLOCK) {
        diagonal(a, n, k);
        if (k + BLOCK < n) {
            perimeter(a, n, k);
            interior(a, n, k);
        }
    }

    for (int k = 0; k < n; k++)       /* the same on the host, in double */
        for (int i = k + 1; i < n; i++) {
            b[i * n + k] /= b[k * n + k];
            for (int j = k + 1; j < n; j++)
                b[i * n + j] -= b[i * n + k] * b[k * n + j];
        }
    for (int i = 0; i < size; i++)
        error = fmax(error, fabs((double)a[i] - b[i]) / fmax(1, fabs(b[i])));
    int ok = error < 1e-4;
    printf("lud: n=%d max error %.1g %s\n", n, error, ok ? "OK" : "FAILED");
    free(a), free(b);
    return !ok;
}
