/* carriers.c - typedefs with run-time array bounds, in constructs for the device.
 *
 * `typedef int row[n];` evaluates n where it stands, and what follows a construct's pragma may
 * become a function of its own, where the typedef does not exist.  So each such typedef gets a
 * variable of its type, the carrier, and the text is read again:
 *
 *     typedef int row[n];    typedef int row[n]; row *__omp_t1 = 0;
 *
 * Then a use of the typedef counts as a use of the carrier.  Constructs capture it, with its
 * bounds, as any pointer to arrays; the device text says `__typeof__(*__omp_t1)` for `row`.  In the
 * host's text a construct's code stays in its function, and `row` is made of `row`. */
#include "frontend/fe.h"
#include <string.h>

/* Its bounds can be had without a value of it: sizeof evaluates what follows a pointer. */
static bool can_be_carried(struct fe *fe, const struct fe_localtype *l)
{
    if (!l->is_typedef || !l->variably_modified)
        return false;
    const struct omp_type *t = fe_type(fe, clang_getTypedefDeclUnderlyingType(l->cursor));
    if (t->kind == OMPT_POINTER)
        t = t->elem;
    while (t->kind == OMPT_ARRAY)
        t = t->elem;
    return !t->variably_modified;
}

static bool is_pointer(CXCursor declaration)
{
    CXType t = clang_getCanonicalType(clang_getTypedefDeclUnderlyingType(declaration));
    return t.kind == CXType_Pointer;
}

/* In a construct for the device, and declared around it? */
static bool is_needed(struct fe *fe, const struct fe_localtype *l)
{
    for (unsigned i = 0; i < fe->typerefs.n; i++)
        if (fe->typerefs.at[i].decl == l->decl &&
            fe_enters_construct(fe, l->decl, fe->typerefs.at[i].offset))
            return true;
    return false;
}

void fe_add_carriers(struct fe *fe, fe_edits *edits)
{
    for (unsigned i = 0; i < fe->localtypes.n; i++) {
        struct fe_localtype *l = &fe->localtypes.at[i];
        l->carried = can_be_carried(fe, l) && is_needed(fe, l);
        if (l->carried)
            fe_add_edit(fe, edits, l->extent.end, 0,
                        arena_printf(fe->a, " %s %s%st%u __attribute__((unused)) = 0;", l->old_name,
                                     is_pointer(l->cursor) ? "" : "*", fe->u->prefix, i + 1));
    }
}

/* ------------------------------------------------------------------ the text with carriers */
/* Offset of the typedef that the variable carries; 0: none.  rejected.c names values, too. */
static unsigned carried_by(const struct fe *fe, const struct omp_var *v)
{
    CXType t = fe->var_types.at[v->id];
    size_t prefix = strlen(fe->carriers);
    if (strncmp(v->name, fe->carriers, prefix) || v->name[prefix] != 't')
        return 0;
    if (t.kind == CXType_Pointer)
        t = clang_getPointeeType(t);
    return fe_location(fe, clang_getTypeDeclaration(t));
}

static void use_carrier(struct fe *fe, struct fe_localtype *l, struct omp_var *v)
{
    l->carried = true;
    v->carries = is_pointer(l->cursor) ? OMPV_HAS_THE_TYPE : OMPV_POINTS_TO_THE_TYPE;
    for (unsigned i = 0; i < fe->typerefs.n; i++) {
        const struct fe_typeref *r = &fe->typerefs.at[i];
        if (r->decl == l->decl && r->offset > v->decl)
            *VEC_PUSH(fe->a, &fe->refs) = (struct omp_ref){ r->offset, r->length, v, false };
    }
}

void fe_use_carriers(struct fe *fe)
{
    for (unsigned i = 0; fe->carriers && i < fe->vars.n; i++) {
        unsigned decl = carried_by(fe, fe->vars.at[i]);
        for (unsigned k = 0; decl && k < fe->localtypes.n; k++)
            if (fe->localtypes.at[k].decl == decl)
                use_carrier(fe, &fe->localtypes.at[k], fe->vars.at[i]);
    }
}
