/* convert.c - cvt (PTX ISA 8.x, section 9.7.9): out of range saturates, a NaN is 0. */
#include "hostrt/ptx/alu/alu.h"

/* No register has 8 bits: a signed result is extended (section 9.4.1). */
static uint64_t narrow(uint64_t v, enum type t)
{
    return t == T_S8 ? (uint64_t)(int64_t)(int8_t)v : v & mask_of(t);
}
static int64_t widen(uint64_t v, enum type t)
{
    switch (t) {
    case T_S8: return (int8_t)v;
    case T_S16: return (int16_t)v;
    case T_S32: return (int32_t)v;
    case T_S64: return (int64_t)v;
    default: return (int64_t)narrow(v, t);
    }
}
/* How many units in the last place the result has, from n with its fraction. */
static unsigned round_units(long double n, bool negative, enum rounding r)
{
    unsigned k = (unsigned)n;
    long double rest = n - k;
    switch (r) {
    case R_RZ: return k;
    case R_RM: return k + (negative && rest > 0);
    case R_RP: return k + (!negative && rest > 0);
    default: return k + (rest > 0.5L || (rest == 0.5L && k % 2));
    }
}
uint64_t ptx_round_to_half(enum type t, long double x, enum rounding r)
{
    const int bits = t == T_F16 ? 10 : 7, least = t == T_F16 ? -14 : -126, most = 1 - least;
    bool negative = signbit(x);
    uint64_t sign = (uint64_t)negative << 15, infinity = (uint64_t)(most - least + 2) << bits;
    int e;
    if (x != x)
        return 0x7fff;
    if (x == 0 || isinf(x))
        return sign | (x == 0 ? 0 : infinity);
    frexpl(x, &e);
    e = e - 1 < least ? least : e - 1;
    unsigned k = e > most ? 2u << bits : round_units(ldexpl(fabsl(x), bits - e), negative, r);
    uint64_t magnitude = ((uint64_t)(e - least) << bits) + k; /* a carry goes to the exponent */
    bool inwards = r == R_RZ || (r == R_RM && !negative) || (r == R_RP && negative);
    if (magnitude >= infinity)
        magnitude = inwards ? infinity - 1 : infinity;
    return sign | magnitude;
}
static double load_float(uint64_t v, enum type t, bool ftz)
{
    return t == T_F64   ? as_f64(v)
           : t == T_F32 ? (double)flush32(as_f32(v), ftz)
           : t == T_F16 ? (double)as_f16(v)
                        : (double)as_bf16(v);
}
static double round_integral(double x, enum rounding r)
{
    switch (r) {
    case R_RNI:
    case R_RN: return nearbyint(x);
    case R_RZI:
    case R_RZ: return trunc(x);
    case R_RMI:
    case R_RM: return floor(x);
    case R_RPI:
    case R_RP: return ceil(x);
    default: return x;
    }
}
/* Out of range saturates, a NaN is 0 (for 64-bit results 2^63, as on the hardware). */
static uint64_t float_to_integer(double x, enum type t, enum rounding r)
{
    unsigned bits = 8 * ptx_type_size(t);
    bool is_signed = ptx_type_is_signed(t);
    if (x != x)
        return bits == 64 ? 1ull << 63 : 0;
    x = round_integral(x, r ? r : R_RZI);
    double low = is_signed ? -ldexp(1, (int)bits - 1) : 0, high = ldexp(1, (int)bits - is_signed);
    if (x < low)
        x = low;
    if (x >= high)
        return narrow(is_signed ? (1ull << (bits - 1)) - 1 : ~0ull, t);
    return narrow(is_signed ? (uint64_t)(int64_t)x : (uint64_t)x, t);
}
static uint64_t integer_to_float(uint64_t v, enum type from, enum type to, enum rounding rounding)
{
    if (to == T_F64)
        return of_f64(ptx_type_is_signed(from) ? (double)widen(v, from) : (double)narrow(v, from));
    if (to != T_F32)
        return ptx_round_to_half(to,
                                 ptx_type_is_signed(from) ? (long double)widen(v, from)
                                                          : (long double)narrow(v, from),
                                 rounding);
    volatile float f = ptx_type_is_signed(from) ? (float)widen(v, from) : (float)narrow(v, from);
    return of_f32(f);
}
static uint64_t float_to_float(double x, const struct instruction *i)
{
    if (i->rounding >= R_RNI)
        x = round_integral(x, i->rounding);
    if (i->sat)
        x = saturate64(x);
    if (i->type == T_F64)
        return of_f64(x);
    if (i->type != T_F32)
        return ptx_round_to_half(i->type, i->relu && !(x > 0) && x == x ? 0 : x, i->rounding);
    volatile float f = (float)x;
    return of_f32(flush32(f, i->ftz));
}
static uint64_t saturate_integer(int64_t v, bool from_unsigned, enum type t)
{
    unsigned bits = 8 * ptx_type_size(t);
    bool is_signed = ptx_type_is_signed(t);
    int64_t low = is_signed ? (int64_t)(~0ull << (bits - 1)) : 0;
    uint64_t high = is_signed ? (1ull << (bits - 1)) - 1 : bits == 64 ? ~0ull : (1ull << bits) - 1;
    if (!from_unsigned && v < low)
        return narrow((uint64_t)low, t);
    if ((from_unsigned || v > 0) && (uint64_t)v > high)
        return high;
    return narrow((uint64_t)v, t);
}
static uint64_t convert(uint64_t v, const struct instruction *i)
{
    enum type from = i->type2, to = i->type;
    if (ptx_type_is_float(from))
        return ptx_type_is_float(to)
                   ? float_to_float(load_float(v, from, i->ftz), i)
                   : float_to_integer(load_float(v, from, i->ftz), to, i->rounding);
    if (ptx_type_is_float(to))
        return integer_to_float(v, from, to, i->rounding);
    int64_t wide = widen(v, from);
    return i->sat ? saturate_integer(wide, !ptx_type_is_signed(from), to)
                  : narrow((uint64_t)wide, to);
}
HANDLER(cvt)
{
    ONE;
    if (is_directed(i))
        set_rounding(i->rounding);
    LOOP(convert(a[l], i));
    if (is_directed(i))
        set_rounding(R_RN);
    DONE;
}
/* Between integers without sign: no more than the low bits. */
HANDLER(cvt_truncate)
{
    ONE;
    unsigned from = ptx_type_size(i->type2), to = ptx_type_size(i->type);
    unsigned size = from < to ? from : to;
    uint64_t mask = size == 8 ? ~0ull : (1ull << 8 * size) - 1;
    lanes bad = source_poison(g, &i->s[0]) & m;
    unsigned char undefined[WARP];
    EACH_LANE(l, bad)
        undefined[l] = undefined_bytes(g, &i->s[0], l, size);
    LOOP(a[l] & mask);
    set_undefined_bytes(g, &i->d, m, bad, undefined);
}
static uint64_t half_of_f32(enum type t, float x, const struct instruction *i)
{
    x = i->sat ? saturate(x) : i->relu && x <= 0 ? 0 : x;
    return ptx_round_to_half(t, x, i->rounding);
}
/* cvt.rn.f16x2.f32 d, high, low; */
HANDLER(cvt_pack)
{
    TWO;
    enum type t = i->type == T_F16X2 ? T_F16 : T_BF16;
    LOOP(half_of_f32(t, as_f32(a[l]), i) << 16 | half_of_f32(t, as_f32(b[l]), i));
    DONE;
}
bool ptx_select_cvt(struct instruction *i)
{
    if (i->type == T_F16X2 || i->type == T_BF16X2) {
        i->run = cvt_pack;
        return i->nsources == 2 && i->type2 == T_F32;
    }
    bool plain = !ptx_type_is_float(i->type) && !ptx_type_is_float(i->type2) && !i->sat &&
                 !ptx_type_is_signed(i->type2);
    i->run = plain ? cvt_truncate : cvt;
    return i->type2 != T_NONE;
}
