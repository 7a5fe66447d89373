/* sizes: a struct by value of 1 KiB, copies, a large array, many iterations with 1 and many threads */
#include "check.h"

#ifdef OMPGPU_LONG
enum { N = 1 << 18, TEAMS = 500, MANY = 100000 };
#else
enum { N = 1 << 14, TEAMS = 70, MANY = 10000 };
#endif

struct kib { int v[256]; };
struct tail { short s[67]; };
struct bytes { char c[131]; };
struct aligned { _Alignas(16) int v[45]; };

/* copies and fills of other sizes and alignments, and what lies beside them */
static void copies(void)
{
    struct { char before; struct tail t; struct bytes b; struct aligned a; struct kib k; char after; } x[3] = { 0 };
    struct tail t;
    struct bytes b;
    struct aligned a;
    for (int i = 0; i < 67; i++)
        t.s[i] = (short)(1000 + i);
    for (int i = 0; i < 131; i++)
        b.c[i] = (char)i;
    for (int i = 0; i < 45; i++)
        a.v[i] = i * i;
    memset(x, 7, sizeof x);
#pragma omp target map(tofrom: x) firstprivate(t, b, a)
    for (int i = 0; i < 3; i++) {
        struct tail mine = t;
        mine.s[66] += i;
        x[i].t = mine, x[i].b = b, x[i].a = a, x[i].k = (struct kib){ { i } };
    }
    for (int i = 0; i < 3; i++) {
        t.s[66] = (short)(1066 + i);
        CHECK(!memcmp(&x[i].t, &t, sizeof t) && !memcmp(&x[i].b, &b, sizeof b) && !memcmp(x[i].a.v, a.v, sizeof a.v));
        CHECK(x[i].before == 7 && x[i].after == 7 && x[i].k.v[0] == i);
        for (int k = 1; k < 256; k++)
            CHECK_EQ(x[i].k.v[k], 0);
    }
}

int main(void)
{
    struct kib k = { { 5, [255] = 6 } };
    int *big = malloc(N * sizeof *big), on = 0, bad = 0;
    double s = 0;

#pragma omp target firstprivate(k) map(tofrom: on)
    {
        k.v[1] = k.v[0] + k.v[255];
        on = ON_DEVICE ? k.v[1] : 0;
    }
    CHECK_EQ(on, 11);
#pragma omp target teams distribute parallel for firstprivate(k) map(from: big[0:N])
    for (int i = 0; i < N; i++)
        big[i] = i + k.v[i & 255];
    for (int i = 0; i < N; i++)
        bad += big[i] != i + ((i & 255) == 0 ? 5 : (i & 255) == 255 ? 6 : 0);
    CHECK_EQ(bad, 0);
#pragma omp target teams distribute parallel for num_teams(1) thread_limit(1) reduction(+: s) map(to: big[0:N])
    for (int i = 0; i < MANY; i++)
        s += big[i] & 1;
#pragma omp target teams distribute parallel for num_teams(TEAMS) thread_limit(1000) reduction(+: s) map(to: big[0:N])
    for (int i = 0; i < MANY; i++)
        s += big[i] & 1;
    double h = 0;
    for (int i = 0; i < MANY; i++)
        h += 2 * (big[i] & 1);
    CHECK_EQ(s, h);
    free(big);
    copies();
    return RESULT;
}
