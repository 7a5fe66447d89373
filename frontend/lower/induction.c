/* induction.c - induction(step(s), op: x): in each iteration x begins with what the ones before
 * would have made of it.
 *
 *     x := x op s op s …, as often as the number of the iteration; at the end, for all of them
 *
 * The body gets a variable of that name; the original keeps its value until the end. */
#include "frontend/lower/lower.h"

/* name: x as it is after k steps */
static const char *after_steps(struct lowering *l, const char *x, const char *step, bool product,
                               const char *name, const char *k)
{
    struct fe *fe = l->fe;
    const char *i = lower_name(l, "i");
    return product
               ? arena_printf(fe->a,
                              "__typeof__(%s) %s = %s; for (unsigned long %s = %s; %s; %s--) "
                              "%s *= (%s);",
                              x, name, x, i, k, i, i, name, step)
               : arena_printf(fe->a, "__typeof__(%s) %s = %s + (%s) * (%s);", x, name, x, k, step);
}

struct induced {
    const char *step;
    bool product;
    unsigned items, end; /* tokens of the list */
};

static bool read_argument(struct lowering *l, struct fe_pragma *p, const struct lower_argument *a,
                          struct induced *x)
{
    struct fe *fe = l->fe;
    unsigned colon = fe_find_top(fe, p, a->begin, a->end, ":");
    *x = (struct induced){ .step = NULL, .items = colon + 1, .end = a->end };
    bool known = false;
    for (unsigned k = a->begin, end; k < colon; k = end + 1) {
        end = fe_find_top(fe, p, k, colon, ",");
        if (lower_keyword(fe, p, k) == OMPK_STEP && fe_word_at(fe, p, k + 1, "(")) {
            x->step = lower_tokens(fe, p, k + 2, end - 1);
            continue;
        }
        x->product = fe_word_at(fe, p, k, "*");
        known |= x->product || fe_word_at(fe, p, k, "+");
    }
    if (known && x->step)
        return true;
    fe_unsupported(fe, p->c->place, UNSUPPORTED_MODIFIER,
                   lower_tokens(fe, p, a->begin, colon < a->end ? colon : a->end), "induction");
    return false;
}

/* Before the body, and after the loop. */
static bool add_items(struct lowering *l, struct fe_pragma *p, const struct induced *x,
                      const struct lower_loop *loop, const char *number, const char **before,
                      const char **after)
{
    struct fe *fe = l->fe;
    for (unsigned k = x->items, end; k < x->end; k = end + 1) {
        end = fe_find_top(fe, p, k, x->end, ",");
        const char *item = lower_tokens(fe, p, k, end), *name = lower_name(l, "v");
        *before =
            arena_printf(fe->a, "%s %s __typeof__(%s) %s = %s;", *before,
                         after_steps(l, item, x->step, x->product, name, number), item, item, name);
        name = lower_name(l, "v");
        *after =
            arena_printf(fe->a, "%s {%s %s = %s;}", *after,
                         after_steps(l, item, x->step, x->product, name, loop->trip), item, name);
    }
    return true;
}

/* (i - lb) / step */
const char *lower_number(struct fe *fe, const struct lower_loop *x)
{
    const struct omp_loop *l = &x->loop;
    const char *lb = fe_text(fe, l->lb.extent), *name = l->iv->name;
    const char *step =
        l->step.extent.end ? arena_printf(fe->a, "/ (%s)", fe_text(fe, l->step.extent)) : "";
    return arena_printf(fe->a, "((%s(%s - (%s)))%s)", l->step_negative ? "-" : "", name, lb, step);
}

/* Does the directive share out the iterations of several loops? */
static bool collapses(struct lowering *l, struct fe_pragma *p)
{
    struct lower_argument a;
    long long n = 0;
    return lower_find(l->fe, p, OMPC_COLLAPSE, p->clauses_at, &a) &&
           (!fe_constant(l->fe, p, a.begin, a.end, &n) || n != 1);
}

/* The original's new value is stored once by a team that shares out a loop, when all of its threads
 * have read the old one. */
static const char *once(struct fe *fe, const struct fe_pragma *p, const char *after)
{
    struct lower_argument a;
    const char *barrier = "";
    if (!(p->c->leaves & OMPL_FOR) || p->c->leaves & OMPL_PARALLEL)
        return after;
    if (lower_find(fe, p, OMPC_NOWAIT, p->clauses_at, &a))
        barrier = lower_line(fe, "omp barrier", p->extent.begin);
    return arena_printf(fe->a, "%s%s{%s}", barrier, lower_line(fe, "omp single", p->extent.begin),
                        after);
}

/* Nothing orders the teams, each of which would have to read the original's old value. */
static bool is_of_teams(const struct fe_pragma *p)
{
    return p->c->leaves & OMPL_DISTRIBUTE && !(p->c->leaves & OMPL_TEAMS);
}

void lower_induction(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct lower_argument a;
    struct lower_loop x;
    CXCursor body;
    const char *before = "", *after = "";
    if (collapses(l, p)) {
        fe_unsupported(fe, p->c->place, UNSUPPORTED_CLAUSE, "induction", "collapsed loops");
        return;
    }
    if (is_of_teams(p)) {
        fe_unsupported(fe, p->c->place, UNSUPPORTED_CLAUSE, "induction", "distribute inside teams");
        return;
    }
    if (!p->found || !lower_read_loop(l, p, p->stmt, &x, &body))
        return;
    for (unsigned k = p->clauses_at; lower_find(fe, p, OMPC_INDUCTION, k, &a);
         k = lower_after(fe, p, &a)) {
        struct induced one;
        if (!read_argument(l, p, &a, &one) ||
            !add_items(l, p, &one, &x, lower_number(fe, &x), &before, &after))
            return;
    }
    struct omp_extent e = lower_statement(fe, p);
    struct omp_extent head = { p->extent.end, x.loop.body.begin };
    lower_replace(
        l, e,
        arena_printf(fe->a, "{%s%s { %s {%s} } %s }",
                     lower_line(fe, lower_without(fe, p, OMPC_INDUCTION), p->extent.begin),
                     lower_text(fe, head), before, lower_text(fe, x.loop.body),
                     once(fe, p, after)));
}
