/* shallow.c - structs whose pointers still lead to the host when the struct is on the device.
 *
 * A region follows the pointer member of a struct that it has from outside, or walks a list by it.
 * The whole file says that this cannot be meant: it sets the member to memory of the host, on the
 * host; no clause and no mapper names the member, so that nothing attaches it; and addresses of the
 * device do not occur in the file, nor does the struct leave it. */
#include "frontend/mistakes/mistakes.h"
#include <string.h>

/* ------------------------------------------------------------------ what the file says */
/* Where pointers may come from that are valid on the device. */
static bool has_device_addresses(const struct fe *fe)
{
    static const enum omp_clause_kind kinds[] = { OMPC_USE_DEVICE_PTR, OMPC_USE_DEVICE_ADDR,
                                                  OMPC_IS_DEVICE_PTR, OMPC_HAS_DEVICE_ADDR };
    for (unsigned i = 0; i < fe->u->nconstructs; i++)
        for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (fe_clause(fe->u->constructs[i], kinds[k]))
                return true;
    return false;
}

static CXCursor record_of(CXType t)
{
    t = clang_getCanonicalType(t);
    while (t.kind == CXType_Pointer)
        t = clang_getCanonicalType(clang_getPointeeType(t));
    return clang_getTypeDeclaration(t);
}

/* A function of another file that could map a struct of this kind, or make pointers. */
static bool may_map(const struct fe_function *f, CXCursor record)
{
    CXType t = clang_getCursorType(f->cursor);
    if (f->f->defined)
        return false;
    if (f->system)
        return !strncmp(f->f->name, "omp_", strlen("omp_")) &&
               clang_getCanonicalType(clang_getResultType(t)).kind == CXType_Pointer;
    for (int i = 0; i < clang_getNumArgTypes(t); i++) {
        CXType argument = clang_getCanonicalType(clang_getArgType(t, (unsigned)i));
        if (clang_equalCursors(record_of(argument), record) ||
            (argument.kind == CXType_Pointer &&
             clang_getCanonicalType(clang_getPointeeType(argument)).kind == CXType_Void))
            return true;
    }
    return clang_getCanonicalType(clang_getResultType(t)).kind == CXType_Pointer ||
           clang_equalCursors(record_of(clang_getResultType(t)), record);
}

static bool leaves_file(const struct fe *fe, CXCursor record)
{
    for (unsigned i = 0; i < fe->frefs.n; i++)
        if (may_map(fe->frefs.at[i].function, record))
            return true;
    return fe->indirect.n > 0;
}

static bool is_named(const struct fe *fe, unsigned member)
{
    for (unsigned i = 0; i < fe->u->nconstructs; i++)
        for (const struct omp_clause *k = fe->u->constructs[i]->clauses; k; k = k->next)
            for (unsigned j = 0; j < k->nitems; j++)
                for (unsigned m = 0; m < k->items[j].nmembers; m++)
                    if (k->items[j].members[m] == member)
                        return true;
    return false;
}

static bool is_of_device(const struct fe *fe, const struct omp_function *f, unsigned offset)
{
    return f->device || fe_is_in_region(fe, offset);
}

static const struct omp_var *local_in(struct fe *fe, CXCursor c)
{
    c = fe_without_casts(fe, c);
    const struct omp_var *v = clang_getCursorKind(c) == CXCursor_DeclRefExpr
                                  ? fe_var_of(fe, clang_getCursorReferenced(c))
                                  : NULL;
    return v && v->storage == OMPS_LOCAL ? v : NULL;
}

/* The host sets the member to allocated memory, or to a pointer that it has, and the device never
 * sets it. */
static bool is_set_by_host(struct fe *fe, CXCursor member)
{
    bool set = false;
    for (unsigned i = 0; i < fe->functions.n; i++) {
        const struct fe_function *f = fe->functions.at[i];
        if (f->system || !f->f->defined)
            continue;
        const fe_accesses *all = fe_accesses_of(fe, f->f);
        for (unsigned k = 0; k < all->n; k++) {
            const struct fe_access *a = &all->at[k];
            bool address = (a->how & (FE_GIVEN | FE_LENT)) && !(a->how & FE_READ);
            if (!clang_equalCursors(a->member, member) || !(address || (a->how & FE_WRITE)))
                continue;
            if (address || is_of_device(fe, f->f, a->offset))
                return false;
            set |= !clang_Cursor_isNull(a->value) &&
                   (fe_is_allocation(fe, a->value) || local_in(fe, a->value));
        }
    }
    return set;
}

static bool leads_to_host(struct fe *fe, CXCursor member)
{
    CXCursor record = clang_getCursorSemanticParent(member);
    return !is_named(fe, fe_location(fe, member)) && !leaves_file(fe, record) &&
           is_set_by_host(fe, member);
}

