/* math_nvptx64.c - the C library's math functions over libdevice: one row a function.
 *
 * The emulated device's image links to libm instead.  long double is not here: device and host
 * disagree about it.
 */
#ifdef __NVPTX__
#include "devicertl/arch.h"

/* The argument types by kind of function; T is double or float. */
#define ARGS_1(T) (T x), (x)
#define ARGS_2(T) (T x, T y), (x, y)
#define ARGS_3(T) (T x, T y, T z), (x, y, z)
#define ARGS_TI(T) (T x, int n), (x, n)
#define ARGS_IT(T) (int n, T x), (n, x)
#define ARGS_TIP(T) (T x, int *p), (x, p)
#define ARGS_TTP(T) (T x, T * p), (x, p)
#define ARGS_2IP(T) (T x, T y, int *p), (x, y, p)
#define ARGS_TPP(T) (T x, T * p, T * q), (x, p, q)

#define DEFINE2(result, name, nv, params, args)                                                    \
    result name params;                                                                            \
    extern result nv params;                                                                       \
    result name params { return nv args; }
#define DEFINE1(...) DEFINE2(__VA_ARGS__)

/* Result of the function's own type T, or of the fixed type R; the names in libdevice are __nv_NAME
 * and __nv_NAMEf. */
#define SAME(name, kind)                                                                           \
    DEFINE1(double, name, __nv_##name, ARGS_##kind(double))                                        \
    DEFINE1(float, name##f, __nv_##name##f, ARGS_##kind(float))
#define FIXED(R, name, kind)                                                                       \
    DEFINE1(R, name, __nv_##name, ARGS_##kind(double))                                             \
    DEFINE1(R, name##f, __nv_##name##f, ARGS_##kind(float))

/* trigonometric, hyperbolic */
SAME(sin, 1)
SAME(cos, 1)
SAME(tan, 1)
SAME(asin, 1)
SAME(acos, 1)
SAME(atan, 1)
SAME(atan2, 2)
SAME(sinh, 1)
SAME(cosh, 1)
SAME(tanh, 1)
SAME(asinh, 1)
SAME(acosh, 1)
SAME(atanh, 1)
FIXED(void, sincos, TPP)
/* exponential, power */
SAME(exp, 1)
SAME(exp2, 1)
SAME(exp10, 1)
SAME(expm1, 1)
SAME(log, 1)
SAME(log2, 1)
SAME(log10, 1)
SAME(log1p, 1)
SAME(logb, 1)
FIXED(int, ilogb, 1)
SAME(pow, 2)
SAME(sqrt, 1)
SAME(cbrt, 1)
SAME(hypot, 2)
SAME(ldexp, TI)
SAME(scalbn, TI)
SAME(frexp, TIP)
SAME(modf, TTP)
/* rounding, remainder */
SAME(floor, 1)
SAME(ceil, 1)
SAME(trunc, 1)
SAME(round, 1)
SAME(rint, 1)
SAME(nearbyint, 1)
SAME(fmod, 2)
SAME(remainder, 2)
SAME(remquo, 2IP)
/* comparison, sign */
SAME(fabs, 1)
SAME(fmin, 2)
SAME(fmax, 2)
SAME(fdim, 2)
SAME(fma, 3)
SAME(copysign, 2)
SAME(nextafter, 2)
/* special */
SAME(erf, 1)
SAME(erfc, 1)
SAME(tgamma, 1)
SAME(lgamma, 1)
SAME(j0, 1)
SAME(j1, 1)
SAME(jn, IT)
SAME(y0, 1)
SAME(y1, 1)
SAME(yn, IT)

/* Where libdevice's type differs from C's: long is 64 bits, its ll functions give long long. */
#define AS_LONG(name, nv)                                                                          \
    DEFINE1(long long, ll##name, __nv_ll##name, ARGS_1(double))                                    \
    DEFINE1(long long, ll##name##f, __nv_ll##name##f, ARGS_1(float))                               \
    long l##name(double);                                                                          \
    long l##name##f(float);                                                                        \
    long l##name(double x) { return (long)__nv_ll##name(x); }                                      \
    long l##name##f(float x) { return (long)__nv_ll##name##f(x); }
AS_LONG(rint, llrint)
AS_LONG(round, llround)

/* No libdevice function. */
#define CLAMP_INT(n) ((n) > 100000 ? 100000 : (n) < -100000 ? -100000 : (int)(n))
double scalbln(double, long), roundeven(double), drem(double, double), pow10(double), gamma(double);
float scalblnf(float, long), roundevenf(float), dremf(float, float), pow10f(float), gammaf(float);
double scalbln(double x, long n) { return __nv_scalbn(x, CLAMP_INT(n)); }
float scalblnf(float x, long n) { return __nv_scalbnf(x, CLAMP_INT(n)); }
/* the device always rounds to nearest even */
double roundeven(double x) { return __nv_rint(x); }
float roundevenf(float x) { return __nv_rintf(x); }
double drem(double x, double y) { return __nv_remainder(x, y); }
float dremf(float x, float y) { return __nv_remainderf(x, y); }
double pow10(double x) { return __nv_exp10(x); }
float pow10f(float x) { return __nv_exp10f(x); }
double gamma(double x) { return __nv_lgamma(x); }
float gammaf(float x) { return __nv_lgammaf(x); }

double nan(const char *);
float nanf(const char *);
double nan(const char *tag)
{
    (void)tag;
    return __builtin_nan("");
}
float nanf(const char *tag)
{
    (void)tag;
    return __builtin_nanf("");
}

/* What the macros of glibc's math.h call; the numbers of __fpclassify are glibc's FP_NAN …
 * FP_NORMAL. */
#define CLASSIFY(T, f, isinf_sign)                                                                 \
    int __isnan##f(T), __isinf##f(T), __finite##f(T), __signbit##f(T), __fpclassify##f(T),         \
        isnan##f(T), isinf##f(T), finite##f(T);                                                    \
    int __isnan##f(T x) { return __builtin_isnan(x); }                                             \
    int __isinf##f(T x) { return isinf_sign(x); }                                                  \
    int __finite##f(T x) { return __builtin_isfinite(x); }                                         \
    int __signbit##f(T x) { return __builtin_signbit##f(x); }                                      \
    int __fpclassify##f(T x) { return __builtin_fpclassify(0, 1, 4, 3, 2, x); }                    \
    int isnan##f(T x) { return __builtin_isnan(x); }                                               \
    int isinf##f(T x) { return isinf_sign(x); }                                                    \
    int finite##f(T x) { return __builtin_isfinite(x); }
CLASSIFY(double, , __builtin_isinf_sign)
CLASSIFY(float, f, __builtin_isinf_sign)
#endif
