/* isa.c - from the text of an opcode to its handler: the rows of isa.def and what each modifier
 * says.
 */
#include <string.h>
#include "hostrt/ptx/isa.h"

static const struct isa_row rows[] = {
#define INSN(name, modifiers, destination, sources, class, operation, select)                      \
    { #name, modifiers, destination, sources, class, I_##operation, select },
#include "hostrt/ptx/isa.def"
#undef INSN
};

const struct isa_row *ptx_isa_find(const char *name, size_t length)
{
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].name) == length && !memcmp(rows[i].name, name, length))
            return &rows[i];
    return NULL;
}

/* ------------------------------------------------------------------ modifiers */
enum field {
    F_NONE, /* a hint */
    F_ROUND,
    F_FTZ,
    F_SAT,
    F_APPROX,
    F_WIDE,
    F_HI,
    F_CC,
    F_SPACE,
    F_ORDER,
    F_VECTOR,
    F_OP,
    F_OP2,
    F_ALIGNED,
    F_TO,
    F_CLAMP,
    F_LEFT
};
static const struct modifier {
    const char *word;
    unsigned group;
    enum field field;
    int value;
} modifiers[] = {
    { "rn", M_ROUND, F_ROUND, R_RN },
    { "rz", M_ROUND, F_ROUND, R_RZ },
    { "rm", M_ROUND, F_ROUND, R_RM },
    { "rp", M_ROUND, F_ROUND, R_RP },
    { "rni", M_ROUND, F_ROUND, R_RNI },
    { "rzi", M_ROUND, F_ROUND, R_RZI },
    { "rmi", M_ROUND, F_ROUND, R_RMI },
    { "rpi", M_ROUND, F_ROUND, R_RPI },
    { "ftz", M_FTZ, F_FTZ, 1 },
    { "sat", M_SAT, F_SAT, 1 },
    { "approx", M_APPROX, F_APPROX, 1 },
    { "full", M_APPROX, F_APPROX, 1 },
    { "lo", M_HALF, F_NONE, 0 },
    { "hi", M_HALF, F_HI, 1 },
    { "wide", M_HALF, F_WIDE, 1 },
    { "cc", M_CC, F_CC, 1 },
    { "global", M_SPACE, F_SPACE, S_GLOBAL },
    { "shared", M_SPACE, F_SPACE, S_SHARED },
    { "shared::cta", M_SPACE, F_SPACE, S_SHARED },
    { "local", M_SPACE, F_SPACE, S_LOCAL },
    { "const", M_SPACE, F_SPACE, S_CONST },
    { "param", M_SPACE, F_SPACE, S_PARAM },
    { "param::entry", M_SPACE, F_SPACE, S_PARAM },
    { "param::func", M_SPACE, F_SPACE, S_PARAM },
    { "to", M_TO, F_TO, 1 },
    { "weak", M_ORDER, F_ORDER, MO_WEAK },
    { "relaxed", M_ORDER, F_ORDER, MO_RELAXED },
    { "acquire", M_ORDER, F_ORDER, MO_ACQUIRE },
    { "release", M_ORDER, F_ORDER, MO_RELEASE },
    { "acq_rel", M_ORDER, F_ORDER, MO_ACQ_REL },
    { "sc", M_ORDER, F_ORDER, MO_SC },
    { "volatile", M_ORDER, F_ORDER, MO_VOLATILE },
    { "cta", M_MEMORY, F_NONE, 0 },
    { "cluster", M_MEMORY, F_NONE, 0 },
    { "gpu", M_MEMORY, F_NONE, 0 },
    { "gl", M_MEMORY, F_NONE, 0 },
    { "sys", M_MEMORY, F_NONE, 0 },
    { "nc", M_MEMORY, F_NONE, 0 },
    { "ca", M_MEMORY, F_NONE, 0 },
    { "cg", M_MEMORY, F_NONE, 0 },
    { "cs", M_MEMORY, F_NONE, 0 },
    { "cv", M_MEMORY, F_NONE, 0 },
    { "lu", M_MEMORY, F_NONE, 0 },
    { "wb", M_MEMORY, F_NONE, 0 },
    { "wt", M_MEMORY, F_NONE, 0 },
    { "noftz", M_MEMORY, F_NONE, 0 },
    { "unified", M_MEMORY, F_NONE, 0 },
    { "L1", M_MEMORY, F_NONE, 0 },
    { "L2", M_MEMORY, F_NONE, 0 },
    { "v2", M_VECTOR, F_VECTOR, 2 },
    { "v4", M_VECTOR, F_VECTOR, 4 },
    { "v8", M_VECTOR, F_VECTOR, 8 },
    { "eq", M_COMPARE, F_OP, OP_EQ },
    { "ne", M_COMPARE, F_OP, OP_NE },
    { "lt", M_COMPARE, F_OP, OP_LT },
    { "le", M_COMPARE, F_OP, OP_LE },
    { "gt", M_COMPARE, F_OP, OP_GT },
    { "ge", M_COMPARE, F_OP, OP_GE },
    { "lo", M_COMPARE, F_OP, OP_LT },
    { "ls", M_COMPARE, F_OP, OP_LE },
    { "hi", M_COMPARE, F_OP, OP_GT },
    { "hs", M_COMPARE, F_OP, OP_GE },
    { "equ", M_COMPARE, F_OP, OP_EQU },
    { "neu", M_COMPARE, F_OP, OP_NEU },
    { "ltu", M_COMPARE, F_OP, OP_LTU },
    { "leu", M_COMPARE, F_OP, OP_LEU },
    { "gtu", M_COMPARE, F_OP, OP_GTU },
    { "geu", M_COMPARE, F_OP, OP_GEU },
    { "num", M_COMPARE, F_OP, OP_NUM },
    { "nan", M_COMPARE, F_OP, OP_NAN },
    { "NaN", M_COMPARE, F_OP, OP_NAN },
    { "and", M_BOOL, F_OP2, OP_AND },
    { "or", M_BOOL, F_OP2, OP_OR },
    { "xor", M_BOOL, F_OP2, OP_XOR },
    { "and", M_ATOMIC, F_OP, OP_AND },
    { "or", M_ATOMIC, F_OP, OP_OR },
    { "xor", M_ATOMIC, F_OP, OP_XOR },
    { "add", M_ATOMIC, F_OP, OP_ADD },
    { "min", M_ATOMIC, F_OP, OP_MIN },
    { "max", M_ATOMIC, F_OP, OP_MAX },
    { "inc", M_ATOMIC, F_OP, OP_INC },
    { "dec", M_ATOMIC, F_OP, OP_DEC },
    { "exch", M_ATOMIC, F_OP, OP_EXCH },
    { "cas", M_ATOMIC, F_OP, OP_CAS },
    { "popc", M_ATOMIC, F_OP, OP_POPC },
    { "up", M_SHUFFLE, F_OP, OP_UP },
    { "down", M_SHUFFLE, F_OP, OP_DOWN },
    { "bfly", M_SHUFFLE, F_OP, OP_BFLY },
    { "idx", M_SHUFFLE, F_OP, OP_IDX },
    { "all", M_VOTE, F_OP, OP_ALL },
    { "any", M_VOTE, F_OP, OP_ANY },
    { "uni", M_VOTE, F_OP, OP_UNI },
    { "ballot", M_VOTE, F_OP, OP_BALLOT },
    { "sync", M_BARRIER, F_OP2, OP_SYNC },
    { "arrive", M_BARRIER, F_OP2, OP_ARRIVE },
    { "red", M_BARRIER, F_OP2, OP_RED },
    { "warp", M_BARRIER, F_OP, OP_ALL },
    { "sync", M_SYNC, F_NONE, 0 },
    { "aligned", M_SYNC, F_ALIGNED, 1 },
    { "l", M_SHIFT, F_LEFT, 1 },
    { "r", M_SHIFT, F_NONE, 0 },
    { "wrap", M_SHIFT, F_NONE, 0 },
    { "clamp", M_SHIFT, F_CLAMP, 1 },
    { "shiftamt", M_SHIFT, F_CLAMP, 1 },
    { "f4e", M_PRMT, F_OP, OP_F4E },
    { "b4e", M_PRMT, F_OP, OP_B4E },
    { "rc8", M_PRMT, F_OP, OP_RC8 },
    { "ecl", M_PRMT, F_OP, OP_ECL },
    { "ecr", M_PRMT, F_OP, OP_ECR },
    { "rc16", M_PRMT, F_OP, OP_RC16 },
    { "finite", M_TEST, F_OP, OP_FINITE },
    { "infinite", M_TEST, F_OP, OP_INFINITE },
    { "number", M_TEST, F_OP, OP_NUMBER },
    { "notanumber", M_TEST, F_OP, OP_NOTANUMBER },
    { "normal", M_TEST, F_OP, OP_NORMAL },
    { "subnormal", M_TEST, F_OP, OP_SUBNORMAL },
    { "uni", M_UNI, F_NONE, 0 },
};

