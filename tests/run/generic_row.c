/* generic mode: several parallel regions in a row, in loops and branches, with sequential code in between */ /* also: -O0 -g */
#include "check.h"

int main(void)
{
    enum { N = 90 };
    int a[N] = { 0 }, on = 0, r = 0, rounds = 4;

#pragma omp target map(tofrom: a, on, r)
    {
        int turn = 0, acc = 0;
        on = ON_DEVICE;
        for (int k = 0; k < rounds; k++) {
            turn = k + 1;
#pragma omp parallel for
            for (int i = 0; i < N; i++)
                a[i] += turn;
            if (k % 2) {
#pragma omp parallel num_threads(33)
                {
#pragma omp for reduction(+: acc)
                    for (int i = 0; i < N; i++)
                        acc += a[i];
                }
            } else {
#pragma omp parallel for schedule(dynamic, 7)
                for (int i = 0; i < N; i++)
                    a[i] *= 2;
            }
            a[0] += acc;
            if (k == 3)
                break;
        }
        r = acc;
#pragma omp parallel
        {
#pragma omp single
            r += 1;
        }
    }
    int h[N] = { 0 }, acc = 0;
    for (int k = 0; k < rounds; k++) {
        for (int i = 0; i < N; i++)
            h[i] += k + 1;
        for (int i = 0; i < N; i++)
            k % 2 ? (acc += h[i]) : (h[i] *= 2);
        h[0] += acc;
    }
    CHECK(on);
    CHECK_EQ(r, acc + 1);
    for (int i = 0; i < N; i++)
        CHECK_EQ(a[i], h[i]);
    return RESULT;
}
