/* parallel: all threads run the block, private/firstprivate/shared, num_threads, if, thread ids are distinct */ /* also: -O0 -g */
#include "check.h"

int main(void)
{
    int seen[2048] = { 0 }, n = 0, on = 0, count = 0, x = 5, after = 0;

#pragma omp target parallel map(tofrom: n, on, count)
    {
        int id = omp_get_thread_num();
        seen[id]++;
#pragma omp atomic
        count++;
        if (id == 0)
            n = omp_get_num_threads(), on = ON_DEVICE;
    }
    CHECK(on);
    CHECK(n >= 1 && count == n);
    for (int i = 0; i < 2048; i++)
        CHECK_EQ(seen[i], i < n);

    memset(seen, 0, sizeof seen);
#pragma omp target map(tofrom: n, after)
    {
        int local = 1, y = 3;        /* of the sequential part, shared by the threads */
#pragma omp parallel num_threads(13) firstprivate(y) shared(local)
        {
            y += omp_get_thread_num();
            seen[omp_get_thread_num()] = y + x;
#pragma omp atomic
            local += 1;
#pragma omp master
            n = omp_get_num_threads();
        }
        after = local + 100 * y;
    }
    CHECK(n >= 1 && n <= 13);
    CHECK_EQ(after, 300 + 1 + n);
    for (int i = 0; i < n; i++)
        CHECK_EQ(seen[i], 8 + i);

#pragma omp target map(tofrom: n)
#pragma omp parallel if(x == 6)
    n = omp_get_num_threads() + 10 * omp_in_parallel();
    CHECK_EQ(n, 1);
    return RESULT;
}
