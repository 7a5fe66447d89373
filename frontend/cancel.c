/* cancel.c - what `cancel` and `cancellation point` end in code that runs on the device, section
 * 11.6 of OpenMP 5.2.
 *
 * It is the construct of the named kind around them.  Threads that leave it early go to its end,
 * where they wait for the others; so nobody inside may wait for them.  Where that is not so, or is
 * not known, the directive binds to nothing, and the device says so when cancellation is on.
 *
 * For `taskgroup` it is the task around them: that one ends, and those of the taskgroup that come
 * later do not begin, wherever the taskgroup is.
 *
 * Out: `cancels` of these directives, `cancelled` of the constructs. */
#include "frontend/fe.h"

static unsigned named_leaf(const struct fe *fe, const struct fe_pragma *p)
{
    unsigned n;
    enum omp_directive d = fe_directive_at(fe, p, p->clauses_at, &n);
    return d == OMPDIR_UNKNOWN ? 0 : fe_directive_rows[d].leaf;
}

/* ------------------------------------------------------------------ who waits */
enum { DEEPEST_CALL = 20 };
static bool waits(const struct fe *, const struct omp_construct *first, struct omp_extent,
                  unsigned depth);

static bool function_waits(const struct fe *fe, const struct fe_function *f, unsigned depth)
{
    bool examined = f->f->defined && depth < DEEPEST_CALL;
    return !f->known && (!examined || waits(fe, f->f->constructs, f->f->body, depth + 1));
}

/* Do threads that run this wait for each other, or may they? */
static bool waits(const struct fe *fe, const struct omp_construct *first, struct omp_extent e,
                  unsigned depth)
{
    const unsigned free = OMPL_ATOMIC | OMPL_CRITICAL | OMPL_FLUSH | OMPL_MASTER | OMPL_MASKED |
                          OMPL_SIMD | OMPL_OTHER;
    for (const struct omp_construct *c = first; c; c = c->next)
        if ((c->leaves & ~free) || waits(fe, c->child, (struct omp_extent){ 0, 0 }, depth))
            return true;
    FE_EACH(r, fe->frefs, e)
        if (function_waits(fe, r->function, depth))
            return true;
    for (unsigned i = 0; i < fe->indirect.n; i++)
        if (fe_inside(fe->indirect.at[i], e))
            return true;
    return false;
}

/* ------------------------------------------------------------------ the construct */
static bool can_be_cancelled(const struct fe *fe, const struct omp_construct *c)
{
    const unsigned shared = OMPL_FOR | OMPL_SECTIONS;
    if (fe_clause(c, OMPC_ORDERED) || fe_clause(c, OMPC_NOWAIT) || c->scan)
        return false;
    return (c->leaves & shared) || !waits(fe, c->child, c->body, 0);
}

static struct omp_construct *bound_to(const struct fe *fe, const struct fe_pragma *p)
{
    const unsigned named = named_leaf(fe, p),
                   leaf = named & (OMPL_PARALLEL | OMPL_FOR | OMPL_SECTIONS);
    struct omp_construct *c = p->c->parent;
    if (named == OMPL_TASKGROUP)
        return c && (c->leaves & (OMPL_TASK | OMPL_TASKLOOP)) ? c : NULL;
    while (c && c->leaves == OMPL_SECTION)
        c = c->parent;
    return c && (c->leaves & leaf) && can_be_cancelled(fe, c) ? c : NULL;
}

void fe_bind_cancellations(struct fe *fe)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        struct fe_pragma *p = &fe->pragmas.at[i];
        enum omp_directive d = p->c->directive;
        if (!p->c->on_device || (d != OMPDIR_CANCEL && d != OMPDIR_CANCELLATION_POINT))
            continue;
        p->c->cancels = bound_to(fe, p);
        fe->u->cancels_group |= named_leaf(fe, p) == OMPL_TASKGROUP;
        if (p->c->cancels)
            p->c->cancels->cancelled = true;
    }
}
