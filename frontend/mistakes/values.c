/* values.c - data that the region reads before it has a value: what map(from: …) or map(alloc: …)
 * makes on the device, private copies, and copies of host variables that never got one.
 *
 * The region's first access to it, in the order of evaluation, is certain to come and reads.  No
 * other construct can have mapped what a clause makes, so that the clause does allocate it.  Of the
 * host's variables, clang's -Wuninitialized sees the scalars and records of a function, with
 * regions that take them; arrays, and what is declared in a construct, are for us. */
#include "frontend/mistakes/mistakes.h"

static bool names(const struct omp_construct *c, const struct omp_var *v)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0; i < k->nitems; i++)
            if (k->items[i].var == v)
                return true;
    return false;
}

/* It may be there already, from a construct that lasts longer or that is done at the same time. */
static bool may_be_present(struct fe *fe, const struct omp_construct *c, const struct omp_var *v)
{
    const unsigned lasting = OMPL_TARGET_DATA | OMPL_ENTER_DATA;
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        const struct omp_construct *x = fe->u->constructs[i];
        if (x->function == c->function && names(x, v) &&
            ((x->leaves & lasting) || fe_clause(x, OMPC_NOWAIT)))
            return true;
    }
    return !fe_is_unshared(fe, c->function, v);
}

static bool is_named_once(const struct omp_construct *c, const struct omp_var *v)
{
    unsigned n = 0;
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0; i < k->nitems; i++)
            n += k->items[i].var == v;
    return n == 1;
}

/* All of it is made by the clause, or as much as the region uses. */
static bool is_made(const struct omp_clause *k, const struct omp_item *it)
{
    bool pointer = it->var && it->var->type->kind == OMPT_POINTER;
    return k->kind == OMPC_MAP && (k->map == OMPM_FROM || k->map == OMPM_ALLOC) && it->var &&
           !it->mapper && !k->niterators && it->base_is_var && !it->nmembers &&
           (pointer ? it->nsections == 1 && it->derefs == 1 : !it->derefs);
}

static const struct fe_access *first_access(const struct omp_construct *c, const struct omp_var *v,
                                            const fe_accesses *all)
{
    bool pointer = v->type->kind == OMPT_POINTER;
    for (unsigned i = 0; i < all->n; i++) {
        const struct fe_access *a = &all->at[i];
        bool of_pointer = pointer && !a->nsubscripts && a->how == FE_READ;
        if (a->var == v && !of_pointer && !fe_is_private_at(c, v, a->offset))
            return a;
    }
    return NULL;
}

static void check(struct fe *fe, const struct omp_construct *c, const struct omp_clause *k,
                  const struct omp_var *v, const fe_accesses *all)
{
    const struct fe_access *a = first_access(c, v, all);
    if (!a || a->may_not || (a->how & ~(unsigned)FE_WRITE) != FE_READ || !is_named_once(c, v) ||
        may_be_present(fe, c, v))
        return;
    fe_warn(fe, WARN_UNINITIALIZED, a->offset,
            "'%s' has no value here: map(%s: …) does not copy the host's to the "
            "device; map(%s: …) does",
            v->name, k->map == OMPM_FROM ? "from" : "alloc", k->map == OMPM_FROM ? "tofrom" : "to");
}

/* ------------------------------------------------------------------ of the host */
struct jumps {
    const struct fe *fe;
    unsigned from, to; /* of the text between a declaration and a region */
    bool found;
};

/* Something before the region is done again after it. */
static enum CXChildVisitResult find_jump(CXCursor c, CXCursor parent, CXClientData data)
{
    struct jumps *j = data;
    struct omp_extent e = fe_extent(j->fe, c);
    (void)parent;
    switch (clang_getCursorKind(c)) {
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt: j->found |= e.begin > j->from && fe_inside(j->to, e); break;
    case CXCursor_LabelStmt:
    case CXCursor_GCCAsmStmt: j->found = true; break;
    default: break;
    }
    return j->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static bool may_come_back(struct fe *fe, const struct omp_construct *c, const struct omp_var *v)
{
    struct jumps j = { fe, v->decl, c->pragma.begin, false };
    for (unsigned i = 0; i < fe->functions.n; i++)
        if (fe->functions.at[i]->f == c->function)
            clang_visitChildren(fe->functions.at[i]->cursor, find_jump, &j);
    return j.found;
}

static bool is_used_before(const struct fe *fe, const struct omp_construct *c,
                           const struct omp_var *v)
{
    FE_EACH(r, fe->refs, ((struct omp_extent){ v->decl + 1, c->pragma.begin }))
        if (r->var == v)
            return true;
    return false;
}

/* The region's copy is the host's, whoever asked for that. */
static bool is_copied(const struct omp_construct *c, const struct omp_var *v)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0; i < k->nitems; i++)
            if (k->items[i].var == v && k->kind != OMPC_FIRSTPRIVATE &&
                (k->kind != OMPC_MAP || !(k->map & OMPM_TO)))
                return false;
    return !fe_clause(c, OMPC_DEFAULTMAP);
}

