/* nw_called - Needleman-Wunsch (nw.h) as nw_blocks does it, with the parallel regions in functions that the team calls.
 *
 * Functions that a region calls need no declaration for the device, and they may hold parallel regions.  The compiler puts them into
 * the region before it decides on the mode: nw_called becomes the same kernel as nw_blocks.
 *
 * usage: nw_called [n]                                                                                     */
#include "nw.h"

typedef int tile_t[BLOCK + 1][BLOCK + 1];

static void load(tile_t tile, const int *corner, int row)
{
    tile[0][0] = corner[0];
#pragma omp parallel for
    for (int k = 1; k <= BLOCK; k++) {
        tile[0][k] = corner[k];
        tile[k][0] = corner[k * row];
    }
}

/* The cells i + j = w of a tile; s and t are the letters of its rows and columns. */
static void wave(tile_t tile, const char *s, const char *t, int w)
{
    int begin = w > BLOCK ? w - BLOCK : 1, end = w > BLOCK ? BLOCK : w - 1;
#pragma omp parallel for
    for (int i = begin; i <= end; i++) {
        int j = w - i;
        tile[i][j] = cell(tile[i - 1][j - 1], tile[i - 1][j], tile[i][j - 1], s[i - 1], t[j - 1]);
    }
}

static void store(tile_t tile, int *corner, int row)
{
#pragma omp parallel for collapse(2)
    for (int i = 1; i <= BLOCK; i++)
        for (int j = 1; j <= BLOCK; j++)
            corner[i * row + j] = tile[i][j];
}

static void align(int *score, const char *s, const char *t, int n)
{
    int size = (n + 1) * (n + 1), blocks = n / BLOCK;

#pragma omp target data map(to: s[0:n], t[0:n]) map(tofrom: score[0:size])
    for (int d = 0; d < 2 * blocks - 1; d++) {
        int first = d < blocks ? 0 : d - blocks + 1, last = d < blocks ? d : blocks - 1;
#pragma omp target teams distribute thread_limit(32)
        for (int b = first; b <= last; b++) {
            int tile[BLOCK + 1][BLOCK + 1], top = b * BLOCK, left = (d - b) * BLOCK;
            int *corner = &score[top * (n + 1) + left];

            load(tile, corner, n + 1);
            for (int w = 2; w <= 2 * BLOCK; w++)
                wave(tile, s + top, t + left, w);
            store(tile, corner, n + 1);
        }
    }
}
