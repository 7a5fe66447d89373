/* allocate.c - the allocate directive in device code: where a variable lies is decided by what
 * reaches it; how it is aligned says its declaration in the device text.
 *
 *     target uses_allocators(traits(t): a)     t = { { omp_atk_alignment, 64 } }
 *     allocate(v) allocator(a) align(16)       __attribute__((aligned(64))) T v;
 *
 * OpenMP wants the traits to be constants, and the largest alignment counts. */
#include "frontend/fe.h"

/* As in omp.h. */
enum { KEY_ALIGNMENT = 2 };

/* { omp_atk_alignment, n }; 0: it is another one. */
static int64_t alignment_in(struct fe *fe, CXCursor trait)
{
    fe_cursors v = { 0 };
    fe_children(fe, trait, &v);
    struct omp_expr key = { 0 }, value = { 0 };
    if (v.n == 2) {
        key = fe_expr(fe, v.at[0]);
        value = fe_expr(fe, v.at[1]);
    }
    bool power = value.value > 0 && !(value.value & (value.value - 1));
    return key.is_constant && key.value == KEY_ALIGNMENT && value.is_constant && power ? value.value
                                                                                       : 0;
}

/* In the initialiser of the array of traits that is named there. */
static int64_t alignment_of(struct fe *fe, struct omp_extent traits)
{
    const struct fe_operand *o = fe_operand_at(fe, traits.begin);
    int64_t largest = 0;
    fe_cursors v = { 0 }, list = { 0 };
    if (!o)
        return 0;
    fe_children(fe, clang_getCursorReferenced(fe_strip(fe, o->cursor)), &v);
    for (unsigned i = 0; i < v.n; i++)
        if (clang_getCursorKind(v.at[i]) == CXCursor_InitListExpr)
            fe_children(fe, v.at[i], &list);
    for (unsigned i = 0; i < list.n; i++) {
        int64_t n = alignment_in(fe, list.at[i]);
        largest = n > largest ? n : largest;
    }
    return largest;
}

/* What the allocator of the directive has from the target construct around. */
static int64_t alignment_of_allocator(struct fe *fe, const struct fe_pragma *p)
{
    const struct omp_clause *a = fe_clause(p->c, OMPC_ALLOCATOR);
    const struct omp_construct *target = a ? fe_target_of(p->c) : NULL;
    for (const struct omp_clause *k = target ? target->clauses : NULL; k; k = k->next)
        if (k->kind == OMPC_USES_ALLOCATORS && k->value && k->nitems == 1)
            FE_EACH(r, fe->refs, a->extent)
                if (r->var == k->items[0].var)
                    return alignment_of(fe, k->expr.extent);
    return 0;
}

/* With the specifiers it counts for all variables of the declaration, which does no harm. */
static void align_variables(struct fe *fe, const struct fe_pragma *p)
{
    const struct omp_clause *align = fe_clause(p->c, OMPC_ALIGN);
    int64_t n = alignment_of_allocator(fe, p);
    if (align && align->expr.value > n)
        n = align->expr.value;
    for (unsigned k = p->clauses_at; n && k < p->ntokens && !fe_word_at(fe, p, k, ")"); k++) {
        const struct omp_ref *r = fe_ref_at(fe, p->tokens[k].begin);
        if (r && r->var->storage == OMPS_LOCAL)
            *VEC_PUSH(fe->a, &fe->renames) =
                (struct omp_rename){ r->var->begin, 0,
                                     arena_printf(fe->a, "__attribute__((aligned(%lld))) ",
                                                  (long long)n) };
    }
}

void fe_align_variables(struct fe *fe)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        if (fe->pragmas.at[i].c->directive == OMPDIR_ALLOCATE)
            align_variables(fe, &fe->pragmas.at[i]);
}
