/* sections: in a region, in a called function, combined with parallel, with lastprivate and reduction */ /* also: -O0 -g */
#include "check.h"

static void count(int *n)
{
    #pragma omp sections
    {
        n[0]++;
        #pragma omp section
        n[1]++;
        #pragma omp section
        {
            n[2]++;
            n[3]++;
        }
    }
}

int main(void)
{
    int n[4] = { 0 }, m[3] = { 0 }, on = 0, last = 0, sum = 0;
    #pragma omp target parallel num_threads(64) map(tofrom: n)
    count(n);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(n[i], 1);
    #pragma omp target teams num_teams(3) map(tofrom: m, on)
    {
        #pragma omp parallel sections num_threads(2)
        {
            #pragma omp section
            _Pragma("omp atomic") m[0]++;
            #pragma omp section
            _Pragma("omp atomic") m[1]++;
            #pragma omp section
            { _Pragma("omp atomic") m[2]++; _Pragma("omp atomic write") on = ON_DEVICE; }
        }
    }
    CHECK(on);
    for (int i = 0; i < 3; i++)
        CHECK(m[i] >= 1 && m[i] <= 3 && m[i] == m[0]);
    #pragma omp target map(tofrom: last, sum)
    {
        #pragma omp parallel sections lastprivate(last) reduction(+: sum)
        {
            { last = 1; sum += 1; }
            #pragma omp section
            { last = 2; sum += 10; }
            #pragma omp section
            { last = 3; sum += 100; }
        }
    }
    CHECK_EQ(last, 3);
    CHECK_EQ(sum, 111);
    return RESULT;
}
