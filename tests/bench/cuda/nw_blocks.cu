// The blocks of samples/nw_blocks.c and nw_called.c: a block of threads for a block of cells, its border and cells in shared memory.
enum { MATCH = 3, MISMATCH = -2, GAP = -4, BLOCK = 16 };
__global__ void __launch_bounds__(32) blocks(int n, int d, int first, int last, int *__restrict__ score, const char *__restrict__ s,
                                             const char *__restrict__ t)
{
    __shared__ int tile[BLOCK + 1][BLOCK + 1];
    for (int b = first + blockIdx.x; b <= last; b += gridDim.x) {
        int top = b * BLOCK, left = (d - b) * BLOCK, id = threadIdx.x;
        int *corner = &score[top * (n + 1) + left];
        if (id == 0)
            tile[0][0] = corner[0];
        if (id < BLOCK) {
            tile[0][id + 1] = corner[id + 1];
            tile[id + 1][0] = corner[(id + 1) * (n + 1)];
        }
        __syncthreads();
        for (int w = 2; w <= 2 * BLOCK; w++) {
            int begin = w > BLOCK ? w - BLOCK : 1, end = w > BLOCK ? BLOCK : w - 1, i = begin + id;
            if (i <= end) {
                int j = w - i;
                tile[i][j] = max(max(tile[i - 1][j - 1] + (s[top + i - 1] == t[left + j - 1] ? MATCH : MISMATCH), tile[i - 1][j] + GAP),
                                 tile[i][j - 1] + GAP);
            }
            __syncthreads();
        }
        for (int k = id; k < BLOCK * BLOCK; k += blockDim.x)
            corner[(k / BLOCK + 1) * (n + 1) + k % BLOCK + 1] = tile[k / BLOCK + 1][k % BLOCK + 1];
        __syncthreads();
    }
}

#ifdef MAIN
#include "time.h"
int main(int argc, char **argv)
{
    int n = (atoi(argc > 1 ? argv[1] : "500") + BLOCK - 1) / BLOCK * BLOCK, m = n / BLOCK;
    int *score = on_device<int>((size_t)(n + 1) * (n + 1));
    char *s = on_device<char>(n), *t = on_device<char>(n, 1);
    for (int d = 0; d < 2 * m - 1; d++) {
        int first = d < m ? 0 : d - m + 1, last = d < m ? d : m - 1, teams = last - first + 1;
        timed("blocks", teams, 32, [&] { blocks<<<teams, 32>>>(n, d, first, last, score, s, t); });
    }
}
#endif
