/* limits.c - what is not supported for reasons that no table holds.  support.c checks the tables
 * and marks, reduce.c reductions. */
#include "frontend/fe.h"
#include <ctype.h>
#include <string.h>

static bool ours(const struct omp_construct *c)
{
    return c->on_device || (c->leaves & OMPL_TARGET);
}
/* ------------------------------------------------------------------ clauses */
static void check_clause(struct fe *fe, const struct omp_construct *c, const struct omp_clause *k)
{
    const unsigned to_device =
        OMPL_TARGET | OMPL_TARGET_DATA | OMPL_ENTER_DATA | OMPL_EXIT_DATA | OMPL_UPDATE;
    if (k->kind == OMPC_DEVICE && k->keyword == OMPK_ANCESTOR && (c->leaves & to_device))
        fe_error_at(fe, k->place, "'device(ancestor: …)' (reverse offload) is not supported");
    if (!ours(c))
        return;
    if (k->kind == OMPC_LASTPRIVATE && k->keyword == OMPK_CONDITIONAL)
        fe_error_at(fe, k->place,
                    "'lastprivate(conditional: …)' is not supported yet on the device");
    for (unsigned i = 0; k->kind == OMPC_LINEAR && i < k->nitems; i++) {
        const struct omp_var *v = k->items[i].var;
        if (v && v->type->kind != OMPT_INT && v->type->kind != OMPT_BOOL &&
            v->type->kind != OMPT_POINTER)
            fe_error_at(fe, k->items[i].place,
                        "'linear' variable '%s' is neither an integer nor a pointer", v->name);
    }
}

/* An item that could not be read would be left out silently. */
static void check_items(struct fe *fe, const struct omp_construct *c, const struct omp_clause *k)
{
    const unsigned data = OMPL_TARGET_DATA | OMPL_ENTER_DATA | OMPL_EXIT_DATA | OMPL_UPDATE;
    if (!ours(c) && !(c->leaves & data))
        return;
    for (unsigned i = 0; i < k->nitems; i++)
        if (!k->items[i].var || !k->items[i].base_type)
            fe_error_at(fe, k->items[i].place, "list item '%s' of clause '%s' is not supported yet",
                        fe_text(fe, k->items[i].text), fe_clause_rows[k->kind].spelling);
}

/* ------------------------------------------------------------------ variants */
static void check_directive(struct fe *fe, const struct fe_pragma *p)
{
    const char *word =
        fe->u->ntargets && !fe_is_system(fe, p->extent.begin) ? fe_variant_unknown(fe, p) : NULL;
    if (word)
        fe_error_at(fe, p->c->place,
                    "'%s' of a function that runs on the device, which depends on '%s', is not "
                    "supported yet",
                    p->c->spelling, word);
}

/* Where automatic variables lie is decided by what reaches them; an allocator changes nothing that
 * the program could see.  But a static variable would become one for each team or thread, and an
 * alignment is a promise. */
static void check_allocate(struct fe *fe, const struct fe_pragma *p)
{
    if (p->c->directive != OMPDIR_ALLOCATE || !p->c->on_device)
        return;
    for (unsigned k = p->clauses_at; k < p->ntokens && fe->u->text[p->tokens[k].begin] != ')';
         k++) {
        const struct fe_token *t = &p->tokens[k];
        const struct omp_ref *n = fe_ref_at(fe, t->begin);
        if (n && (n->var->storage == OMPS_GLOBAL || n->var->storage == OMPS_STATIC_LOCAL))
            fe_error(fe, t->begin,
                     "'allocate' for '%s', which is static, is not supported yet in code that runs "
                     "on the device",
                     n->var->name);
    }
    for (const struct omp_clause *k = p->c->clauses; k; k = k->next)
        if (k->kind == OMPC_ALIGN)
            fe_error_at(
                fe, k->place,
                "clause 'align' is not supported yet on 'allocate' for the device; use _Alignas");
}

/* On the host clang has the say. */
static void check_unexpected(struct fe *fe, const struct fe_pragma *p)
{
    const unsigned data =
        OMPL_TARGET_DATA | OMPL_ENTER_DATA | OMPL_EXIT_DATA | OMPL_UPDATE | OMPL_DECLARE_TARGET;
    unsigned end = p->unexpected;
    while (isalnum((unsigned char)fe->u->text[end]) || fe->u->text[end] == '_')
        end++;
    if (ours(p->c) || (p->c->leaves & data))
        fe_error(fe, p->unexpected, "unexpected OpenMP clause '%s' in directive '#pragma omp %s'",
                 fe_text(fe, (struct omp_extent){ p->unexpected, end }), p->c->spelling);
}

/* It may become a target construct: clang would run that on the host. */
static void check_metadirective(struct fe *fe, const struct fe_pragma *p)
{
    if (p->c->directive != OMPDIR_BEGIN_METADIRECTIVE)
        return;
    for (unsigned i = 0; i < p->ntokens; i++) {
        if (!fe_token_is(fe, &p->tokens[i], fe_directive_rows[OMPDIR_TARGET].spelling))
            continue;
        fe_error_at(fe, p->c->place,
                    "'begin metadirective' with a 'target' variant is not supported yet");
        return;
    }
}

/* ------------------------------------------------------------------ variables */
static bool points_to_function(const struct fe *fe, const struct omp_var *v)
{
    CXType t = clang_getCanonicalType(fe->var_types.at[v->id]);
    if (t.kind == CXType_ConstantArray)
        t = clang_getCanonicalType(clang_getArrayElementType(t));
    if (t.kind != CXType_Pointer)
        return false;
    enum CXTypeKind k = clang_getCanonicalType(clang_getPointeeType(t)).kind;
    return k == CXType_FunctionProto || k == CXType_FunctionNoProto;
}

/* A host function's address means nothing on the device. */
static void check_function_pointers(struct fe *fe, const struct omp_construct *c)
{
    for (unsigned i = fe_first_ref(fe, c->body.begin);
         i < fe->refs.n && fe->refs.at[i].offset < c->body.end; i++) {
        const struct omp_var *v = fe->refs.at[i].var;
        if (fe_inside(v->decl, c->body) || v->declare_target != OMPV_NOT_DECLARED ||
            !points_to_function(fe, v))
            continue;
        fe_error(fe, fe->refs.at[i].offset,
                 "function pointer '%s' of the host cannot be used in a target region; call the "
                 "function by its name",
                 v->name);
        return;
    }
}

void fe_early_support(struct fe *fe)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        struct fe_pragma *p = &fe->pragmas.at[i];
        for (const struct omp_clause *k = p->c->clauses; k; k = k->next) {
            check_clause(fe, p->c, k);
            check_items(fe, p->c, k);
        }
        if (p->nnames)
            check_directive(fe, p);
        if (p->unexpected)
            check_unexpected(fe, p);
        check_metadirective(fe, p);
        check_allocate(fe, p);
        if (p->c->leaves & OMPL_TARGET)
            check_function_pointers(fe, p->c);
    }
}
