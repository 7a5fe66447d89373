/* uses_allocators and omp_init_allocator with pools: how much there is, for whom, and each way out of an empty one */
/* also: -O0 */
#include "check.h"
#include <stdint.h>

enum { TEAMS = 3, MANY_TEAMS = 40 };

/* On the device and on the host, where libomp counts what it needs itself, too: what the pool gives, and has again after omp_free. */
static void refuses(int host)
{
    const omp_alloctrait_t small[] = { { omp_atk_pool_size, 10000 }, { omp_atk_fallback, omp_atv_null_fb }, { omp_atk_alignment, 128 } };
    omp_allocator_handle_t a;
    int bad = -1, where = -1;
#pragma omp target map(from: bad, where) if(!host) uses_allocators(traits(small): a)
    {
        char *p = omp_alloc(6000, a), *q = omp_alloc(6000, a), *r = omp_alloc(1000, a);
        bad = !p || q || !r || (uintptr_t)p % 128 || (uintptr_t)r % 128;
        omp_free(p, a);
        q = omp_calloc(60, 100, a);
        bad += !q || q[5999];
        bad += omp_realloc(q, 20000, a, a) != NULL;
        omp_free(q, a), omp_free(r, a);
        p = omp_alloc(10001, a);
        bad += p != NULL;
        where = omp_is_initial_device();
    }
    CHECK_EQ(bad, 0);
    CHECK_EQ(where, host);
}

/* A copy for each region: the pool is whole again in the next. */
static void goes_elsewhere(void)
{
    const omp_alloctrait_t plain[] = { { omp_atk_pool_size, 10 } },
                           named[] = { { omp_atk_pool_size, 10 }, { omp_atk_fallback, omp_atv_default_mem_fb } },
                           next[] = { { omp_atk_fallback, omp_atv_allocator_fb }, { omp_atk_fb_data, 3 /* omp_const_mem_alloc */ },
                                      { omp_atk_pool_size, 64 }, { omp_atk_alignment, 64 } },
                           enough[] = { { omp_atk_pool_size, 1 << 20 }, { omp_atk_fallback, omp_atv_abort_fb } };
    omp_allocator_handle_t a, b, c, d;
    int bad = -1;
    for (int round = 0; round < 2; round++) {
#pragma omp target map(from: bad) uses_allocators(traits(plain): a) uses_allocators(traits(named): b) uses_allocators(traits(next): c) \
    uses_allocators(traits(enough): d)
        {
            char *p = omp_alloc(100, a), *q = omp_alloc(100, b), *r = omp_alloc(64, c), *s = omp_alloc(1, c), *t = omp_alloc(1 << 19, d);
            bad = !p || !q || !r || !s || !t || (uintptr_t)r % 64;
            p[99] = q[99] = r[63] = s[0] = t[(1 << 19) - 1] = 1;
            omp_free(p, a), omp_free(q, b), omp_free(r, c), omp_free(s, c), omp_free(t, d);
        }
        CHECK_EQ(bad, 0);
    }
}

/* One pool for all, or for each team; another team's blocks do not count there. */
static void shared_by(void)
{
    const omp_alloctrait_t all[] = { { omp_atk_pool_size, 1000 }, { omp_atk_fallback, omp_atv_null_fb }, { omp_atk_access, omp_atv_all } },
                           group[] = { { omp_atk_access, omp_atv_cgroup }, { omp_atk_pool_size, 1000 }, { omp_atk_fallback, omp_atv_null_fb } },
                           team[] = { { omp_atk_access, omp_atv_pteam }, { omp_atk_pool_size, 1000 }, { omp_atk_fallback, omp_atv_null_fb } };
    omp_allocator_handle_t a, g, t;
    int got = 0, groups[TEAMS] = { 0 }, teams[TEAMS] = { 0 }, every[MANY_TEAMS] = { 0 };
#pragma omp target teams num_teams(TEAMS) thread_limit(32) map(tofrom: got, groups, teams) uses_allocators(traits(all): a) \
    uses_allocators(traits(group): g) uses_allocators(traits(team): t)
    {
        int me = omp_get_team_num();
        char *p = omp_alloc(600, a);
#pragma omp atomic
        got += p != 0;
        char *q = omp_alloc(600, g), *r = omp_alloc(600, g), *s = omp_alloc(400, g);
        groups[me] = q && !r && s;
        int n = 0;
#pragma omp parallel num_threads(8) reduction(+: n)
        n += omp_alloc(300, t) != 0;
        teams[me] = n;
        omp_free(q, g), omp_free(s, g);
    }
    CHECK_EQ(got, 1);
    for (int i = 0; i < TEAMS; i++) {
        CHECK_EQ(groups[i], 1);
        CHECK_EQ(teams[i], 3);
    }
#pragma omp target teams num_teams(MANY_TEAMS) thread_limit(32) map(tofrom: every) uses_allocators(traits(team): t)
    {
        char *p = omp_alloc(900, t);
        every[omp_get_team_num()] = p != 0;
    }
    for (int i = 0; i < MANY_TEAMS; i++)
        CHECK_EQ(every[i], 1);
}

/* An allocator made in one region serves the next. */
static omp_allocator_handle_t kept;
#pragma omp declare target enter(kept)
static void from_region_to_region(void)
{
    int bad = 0;
#pragma omp target
    {
        const omp_alloctrait_t pool[] = { { omp_atk_pool_size, 100 }, { omp_atk_fallback, omp_atv_null_fb }, { omp_atk_access, omp_atv_pteam } };
        kept = omp_init_allocator(omp_low_lat_mem_space, 3, (omp_alloctrait_t *)pool);
    }
#pragma omp target teams num_teams(2) reduction(+: bad)
    {
        char *p = omp_alloc(80, kept), *q = omp_alloc(80, kept);
        bad += !p || q;
        omp_free(p, kept);
    }
    CHECK_EQ(bad, 0);
#pragma omp target
    omp_destroy_allocator(kept);
}

static void deferred(void)
{
    const omp_alloctrait_t small[] = { { omp_atk_pool_size, 100 }, { omp_atk_fallback, omp_atv_null_fb } };
    omp_allocator_handle_t a;
    int bad[4] = { -1, -1, -1, -1 };
    for (int i = 0; i < 4; i++) {
#pragma omp target map(from: bad[i]) uses_allocators(traits(small): a) nowait
        {
            char *p = omp_alloc(80, a), *q = omp_alloc(80, a);
            bad[i] = !p || q;
            omp_free(p, a);
        }
    }
#pragma omp taskwait
    CHECK(!bad[0] && !bad[1] && !bad[2] && !bad[3]);
}

int main(void)
{
    refuses(0);
    refuses(1);
    goes_elsewhere();
    shared_by();
    from_region_to_region();
    deferred();
    return RESULT;
}
