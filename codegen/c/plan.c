/* plan.c - what the device and the host writer must agree on: mode, parameters, and which construct
 * a clause comes from. */
#include <stdlib.h>
#include <string.h>
#include "codegen/c/plan.h"
#include "codegen/c/clause.h"
#include "codegen/c/reduce/reduce.h"
#include "codegen/c/text/text.h"

static void find_chain(const struct omp_construct *target, struct cg_plan *p)
{
    p->spmd = target->spmd_inner != NULL;
    p->inner = p->spmd ? target->spmd_inner : target;
    for (const struct omp_construct *c = p->inner; c != target->parent; c = c->parent)
        p->nchain++;
    const struct omp_construct *c = p->inner;
    for (unsigned i = p->nchain; i--; c = c->parent) {
        p->chain[i] = c;
        p->leaves |= c->leaves;
    }
}

static const struct omp_construct *find_teams(const struct omp_construct *c)
{
    if (c->leaves & OMPL_TEAMS)
        return c;
    for (const struct omp_construct *k = c->child; k; k = k->next) {
        const struct omp_construct *t = find_teams(k);
        if (t)
            return t;
    }
    return NULL;
}

static bool has_reduction(const struct omp_construct *c)
{
    for (unsigned i = 0; i < c->nsharings; i++)
        if (c->sharings[i].share == OMPSH_REDUCTION && !cg_is_scan(&c->sharings[i]))
            return true;
    return false;
}

/* A scalar that several threads share and write must be one object if they can rely on what others
 * wrote: there is synchronisation in the region, or its address is taken.  Otherwise the program
 * has a data race, usually on what was meant as a temporary: a copy for each thread is what was
 * meant, and faster. */
static bool is_communicated(const struct cg *cg, const struct omp_construct *target,
                            const struct omp_var *v)
{
    const struct omp_unit *u = cg->unit;
    if (target->synchronises)
        return true;
    for (unsigned i = cg_first_ref(u, target->body.begin);
         i < u->nrefs && u->refs[i].offset < target->body.end; i++) {
        const char *t = u->text + u->refs[i].offset - 1;
        while (*t == ' ' || *t == '(' || *t == '\n')
            t--;
        if (u->refs[i].var == v && *t == '&' && t[-1] != '&')
            return true;
    }
    return false;
}

static enum cg_pass pass_of(struct cg *cg, const struct omp_construct *target,
                            const struct omp_capture *k)
{
    switch (k->kind) {
    case OMPCAP_BYREF: return CG_PASS_ADDRESS;
    case OMPCAP_POINTER: return k->map >= 0 ? CG_PASS_POINTER : CG_PASS_LOOKUP;
    case OMPCAP_DEVICE_ADDR: return CG_PASS_HOST_ADDRESS;
    case OMPCAP_DEVICE_PTR:
        return k->var->type->kind == OMPT_POINTER ? CG_PASS_VALUE : CG_PASS_HOST_ADDRESS;
    default: break;
    }
    if (cg_is_aggregate(k->var->type))
        return CG_PASS_COPY;
    return k->one_copy && is_communicated(cg, target, k->var) ? CG_PASS_COPY : CG_PASS_VALUE;
}

static void add_param(struct cg_plan *p, struct cg_param param)
{
    p->params = realloc(p->params, (p->nparams + 1) * sizeof *p->params);
    if (!p->params)
        abort();
    p->params[p->nparams++] = param;
}

void cg_make_plan(struct cg *cg, const struct omp_construct *target, struct cg_plan *p)
{
    *p = (struct cg_plan){ 0 };
    find_chain(target, p);
    p->teams = find_teams(target);
    p->workers = target->needs_parallel;
    for (unsigned i = 0; i < p->nchain; i++)
        p->reduction = p->reduction || (p->spmd && p->teams && has_reduction(p->chain[i]));
    p->reduction = p->reduction || (!p->spmd && p->teams && has_reduction(p->teams));
    for (unsigned i = 0; i < target->ncaptures; i++) {
        const struct omp_capture *k = &target->captures[i];
        for (unsigned b = 0; b < cg_nbounds(k->var->type); b++)
            add_param(p, (struct cg_param){ k->var, CG_PASS_BOUND, b, -1, false });
        if (k->kind != OMPCAP_PRIVATE)
            add_param(p, (struct cg_param){ k->var, pass_of(cg, target, k), 0, k->map,
                                            k->one_copy && is_communicated(cg, target, k->var) });
    }
    cg_find_deferred(cg, p);
    p->reduction = p->reduction || p->ndeferred;
}

void cg_free_plan(struct cg_plan *p)
{
    free(p->deferred);
    free(p->params);
}

/* ------------------------------------------------------------------ what the host sees, too */
const struct cg_param *cg_parameter_of(const struct cg_plan *p, const struct omp_var *v)
{
    for (unsigned i = 0; i < p->nparams; i++)
        if (p->params[i].var == v && p->params[i].pass != CG_PASS_BOUND)
            return &p->params[i];
    return NULL;
}

bool cg_is_by_value(const struct cg_param *a)
{
    return a &&
           (a->pass == CG_PASS_VALUE || a->pass == CG_PASS_POINTER || a->pass == CG_PASS_LOOKUP);
}

static bool keeps_value(const struct omp_construct *c, const struct omp_var *v)
{
    const struct omp_sharing *s = cg_sharing(c, v);
    return !s || s->share == OMPSH_SHARED || s->share == OMPSH_FIRSTPRIVATE;
}

bool cg_is_constant_param(const struct cg *cg, const struct cg_plan *p, const struct omp_var *v)
{
    bool kept = keeps_value(p->teams, v);
    for (unsigned i = 0; i < p->nchain; i++)
        kept = kept && keeps_value(p->chain[i], v);
    return kept && !v->counts && cg_is_by_value(cg_parameter_of(p, v)) &&
           !cg_is_written(cg->unit, cg_whole(p->chain[0]), v);
}

bool cg_is_stable(const struct cg *cg, const struct cg_plan *p, const struct omp_expr *x,
                  const struct omp_var *besides)
{
    const struct omp_unit *u = cg->unit;
    for (unsigned i = cg_first_ref(u, x->extent.begin);
         i < u->nrefs && u->refs[i].offset < x->extent.end; i++)
        if (u->refs[i].var != besides && (u->refs[i].var->type->kind != OMPT_INT ||
                                          !cg_is_constant_param(cg, p, u->refs[i].var)))
            return false;
    return cg_empty(x->extent) || (x->is_pure && !x->reads_memory);
}
