/* math.h in a region: double and float versions against the host's, within a few units in the last place */
#define _GNU_SOURCE
#include <math.h>
#include "check.h"

enum { N = 64, F = 40 };
#define EACH1(X) X(0, sin) X(1, cos) X(2, tan) X(3, asin) X(4, acos) X(5, atan) X(6, sinh) X(7, cosh) X(8, tanh) X(9, exp) X(10, exp2) \
    X(11, expm1) X(12, log) X(13, log2) X(14, log10) X(15, log1p) X(16, sqrt) X(17, cbrt) X(18, fabs) X(19, floor) X(20, ceil) X(21, trunc) \
    X(22, round) X(23, rint) X(24, erf) X(25, erfc) X(26, tgamma) X(27, lgamma) X(28, asinh) X(29, nearbyint)
#define EACH2(X) X(30, pow) X(31, fmod) X(32, atan2) X(33, hypot) X(34, fmin) X(35, fmax) X(36, copysign) X(37, remainder) X(38, fdim)
#define DEV1(i, fn) d[i][k] = fn(x); s[i][k] = fn##f((float)x);
#define DEV2(i, fn) d[i][k] = fn(x, 0.75 + x * x); s[i][k] = fn##f((float)x, 0.75f + (float)x * (float)x);
#define HOST1(i, fn) CHECK_NEAR(d[i][k], fn(x), 1e-13); CHECK_NEAR(s[i][k], fn##f((float)x), 4e-6);
#define HOST2(i, fn) CHECK_NEAR(d[i][k], fn(x, 0.75 + x * x), 1e-13); CHECK_NEAR(s[i][k], fn##f((float)x, 0.75f + (float)x * (float)x), 4e-6);
static double d[F][N];
static float s[F][N];

int main(void)
{
    int on = 0, whole[8], expo = 0;
    double parts[6], ip = 0;

#pragma omp target teams distribute parallel for map(from: d, s) map(tofrom: on)
    for (int k = 0; k < N; k++) {
        double x = (k + 1) / 65.0;
        EACH1(DEV1)
        EACH2(DEV2)
        d[39][k] = fma(x, 3, 1), s[39][k] = fmaf((float)x, 3, 1);
        on = ON_DEVICE;
    }
    CHECK(on);
    for (int k = 0; k < N; k++) {
        double x = (k + 1) / 65.0;
        EACH1(HOST1)
        EACH2(HOST2)
        CHECK_EQ(d[39][k], fma(x, 3, 1));
    }
    double nan_ = nan(""), inf = INFINITY;
#pragma omp target map(from: whole, parts) map(tofrom: expo, ip)
    {
        whole[0] = isnan(nan_) && !isnan(inf);
        whole[1] = isinf(inf) != 0;
        whole[2] = signbit(-0.0) != 0;
        whole[3] = isfinite(ip) != 0;
        whole[4] = (int)lround(2.5) + (int)lrint(3.2);
        whole[5] = ilogb(40.0);
        whole[6] = abs(-4) + (int)labs(-5L);
        whole[7] = (int)fmin(7.5, inf);
        parts[0] = frexp(40.0, &expo);
        parts[1] = modf(3.75, &ip);
        parts[2] = ldexp(0.75, 4);
        parts[3] = scalbn(1.5, 3);
        sincos(0.5, &parts[4], &parts[5]);
    }
    CHECK(whole[0] && whole[1] && whole[2] && whole[3]);
    CHECK_EQ(whole[4], 6);
    CHECK_EQ(whole[5], 5);
    CHECK_EQ(whole[6], 9);
    CHECK_EQ(whole[7], 7);
    CHECK(parts[0] == 0.625 && expo == 6 && parts[1] == 0.75 && ip == 3);
    CHECK(parts[2] == 12 && parts[3] == 12);
    CHECK_NEAR(parts[4], sin(0.5), 1e-14);
    CHECK_NEAR(parts[5], cos(0.5), 1e-14);
    return RESULT;
}