/* ------------------------------------------------------------------ where the struct is from */
static bool is_of_function(struct fe *fe, CXCursor value)
{
    fe_cursors v = { 0 };
    CXCursor c = fe_without_casts(fe, value);
    if (fe_is_allocation(fe, c) || local_in(fe, c) || fe_expr(fe, c).is_constant)
        return true;
    if (clang_getCursorKind(c) != CXCursor_UnaryOperator ||
        clang_getCursorUnaryOperatorKind(c) != CXUnaryOperator_AddrOf)
        return false;
    fe_children(fe, c, &v);
    return v.n && local_in(fe, v.at[0]);
}

/* A struct of the function, or a pointer to what the function allocates. */
static bool is_made_here(struct fe *fe, const struct omp_construct *c, const struct omp_var *v)
{
    bool made = false;
    const fe_accesses *all = fe_accesses_of(fe, c->function);
    if (v->storage != OMPS_LOCAL || fe_inside(v->decl, c->body))
        return false;
    if (v->type->kind != OMPT_POINTER)
        return true;
    for (unsigned i = 0; i < all->n; i++) {
        const struct fe_access *a = &all->at[i];
        if (a->var != v || a->nsubscripts || a->is_member || !(a->how & FE_WRITE))
            continue;
        if (clang_Cursor_isNull(a->value) || !is_of_function(fe, a->value))
            return false;
        made = true;
    }
    return made;
}

/* ------------------------------------------------------------------ the region */
static void warn(struct fe *fe, const struct fe_access *a, CXCursor member, bool list)
{
    CXString name = clang_getCursorSpelling(member);
    const char *v = a->var->name, *m = clang_getCString(name);
    const char *arrow = a->var->type->kind == OMPT_POINTER ? "->" : ".";
    if (list)
        fe_warn(
            fe, WARN_SHALLOW, a->offset,
            "'%s' follows '%s' to memory of the host here: no clause maps the nodes of the list", v,
            m);
    else
        fe_warn(fe, WARN_SHALLOW, a->offset,
                "'%s%s%s' points to memory of the host here: the struct is on the device, and "
                "nothing maps what its member points to, as in map(%s%s%s[0:n])",
                v, arrow, m, v, arrow, m);
    clang_disposeString(name);
}

/* p = p->next: the member; else the null cursor. */
static CXCursor step_of_list(struct fe *fe, const struct fe_access *a)
{
    fe_cursors v = { 0 };
    if (a->nsubscripts || a->is_member || !(a->how & FE_WRITE) || clang_Cursor_isNull(a->value))
        return clang_getNullCursor();
    CXCursor c = fe_without_casts(fe, a->value);
    if (clang_getCursorKind(c) != CXCursor_MemberRefExpr)
        return clang_getNullCursor();
    fe_children(fe, c, &v);
    CXCursor p = v.n ? fe_strip(fe, v.at[0]) : c;
    bool same = clang_getCursorKind(p) == CXCursor_DeclRefExpr &&
                fe_var_of(fe, clang_getCursorReferenced(p)) == a->var;
    return same ? clang_getCursorReferenced(c) : clang_getNullCursor();
}

/* What the variable of the region is first: one from outside, maybe itself. */
static const struct omp_var *origin(struct fe *fe, const struct omp_construct *c,
                                    const struct omp_var *v, const fe_accesses *all)
{
    if (!fe_inside(v->decl, c->body) && !fe_is_private_at(c, v, c->body.begin))
        return v;
    for (unsigned i = 0; i < all->n; i++)
        if (all->at[i].var == v && (all->at[i].how & FE_WRITE) && !all->at[i].nsubscripts)
            return clang_Cursor_isNull(all->at[i].value) ? NULL : local_in(fe, all->at[i].value);
    return NULL;
}

static bool check(struct fe *fe, const struct omp_construct *c, const struct fe_access *a,
                  const fe_accesses *all)
{
    CXCursor step = step_of_list(fe, a);
    bool list = !clang_Cursor_isNull(step);
    CXCursor member = list ? step : a->followed;
    if (clang_Cursor_isNull(member) || (a->may_not && !list))
        return false;
    const struct omp_var *v = origin(fe, c, a->var, all);
    if (!v || !is_made_here(fe, c, v) || !leads_to_host(fe, member))
        return false;
    warn(fe, a, member, list);
    return true;
}

void fe_find_shallow(struct fe *fe, const struct omp_construct *c)
{
    const struct fe_pragma *p = fe_pragma_of(fe, c);
    fe_accesses all = { 0 };
    if (!fe_warns(WARN_SHALLOW) || !p || !c->function || fe_clause(c, OMPC_IF) ||
        fe_clause(c, OMPC_DEVICE) || fe_has_unified_memory(fe) || has_device_addresses(fe))
        return;
    fe_find_accesses(fe, p->stmt, &all);
    for (unsigned i = 0; i < all.n; i++)
        if (check(fe, c, &all.at[i], &all))
            return;
}
