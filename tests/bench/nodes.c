/* nodes.c - what a region on another rank's device, or a copy to it, costs: wall-clock time of the fastest of runs of 20, and the means over all of
 * wall-clock time and of CPU time of this process and of the worker together, which poll while they wait.
 *     nodes empty | copy BYTES   NUMBER WORKER      WORKER: its program's path; "": the device is here */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RUN = 20 };
static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}
static clockid_t clock_of(const char *worker)
{
    clockid_t clock;
    int pid = 0;
    char command[5000];
    snprintf(command, sizeof command, "pgrep -n -f '^%s'", worker);
    FILE *f = popen(command, "r");
    if (!f || fscanf(f, "%d", &pid) != 1 || clock_getcpuclockid(pid, &clock)) exit(9);
    pclose(f);
    return clock;
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
    const char *worker = argv[argc - 1];
    int d = omp_get_num_devices() - 1, copies = argc > 4, n = atoi(argv[argc - 2]);
    size_t size = copies ? strtoul(argv[2], NULL, 10) : 1;
    clockid_t theirs = *worker ? clock_of(worker) : CLOCK_PROCESS_CPUTIME_ID;
    char *bytes = calloc(size, 1);
    double fastest = 1e9, begin = 0, used = 0;
#pragma omp target data map(alloc: bytes[0:size]) device(d)
    for (int k = -RUN; k < n; k += RUN) {             /* the first one warms up */
        double start = now(CLOCK_MONOTONIC);
        if (!k) begin = start, used = now(CLOCK_PROCESS_CPUTIME_ID) + (*worker ? now(theirs) : 0);
        for (int i = 0; i < RUN; i++) {
            if (copies) copy(d, bytes, size);
            else empty(d);
        }
        double time = now(CLOCK_MONOTONIC) - start;
        if (time < fastest) fastest = time;
    }
    used = now(CLOCK_PROCESS_CPUTIME_ID) + (*worker ? now(theirs) : 0) - used;
    printf("%.2f %.2f %.2f\n", fastest / RUN, (now(CLOCK_MONOTONIC) - begin) / n, used / n);
    free(bytes);
    return 0;
}
