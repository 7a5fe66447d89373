/* omp_alloc and its kin in sequential code of a team, where the team shares the block, and in threads */
#include "check.h"
#include <stdint.h>

/* integer constant expressions, also for the preprocessor */
#if omp_initial_device == omp_invalid_device
#error
#endif
enum { HOST = omp_initial_device };
static const int devices[] = { [omp_initial_device + 1] = omp_initial_device };

static void devices_by_name(void)
{
    int bad = 0, a[4] = { 0 };
    switch (devices[0]) {
    case omp_invalid_device: bad++; break;
    case omp_initial_device: break;
    default: bad++;
    }
#pragma omp target parallel for device(HOST) map(tofrom: a)
    for (int i = 0; i < 4; i++)
        a[i] = omp_is_initial_device();
#pragma omp target data device(omp_initial_device) map(a)
    a[0]++;
#pragma omp target enter data device(omp_initial_device) map(to: a)
#pragma omp target update device(HOST) to(a)
#pragma omp target exit data device(-1) map(from: a)
    CHECK(bad == 0 && a[0] == 2 && a[3] == 1);
}

/* Allocators that device code makes: alignment, a pool with each way out of it, realloc, the default. */
static void made_in_region(void)
{
    int bad[8] = { 0 };
#pragma omp target teams num_teams(2) thread_limit(8) map(tofrom: bad)
#pragma omp parallel num_threads(4)
    {
        const omp_alloctrait_t aligned[] = { { omp_atk_alignment, 256 } },
                               pool[] = { { omp_atk_pool_size, 100 }, { omp_atk_fallback, omp_atv_null_fb } };
        omp_allocator_handle_t a = omp_init_allocator(omp_default_mem_space, 1, (omp_alloctrait_t *)aligned),
                               b = omp_init_allocator(omp_low_lat_mem_space, 2, (omp_alloctrait_t *)pool);
        const omp_alloctrait_t next[] = { { omp_atk_fallback, omp_atv_allocator_fb }, { omp_atk_fb_data, a }, { omp_atk_pool_size, 0 } };
        omp_allocator_handle_t c = omp_init_allocator(omp_default_mem_space, 3, (omp_alloctrait_t *)next);
        char *p = omp_calloc(9, 10, a), *q = omp_alloc(60, b), *r = omp_alloc(60, b), *s = omp_alloc(8, c);
        int wrong = !p || (uintptr_t)p % 256 || p[89] || !q || r || (uintptr_t)s % 256;
        p[89] = 7;
        omp_free(q, b);
        q = omp_alloc(100, b);
        p = omp_realloc(p, 300, omp_null_allocator, a);
        wrong |= !q || p[89] != 7 || (uintptr_t)p % 256;
        wrong |= omp_realloc(q, 0, b, b) != NULL;
        wrong |= omp_get_default_allocator() != omp_default_mem_alloc;
        omp_set_default_allocator(a);
        q = omp_alloc(1, omp_null_allocator);
        wrong |= omp_get_default_allocator() != a || (uintptr_t)q % 256;
        omp_free(p, a), omp_free(q, omp_null_allocator), omp_free(s, c);
        omp_destroy_allocator(a), omp_destroy_allocator(b), omp_destroy_allocator(c);
        bad[omp_get_team_num() * 4 + omp_get_thread_num()] = wrong;
    }
    for (int i = 0; i < 8; i++)
        CHECK_EQ(bad[i], 0);
}

/* An allocator of the construct for its private copies, on device and host. */
static void allocator_in_clause(void)
{
    const omp_alloctrait_t aligned[] = { { omp_atk_alignment, 256 } };
    omp_allocator_handle_t al = omp_null_allocator;
    int x = 3, sum = 0;
    for (int on_host = 0; on_host < 2; on_host++) {
#pragma omp target teams distribute parallel for if(!on_host) reduction(+: sum) map(tofrom: sum) \
    firstprivate(x) allocate(al: x) uses_allocators(memspace(omp_default_mem_space), traits(aligned): al)
        for (int i = 0; i < 10; i++)
            sum += x;
    }
    CHECK_EQ(sum, 60);
}

/* defaultmap(none) says nothing of an allocator that the clause lists. */
static void beside_defaultmap(void)
{
    const omp_alloctrait_t wide[] = { { omp_atk_alignment, 128 } };
    omp_allocator_handle_t a;
    int x = 0, on_host = 0;
    for (int host = 0; host < 2; host++) {
#pragma omp target uses_allocators(traits(wide) : a) defaultmap(none) map(tofrom : x, on_host) if (!host) firstprivate(host)
        {
#pragma omp parallel allocate(allocator(a) : host) firstprivate(host) num_threads(1)
            host++;
            x++;
            on_host += omp_is_initial_device();
        }
    }
    CHECK_EQ(x, 2);
#ifndef HOST_ONLY
    CHECK_EQ(on_host, 1);
#endif
}

