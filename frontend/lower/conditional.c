/* conditional.c - lastprivate(conditional: x): the value of the last iteration that assigned one.
 *
 * A struct holds the value with the number of its iteration, and a reduction keeps the later one:
 *
 *     struct last { unsigned long number; T value; } l = { 0 };
 *     parallel for reduction(later: l)
 *     for (…) { _Bool set = 0; T x; do { body } while (0); if (set) l = { number, x }; }
 *     if (l.number) x = l.value;
 *
 * Where the body writes x, it says so: (*(set = 1, &x)). */
#include "frontend/lower/lower.h"

bool lower_is_conditional(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    for (unsigned k = p->clauses_at; lower_find(fe, p, OMPC_LASTPRIVATE, k, &a);
         k = lower_after(fe, p, &a))
        if ((p->c->leaves & OMPL_PARALLEL) && (p->c->leaves & OMPL_FOR) &&
            lower_keyword(fe, p, a.begin) == OMPK_CONDITIONAL &&
            fe_word_at(fe, p, a.begin + 1, ":"))
            return true;
    return false;
}

struct conditional {
    struct lowering *l;
    struct fe_pragma *p;
    struct lower_loop loop;
    struct omp_var *var;
    const char *set, *last, *later; /* generated names */
};

static const char *marked_body(const struct conditional *c)
{
    struct fe *fe = c->l->fe;
    struct omp_extent e = c->loop.loop.body;
    const char *text = arena_printf(fe->a, "\n# %u\n", fe_place(fe->u, e.begin).line);
    FE_EACH(r, fe->refs, e) {
        if (r->var != c->var || !r->write)
            continue;
        text = arena_printf(fe->a, "%s%s(*(%s = 1, &%s))", text,
                            fe_text(fe, (struct omp_extent){ e.begin, r->offset }), c->set,
                            c->var->name);
        e.begin = r->offset + r->length;
        if (e.begin >= c->loop.loop.body.end)
            break;
    }
    return arena_printf(fe->a, "%s%s", text, fe_text(fe, e));
}

static const char *new_body(const struct conditional *c)
{
    const char *x = c->var->name, *number = lower_number(c->l->fe, &c->loop);
    return arena_printf(c->l->fe->a,
                        "{ _Bool %s = 0; __typeof__(%s) %s; do {%s} while (0); "
                        "if (%s) { %s.number = %s + 1; %s.value = %s; } }",
                        c->set, x, x, marked_body(c), c->set, c->last, number, c->last, x);
}

/* The directive with the reduction in place of the item; other items of the clause stay. */
static const char *new_directive(const struct conditional *c, const struct lower_argument *a,
                                 unsigned end)
{
    struct fe *fe = c->l->fe;
    const struct fe_pragma *p = c->p;
    const char *others = end < a->end ? arena_printf(fe->a, "lastprivate(conditional: %s)",
                                                     lower_tokens(fe, p, end + 1, a->end))
                                      : "";
    return arena_printf(fe->a, "omp %s %s reduction(%s: %s) %s", lower_tokens(fe, p, 0, a->at),
                        others, c->later, c->last,
                        lower_tokens(fe, p, lower_after(fe, p, a), p->ntokens));
}

static const char *declarations(const struct conditional *c)
{
    struct fe *fe = c->l->fe;
    const char *type = lower_name(c->l, "type");
    const char *udr = arena_printf(
        fe->a,
        "omp declare reduction(%s: struct %s: omp_out = omp_in.number > omp_out.number ? omp_in : "
        "omp_out) initializer(omp_priv = (struct %s){ 0 })",
        c->later, type, type);
    return arena_printf(fe->a,
                        "struct %s { unsigned long number; __typeof__(%s) value; };%s"
                        "struct %s %s = { 0 };",
                        type, c->var->name, lower_line(fe, udr, c->p->extent.begin), type, c->last);
}

void lower_conditional(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct conditional c = { .l = l, .p = p };
    struct lower_argument a, collapse;
    CXCursor body;
    unsigned k = p->clauses_at;
    while (lower_find(fe, p, OMPC_LASTPRIVATE, k, &a) &&
           lower_keyword(fe, p, a.begin) != OMPK_CONDITIONAL)
        k = lower_after(fe, p, &a);
    if (!p->found || lower_find(fe, p, OMPC_COLLAPSE, p->clauses_at, &collapse) ||
        !lower_read_loop(l, p, p->stmt, &c.loop, &body))
        return;
    const struct omp_ref *r =
        a.begin + 2 < a.end ? fe_ref_at(fe, p->tokens[a.begin + 2].begin) : NULL;
    if (!r)
        return;
    c.var = r->var;
    c.set = lower_name(l, "set");
    c.last = lower_name(l, "last");
    c.later = lower_name(l, "later");
    struct omp_extent head = { p->extent.end, c.loop.loop.body.begin };
    const char *declared = declarations(&c);
    unsigned end = fe_find_top(fe, p, a.begin + 2, a.end, ",");
    lower_replace(l, lower_statement(fe, p),
                  arena_printf(fe->a, "{ %s%s%s%s if (%s.number) %s = %s.value; }", declared,
                               lower_line(fe, new_directive(&c, &a, end), p->extent.begin),
                               lower_text(fe, head), new_body(&c), c.last, c.var->name, c.last));
}
