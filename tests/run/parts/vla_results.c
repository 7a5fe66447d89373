/* beside tests/run/vla_results.c: no array of variable length */
#include "vla_results.h"
#pragma omp begin declare target
struct pair theirs(int n) { return (struct pair){ n, n * 2, n * 0.5 }; }
static struct pair other(int n) { return (struct pair){ n * 10, 1, 2 }; }
struct pair (*choose(int k))(int) { return k ? theirs : other; }
struct padded in_file(int n) { return (struct padded){ n, in_vla_file(n + 1).i }; }
union bytes bytes_in_file(int n)
{
    union bytes u;
    for (int i = 0; i < 16; i++)
        u.raw[i] = (char)(n * i);
    return u;
}
union bytes (*choose_bytes(int k))(int) { return k ? bytes_in_file : bytes_in_vla_file; }
int apply_bytes(union bytes (*f)(int), int n)
{
    union bytes u = f(n);
    int s = 0;
    for (int i = 0; i < 16; i++)
        s = s * 3 + u.raw[i];
    return s;
}
int apply(struct pair (*f)(int), int n)
{
    struct pair x = f(n);
    return x.a * 1000 + x.b * 10 + (int)(x.c * 4);
}
struct pair add(struct pair x, struct pair y)
{
    struct pair m = mine(1);
    return (struct pair){ x.a + y.a + m.a, x.b + y.b, x.c + y.c + m.c };
}
#pragma omp end declare target
