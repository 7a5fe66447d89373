/* integer.c - integer arithmetic, with and without carry (PTX ISA 8.x, sections 9.7.1 and 9.7.2).
 */
#include "hostrt/ptx/alu/alu.h"

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

#define CARRYING2(name, T, expression)                                                             \
    INTEGER2_THEN(set_poison_upwards(g, i, m), name, T, T, expression)
#define CARRYING3(name, T, expression)                                                             \
    INTEGER3_THEN(set_poison_upwards(g, i, m), name, T, T, expression)

CARRYING2(add_u16, uint16_t, x + y)
CARRYING2(add_u32, uint32_t, x + y)
CARRYING2(add_u64, uint64_t, x + y)
CARRYING2(sub_u16, uint16_t, x - y)
CARRYING2(sub_u32, uint32_t, x - y)
CARRYING2(sub_u64, uint64_t, x - y)
CARRYING2(mul_u16, uint16_t, (uint32_t)x *y)
CARRYING2(mul_u32, uint32_t, x *y)
CARRYING2(mul_u64, uint64_t, x *y)
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
CARRYING3(mad_u16, uint16_t, (uint32_t)x *y + z)
CARRYING3(mad_u32, uint32_t, x *y + z)
CARRYING3(mad_u64, uint64_t, x *y + z)
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
    LOOP((uint32_t)((int32_t)(int16_t)a[l] * (int16_t)b[l]) + (uint32_t)c[l]);
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

/* .sat and .relu */
static inline int32_t saturate_s32(int64_t v)
{
    return v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : (int32_t)v;
}
INTEGER2(add_sat, int32_t, uint32_t, saturate_s32((int64_t)x + y))
INTEGER2(sub_sat, int32_t, uint32_t, saturate_s32((int64_t)x - y))
INTEGER2(min_relu, int32_t, uint32_t, x < 0 || y < 0 ? 0 : x < y ? x : y)
INTEGER2(max_relu, int32_t, uint32_t, x < 0 && y < 0 ? 0 : x > y ? x : y)

/* ------------------------------------------------------------------ extended precision */
/* The carry flag of a lane is the warp's; it lives from one instruction to the next.  A difference
 * is a + ~b + 1, and the flag its carry (no borrow): nvcc reads it by addc after subc. */
static void carry_lanes(struct group *g, const struct instruction *i, lanes m, bool use)
{
    lanes carry = g->warp->carry, out = 0;
    bool wide = ptx_type_size(i->type) == 8,
         subtract = i->row->operation == I_SUB || i->row->operation == I_SUBC;
    const uint64_t *a = source(g, &i->s[0]), *b = source(g, &i->s[1]);
    uint64_t *d = target_of(g, &i->d), mask = wide ? ~0ull : 0xffffffffu;
    EACH_LANE(l, m) {
        uint64_t x = a[l] & mask, y = (subtract ? ~b[l] : b[l]) & mask;
        unsigned in = use ? carry >> l & 1 : subtract;
        unsigned __int128 r = (unsigned __int128)x + y + in;
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
    EACH_LANE(l, m) {
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

/* ------------------------------------------------------------------ choosing by type */
#define UNSIGNED_AND_SIGNED(u16, u32, u64, s16, s32, s64)                                          \
    { [T_U16] = u16, [T_B16] = u16, [T_U32] = u32, [T_B32] = u32, [T_U64] = u64,                   \
      [T_B64] = u64, [T_S16] = s16, [T_S32] = s32, [T_S64] = s64 }
#define ALIKE(n) UNSIGNED_AND_SIGNED(n##_u16, n##_u32, n##_u64, n##_u16, n##_u32, n##_u64)
#define BOTH(n) UNSIGNED_AND_SIGNED(n##_u16, n##_u32, n##_u64, n##_s16, n##_s32, n##_s64)
#define SIGNED(n) { [T_S16] = n##_s16, [T_S32] = n##_s32, [T_S64] = n##_s64 }
#define HIGH(n) { [T_U32] = n##_u32, [T_S32] = n##_s32, [T_U64] = n##_u64, [T_S64] = n##_s64 }
#define WIDE(n) { [T_U16] = n##_u16, [T_S16] = n##_s16, [T_U32] = n##_u32, [T_S32] = n##_s32 }

static handler *const arithmetic[][NTYPES] = {
    [I_ADD] = ALIKE(add),
    [I_SUB] = ALIKE(sub),
    [I_MUL] = ALIKE(mul),
    [I_MAD] = ALIKE(mad),
    [I_DIV] = BOTH(div),
    [I_REM] = BOTH(rem),
    [I_MIN] = BOTH(min),
    [I_MAX] = BOTH(max),
    [I_ABS] = SIGNED(abs),
    [I_NEG] = SIGNED(neg),
    [I_COPYSIGN] = { NULL },
    [I_SAD] = { [T_U32] = sad_u32, [T_S32] = sad_s32 },
    [I_MUL24] = { [T_U32] = mul24_u32, [T_S32] = mul24_s32 },
};
static handler *const high_multiply[NTYPES] = {
    [T_U16] = mul_hi_u16, [T_S16] = mul_hi_s16, [T_U32] = mul_hi_u32,
    [T_S32] = mul_hi_s32, [T_U64] = mul_hi_u64, [T_S64] = mul_hi_s64,
};
static handler *const wide_multiply[NTYPES] = WIDE(mul_wide);
static handler *const high_mad[NTYPES] = HIGH(mad_hi);
static handler *const wide_mad[NTYPES] = WIDE(mad_wide);

/* .sat and .relu: of 32 bits with sign, for some operations. */
static handler *limited(const struct instruction *i)
{
    if (i->type != T_S32 || i->hi || i->carry_out)
        return NULL;
    switch (i->row->operation) {
    case I_ADD: return add_sat;
    case I_SUB: return sub_sat;
    case I_MIN: return min_relu;
    case I_MAX: return max_relu;
    default: return NULL;
    }
}

bool ptx_select_arithmetic(struct instruction *i)
{
    unsigned op = i->row->operation;
    if (ptx_type_is_float(i->type))
        return ptx_select_float(i);
    if (i->nsources == 3 && (op == I_MIN || op == I_MAX))
        return false;
    if (i->type == T_U16X2 || i->type == T_S16X2)
        return ptx_select_packed(i);
    if (i->sat || i->relu)
        i->run = limited(i);
    else if (op == I_MUL24 && i->hi)
        i->run = NULL;
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
