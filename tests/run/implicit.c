/* implicit data-sharing: scalars firstprivate, aggregates tofrom, pointers translated, const, locals private */
#include "check.h"

int main(void)
{
    int i = 3, a[5] = { 1, 2, 3, 4, 5 }, *p = a, on = 0, out = 0;
    struct { int v; double w; } s = { 1, 2 };
    const int c = 17;
    const double t[2] = { 0.5, 0.25 };
    double d = 1, *null = NULL;
    char text[] = "hello";
    long same = 0;

#pragma omp target map(tofrom: on, out, same)
    {
        on = ON_DEVICE;
        i += 1, d += 1;
        a[0] = i + c;
        s.v += i, s.w *= d + t[1];
        text[0] = 'j';
        out = null == NULL;
        same = i;
    }
    CHECK(on && out);
    CHECK_EQ(i, 3);
    CHECK_EQ(d, 1);
    CHECK_EQ(a[0], 21);
    CHECK(s.v == 5 && s.w == 4.5);
    CHECK(!strcmp(text, "jello"));
    CHECK_EQ(same, 4);
#pragma omp target data map(tofrom: a)
#pragma omp target                   /* p points into a, which is present */
    p[1] = 20, p += 2, *p = 30;
    CHECK(a[1] == 20 && a[2] == 30 && p == a);
    /* in teams and parallel inside of target, the target's firstprivate copy is shared by the threads of a team */
    int x = 100;
#pragma omp target map(from: out)
    {
#pragma omp parallel num_threads(8)
        {
#pragma omp atomic
            x++;
        }
        out = x;
    }
    CHECK(out > 100 && out <= 108);
    CHECK_EQ(x, 100);
    return RESULT;
}
