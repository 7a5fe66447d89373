/* bounds.c - ompx_attribute, of LLVM: attributes of the kernel.
 *
 *     target … ompx_attribute(__attribute__((launch_bounds(n, m))))     target … thread_limit(n)
 *
 * Those for AMD's GPUs say nothing about others, and clang has warned of what else there is. */
#include "frontend/lower/lower.h"

/* The number of threads that launch_bounds has among the clause's tokens; NULL: it is not there. */
static const char *bound_in(struct fe *fe, const struct fe_pragma *p,
                            const struct lower_argument *a)
{
    for (unsigned k = a->begin; k < a->end; k++)
        if ((fe_word_at(fe, p, k, "launch_bounds") || fe_word_at(fe, p, k, "__launch_bounds__")) &&
            fe_word_at(fe, p, k + 1, "("))
            return lower_tokens(fe, p, k + 2,
                                fe_find_top(fe, p, k + 2, fe_closing(fe, p, k + 1), ","));
    return NULL;
}

void lower_attributes(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct lower_argument a, limit;
    const char *threads = NULL;
    for (unsigned at = p->clauses_at; lower_find(fe, p, OMPC_OMPX_ATTRIBUTE, at, &a);) {
        const char *bound = bound_in(fe, p, &a);
        if (!fe_word_at(fe, p, a.begin, "__attribute__") &&
            !fe_word_at(fe, p, a.begin, "__attribute") && !fe_word_at(fe, p, a.begin, "["))
            fe_error(fe, p->tokens[a.at].begin, "'ompx_attribute' needs an attribute");
        at = lower_after(fe, p, &a);
        threads = bound ? bound : threads;
        unsigned begin = p->tokens[a.at].begin;
        fe_add_edit(fe, &l->edits, begin, p->tokens[at - 1].end - begin, "");
    }
    if (threads && (p->c->leaves & OMPL_TARGET) &&
        !lower_find(fe, p, OMPC_THREAD_LIMIT, p->clauses_at, &limit))
        fe_add_edit(fe, &l->edits, p->tokens[p->ntokens - 1].end, 0,
                    arena_printf(fe->a, " thread_limit(%s)", threads));
}
