/* atomic.c - atomic compare, where clang 22 compiles it wrongly for the host.
 *
 *     weak                                    nothing happens at all; without the clause it does
 *     { r = x == e; if (r) x = d; }           r becomes -1, unless it is a _Bool
 *     { if (x == e) x = d; v = x; }           v gets what x was before
 *     … where x is a pointer                  clang crashes
 *     update beside capture or compare        an error
 *
 * A new value becomes
 *
 *     { o = x; if (x == e) x = d; }           v = o == e ? d : o;
 *
 * with e and d evaluated once, before.  For pointers there is what the construct stands for. */
#include "frontend/lower/lower.h"
#include <string.h>

/* ------------------------------------------------------------------ weak */
void lower_weak(struct lowering *l, struct fe_pragma *p) { lower_drop(l, p, OMPC_WEAK); }

/* ------------------------------------------------------------------ update beside another */
/* Which capture and compare are anyway: clang takes one of the three. */
bool lower_updates(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    return lower_find(fe, p, OMPC_CAPTURE, p->clauses_at, &a) ||
           lower_find(fe, p, OMPC_COMPARE, p->clauses_at, &a);
}

void lower_update(struct lowering *l, struct fe_pragma *p) { lower_drop(l, p, OMPC_UPDATE); }

/* ------------------------------------------------------------------ compare */
bool lower_compares(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    return !lower_find(fe, p, OMPC_WEAK, p->clauses_at, &a);
}

/* The strictest order: a clause asks for no more. */
static const char *with_pointer(struct lowering *l, const struct omp_atomic *a)
{
    struct fe *fe = l->fe;
    const char *old = lower_name(l, "o"), *desired = lower_name(l, "d"), *is = lower_name(l, "is"),
               *x = fe_text(fe, a->x), *captured = "", *result = "";
    if (a->v.end)
        captured = arena_printf(fe->a,
                                a->capture_failure ? " if (!%s) %s = %s;"
                                : a->capture_new   ? " %2$s = %1$s ? %4$s : %3$s;"
                                                   : " %2$s = %3$s;",
                                is, fe_text(fe, a->v), old, desired);
    if (a->result.end)
        result = arena_printf(fe->a, " %s = %s;", fe_text(fe, a->result), is);
    return arena_printf(fe->a,
                        "{ __typeof__(%s) %s = (%s); __typeof__(%s) %s = (%s); _Bool %s = "
                        "__atomic_compare_exchange_n(&(%s), &%s, %s, 0, %d, %d);%s%s (void)%s; }",
                        x, old, fe_text(fe, a->expr), x, desired, fe_text(fe, a->desired), is, x,
                        old, desired, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST, captured, result, is);
}

static const char *directive(struct fe *fe, const struct fe_pragma *p)
{
    const char *words = arena_printf(fe->a, "omp %s", lower_tokens(fe, p, 0, p->ntokens));
    return lower_line(fe, words, p->extent.end);
}

static const char *with_result(struct lowering *l, const struct fe_pragma *p,
                               const struct omp_atomic *a)
{
    struct fe *fe = l->fe;
    const char *is = lower_name(l, "is"), *x = fe_text(fe, a->x),
               *otherwise = a->capture_failure
                                ? arena_printf(fe->a, " else { %s = %s; }", fe_text(fe, a->v), x)
                                : "";
    return arena_printf(fe->a, "{ _Bool %s;%s{ %s = %s == %s; if (%s) { %s = %s; }%s } %s = %s; }",
                        is, directive(fe, p), is, x, fe_text(fe, a->expr), is, x,
                        fe_text(fe, a->desired), otherwise, fe_text(fe, a->result), is);
}

static const char *with_new_value(struct lowering *l, const struct fe_pragma *p,
                                  const struct omp_atomic *a)
{
    struct fe *fe = l->fe;
    const char *old = lower_name(l, "o"), *e = lower_name(l, "e"), *d = lower_name(l, "d"),
               *x = fe_text(fe, a->x),
               *op = a->op == OMPAO_EQUAL ? "=="
                     : a->op == OMPAO_MAX ? "<"
                                          : ">",
               *desired = a->op == OMPAO_EQUAL ? fe_text(fe, a->desired) : e;
    return arena_printf(fe->a,
                        "{ __typeof__(%s) %s; __auto_type %s = (%s); __typeof__(%s) %s = (%s);%s"
                        "{ %s = %s; if (%s %s %s) { %s = %s; } } %s = %s %s %s ? %s : %s; }",
                        x, old, e, fe_text(fe, a->expr), x, d, desired, directive(fe, p), old, x, x,
                        op, e, x, a->op == OMPAO_EQUAL ? d : e, fe_text(fe, a->v), old, op, e, d,
                        old);
}

void lower_compare(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct lower_argument c;
    struct omp_atomic a;
    if (!p->found ||
        !fe_read_compare(fe, p, lower_find(fe, p, OMPC_CAPTURE, p->clauses_at, &c), &a))
        return;
    bool result =
        a.result.end && strncmp(fe_text(fe, a.result), fe->u->prefix, strlen(fe->u->prefix)) != 0;
    if (a.op == OMPAO_EQUAL && a.x_type->kind == OMPT_POINTER)
        lower_replace(l, lower_statement(fe, p), with_pointer(l, &a));
    else if (result)
        lower_replace(l, lower_statement(fe, p), with_result(l, p, &a));
    else if (a.capture_new)
        lower_replace(l, lower_statement(fe, p), with_new_value(l, p, &a));
}
