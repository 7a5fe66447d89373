/* types.c - the types of PTX: their names and sizes. */
#include <string.h>
#include "hostrt/ptx/isa.h"

enum type ptx_type_named(const char *word)
{
    static const char *const names[NTYPES] = {
        [T_PRED] = "pred",   [T_B8] = "b8",       [T_B16] = "b16",       [T_B32] = "b32",
        [T_B64] = "b64",     [T_B128] = "b128",   [T_U8] = "u8",         [T_U16] = "u16",
        [T_U32] = "u32",     [T_U64] = "u64",     [T_S8] = "s8",         [T_S16] = "s16",
        [T_S32] = "s32",     [T_S64] = "s64",     [T_F16] = "f16",       [T_F16X2] = "f16x2",
        [T_BF16] = "bf16",   [T_F32] = "f32",     [T_BF16X2] = "bf16x2", [T_F64] = "f64",
        [T_U16X2] = "u16x2", [T_S16X2] = "s16x2", [T_F32X2] = "f32x2",
    };
    for (int t = 1; t < NTYPES; t++)
        if (!strcmp(word, names[t]))
            return (enum type)t;
    return T_NONE;
}
unsigned ptx_type_size(enum type t)
{
    static const unsigned char sizes[NTYPES] = {
        [T_B8] = 1,  [T_B16] = 2,   [T_B32] = 4,   [T_B64] = 8,   [T_B128] = 16,  [T_U8] = 1,
        [T_U16] = 2, [T_U32] = 4,   [T_U64] = 8,   [T_S8] = 1,    [T_S16] = 2,    [T_S32] = 4,
        [T_S64] = 8, [T_F16] = 2,   [T_BF16] = 2,  [T_F16X2] = 4, [T_BF16X2] = 4, [T_F32] = 4,
        [T_F64] = 8, [T_U16X2] = 4, [T_S16X2] = 4, [T_F32X2] = 8,
    };
    return sizes[t];
}
bool ptx_type_is_signed(enum type t) { return (t >= T_S8 && t <= T_S64) || t == T_S16X2; }
bool ptx_type_is_float(enum type t) { return t >= T_F16; }
