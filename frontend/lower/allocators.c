/* allocators.c - target allocate(omp_cgroup_mem_alloc: x) without uses_allocators.
 *
 * OpenMP asks for the clause, or for `requires dynamic_allocators`; clang does, and GCC does not.
 * A predefined allocator is there in any case, and has no traits to be known: the clause is added.
 * Other allocators are the host's, and remain an error. */
#include "frontend/lower/lower.h"
#include <string.h>

/* The allocator of the clause, if it is a name; 0: it is none. */
static unsigned allocator_of(const struct fe *fe, const struct fe_pragma *p,
                             const struct lower_argument *a)
{
    unsigned colon = fe_find_top(fe, p, a->begin, a->end, ":"), k = a->begin;
    while (k < colon && !(fe_word_at(fe, p, k, "allocator") && fe_word_at(fe, p, k + 1, "(")))
        k = fe_word_at(fe, p, k + 1, "(") ? fe_closing(fe, p, k + 1) + 1 : k + 1;
    bool modifier = k < colon;
    k = modifier ? k + 2 : a->begin;
    unsigned end = modifier ? fe_closing(fe, p, k - 1) : colon;
    return colon < a->end && end == k + 1 && p->tokens[k].kind == TOK_IDENT ? k : 0;
}

static bool is_used(const struct fe *fe, const struct fe_pragma *p, unsigned allocator)
{
    const struct fe_token *t = &p->tokens[allocator];
    struct lower_argument a;
    for (unsigned at = p->clauses_at; lower_find(fe, p, OMPC_USES_ALLOCATORS, at, &a);
         at = lower_after(fe, p, &a))
        for (unsigned k = a.begin; k < a.end; k++)
            if (p->tokens[k].end - p->tokens[k].begin == t->end - t->begin &&
                !strncmp(fe->u->text + p->tokens[k].begin, fe->u->text + t->begin,
                         t->end - t->begin))
                return true;
    return false;
}

/* The next one from token k on that no clause mentions; 0: there is none. */
static unsigned next_unused(const struct fe *fe, const struct fe_pragma *p, unsigned k)
{
    struct lower_argument a;
    for (; (p->c->leaves & OMPL_TARGET) && lower_find(fe, p, OMPC_ALLOCATE, k, &a);
         k = lower_after(fe, p, &a)) {
        unsigned allocator = allocator_of(fe, p, &a);
        if (allocator && !is_used(fe, p, allocator))
            return allocator;
    }
    return 0;
}

static bool is_predefined(struct fe *fe, const struct fe_pragma *p, unsigned allocator)
{
    const struct fe_operand *o = fe_operand_at(fe, p->tokens[allocator].begin);
    return o && clang_getCursorKind(clang_getCursorReferenced(fe_strip(fe, o->cursor))) ==
                    CXCursor_EnumConstantDecl;
}

bool lower_uses_unnamed(struct fe *fe, const struct fe_pragma *p)
{
    return next_unused(fe, p, p->clauses_at);
}

void lower_uses_allocators(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    for (unsigned k = p->clauses_at; (k = next_unused(fe, p, k)); k++)
        if (is_predefined(fe, p, k)) {
            const char *line =
                arena_printf(fe->a, "omp %s uses_allocators(%s)",
                             lower_tokens(fe, p, 0, p->ntokens), lower_tokens(fe, p, k, k + 1));
            fe_add_edit(fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
                        lower_line(fe, line, p->extent.end));
            return; /* others in another round */
        }
}
