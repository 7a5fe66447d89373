/* packed.c - integers that share a register: two of 16 bits (add, min, max), sums of products and
 * absolute differences of 8 and 16 bits (PTX ISA 8.x, sections 9.7.1 and 9.7.16). */
#include "hostrt/ptx/alu/alu.h"

#define PACKED(name, T, expression)                                                                \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        TWO;                                                                                       \
        LOOP(({                                                                                    \
            uint64_t r = 0;                                                                        \
            for (int k = 0; k < 32; k += 16) {                                                     \
                T x = (T)(a[l] >> k), y = (T)(b[l] >> k);                                          \
                r |= (uint64_t)(uint16_t)(expression) << k;                                        \
            }                                                                                      \
            r;                                                                                     \
        }));                                                                                       \
        DONE;                                                                                      \
    }
PACKED(add_16x2, uint16_t, x + y)
PACKED(min_u16x2, uint16_t, x < y ? x : y)
PACKED(max_u16x2, uint16_t, x > y ? x : y)
static inline int16_t unless_negative(int16_t x, bool relu) { return relu && x < 0 ? 0 : x; }
PACKED(min_s16x2, int16_t, unless_negative(x < y ? x : y, i->relu))
PACKED(max_s16x2, int16_t, unless_negative(x > y ? x : y, i->relu))

/* Part k of a register, `bits` wide. */
static int part(uint64_t v, unsigned k, unsigned bits, bool is_signed)
{
    uint32_t up = (uint32_t)v << (32 - bits - k * bits);
    return is_signed ? (int32_t)up >> (32 - bits) : (int)(up >> (32 - bits));
}

HANDLER(dp4a)
{
    THREE;
    bool sa = ptx_type_is_signed(i->type), sb = ptx_type_is_signed(i->type2);
    LOOP(({
        uint32_t r = (uint32_t)c[l];
        for (unsigned k = 0; k < 4; k++)
            r += (uint32_t)(part(a[l], k, 8, sa) * part(b[l], k, 8, sb));
        (uint64_t)r;
    }));
    DONE;
}
/* Both halves of a by the lower or the upper two bytes of b. */
HANDLER(dp2a)
{
    THREE;
    bool sa = ptx_type_is_signed(i->type), sb = ptx_type_is_signed(i->type2);
    LOOP(({
        uint32_t r = (uint32_t)c[l];
        for (unsigned k = 0; k < 2; k++)
            r += (uint32_t)(part(a[l], k, 16, sa) * part(b[l], k + 2 * i->hi, 8, sb));
        (uint64_t)r;
    }));
    DONE;
}

/* vabsdiff2, vabsdiff4: in each part or, with .add, their sum and c.  Without .add c is only what
 * parts without a result would keep, and every part has one. */
static void absolute_differences(struct group *g, const struct instruction *i, lanes m,
                                 unsigned bits)
{
    THREE;
    bool sa = ptx_type_is_signed(i->type), sb = ptx_type_is_signed(i->type2), add = i->op == OP_ADD;
    lanes bad = source_poison(g, &i->s[0]) | source_poison(g, &i->s[1]);
    LOOP(({
        uint32_t r = add ? (uint32_t)c[l] : 0;
        for (unsigned k = 0; k < 32 / bits; k++) {
            int x = part(a[l], k, bits, sa), y = part(b[l], k, bits, sb);
            uint32_t difference = (uint32_t)(x > y ? x - y : y - x);
            r = add ? r + difference : r | difference << k * bits;
        }
        (uint64_t)r;
    }));
    set_poison(g, &i->d, m, add ? bad | source_poison(g, &i->s[2]) : bad);
}
HANDLER(vabsdiff2) { absolute_differences(g, i, m, 16); }
HANDLER(vabsdiff4) { absolute_differences(g, i, m, 8); }

bool ptx_select_packed(struct instruction *i)
{
    static handler *const arithmetic[][2] = {
        [I_ADD] = { add_16x2, add_16x2 },
        [I_MIN] = { min_u16x2, min_s16x2 },
        [I_MAX] = { max_u16x2, max_s16x2 },
    };
    switch (i->row->operation) {
    case I_DP2A: i->run = dp2a; break;
    case I_DP4A: i->run = dp4a; break;
    case I_VABSDIFF2: i->run = vabsdiff2; break;
    case I_VABSDIFF4: i->run = vabsdiff4; break;
    default:
        if (i->row->operation < sizeof arithmetic / sizeof *arithmetic)
            i->run = arithmetic[i->row->operation][i->type == T_S16X2];
    }
    return i->run != NULL;
}
