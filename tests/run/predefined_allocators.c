/* allocate with predefined allocators on target constructs, without uses_allocators */ /* also: -O0 */
#include "check.h"
#include <stdint.h>

enum { N = 100 };

int main(void)
{
    int x = 3, y = 4, z[4] = { 1, 2, 3, 4 }, n = 0, bad = 0, on = 0, sum = 0, last = 0, a[N];
#pragma omp target map(tofrom: bad, on) firstprivate(x, z) allocate(omp_cgroup_mem_alloc: x) allocate(omp_const_mem_alloc: z)
    {
        bad += x != 3 || z[3] != 4;
        x = 7;
        on = ON_DEVICE;
    }
    CHECK(on);
#pragma omp target teams distribute parallel for reduction(+: sum) private(n) map(from: a), \
    allocate(allocator(omp_pteam_mem_alloc), align(64): n), allocate(omp_low_lat_mem_alloc: sum) uses_allocators(omp_default_mem_alloc)
    for (int i = 0; i < N; i++) {
        n = i;
        sum += n + ((uintptr_t)&n % 64 != 0) * 10000;
        a[i] = n;
    }
    CHECK_EQ(sum, N * (N - 1) / 2);
#pragma omp target parallel for firstprivate(y) lastprivate(last) allocate(omp_pteam_mem_alloc: y, last) if(target: 0)
    for (int i = 0; i < N; i++)
        last = i + y;
#pragma omp target parallel num_threads(2) private(x) allocate(omp_null_allocator: x) map(tofrom: bad)
    {
        x = omp_get_thread_num();
        void *p = omp_alloc(8, omp_cgroup_mem_alloc);
#pragma omp atomic
        bad += !p || x >= omp_get_num_threads();
        omp_free(p, omp_cgroup_mem_alloc);
    }
    CHECK_EQ(last, N + 3);
    CHECK_EQ(bad + x, 3);
    CHECK_EQ(a[N - 1], N - 1);
    return RESULT;
}
