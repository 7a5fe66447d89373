/* omp_cgroup_mem_alloc, omp_pteam_mem_alloc, and allocators with such an access trait: the team's pool, and the heap when that is full */ /* also: -O0 -g */
#include "check.h"
#include <stdint.h>

static void mixed(void)
{
    int bad = 0, n = 100;
#pragma omp target teams num_teams(4) thread_limit(64) map(tofrom: bad)
    {
        const omp_alloctrait_t own[] = { { omp_atk_access, omp_atv_pteam }, { omp_atk_alignment, 64 } };
        omp_allocator_handle_t made = omp_init_allocator(omp_low_lat_mem_space, 2, (omp_alloctrait_t *)own);
        int t = omp_get_team_num(), wrong = 0, *p = omp_alloc(n * sizeof *p, omp_pteam_mem_alloc);
        char *large = omp_calloc(100000, 1, omp_cgroup_mem_alloc), *more = omp_alloc(40, made);
#pragma omp parallel for num_threads(40)
        for (int i = 0; i < n; i++)
            p[i] = i + t, large[1000 * i] = (char)i;
        p = omp_realloc(p, 2 * n * sizeof *p, omp_null_allocator, omp_pteam_mem_alloc);
        for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(40) reduction(+: wrong)
            {
                int *q = omp_alloc(160, omp_cgroup_mem_alloc), *r = omp_aligned_alloc(64, 16, omp_pteam_mem_alloc), id = omp_get_thread_num();
                for (int k = 0; k < 40; k++)
                    q[k] = id + k;
                r[3] = id;
#pragma omp barrier
                for (int k = 0; k < 40; k++)
                    wrong += q[k] != id + k;
                wrong += r[3] != id || (uintptr_t)r % 64 || (uintptr_t)q % 16;
                omp_free(id % 2 ? q : r, omp_null_allocator);
                omp_free(id % 2 ? r : q, omp_null_allocator);
            }
        }
        for (int i = 0; i < n; i++)
            wrong += p[i] != i + t || large[1000 * i] != (char)i || large[1000 * i + 1];
        wrong += !more || (uintptr_t)more % 64;
        omp_free(p, omp_pteam_mem_alloc), omp_free(large, omp_cgroup_mem_alloc), omp_free(more, made);
        omp_destroy_allocator(made);
#pragma omp atomic
        bad += wrong;
    }
    CHECK_EQ(bad, 0);
}
int main(void)
{
    mixed();
    return RESULT;
}
