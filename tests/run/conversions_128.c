/* conversions between integers of more than 64 bits and floating point */
#include "check.h"
#include <stdint.h>

typedef __int128 wide;
typedef unsigned __int128 uwide;
typedef _BitInt(100) hundred;
enum { N = 512 };

static struct converted {
    double d, ud, hd;
    float f, uf;
    _Float16 h;
    wide of_double, of_float, of_half;
    uwide u_of_double, u_of_float;
    hundred h_of_double;
} device[N], host[N];

/* Any exponent; the bits around where a double and a float end are all zero, all one or neither. */
static wide integer(int i)
{
    uint64_t s = (uint64_t)i * 0x9e3779b97f4a7c15;
    uwide x = ((uwide)(s ^ s >> 29) << 64 | s * 0xbf58476d1ce4e5b9) | (uwide)1 << 127;
    int lost = i % 3 == 0 ? 127 - 53 : i % 3 == 1 ? 127 - 24 : 3;
    if (i % 5)
        x = (x >> lost << lost) | (i % 5 == 1 ? (uwide)1 << (lost - 1) : i % 5 == 2 ? ((uwide)1 << (lost - 1)) - 1 : 0);
    x >>= i * 7 % 128;
    return i % 2 ? -(wide)x : (wide)x;
}

/* Less than 2^99, or than 2^15: larger ones are undefined for one type or another. */
static double real(int i, int bits)
{
    double x = 1 + (double)(i * 2654435761u % 4096) / 4096;
    for (int k = i * 5 % (bits + 3) - 4; k > 0; k--)
        x *= 2;
    return (i & 1 ? -x : x) * (i % 7 ? 1 : 0.25);
}

static void convert(int i, struct converted *c)
{
    wide w = integer(i), small = w % 60000;
    double x = real(i, 98), y = x < 0 ? -x : x, z = real(i, 14);
    *c = (struct converted){ .d = (double)w, .ud = (double)(uwide)w, .hd = (double)(hundred)w, .f = (float)w,
                             .uf = (float)((uwide)w >> 1), .h = (_Float16)small, .of_double = (wide)x,
                             .of_float = (wide)(float)x, .of_half = (wide)(_Float16)z, .u_of_double = (uwide)y,
                             .u_of_float = (uwide)(float)y, .h_of_double = (hundred)x };
}

int main(void)
{
#pragma omp target teams distribute parallel for map(from: device)
    for (int i = 0; i < N; i++)
        convert(i, &device[i]);
    for (int i = 0; i < N; i++) {
        convert(i, &host[i]);
        struct converted *a = &device[i], *b = &host[i];
        CHECK(a->d == b->d && a->ud == b->ud && a->hd == b->hd);
        CHECK(a->f == b->f && a->uf == b->uf);
        CHECK(a->h == b->h && a->of_half == b->of_half);
        CHECK(a->of_double == b->of_double && a->of_float == b->of_float);
        CHECK(a->u_of_double == b->u_of_double && a->u_of_float == b->u_of_float);
        CHECK(a->h_of_double == b->h_of_double);
    }
    return RESULT;
}
