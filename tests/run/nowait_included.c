/* nowait in a final task, which has ended when the next statement runs; and before barriers, also with GCC's library */
/* also: -O2 --host-cc=gcc */
#include "check.h"
enum { N = 200000 };

static void in_final_task(void)
{
    int x = 0, seen = -1, final = -1;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task final(1) shared(x, seen, final)
        {
            final = omp_in_final();
#pragma omp target nowait map(tofrom: x)
            for (int i = 0; i < N; i++) x++;
            seen = x;
        }
#pragma omp taskwait
    }
    CHECK_EQ(final, 1);
    CHECK_EQ(seen, N);
}

static void before_barriers(void)
{
    for (int threads = 1; threads <= 4; threads++) {
        int x[4] = { 0 }, sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
        {
            int *mine = &x[omp_get_thread_num()];
#pragma omp target nowait map(tofrom: mine[0:1])
            for (int i = 0; i < N; i++) mine[0]++;
#pragma omp barrier
            sum += *mine;
        }
        CHECK_EQ(sum, threads * N);
    }
}

int main(void)
{
    in_final_task();
    before_barriers();
    return RESULT;
}
