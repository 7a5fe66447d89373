/* conditional.c - lastprivate(conditional: x): the value of the last iteration that assigned one.
 *
 * A struct holds the value with the number of its iteration, and a reduction keeps the later one:
 *
 *     struct last { unsigned long number; T value; } l = { 0 };
 *     parallel for reduction(later: l)
 *     for (…) { _Bool set = 0; T x; do { body } while (0); if (set) l = { number, x }; }
 *     if (l.number) x = l.value;
 *
 * Where the body writes x, it says so: (*(set = 1, &x)).  A loop that the threads of a parallel
 * construct around it share out needs a struct of theirs, which stands before that construct; one
 * of them clears and reads it. */
#include "frontend/lower/lower.h"

enum { MOST_LOOPS = 8 };

/* The innermost parallel construct around the directive; NULL: there is none in the function. */
static const struct fe_pragma *parallel_around(struct fe *fe, const struct fe_pragma *p)
{
    const struct fe_pragma *found = NULL;
    for (const struct fe_pragma *q = fe->pragmas.at; q < p; q++)
        if ((q->c->leaves & OMPL_PARALLEL) && q->found &&
            p->extent.begin < lower_statement(fe, q).end)
            found = q;
    return found;
}

/* Do threads of a parallel construct around share out the loop? */
static bool is_shared_out(const struct fe_pragma *p)
{
    return (p->c->leaves & OMPL_FOR) && !(p->c->leaves & OMPL_PARALLEL);
}

static bool is_such_loop(const struct fe_pragma *p)
{
    return (p->c->leaves & OMPL_FOR) ||
           ((p->c->leaves & OMPL_SIMD) && !(p->c->leaves & (OMPL_DISTRIBUTE | OMPL_TASKLOOP)));
}

bool lower_is_conditional(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    for (unsigned k = p->clauses_at; lower_find(fe, p, OMPC_LASTPRIVATE, k, &a);
         k = lower_after(fe, p, &a))
        if (is_such_loop(p) && lower_keyword(fe, p, a.begin) == OMPK_CONDITIONAL &&
            fe_word_at(fe, p, a.begin + 1, ":"))
            return true;
    return false;
}

struct conditional {
    struct lowering *l;
    struct fe_pragma *p;
    struct lower_loop loops[MOST_LOOPS]; /* those that are collapsed */
    unsigned nloops;
    struct omp_extent body; /* of the innermost one */
    struct omp_var *var;
    const char *set, *last, *later; /* generated names */
};

static const char *marked_body(const struct conditional *c)
{
    struct fe *fe = c->l->fe;
    struct omp_extent e = c->body;
    const char *text = arena_printf(fe->a, "\n# %u\n", fe_place(fe->u, e.begin).line);
    FE_EACH(r, fe->refs, e) {
        if (r->var != c->var || !r->write)
            continue;
        text = arena_printf(fe->a, "%s%s(*(%s = 1, &%s))", text,
                            fe_text(fe, (struct omp_extent){ e.begin, r->offset }), c->set,
                            c->var->name);
        e.begin = r->offset + r->length;
        if (e.begin >= c->body.end)
            break;
    }
    return arena_printf(fe->a, "%s%s", text, fe_text(fe, e));
}

/* Of the iteration of all loops. */
static const char *number_of(const struct conditional *c)
{
    struct fe *fe = c->l->fe;
    const char *number = lower_number(fe, &c->loops[0]);
    for (unsigned i = 1; i < c->nloops; i++)
        number = arena_printf(fe->a, "(%s * (unsigned long)(%s) + %s)", number, c->loops[i].trip,
                              lower_number(fe, &c->loops[i]));
    return number;
}

static const char *new_body(const struct conditional *c)
{
    const char *x = c->var->name, *number = number_of(c);
    return arena_printf(c->l->fe->a,
                        "{ _Bool %s = 0; __typeof__(%s) %s; do {%s} while (0); "
                        "if (%s) { %s.number = %s + 1; %s.value = %s; } }",
                        c->set, x, x, marked_body(c), c->set, c->last, number, c->last, x);
}

/* The directive with the reduction in place of the item; other items of the clause stay.  What
 * follows reads the result: the threads wait. */
