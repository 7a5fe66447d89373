/* plan.c - what the device and the host writer must agree on: mode, parameters, and which construct
 * a clause comes from. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "codegen/c/write.h"

const struct omp_clause *cg_clause(const struct omp_construct *c, enum omp_clause_kind kind)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if (k->kind == kind)
            return k;
    return NULL;
}

const struct omp_clause *cg_plan_clause(const struct cg_plan *p, enum omp_clause_kind kind)
{
    for (unsigned i = p->nchain; i--;) {
        const struct omp_clause *k = cg_clause(p->chain[i], kind);
        if (k)
            return k;
    }
    return NULL;
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

unsigned cg_constant(const struct omp_unit *u, const struct omp_clause *k)
{
    if (!k || cg_empty(k->expr.extent))
        return 0;
    char *end;
    unsigned long n = strtoul(u->text + k->expr.extent.begin, &end, 0);
    while (*end == 'u' || *end == 'U' || *end == 'l' || *end == 'L')
        end++;
    while (end < u->text + k->expr.extent.end && isspace((unsigned char)*end))
        end++;
    return end == u->text + k->expr.extent.end &&
                   isdigit((unsigned char)u->text[k->expr.extent.begin]) && n <= 1 << 30
               ? (unsigned)n
               : 0;
}

/* `loop` lets us choose: the threads of the league under teams, the team's threads under parallel,
 * one thread elsewhere. */
unsigned cg_leaves(const struct omp_construct *c)
{
    const unsigned league = OMPL_DISTRIBUTE | OMPL_PARALLEL | OMPL_FOR;
    if (!(c->leaves & OMPL_LOOP))
        return c->leaves;
    unsigned rest = c->leaves & ~(unsigned)OMPL_LOOP;
    const struct omp_clause *bind = cg_clause(c, OMPC_BIND);
    if (rest & OMPL_TEAMS)
        return rest | league;
    if (rest & OMPL_PARALLEL)
        return rest | OMPL_FOR;
    unsigned outer = c->parent ? c->parent->leaves : 0;
    bool thread = bind && bind->word && !strcmp(bind->word, "thread");
    if (!thread && ((bind && bind->word && !strcmp(bind->word, "teams")) ||
                    (outer & (OMPL_TEAMS | OMPL_PARALLEL)) == OMPL_TEAMS))
        return rest | league;
    if (!thread &&
        ((bind && bind->word && !strcmp(bind->word, "parallel")) || (outer & OMPL_PARALLEL)))
        return rest | OMPL_FOR;
    return rest | OMPL_SIMD;
}

/* ------------------------------------------------------------------ the plan */
static void find_chain(const struct omp_construct *target, struct cg_plan *p)
{
    const struct omp_construct *c =
        target->spmd && target->spmd_inner ? target->spmd_inner : target;
    const struct omp_construct *up[8];
    unsigned n = 0;
    for (; c && n < 8; c = c->parent) {
        up[n++] = c;
        if (c == target)
            break;
    }
    p->leaves = 0;
    bool loops_between = false;
    for (unsigned i = 0; i < n; i++) {
        p->chain[i] = up[n - 1 - i];
        p->leaves |= cg_leaves(p->chain[i]);
        loops_between = loops_between || (i + 1 < n && p->chain[i]->nloops);
    }
    p->nchain = n;
    bool loop = (target->leaves & OMPL_LOOP) != 0; /* becomes parallel by cg_leaves() */
    p->spmd = (target->spmd || loop) && n && p->chain[0] == target && (p->leaves & OMPL_PARALLEL) &&
              !loops_between;
    if (!p->spmd) {
        p->chain[0] = target;
        p->nchain = 1;
        p->leaves = cg_leaves(target);
    }
    p->inner = p->chain[p->nchain - 1];
}

static bool has_parallel(const struct omp_construct *first)
{
    for (const struct omp_construct *c = first; c; c = c->next)
        if ((cg_leaves(c) & OMPL_PARALLEL) || has_parallel(c->child))
            return true;
    return false;
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

/* Can threads see each other's writes to a shared variable in a defined order?  Programs without
 * these constructs that write a shared scalar have a data race, or meant a private one. */
static bool synchronises(const struct omp_construct *first, const struct cg_plan *p)
{
    const unsigned sync = OMPL_ATOMIC | OMPL_CRITICAL | OMPL_SINGLE | OMPL_MASTER | OMPL_MASKED |
                          OMPL_BARRIER | OMPL_SECTIONS | OMPL_SCOPE | OMPL_FOR | OMPL_FLUSH;
    for (const struct omp_construct *c = first; c; c = c->next) {
        bool in_chain = false;
        for (unsigned i = 0; i < p->nchain; i++)
            in_chain = in_chain || c == p->chain[i];
        if ((!in_chain && (c->leaves & sync)) || synchronises(c->child, p))
            return true;
    }
    return false;
}

/* A scalar that several threads share and write must be one object if they can rely on what others
 * wrote: there is synchronisation in sight, or its address goes to where we cannot see.  Otherwise
 * the program has a data race, usually on what was meant as a temporary, and a copy for each thread
 * is the kinder meaning as well as the faster. */
static bool communicates(const struct cg *cg, const struct omp_construct *target,
                         const struct cg_plan *p, const struct omp_var *v)
{
    const struct omp_unit *u = cg->unit;
    if (p->synchronises)
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
                            const struct cg_plan *p, const struct omp_capture *k)
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
    return k->one_copy && communicates(cg, target, p, k->var) ? CG_PASS_COPY : CG_PASS_VALUE;
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
    p->workers = p->spmd || target->needs_parallel || (p->leaves & OMPL_PARALLEL) ||
                 has_parallel(target->child);
    p->synchronises = target->calls_sync || synchronises(target->child, p);
    for (unsigned i = 0; i < p->nchain; i++)
        p->reduction = p->reduction || (p->spmd && p->teams && has_reduction(p->chain[i]));
    p->reduction = p->reduction || (!p->spmd && p->teams && has_reduction(p->teams));
    for (unsigned i = 0; i < target->ncaptures; i++) {
        const struct omp_capture *k = &target->captures[i];
        for (unsigned b = 0; b < cg_nbounds(k->var->type); b++)
            add_param(p, (struct cg_param){ k->var, CG_PASS_BOUND, b, -1, false });
        if (k->kind != OMPCAP_PRIVATE)
            add_param(p, (struct cg_param){ k->var, pass_of(cg, target, p, k), 0, k->map,
                                            k->one_copy && communicates(cg, target, p, k->var) });
    }
    cg_find_deferred(cg, p);
    p->reduction = p->reduction || p->ndeferred;
}

void cg_free_plan(struct cg_plan *p)
{
    cg_free_deferred(p);
    free(p->params);
}
