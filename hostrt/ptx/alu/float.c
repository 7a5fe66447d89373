/* float.c - floating-point arithmetic and functions (PTX ISA 8.x, sections 9.7.3 to 9.7.5). */
#include "hostrt/ptx/alu/alu.h"

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
    HANDLER(name##_half)                                                                           \
    {                                                                                              \
        OPERANDS;                                                                                  \
        bool ftz = i->ftz;                                                                         \
        unsigned width = 8 * ptx_type_size(i->type);                                               \
        LOOP(({                                                                                    \
            uint64_t all = 0;                                                                      \
            for (unsigned at = 0; at < width; at += 16) {                                          \
                LOAD(double, HALF, flush_half)                                                     \
                all |= of_half(i, expression64) << at;                                             \
            }                                                                                      \
            all;                                                                                   \
        }));                                                                                       \
        DONE;                                                                                      \
    }
/* One or two halves in a register, computed in double precision and rounded once. */
static inline enum type half_type(enum type t)
{
    return t == T_F16X2 ? T_F16 : t == T_BF16X2 ? T_BF16 : t;
}
#define HALF(v)                                                                                    \
    (half_type(i->type) == T_F16 ? (double)as_f16((v) >> at) : (double)as_bf16((v) >> at))
static inline double flush_half(double x, bool ftz)
{
    return ftz && fabs(x) < 0x1p-14 ? copysign(0, x) : x;
}
static inline uint64_t of_half(const struct instruction *i, double x)
{
    x = i->sat ? saturate64(x) : i->relu && x <= 0 ? 0 : x;
    return ptx_round_to_half(half_type(i->type), flush_half(x, i->ftz), R_RN);
}
#define F32_PART(v) as_f32((v) >> at)
#define F32X2_HANDLER(name, OPERANDS, LOAD, expression32)                                          \
    HANDLER(name##_f32x2)                                                                          \
    {                                                                                              \
        OPERANDS;                                                                                  \
        bool ftz = i->ftz;                                                                         \
        if (is_directed(i))                                                                        \
            set_rounding(i->rounding);                                                             \
        LOOP(({                                                                                    \
            uint64_t both = 0;                                                                     \
            for (unsigned at = 0; at < 64; at += 32) {                                             \
                LOAD(float, F32_PART, flush32)                                                     \
                volatile float r = expression32;                                                   \
                both |= of_f32(flush32(r, ftz)) << at;                                             \
            }                                                                                      \
            both;                                                                                  \
        }));                                                                                       \
        if (is_directed(i))                                                                        \
            set_rounding(R_RN);                                                                    \
        DONE;                                                                                      \
    }
static inline double same64(double f, bool ftz) { return (void)ftz, f; }
#define LOAD1(T, as, flush) T x = flush(as(a[l]), ftz);
#define LOAD2(T, as, flush) T x = flush(as(a[l]), ftz), y = flush(as(b[l]), ftz);
#define LOAD3(T, as, flush)                                                                        \
    T x = flush(as(a[l]), ftz), y = flush(as(b[l]), ftz), z = flush(as(c[l]), ftz);

FLOAT_HANDLER(add, TWO, LOAD2, x + y, x + y)
F32X2_HANDLER(add, TWO, LOAD2, x + y)
FLOAT_HANDLER(sub, TWO, LOAD2, x - y, x - y)
F32X2_HANDLER(sub, TWO, LOAD2, x - y)
FLOAT_HANDLER(mul, TWO, LOAD2, x *y, x *y)
F32X2_HANDLER(mul, TWO, LOAD2, x *y)
FLOAT_HANDLER(div, TWO, LOAD2, x / y, x / y)
FLOAT_HANDLER(fma, THREE, LOAD3, fmaf(x, y, z), fma(x, y, z))
F32X2_HANDLER(fma, THREE, LOAD3, fmaf(x, y, z))
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
static inline double min64(double x, double y, bool nan)
{
    if (x != x || y != y)
        return nan ? NAN : x != x ? y : x;
    return x < y || (x == y && signbit(x)) ? x : y;
}
static inline double max64(double x, double y, bool nan)
{
    if (x != x || y != y)
        return nan ? NAN : x != x ? y : x;
    return x > y || (x == y && !signbit(x)) ? x : y;
}
FLOAT_HANDLER(min, TWO, LOAD2, min32(x, y, i->op == OP_NAN), min64(x, y, i->op == OP_NAN))
FLOAT_HANDLER(max, TWO, LOAD2, max32(x, y, i->op == OP_NAN), max64(x, y, i->op == OP_NAN))
/* The least and the greatest of three (sm_100). */
static inline float of_three(const struct instruction *i, float x, float y, float z)
{
    bool nan = i->op == OP_NAN;
    return i->row->operation == I_MIN ? min32(min32(x, y, nan), z, nan)
                                      : max32(max32(x, y, nan), z, nan);
}
HANDLER(of_three_f32)
{
    THREE;
    bool ftz = i->ftz;
    LOOP(({
        LOAD3(float, as_f32, flush32)
        of_f32(of_three(i, x, y, z));
    }));
    DONE;
}
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

/* ------------------------------------------------------------------ choosing by type */
#define SINGLE(n) [T_F16] = n##_half, [T_BF16] = n##_half, [T_F32] = n##_f32, [T_F64] = n##_f64
#define HALVES(n) [T_F16X2] = n##_half, [T_BF16X2] = n##_half
#define FLOATS(n) { SINGLE(n) }
#define FLOATS_HALVES(n) { SINGLE(n), HALVES(n) }
#define FLOATS_PACKED(n) { SINGLE(n), HALVES(n), [T_F32X2] = n##_f32x2 }

bool ptx_select_float(struct instruction *i)
{
    static handler *const arithmetic[][NTYPES] = {
        [I_ADD] = FLOATS_PACKED(add),
        [I_SUB] = FLOATS_PACKED(sub),
        [I_MUL] = FLOATS_PACKED(mul),
        [I_FMA] = FLOATS_PACKED(fma),
        [I_MAD] = FLOATS(fma),
        [I_DIV] = FLOATS(div),
        [I_COPYSIGN] = FLOATS(copysign),
        [I_ABS] = FLOATS_HALVES(abs),
        [I_NEG] = FLOATS_HALVES(neg),
        [I_MIN] = FLOATS_HALVES(min),
        [I_MAX] = FLOATS_HALVES(max),
        [I_SAD] = { NULL },
        [I_MUL24] = { NULL },
    };
    i->run = arithmetic[i->row->operation][i->type];
    if (i->nsources == 3 && (i->row->operation == I_MIN || i->row->operation == I_MAX))
        i->run = i->type == T_F32 ? of_three_f32 : NULL;
    return i->run != NULL && !(i->type == T_F32X2 && i->sat) &&
           (!i->relu || ptx_type_size(half_type(i->type)) == 2);
}

bool ptx_select_function(struct instruction *i)
{
    static handler *const functions[][NTYPES] = {
        [I_RCP] = FLOATS(rcp),        [I_SQRT] = FLOATS(sqrt),        [I_RSQRT] = FLOATS(rsqrt),
        [I_SIN] = FLOATS(sin),        [I_COS] = FLOATS(cos),          [I_LG2] = FLOATS(lg2),
        [I_EX2] = FLOATS_HALVES(ex2), [I_TANH] = FLOATS_HALVES(tanh),
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
    EACH_LANE(l, m) {
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
