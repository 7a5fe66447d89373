/* nowait with an argument, which clang 22 does not know */ /* says: extra tokens */
#include "check.h"

static void arguments(int later)
{
    int a = 0, b = 0, sum = 0;
#pragma omp target enter data map(to: a) nowait(later) depend(out: a)
#pragma omp target map(tofrom: a) nowait(later) depend(inout: a)
    for (int i = 0; i < 100000; i++) {
#pragma omp atomic
        a++;
    }
#pragma omp target update from(a) nowait(later + 0) depend(inout: a)
    if (!later)
        CHECK_EQ(a, 100000);
#pragma omp taskwait
#pragma omp target exit data map(delete: a) nowait(0)
    CHECK(!PRESENT(&a));
#pragma omp target parallel num_threads(8) map(tofrom: b, sum)
    {
#pragma omp for nowait(later)
        for (int i = 0; i < 64; i++) {
#pragma omp atomic
            b++;
        }
        int seen = 0;
#pragma omp atomic read
        seen = b;
#pragma omp atomic
        sum += later || seen == 64;
    }
    CHECK_EQ(sum, 8);
}

int main(void)
{
    arguments(0);
    arguments(1);
    return RESULT;
}
