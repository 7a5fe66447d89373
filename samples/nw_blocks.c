/* nw_blocks - Needleman-Wunsch (nw.h) in blocks, with code of the team around its parallel regions.
 *
 * The matrix is cut into blocks of 16 x 16 cells, and one region is launched per anti-diagonal of blocks: 16 times fewer launches than
 * in nw.  A team takes a block: it copies the block's border into `tile`, a local variable that its threads share, fills the tile
 * wave by wave and copies it back.  What stands around the `parallel for` belongs to the team's first thread: the bounds of
 * the waves, the corner of the tile.  As it stands that is the generic mode; the compiler finds that all threads can run this code
 * when one of them alone writes what others see (-Rompgpu tells, -fompgpu-mode=generic shows the difference).
 *
 * usage: nw_blocks [n]                                                                                     */
#include "nw.h"

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

            tile[0][0] = corner[0];
#pragma omp parallel for
            for (int k = 1; k <= BLOCK; k++) {
                tile[0][k] = corner[k];
                tile[k][0] = corner[k * (n + 1)];
            }
            for (int w = 2; w <= 2 * BLOCK; w++) {
                int begin = w > BLOCK ? w - BLOCK : 1, end = w > BLOCK ? BLOCK : w - 1;
#pragma omp parallel for
                for (int i = begin; i <= end; i++) {
                    int j = w - i;
                    tile[i][j] = cell(tile[i - 1][j - 1], tile[i - 1][j], tile[i][j - 1], s[top + i - 1], t[left + j - 1]);
                }
            }
#pragma omp parallel for collapse(2)
            for (int i = 1; i <= BLOCK; i++)
                for (int j = 1; j <= BLOCK; j++)
                    corner[i * (n + 1) + j] = tile[i][j];
        }
    }
}
