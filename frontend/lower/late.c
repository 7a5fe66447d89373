/* late.c - declare variant with conditions that are known when the program runs.
 *
 *     declare variant(v) match(user={condition(n > 9)})
 *     int f(int);
 *     … f(x) …                                          … (n > 9 ? v(x) : f(x)) …
 *
 * All variants of such a function are chosen here, those of dispatch constructs too; clang, which
 * wants constants, sees no directive of it.  The choice in a function that host and device may call
 * must be the same for both. */
#include "frontend/lower/lower.h"
#include <string.h>

bool lower_is_late_variant(struct fe *fe, const struct fe_pragma *p)
{
    return !fe_is_system(fe, p->extent.begin) && fe_is_late(fe, p);
}

void lower_late_variant(struct lowering *l, struct fe_pragma *p) { (void)l, (void)p; }

/* ------------------------------------------------------------------ calls */
static bool same_choice(const struct fe_candidates *a, const struct fe_candidates *b)
{
    bool same = a->n == b->n;
    for (unsigned i = 0; same && i < a->n; i++)
        same = a->at[i].p == b->at[i].p;
    return same;
}

static struct fe_candidates candidates_at(struct fe *fe, const char *base, unsigned offset)
{
    struct fe_candidates host = fe_find_candidates(fe, base, offset, FE_ON_HOST, false),
                         device = fe_find_candidates(fe, base, offset, FE_ON_GPU, false);
    if (!same_choice(&host, &device))
        fe_unsupported(fe, fe_place(fe->u, offset), UNSUPPORTED_RUN_TIME_VARIANT, "declare variant",
                       "condition");
    return host;
}

/* After the call's bracket; 0: it is no call. */
static unsigned end_of_call(const struct fe *fe, const struct fe_fref *r)
{
    struct fe_token t;
    unsigned i = r->offset + r->length;
    int depth = 0;
    if (!fe_next_token(fe->u, i, &t) || !fe_token_is(fe, &t, "("))
        return 0;
    do {
        if (!fe_next_token(fe->u, i, &t))
            return 0;
        depth += fe_bracket(fe->u, &t);
        i = t.end;
    } while (depth > 0);
    return i;
}

/* Those of one of its declarations. */
static CXCursor declaration_of(const struct fe *fe, const struct fe_function *f)
{
    for (unsigned i = 0; i < fe->prototypes.n && !f->f->defined; i++)
        if (fe->prototypes.at[i].function == f->f)
            return fe->prototypes.at[i].cursor;
    return f->cursor;
}

static void check_parameters(struct fe *fe, const struct fe_candidate *c, const struct fe_fref *r)
{
    CXCursor f = declaration_of(fe, r->function);
    for (int i = 0, n = clang_Cursor_getNumArguments(f); i < n; i++) {
        CXString name = clang_getCursorSpelling(clang_Cursor_getArgument(f, (unsigned)i));
        for (unsigned k = c->begin; k < c->end; k++)
            if (fe_token_is(fe, &c->p->tokens[k], clang_getCString(name)))
                fe_error(fe, c->p->tokens[k].begin,
                         "the condition of 'declare variant' names the parameter '%s', which is "
                         "not supported: a variable of the file can be named",
                         clang_getCString(name));
        clang_disposeString(name);
    }
}

/* The condition is evaluated at the call, where its names must mean the same. */
static void check_names(struct fe *fe, const struct fe_candidate *c, unsigned offset)
{
    for (unsigned k = c->begin; k < c->end; k++)
        for (unsigned i = 0; i < fe->vars.n; i++) {
            const struct omp_var *v = fe->vars.at[i];
            if (v->storage != OMPS_GLOBAL && fe_inside(offset, v->scope) &&
                fe_token_is(fe, &c->p->tokens[k], v->name))
                fe_error(fe, offset,
                         "the condition of a 'declare variant' of this function uses the name "
                         "'%s', which is another variable here",
                         v->name);
        }
}

/* The text, with calls of the function replaced. */
static const char *choose_calls(struct fe *fe, const char *base, struct omp_extent e);

