/* scan.c - an inclusive scan by the whole device, for executed.sh (cuda/scan.cu is CUB's) and for a GPU: scan [N [CALLS]] prints the time of the
 * shortest call and what it is of the time to copy as much.  The exit code says whether the result was right. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static void scan(int n, const int *x, int *y)
{
    int s = 0;
#pragma omp target parallel for reduction(inscan, + : s) is_device_ptr(x, y)
    for (int i = 0; i < n; i++) {
        s += x[i];
#pragma omp scan inclusive(s)
        y[i] = s;
    }
}

static void copy(int n, const int *x, int *y)
{
#pragma omp target teams distribute parallel for is_device_ptr(x, y)
    for (int i = 0; i < n; i++)
        y[i] = x[i];
}

static double shortest(void (*f)(int, const int *, int *), int n, const int *x, int *y, int calls)
{
    double best = 1e30;
    for (int i = 0; i < calls; i++) {
        double start = omp_get_wtime();
        f(n, x, y);
        double t = omp_get_wtime() - start;
        best = t < best ? t : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1 << 24, calls = argc > 2 ? atoi(argv[2]) : 20, device = omp_get_default_device(), wrong = 0;
    size_t bytes = (size_t)n * sizeof(int);
    int *x = malloc(bytes), *dx = omp_target_alloc(bytes, device), *dy = omp_target_alloc(bytes, device);
    if (n < 1 || calls < 1 || !x || !dx || !dy)
        return 2;
    for (int i = 0; i < n; i++)
        x[i] = i % 5 - 1;
    omp_target_memcpy(dx, x, bytes, 0, 0, device, omp_get_initial_device());
    double copied = shortest(copy, n, dx, dy, calls), scanned = shortest(scan, n, dx, dy, calls);
    omp_target_memcpy(x, dy, bytes, 0, 0, omp_get_initial_device(), device);
    for (int i = 0, s = 0; i < n; i++)
        wrong += x[i] != (s += i % 5 - 1);
    printf("scan of %d: %.1f us, %.2f of a copy's %.1f us%s\n", n, scanned * 1e6, scanned / copied, copied * 1e6, wrong ? ", WRONG" : "");
    return wrong != 0;
}