int main(void)
{
    beside_defaultmap();
    devices_by_name();
    made_in_region();
    int sum[4] = { 0 }, bad = 0, on = 0, n = 100;
#pragma omp target teams distribute num_teams(2) thread_limit(40) map(tofrom: sum, on) map(tofrom: bad) reduction(+: bad)
    for (int t = 0; t < 4; t++) {
        int *p = omp_alloc(n * sizeof *p, t & 1 ? omp_default_mem_alloc : omp_pteam_mem_alloc), s = 0;
        double *z = omp_calloc(n, sizeof *z, omp_large_cap_mem_alloc);
#pragma omp parallel for
        for (int i = 0; i < n; i++)
            p[i] = i + t, z[i] += 0.5;
#pragma omp parallel for reduction(+: s)
        for (int i = 0; i < n; i++)
            s += p[n - 1 - i] + (int)(2 * z[i]);
        sum[t] = s;
        bad += (uintptr_t)p % 16 != 0 || (uintptr_t)z % 16 != 0;
        omp_free(p, omp_null_allocator);
        omp_free(z, omp_large_cap_mem_alloc);
        omp_free(NULL, omp_default_mem_alloc);
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(bad, 0);
    for (int t = 0; t < 4; t++)
        CHECK_EQ(sum[t], n * (n - 1) / 2 + n * t + n);
#pragma omp target teams distribute parallel for map(tofrom: bad) reduction(+: bad)
    for (int i = 0; i < 300; i++) {
        size_t align = (size_t)1 << i % 9;
        unsigned char *a = omp_aligned_alloc(align < sizeof(void *) ? sizeof(void *) : align, i + 1, omp_thread_mem_alloc);
        unsigned char *b = omp_aligned_calloc(256, 3, i + 1, omp_default_mem_alloc);
        for (int k = 0; k <= i; k++)
            a[k] = (unsigned char)k;
        for (int k = 0; k <= i; k++)
            bad += a[k] != (unsigned char)k || b[3 * k] || b[3 * k + 2];
        bad += (uintptr_t)a % align != 0 || (uintptr_t)b % 256 != 0;
        omp_free(b, omp_default_mem_alloc);
        omp_free(a, omp_thread_mem_alloc);
    }
    CHECK_EQ(bad, 0);
    /* an allocator with traits */
    const omp_alloctrait_t aligned[] = { { omp_atk_alignment, 256 }, { omp_atk_fallback, omp_atv_null_fb } };
    omp_allocator_handle_t al = omp_null_allocator;
    bad = -1;
#pragma omp target parallel map(from: bad) num_threads(2) uses_allocators(traits(aligned): al) uses_allocators(omp_default_mem_alloc)
    {
        char *a = omp_alloc(40, al), *b = omp_calloc(3, 40, al), *c = omp_aligned_alloc(512, 40, al);
        if (omp_get_thread_num() == 1)
            bad = (int)((uintptr_t)a % 256 | (uintptr_t)b % 256 | (uintptr_t)c % 512);
        omp_free(c, al);
        omp_free(b, al);
        omp_free(a, al);
    }
    CHECK_EQ(bad, 0);
    omp_allocator_handle_t second;
    bad = -1;
#pragma omp target map(from: bad) uses_allocators(memspace(omp_high_bw_mem_space), traits(aligned): al) uses_allocators(memspace(omp_default_mem_space): second)
    {
        char *a = omp_alloc(40, al), *b = omp_alloc(40, second);
        bad = (int)((uintptr_t)a % 256 | !b);
        omp_free(a, al);
        omp_free(b, second);
    }
    CHECK_EQ(bad, 0);
    allocator_in_clause();
    /* on the host: the numbers of the header may not be those of the OpenMP library */
    const omp_memspace_handle_t spaces[] = { omp_default_mem_space, omp_large_cap_mem_space, omp_const_mem_space, omp_high_bw_mem_space,
                                             omp_low_lat_mem_space };
    const omp_alloctrait_t traits[] = { { omp_atk_alignment, 64 } };
    for (int i = 0; i < 5; i++) {
        omp_allocator_handle_t a = omp_init_allocator(spaces[i], 1, (omp_alloctrait_t *)traits);
        void *p = omp_alloc(100, a);
        CHECK(i > 0 || (p && (uintptr_t)p % 64 == 0));
        omp_free(p, a);
        omp_destroy_allocator(a);
    }
    bad = 0;
#pragma omp target device(omp_initial_device) map(from: bad)
    bad = omp_is_initial_device() && omp_invalid_device < omp_initial_device;
    CHECK_EQ(bad, 1);
    return RESULT;
}
