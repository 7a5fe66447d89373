/* flush and atomics hand data from one team's thread to another's */
#include "check.h"

int main(void)
{
    int data = 0, flag = 0, got = -1, on = 0;

#pragma omp target parallel num_threads(64) map(tofrom: data, flag, got, on)
    {
        if (omp_get_thread_num() == 0) {
            data = 42;
            on = ON_DEVICE;
#pragma omp flush
#pragma omp atomic write
            flag = 1;
        }
#pragma omp barrier
        if (omp_get_thread_num() == omp_get_num_threads() - 1) {
            int f;
#pragma omp atomic read
            f = flag;
#pragma omp flush(data)
            got = f ? data : -2;
        }
    }
    CHECK(on);
    CHECK_EQ(got, 42);
    return RESULT;
}
