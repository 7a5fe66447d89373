/* alu.h - what the handlers of arithmetic, bits, comparison, moves and conversion share.  A
 * register holds its value in the low bits of 64; the bits above are zero.
 *
 * A handler is a loop over the active lanes, made by LOOP for one expression; all 32 lanes at once
 * where they are active, so that the compiler can vectorise it.  INTEGER1 … INTEGER3 make a whole
 * handler from an expression of x, y and z. */
#ifndef OMPGPU_PTX_ALU_H
#define OMPGPU_PTX_ALU_H
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
/* f16 or bf16 from a value of any precision, rounded once (convert.c). */
uint64_t ptx_round_to_half(enum type, long double, enum rounding);
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
                d[l] = (expression);                                                               \
    } while (0)
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

static inline lanes poison_of_sources(const struct group *g, const struct instruction *i)
{
    lanes bad = 0;
    for (unsigned k = 0; k < i->nsources; k++)
        bad |= i->s[k].kind == O_PRED ? predicate_poison(g, &i->s[k]) : source_poison(g, &i->s[k]);
    return bad;
}
#define DONE set_poison(g, &i->d, m, poison_of_sources(g, i))

/* The same for sums, differences and low halves of products: carries only go up, so that the bytes
 * below the first undefined one are what they are. */
static inline void set_poison_upwards(const struct group *g, const struct instruction *i, lanes m)
{
    unsigned size = ptx_type_size(i->type);
    lanes bad = poison_of_sources(g, i) & m;
    unsigned char undefined[WARP];
    EACH_LANE(l, bad) {
        unsigned bytes = 0;
        for (unsigned k = 0; k < i->nsources; k++)
            bytes |= undefined_bytes(g, &i->s[k], l, size);
        undefined[l] = (unsigned char)((0 - (bytes & (0 - bytes))) & ((1u << size) - 1));
    }
    set_undefined_bytes(g, &i->d, m, bad, undefined);
}

/* ------------------------------------------------------------------ handlers from an expression */
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
#define INTEGER2_THEN(done, name, T, U, expression)                                                \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        TWO;                                                                                       \
        LOOP(({                                                                                    \
            T x = (T)a[l], y = (T)b[l];                                                            \
            (U)(expression);                                                                       \
        }));                                                                                       \
        done;                                                                                      \
    }
#define INTEGER3_THEN(done, name, T, U, expression)                                                \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        THREE;                                                                                     \
        LOOP(({                                                                                    \
            T x = (T)a[l], y = (T)b[l], z = (T)c[l];                                               \
            (U)(expression);                                                                       \
        }));                                                                                       \
        done;                                                                                      \
    }
#define INTEGER2(name, T, U, expression) INTEGER2_THEN(DONE, name, T, U, expression)
#define INTEGER3(name, T, U, expression) INTEGER3_THEN(DONE, name, T, U, expression)
/* ------------------------------------------------------------------ rounding */
static inline void set_rounding(enum rounding r)
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

/* Chosen by type where a row of isa.def has integers and floats. */
bool ptx_select_integer(struct instruction *);
bool ptx_select_float(struct instruction *);
handler ptx_predicate_logic; /* and, or, xor, not, mov of predicates */
#endif
