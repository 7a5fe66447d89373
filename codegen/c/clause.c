/* clause.c - what a construct says about itself: its clauses and the sharing of its variables. */
#include "codegen/c/clause.h"

const struct omp_clause *cg_clause(const struct omp_construct *c, enum omp_clause_kind kind)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if (k->kind == kind)
            return k;
    return NULL;
}

bool cg_never_waits(const struct omp_construct *c)
{
    const struct omp_clause *k = cg_clause(c, OMPC_NOWAIT);
    return k &&
           (k->expr.extent.begin == k->expr.extent.end || (k->expr.is_constant && k->expr.value));
}

const struct omp_clause *cg_if(const struct omp_construct *c, enum omp_leaf leaf)
{
    const struct omp_clause *general = NULL;
    for (const struct omp_clause *k = c->clauses; k; k = k->next) {
        if (k->kind != OMPC_IF)
            continue;
        if (k->if_leaf == leaf)
            return k;
        if (!k->if_leaf)
            general = k;
    }
    return c->leaves & leaf ? general : NULL;
}

const struct omp_sharing *cg_sharing(const struct omp_construct *c, const struct omp_var *v)
{
    for (unsigned i = 0; i < c->nsharings; i++)
        if (c->sharings[i].var == v)
            return &c->sharings[i];
    return NULL;
}

unsigned cg_constant(const struct omp_clause *k)
{
    bool count = k && k->expr.is_constant && k->expr.value > 0 && k->expr.value <= 1 << 30;
    return count ? (unsigned)k->expr.value : 0;
}

bool cg_is_scan(const struct omp_sharing *s)
{
    return s->share == OMPSH_REDUCTION && s->clause && s->clause->keyword == OMPK_INSCAN;
}
