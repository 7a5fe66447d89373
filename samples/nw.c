/* nw - Needleman-Wunsch (nw.h), the tight form: a loop nest over one anti-diagonal and nothing around it.
 *
 * One region is launched per anti-diagonal; the score matrix stays on the device all the time.  Every thread of the device
 * takes part from the beginning to the end, the SPMD mode; the price is one launch for each of the 2n - 1 anti-diagonals.
 *
 * usage: nw [n]                                                                                            */
#include "nw.h"

static void align(int *score, const char *s, const char *t, int n)
{
    int size = (n + 1) * (n + 1);

#pragma omp target data map(to: s[0:n], t[0:n]) map(tofrom: score[0:size])
    for (int d = 2; d <= 2 * n; d++) {
        int first = d > n ? d - n : 1, last = d > n ? n : d - 1;
#pragma omp target teams distribute parallel for
        for (int i = first; i <= last; i++) {
            int *here = &score[i * (n + 1) + d - i], *above = here - (n + 1);
            *here = cell(above[-1], above[0], here[-1], s[i - 1], t[d - i - 1]);
        }
    }
}
