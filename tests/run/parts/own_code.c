/* Of own_code.c: functions with regions, a pointer to one of them, and kernels of its own that need other things. */
#include <omp.h>
#include "own_code.h"

static int counter;                                 /* not the other file's */
#pragma omp declare target (counter)

void far_fill(int *a, int n, int v)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = v * i + omp_get_level();
}
int far_call(int (*f)(int *, int), int *a, int n) { return f(a, n); }
int far_target(int *a, int n)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = 0;
    return n;
}
int (*far_pointer(void))(int *, int) { return far_target; }

void far_schedule(int chunk) { omp_set_schedule(omp_sched_static, chunk); }
int far_regions(void)
{
    int a[16], r;
    #pragma omp target teams num_teams(1) thread_limit(16) map(from: a, r)
    {
        counter = 0;
        #pragma omp parallel num_threads(16)
        {
            far_fill(&a[omp_get_thread_num()], 1, 3);           /* nested */
            #pragma omp atomic
            counter++;
        }
        r = counter + a[3];
        #pragma omp parallel
        #pragma omp single
        counter = 15;
    }
    #pragma omp target teams distribute parallel for map(tofrom: r)
    for (int i = 0; i < 1; i++) r += counter;
    return r;
}
