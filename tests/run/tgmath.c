/* <tgmath.h> in regions, and overloaded functions of the program's */ /* also: -O0 -g */
#include "check.h"
#include <tgmath.h>

enum { N = 24 };
#define OVERLOADED __attribute__((overloadable))

static int OVERLOADED size_of(float x) { return x == x ? 4 : 0; }
static int OVERLOADED size_of(double x) { return x == x ? 8 : 0; }
static int OVERLOADED size_of(int x, int y) { return x + y; }
static int OVERLOADED only_on_host(float x) { return (int)x; }
static int OVERLOADED only_on_host(long double x) { return (int)(x + 1.5L); }

#pragma omp begin declare target
static void OVERLOADED scale(float *x);
static void OVERLOADED scale(double *x) { *x *= 3; }
static void OVERLOADED scale(float *x) { *x *= 2; }

static void compute(double *r, float f, double d, int n, float _Complex g, double _Complex z)
{
    r[0] = sin(d) + cos(f) + tan(n);
    r[1] = sizeof sin(f) + 10 * sizeof sin(n) + 100 * sizeof exp(g) + 1000 * sizeof exp(z);
    r[2] = pow(f, n) + pow(d, f);
    r[3] = sqrt(f) + sqrt(d) + sqrt(n);
    r[4] = fabs(-f) + fabs(-d) + fabs(z) + fabs(g);
    r[5] = creal(exp(z)) + cimag(exp(g));
    r[6] = fmax(f, d) + fmin(n, d) + fdim(d, f);
    r[7] = carg(z) + creal(conj(g)) + creal(cproj(z)) + cimag(d);
    r[8] = floor(f) + ceil(d) + round(d) + trunc(f) + rint(d) + nearbyint(f);
    r[9] = fma(f, d, n) + hypot(d, d) + atan2(d, f);
    r[10] = creal(pow(z, g)) + cimag(sqrt(z)) + creal(log(z)) + cimag(sin(g));
    r[11] = creal(tanh(z)) + cimag(acos(z)) + creal(atanh(g));
    int e = 0;
    r[12] = frexp(d, &e) + e + ldexp(f, 3) + scalbn(d, 2) + ilogb(d) + logb(f);
    r[13] = cbrt(d) + erf(f) + erfc(d) + lgamma(d) + tgamma(f) + exp2(d) + expm1(f) + log1p(d) + log2(f) + log10(d);
    r[14] = lround(d) + llround(f) + lrint(d) + llrint(f);
    r[15] = copysign(d, -f) + fmod(d, f) + remainder(d, f) + nextafter(f, 9);
    r[16] = size_of(f) + 10 * size_of(d) + 100 * size_of(n, n);
    scale(&f);
    scale(&d);
    r[17] = f + d;
}
#pragma omp end declare target

int main(void)
{
    double here[N] = { 0 }, there[N] = { 0 };
    int on = 0, n = 3;
    float f = 0.75f;
    double d = 1.25;
    float _Complex g = 0.5f + 0.25f * I;
    double _Complex z = 3 + 4 * I;
    compute(here, f, d, n, g, z);
#pragma omp target map(tofrom: there, on)
    {
        compute(there, f, d, n, g, z);
        there[18] = sinh(f) + sin(d);
        there[19] = 0;
#pragma omp parallel for
        for (int i = 0; i < 4; i++)
            if (i == 2)
                there[19] = exp(f * i) + size_of(d * i);
        on = ON_DEVICE;
    }
    here[18] = sinh(f) + sin(d);
    here[19] = exp(f * 2) + size_of(d * 2);
    CHECK(on);
    CHECK_EQ(only_on_host(1.f) + only_on_host(1.L), 3);
    CHECK_EQ(asinh(0.f) + asinh(0.) + asinh(0.L) + sqrt(4.L) + sqrt(9.f), 5);
    CHECK_EQ(there[1], 4 + 80 + 800 + 16000);
    CHECK_EQ(there[16], 684);
    for (int i = 0; i < 20; i++)
        CHECK_NEAR(there[i], here[i], 1e-6 * (1 + fabs(here[i])));
    return RESULT;
}
