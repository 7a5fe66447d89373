/* values.c - data that map(from: …) or map(alloc: …) makes on the device, and that the region reads
 * before it has a value.
 *
 * The region's first access to it, in the order of evaluation, is certain to come and reads.  No
 * other construct can have mapped it, so that the clause does allocate it. */
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

void fe_find_uninitialized(struct fe *fe, const struct omp_construct *c)
{
    const struct fe_pragma *p = fe_pragma_of(fe, c);
    fe_accesses all = { 0 };
    if (!fe_warns(WARN_UNINITIALIZED) || !p || !c->function || fe_clause(c, OMPC_IF) ||
        fe_clause(c, OMPC_DEVICE) || fe_has_unified_memory(fe))
        return;
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0; i < k->nitems; i++) {
            if (!is_made(k, &k->items[i]))
                continue;
            if (!all.n)
                fe_find_accesses(fe, p->stmt, &all);
            check(fe, c, k, k->items[i].var, &all);
        }
}
