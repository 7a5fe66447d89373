/* mode.c - SPMD or generic, and which code can reach a parallel region.
 *
 * A region is SPMD when it is tightly nested down to a `parallel`: every level's statement is the
 * next construct and nothing else, so no sequential code exists that other threads would have to
 * wait for.  `distribute` alone ends the chain: what stands in its loop runs once per iteration on
 * one thread.
 */
#include "frontend/fe.h"

/* ---------------------------------------------------------------- who reaches a parallel region */
static bool has_indirect_call(const struct fe *fe, struct omp_extent e)
{
    for (unsigned i = 0; i < fe->indirect.n; i++)
        if (fe_inside(fe->indirect.at[i], e))
            return true;
    return false;
}

static bool has_parallel_construct(const struct fe *fe, struct omp_extent e)
{
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        const struct omp_construct *c = fe->u->constructs[i];
        if (fe_inside(c->pragma.begin, e) && (c->leaves & OMPL_PARALLEL))
            return true;
    }
    return false;
}

/* A function that is only referred to may be called later, so every reference counts. */
static bool refers_to_parallel_function(const struct fe *fe, struct omp_extent e)
{
    FE_EACH(r, fe->frefs, e)
        if (r->function->f->has_parallel)
            return true;
    return false;
}

static bool reaches_parallel(const struct fe *fe, struct omp_extent e)
{
    return e.begin != e.end && (has_parallel_construct(fe, e) || has_indirect_call(fe, e) ||
                                refers_to_parallel_function(fe, e));
}

static void find_parallel_functions(struct fe *fe)
{
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = 0; i < fe->functions.n; i++) {
            struct omp_function *f = fe->functions.at[i]->f;
            if (f->has_parallel || !f->device || !f->defined || !reaches_parallel(fe, f->body))
                continue;
            f->has_parallel = again = true;
        }
    }
}

/* ------------------------------------------------------------------ who reaches synchronisation */
/* `inner`: it and those around it run in all threads of the region, and do not count. */
static bool has_sync(const struct omp_construct *first, const struct omp_construct *inner)
{
    const unsigned sync = OMPL_ATOMIC | OMPL_CRITICAL | OMPL_SINGLE | OMPL_MASTER | OMPL_MASKED |
                          OMPL_BARRIER | OMPL_SECTIONS | OMPL_SCOPE | OMPL_FOR | OMPL_FLUSH;
    for (const struct omp_construct *c = first; c; c = c->next) {
        bool in_chain = inner && fe_inside(inner->pragma.begin, fe_whole(c));
        if ((!in_chain && (c->leaves & sync)) || has_sync(c->child, inner))
            return true;
    }
    return false;
}

static bool calls_sync(const struct fe *fe, struct omp_extent e)
{
    FE_EACH(r, fe->frefs, e) {
        const struct fe_function *f = r->function;
        if (f->f->synchronises || f->locks)
            return true;
    }
    return has_indirect_call(fe, e);
}

static void find_sync_functions(struct fe *fe)
{
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = 0; i < fe->functions.n; i++) {
            struct omp_function *f = fe->functions.at[i]->f;
            if (f->synchronises || !f->device || !f->defined ||
                (!has_sync(f->constructs, NULL) && !calls_sync(fe, f->body)))
                continue;
            f->synchronises = again = true;
        }
    }
}

/* ------------------------------------------------------------------ tight nesting */
#define OUTER (OMPL_TARGET | OMPL_TEAMS)

/* The next level of the chain below c, or NULL. */
static struct omp_construct *next_level(const struct fe *fe, const struct omp_construct *c)
{
    /* distribute, simd, … : their loop body is sequential code */
    if (c->leaves & ~(unsigned)OUTER)
        return NULL;
    struct omp_construct *k = fe_sole_child(fe, c);
    if (!k || !(k->leaves & (OMPL_TEAMS | OMPL_PARALLEL)) || (c->leaves & k->leaves & OMPL_TEAMS))
        return NULL;
    return k;
}

static struct omp_construct *tight_parallel(const struct fe *fe, struct omp_construct *target)
{
    struct omp_construct *c = target;
    while (c && !(c->leaves & OMPL_PARALLEL))
        c = next_level(fe, c);
    return c;
}

void fe_choose_modes(struct fe *fe)
{
    find_parallel_functions(fe);
    find_sync_functions(fe);
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        struct omp_construct *c = fe->u->constructs[i];
        if (!(c->leaves & OMPL_TARGET))
            continue;
        c->spmd_inner = tight_parallel(fe, c);
        c->needs_parallel = c->spmd_inner || reaches_parallel(fe, fe_whole(c));
    }
}

/* ------------------------------------------------------------------ the decision */
/* `outer` has a private copy of a variable that `inner` shares and may change, or that inner's
 * threads may see change. */
static bool team_private(const struct omp_construct *outer, const struct omp_construct *inner)
{
    for (unsigned i = 0; i < outer->nsharings; i++) {
        const struct omp_sharing *s = &outer->sharings[i], *t = fe_sharing_of(inner, s->var);
        if (s->share != OMPSH_SHARED && t && t->share == OMPSH_SHARED && !t->by_value)
            return true;
    }
    return false;
}

/* Threads of an SPMD region would each have such a variable for themselves. */
static bool has_team_private(const struct omp_construct *target)
{
    const struct omp_construct *inner = target->spmd_inner;
    for (const struct omp_construct *c = inner; c && c != target; c = c->parent)
        if (c->parent && team_private(c->parent, inner))
            return true;
    return false;
}

/* Copies of reduced arrays lie in the team's heap. */
static bool reduces_arrays(const struct omp_construct *first)
{
    for (const struct omp_construct *c = first; c; c = c->next) {
        for (unsigned i = 0; i < c->nsharings; i++) {
            const struct omp_sharing *s = &c->sharings[i];
            if (s->share == OMPSH_REDUCTION &&
                (s->var->type->kind == OMPT_ARRAY || (s->item && s->item->nsections)))
                return true;
        }
        if (reduces_arrays(c->child))
            return true;
    }
    return false;
}

void fe_settle_modes(struct fe *fe)
{
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        struct omp_construct *c = fe->u->constructs[i];
        if (!(c->leaves & OMPL_TARGET))
            continue;
        if (c->spmd_inner && has_team_private(c))
            c->spmd_inner = NULL;
        if (c->spmd_inner)
            c->spmd_inner->unnumbered =
                !fe_shows_team(fe, c->spmd_inner->child, c->spmd_inner->body) &&
                !reduces_arrays(c->spmd_inner->child);
        c->synchronises = calls_sync(fe, c->body) || has_sync(c->child, c->spmd_inner);
    }
}