static const char *choose(struct fe *fe, const char *base, const struct fe_fref *r, unsigned end)
{
    struct fe_candidates c = candidates_at(fe, base, r->offset);
    const char *arguments =
        choose_calls(fe, base, (struct omp_extent){ r->offset + r->length, end });
    const char *text = arena_printf(fe->a, "%s%s", base, arguments);
    for (unsigned i = c.n; i-- > 0;) {
        const char *call = arena_printf(fe->a, "%s%s", c.at[i].function, arguments);
        check_names(fe, &c.at[i], r->offset);
        check_parameters(fe, &c.at[i], r);
        text = *c.at[i].condition
                   ? arena_printf(fe->a, "((%s) ? %s : %s)", c.at[i].condition, call, text)
                   : call;
    }
    return text;
}

static const char *choose_calls(struct fe *fe, const char *base, struct omp_extent e)
{
    const char *text = "";
    unsigned at = e.begin;
    FE_EACH(r, fe->frefs, e) {
        unsigned end = strcmp(r->function->f->name, base) ? 0 : end_of_call(fe, r);
        if (!end || r->offset < at)
            continue;
        text =
            arena_printf(fe->a, "%s%s%s", text, fe_text(fe, (struct omp_extent){ at, r->offset }),
                         choose(fe, base, r, end));
        at = end;
    }
    return arena_printf(fe->a, "%s%s", text, fe_text(fe, (struct omp_extent){ at, e.end }));
}

/* ------------------------------------------------------------------ one function */
/* Those of dispatch constructs; their number. */
static unsigned lower_dispatches(struct lowering *l, const char *base)
{
    unsigned n = 0;
    for (unsigned i = l->fe->pragmas.n; i-- > 0;) {
        struct fe_pragma *p = &l->fe->pragmas.at[i];
        if (p->c->directive == OMPDIR_DISPATCH && lower_dispatches_to(l, p, base)) {
            lower_dispatch(l, p);
            n++;
        }
    }
    return n;
}

/* A call in the arguments of a dispatched one is not found a second time. */
static void replace_calls(struct lowering *l, const char *base, unsigned dispatched)
{
    struct fe *fe = l->fe;
    unsigned at = 0;
    for (unsigned i = 0; i < fe->frefs.n; i++) {
        const struct fe_fref *r = &fe->frefs.at[i];
        unsigned end = strcmp(r->function->f->name, base) ? 0 : end_of_call(fe, r);
        struct omp_extent e = { r->offset, end };
        if (!end || r->offset < at)
            continue;
        if (lower_is_edited(l, e)) {
            if (!dispatched)
                fe_unsupported(fe, fe_place(fe->u, e.begin), UNSUPPORTED_RUN_TIME_VARIANT,
                               "declare variant", "dispatch");
            dispatched -= dispatched > 0;
            continue;
        }
        lower_replace(l, e, choose(fe, base, r, end));
        at = end;
    }
}

static void drop_directives(struct lowering *l, const char *base)
{
    for (unsigned i = 0; i < l->fe->pragmas.n; i++) {
        const struct fe_pragma *p = &l->fe->pragmas.at[i];
        const char *of =
            p->c->directive == OMPDIR_DECLARE_VARIANT ? fe_variant_base(l->fe, p) : NULL;
        if (of && !strcmp(of, base))
            fe_add_edit(l->fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
                        fe_newlines_of(l->fe, p->extent));
    }
}

/* Before other constructs, which may hold calls.  A function a round. */
void lower_late_variants(struct lowering *l)
{
    const char *base = NULL;
    for (unsigned i = 0; i < l->fe->pragmas.n && !base; i++) {
        const struct fe_pragma *p = &l->fe->pragmas.at[i];
        if (p->c->directive == OMPDIR_DECLARE_VARIANT && lower_is_late_variant(l->fe, p))
            base = fe_variant_base(l->fe, p);
    }
    if (!base)
        return;
    replace_calls(l, base, lower_dispatches(l, base));
    drop_directives(l, base);
}
