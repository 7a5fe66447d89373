/* builtins.c - functions that the compiler calls for operations that the hardware does not have, as
 * libgcc has them for the host: complex multiplication and division (C11 annex G), and on the
 * emulated device 128-bit division and _Float16 conversions (the NVPTX backend expands the former
 * and the GPU has the latter). */
#include "devicertl/arch.h"

/* ------------------------------------------------------------------ complex
 * The plain formula; only where it gives NaN for both parts infinities are looked for. */
#define MULTIPLY(name, T, copysign)                                                                \
    T _Complex name(T, T, T, T);                                                                   \
    T _Complex name(T a, T b, T c, T d)                                                            \
    {                                                                                              \
        T ac = a * c, bd = b * d, ad = a * d, bc = b * c, x = ac - bd, y = ad + bc;                \
        if (__builtin_isnan(x) && __builtin_isnan(y)) {                                            \
            _Bool again = 0;                                                                       \
            if (__builtin_isinf(a) || __builtin_isinf(b)) {                                        \
                a = copysign(__builtin_isinf(a) ? 1 : 0, a),                                       \
                b = copysign(__builtin_isinf(b) ? 1 : 0, b);                                       \
                c = __builtin_isnan(c) ? copysign(0, c) : c,                                       \
                d = __builtin_isnan(d) ? copysign(0, d) : d;                                       \
                again = 1;                                                                         \
            }                                                                                      \
            if (__builtin_isinf(c) || __builtin_isinf(d)) {                                        \
                c = copysign(__builtin_isinf(c) ? 1 : 0, c),                                       \
                d = copysign(__builtin_isinf(d) ? 1 : 0, d);                                       \
                a = __builtin_isnan(a) ? copysign(0, a) : a,                                       \
                b = __builtin_isnan(b) ? copysign(0, b) : b;                                       \
                again = 1;                                                                         \
            }                                                                                      \
            if (!again && (__builtin_isinf(ac) || __builtin_isinf(bd) || __builtin_isinf(ad) ||    \
                           __builtin_isinf(bc))) {                                                 \
                a = __builtin_isnan(a) ? copysign(0, a) : a,                                       \
                b = __builtin_isnan(b) ? copysign(0, b) : b;                                       \
                c = __builtin_isnan(c) ? copysign(0, c) : c,                                       \
                d = __builtin_isnan(d) ? copysign(0, d) : d;                                       \
                again = 1;                                                                         \
            }                                                                                      \
            if (again)                                                                             \
                x = (T)__builtin_inf() * (a * c - b * d),                                          \
                y = (T)__builtin_inf() * (a * d + b * c);                                          \
        }                                                                                          \
        return __builtin_complex(x, y);                                                            \
    }
MULTIPLY(__muldc3, double, __builtin_copysign)
MULTIPLY(__mulsc3, float, __builtin_copysignf)

/* The divisor is scaled by the power of two that brings its larger part next to 1, so that nothing
 * overflows on the way.  `bits` is the layout of T: exponent field, bias and shift. */
#define DIVIDE(name, T, U, copysign, fabs, mantissa, bias)                                         \
    T _Complex name(T, T, T, T);                                                                   \
    T _Complex name(T a, T b, T c, T d)                                                            \
    {                                                                                              \
        T larger = fabs(c) > fabs(d) ? fabs(c) : fabs(d), scale = 1;                               \
        U bits, field;                                                                             \
        __builtin_memcpy(&bits, &larger, sizeof bits);                                             \
        field = bits >> (mantissa);                                                                \
        if (field > 1 && field <= 2 * (bias)) { /* 2^-exponent; of the largest, no normal one */   \
            bits = field == 2 * (bias) ? (U)1 << ((mantissa) - 1)                                  \
                                       : (U)(2 * (bias) - field) << (mantissa);                    \
            __builtin_memcpy(&scale, &bits, sizeof scale);                                         \
        } else if (field <= 1) {                                                                   \
            bits = (U)(2 * (bias) - 1) << (mantissa);                                              \
            __builtin_memcpy(&scale, &bits, sizeof scale);                                         \
        }                                                                                          \
        c *= scale, d *= scale;                                                                    \
        T q = c * c + d * d, x = (a * c + b * d) / q * scale, y = (b * c - a * d) / q * scale;     \
        if (!__builtin_isnan(x) || !__builtin_isnan(y))                                            \
            return __builtin_complex(x, y);                                                        \
        if (q == 0 && (!__builtin_isnan(a) || !__builtin_isnan(b))) {                              \
            x = copysign((T)__builtin_inf(), c) * a, y = copysign((T)__builtin_inf(), c) * b;      \
        } else if ((__builtin_isinf(a) || __builtin_isinf(b)) && __builtin_isfinite(c) &&          \
                   __builtin_isfinite(d)) {                                                        \
            a = copysign(__builtin_isinf(a) ? 1 : 0, a),                                           \
            b = copysign(__builtin_isinf(b) ? 1 : 0, b);                                           \
            x = (T)__builtin_inf() * (a * c + b * d), y = (T)__builtin_inf() * (b * c - a * d);    \
        } else if ((__builtin_isinf(c) || __builtin_isinf(d)) && __builtin_isfinite(a) &&          \
                   __builtin_isfinite(b)) {                                                        \
            c = copysign(__builtin_isinf(c) ? 1 : 0, c),                                           \
            d = copysign(__builtin_isinf(d) ? 1 : 0, d);                                           \
            x = 0 * (a * c + b * d), y = 0 * (b * c - a * d);                                      \
        }                                                                                          \
        return __builtin_complex(x, y);                                                            \
    }
