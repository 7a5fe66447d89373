/* private.c - private copies of variables in a block of their own.
 *
 *   {
 *     T *__o_v = &(v as it is spelled outside);      where the original is read or written
 *     T v = initial value;                           hides the outer v; from here on v is spelled plainly
 *     …
 *     reductions, stores to originals
 *   } */
#include <stdlib.h>
#include <string.h>
#include "codegen/c/write.h"

const char *cg_assign(struct cg *cg, const struct omp_type *t, const char *to, const char *from)
{
    if (t->kind == OMPT_ARRAY)
        return cg_strf(cg, "__builtin_memcpy((void *)%s, %s, sizeof(%s));", to, from, to);
    return cg_strf(cg, "%s = %s;", to, from);
}

/* ------------------------------------------------------------------ which variables */
static struct cg_private *slot(struct cg_privates *p, const struct omp_var *v)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->list[i].var == v)
            return &p->list[i];
    if (p->n == p->capacity) {
        p->capacity = p->capacity * 2 + 8;
        p->list = realloc(p->list, p->capacity * sizeof *p->list);
        if (!p->list)
            abort();
    }
    return &p->list[p->n++];
}

static bool has_operation(struct cg *cg, const struct omp_sharing *s, struct omp_place place)
{
    const struct omp_type *elem = cg_reduced(s);
    bool has =
        s->clause && elem && ((s->item && s->item->udr) || cg_identity(cg, elem, s->clause->op));
    if (!has)
        cg_fault(cg, place, "no reduction of '%s' of type '%s'", s->var->name,
                 s->var->type->spelling);
    return has;
}

/* A variable that a kernel or an outlined function received by value is a private copy as it
 * stands. */
static bool is_copy_already(const struct cg *cg, const struct omp_construct *c,
                            const struct omp_sharing *s, unsigned collect)
{
    if (s->share != OMPSH_FIRSTPRIVATE || s->lastprivate)
        return false;
    bool of_team = !(c->leaves & ~(unsigned)(OMPL_TARGET | OMPL_TEAMS | OMPL_DISTRIBUTE)) &&
                   cg_is_written(cg->unit, c->body, s->var);
    bool of_target = (c->leaves & OMPL_TARGET) && (!s->clause || c->leaves == OMPL_TARGET);
    return of_target || ((collect & CG_OUTLINED) && !cg->env[s->var->id] && !of_team);
}

void cg_collect_privates(struct cg *cg, const struct omp_construct *c, struct cg_privates *p,
                         unsigned collect)
{
    for (unsigned i = 0; i < c->nsharings; i++) {
        const struct omp_sharing *s = &c->sharings[i];
        bool reduction = s->share == OMPSH_REDUCTION;
        if (s->share == OMPSH_SHARED || (s->share == OMPSH_LOOP_IV && !s->lastprivate) ||
            is_copy_already(cg, c, s, collect) ||
            (reduction ? collect & CG_NO_REDUCTIONS : collect & CG_REDUCTIONS_ONLY))
            continue;
        if (reduction && !has_operation(cg, s, c->place))
            continue;
        bool bounds_passed =
            (collect & CG_OUTLINED) && s->share == OMPSH_PRIVATE && !s->lastprivate;
        bool bounds = s->var->type->variably_modified && !bounds_passed;
        *slot(p, s->var) = (struct cg_private){
            .sharing = s,
            .var = s->var,
            .bounds = bounds,
            .place = c->place,
            .original = s->share != OMPSH_PRIVATE || s->lastprivate,
            .elem = reduction ? cg_reduced(s) : NULL,
            .pieces = reduction && cg_in_pieces(s),
            .section = reduction ? cg_section(s) : 0,
        };
        p->lastprivate = p->lastprivate || s->lastprivate;
        p->linear = p->linear || s->share == OMPSH_LINEAR;
        p->reduction = p->reduction || (reduction && !cg_is_scan(s));
        p->scan = p->scan || cg_is_scan(s);
        p->race = p->race || s->share == OMPSH_LINEAR ||
                  (s->share == OMPSH_FIRSTPRIVATE && s->lastprivate);
    }
}

