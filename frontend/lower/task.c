/* task.c - taskgraph and transparent.
 *
 * taskgraph: no record is made, and each time the tasks are generated anew, as the specification
 * allows: it is a taskgroup, or with `nogroup` nothing.
 *
 * replayable: nothing is replayed.
 *
 * transparent: the tasks inside and beside the task order each other by `depend`.  Here everything
 * before it ends first, and everything inside before what follows: more order than was asked for.
 */
#include "frontend/lower/lower.h"

void lower_taskgraph(struct lowering *l, struct fe_pragma *p)
{
    struct lower_argument a;
    bool group = !lower_find(l->fe, p, OMPC_NOGROUP, p->clauses_at, &a);
    fe_add_edit(l->fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
                group ? lower_line(l->fe, "omp taskgroup", p->extent.end)
                      : fe_newlines_of(l->fe, p->extent));
}

void lower_replayable(struct lowering *l, struct fe_pragma *p)
{
    lower_drop(l, p, OMPC_REPLAYABLE);
}

void lower_transparent(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct omp_extent e = lower_statement(fe, p);
    if (!p->found)
        return;
    unsigned at = p->extent.begin;
    lower_replace(l, e,
                  arena_printf(fe->a, "{%s%s{%s%s}}", lower_line(fe, "omp taskwait", at),
                               lower_line(fe, "omp taskgroup", at),
                               lower_line(fe, lower_without(fe, p, OMPC_TRANSPARENT), at),
                               lower_text(fe, (struct omp_extent){ p->extent.end, e.end })));
}

/* ------------------------------------------------------------------ bounds of reduced sections
 * clang crashes where a task that takes part in the reduction of w[1:n] does not use n. */
bool lower_reduces_section(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    for (unsigned k = p->clauses_at;
         p->assoc == ASSOC_STMT && lower_find(fe, p, OMPC_IN_REDUCTION, k, &a);
         k = lower_after(fe, p, &a))
        for (unsigned i = a.begin; i < a.end; i++)
            if (fe_word_at(fe, p, i, "["))
                return true;
    return false;
}

static bool is_used_in(const struct fe *fe, struct omp_extent e, const struct omp_var *v)
{
    FE_EACH(r, fe->refs, e)
        if (r->var == v)
            return true;
    return false;
}

void lower_reduced_section(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct omp_extent e = lower_statement(fe, p), body = { p->extent.end, e.end };
    struct lower_argument a;
    const char *uses = "";
    for (unsigned k = p->clauses_at; p->found && lower_find(fe, p, OMPC_IN_REDUCTION, k, &a);
         k = lower_after(fe, p, &a))
        for (unsigned i = a.begin; i < a.end; i++) {
            const struct omp_ref *r = fe_ref_at(fe, p->tokens[i].begin);
            if (r && !is_used_in(fe, body, r->var))
                uses = arena_printf(fe->a, "%s (void)%s;", uses, r->var->name);
        }
    if (!*uses)
        return;
    unsigned at = fe_skip_blank(fe->u, p->extent.end);
    fe_add_edit(fe, &l->edits, at, 0,
                arena_printf(fe->a, "{%s\n# %u\n", uses, fe_place(fe->u, at).line));
    fe_add_edit(fe, &l->edits, e.end, 0, " }");
}
