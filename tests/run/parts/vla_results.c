/* beside tests/run/vla_results.c: no array of variable length */
#include "vla_results.h"
#pragma omp begin declare target
struct pair theirs(int n) { return (struct pair){ n, n * 2, n * 0.5 }; }
static struct pair other(int n) { return (struct pair){ n * 10, 1, 2 }; }
struct pair (*choose(int k))(int) { return k ? theirs : other; }
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
