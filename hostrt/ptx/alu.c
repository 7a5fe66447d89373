/* alu.c - arithmetic, bits, comparison, selection, moves and conversion (PTX ISA 8.x, section 9.7.1
 * to 9.7.9).  A register holds its value in the low bits of 64; the bits above are zero.
 *
 * A handler is a loop over the active lanes, made by LOOP for one expression; all 32 lanes at once
 * where they are active, so that the compiler can vectorise it. */
#include <fenv.h>
#include <math.h>
#include <string.h>
#include "hostrt/ptx/isa.h"

/* ------------------------------------------------------------------ values of a type */
static inline float as_f32(uint64_t v)
{
    uint32_t bits = (uint32_t)v;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
static inline uint64_t of_f32(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}
static inline double as_f64(uint64_t v)
{
    double d;
    memcpy(&d, &v, sizeof d);
    return d;
}
static inline uint64_t of_f64(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}
static inline float as_f16(uint64_t v)
{
    uint16_t bits = (uint16_t)v;
    _Float16 h;
    memcpy(&h, &bits, sizeof h);
    return (float)h;
}
static inline uint64_t of_f16(float f)
{
    _Float16 h = (_Float16)f;
    uint16_t bits;
    memcpy(&bits, &h, sizeof bits);
    return bits;
}
static inline float as_bf16(uint64_t v) { return as_f32(v << 16); }
static inline uint64_t of_bf16(float f)
{
    uint32_t bits = (uint32_t)of_f32(f);
    if (f != f)
        return 0x7fff;
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
static inline float flush32(float f, bool ftz)
{
    return ftz && fabsf(f) < 0x1p-126f ? copysignf(0, f) : f;
}

#define LOOP(expression)                                                                           \
    do {                                                                                           \
        if (m == ALL_LANES)                                                                        \
            for (unsigned l = 0; l < WARP; l++)                                                    \
                d[l] = (expression);                                                               \
        else                                                                                       \
            EACH_LANE(l, m)                                                                        \
        d[l] = (expression);                                                                       \
    } while (0)
#define HANDLER(name) static void name(struct group *g, const struct instruction *i, lanes m)
#define ONE                                                                                        \
    const uint64_t *a = source(g, &i->s[0]);                                                       \
    uint64_t *d = target_of(g, &i->d)
#define TWO                                                                                        \
    ONE;                                                                                           \
    const uint64_t *b = source(g, &i->s[1])
#define THREE                                                                                      \
    TWO;                                                                                           \
    const uint64_t *c = source(g, &i->s[2])

static inline uint64_t mask_of(enum type t)
{
    unsigned size = ptx_type_size(t);
    return size && size < 8 ? (1ull << 8 * size) - 1 : ~0ull;
}

static lanes poison_of_sources(const struct group *g, const struct instruction *i)
{
    lanes bad = 0;
    for (unsigned k = 0; k < i->nsources; k++)
        bad |= i->s[k].kind == O_PRED ? predicate_poison(g, &i->s[k]) : source_poison(g, &i->s[k]);
    return bad;
}
#define DONE set_poison(g, &i->d, m, poison_of_sources(g, i))

/* ------------------------------------------------------------------ integers */
#define INTEGER1(name, T, U, expression)                                                           \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        ONE;                                                                                       \
        LOOP(({                                                                                    \
            T x = (T)a[l];                                                                         \
            (U)(expression);                                                                       \
        }));                                                                                       \
        DONE;                                                                                      \
    }
#define INTEGER2(name, T, U, expression)                                                           \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        TWO;                                                                                       \
        LOOP(({                                                                                    \
            T x = (T)a[l], y = (T)b[l];                                                            \
            (U)(expression);                                                                       \
        }));                                                                                       \
        DONE;                                                                                      \
    }
#define INTEGER3(name, T, U, expression)                                                           \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        THREE;                                                                                     \
        LOOP(({                                                                                    \
            T x = (T)a[l], y = (T)b[l], z = (T)c[l];                                               \
            (U)(expression);                                                                       \
        }));                                                                                       \
        DONE;                                                                                      \
    }
