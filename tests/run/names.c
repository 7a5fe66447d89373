/* names of the user's that look like those of regions and of generated code: a function main_62 for the region in line 62 of main */ /* also: -O0 -fompgpu-mode=generic */
#include "check.h"

int __omp_k = 3, __omp2_env = 4, main_62__omp_parallel = 5, main_62__omp_region = 6;
int main_62(int x) { return x + 1; }
static int my__parallel(int x) { return 2 * x; }

/* of the host's interface, of bounds, of types that get a name, of a reduction's texts, of locks */
struct ompgpu_region { int a; };
enum { OMPGPU_UPDATE = 7, OMPGPU_MAP_TO = 9 };
static int ompgpu_unit = 5;
int __a_d0 = 4, __omp_unnamed_1 = 1;
struct S__types { int z; };
struct __anon_1 { int y; };
struct pair { int omp_in, omp_out, omp_priv; };
static struct { int w; } unnamed = { 6 };
typedef short types_29;
#pragma omp declare target enter(__a_d0, __omp_unnamed_1)
#pragma omp declare reduction(pairs: struct pair : omp_out.omp_priv += omp_in.omp_priv) initializer(omp_priv = (struct pair){ 0 })

static void types(int n)
{
    struct S { short h; } s = { 4 };
    struct S__types z = { 8 };
    struct __anon_1 y = { 9 };
    struct ompgpu_region region = { 2 };
    int a[n][n], r = 0;
    types_29 q = 2;
#pragma omp target map(tofrom: r) map(from: a)
    {
        types_29 twice = (types_29)(2 * q);
        r = region.a + ompgpu_unit + OMPGPU_UPDATE + z.z + y.y + s.h + unnamed.w + __omp_unnamed_1;
        a[1][2] = twice + __a_d0 + (int)sizeof a;
    }
    CHECK(r == 42 && a[1][2] == 8 + 9 * 4);
    struct pair sum = { 1, 2, 0 };
#pragma omp target parallel for reduction(pairs: sum) num_threads(40)
    for (int i = 0; i < 100; i++)
        sum.omp_priv += i;
    CHECK(sum.omp_priv == 4950);
    r = 0;
#pragma omp target parallel num_threads(40) map(tofrom: r)
#pragma omp critical(__atomic)
    r++;
    CHECK_EQ(r, 40);
}

static int both__inside(int x) { return x + 1000 * omp_get_num_teams(); }
static int both(int x) /* called inside of a parallel region and outside */
{
    int s = 0;
#pragma omp parallel num_threads(2) reduction(+: s)
    s++;
    return x + (s == 0);
}

/* of 1,024 characters, with more before them in the image */
#define TIMES8_(a) a##a##a##a##a##a##a##a
#define TIMES8(a) TIMES8_(a)
static int TIMES8(TIMES8(TIMES8(xy)))(int x)
{
#pragma omp target map(tofrom: x)
    x += ON_DEVICE;
    return x;
}

int main(void)
{
    int a = 0, b[40] = { 0 }, on = 0;
    types(3);
    /* the next line is a region's */
#pragma omp target map(tofrom: a, b, on)
    {
        a = main_62(2) + __omp_k + my__parallel(__omp2_env) + main_62__omp_parallel + main_62__omp_region;
#pragma omp parallel for
        for (int __omp_n = 0; __omp_n < 40; __omp_n++)
            b[__omp_n] = both(__omp_n) + a;
        a += both__inside(both(0)) - 1000;
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(a, 25);
    for (int i = 0; i < 40; i++)
        CHECK_EQ(b[i], i + 25);
    CHECK_EQ(TIMES8(TIMES8(TIMES8(xy)))(3), 4);
    return RESULT;
}
