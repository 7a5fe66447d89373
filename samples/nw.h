/* nw.h - the problem of the samples nw, nw_blocks and nw_called: Needleman-Wunsch, the best global alignment of two random DNA
 * sequences by dynamic programming.
 *
 * A cell of the score matrix needs its left, upper and upper left neighbours, so that only the cells of one anti-diagonal are
 * independent: the wavefront.  align() fills the matrix on the device, each sample in its own way; main() makes the sequences and
 * checks every cell on the host. */
#include <stdio.h>
#include <stdlib.h>

enum { MATCH = 3, MISMATCH = -2, GAP = -4, BLOCK = 16 };

/* score is (n + 1) x (n + 1) and holds its first row and column; n is a multiple of BLOCK. */
static void align(int *score, const char *s, const char *t, int n);

static int max3(int a, int b, int c)
{
    int m = a > b ? a : b;
    return m > c ? m : c;
}

/* A cell from its neighbours and the two letters; called on the device and on the host. */
static int cell(int corner, int above, int left, char s, char t)
{
    return max3(corner + (s == t ? MATCH : MISMATCH), above + GAP, left + GAP);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 500, wrong = 0;
    if (n < 1 || n > 20000)
        return fprintf(stderr, "nw: bad size\n"), 1;
    n = (n + BLOCK - 1) / BLOCK * BLOCK;
    size_t row = (size_t)n + 1, size = row * row;
    int *score = calloc(size, sizeof *score), *check = calloc(size, sizeof *check);
    char *s = malloc(n), *t = malloc(n);

    if (!score || !check || !s || !t)
        return fprintf(stderr, "nw: out of memory\n"), 1;
    for (int i = 0; i < n; i++) {
        s[i] = "ACGT"[rand() & 3];
        t[i] = rand() & 3 ? s[i] : "ACGT"[rand() & 3];
    }
    for (int i = 0; i <= n; i++)
        score[i] = score[i * row] = check[i] = check[i * row] = i * GAP;

    align(score, s, t, n);

    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++) {
            int *here = &check[i * row + j], *above = here - row;
            *here = cell(above[-1], above[0], here[-1], s[i - 1], t[j - 1]);
        }
    for (size_t i = 0; i < size; i++)
        wrong += score[i] != check[i];
    printf("nw: n=%d score %d wrong cells %d %s\n", n, score[size - 1], wrong, wrong ? "FAILED" : "OK");
    free(score), free(check), free(s), free(t);
    return wrong != 0;
}
