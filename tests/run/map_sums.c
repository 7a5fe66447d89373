/* list items *(p + i): what p[i] is */ /* also: -O0 -g */
#include "check.h"

struct s { int *p, n; };

int main(void)
{
    int a[10] = { 0 }, *p = a, k = 2, b[3][4] = { { 0 } }, (*rows)[4] = b, on = 0;
    struct s x = { calloc(10, sizeof(int)), 3 };
    x.p[5] = 50;
#pragma omp target map(tofrom: *(p + 3), *(k + 2 + p), on)
    p[3] = 7, p[4]++, on = ON_DEVICE;
#pragma omp target map(tofrom: *(a + k)) map(tofrom: *(x.p + 5))
    a[k] = 8, x.p[5]++;
#pragma omp target map(tofrom: *(rows + 1))
    rows[1][2] = 9;
#pragma omp target enter data map(to: *(p + 9))
    a[9] = 1;
#pragma omp target update to(*(p + 9))
    a[9] = 0;
#pragma omp target map(tofrom: on)
    p[9] += 10, on = ON_DEVICE;
#pragma omp target exit data map(from: *(p + (k + 7)))
    CHECK(on);
    CHECK(a[3] == 7 && a[4] == 1 && a[2] == 8 && x.p[5] == 51 && b[1][2] == 9 && a[9] == 11);
    return RESULT;
}
