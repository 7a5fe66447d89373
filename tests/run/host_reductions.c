/* reductions of worksharing constructs that are directly in a region of the host, also while other threads do the same */
#include "check.h"

static int reduced(int k)
{
    int x = k;
#pragma omp target map(tofrom: x) if(0)
    {
#pragma omp for reduction(+ : x)
        for (int i = 0; i < 10; i++) x += i;
#pragma omp sections reduction(+ : x)
        {
            x += 1;
#pragma omp section
            x += 2;
        }
#pragma omp scope reduction(+ : x)
        x += 100;
    }
    return x;
}

int main(void)
{
    int sum = 0, on = 0;
#pragma omp target map(tofrom: on)
    on = ON_DEVICE;
    CHECK(on);
    CHECK_EQ(reduced(2), 2 + 45 + 3 + 100);
    for (int round = 0; round < 20; round++) {
        sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
        sum += reduced(omp_get_thread_num());
        CHECK_EQ(sum, 0 + 1 + 2 + 3 + 4 * 148);
#pragma omp parallel num_threads(3)
#pragma omp single
        for (int i = 0; i < 8; i++) {
#pragma omp task
            {
                int r = reduced(i);
#pragma omp critical
                CHECK_EQ(r, i + 148);
            }
        }
    }
    return RESULT;
}
