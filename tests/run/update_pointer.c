/* target update of a pointer beside what it leads to: each side keeps its own pointer */
#include "check.h"

struct s {
    int a, *d, *e, n;
};

int main(void)
{
    int v[6] = { 1, 2, 3, 4, 5, 6 }, w[2] = { 7, 8 }, bad = 0, on = 0, *q = w;
    struct s s = { 7, v + 2, w, 1 };
#pragma omp target data map(alloc: s.a, s.d, s.e, s.n, s.d[-2:3], s.e[0:2])
    {
#pragma omp target update to(s.a, s.d, s.d[-2:3]) to(s.e[0:2], s.n, s.e)
#pragma omp target map(alloc: s.a, s.d, s.e, s.n, s.d[-2:3], s.e[0:2]) map(tofrom: bad, on)
        {
            bad = s.a != 7 || s.d[-2] != 1 || s.d[0] != 3 || s.e[1] != 8 || s.n != 1;
            s.d[-1] = 20;
            s.a = 9;
            s.e[0] = 70;
            on = ON_DEVICE;
        }
#pragma omp target update from(s.d[-2:3], s.e[0:2], s.d, s.e) from(s.a)
    }
    CHECK(on && !bad);
    CHECK(v[1] == 20 && w[0] == 70 && s.a == 9 && s.d == v + 2 && s.e == w);
#pragma omp target data map(to: q, q[0:2])
    {
        w[0] = 1;
#pragma omp target update to(q[0:2], q)
#pragma omp target map(tofrom: bad)
        bad = q[0] != 1;
    }
    CHECK(!bad && q == w);
    return RESULT;
}
