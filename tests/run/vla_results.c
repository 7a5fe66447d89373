/* structs that are returned between files with arrays of variable length and without, by name and by pointer */ /* with: parts/vla_results.c */ /* also: -O0, -O2 -g */
#include "check.h"
#include "parts/vla_results.h"
#pragma omp begin declare target
struct pair mine(int n)
{
    int v[n + 1];
    v[n] = n;
    return (struct pair){ v[n] * 7, 5, n / 2.0 };
}
static struct pair own(int n)
{
    int v[n + 2];
    v[0] = n;
    return (struct pair){ v[0], v[0] + 1, 0.25 };
}
struct padded in_vla_file(int n)
{
    int v[n];
    v[0] = n;
    return (struct padded){ n, v[0] };
}
union bytes bytes_in_vla_file(int n)
{
    char v[n + 16];
    union bytes u;
    for (int i = 0; i < 16; i++)
        v[i] = (char)(n + i), u.raw[i] = v[i];
    return u;
}
#pragma omp end declare target

static void all(int n, int *r, double *sum)
{
    int v[n];
    v[0] = n;
    struct pair x = theirs(4), y = choose(0)(5), z = add(x, y), (*f)(int) = n > 2 ? own : mine, w = f(9);
    r[0] = x.a + x.b, r[1] = y.a, r[2] = z.a + z.b, *sum = z.c;
    r[3] = apply(mine, 6), r[4] = apply(own, 7), r[5] = w.a * 100 + w.b, r[6] = apply(n > 2 ? mine : own, 2) + v[0];
    r[7] = apply(choose(1), 8);
    r[8] = in_file(3).i + (int)in_file(4).d, r[9] = apply_bytes(bytes_in_vla_file, 3), r[10] = apply_bytes(choose_bytes(1), 5);
    r[11] = choose_bytes(0)(4).raw[3] + choose_bytes(1)(2).raw[5] + bytes_in_file(2).raw[2];
}

int main(void)
{
    int on[12] = { 0 }, off[12] = { 0 };
    double s = 0, t = 0;
#pragma omp target map(tofrom: on, s)
    all(3, on, &s);
    all(3, off, &t);
    for (int i = 0; i < 12; i++)
        CHECK_EQ(on[i], off[i]);
    CHECK(s == t && s == 4.5);
    CHECK_EQ(on[3], 42062);
    return RESULT;
}
