/* initial.c - worksharing constructs of the one thread that a target construct begins with.
 *
 *     target map(x)                    target map(x)
 *     for lastprivate(x)               for
 *
 *     single firstprivate(x)           { T copy = x; { T x = copy; single … } }
 *
 * clang takes what the target construct maps for private to that thread, and rejects both clauses.
 * The thread runs all iterations, or sections, in their order: what it leaves in the variable
 * itself is what the last one leaves in its copy, and the last one that assigns in a conditional
 * one.  Variables that the region declares are private indeed: clang says so. */
#include "frontend/lower/lower.h"

#define SHARES_OUT (OMPL_FOR | OMPL_SECTIONS | OMPL_SINGLE)

/* The target construct that has the directive in a region of one thread; NULL: none. */
static const struct fe_pragma *target_around(struct fe *fe, const struct fe_pragma *p)
{
    const struct fe_pragma *found = NULL;
    for (const struct fe_pragma *q = fe->pragmas.at; q < p; q++)
        if (q->found && p->extent.begin < lower_statement(fe, q).end) {
            if (q->c->leaves & (OMPL_PARALLEL | OMPL_TEAMS))
                found = NULL;
            else if (q->c->leaves & OMPL_TARGET)
                found = q;
        }
    return found;
}

bool lower_is_initial(struct fe *fe, const struct fe_pragma *p)
{
    if (!(p->c->leaves & SHARES_OUT) || (p->c->leaves & ~(unsigned)(SHARES_OUT | OMPL_SIMD)))
        return false;
    for (const struct fe_pragma *q = fe->pragmas.at; q < p; q++)
        if (q->c->leaves == OMPL_TARGET)
            return true;
    return false;
}

/* The variable at the token, if it is from outside of the construct. */
static const struct omp_var *variable_at(const struct fe *fe, const struct fe_pragma *p, unsigned k,
                                         struct omp_extent target)
{
    const struct omp_ref *r = fe_ref_at(fe, p->tokens[k].begin);
    return r && !fe_inside(r->var->decl, target) ? r->var : NULL;
}

static bool is_lastprivate(struct fe *fe, const struct fe_pragma *p, const struct omp_var *v)
{
    struct lower_argument a;
    for (unsigned k = p->clauses_at; lower_find(fe, p, OMPC_LASTPRIVATE, k, &a);
         k = lower_after(fe, p, &a))
        for (unsigned i = a.begin; i < a.end; i++) {
            const struct omp_ref *r = fe_ref_at(fe, p->tokens[i].begin);
            if (r && r->var == v)
                return true;
        }
    return false;
}

static const char *copy_of(struct lowering *l, const struct omp_var *v)
{
    const char *copy = lower_name(l, "v"), *x = v->name;
    if (v->type->kind != OMPT_ARRAY)
        return arena_printf(l->fe->a, "__typeof__(%s) %s = %s; { __typeof__(%s) %s = %s;", x, copy,
                            x, copy, x, copy);
    return arena_printf(l->fe->a,
                        "__typeof__(%s) %s; __builtin_memcpy(&%s, &%s, sizeof(%s)); { "
                        "__typeof__(%s) %s; __builtin_memcpy(&%s, &%s, sizeof(%s));",
                        x, copy, copy, x, x, copy, x, x, copy, x);
}

struct initial {
    struct lowering *l;
    struct fe_pragma *p;
    struct omp_extent target;
    const char *before, *after;
};

/* Takes the clauses of that kind away; false: one has a variable of the region. */
static bool drop(struct initial *x, enum omp_clause_kind kind)
{
    struct fe *fe = x->l->fe;
    struct lower_argument a;
    for (unsigned k = x->p->clauses_at, end; lower_find(fe, x->p, kind, k, &a); k = end) {
        end = lower_after(fe, x->p, &a);
        for (unsigned i = fe_find_top(fe, x->p, a.begin, a.end, ":") < a.end ? a.begin + 2
                                                                             : a.begin;
             i < a.end; i += 2) {
            const struct omp_var *v = variable_at(fe, x->p, i, x->target);
            if (!v)
                return false;
            if (kind == OMPC_LASTPRIVATE || is_lastprivate(fe, x->p, v))
                continue;
            x->before = arena_printf(fe->a, "%s{ %s ", x->before, copy_of(x->l, v));
            x->after = arena_printf(fe->a, "%s } }", x->after);
        }
        fe_add_edit(fe, &x->l->edits, x->p->tokens[a.at].begin,
                    x->p->tokens[end - 1].end - x->p->tokens[a.at].begin, "");
    }
    return true;
}

bool lower_in_target(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    const struct fe_pragma *target = target_around(fe, p);
    unsigned edits = l->edits.n;
    if (!target || !p->found)
        return target;
    struct omp_extent e = lower_statement(fe, p);
    struct initial x = { l, p, lower_statement(fe, target), "", "" };
    if (!drop(&x, OMPC_FIRSTPRIVATE) || !drop(&x, OMPC_LASTPRIVATE)) {
        l->edits.n = edits;
        return true;
    }
    if (*x.before)
        fe_add_edit(fe, &l->edits, e.begin, 0,
                    arena_printf(fe->a, "%s\n# %u\n", x.before, fe_place(fe->u, e.begin).line));
    if (*x.after)
        fe_add_edit(fe, &l->edits, e.end, 0, x.after);
    return true;
}

void lower_initial(struct lowering *l, struct fe_pragma *p) { lower_in_target(l, p); }
