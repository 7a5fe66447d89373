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
    F_SCOPE,
    F_VECTOR,
    F_OP,
    F_OP2,
    F_ALIGNED,
    F_TO,
    F_CLAMP,
    F_LEFT,
    F_RELU,
    F_SYNC
};
static const struct modifier {
    const char *word;
    unsigned group;
    enum field field;
    int value;
} modifiers[] = {
#define MODIFIER(word, group, field, value) { word, M_##group, F_##field, value },
#include "hostrt/ptx/modifiers.def"
#undef MODIFIER
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
    case F_SCOPE: i->scope = (unsigned char)m->value; break;
    case F_VECTOR: i->vector = (unsigned char)m->value; break;
    case F_OP: i->op = (unsigned char)m->value; break;
    case F_OP2: i->op2 = (unsigned char)m->value; break;
    case F_ALIGNED: i->aligned = true; break;
    case F_TO: i->to_space = true; break;
    case F_CLAMP: i->clamp = true; break;
    case F_LEFT: i->left = true; break;
    case F_RELU: i->relu = true; break;
    case F_SYNC: i->sync = true; break;
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

/* Arithmetic has all of its operands, but for those that some forms lack. */
static bool has_operands(const struct instruction *i)
{
    if (i->row->class != C_INTEGER && i->row->class != C_FLOAT)
        return true;
    switch (i->row->operation) {
    case I_CVT: return i->nsources >= 1;
    case I_SETP:
    case I_SET:
    case I_MIN:
    case I_MAX: return i->nsources >= 2;
    default: return i->nsources == i->row->sources;
    }
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
    if (!has_operands(i))
        return "operands are missing";
    if (!i->row->select(i))
        return "not known with these types and modifiers";
    return NULL;
}