static const char *new_directive(const struct conditional *c, const struct lower_argument *a,
                                 unsigned end)
{
    struct fe *fe = c->l->fe;
    const struct fe_pragma *p = c->p;
    struct lower_argument nowait;
    const char *others = end < a->end ? arena_printf(fe->a, "lastprivate(conditional: %s)",
                                                     lower_tokens(fe, p, end + 1, a->end))
                                      : "";
    const char *before = lower_tokens(fe, p, 0, a->at);
    unsigned k = lower_after(fe, p, a);
    const char *after = lower_tokens(fe, p, k, p->ntokens);
    if (is_shared_out(p) && lower_find(fe, p, OMPC_NOWAIT, p->clauses_at, &nowait)) {
        unsigned next = lower_after(fe, p, &nowait);
        if (nowait.at < a->at)
            before = arena_printf(fe->a, "%s %s", lower_tokens(fe, p, 0, nowait.at),
                                  lower_tokens(fe, p, next, a->at));
        else
            after = arena_printf(fe->a, "%s %s", lower_tokens(fe, p, k, nowait.at),
                                 lower_tokens(fe, p, next, p->ntokens));
    }
    return arena_printf(fe->a, "omp %s %s reduction(%s: %s) %s", before, others, c->later, c->last,
                        after);
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

/* Before the construct whose threads share out the loop. */
static void declare_around(const struct conditional *c, const struct fe_pragma *q)
{
    struct fe *fe = c->l->fe;
    struct omp_extent e = lower_statement(fe, q);
    struct lower_argument a;
    fe_add_edit(
        fe, &c->l->edits, e.begin, 0,
        arena_printf(fe->a, "{ %s\n# %u\n", declarations(c), fe_place(fe->u, e.begin).line));
    if (lower_find(fe, q, OMPC_DEFAULT, q->clauses_at, &a))
        fe_add_edit(fe, &c->l->edits, q->tokens[q->ntokens - 1].end, 0,
                    arena_printf(fe->a, " shared(%s)", c->last));
    fe_add_edit(fe, &c->l->edits, e.end, 0, " }");
}

/* Do the bounds of each loop use no variable of those around it? */
static bool is_rectangular(const struct conditional *c)
{
    for (unsigned i = 1; i < c->nloops; i++) {
        const struct omp_loop *loop = &c->loops[i].loop;
        const struct omp_extent parts[] = { loop->lb.extent, loop->ub.extent, loop->step.extent };
        for (unsigned n = 0; n < 3; n++)
            FE_EACH(r, c->l->fe->refs, parts[n])
                for (unsigned k = 0; k < i; k++)
                    if (r->var == c->loops[k].loop.iv)
                        return false;
    }
    return true;
}

/* Reads the loops that are collapsed, and the innermost one's body. */
static bool read_loops(struct conditional *c)
{
    struct fe *fe = c->l->fe;
    struct lower_argument a;
    CXCursor at = c->p->stmt;
    long long n = 1;
    if (!c->p->found)
        return false;
    if (lower_find(fe, c->p, OMPC_COLLAPSE, c->p->clauses_at, &a) &&
        !fe_constant(fe, c->p, a.begin, a.end, &n))
        return false;
    for (; c->nloops < n && n <= MOST_LOOPS; c->nloops++)
        if (!lower_read_loop(c->l, c->p, at, &c->loops[c->nloops], &at))
            return false;
    c->body = c->nloops ? c->loops[c->nloops - 1].loop.body : c->body;
    return n <= MOST_LOOPS && is_rectangular(c);
}

/* The item that comes first among those that are conditional. */
static bool read_item(struct conditional *c, struct lower_argument *a)
{
    struct fe *fe = c->l->fe;
    unsigned k = c->p->clauses_at;
    while (lower_find(fe, c->p, OMPC_LASTPRIVATE, k, a) &&
           lower_keyword(fe, c->p, a->begin) != OMPK_CONDITIONAL)
        k = lower_after(fe, c->p, a);
    const struct omp_ref *r =
        a->begin + 2 < a->end ? fe_ref_at(fe, c->p->tokens[a->begin + 2].begin) : NULL;
    c->var = r ? r->var : NULL;
    return r != NULL;
}

/* The loop with its directive, and what sets the variable. */
static const char *new_loop(const struct conditional *c, const struct lower_argument *a,
                            const char *single)
{
    struct fe *fe = c->l->fe;
    unsigned end = fe_find_top(fe, c->p, a->begin + 2, a->end, ",");
    struct omp_extent head = { c->p->extent.end, c->body.begin },
                      tail = { c->body.end, lower_statement(fe, c->p).end };
    return arena_printf(fe->a, "%s%s%s%s%s if (%s.number) %s = %s.value;",
                        lower_line(fe, new_directive(c, a, end), c->p->extent.begin),
                        lower_text(fe, head), new_body(c), lower_text(fe, tail), single, c->last,
                        c->var->name, c->last);
}

void lower_conditional(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct conditional c = { .l = l, .p = p };
    struct lower_argument a;
    const struct fe_pragma *q = is_shared_out(p) ? parallel_around(fe, p) : NULL;
    if (is_shared_out(p) && !q)
        lower_initial(l, p);
    if ((is_shared_out(p) && !q) || !read_loops(&c) || !read_item(&c, &a))
        return;
    c.set = lower_name(l, "set");
    c.last = lower_name(l, "last");
    c.later = lower_name(l, "later");
    const char *single = lower_line(fe, "omp single", p->extent.begin);
    if (q)
        declare_around(&c, q);
    lower_replace(l, lower_statement(fe, p),
                  q ? arena_printf(fe->a, "{ %s %s.number = 0; %s }", single, c.last,
                                   new_loop(&c, &a, single))
                    : arena_printf(fe->a, "{ %s%s }", declarations(&c), new_loop(&c, &a, "")));
}
