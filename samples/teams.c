/* teams - the combined construct taken apart: target, teams, distribute, parallel for.
 *
 * num_teams(2) asks for two teams and thread_limit(100) for at most 100 threads in each (100 is not a multiple of the 32
 * lanes of a warp, so the last warp of each team is only partly filled).  distribute gives each team a range of blocks of the
 * array; the team's threads then share the elements of each block and add them up.
 *
 * usage: teams [n]                                                                                         */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 1000 };

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 200000, nblocks = (n + BLOCK - 1) / BLOCK, teams = 0, threads = 0;
    long sum = 0, host = 0;
    int *x = malloc((n + 1) * sizeof *x);

    if (n < 0 || !x)
        return fprintf(stderr, "teams: bad size\n"), 1;
    for (int i = 0; i < n; i++)
        host += x[i] = i % 10007 - 5000;

#pragma omp target map(to: x[0:n]) map(tofrom: sum, teams, threads)
#pragma omp teams num_teams(2) thread_limit(100) reduction(+: sum)
#pragma omp distribute
    for (int block = 0; block < nblocks; block++) {
        int begin = block * BLOCK, end = begin + BLOCK < n ? begin + BLOCK : n;
#pragma omp parallel for reduction(+: sum)
        for (int i = begin; i < end; i++) {
            sum += x[i];
            if (i == 0) {
                teams = omp_get_num_teams();
                threads = omp_get_num_threads();
            }
        }
    }

    int ok = sum == host && (n == 0 || (teams >= 1 && teams <= 2 && threads >= 1 && threads <= 100));
    printf("teams: n=%d teams=%d threads=%d sum %ld error %ld %s\n", n, teams, threads, sum, sum - host, ok ? "OK" : "FAILED");
    free(x);
    return !ok;
}
