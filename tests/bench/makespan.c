/* makespan.c - how long classic graphs of constructs with nowait take, of one host thread, over nullcuda with kernels of 100 microseconds and
 * copies of as many.  Prints: NAME IDEAL LONGER-BY-FACTOR BAR, and the host's time for a construct. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CHUNKS = 8, CHUNK = 65500, TILES = 8, REPEATS = 15, KERNEL = 100, MANY = 64 };
static char *chunk[CHUNKS], tile[TILES + 1][TILES + 1], a, b, c, d;
static double (*span)(bool);

static void pipeline(void)
{
    for (int k = 0; k < CHUNKS; k++) {
        char *x = chunk[k];
#pragma omp target enter data map(to: x[0:CHUNK]) nowait depend(out: x[0])
#pragma omp target nowait depend(inout: x[0])
        x[0]++;
#pragma omp target exit data map(from: x[0:CHUNK]) nowait depend(inout: x[0])
    }
}

static void independent(void)
{
    for (int k = 0; k < CHUNKS; k++)
#pragma omp target nowait
        ;
}

static void diamond(void)
{
#pragma omp target nowait depend(out: a)
    ;
#pragma omp target nowait depend(in: a) depend(out: b)
    ;
#pragma omp target nowait depend(in: a) depend(out: c)
    ;
#pragma omp target nowait depend(in: b, c) depend(out: d)
    ;
}

static void wavefront(void)
{
    for (int i = 1; i <= TILES; i++)
        for (int k = 1; k <= TILES; k++) {
#pragma omp target nowait depend(in: tile[i - 1][k], tile[i][k - 1]) depend(out: tile[i][k])
            ;
        }
}

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void measure(const char *name, void (*shape)(void), int n, double ideal)
{
    double best = 1e30, host = 1e30;
    for (int i = 0; i < REPEATS; i++) {
        span(true);
        double begin = cpu();
        shape();
        double own = (cpu() - begin) / n;
#pragma omp taskwait
        double t = span(false);
        best = t < best ? t : best;
        host = own < host ? own : host;
    }
    printf("%s %.0f %.2f %.1f %.0f\n", name, ideal, best / ideal, 1.1, host);
}

int main(void)
{
    void *driver = dlopen(getenv("OMPGPU_CUDA_DRIVER"), RTLD_NOW);
    *(void **)&span = driver ? dlsym(driver, "nullcuda_span") : NULL;
    if (!span)
        return 1;
    for (int k = 0; k < CHUNKS; k++)
        chunk[k] = malloc(CHUNK);
    measure("pipeline-of-8-chunks", pipeline, 3 * CHUNKS, (CHUNKS + 2) * KERNEL);
    measure("8-independent-regions", independent, CHUNKS, KERNEL);
    measure("diamond", diamond, 4, 3 * KERNEL);
    measure("wavefront-of-64-tiles", wavefront, TILES * TILES, (2 * TILES - 1) * KERNEL);
    return 0;
}
