/* types in regions: local structs, unnamed structs, typedefs of arrays and functions, enums, _Complex, pointers to everything */ /* also: -O0 -g */
#include <stdbool.h>
#include <stdint.h>
#include "check.h"

typedef double matrix[3][4];
typedef int (*operation)(int, int);
static int add(int a, int b) { return a + b; }
static int mul(int a, int b) { return a * b; }
static struct { int count; struct { char tag[4]; } in[2]; } unnamed = { 1, { { "ab" }, { "cd" } } };

/* Shifts of 128 bits by a count that varies. */
struct shifted { unsigned __int128 left, right, one_off; __int128 arithmetic; unsigned _BitInt(77) bits; };
static struct shifted shift(int n, unsigned __int128 x)
{
    return (struct shifted){ x << n, x >> n, x & ~((unsigned __int128)1 << n), (__int128)x >> n, (unsigned _BitInt(77))x >> n % 77 };
}
static void test_shifts(void)
{
    enum { COUNTS = 128 };
    unsigned __int128 x = (unsigned __int128)0xfedcba9876543210 << 64 | 0x8123456789abcdef;
    struct shifted got[COUNTS];
#pragma omp target teams distribute parallel for map(from: got)
    for (int i = 0; i < COUNTS; i++)
        got[i] = shift(i, x);
    for (int i = 0; i < COUNTS; i++) {
        struct shifted e = shift(i, x), g = got[i];
        CHECK(g.left == e.left && g.right == e.right && g.one_off == e.one_off && g.arithmetic == e.arithmetic && g.bits == e.bits);
    }
}

int main(void)
{
    test_shifts();
    struct local { int x; struct inner { double y; } in; } l = { 1, { 2 } };
    struct { int p, q; } pair = { 3, 4 }, pairs[3] = { { 1, 1 }, { 2, 2 }, { 3, 3 } };
    typedef struct { short h; } half;
    typedef int row[5];
    enum mode { OFF, ON = 7, AUTO } mode = ON;
    half hs = { 8 };
    row r = { 1, 2, 3, 4, 5 };
    matrix m = { { 1 }, { 2 }, { 3 } };
    int on = 0, out[8] = { 0 };
    bool yes = true;
    int8_t small = -5;
    uint64_t wide = UINT64_MAX;
    const char *str = "host";
    __int128 huge = (__int128)1 << 100;

#pragma omp target map(tofrom: l, pair, on, out, hs, mode, yes) map(tofrom: pairs[1:2])
    {
        struct local copy = { .x = l.x + 1, .in = { l.in.y * 2 } };
        struct only_here { int z[2]; } o = { { 5, 6 } };
        union { float f; uint32_t u; } pun = { .f = 1.0f };
        half other = { (short)(hs.h + 1) };
        row t = { 0 };
        on = ON_DEVICE;
        l = copy;
        pair.p += pair.q + o.z[1];
        pairs[2].q = pairs[1].p;
        hs = other;
        for (int i = 0; i < 5; i++)
            t[i] = r[i] * 2;
        out[0] = t[4] + (int)m[2][0] + unnamed.count + unnamed.in[1].tag[0];
        mode = mode == ON ? AUTO : OFF;
        yes = !yes;
        out[1] = small + (wide == UINT64_MAX);
        out[2] = (int)sizeof(struct local) + (int)sizeof m;
        out[3] = (int)(pun.u >> 23);
        out[4] = str != 0;
        out[5] = (int)(huge >> 98);
        unnamed.count = 2;
    }
    CHECK(on);
    CHECK(l.x == 2 && l.in.y == 4 && pair.p == 13 && pairs[2].q == 2 && pairs[0].q == 1 && hs.h == 9);
    CHECK(mode == AUTO && !yes && unnamed.count == 2);
    CHECK_EQ(out[0], 10 + 3 + 1 + 'c');
    CHECK_EQ(out[1], -4);
    CHECK_EQ(out[2], sizeof(struct local) + sizeof m);
    CHECK_EQ(out[3], 127);
    CHECK_EQ(out[5], 4);
#pragma omp target teams distribute parallel for map(from: out)
    for (int i = 0; i < 8; i++) {        /* function pointers made on the device */
        operation f = i & 1 ? add : mul, table[2] = { add, mul };
        struct local t = { i, { i * 0.5 } };
        out[i] = f(i, 3) + table[i % 2](t.x, 2) + (int)(2 * t.in.y);
    }
    struct packed { int x; char c; } __attribute__((packed, annotate(") struct {;"))) tight = { 1, ';' };
    typedef struct { int y[2]; } __attribute__((aligned(16), annotate("("))) wide_pair /* ; */;
    wide_pair w = { { 3, 4 } };
    int sum = 0;
#pragma omp target map(from: sum) firstprivate(tight, w)
    {
        struct packed copy = tight;
        sum = copy.x + copy.c + w.y[1] + (int)sizeof(struct packed) + (int)_Alignof(wide_pair);
    }
    CHECK_EQ(sum, 1 + ';' + 4 + 5 + 16);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(out[i], (i & 1 ? i + 3 : i * 3) + (i % 2 ? i * 2 : i + 2) + i);
    return RESULT;
}
