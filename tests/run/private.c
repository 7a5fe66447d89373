/* private and firstprivate on every construct, for scalars, arrays, structs, pointers */
#include "check.h"

struct box { int v[3]; int n; };

int main(void)
{
    int x = 5, arr[4] = { 1, 2, 3, 4 }, out[100], on = 0, tmp = 77;
    struct box b = { { 7, 8, 9 }, 3 };

#pragma omp target teams distribute parallel for private(tmp) firstprivate(x, arr, b) map(from: out) map(tofrom: on)
    for (int i = 0; i < 100; i++) {
        tmp = i;
        arr[i & 3] += i;
        out[i] = tmp * 2 + x + b.v[i % 3];
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK(tmp == 77 && x == 5 && arr[1] == 2 && b.v[0] == 7);
    for (int i = 0; i < 100; i++)
        CHECK_EQ(out[i], i * 2 + 5 + 7 + i % 3);
#pragma omp target private(x, b) firstprivate(arr) map(from: out)
    {
        x = 1;
        b.n = 2;
        arr[0] = 30;
#pragma omp parallel for firstprivate(x, arr) private(b)
        for (int i = 0; i < 100; i++) {
            b.n = i;
            arr[1] = b.n;
            out[i] = arr[0] + arr[1] + x;
        }
        out[0] += x + b.n + arr[1];
    }
    CHECK_EQ(out[0], 31 + 1 + 2 + 2);
    for (int i = 1; i < 100; i++)
        CHECK_EQ(out[i], 31 + i);
    CHECK(x == 5 && b.n == 3 && arr[0] == 1);
#pragma omp target teams num_teams(3) firstprivate(x) private(tmp) map(from: out)
    {
        tmp = omp_get_team_num();
        x += tmp;
#pragma omp parallel for private(tmp) firstprivate(x)
        for (int i = 0; i < 10; i++) {
            tmp = i;
            out[omp_get_team_num() * 10 + tmp] = x;
        }
        out[30 + tmp] = x;
    }
    for (int i = 0; i < 10; i++)
        CHECK_EQ(out[i], 5);
    return RESULT;
}
