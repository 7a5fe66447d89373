/* back.c - what a region changes in data that is mapped without a copy back, and that the host
 * reads afterwards.
 *
 * The variable's storage is known in one function only, and no construct of it copies to the host.
 * The host's next access in the text after the region reads it. */
#include "frontend/mistakes/mistakes.h"

static bool names(const struct omp_clause *k, const struct omp_var *v)
{
    for (unsigned i = 0; i < k->nitems; i++)
        if (k->items[i].var == v)
            return true;
    return false;
}

static const struct omp_clause *naming(const struct omp_construct *c, enum omp_clause_kind kind,
                                       const struct omp_var *v)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if (k->kind == kind && names(k, v))
            return k;
    return NULL;
}

/* By the construct, or somebody may do it who gets the address on the device. */
static bool may_copy_back(const struct omp_construct *c, const struct omp_var *v)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        switch (k->kind) {
        case OMPC_MAP:
            if (names(k, v) && (k->map & OMPM_FROM))
                return true;
            break;
        case OMPC_FROM:
        case OMPC_USE_DEVICE_PTR:
        case OMPC_USE_DEVICE_ADDR:
        case OMPC_IS_DEVICE_PTR:
        case OMPC_HAS_DEVICE_ADDR:
            if (names(k, v))
                return true;
            break;
        case OMPC_NOWAIT:
        case OMPC_IF:
        case OMPC_DEVICE:
        case OMPC_DEFAULTMAP: return true;
        default: break;
        }
    return false;
}

/* The region does not map it: a data construct before it does, and none in between ends that. */
static bool is_kept(const struct fe *fe, const struct omp_construct *c, const struct omp_var *v)
{
    bool kept = false;
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        const struct omp_construct *x = fe->u->constructs[i];
        if (x->function != c->function || x->pragma.begin > c->pragma.begin ||
            !naming(x, OMPC_MAP, v))
            continue;
        if (x->leaves & OMPL_ENTER_DATA)
            kept = true;
        else if (x->leaves & OMPL_TARGET_DATA)
            kept |= fe_inside(c->pragma.begin, x->body);
        else if (x->leaves & OMPL_EXIT_DATA)
            kept = false;
    }
    return kept;
}

static const struct omp_construct *region_at(const struct fe *fe, unsigned offset)
{
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        const struct omp_construct *x = fe->u->constructs[i];
        if ((x->leaves & OMPL_TARGET) && fe_inside(offset, x->body))
            return x;
    }
    return NULL;
}

static bool is_element(const struct fe_access *a, const struct omp_var *v)
{
    return a->var == v && (v->type->kind != OMPT_POINTER || a->nsubscripts) && !a->is_member;
}

/* NULL: none, or something else is done with it first. */
static const struct fe_access *read_after(struct fe *fe, const struct omp_construct *c,
                                          const struct omp_var *v)
{
    const fe_accesses *all = fe_accesses_of(fe, c->function);
    for (unsigned i = 0; i < all->n; i++) {
        const struct fe_access *a = &all->at[i];
        if (a->var != v || a->offset < c->body.end)
            continue;
        const struct omp_construct *in = region_at(fe, a->offset);
        if (!in)
            return a->how == FE_READ && is_element(a, v) ? a : NULL;
        bool stays = naming(in, OMPC_MAP, v) || is_kept(fe, in, v);
        if (!stays || (a->how & FE_WRITE)) /* that region's */
            return NULL;
    }
    return NULL;
}

static bool is_plain(const struct omp_clause *k, const struct omp_var *v)
{
    for (unsigned i = 0; i < k->nitems; i++) {
        const struct omp_item *it = &k->items[i];
        if (it->var == v && (it->mapper || !it->base_is_var || it->nmembers || it->derefs > 1))
            return false;
    }
    return !k->niterators;
}

static bool stays_on_device(struct fe *fe, const struct omp_construct *c, const struct omp_var *v)
{
    const struct omp_clause *k = naming(c, OMPC_MAP, v);
    if (k ? !is_plain(k, v) : !is_kept(fe, c, v))
        return false;
    for (unsigned i = 0; i < fe->u->nconstructs; i++)
        if (fe->u->constructs[i]->function == c->function && may_copy_back(fe->u->constructs[i], v))
            return false;
    return fe_is_unshared(fe, c->function, v);
}

static void warn(struct fe *fe, unsigned offset, const struct omp_var *v,
                 const struct fe_access *read)
{
    fe_warn(fe, WARN_LOST, offset,
            "what '%s' gets here stays on the device: nothing copies it back to the host, which "
            "reads '%s' at line %u; map(tofrom: …), or 'target update from(…)'",
            v->name, v->name, fe_place(fe->u, read->offset).line);
}

static void check(struct fe *fe, const struct omp_construct *c, const struct omp_var *v,
                  const fe_accesses *all)
{
    const struct omp_clause *reduction = naming(c, OMPC_REDUCTION, v);
    const struct fe_access *write = NULL, *read;
    for (unsigned i = 0; i < all->n && !write; i++) {
        const struct fe_access *a = &all->at[i];
        if ((a->how & FE_WRITE) && is_element(a, v) && !fe_is_private_at(c, v, a->offset))
            write = a;
    }
    if ((!write && !reduction) || !stays_on_device(fe, c, v) || !(read = read_after(fe, c, v)))
        return;
    warn(fe, write ? write->offset : reduction->extent.begin, v, read);
}

void fe_find_left(struct fe *fe, const struct omp_construct *c)
{
    const struct fe_pragma *p = fe_pragma_of(fe, c);
    fe_accesses all = { 0 };
    if (!fe_warns(WARN_LOST) || !p || !c->function || c->on_device || fe_has_unified_memory(fe))
        return;
    fe_find_accesses(fe, p->stmt, &all);
    for (unsigned i = 0; i < c->ncaptures; i++)
        check(fe, c, c->captures[i].var, &all);
}
