/* complex.c - what the compiler calls for * and / of complex numbers where a product or quotient came out as NaN + i NaN, or at
 * all: C11 Annex G.5.1.  An infinite operand makes an infinite result, also where the textbook formula says NaN.  The quotient is
 * formed with the divisor scaled to near 1 by a power of two, so that its square neither overflows nor vanishes. */
#include "devicertl/arch.h"

#define HIDDEN __attribute__((visibility("hidden")))

/* 2^-k for the x >= 0 of 2^k <= x < 2^(k+1); 1 for 0, infinity and NaN.  Subnormal numbers are taken as the smallest normal one. */
#define INVERSE_SCALE(T, f, U, digits, bias)                                                                      \
    static T inverse_scale##f(T x)                                                                                \
    {                                                                                                             \
        union { T value; U bits; } u = { .value = x };                                                            \
        U e = u.bits >> (digits);                                                                                 \
        if (x == 0 || !__builtin_isfinite(x))                                                                     \
            return 1;                                                                                             \
        u.bits = (2 * (U)(bias) - (e < 2 ? 2 : e > 2 * (U)(bias) - 1 ? 2 * (U)(bias) - 1 : e)) << (digits);       \
        return u.value;                                                                                           \
    }
INVERSE_SCALE(double, , unsigned long long, 52, 1023)
INVERSE_SCALE(float, f, unsigned, 23, 127)

#define SIGNED_ONE(f, x) __builtin_copysign##f(__builtin_isinf(x) ? 1 : 0, x)
#define NO_NAN(f, x) (__builtin_isnan(x) ? __builtin_copysign##f(0, x) : (x))

#define COMPLEX(T, f, mul, div)                                                                                   \
    HIDDEN _Complex T mul(T, T, T, T);                                                                            \
    HIDDEN _Complex T div(T, T, T, T);                                                                            \
    static _Complex T join##f(T re, T im)                                                                         \
    {                                                                                                             \
        _Complex T z;                                                                                             \
        __real__ z = re;                                                                                          \
        __imag__ z = im;                                                                                          \
        return z;                                                                                                 \
    }                                                                                                             \
    _Complex T mul(T a, T b, T c, T d)                                                                            \
    {                                                                                                             \
        T ac = a * c, bd = b * d, ad = a * d, bc = b * c, x = ac - bd, y = ad + bc;                               \
        int again = 0;                                                                                          \
        if (!__builtin_isnan(x) || !__builtin_isnan(y))                                                           \
            return join##f(x, y);                                                                                 \
        if (__builtin_isinf(a) || __builtin_isinf(b)) {                                                           \
            a = SIGNED_ONE(f, a); b = SIGNED_ONE(f, b); c = NO_NAN(f, c); d = NO_NAN(f, d);                       \
            again = 1;                                                                                            \
        }                                                                                                         \
        if (__builtin_isinf(c) || __builtin_isinf(d)) {                                                           \
            c = SIGNED_ONE(f, c); d = SIGNED_ONE(f, d); a = NO_NAN(f, a); b = NO_NAN(f, b);                       \
            again = 1;                                                                                            \
        }                                                                                                         \
        if (!again && (__builtin_isinf(ac) || __builtin_isinf(bd) || __builtin_isinf(ad) || __builtin_isinf(bc))) { \
            a = NO_NAN(f, a); b = NO_NAN(f, b); c = NO_NAN(f, c); d = NO_NAN(f, d);                               \
            again = 1;                                                                                            \
        }                                                                                                         \
        const T inf = __builtin_inf##f();                                                                         \
        return again ? join##f(inf * (a * c - b * d), inf * (a * d + b * c)) : join##f(x, y);                     \
    }                                                                                                             \
    _Complex T div(T a, T b, T c, T d)                                                                            \
    {                                                                                                             \
        const T inf = __builtin_inf##f(), larger = __builtin_fabs##f(c) > __builtin_fabs##f(d) ? __builtin_fabs##f(c) : __builtin_fabs##f(d); \
        const T s = inverse_scale##f(larger), u = c * s, v = d * s, n = u * u + v * v;                            \
        T x = (a * u + b * v) / n * s, y = (b * u - a * v) / n * s;                                               \
        if (!__builtin_isnan(x) || !__builtin_isnan(y))                                                           \
            return join##f(x, y);                                                                                 \
        if (n == 0 && (!__builtin_isnan(a) || !__builtin_isnan(b)))                                               \
            return join##f(__builtin_copysign##f(inf, c) * a, __builtin_copysign##f(inf, c) * b);                 \
        if ((__builtin_isinf(a) || __builtin_isinf(b)) && __builtin_isfinite(c) && __builtin_isfinite(d)) {       \
            a = SIGNED_ONE(f, a); b = SIGNED_ONE(f, b);                                                           \
            return join##f(inf * (a * c + b * d), inf * (b * c - a * d));                                         \
        }                                                                                                         \
        if ((__builtin_isinf(c) || __builtin_isinf(d)) && __builtin_isfinite(a) && __builtin_isfinite(b)) {       \
            c = SIGNED_ONE(f, c); d = SIGNED_ONE(f, d);                                                           \
            return join##f(0 * (a * c + b * d), 0 * (b * c - a * d));                                             \
        }                                                                                                         \
        return join##f(x, y);                                                                                     \
    }
COMPLEX(double, , __muldc3, __divdc3)
COMPLEX(float, f, __mulsc3, __divsc3)
