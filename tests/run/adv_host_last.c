/* lastprivate and linear of combined target constructs that run on the host: the variable is mapped, its last value comes back */ /* also: -O0 -g */
#include "check.h"

int main(void)
{
    int l = 0, no = 0, a[100] = { 0 }, r = 3, i, p = 1;

    #pragma omp target teams distribute lastprivate(l) map(tofrom: a) if(target: no)
    for (int k = 0; k < 10; k++) {
        #pragma omp parallel for lastprivate(l)
        for (int j = 0; j < 10; j++) {
            a[k * 10 + j]++;
            l = k * 10 + j;
        }
    }
    CHECK_EQ(l, 99);
    #pragma omp target teams distribute parallel for lastprivate(l) if(target: no) // the comment stays behind
    for (int k = 0; k < 10; k++) l = k;
    CHECK_EQ(l, 9);
    #pragma omp target parallel for lastprivate(l) map(tofrom: l) if(target: no) reduction(+: r)
    for (int k = 0; k < 20; k++) l = k, r += k;
    CHECK_EQ(l, 19);
    CHECK_EQ(r, 193);
    #pragma omp target simd lastprivate(l) \
        if(target: no)
    for (i = 0; i < 10; i++) l = i;
    CHECK_EQ(l, 9);
    #pragma omp target parallel for linear(p: 2) if(target: no)
    for (int k = 0; k < 10; k++) p += 2;
    CHECK_EQ(p, 21);
    for (int k = 0; k < 100; k++) CHECK_EQ(a[k], 1);
    return RESULT;
}