/* all types of one operation: names NAME_u16 … NAME_s64 */
#define INTEGER2_ALL(name, expression)                                                             \
    INTEGER2(name##_u16, uint16_t, uint16_t, expression)                                           \
    INTEGER2(name##_u32, uint32_t, uint32_t, expression)                                           \
    INTEGER2(name##_u64, uint64_t, uint64_t, expression)                                           \
    INTEGER2(name##_s16, int16_t, uint16_t, expression)                                            \
    INTEGER2(name##_s32, int32_t, uint32_t, expression)                                            \
    INTEGER2(name##_s64, int64_t, uint64_t, expression)
#define INTEGER2_UNSIGNED(name, expression)                                                        \
    INTEGER2(name##_u16, uint16_t, uint16_t, expression)                                           \
    INTEGER2(name##_u32, uint32_t, uint32_t, expression)                                           \
    INTEGER2(name##_u64, uint64_t, uint64_t, expression)

INTEGER2_UNSIGNED(add, x + y)
INTEGER2_UNSIGNED(sub, x - y)
INTEGER2(mul_u16, uint16_t, uint16_t, (uint32_t)x *y)
INTEGER2(mul_u32, uint32_t, uint32_t, x *y)
INTEGER2(mul_u64, uint64_t, uint64_t, x *y)
INTEGER2(mul_hi_u16, uint16_t, uint16_t, (uint32_t)x *y >> 16)
INTEGER2(mul_hi_s16, int16_t, uint16_t, (int32_t)x *y >> 16)
INTEGER2(mul_hi_u32, uint32_t, uint32_t, (uint64_t)x *y >> 32)
INTEGER2(mul_hi_s32, int32_t, uint32_t, (int64_t)x *y >> 32)
INTEGER2(mul_hi_u64, uint64_t, uint64_t, (unsigned __int128)x *y >> 64)
INTEGER2(mul_hi_s64, int64_t, uint64_t, (__int128)x *y >> 64)
INTEGER2(mul_wide_u16, uint16_t, uint32_t, (uint32_t)x *y)
INTEGER2(mul_wide_s16, int16_t, uint32_t, (int32_t)x *y)
INTEGER2(mul_wide_u32, uint32_t, uint64_t, (uint64_t)x *y)
INTEGER2(mul_wide_s32, int32_t, uint64_t, (int64_t)x *y)
INTEGER2(mul24_u32, uint32_t, uint32_t, (x & 0xffffff) * (y & 0xffffff))
INTEGER2(mul24_s32, int32_t, uint32_t,
         (int64_t)((int32_t)((uint32_t)x << 8) >> 8) * ((int32_t)((uint32_t)y << 8) >> 8))
INTEGER3(mad_u16, uint16_t, uint16_t, (uint32_t)x *y + z)
INTEGER3(mad_u32, uint32_t, uint32_t, x *y + z)
INTEGER3(mad_u64, uint64_t, uint64_t, x *y + z)
INTEGER3(mad_hi_u32, uint32_t, uint32_t, (uint32_t)((uint64_t)x * y >> 32) + z)
INTEGER3(mad_hi_s32, int32_t, uint32_t, (uint32_t)((int64_t)x * y >> 32) + (uint32_t)z)
INTEGER3(mad_hi_u64, uint64_t, uint64_t, (uint64_t)((unsigned __int128)x * y >> 64) + z)
INTEGER3(mad_hi_s64, int64_t, uint64_t, (uint64_t)((__int128)x * y >> 64) + (uint64_t)z)
HANDLER(mad_wide_u32)
{
    THREE;
    LOOP((uint64_t)(uint32_t)a[l] * (uint32_t)b[l] + c[l]);
    DONE;
}
HANDLER(mad_wide_s32)
{
    THREE;
    LOOP((uint64_t)((int64_t)(int32_t)a[l] * (int32_t)b[l]) + c[l]);
    DONE;
}
HANDLER(mad_wide_u16)
{
    THREE;
    LOOP((uint32_t)((uint32_t)(uint16_t)a[l] * (uint16_t)b[l] + (uint32_t)c[l]));
    DONE;
}
HANDLER(mad_wide_s16)
{
    THREE;
    LOOP((uint32_t)((int32_t)(int16_t)a[l] * (int16_t)b[l] + (int32_t)c[l]));
    DONE;
}
/* Division by zero gives all ones, as on the hardware; the quotient of INT_MIN and -1 is INT_MIN.
 */
INTEGER2_UNSIGNED(div, y ? x / y : ~(uint64_t)0)
INTEGER2(div_s16, int16_t, uint16_t, y ? x / y : -1)
INTEGER2(div_s32, int32_t, uint32_t, y == -1 ? -(int64_t)x : y ? x / y : -1)
INTEGER2(div_s64, int64_t, uint64_t, y == -1 ? 0 - (uint64_t)x : y ? (uint64_t)(x / y) : ~0ull)
INTEGER2_UNSIGNED(rem, y ? x % y : x)
INTEGER2(rem_s16, int16_t, uint16_t, y ? x % y : x)
INTEGER2(rem_s32, int32_t, uint32_t, y == -1 ? 0 : y ? x % y : x)
INTEGER2(rem_s64, int64_t, uint64_t, y == -1 ? 0 : y ? x % y : x)
INTEGER2_ALL(min, x < y ? x : y)
INTEGER2_ALL(max, x > y ? x : y)
INTEGER1(abs_s16, int16_t, uint16_t, x < 0 ? -x : x)
INTEGER1(abs_s32, int32_t, uint32_t, x < 0 ? 0 - (uint32_t)x : (uint32_t)x)
INTEGER1(abs_s64, int64_t, uint64_t, x < 0 ? 0 - (uint64_t)x : (uint64_t)x)
INTEGER1(neg_s16, uint16_t, uint16_t, 0 - x)
INTEGER1(neg_s32, uint32_t, uint32_t, 0 - x)
INTEGER1(neg_s64, uint64_t, uint64_t, 0 - x)
INTEGER3(sad_u32, uint32_t, uint32_t, (x < y ? y - x : x - y) + z)
INTEGER3(sad_s32, int32_t, uint32_t,
         (uint32_t)(x < y ? (int64_t)y - x : (int64_t)x - y) + (uint32_t)z)

/* ------------------------------------------------------------------ extended precision */
/* The carry flag of a lane is the warp's; it lives from one instruction to the next. */
static void carry_lanes(struct group *g, const struct instruction *i, lanes m, bool use)
{
    lanes carry = g->warp->carry, out = 0;
    bool wide = ptx_type_size(i->type) == 8,
         subtract = i->row->operation == I_SUB || i->row->operation == I_SUBC;
    const uint64_t *a = source(g, &i->s[0]), *b = source(g, &i->s[1]);
    uint64_t *d = target_of(g, &i->d), mask = wide ? ~0ull : 0xffffffffu;
    EACH_LANE(l, m)
    {
        unsigned in = use ? carry >> l & 1 : 0;
        unsigned __int128 r = subtract ? (unsigned __int128)(a[l] & mask) - (b[l] & mask) - in
                                       : (unsigned __int128)(a[l] & mask) + (b[l] & mask) + in;
        d[l] = (uint64_t)r & mask;
        out |= (lanes)((r >> (wide ? 64 : 32)) != 0) << l;
    }
    if (i->carry_out)
        g->warp->carry = (carry & ~m) | (out & m);
    DONE;
}
HANDLER(add_carry) { carry_lanes(g, i, m, false); }
HANDLER(addc_carry) { carry_lanes(g, i, m, true); }

static void mad_carry_lanes(struct group *g, const struct instruction *i, lanes m, bool use)
{
    THREE;
    bool wide = ptx_type_size(i->type) == 8, is_signed = ptx_type_is_signed(i->type);
    uint64_t mask = wide ? ~0ull : 0xffffffffu;
    lanes carry = g->warp->carry, out = 0;
    EACH_LANE(l, m)
    {
        unsigned __int128 p =
            is_signed ? (wide ? (unsigned __int128)((__int128)(int64_t)a[l] * (int64_t)b[l])
                              : (unsigned __int128)((__int128)(int32_t)a[l] * (int32_t)b[l]))
                      : (unsigned __int128)(a[l] & mask) * (b[l] & mask);
        uint64_t part = (i->hi ? (uint64_t)(p >> (wide ? 64 : 32)) : (uint64_t)p) & mask;
        unsigned __int128 r = (unsigned __int128)part + (c[l] & mask) + (use ? carry >> l & 1 : 0);
        d[l] = (uint64_t)r & mask;
        out |= (lanes)((r >> (wide ? 64 : 32)) != 0) << l;
    }
    if (i->carry_out)
        g->warp->carry = (carry & ~m) | (out & m);
    DONE;
}
HANDLER(mad_carry) { mad_carry_lanes(g, i, m, false); }
HANDLER(madc_carry) { mad_carry_lanes(g, i, m, true); }

/* ------------------------------------------------------------------ floating point */
static void set_rounding(enum rounding r)
{
    static const int modes[] = {
        [R_RN] = FE_TONEAREST, [R_RZ] = FE_TOWARDZERO, [R_RM] = FE_DOWNWARD, [R_RP] = FE_UPWARD
    };
    fesetround(r > R_NONE && r <= R_RP ? modes[r] : FE_TONEAREST);
}
static inline bool is_directed(const struct instruction *i)
{
    return i->rounding > R_RN && i->rounding <= R_RP;
}
static inline float saturate(float f) { return f > 0 ? (f < 1 ? f : 1) : 0; }
static inline double saturate64(double f) { return f > 0 ? (f < 1 ? f : 1) : 0; }

/* `volatile` keeps the operation between the changes of the rounding mode. */
#define FLOAT_HANDLER(name, OPERANDS, LOAD, expression32, expression64)                            \
    HANDLER(name##_f32)                                                                            \
    {                                                                                              \
        OPERANDS;                                                                                  \
        bool ftz = i->ftz, sat = i->sat;                                                           \
        if (is_directed(i))                                                                        \
            set_rounding(i->rounding);                                                             \
        LOOP(({                                                                                    \
            LOAD(float, as_f32, flush32)                                                           \
            volatile float r = expression32;                                                       \
            float f = flush32(r, ftz);                                                             \
            of_f32(sat ? saturate(f) : f);                                                         \
        }));                                                                                       \
        if (is_directed(i))                                                                        \
            set_rounding(R_RN);                                                                    \
        DONE;                                                                                      \
    }                                                                                              \
    HANDLER(name##_f64)                                                                            \
    {                                                                                              \
        OPERANDS;                                                                                  \
        bool ftz = false, sat = i->sat;                                                            \
        if (is_directed(i))                                                                        \
            set_rounding(i->rounding);                                                             \
        LOOP(({                                                                                    \
            LOAD(double, as_f64, same64)                                                           \
            volatile double r = expression64;                                                      \
            of_f64(sat ? saturate64(r) : r);                                                       \
        }));                                                                                       \
        if (is_directed(i))                                                                        \
            set_rounding(R_RN);                                                                    \
        DONE;                                                                                      \
    }                                                                                              \
    HANDLER(name##_f16)                                                                            \
    {                                                                                              \
        OPERANDS;                                                                                  \
        bool ftz = false;                                                                          \
        LOOP(({                                                                                    \
            LOAD(float, as_f16, same32)                                                            \
            of_f16(i->sat ? saturate(expression32) : (expression32));                              \
        }));                                                                                       \
        DONE;                                                                                      \
    }                                                                                              \
    HANDLER(name##_bf16)                                                                           \
    {                                                                                              \
        OPERANDS;                                                                                  \
        bool ftz = false;                                                                          \
        LOOP(({                                                                                    \
            LOAD(float, as_bf16, same32)                                                           \
            of_bf16(expression32);                                                                 \
        }));                                                                                       \
        DONE;                                                                                      \
    }
static inline float same32(float f, bool ftz) { return (void)ftz, f; }
static inline double same64(double f, bool ftz) { return (void)ftz, f; }
#define LOAD1(T, as, flush) T x = flush(as(a[l]), ftz);
#define LOAD2(T, as, flush) T x = flush(as(a[l]), ftz), y = flush(as(b[l]), ftz);
#define LOAD3(T, as, flush)                                                                        \
    T x = flush(as(a[l]), ftz), y = flush(as(b[l]), ftz), z = flush(as(c[l]), ftz);

FLOAT_HANDLER(add, TWO, LOAD2, x + y, x + y)
FLOAT_HANDLER(sub, TWO, LOAD2, x - y, x - y)
FLOAT_HANDLER(mul, TWO, LOAD2, x *y, x *y)
FLOAT_HANDLER(div, TWO, LOAD2, x / y, x / y)
FLOAT_HANDLER(fma, THREE, LOAD3, fmaf(x, y, z), fma(x, y, z))
FLOAT_HANDLER(neg, ONE, LOAD1, -x, -x)
FLOAT_HANDLER(abs, ONE, LOAD1, fabsf(x), fabs(x))
FLOAT_HANDLER(copysign, TWO, LOAD2, copysignf(y, x), copysign(y, x))
/* min and max of a NaN and a number are the number; -0 is less than +0 */
static inline float min32(float x, float y, bool nan)
{
    if (x != x || y != y)
        return nan ? NAN : x != x ? y : x;
    return x < y || (x == y && signbit(x)) ? x : y;
}
static inline float max32(float x, float y, bool nan)
{
    if (x != x || y != y)
        return nan ? NAN : x != x ? y : x;
    return x > y || (x == y && !signbit(x)) ? x : y;
}
static inline double min64(double x, double y)
{
    if (x != x || y != y)
        return x != x ? y : x;
    return x < y || (x == y && signbit(x)) ? x : y;
}
static inline double max64(double x, double y)
{
    if (x != x || y != y)
        return x != x ? y : x;
    return x > y || (x == y && !signbit(x)) ? x : y;
}
FLOAT_HANDLER(min, TWO, LOAD2, min32(x, y, i->op == OP_NAN), min64(x, y))
FLOAT_HANDLER(max, TWO, LOAD2, max32(x, y, i->op == OP_NAN), max64(x, y))
FLOAT_HANDLER(rcp, ONE, LOAD1, 1 / x, 1 / x)
FLOAT_HANDLER(sqrt, ONE, LOAD1, sqrtf(x), sqrt(x))
FLOAT_HANDLER(rsqrt, ONE, LOAD1, (float)(1 / sqrt((double)x)), 1 / sqrt(x))
FLOAT_HANDLER(sin, ONE, LOAD1, sinf(x), sin(x))
FLOAT_HANDLER(cos, ONE, LOAD1, cosf(x), cos(x))
FLOAT_HANDLER(lg2, ONE, LOAD1, log2f(x), log2(x))
FLOAT_HANDLER(ex2, ONE, LOAD1, exp2f(x), exp2(x))
FLOAT_HANDLER(tanh, ONE, LOAD1, tanhf(x), tanh(x))

/* rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 give the upper half of the result only. */
HANDLER(approx_f64)
{
    ONE;
    bool root = i->row->operation == I_RSQRT;
    LOOP(({
        double x = as_f64(a[l]);
        if (fabs(x) < 0x1p-1022)
            x = copysign(0, x);
        double r = root ? 1 / sqrt(x) : 1 / x;
        if (fabs(r) < 0x1p-1022)
            r = copysign(0, r);
        of_f64(r) & 0xffffffff00000000ull;
    }));
    DONE;
}

/* Two halves in a register. */
HANDLER(packed_f16)
{
    const uint64_t *a = source(g, &i->s[0]), *b = i->nsources > 1 ? source(g, &i->s[1]) : a,
                   *c = i->nsources > 2 ? source(g, &i->s[2]) : a;
    uint64_t *d = target_of(g, &i->d);
    bool brain = i->type == T_BF16X2;
    EACH_LANE(l, m)
    {
        uint64_t result = 0;
        for (int half = 0; half < 32; half += 16) {
            float x = brain ? as_bf16(a[l] >> half) : as_f16(a[l] >> half);
            float y = brain ? as_bf16(b[l] >> half) : as_f16(b[l] >> half);
            float z = brain ? as_bf16(c[l] >> half) : as_f16(c[l] >> half), r = 0;
            switch (i->row->operation) {
            case I_ADD: r = x + y; break;
            case I_SUB: r = x - y; break;
            case I_MUL: r = x * y; break;
            case I_FMA: r = fmaf(x, y, z); break;
            case I_NEG: r = -x; break;
            case I_ABS: r = fabsf(x); break;
            case I_MIN: r = min32(x, y, i->op == OP_NAN); break;
            case I_MAX: r = max32(x, y, i->op == OP_NAN); break;
            default: break;
            }
            result |= (brain ? of_bf16(r) : of_f16(r)) << half;
        }
        d[l] = result;
    }
    DONE;
}

/* ------------------------------------------------------------------ choosing by type */
#define BY_TYPE(n16, n32, n64, m16, m32, m64, h, bh, f, dd)                                        \
    { [T_U16] = n16, [T_B16] = n16, [T_U32] = n32, [T_B32] = n32, [T_U64] = n64,                   \
      [T_B64] = n64, [T_S16] = m16, [T_S32] = m32, [T_S64] = m64, [T_F16] = h,                     \
      [T_BF16] = bh, [T_F32] = f,   [T_F64] = dd }
#define ALL_TYPES(n)                                                                               \
    BY_TYPE(n##_u16, n##_u32, n##_u64, n##_s16, n##_s32, n##_s64, n##_f16, n##_bf16, n##_f32,      \
            n##_f64)
#define SAME_SIGNED(n)                                                                             \
    BY_TYPE(n##_u16, n##_u32, n##_u64, n##_u16, n##_u32, n##_u64, n##_f16, n##_bf16, n##_f32,      \
            n##_f64)
#define FLOATS(n) { [T_F16] = n##_f16, [T_BF16] = n##_bf16, [T_F32] = n##_f32, [T_F64] = n##_f64 }

static handler *const arithmetic[][NTYPES] = {
    [I_ADD] = SAME_SIGNED(add),
    [I_SUB] = SAME_SIGNED(sub),
    [I_MUL] = SAME_SIGNED(mul),
    [I_MAD] = BY_TYPE(mad_u16, mad_u32, mad_u64, mad_u16, mad_u32, mad_u64, fma_f16, fma_bf16,
                      fma_f32, fma_f64),
    [I_FMA] = FLOATS(fma),
    [I_DIV] = ALL_TYPES(div),
    [I_REM] = BY_TYPE(rem_u16, rem_u32, rem_u64, rem_s16, rem_s32, rem_s64, NULL, NULL, NULL, NULL),
    [I_ABS] =
        BY_TYPE(NULL, NULL, NULL, abs_s16, abs_s32, abs_s64, abs_f16, abs_bf16, abs_f32, abs_f64),
    [I_NEG] =
        BY_TYPE(NULL, NULL, NULL, neg_s16, neg_s32, neg_s64, neg_f16, neg_bf16, neg_f32, neg_f64),
    [I_MIN] = ALL_TYPES(min),
    [I_MAX] = ALL_TYPES(max),
    [I_SAD] = { [T_U32] = sad_u32, [T_S32] = sad_s32 },
    [I_COPYSIGN] = FLOATS(copysign),
    [I_MUL24] = { [T_U32] = mul24_u32, [T_S32] = mul24_s32 },
};
static handler *const high_multiply[NTYPES] = {
    [T_U16] = mul_hi_u16, [T_S16] = mul_hi_s16, [T_U32] = mul_hi_u32,
    [T_S32] = mul_hi_s32, [T_U64] = mul_hi_u64, [T_S64] = mul_hi_s64,
};
static handler *const wide_multiply[NTYPES] = {
    [T_U16] = mul_wide_u16,
    [T_S16] = mul_wide_s16,
    [T_U32] = mul_wide_u32,
    [T_S32] = mul_wide_s32,
};
static handler *const high_mad[NTYPES] = {
    [T_U32] = mad_hi_u32, [T_S32] = mad_hi_s32, [T_U64] = mad_hi_u64, [T_S64] = mad_hi_s64
};
static handler *const wide_mad[NTYPES] = {
    [T_U16] = mad_wide_u16, [T_S16] = mad_wide_s16, [T_U32] = mad_wide_u32, [T_S32] = mad_wide_s32
};

bool ptx_select_arithmetic(struct instruction *i)
{
    unsigned op = i->row->operation;
    if (i->type == T_F16X2 || i->type == T_BF16X2)
        i->run = packed_f16;
    else if (i->carry_out)
        i->run = op == I_MAD ? mad_carry : add_carry;
    else if (op == I_MUL && (i->hi || i->wide))
        i->run = (i->hi ? high_multiply : wide_multiply)[i->type];
    else if (op == I_MAD && (i->hi || i->wide))
        i->run = (i->hi ? high_mad : wide_mad)[i->type];
    else
        i->run = arithmetic[op][i->type];
    return i->run != NULL;
}

bool ptx_select_carry(struct instruction *i)
{
    i->run = i->row->operation == I_MADC ? madc_carry : addc_carry;
    return ptx_type_size(i->type) >= 4 && !ptx_type_is_float(i->type);
}

bool ptx_select_function(struct instruction *i)
{
    static handler *const functions[][NTYPES] = {
        [I_RCP] = FLOATS(rcp), [I_SQRT] = FLOATS(sqrt), [I_RSQRT] = FLOATS(rsqrt),
        [I_SIN] = FLOATS(sin), [I_COS] = FLOATS(cos),   [I_LG2] = FLOATS(lg2),
        [I_EX2] = FLOATS(ex2), [I_TANH] = FLOATS(tanh),
    };
    i->run = functions[i->row->operation][i->type];
    if (i->type == T_F64 && i->approx)
        i->run = approx_f64;
    return i->run != NULL;
}

HANDLER(testp)
{
    const uint64_t *a = source(g, &i->s[0]);
    lanes yes = 0;
    EACH_LANE(l, m)
    {
        int class = i->type == T_F64 ? fpclassify(as_f64(a[l])) : fpclassify(as_f32(a[l]));
        bool r = i->op == OP_FINITE       ? class != FP_NAN && class != FP_INFINITE
                 : i->op == OP_INFINITE   ? class == FP_INFINITE
                 : i->op == OP_NUMBER     ? class != FP_NAN
                 : i->op == OP_NOTANUMBER ? class == FP_NAN
                 : i->op == OP_NORMAL     ? class == FP_NORMAL
                                          : class == FP_SUBNORMAL;
        yes |= (lanes)r << l;
    }
    lanes *p = &g->frame->preds[i->d.index];
    *p = (*p & ~m) | yes;
    set_poison(g, &i->d, m, source_poison(g, &i->s[0]));
}
bool ptx_select_testp(struct instruction *i)
{
    i->run = testp;
    return i->op && (i->type == T_F32 || i->type == T_F64);
}

/* ------------------------------------------------------------------ bits */
#define BITS(name, expression)                                                                     \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        TWO;                                                                                       \
        uint64_t mask = mask_of(i->type);                                                          \
        LOOP((a[l] expression b[l]) & mask);                                                       \
        DONE;                                                                                      \
    }
BITS(and_bits, &)
BITS(or_bits, |)
BITS(xor_bits, ^)

/* A constant operand that hides undefined bytes defines them: `and` with 0 bytes. */
HANDLER(and_constant)
{
    TWO;
    lanes bad = source_poison(g, &i->s[0]) & m, still = 0;
    if (bad)
        EACH_LANE(l, bad)
        {
            unsigned char bytes = *poison_bytes(g, &i->s[0], l);
            for (int k = 0; k < 8; k++)
                if (!(b[l] >> 8 * k & 0xff))
                    bytes &= (unsigned char)~(1u << k);
            if (bytes)
                still |= 1u << l;
        }
    uint64_t mask = mask_of(i->type);
    LOOP(a[l] & b[l] & mask);
    set_poison(g, &i->d, m, still);
}
INTEGER1(not_16, uint16_t, uint16_t, ~x)
INTEGER1(not_32, uint32_t, uint32_t, ~x)
INTEGER1(not_64, uint64_t, uint64_t, ~x)
INTEGER1(cnot_16, uint16_t, uint16_t, !x)
INTEGER1(cnot_32, uint32_t, uint32_t, !x)
INTEGER1(cnot_64, uint64_t, uint64_t, !x)
/* Shift counts are 32 bits; beyond the width all bits go. */
#define SHIFT(name, T, U, expression)                                                              \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        TWO;                                                                                       \
        LOOP(({                                                                                    \
            T x = (T)a[l];                                                                         \
            uint32_t n = (uint32_t)b[l], width = 8 * sizeof(T);                                    \
            (void)width;                                                                           \
            (U)(expression);                                                                       \
        }));                                                                                       \
        DONE;                                                                                      \
    }
SHIFT(shl_16, uint16_t, uint16_t, n < width ? x << n : 0)
SHIFT(shl_32, uint32_t, uint32_t, n < width ? x << n : 0)
SHIFT(shl_64, uint64_t, uint64_t, n < width ? x << n : 0)
SHIFT(shr_u16, uint16_t, uint16_t, n < width ? x >> n : 0)
SHIFT(shr_u32, uint32_t, uint32_t, n < width ? x >> n : 0)
SHIFT(shr_s16, int16_t, uint16_t, x >> (n < width ? n : width - 1))
SHIFT(shr_s32, int32_t, uint32_t, x >> (n < width ? n : width - 1))
SHIFT(shr_s64, int64_t, uint64_t, x >> (n < width ? n : width - 1))

/* Undefined bytes move with the others where the count is a constant number of bytes. */
HANDLER(shr_u64)
{
    TWO;
    lanes bad = source_poison(g, &i->s[0]) & m;
    unsigned char moved[WARP];
    bool bytes = i->s[1].kind == O_CONST && i->s[1].value % 8 == 0;
    if (bad)
        EACH_LANE(l, bad)
    moved[l] = *poison_bytes(g, &i->s[0], l);
    LOOP((uint32_t)b[l] < 64 ? a[l] >> b[l] : 0);
    set_poison(g, &i->d, m, bad | source_poison(g, &i->s[1]));
    if (bad && bytes)
        EACH_LANE(l, bad)
        {
            *poison_bytes(g, &i->d, l) = (unsigned char)(moved[l] >> i->s[1].value / 8);
            if (!(moved[l] >> i->s[1].value / 8))
                g->frame->poison[i->d.index] &= ~(1u << l);
        }
}
INTEGER3(shf_l, uint32_t, uint32_t,
         (uint32_t)((((uint64_t)y << 32 | x) << (i->clamp ? (z < 32 ? z : 32) : z & 31)) >> 32))
INTEGER3(shf_r, uint32_t, uint32_t,
         (uint32_t)(((uint64_t)y << 32 | x) >> (i->clamp ? (z < 32 ? z : 32) : z & 31)))
INTEGER1(popc_32, uint32_t, uint32_t, __builtin_popcount(x))
INTEGER1(popc_64, uint64_t, uint32_t, __builtin_popcountll(x))
INTEGER1(clz_32, uint32_t, uint32_t, x ? __builtin_clz(x) : 32)
INTEGER1(clz_64, uint64_t, uint32_t, x ? __builtin_clzll(x) : 64)
INTEGER1(brev_32, uint32_t, uint32_t, __builtin_bitreverse32(x))
INTEGER1(brev_64, uint64_t, uint64_t, __builtin_bitreverse64(x))

static uint32_t find_bit(uint64_t x, unsigned width, bool amount)
{
    if (!x)
        return ~0u;
    unsigned at = 63 - (unsigned)__builtin_clzll(x);
    return amount ? width - 1 - at : at;
}
INTEGER1(bfind_u32, uint32_t, uint32_t, find_bit(x, 32, i->clamp))
INTEGER1(bfind_u64, uint64_t, uint32_t, find_bit(x, 64, i->clamp))
INTEGER1(bfind_s32, int32_t, uint32_t, find_bit((uint32_t)(x < 0 ? ~x : x), 32, i->clamp))
INTEGER1(bfind_s64, int64_t, uint32_t, find_bit((uint64_t)(x < 0 ? ~x : x), 64, i->clamp))

static uint64_t extract(uint64_t x, unsigned at, unsigned n, unsigned width, bool is_signed)
{
    at &= 0xff;
    n &= 0xff;
    unsigned sign_at = at + n - 1 < width - 1 ? at + n - 1 : width - 1;
    uint64_t sign = is_signed && n ? x >> sign_at & 1 : 0, r = at < width ? x >> at : 0;
    unsigned have = at < width ? (n < width - at ? n : width - at) : 0;
    r &= have < 64 ? (1ull << have) - 1 : ~0ull;
    if (sign && have < 64)
        r |= ~0ull << have;
    return width == 32 ? (uint32_t)r : r;
}
HANDLER(bfe)
{
    THREE;
    unsigned width = 8 * ptx_type_size(i->type);
    bool is_signed = ptx_type_is_signed(i->type);
    LOOP(extract(a[l], (unsigned)b[l], (unsigned)c[l], width, is_signed));
    DONE;
}
HANDLER(bfi)
{
    THREE;
    const uint64_t *e = source(g, &i->s[3]);
    unsigned width = 8 * ptx_type_size(i->type);
    LOOP(({
        unsigned at = (unsigned)c[l] & 0xff, n = (unsigned)e[l] & 0xff;
        uint64_t mask = at < width ? (n < 64 ? (1ull << n) - 1 : ~0ull) << at : 0;
        uint64_t r = (b[l] & ~mask) | (at < width ? a[l] << at & mask : 0);
        width == 32 ? (uint32_t)r : r;
    }));
    DONE;
}
HANDLER(lop3)
{
    THREE;
    unsigned table = (unsigned)i->s[3].value;
    LOOP(({
        uint32_t x = (uint32_t)a[l], y = (uint32_t)b[l], z = (uint32_t)c[l], r = 0;
        for (unsigned k = 0; k < 8; k++)
            if (table >> k & 1)
                r |= (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
        (uint64_t)r;
    }));
    DONE;
}
static unsigned permute_selector(unsigned mode, unsigned selector, unsigned byte)
{
    unsigned n = selector & 3;
    switch (mode) {
    case OP_F4E: return (n + byte) & 7;
    case OP_B4E: return (n - byte) & 7;
    case OP_RC8: return n;
    case OP_ECL: return byte > n ? byte : n;
    case OP_ECR: return byte < n ? byte : n;
    case OP_RC16: return (n & 1) * 2 + (byte & 1);
    default: return selector >> 4 * byte & 15;
    }
}
HANDLER(prmt)
{
    THREE;
    LOOP(({
        uint64_t both = (b[l] & 0xffffffff) << 32 | (a[l] & 0xffffffff), r = 0;
        for (unsigned k = 0; k < 4; k++) {
            unsigned s = permute_selector(i->op, (unsigned)c[l], k);
            uint64_t byte = both >> 8 * (s & 7) & 0xff;
            if (s & 8)
                byte = byte & 0x80 ? 0xff : 0;
            r |= byte << 8 * k;
        }
        r;
    }));
    DONE;
}
HANDLER(dp4a)
{
    THREE;
    bool sa = ptx_type_is_signed(i->type), sb = ptx_type_is_signed(i->type2);
    LOOP(({
        int32_t r = (int32_t)c[l];
        for (int k = 0; k < 32; k += 8) {
            int x = sa ? (int8_t)(a[l] >> k) : (uint8_t)(a[l] >> k);
            int y = sb ? (int8_t)(b[l] >> k) : (uint8_t)(b[l] >> k);
            r += x * y;
        }
        (uint64_t)(uint32_t)r;
    }));
    DONE;
}

/* Predicates are masks. */
HANDLER(bits_of_predicates)
{
    lanes a = predicate(g, &i->s[0]), b = i->nsources > 1 ? predicate(g, &i->s[1]) : 0, r;
    lanes pa = predicate_poison(g, &i->s[0]), pb = 0;
    if (i->nsources > 1)
        pb = predicate_poison(g, &i->s[1]);
    lanes bad = pa | pb;
    switch (i->row->operation) {
    case I_AND:
        r = a & b;
        bad = (pa & pb) | (pa & b) | (pb & a);
        break;
    case I_OR:
        r = a | b;
        bad = (pa & pb) | (pa & ~b) | (pb & ~a);
        break;
    case I_XOR: r = a ^ b; break;
    case I_NOT: r = ~a; break;
    default: r = a; break; /* mov */
    }
    lanes *p = &g->frame->preds[i->d.index];
    *p = (*p & ~m) | (r & m);
    set_poison(g, &i->d, m, bad);
}

static handler *by_size(const struct instruction *i, handler *h16, handler *h32, handler *h64)
{
    unsigned size = ptx_type_size(i->type);
    return size == 2 ? h16 : size == 4 ? h32 : size == 8 ? h64 : NULL;
}

bool ptx_select_bits(struct instruction *i)
{
    bool s = ptx_type_is_signed(i->type);
    switch (i->row->operation) {
    case I_AND:
        i->run = i->s[1].kind == O_CONST && i->s[0].kind == O_REG ? and_constant : and_bits;
        break;
    case I_OR: i->run = or_bits; break;
    case I_XOR: i->run = xor_bits; break;
    case I_NOT: i->run = by_size(i, not_16, not_32, not_64); break;
    case I_CNOT: i->run = by_size(i, cnot_16, cnot_32, cnot_64); break;
    case I_SHL: i->run = by_size(i, shl_16, shl_32, shl_64); break;
    case I_SHR:
        i->run = s ? by_size(i, shr_s16, shr_s32, shr_s64) : by_size(i, shr_u16, shr_u32, shr_u64);
        break;
    case I_SHF: i->run = i->left ? shf_l : shf_r; break;
    case I_LOP3: i->run = lop3; break;
    case I_POPC: i->run = by_size(i, NULL, popc_32, popc_64); break;
    case I_CLZ: i->run = by_size(i, NULL, clz_32, clz_64); break;
    case I_BREV: i->run = by_size(i, NULL, brev_32, brev_64); break;
    case I_BFIND:
        i->run =
            s ? by_size(i, NULL, bfind_s32, bfind_s64) : by_size(i, NULL, bfind_u32, bfind_u64);
        break;
    case I_BFE: i->run = bfe; break;
    case I_BFI: i->run = bfi; break;
    case I_PRMT: i->run = prmt; break;
    case I_DP4A: i->run = dp4a; break;
    default: break;
    }
    if (i->type == T_PRED)
        i->run = i->row->operation == I_AND || i->row->operation == I_OR ||
                         i->row->operation == I_XOR || i->row->operation == I_NOT
                     ? bits_of_predicates
                     : NULL;
    return i->run != NULL;
}

/* ------------------------------------------------------------------ comparison */
#define COMPARE(name, T, as)                                                                       \
    static lanes name(const uint64_t *a, const uint64_t *b, unsigned op, lanes m)                  \
    {                                                                                              \
        lanes r = 0;                                                                               \
        switch (op) {                                                                              \
            COMPARE_CASE(OP_EQ, as(T, a[l]) == as(T, b[l]))                                        \
            COMPARE_CASE(OP_NE, as(T, a[l]) < as(T, b[l]) || as(T, a[l]) > as(T, b[l]))            \
            COMPARE_CASE(OP_LT, as(T, a[l]) < as(T, b[l]))                                         \
            COMPARE_CASE(OP_LE, as(T, a[l]) <= as(T, b[l]))                                        \
            COMPARE_CASE(OP_GT, as(T, a[l]) > as(T, b[l]))                                         \
            COMPARE_CASE(OP_GE, as(T, a[l]) >= as(T, b[l]))                                        \
            COMPARE_CASE(OP_EQU, !(as(T, a[l]) < as(T, b[l]) || as(T, a[l]) > as(T, b[l])))        \
            COMPARE_CASE(OP_NEU, !(as(T, a[l]) == as(T, b[l])))                                    \
            COMPARE_CASE(OP_LTU, !(as(T, a[l]) >= as(T, b[l])))                                    \
            COMPARE_CASE(OP_LEU, !(as(T, a[l]) > as(T, b[l])))                                     \
            COMPARE_CASE(OP_GTU, !(as(T, a[l]) <= as(T, b[l])))                                    \
            COMPARE_CASE(OP_GEU, !(as(T, a[l]) < as(T, b[l])))                                     \
            COMPARE_CASE(OP_NUM, as(T, a[l]) == as(T, a[l]) && as(T, b[l]) == as(T, b[l]))         \
            COMPARE_CASE(OP_NAN, !(as(T, a[l]) == as(T, a[l]) && as(T, b[l]) == as(T, b[l])))      \
        }                                                                                          \
        return r & m;                                                                              \
    }
#define COMPARE_CASE(op, expression)                                                               \
    case op:                                                                                       \
        for (unsigned l = 0; l < WARP; l++)                                                        \
            r |= (lanes)(expression) << l;                                                         \
        break;
#define AS_INTEGER(T, v) ((T)(v))
#define AS_F32(T, v) as_f32(v)
#define AS_F64(T, v) as_f64(v)
#define AS_F16(T, v) as_f16(v)
#define AS_BF16(T, v) as_bf16(v)
COMPARE(compare_u16, uint16_t, AS_INTEGER)
COMPARE(compare_u32, uint32_t, AS_INTEGER)
COMPARE(compare_u64, uint64_t, AS_INTEGER)
COMPARE(compare_s16, int16_t, AS_INTEGER)
COMPARE(compare_s32, int32_t, AS_INTEGER)
COMPARE(compare_s64, int64_t, AS_INTEGER)
COMPARE(compare_f32, float, AS_F32)
COMPARE(compare_f64, double, AS_F64)
COMPARE(compare_f16, float, AS_F16)
COMPARE(compare_bf16, float, AS_BF16)
typedef lanes comparison(const uint64_t *, const uint64_t *, unsigned, lanes);
static comparison *const comparisons[NTYPES] = {
    [T_B16] = compare_u16,   [T_U16] = compare_u16, [T_B32] = compare_u32, [T_U32] = compare_u32,
    [T_B64] = compare_u64,   [T_U64] = compare_u64, [T_S16] = compare_s16, [T_S32] = compare_s32,
    [T_S64] = compare_s64,   [T_F32] = compare_f32, [T_F64] = compare_f64, [T_F16] = compare_f16,
    [T_BF16] = compare_bf16,
};

static lanes apply_boolean(unsigned op, lanes a, lanes b)
{
    return op == OP_AND ? a & b : op == OP_OR ? a | b : op == OP_XOR ? a ^ b : a;
}
static void write_predicate(struct group *g, const struct operand *o, lanes m, lanes value,
                            lanes bad)
{
    if (o->kind != O_PRED)
        return;
    lanes *p = &g->frame->preds[o->index];
    *p = (*p & ~m) | (value & m);
    set_poison(g, o, m, bad);
}
HANDLER(setp)
{
    lanes r = comparisons[i->type](source(g, &i->s[0]), source(g, &i->s[1]), i->op, m), n = ~r;
    lanes bad = poison_of_sources(g, i);
    if (i->op2) {
        lanes c = predicate(g, &i->s[2]);
        r = apply_boolean(i->op2, r, c);
        n = apply_boolean(i->op2, n, c);
    }
    write_predicate(g, &i->d, m, r, bad);
    write_predicate(g, &i->d2, m, n, bad);
}
/* Both halves of a register, a predicate each. */
HANDLER(setp_packed)
{
    const uint64_t *a = source(g, &i->s[0]), *b = source(g, &i->s[1]);
    uint64_t x[WARP], y[WARP];
    comparison *compare = i->type == T_F16X2 ? compare_f16 : compare_bf16;
    lanes bad = poison_of_sources(g, i), low = compare(a, b, i->op, m);
    for (unsigned l = 0; l < WARP; l++) {
        x[l] = a[l] >> 16;
        y[l] = b[l] >> 16;
    }
    write_predicate(g, &i->d, m, low, bad);
    write_predicate(g, &i->d2, m, compare(x, y, i->op, m), bad);
}
HANDLER(set_value)
{
    lanes r = comparisons[i->type2](source(g, &i->s[0]), source(g, &i->s[1]), i->op, m);
    uint64_t yes = i->type == T_F32 ? of_f32(1) : 0xffffffffu, *d = target_of(g, &i->d);
    if (i->op2)
        r = apply_boolean(i->op2, r, predicate(g, &i->s[2]));
    LOOP(r >> l & 1 ? yes : 0);
    DONE;
}
bool ptx_select_setp(struct instruction *i)
{
    bool set = i->row->operation == I_SET;
    enum type t = set ? i->type2 : i->type;
    if (!set && (t == T_F16X2 || t == T_BF16X2)) {
        i->run = setp_packed;
        return i->op && !i->op2;
    }
    i->run = set ? set_value : setp;
    return i->op && t && comparisons[t];
}

/* ------------------------------------------------------------------ selection, moves */
HANDLER(selp)
{
    TWO;
    lanes p = predicate(g, &i->s[2]), pp = predicate_poison(g, &i->s[2]);
    lanes pa = source_poison(g, &i->s[0]), pb = source_poison(g, &i->s[1]);
    uint64_t mask = mask_of(i->type);
    LOOP((p >> l & 1 ? a[l] : b[l]) & mask);
    set_poison(g, &i->d, m, pp | (pa & p) | (pb & ~p));
}
HANDLER(selp_predicate)
{
    lanes a = predicate(g, &i->s[0]), b = predicate(g, &i->s[1]), p = predicate(g, &i->s[2]);
    write_predicate(g, &i->d, m, (a & p) | (b & ~p), poison_of_sources(g, i));
}
bool ptx_select_selp(struct instruction *i)
{
    i->run = i->type == T_PRED ? selp_predicate : selp;
    return true;
}

HANDLER(mov)
{
    ONE;
    lanes bad = source_poison(g, &i->s[0]) & m;
    uint64_t mask = mask_of(i->type);
    LOOP(a[l] & mask);
    set_poison(g, &i->d, m, bad);
    if (bad)
        EACH_LANE(l, bad)
    *poison_bytes(g, &i->d, l) = *poison_bytes(g, &i->s[0], l);
}
HANDLER(mov_local)
{
    uint64_t *d = target_of(g, &i->d);
    const uint32_t *base = g->frame->local_base;
    LOOP(base[l] + i->s[0].value);
    set_poison(g, &i->d, m, 0);
}
HANDLER(mov_param)
{
    uint64_t *d = target_of(g, &i->d);
    LOOP(i->s[0].value);
    set_poison(g, &i->d, m, 0);
}
static uint64_t special_value(const struct group *g, unsigned lane, unsigned which)
{
    const struct team *t = g->warp->team;
    const unsigned *block = t->launch->block, *grid = t->launch->grid;
    unsigned n = g->warp->number * WARP + lane;
    const unsigned tid[3] = { n % block[0], n / block[0] % block[1], n / block[0] / block[1] };
    if (which < SR_NTID)
        return tid[which];
    if (which < SR_CTAID)
        return block[which - SR_NTID];
    if (which < SR_NCTAID)
        return t->id[which - SR_CTAID];
    if (which < SR_LANEID)
        return grid[which - SR_NCTAID];
    switch (which) {
    case SR_LANEID: return lane;
    case SR_WARPID: return g->warp->number;
    case SR_NWARPID: return t->nwarps;
    case SR_SMID: return t->number % 4;
    case SR_NSMID: return 4;
    case SR_GRIDID: return t->launch->number;
    case SR_LANEMASK_EQ: return 1u << lane;
    case SR_LANEMASK_LT: return (1u << lane) - 1;
    case SR_LANEMASK_LE: return (2u << lane) - 1;
    case SR_LANEMASK_GT: return (uint32_t)(~0u << lane << 1);
    case SR_LANEMASK_GE: return (uint32_t)(~0u << lane);
    case SR_CLOCK: return (uint32_t)g->warp->steps;
    case SR_CLOCK64: return g->warp->steps;
    case SR_GLOBALTIMER: return ptx_nanoseconds();
    case SR_DYNAMIC_SMEM: return t->launch->dynamic_shared;
    case SR_TOTAL_SMEM: return t->launch->dynamic_shared + t->launch->entry->shared_bytes;
    default: return 0;
    }
}
HANDLER(mov_special)
{
    uint64_t *d = target_of(g, &i->d);
    unsigned which = i->s[0].index;
    LOOP(special_value(g, l, which));
    set_poison(g, &i->d, m, 0);
}
/* mov.b64 {lo, hi}, %rd;  mov.b32 {h0, h1, …}, %r; */
HANDLER(unpack)
{
    const uint64_t *a = source(g, &i->s[0]);
    unsigned bits = 8 * ptx_type_size(i->type) / i->d.n;
    uint64_t mask = bits < 64 ? (1ull << bits) - 1 : ~0ull;
    lanes bad = source_poison(g, &i->s[0]) & m;
    for (unsigned k = 0; k < i->d.n; k++) {
        const struct operand *o = &i->d.parts[k];
        if (o->kind != O_REG)
            continue;
        uint64_t *d = target_of(g, o);
        LOOP(a[l] >> k * bits & mask);
        lanes still = 0;
        if (bad)
            EACH_LANE(l, bad)
        still |=
            (lanes)((*poison_bytes(g, &i->s[0], l) >> k * bits / 8 & ((1u << bits / 8) - 1)) != 0)
            << l;
        set_poison(g, o, m, still);
    }
}
HANDLER(pack)
{
    uint64_t *d = target_of(g, &i->d), value[WARP] = { 0 };
    unsigned bits = 8 * ptx_type_size(i->type) / i->s[0].n;
    uint64_t mask = bits < 64 ? (1ull << bits) - 1 : ~0ull;
    unsigned char bytes[WARP] = { 0 };
    lanes bad = 0;
    for (unsigned k = 0; k < i->s[0].n; k++) {
        const struct operand *o = &i->s[0].parts[k];
        const uint64_t *a = source(g, o);
        for (unsigned l = 0; l < WARP; l++)
            value[l] |= (a[l] & mask) << k * bits;
        lanes p = source_poison(g, o) & m;
        if (p)
            EACH_LANE(l, p)
        bytes[l] |=
            (unsigned char)((*poison_bytes(g, o, l) & ((1u << bits / 8) - 1)) << k * bits / 8);
        bad |= p;
    }
    LOOP(value[l]);
    set_poison(g, &i->d, m, bad);
    if (bad)
        EACH_LANE(l, bad)
    *poison_bytes(g, &i->d, l) = bytes[l];
}
bool ptx_select_mov(struct instruction *i)
{
    switch (i->s[0].kind) {
    case O_SPECIAL: i->run = mov_special; return true;
    case O_LOCAL: i->run = mov_local; return true;
    case O_PARAM: i->run = mov_param; return true;
    case O_VECTOR: i->run = pack; return i->d.kind == O_REG;
    case O_PRED: i->run = bits_of_predicates; return true;
    case O_LABEL: return false;
    default: break;
    }
    if (i->d.kind == O_VECTOR)
        i->run = unpack;
    else
        i->run = i->type == T_PRED ? bits_of_predicates : mov;
    return true;
}

struct operand ptx_special_register(const char *name)
{
    static const struct {
        const char *name;
        unsigned index;
    } names[] = {
        { "%tid", SR_TID },
        { "%ntid", SR_NTID },
        { "%ctaid", SR_CTAID },
        { "%nctaid", SR_NCTAID },
        { "%laneid", SR_LANEID },
        { "%warpid", SR_WARPID },
        { "%nwarpid", SR_NWARPID },
        { "%smid", SR_SMID },
        { "%nsmid", SR_NSMID },
        { "%gridid", SR_GRIDID },
        { "%lanemask_eq", SR_LANEMASK_EQ },
        { "%lanemask_lt", SR_LANEMASK_LT },
        { "%lanemask_le", SR_LANEMASK_LE },
        { "%lanemask_gt", SR_LANEMASK_GT },
        { "%lanemask_ge", SR_LANEMASK_GE },
        { "%clock", SR_CLOCK },
        { "%clock64", SR_CLOCK64 },
        { "%globaltimer", SR_GLOBALTIMER },
        { "%dynamic_smem_size", SR_DYNAMIC_SMEM },
        { "%total_smem_size", SR_TOTAL_SMEM },
    };
    size_t n = strcspn(name, ".");
    unsigned dimension = name[n] == '.' ? (unsigned)(name[n + 1] - 'x') : 0;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == n && !memcmp(names[i].name, name, n) && dimension < 3)
            return (struct operand){ .kind = O_SPECIAL, .index = names[i].index + dimension };
    return (struct operand){ .kind = O_NONE };
}

/* ------------------------------------------------------------------ conversion */
static uint64_t narrow(uint64_t v, enum type t) { return v & mask_of(t); }
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
static uint64_t integer_to_float(uint64_t v, enum type from, enum type to)
{
    if (to == T_F64)
        return of_f64(ptx_type_is_signed(from) ? (double)widen(v, from) : (double)narrow(v, from));
    volatile float f = ptx_type_is_signed(from) ? (float)widen(v, from) : (float)narrow(v, from);
    return to == T_F32 ? of_f32(f) : to == T_F16 ? of_f16(f) : of_bf16(f);
}
static uint64_t float_to_float(double x, const struct instruction *i)
{
    if (i->rounding >= R_RNI)
        x = round_integral(x, i->rounding);
    if (i->sat)
        x = saturate64(x);
    if (i->type == T_F64)
        return of_f64(x);
    volatile float f = (float)x;
    if (i->type == T_F32)
        return of_f32(flush32(f, i->ftz));
    return i->type == T_F16 ? of_f16((float)x) : of_bf16((float)x);
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
        return integer_to_float(v, from, to);
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
    unsigned char bytes[WARP];
    lanes still = 0;
    if (bad)
        EACH_LANE(l, bad)
        {
            bytes[l] = (unsigned char)(*poison_bytes(g, &i->s[0], l) & ((1u << size) - 1));
            still |= (lanes)(bytes[l] != 0) << l;
        }
    LOOP(a[l] & mask);
    set_poison(g, &i->d, m, still);
    if (still)
        EACH_LANE(l, still)
    *poison_bytes(g, &i->d, l) = bytes[l];
}
/* cvt.rn.f16x2.f32 d, high, low; */
HANDLER(cvt_pack)
{
    TWO;
    LOOP(i->type == T_F16X2 ? of_f16(as_f32(a[l])) << 16 | of_f16(as_f32(b[l]))
                            : of_bf16(as_f32(a[l])) << 16 | of_bf16(as_f32(b[l])));
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
