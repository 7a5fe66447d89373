/* several regions sharing statics; target in loops, in branches, in switch, labels before, goto over, in a nested block expression */
#include "check.h"

int main(void)
{
    int on = 0, a[8] = {0}, n = 3;
    for (int r = 0; r < 3; r++)
        if (r == 1)
#pragma omp target map(tofrom: a, on)
            a[r] = 1, on = ON_DEVICE;
        else if (r == 2)
#pragma omp target map(tofrom: a)
        { a[r] = 2; }
        else {
#pragma omp target map(tofrom: a)
            a[r] = 3;
        }
    switch (n) {
    case 3:
#pragma omp target map(tofrom: a)
        a[3] = 4;
        break;
    default:
        a[3] = 5;
    }
    goto skip;
skip:;
#pragma omp target map(tofrom: a)
    a[4] = 6;
    int v = ({ int t = 1;
#pragma omp target map(tofrom: t)
        t += 5;
        t; });
    do
#pragma omp target map(tofrom: n)
        n--;
    while (n > 0);
    for (int i = 5; i < 8; i++)
#pragma omp target teams distribute parallel for map(tofrom: a) num_teams(1)
        for (int j = i; j < 8; j++)
#pragma omp atomic
            a[j] += 1;
    CHECK(on); CHECK(a[0] == 3 && a[1] == 1 && a[2] == 2 && a[3] == 4 && a[4] == 6 && v == 6 && n == 0);
    CHECK(a[5] == 1 && a[6] == 2 && a[7] == 3);
    return RESULT;
}