static void apply_modifier(struct instruction *i, const struct modifier *m)
{
    switch (m->field) {
    case F_NONE: break;
    case F_ROUND: i->rounding = (enum rounding)m->value; break;
    case F_FTZ: i->ftz = true; break;
    case F_SAT: i->sat = true; break;
    case F_APPROX: i->approx = true; break;
    case F_WIDE: i->wide = true; break;
    case F_HI: i->hi = true; break;
    case F_CC: i->carry_out = true; break;
    case F_SPACE: i->space = (enum space)m->value; break;
    case F_ORDER: i->order = (unsigned char)m->value; break;
    case F_VECTOR: i->vector = (unsigned char)m->value; break;
    case F_OP: i->op = (unsigned char)m->value; break;
    case F_OP2: i->op2 = (unsigned char)m->value; break;
    case F_ALIGNED: i->aligned = true; break;
    case F_TO: i->to_space = true; break;
    case F_CLAMP: i->clamp = true; break;
    case F_LEFT: i->left = true; break;
    }
}

static bool read_modifier(struct instruction *i, const char *word)
{
    enum type t = ptx_type_named(word);
    if (t && (i->row->modifiers & M_TYPE)) {
        if (!i->type)
            i->type = t;
        else
            i->type2 = t;
        return true;
    }
    for (unsigned k = 0; k < sizeof modifiers / sizeof *modifiers; k++)
        if ((modifiers[k].group & i->row->modifiers) && !strcmp(modifiers[k].word, word)) {
            apply_modifier(i, &modifiers[k]);
            return true;
        }
    return !strncmp(word, "L1::", 4) || !strncmp(word, "L2::", 4); /* cache hints */
}

const char *ptx_isa_decode(struct instruction *i, const char *opcode)
{
    static _Thread_local char words[160];
    char *rest = NULL;
    strncpy(words, opcode, sizeof words - 1);
    strtok_r(words, ".", &rest);
    for (char *w; (w = strtok_r(NULL, ".", &rest));)
        if (!read_modifier(i, w))
            return "a modifier that is not known";
    if (!i->row->select(i))
        return "not known with these types and modifiers";
    return NULL;
}
