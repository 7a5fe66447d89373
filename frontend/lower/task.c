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
