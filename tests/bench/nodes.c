/* nodes.c - what a region on another rank's device costs: wall-clock time of the fastest of many runs, and CPU time of this process.
 *     nodes empty N | copy BYTES N */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}
static void empty(int d)
{
#pragma omp target device(d)
    { }
}
static void copy(int d, char *bytes, size_t n)
{
#pragma omp target update to(bytes[0:n]) device(d)
}
int main(int argc, char **argv)
{
    enum { RUN = 20 };
    int d = omp_get_num_devices() - 1, copies = argc > 3;
    size_t size = copies ? strtoul(argv[2], NULL, 10) : 1;
    int n = atoi(argv[argc - 1]);
    char *bytes = calloc(size, 1);
    double best = 1e9, cpu = 0;
#pragma omp target data map(alloc: bytes[0:size]) device(d)
    {
        empty(d);
        for (int k = 0; k < n; k += RUN) {
            double start = now(CLOCK_MONOTONIC), used = now(CLOCK_PROCESS_CPUTIME_ID);
            for (int i = 0; i < RUN; i++) {
                if (copies) copy(d, bytes, size);
                else empty(d);
            }
            double time = now(CLOCK_MONOTONIC) - start;
            if (time < best) best = time, cpu = now(CLOCK_PROCESS_CPUTIME_ID) - used;
        }
    }
    printf("%.2f %.2f\n", best / RUN, cpu / RUN);
    free(bytes);
    return 0;
}
