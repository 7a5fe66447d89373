/* interop.c - `interop init(prefer_type(…), targetsync: o)`.
 *
 * clang's code for the directive does not say what is preferred.  So the library is told before it:
 * a list for each `init`, as numbers and names, in their order. */
#include "frontend/lower/lower.h"

static bool prefers(const struct fe *fe, const struct fe_pragma *p, const struct lower_argument *a)
{
    return fe_word_at(fe, p, a->begin, "prefer_type") && fe_word_at(fe, p, a->begin + 1, "(");
}

bool lower_prefers(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    for (unsigned k = p->clauses_at; lower_find(fe, p, OMPC_INIT, k, &a); k = lower_after(p, &a))
        if (prefers(fe, p, &a))
            return true;
    return false;
}

/* The call for what tokens [k, end) list. */
static const char *prefer(struct fe *fe, const struct fe_pragma *p, unsigned k, unsigned end)
{
    const char *numbers = "", *names = "";
    unsigned n = 0;
    for (unsigned next; k < end; k = next + 1, n++) {
        next = fe_find_top(fe, p, k, end, ",");
        bool name = p->tokens[k].kind == TOK_STRING;
        const char *text = lower_tokens(fe, p, k, next);
        numbers = arena_printf(fe->a, "%s%s, ", numbers, name ? "0" : text);
        names = arena_printf(fe->a, "%s%s, ", names, name ? text : "0");
    }
    return arena_printf(
        fe->a, " %sinterop_prefer((const int[]){ %s0 }, (const char *const[]){ %s0 }, %u);",
        fe->u->prefix, numbers, names, n);
}

void lower_interop(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct lower_argument a;
    const char *calls = "", *text = "omp";
    unsigned k = 0;
    while (lower_find(fe, p, OMPC_INIT, k, &a)) {
        unsigned close = prefers(fe, p, &a) ? fe_closing(fe, p, a.begin + 1) : 0;
        unsigned rest = !close                              ? a.begin
                        : fe_word_at(fe, p, close + 1, ",") ? close + 2
                                                            : close + 1;
        calls = arena_printf(fe->a, "%s%s", calls,
                             prefer(fe, p, close ? a.begin + 2 : 0, close ? close : 0));
        text = arena_printf(fe->a, "%s %s %s", text, lower_tokens(fe, p, k, a.begin),
                            lower_tokens(fe, p, rest, lower_after(p, &a)));
        k = lower_after(p, &a);
    }
    unsigned line = p->c->place.line;
    fe_add_edit(
        fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
        arena_printf(fe->a,
                     "\n# %u\n{ extern void %sinterop_prefer(const int *, const char *const "
                     "*, unsigned) __asm__(\"__ompgpu_interop_prefer\");%s\n# %u\n#pragma "
                     "%s %s\n}\n# %u\n",
                     line, fe->u->prefix, calls, line, text, lower_tokens(fe, p, k, p->ntokens),
                     fe_place(fe->u, p->extent.end).line));
}
