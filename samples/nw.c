/* nw - Needleman-Wunsch: the best global alignment of two random DNA sequences by dynamic programming.
 *
 * A cell needs its left, upper and upper left neighbours, so that only the cells of one anti-diagonal are independent: the
 * wavefront.  One region is launched per anti-diagonal; the score matrix stays on the device all the time.
 *
 * usage: nw [n]                                                                                            */
#include <stdio.h>
#include <stdlib.h>

enum { MATCH = 3, MISMATCH = -2, GAP = -4 };

static int max3(int a, int b, int c)
{
    int m = a > b ? a : b;
    return m > c ? m : c;
}

/* The score of cell (i, j) of the (n + 1) x (n + 1) matrix; called on the device and on the host. */
static int cell(const int *score, const char *s, const char *t, int n, int i, int j)
{
    const int *here = &score[i * (n + 1) + j], *above = here - (n + 1);
    return max3(above[-1] + (s[i - 1] == t[j - 1] ? MATCH : MISMATCH), above[0] + GAP, here[-1] + GAP);
}

static void align(int *score, const char *s, const char *t, int n)
{
    int size = (n + 1) * (n + 1);

#pragma omp target data map(to: s[0:n], t[0:n]) map(tofrom: score[0:size])
    for (int d = 2; d <= 2 * n; d++) {
        int first = d > n ? d - n : 1, last = d > n ? n : d - 1;
#pragma omp target teams distribute parallel for
        for (int i = first; i <= last; i++)
            score[i * (n + 1) + d - i] = cell(score, s, t, n, i, d - i);
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 500, wrong = 0;
    if (n < 1 || n > 20000)
        return fprintf(stderr, "nw: bad size\n"), 1;
    size_t size = (size_t)(n + 1) * (n + 1);
    int *score = calloc(size, sizeof *score), *check = calloc(size, sizeof *check);
    char *s = malloc(n), *t = malloc(n);

    if (!score || !check || !s || !t)
        return fprintf(stderr, "nw: out of memory\n"), 1;
    for (int i = 0; i < n; i++) {
        s[i] = "ACGT"[rand() & 3];
        t[i] = rand() & 3 ? s[i] : "ACGT"[rand() & 3];
    }
    for (int i = 0; i <= n; i++)
        score[i] = score[i * (n + 1)] = check[i] = check[i * (n + 1)] = i * GAP;

    align(score, s, t, n);

    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
            check[i * (n + 1) + j] = cell(check, s, t, n, i, j);
    for (size_t i = 0; i < size; i++)
        wrong += score[i] != check[i];
    printf("nw: n=%d score %d wrong cells %d %s\n", n, score[size - 1], wrong, wrong ? "FAILED" : "OK");
    free(score), free(check), free(s), free(t);
    return wrong != 0;
}