static bool is_seen_by_clang(const struct omp_construct *c, const struct omp_var *v)
{
    return !c->parent && v->type->kind != OMPT_ARRAY &&
           (v->type->kind != OMPT_RECORD || !names(c, v));
}

static bool has_no_value(struct fe *fe, const struct omp_construct *c, const struct omp_var *v)
{
    const struct omp_construct *around = c->parent;
    if (v->storage != OMPS_LOCAL || v->init.end || v->type->vla || v->decl > c->pragma.begin ||
        v->carries || (around && !fe_inside(v->decl, around->body)) || is_seen_by_clang(c, v))
        return false;
    return is_copied(c, v) && !is_used_before(fe, c, v) && !may_come_back(fe, c, v);
}

static void check_host(struct fe *fe, const struct omp_construct *c, const fe_accesses *all)
{
    for (unsigned i = 0; i < c->ncaptures; i++) {
        const struct omp_var *v = c->captures[i].var;
        const struct fe_access *a = first_access(c, v, all);
        if (a && !a->may_not && a->how == FE_READ && has_no_value(fe, c, v))
            fe_warn(fe, WARN_UNINITIALIZED, a->offset,
                    "'%s' has no value here: nothing has assigned one to the host's", v->name);
    }
}

/* ------------------------------------------------------------------ private copies */
static bool is_own_again(const struct fe *fe, const struct omp_construct *c,
                         const struct omp_var *v)
{
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        const struct omp_construct *x = fe->u->constructs[i];
        if (x != c && fe_inside(x->pragma.begin, c->body) && names(x, v))
            return true;
    }
    for (unsigned i = 0; i < c->nloops; i++)
        if (c->loops[i].iv == v)
            return true;
    return false;
}

/* Of the loop's body, where the construct has loops: the original says how often they run. */
static void check_private(struct fe *fe, const struct omp_construct *c, const struct omp_var *v,
                          const fe_accesses *all)
{
    for (unsigned i = 0; i < all->n; i++) {
        const struct fe_access *a = &all->at[i];
        if (a->var != v)
            continue;
        if (!a->may_not && a->how == FE_READ && is_named_once(c, v) && !is_own_again(fe, c, v))
            fe_warn(fe, WARN_UNINITIALIZED, a->offset,
                    "'%s' has no value here: private(%s) does not copy the original's; "
                    "firstprivate(%s) does",
                    v->name, v->name, v->name);
        return;
    }
}

void fe_find_unset_privates(struct fe *fe, const struct omp_construct *c)
{
    const struct fe_pragma *p = fe_pragma_of(fe, c);
    fe_accesses all = { 0 };
    CXCursor body = !p ? clang_getNullCursor() : c->nloops ? p->loop_body : p->stmt;
    if (!fe_warns(WARN_UNINITIALIZED) || clang_Cursor_isNull(body) || !fe_clause(c, OMPC_PRIVATE))
        return;
    fe_find_accesses(fe, body, &all);
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0; i < k->nitems && k->kind == OMPC_PRIVATE; i++)
            if (k->items[i].var)
                check_private(fe, c, k->items[i].var, &all);
}

void fe_find_uninitialized(struct fe *fe, const struct omp_construct *c)
{
    const struct fe_pragma *p = fe_pragma_of(fe, c);
    fe_accesses all = { 0 };
    if (!fe_warns(WARN_UNINITIALIZED) || !p || !c->function || c->on_device)
        return;
    fe_find_accesses(fe, p->stmt, &all);
    check_host(fe, c, &all);
    if (fe_clause(c, OMPC_IF) || fe_clause(c, OMPC_DEVICE) || fe_has_unified_memory(fe))
        return;
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0; i < k->nitems; i++)
            if (is_made(k, &k->items[i]))
                check(fe, c, k, k->items[i].var, &all);
}