DIVIDE(__divdc3, double, u64, __builtin_copysign, __builtin_fabs, 52, 1023)
DIVIDE(__divsc3, float, u32, __builtin_copysignf, __builtin_fabsf, 23, 127)

#ifndef __NVPTX__
/* ------------------------------------ 128-bit integers: one bit of the quotient after the other */
typedef unsigned __int128 u128;
typedef __int128 i128;
u128 __udivti3(u128, u128);
u128 __umodti3(u128, u128);
i128 __divti3(i128, i128);
i128 __modti3(i128, i128);

static u128 divide(u128 a, u128 b, u128 *rest)
{
    u128 q = 0, r = 0;
    for (int i = 127; i >= 0; i--) {
        _Bool carry = r >> 127;
        r = r << 1 | (a >> i & 1);
        q <<= 1;
        if (carry || r >= b)
            r -= b, q |= 1;
    }
    *rest = r;
    return q;
}
static u128 magnitude(i128 x)
{
    u128 u = (u128)x;
    return x < 0 ? 0 - u : u;
}

u128 __udivti3(u128 a, u128 b)
{
    u128 rest;
    return divide(a, b, &rest);
}
u128 __umodti3(u128 a, u128 b)
{
    u128 rest;
    divide(a, b, &rest);
    return rest;
}
i128 __divti3(i128 a, i128 b)
{
    u128 q = __udivti3(magnitude(a), magnitude(b));
    return (i128)((a < 0) != (b < 0) ? -q : q);
}
i128 __modti3(i128 a, i128 b)
{
    u128 r = __umodti3(magnitude(a), magnitude(b));
    return (i128)(a < 0 ? -r : r);
}

/* --------------------------------------------------------- _Float16, in integer arithmetic only */
float __extendhfsf2(_Float16);
_Float16 __truncsfhf2(float);
_Float16 __truncdfhf2(double);

float __extendhfsf2(_Float16 h)
{
    u16 bits;
    float f;
    __builtin_memcpy(&bits, &h, 2);
    u32 sign = (u32)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
    u32 out = sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | fraction << 13;
    __builtin_memcpy(&f, &out, 4);
    if (!exponent) { /* subnormal: fraction * 2^-24, exact in float */
        f = (float)fraction * 0x1p-24f;
        return sign ? -f : f;
    }
    return f;
}

/* Round to nearest even, from a value of 53 significant bits: both conversions round once. */
_Float16 __truncdfhf2(double d)
{
    u64 bits;
    u16 out;
    _Float16 h;
    __builtin_memcpy(&bits, &d, 8);
    u16 sign = (u16)(bits >> 48 & 0x8000);
    int exponent = (int)(bits >> 52 & 2047) - 1023;
    u64 fraction = bits & 0xfffffffffffffull;
    if (exponent == 1024) {
        out = (u16)(0x7c00 | (fraction ? 0x200 | fraction >> 42 : 0));
    } else if (exponent < -25) {
        out = 0;
    } else {
        int shift = exponent < -14 ? 42 + (-14 - exponent) : 42;
        u64 value = fraction | 1ull << 52, half = 1ull << (shift - 1),
            rest = value & ((half << 1) - 1);
        u64 kept = value >> shift;
        kept += rest > half || (rest == half && (kept & 1));
        /* the hidden bit adds 1 to the exponent, a carry another */
        kept += exponent < -14 ? 0 : (u64)(exponent + 14) << 10;
        out = kept >= 0x7c00 ? 0x7c00 : (u16)kept;
    }
    out |= sign;
    __builtin_memcpy(&h, &out, 2);
    return h;
}
_Float16 __truncsfhf2(float f) { return __truncdfhf2((double)f); }
#endif
