/* objects whose size is no multiple of their alignment: LLVM loads them whole, as far as the alignment goes */ /* also: -O0 -g */
#include "check.h"

#pragma omp begin declare target
_Alignas(16) static int three[3] = { 1, 2, 3 };
_Alignas(16) static short seven[7] = { 1, 2, 3, 4, 5, 6, 7 };
#pragma omp end declare target

int main(void)
{
    int number = 0, sum = 0, shared = 0, on = 0, n = 3;
#pragma omp target map(tofrom: number, sum, on)
    {
        number = three[0] * 100 + three[1] * 10 + three[2];
        for (int i = 0; i < 7; i++)
            sum += seven[i];
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(number, 123);
    CHECK_EQ(sum, 28);
#pragma omp target map(tofrom: shared)
    {
        int array[n];
        array[0] = 1, array[1] = 2, array[2] = 3;
#pragma omp parallel num_threads(4) reduction(+: shared)
        shared += array[0] + array[1] + array[2];
    }
    CHECK_EQ(shared, 24);
    return RESULT;
}