/* ------------------------------------------------------------------ declarations */
static void declare_bounds(struct cg *cg, const struct cg_private *p, const char *outside)
{
    for (unsigned i = 0; p->bounds && i < cg_nbounds(p->var->type); i++)
        cg_line(cg, "const unsigned long __%s_d%u = %s;", p->var->name, i,
                cg_bound(cg, p->var->type, i, cg_strf(cg, "(%s)", outside)));
}

/* One copy for the threads of a team of an SPMD kernel, in team-shared storage. */
static void declare_team_copy(struct cg *cg, const struct cg_private *p, const char *outside)
{
    const char *v = p->var->name, *type = cg_var_type(cg, p->var, CG_UNQUALIFIED);
    if (p->var->type->variably_modified)
        cg_fault(cg, p->place, "team-shared copy of '%s', whose type has run-time bounds", v);
    cg_line(cg,
            "static __OMPGPU_SHARED __typeof__(%s) __s_%s __OMPGPU_SHARED_INIT; %s *__t_%s = (%s "
            "*)&__s_%s;",
            type, v, type, v, type, v);
    if (p->sharing->share == OMPSH_FIRSTPRIVATE)
        cg_line(cg, "if (__ompgpu_thread_id() == 0) { %s } __ompgpu_barrier(%u);",
                cg_assign(cg, p->var->type, cg_strf(cg, "*__t_%s", v), outside), p->place.line);
    cg_line(cg, "%s *%s = __t_%s;", type, v, v);
}

static void declare_copy(struct cg *cg, const struct cg_private *p)
{
    const char *v = p->var->name, *type = cg_var_type(cg, p->var, CG_UNQUALIFIED);
    bool array = p->var->type->kind == OMPT_ARRAY;
    switch (p->sharing->share) {
    case OMPSH_FIRSTPRIVATE:
        cg_line(cg, array ? "%s %s;" : "%s %s = *__o_%s;", type, v, v);
        if (array)
            cg_put(cg, " %s", cg_assign(cg, p->var->type, v, cg_strf(cg, "*__o_%s", v)));
        break;
    case OMPSH_REDUCTION: cg_declare_reduction(cg, p); break;
    case OMPSH_LINEAR: {
        const struct omp_clause *k = p->sharing->clause;
        cg_line(cg, "%s %s; const %s __l_%s = *__o_%s; const long long __ls_%s = %s;", type, v,
                type, v, v, v, k && !cg_empty(k->expr.extent) ? cg_expr(cg, k->expr.extent) : "1");
        break;
    }
    case OMPSH_LOOP_IV: break; /* declared in the loop */
    default: cg_line(cg, "%s %s;", type, v);
    }
}

void cg_open_privates(struct cg *cg, struct cg_privates *p)
{
    cg_reduction_functions(cg, p);
    if (p->n)
        cg_open_scope(cg);
    for (unsigned i = 0; i < p->n;
         i++) { /* all originals first: a copy's initial value may use another variable */
        struct cg_private *k = &p->list[i];
        const char *outside = cg_spell(cg, k->var);
        declare_bounds(cg, k, outside);
        if (k->pieces)
            cg_declare_pieces(cg, k, outside);
        else if (k->section)
            cg_declare_section(cg, k, outside);
        else if (k->original && !k->team)
            cg_line(cg, "%s *__o_%s = %s;", cg_var_type(cg, k->var, CG_AS_IS), k->var->name,
                    cg_address(cg, k->var));
    }
    cg_declare_copies(cg, p);
    for (unsigned i = 0; i < p->n; i++) {
        struct cg_private *k = &p->list[i];
        if (k->team)
            declare_team_copy(cg, k, cg_spell(cg, k->var));
        else
            declare_copy(cg, k);
    }
    for (unsigned i = 0; i < p->n; i++) {
        struct cg_private *k = &p->list[i];
        k->saved = cg_bind(cg, k->var,
                           k->pieces    ? cg_bind_pieces(cg, k)
                           : k->section ? cg_bind_section(cg, k)
                           : k->team    ? cg_strf(cg, "(*%s)", k->var->name)
                                        : NULL);
    }
}

void cg_close_privates(struct cg *cg, struct cg_privates *p)
{
    cg_finish_reduction(cg, p);
    for (unsigned i = p->n; i--;)
        cg_bind(cg, p->list[i].var, p->list[i].saved);
    if (p->n)
        cg_close(cg);
    free(p->list);
    p->list = NULL;
    p->n = p->capacity = 0;
}
