/* uses_allocators as before OpenMP 5.2: several in one clause */ /* flags: -fopenmp-version=51 */
#include "check.h"
#include <stdint.h>
int main(void)
{
    const omp_alloctrait_t wide[] = { { omp_atk_alignment, 512 } }, narrow[] = { { omp_atk_alignment, 64 } };
    omp_allocator_handle_t a, b;
    int bad = -1;
    for (int host = 0; host < 2; host++) {
#pragma omp target map(from: bad) if(!host) uses_allocators(a(wide), omp_default_mem_alloc, b(narrow))
        {
            char *p = omp_alloc(4, a), *q = omp_alloc(4, b), *r = omp_alloc(4, omp_default_mem_alloc);
            bad = !p || !q || !r || (uintptr_t)p % 512 || (uintptr_t)q % 64 || omp_is_initial_device() != host;
            omp_free(p, a), omp_free(q, b), omp_free(r, omp_default_mem_alloc);
        }
        CHECK_EQ(bad, 0);
    }
    return RESULT;
}
