/* clauses and reductions that name types and enumeration constants of a function, also ones that hide others */ /* also: -O0 -g */
#include "check.h"

enum { LEN = 100, N = 300 };
typedef int loc;

static void local(void)
{
    struct local { short s; union { int i; unsigned u; } v; } x = { 1, { 2 } }, y = x;
    typedef struct local loc;
    enum { LEN = 5, TWO = 2 };
#pragma omp declare reduction(+ : loc : (omp_out.s += omp_in.s, omp_out.v.i += omp_in.v.i)) initializer(omp_priv = (loc){ 0, { 0 } })
#pragma omp declare reduction(times : struct local : omp_out = (struct local){ omp_out.s * omp_in.s, { omp_out.v.i * omp_in.v.i } }) \
    initializer(omp_priv = (struct local){ 1, { sizeof(loc) / sizeof(struct local) } })
    int z[LEN][2] = { { 0 } }, on = 0;
#pragma omp target teams distribute parallel for reduction(+ : x) reduction(times : y) reduction(+ : z[1 : LEN - TWO][0 : TWO]) map(tofrom : on)
    for (int i = 0; i < N; i++) {
        x.s++;
        x.v.i += 2;
        if (i % 100 == 7) y.s *= 2, y.v.i *= TWO + 1;
        z[1 + i % (LEN - 2)][i & 1] += 1;
        if (i == 0) on = ON_DEVICE;
    }
    CHECK(on && x.s == 1 + N && x.v.i == 2 + 2 * N && y.s == 8 && y.v.i == 54);
    CHECK(z[0][0] == 0 && z[1][0] == 50 && z[3][1] == 50 && z[4][1] == 0);
    {
        enum { LEN = 3 };
        typedef long loc;
        long w[LEN] = { 0 }, v = 0;
#pragma omp declare reduction(wide : loc : omp_out += omp_in) initializer(omp_priv = (loc)0)
#pragma omp target parallel for num_threads(LEN * 11) reduction(+ : w[0 : LEN]) reduction(wide : v) schedule(static, LEN)
        for (int i = 0; i < N; i++) {
            w[i % LEN]++;
            v += 1L << 33;
        }
        CHECK(w[0] == 100 && w[2] == 100 && v == N * (1L << 33));
    }
#pragma omp target parallel for num_threads(LEN) reduction(max : on)
    for (int i = 0; i < N; i++)
        if (omp_get_num_threads() * 10 > on) on = omp_get_num_threads() * 10;
    CHECK_EQ(on, 50);
}

int main(void)
{
    loc g[LEN] = { 0 };
    local();
#pragma omp target teams distribute parallel for reduction(+ : g[0 : LEN]) num_teams(3)
    for (int i = 0; i < N; i++) g[i % LEN] += (loc)i;
    CHECK_EQ(g[LEN - 1], 99 + 199 + 299);
    return RESULT;
}
