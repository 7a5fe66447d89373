/* the values that omp_* routines give inside regions, and the device routines on the host */ /* also: -O0 -g */
#include "check.h"

int main(void)
{
    int s[12], p[8], t[6];
    double w[2], tick = 0;

#pragma omp target map(from: s, w) map(tofrom: tick)
    {
        s[0] = ON_DEVICE;
        s[1] = omp_get_num_threads();
        s[2] = omp_get_thread_num();
        s[3] = omp_in_parallel() != 0;
        s[4] = omp_get_level();
        s[5] = omp_get_num_teams();
        s[6] = omp_get_team_num();
        s[7] = omp_get_max_threads();
        s[8] = omp_get_num_procs();
        s[9] = omp_get_thread_limit();
        s[10] = omp_get_dynamic();
        s[11] = omp_get_active_level();
        w[0] = omp_get_wtime();
        for (volatile int i = 0; i < 1000; i++)
            ;
        w[1] = omp_get_wtime();
        tick = omp_get_wtick();
    }
    CHECK(s[0] && s[1] == 1 && s[2] == 0 && !s[3] && s[4] == 0 && s[5] == 1 && s[6] == 0);
    CHECK(s[7] >= 1 && s[8] >= 1 && s[9] >= 1 && s[11] == 0);
    CHECK(w[1] >= w[0] && tick > 0);
#pragma omp target map(from: p)
#pragma omp parallel num_threads(20)
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
        p[0] = omp_get_num_threads();
        p[1] = omp_get_thread_num();
        p[2] = omp_in_parallel() != 0;
        p[3] = omp_get_level();
        p[4] = omp_get_active_level();
        p[5] = omp_get_ancestor_thread_num(0);
        p[6] = omp_get_team_size(1);
        p[7] = omp_get_ancestor_thread_num(1);
    }
    CHECK_EQ(p[1], p[0] - 1);
    CHECK_EQ(p[2], p[0] > 1);
    CHECK_EQ(p[3], 1);
    CHECK_EQ(p[4], p[0] > 1);
    CHECK(p[5] == 0 && p[6] == p[0] && p[7] == p[1]);
    CHECK(p[0] >= 1 && p[0] <= 20);
#ifndef HOST_ONLY
    int dev = omp_get_default_device();
    CHECK_EQ(p[0], 20);
    CHECK(omp_get_num_devices() >= 1);
    CHECK(dev >= 0 && dev < omp_get_num_devices());
    CHECK_EQ(omp_get_initial_device(), omp_get_num_devices());
    CHECK(omp_is_initial_device());
    CHECK_EQ(omp_get_device_num(), omp_get_initial_device());
    CHECK(!omp_pause_resource(omp_pause_soft, omp_get_initial_device()));
    CHECK(!omp_pause_resource(omp_pause_soft, 0));
    CHECK(!omp_target_is_present(s, dev));
    int where = -2;
#pragma omp target map(from: where)
    where = omp_get_device_num();
    CHECK_EQ(where, dev);
    omp_set_default_device(omp_get_initial_device());
#pragma omp target map(from: where)
    where = omp_is_initial_device();
    CHECK_EQ(where, 1);
    omp_set_default_device(dev);
#endif
#pragma omp target map(from: t)
    {
        omp_set_num_threads(9);      /* of the device's initial thread */
#pragma omp parallel
#pragma omp single
        t[0] = omp_get_num_threads();
        t[1] = omp_get_max_threads();
    }
    CHECK(t[0] >= 1 && t[0] <= 9 && t[1] == 9);
    int few = 0;
#pragma omp target map(tofrom: few)
    {
        omp_nest_lock_t n;
        omp_lock_t l;
        omp_init_nest_lock_with_hint(&n, omp_sync_hint_none);
        omp_init_lock_with_hint(&l, omp_sync_hint_uncontended);
#pragma omp parallel num_threads(6)
        {
            omp_set_nest_lock(&n);
            few += omp_test_nest_lock(&n) - 1;
            omp_unset_nest_lock(&n);
            omp_unset_nest_lock(&n);
        }
        few *= omp_test_lock(&l);
        omp_destroy_nest_lock(&n);
        omp_set_max_active_levels(2), omp_set_num_teams(2), omp_set_teams_thread_limit(2), omp_set_default_device(0);
        few += omp_get_supported_active_levels() - 1 + omp_get_num_places() + omp_get_place_num() + omp_get_max_task_priority() +
               omp_get_partition_num_places() + omp_get_place_num_procs(0) + (omp_control_tool(1, 0, NULL) == -2) +
               (omp_get_uid_from_device(omp_get_device_num()) != NULL) + (omp_get_device_from_uid("") != omp_invalid_device);
    }
    CHECK_EQ(few, 6);
    int width = 0, agents = 0;
#pragma omp target map(tofrom: width, agents)
    {
        width = omp_get_max_progress_width(omp_get_device_num());
        agents = omp_is_free_agent() + omp_ancestor_is_free_agent(0);
    }
    CHECK(width == omp_get_max_progress_width(omp_get_default_device()) && omp_get_max_progress_width(omp_get_initial_device()) == 1);
    CHECK_EQ(agents + omp_is_free_agent() + omp_ancestor_is_free_agent(0), 0);
    return RESULT;
}
