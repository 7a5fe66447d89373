/* ordered and cancel where device code has an array of variable length, which puts the team's variables into an address space of their own */ /* also: -O0 -g */
#include "check.h"

#pragma omp begin declare target
static int sum_of(int m)
{
    int v[m], sum = 0;
    for (int i = 0; i < m; i++)
        v[i] = i;
    for (int i = 0; i < m; i++)
        sum += v[i];
    return sum;
}
#pragma omp end declare target

int main(void)
{
    int order = 0, right = 1, done = 0, on = 0, m = 4;
#pragma omp target map(tofrom: order, right, on)
    {
        int v[m];
        v[0] = sum_of(m);
#pragma omp parallel for ordered num_threads(16)
        for (int i = 0; i < 40; i++) {
#pragma omp ordered
            right = right && order++ == i && v[0] == 6;
        }
        on = ON_DEVICE;
    }
    CHECK(on && right);
    CHECK_EQ(order, 40);
#pragma omp target parallel num_threads(8) map(tofrom: done)
    {
        int v[m];
        v[m - 1] = 1;
#pragma omp for
        for (int i = 0; i < 8; i++) {
#pragma omp cancel for if(v[m - 1] == 0)
#pragma omp atomic
            done += v[m - 1];
        }
    }
    CHECK_EQ(done, 8);
    return RESULT;
}
