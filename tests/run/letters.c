/* names with letters that are not ASCII, which PTX has not: of variables, functions, regions, local things */ /* also: -O0 -g */
#include "check.h"

#pragma omp begin declare target
int café = 3;
static int naïve[2] = { 4, 5 };
struct größe { int höhe; };
__attribute__((noinline)) int länge(struct größe g) { return g.höhe + café + naïve[1]; }
static int (*zeiger)(struct größe) = länge;
#pragma omp end declare target

static int gehört(int é)
{
    int où = 0, ön = 0;
#pragma omp target parallel for reduction(+: où) firstprivate(é) map(tofrom: ön) num_threads(8)
    for (int ï = 0; ï < 10; ï++) {
        struct größe g = { ï };
        où += länge(g) + zeiger(g) + é;
        if (ï == 3)
            ön = ON_DEVICE;
    }
    CHECK(ön);
    return où;
}

int main(void)
{
    CHECK_EQ(gehört(1), 2 * (45 + 30 + 50) + 10);
    café = 30, naïve[1] = 50;
#pragma omp target update to(café, naïve)
    CHECK_EQ(gehört(0), 2 * (45 + 300 + 500));
    return RESULT;
}
