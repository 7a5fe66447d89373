/* what clang 22 takes for something else: parallel single, also of target, sections, masked; isa of a GPU.  It says nothing */
#include "check.h"
static int generic(void) { return 1; }
static int fast(void) { return 2; }
#pragma omp declare variant(fast) match(device = {isa("sm_60")})
static int slow(void) { return 1; }
int main(void)
{
    int on = 0, n = 0, a = 0, b = 0, x = 3, id = -1, sum = 0;
#pragma omp parallel single num_threads(4) firstprivate(x) shared(n)
    n += ++x;
    CHECK_EQ(n, 4);
#pragma omp target parallel single map(tofrom : n, on) firstprivate(x) num_threads(4)
    on = ON_DEVICE, n += ++x;
    CHECK(on);
    CHECK_EQ(n, 8);
#pragma omp target parallel sections map(tofrom : a, b) lastprivate(x) num_threads(2) nowait depend(out : a) reduction(+ : n)
    {
#pragma omp section
        a = slow();
#pragma omp section
        b = 5, x = 7, n++;
    }
#pragma omp target parallel masked filter(1) map(tofrom : id) num_threads(2) depend(in : a)
    id = omp_get_thread_num();
#pragma omp taskwait
#ifdef HOST_ONLY
    CHECK_EQ(a, slow());
#else
    CHECK_EQ(a, 2);
    CHECK_EQ(slow(), generic());
#endif
    CHECK(b == 5 && n == 9 && id == 1 && x == 7);
#pragma omp metadirective when(device = {isa("sm_60")} : parallel for) otherwise(parallel for reduction(+ : sum))
    for (int i = 0; i < 9; i++)
        sum += i;
    CHECK_EQ(sum, 36);
    return RESULT;
}
