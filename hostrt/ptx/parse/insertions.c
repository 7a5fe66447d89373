/* insertions.c - which instructions put bits into a word that is loaded and stored again: updates
 * of bit-fields.
 *
 *     ld.global.b8  %rs1, [%rd1+65];
 *     and.b16       %rs2, %rs1, 240;          inserts
 *     or.b16        %rs3, %rs2, 12;           inserts
 *     st.global.b8  [%rd1+65], %rs3;
 *
 * What is defined is known of bytes.  One that was undefined is defined once a field in it is. */
#include <stdlib.h>
#include "hostrt/ptx/isa.h"
#include "hostrt/ptx/parse/parser.h"

enum { MOST_STEPS = 8 }; /* between load and store */
struct search {
    struct instruction **by_register; /* the instruction that writes it; NULL: none, or several */
    const struct memory_operand *place;
    int64_t offset;
    unsigned size;
};

static bool is_loaded(const struct search *s, const struct instruction *x)
{
    const struct operand *a = &x->memory.base, *b = &s->place->base;
    return x->row->operation == I_LD && x->vector == 1 && ptx_type_size(x->type) == s->size &&
           a->kind == b->kind && a->index == b->index && a->value == b->value &&
           x->memory.offset == s->offset;
}

/* Does the value come from the place?  Marks what is on the way. */
static bool find_load(const struct search *s, const struct operand *o, unsigned steps)
{
    struct instruction *x = o->kind == O_REG ? s->by_register[o->index] : NULL;
    if (!x || !steps)
        return false;
    if (x->row->operation == I_LD)
        return is_loaded(s, x);
    if (x->row->operation != I_AND && x->row->operation != I_OR)
        return false;
    bool found = find_load(s, &x->s[0], steps - 1) || find_load(s, &x->s[1], steps - 1);
    x->inserts |= found;
    return found;
}

static void find_writers(struct function *f, struct instruction **by_register)
{
    bool *several = calloc(f->nregs + 1, sizeof *several);
    for (unsigned i = 0; several && i < f->ncode; i++) {
        struct instruction *x = &f->code[i];
        if (x->d.kind != O_REG)
            continue;
        several[x->d.index] |= by_register[x->d.index] != NULL;
        by_register[x->d.index] = x;
    }
    for (unsigned i = 0; i < f->nregs; i++)
        if (!several || several[i])
            by_register[i] = NULL;
    free(several);
}

void parse_find_insertions(struct function *f)
{
    struct instruction **by_register = calloc(f->nregs + 1, sizeof(struct instruction *));
    if (!by_register)
        return;
    find_writers(f, by_register);
    for (unsigned i = 0; i < f->ncode; i++) {
        const struct instruction *x = &f->code[i];
        if (x->row->operation != I_ST)
            continue;
        for (unsigned k = 0; k < x->vector; k++) {
            unsigned size = ptx_type_size(x->type);
            struct search s = { by_register, &x->memory, x->memory.offset + k * size, size };
            find_load(&s, x->s[0].kind == O_VECTOR ? &x->s[0].parts[k] : &x->s[0], MOST_STEPS);
        }
    }
    free(by_register);
}
