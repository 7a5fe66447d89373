/* the types that reduction_ops.c leaves out: 128-bit integers, complex, _Float16, enum, _Bool in every operator; modifiers */ /* gpus: all */
#include <complex.h>
#include <limits.h>
#include "check.h"

enum { N = 400 };
enum colour { RED, GREEN = 5, BLUE = 9 };
typedef __int128 wide;
typedef unsigned __int128 uwide;

static wide big(int i) { return ((wide)(i * 7919 % 401 - 200) << 70) + i; }

static void integers(void)
{
    wide sum = -5, hs = sum, max = -((wide)1 << 126), hx = max, min = (wide)1 << 126, hn = min, prod = 1, hp = 1;
    uwide bits = 0, hb = 0, all = ~(uwide)0, ha = all, flip = 3, hf = 3;
    enum colour most = RED;
    _Bool any = 0, every = 1, xor = 0, plus = 0, hxor = 0;
    int on = 0, and = 1, or = 0;
#pragma omp target teams distribute parallel for num_teams(5) reduction(default, +: sum) reduction(max: max, most) reduction(min: min) \
    reduction(*: prod) reduction(|: bits) reduction(&: all, every) reduction(^: flip, xor) reduction(||: any, or) reduction(&&: and)    \
    reduction(+: plus) map(tofrom: on)
    for (int i = 0; i < N; i++) {
        wide x = big(i);
        sum += x;
        max = x > max ? x : max;
        min = x < min ? x : min;
        prod *= i % 100 == 0 ? ((wide)1 << 20) + 1 : 1;
        bits |= (uwide)1 << (i % 128);
        all &= ~((uwide)1 << (i % 100));
        flip ^= (uwide)x;
        xor ^= i % 3 == 0;
        any = any || i == 399;
        or = or || i == 1000;
        and = and && i < N;
        plus += i == 7;
        every &= i >= 0;
        most = i == 100 ? BLUE : most;
        on = ON_DEVICE;
    }
    for (int i = 0; i < N; i++) {
        wide x = big(i);
        hs += x;
        hx = x > hx ? x : hx;
        hn = x < hn ? x : hn;
        hp *= i % 100 == 0 ? ((wide)1 << 20) + 1 : 1;
        hb |= (uwide)1 << (i % 128);
        ha &= ~((uwide)1 << (i % 100));
        hf ^= (uwide)x;
        hxor ^= i % 3 == 0;
    }
    CHECK(on && sum == hs && max == hx && min == hn && prod == hp && bits == hb && all == ha && flip == hf && xor == hxor);
    CHECK(any && every && and && !or && plus && most == BLUE);
}

static void complexes(void)
{
    double complex sum = 1 + 2 * I, prod = 1, hs = sum, hp = 1;
    float complex fs = 0, fp = 1, hf = 0, hfp = 1;
    double _Complex list[30] = { 0 }, hl[30] = { 0 };
    int on = 0;
#pragma omp target teams distribute parallel for num_teams(3) reduction(+: sum, fs, list) reduction(*: prod, fp) map(tofrom: on)
    for (int i = 0; i < 64; i++) {
        sum += i - 2 * i * I;
        fs -= i * I;
        prod *= i % 2 ? I : 1 + I;
        fp *= i % 2 ? -I : 1;
        list[i % 30] += i + I;
        on = ON_DEVICE;
    }
    for (int i = 0; i < 64; i++) {
        hs += i - 2 * i * I;
        hf -= i * I;
        hp *= i % 2 ? I : 1 + I;
        hfp *= i % 2 ? -I : 1;
        hl[i % 30] += i + I;
    }
    CHECK(on && sum == hs && fs == hf && prod == hp && fp == hfp);
    for (int i = 0; i < 30; i++)
        CHECK(list[i] == hl[i]);
}

static void halves(void)
{
    _Float16 sum = 1, max = -100, min = 100;
    int on = 0;
#pragma omp target teams distribute parallel for num_teams(3) reduction(+: sum) reduction(max: max) reduction(min: min) map(tofrom: on)
    for (int i = 0; i < 100; i++) {
        _Float16 x = (_Float16)(i % 10 - 4);
        sum += x;
        max = x > max ? x : max;
        min = x < min ? x : min;
        on = ON_DEVICE;
    }
    CHECK(on && (float)sum == 51 && (float)max == 5 && (float)min == -4);
}

static void division(void)
{
    wide q = 0, h = 0, r = 0, hr = 0;
    uwide u = 0, hu = 0;
    double complex z = 0, hz = 0;
#pragma omp target parallel for reduction(+: q, r, u, z) num_threads(40)
    for (int i = 1; i < 200; i++) {
        q += big(i) / (i - 300);
        r += big(i) % ((wide)i << 66);
        u += ~(uwide)0 / (uwide)(i * 3) % (((uwide)i << 40) + 7);
        z += (i * 2.0 + i * 4.0 * I) / (1.0 + I * (double)(i > 0));
    }
    for (int i = 1; i < 200; i++) {
        h += big(i) / (i - 300);
        hr += big(i) % ((wide)i << 66);
        hu += ~(uwide)0 / (uwide)(i * 3) % (((uwide)i << 40) + 7);
        hz += (i * 2.0 + i * 4.0 * I) / (1.0 + I * (double)(i > 0));
    }
    CHECK(q == h && r == hr && u == hu);
    CHECK_NEAR(creal(z), creal(hz), 1e-12);
    CHECK_NEAR(cimag(z), cimag(hz), 1e-12);
}

int main(void)
{
    integers();
    complexes();
    halves();
    division();
    return RESULT;
}
