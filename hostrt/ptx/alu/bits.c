/* bits.c - logic, shifts, counting and moving of bits (PTX ISA 8.x, sections 9.7.1 and 9.7.8). */
#include "hostrt/ptx/alu/alu.h"

/* Where the other operand's byte alone decides, 0 for `and`, 0xff for `or`; of an update of a
 * bit-field some bits are enough, which are the field. */
static bool decides(const struct instruction *i, unsigned byte)
{
    unsigned op = i->row->operation;
    if (op == I_XOR)
        return false;
    return i->inserts ? byte != (op == I_OR ? 0 : 0xff) : byte == (op == I_OR ? 0xff : 0);
}

/* A byte of the result is undefined when it depends on one. */
static unsigned char undecided_bytes(const struct group *g, const struct instruction *i, unsigned l)
{
    unsigned size = ptx_type_size(i->type);
    unsigned char bad[2], left = 0;
    for (unsigned k = 0; k < 2; k++)
        bad[k] = undefined_bytes(g, &i->s[k], l, size);
    for (unsigned k = 0; k < size; k++) {
        bool decided = false;
        for (unsigned n = 0; n < 2; n++)
            decided |= !(bad[n] >> k & 1) && decides(i, source(g, &i->s[n])[l] >> 8 * k & 0xff);
        left |= (unsigned char)(((bad[0] | bad[1]) >> k & !decided) << k);
    }
    return left;
}
#define BITS(name, expression)                                                                     \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        TWO;                                                                                       \
        uint64_t mask = mask_of(i->type);                                                          \
        lanes bad = poison_of_sources(g, i) & m;                                                   \
        unsigned char undefined[WARP];                                                             \
        EACH_LANE(l, bad)                                                                          \
            undefined[l] = undecided_bytes(g, i, l);                                               \
        LOOP((a[l] expression b[l]) & mask);                                                       \
        set_undefined_bytes(g, &i->d, m, bad, undefined);                                          \
    }
BITS(and_bits, &)
BITS(or_bits, |)
BITS(xor_bits, ^)
INTEGER1(not_16, uint16_t, uint16_t, ~x)
INTEGER1(not_32, uint32_t, uint32_t, ~x)
INTEGER1(not_64, uint64_t, uint64_t, ~x)
INTEGER1(cnot_16, uint16_t, uint16_t, !x)
INTEGER1(cnot_32, uint32_t, uint32_t, !x)
INTEGER1(cnot_64, uint64_t, uint64_t, !x)
/* Undefined bytes move with the others; a signed one on top is copied. */
static unsigned char shifted_bytes(const struct group *g, const struct instruction *i, unsigned l)
{
    unsigned size = ptx_type_size(i->type), all = (1u << size) - 1;
    unsigned bad = undefined_bytes(g, &i->s[0], l, size);
    uint32_t count = (uint32_t)source(g, &i->s[1])[l];
    if (undefined_bytes(g, &i->s[1], l, 4))
        return (unsigned char)all;
    if (i->row->operation == I_SHR && ptx_type_is_signed(i->type) && bad >> (size - 1))
        bad |= 0xff00;
    unsigned whole = count < 8 * size ? count / 8 : size, part = count < 8 * size && count % 8;
    bad = i->row->operation == I_SHL ? bad << whole | (part ? bad << (whole + 1) : 0)
                                     : bad >> whole | (part ? bad >> (whole + 1) : 0);
    return (unsigned char)(bad & all);
}
/* Shift counts are 32 bits; beyond the width all bits go. */
#define SHIFT(name, T, U, expression)                                                              \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        TWO;                                                                                       \
        lanes bad = poison_of_sources(g, i) & m;                                                   \
        unsigned char undefined[WARP];                                                             \
        EACH_LANE(l, bad)                                                                          \
            undefined[l] = shifted_bytes(g, i, l);                                                 \
        LOOP(({                                                                                    \
            T x = (T)a[l];                                                                         \
            uint32_t n = (uint32_t)b[l], width = 8 * sizeof(T);                                    \
            (void)width;                                                                           \
            (U)(expression);                                                                       \
        }));                                                                                       \
        set_undefined_bytes(g, &i->d, m, bad, undefined);                                          \
    }
SHIFT(shl_16, uint16_t, uint16_t, n < width ? x << n : 0)
SHIFT(shl_32, uint32_t, uint32_t, n < width ? x << n : 0)
SHIFT(shl_64, uint64_t, uint64_t, n < width ? x << n : 0)
SHIFT(shr_u16, uint16_t, uint16_t, n < width ? x >> n : 0)
SHIFT(shr_u32, uint32_t, uint32_t, n < width ? x >> n : 0)
SHIFT(shr_u64, uint64_t, uint64_t, n < width ? x >> n : 0)
SHIFT(shr_s16, int16_t, uint16_t, x >> (n < width ? n : width - 1))
SHIFT(shr_s32, int32_t, uint32_t, x >> (n < width ? n : width - 1))
SHIFT(shr_s64, int64_t, uint64_t, x >> (n < width ? n : width - 1))

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
/* b ones from bit a on */
HANDLER(bmsk)
{
    TWO;
    LOOP(({
        uint32_t x = (uint32_t)a[l], y = (uint32_t)b[l];
        x = i->clamp ? (x < 32 ? x : 32) : x & 31;
        y = i->clamp ? (y < 32 ? y : 32) : y & 31;
        ((1ull << y) - 1) << x & 0xffffffff;
    }));
    DONE;
}

/* By size and, in the second table, with sign. */
#define ANY(h) { h, h, h }
static handler *const by_size[][3] = {
    [I_AND] = ANY(and_bits),
    [I_OR] = ANY(or_bits),
    [I_XOR] = ANY(xor_bits),
    [I_NOT] = { not_16, not_32, not_64 },
    [I_CNOT] = { cnot_16, cnot_32, cnot_64 },
    [I_SHL] = { shl_16, shl_32, shl_64 },
    [I_SHR] = { shr_u16, shr_u32, shr_u64 },
    [I_LOP3] = { NULL, lop3, NULL },
    [I_POPC] = { NULL, popc_32, popc_64 },
    [I_CLZ] = { NULL, clz_32, clz_64 },
    [I_BREV] = { NULL, brev_32, brev_64 },
    [I_BFIND] = { NULL, bfind_u32, bfind_u64 },
    [I_BFE] = { NULL, bfe, bfe },
    [I_BFI] = { NULL, bfi, bfi },
    [I_BMSK] = { NULL, bmsk, NULL },
    [I_PRMT] = { NULL, prmt, NULL },
};
static handler *const by_size_signed[][3] = {
    [I_SHR] = { shr_s16, shr_s32, shr_s64 },
    [I_BFIND] = { NULL, bfind_s32, bfind_s64 },
};

bool ptx_select_bits(struct instruction *i)
{
    unsigned operation = i->row->operation, size = ptx_type_size(i->type);
    unsigned column = size == 2 ? 0 : size == 4 ? 1 : 2;
    bool has_sign = operation == I_SHR || operation == I_BFIND;
    if (i->type == T_PRED)
        i->run = operation == I_AND || operation == I_OR || operation == I_XOR || operation == I_NOT
                     ? ptx_predicate_logic
                     : NULL;
    else if (size != 2 && size != 4 && size != 8)
        i->run = NULL;
    else if (operation == I_SHF)
        i->run = size == 4 ? i->left ? shf_l : shf_r : NULL;
    else
        i->run =
            (has_sign && ptx_type_is_signed(i->type) ? by_size_signed : by_size)[operation][column];
    return i->run != NULL;
}
