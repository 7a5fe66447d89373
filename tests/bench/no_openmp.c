/* no_openmp.c - instead of LLVM's OpenMP library: a task begins and ends where it is made. */
#include "hostrt/ompgpu.h"

void omp_fulfill_event(unsigned long event) { (void)event; }

int __kmpc_omp_task_with_deps(void *place, int thread, void *task, int n, void *depend, int nmore, void *more)
{
    (void)place, (void)thread, (void)n, (void)depend, (void)nmore, (void)more;
    __ompgpu_deferred(task, 1);
    return 0;
}
