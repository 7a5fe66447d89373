/* barrier: neighbours' values are seen after it, with team sizes that are no multiple of 32 */
#include "check.h"

static void rotate(int *a, int *b, int threads, int rounds, int *got)
{
#pragma omp target map(from: a[0:1024], b[0:1024]) map(tofrom: got[0:1])
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num(), n = omp_get_num_threads();
        a[me] = me;
#pragma omp barrier
        for (int r = 0; r < rounds; r++) {
            b[me] = a[(me + 1) % n];
#pragma omp barrier
            a[me] = b[me];
#pragma omp barrier
        }
        if (me == 0)
            *got = ON_DEVICE ? n : -1;
    }
}

int main(void)
{
    static int a[1024], b[1024], sizes[] = { 1, 2, 3, 31, 32, 33, 64, 65, 97, 100, 127, 128 };

    for (int k = 0; k < COUNT(sizes); k++) {
        int n = 0;
        rotate(a, b, sizes[k], 5, &n);
        CHECK(n >= 1 && n <= sizes[k]);
        for (int i = 0; i < n; i++)
            CHECK_EQ(a[i], (i + 5) % n);
    }
    return RESULT;
}
