/* a scalar that is firstprivate of target is one object for the threads, also where only a called function synchronises them */
#include "check.h"

static void scale(int *a, int n)
{
    #pragma omp for
    for (int i = 0; i < n; i++) a[i] *= 2;
}
static void wait_deep(int n) { if (n) wait_deep(n - 1); else { int none; scale(&none, 0); } }
static void wait_all(void)
{
    #pragma omp barrier
}

int main(void)
{
    int z = 3, y = 4, x = 5, oz[20], oy[20], ox[20], n[1] = { 0 }, on = 0;

    #pragma omp target parallel num_threads(20) map(from: oz, oy)
    {
        if (omp_get_thread_num() == 3) z = 31;
        wait_all();
        oz[omp_get_thread_num()] = z;
        if (omp_get_thread_num() == 17) y = 41;
        wait_deep(3);
        oy[omp_get_thread_num()] = y;
    }
    #pragma omp target teams num_teams(1) map(from: ox) map(tofrom: on)
    #pragma omp parallel num_threads(20)
    {
        if (omp_get_thread_num() == 0) x = 51, on = ON_DEVICE;
        wait_all();
        ox[omp_get_thread_num()] = x;
    }
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(oz[i], 31);
        CHECK_EQ(oy[i], 41);
        CHECK_EQ(ox[i], 51);
    }
    omp_lock_t lock;
    int count = 0;
    #pragma omp target map(tofrom: n) map(alloc: lock)
    {
        omp_init_lock(&lock);
        #pragma omp parallel num_threads(20)
        {
            omp_set_lock(&lock);
            count++;
            omp_unset_lock(&lock);
        }
        n[0] = count;
        omp_destroy_lock(&lock);
    }
    CHECK_EQ(n[0], 20);
    CHECK(on);
    return RESULT;
}
