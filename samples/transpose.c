/* transpose - a matrix is transposed in two ways, to see in a profile what an access pattern costs.
 *
 * naive: neighbouring threads read neighbouring elements, but write n elements apart.  Rows of 32 threads would touch a sector for each of them; the
 * compiler has a team run a tile that is 8 wide, so that a warp touches 8 (OMP_NUM_TEAMS=64 brings back the rows).  tiled: a team brings a tile into shared memory first; then neighbouring threads write neighbouring elements.  Its rows have one element more
 * than the tile, so that a column's elements are in different banks.
 *
 * usage: transpose [n]                     n is rounded up to a multiple of 32
 *        OMPGPU_DEVICE=ptx OMPGPU_PROFILE=1 transpose                                                             */
#include <stdio.h>
#include <stdlib.h>
enum { TILE = 32, ROWS = 8 };

static void naive(int n, const float *a, float *b)
{
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n * n]) map(from: b[0:n * n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[j * n + i] = a[i * n + j];
}

static void tiled(int n, const float *a, float *b)
{
#pragma omp target teams distribute collapse(2) thread_limit(TILE * ROWS) map(to: a[0:n * n]) map(from: b[0:n * n])
    for (int top = 0; top < n; top += TILE)
        for (int left = 0; left < n; left += TILE) {
            float tile[TILE][TILE + 1];
#pragma omp parallel for collapse(2)
            for (int i = 0; i < TILE; i++)
                for (int j = 0; j < TILE; j++)
                    tile[i][j] = a[(top + i) * n + left + j];
#pragma omp parallel for collapse(2)
            for (int i = 0; i < TILE; i++)
                for (int j = 0; j < TILE; j++)
                    b[(left + i) * n + top + j] = tile[j][i];
        }
}

static int wrong(int n, const float *a, const float *b)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            count += b[j * n + i] != a[i * n + j];
    return count;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 256;
    if (n < 1 || n > 20000)
        return fprintf(stderr, "transpose: bad size\n"), 1;
    n = (n + TILE - 1) / TILE * TILE;
    float *a = malloc((size_t)n * n * sizeof *a), *b = calloc((size_t)n * n, sizeof *b), *c = calloc((size_t)n * n, sizeof *c);
    if (!a || !b || !c)
        return fprintf(stderr, "transpose: out of memory\n"), 1;
    for (int i = 0; i < n * n; i++)
        a[i] = i % 9973;
    naive(n, a, b);
    tiled(n, a, c);
    int bad = wrong(n, a, b) + wrong(n, a, c);
    printf("transpose: n=%d wrong elements %d %s\n", n, bad, bad ? "FAILED" : "OK");
    free(a), free(b), free(c);
    return bad != 0;
}
