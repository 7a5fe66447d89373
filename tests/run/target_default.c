/* default on target: as defaultmap; of combined constructs it is another's */ /* also: -O0 -g */
#include "check.h"
int main(void)
{
    int x = 1, y = 2, a[3] = { 1, 2, 3 }, on = 0;
#pragma omp target default(firstprivate) map(tofrom: on)
    {
        on = ON_DEVICE;
        a[0] += x;
        x = a[0];
        y = 0;
    }
    CHECK(on && a[0] == 1 && x == 1 && y == 2);
#pragma omp target default(none) map(tofrom: on, x)
    x += on;
    CHECK_EQ(x, 2);
#pragma omp target map(from: on), default(private: scalar)
    {
        y = 7;
        on = y;
        a[1] = 9;
    }
    CHECK(on == 7 && y == 2 && a[1] == 9);
#pragma omp target teams default(none) map(tofrom: x) shared(x) num_teams(1)
    x++;
    CHECK_EQ(x, 3);
#pragma omp target default(shared) map(x)
    x++;
    CHECK_EQ(x, 4);
#pragma omp target_data default(none) map(tofrom: x)
    {
#pragma omp target simd default(none) map(x)
        for (int i = 0; i < 4; i++)
            x += i;
    }
    CHECK_EQ(x, 10);
    return RESULT;
}
