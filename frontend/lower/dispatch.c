/* dispatch.c - dispatch: the call of the variant that `construct={dispatch}` selects, with its
 * arguments as adjust_args and append_args ask. */
#include "frontend/lower/lower.h"
#include <limits.h>
#include <string.h>

struct call {
    struct lowering *l;
    struct fe_pragma *p;
    struct omp_extent statement, callee;
    unsigned close; /* offset of its ')' */
    fe_cursors children;
    CXCursor function;
    const struct fe_pragma *variant; /* its directive … */
    CXCursor declaration;            /* … and what that belongs to: it names the parameters */
    const char *device;
};

static CXCursor find_call(struct fe *fe, CXCursor c)
{
    fe_cursors v = { 0 };
    c = fe_strip(fe, c);
    if (clang_getCursorKind(c) != CXCursor_BinaryOperator)
        return c;
    fe_children(fe, c, &v);
    return v.n == 2 ? fe_strip(fe, v.at[1]) : c;
}

/* ------------------------------------------------------------------ arguments */
static bool is_named(struct fe *fe, const struct fe_pragma *p, unsigned begin, unsigned end,
                     const char *name)
{
    for (unsigned k = begin; k < end; k++)
        if (*name && fe_token_is(fe, &p->tokens[k], name))
            return true;
    return false;
}

struct search {
    struct call *c;
    unsigned begin; /* of what has been found */
};

static enum CXChildVisitResult visit_declaration(CXCursor x, CXCursor parent, CXClientData data)
{
    struct search *s = data;
    struct call *c = s->c;
    (void)parent;
    if (!clang_equalCursors(clang_getCanonicalCursor(x), clang_getCanonicalCursor(c->function)))
        return CXChildVisit_Continue;
    unsigned begin = fe_begin(c->l->fe, x);
    if (begin >= c->variant->extent.end && begin < s->begin)
        s->begin = begin, c->declaration = x;
    return CXChildVisit_Continue;
}

static void find_declaration(struct call *c)
{
    c->declaration = c->function;
    clang_visitChildren(clang_getTranslationUnitCursor(c->l->fe->tu), visit_declaration,
                        &(struct search){ c, UINT_MAX });
}

/* adjust_args(need_device_ptr: parameters) */
static bool needs_device_pointer(struct call *c, unsigned i)
{
    struct fe *fe = c->l->fe;
    CXString s = clang_getCursorSpelling(clang_Cursor_getArgument(c->declaration, i));
    const char *name = arena_strdup(fe->a, clang_getCString(s) ? clang_getCString(s) : "");
    struct lower_argument a;
    bool needs = false;
    clang_disposeString(s);
    for (unsigned k = 0; lower_find(fe, c->variant, OMPC_ADJUST_ARGS, k, &a);
         k = lower_after(fe, c->variant, &a))
        needs |= lower_keyword(fe, c->variant, a.begin) == OMPK_NEED_DEVICE_PTR &&
                 is_named(fe, c->variant, a.begin + 2, a.end, name);
    return needs;
}

/* is_device_ptr on the directive: it is one already. */
static bool is_device_pointer(struct call *c, const char *argument)
{
    struct lower_argument a;
    return lower_find(c->l->fe, c->p, OMPC_IS_DEVICE_PTR, c->p->clauses_at, &a) &&
           is_named(c->l->fe, c->p, a.begin, a.end, argument);
}

static const char *argument(struct call *c, unsigned i, struct omp_extent e)
{
    struct fe *fe = c->l->fe;
    const char *text = fe_text(fe, e), *host, *device;
    if (!needs_device_pointer(c, i) || is_device_pointer(c, text))
        return text;
    host = lower_name(c->l, "host");
    device = lower_name(c->l, "device");
    return arena_printf(
        fe->a,
        "({ %s %s void *%s = (void *)(%s), *%s = (void *)omp_get_mapped_ptr(%s, %s); %s ? %s : %s; "
        "})",
        lower_declare(fe, c->p, "omp_get_mapped_ptr",
                      "extern void *omp_get_mapped_ptr(const void *, int);"),
        lower_declare(fe, c->p, "omp_get_default_device",
                      "extern int omp_get_default_device(void);"),
        host, text, device, host, c->device, device, device, host);
}

/* append_args(interop(…), …): the objects of the directive's clause `interop`, then new ones, which
 * `before` makes and `after` destroys. */
static const char *appended(struct call *c, bool first, const char **before, const char **after)
{
    struct fe *fe = c->l->fe;
    const struct fe_pragma *v = c->variant, *p = c->p;
    struct lower_argument a, given = { 0 };
    const char *text = "";
    if (!lower_find(fe, v, OMPC_APPEND_ARGS, 0, &a))
        return text;
    if (!lower_find(fe, p, OMPC_INTEROP, p->clauses_at, &given))
        given.begin = given.end;
    for (unsigned k = a.begin, next, g = given.begin; k < a.end; k = next + 1, first = false) {
        next = fe_find_top(fe, v, k, a.end, ",");
        unsigned end = g < given.end ? fe_find_top(fe, p, g, given.end, ",") : g;
        const char *object = g < end ? lower_tokens(fe, p, g, end) : lower_name(c->l, "interop");
        text = arena_printf(fe->a, "%s%s%s", text, first ? "" : ", ", object);
        if (g == end) {
            const char *init = arena_printf(fe->a, "omp interop init(%s: %s)",
                                            lower_tokens(fe, v, k + 2, next - 1), object),
                       *destroy = arena_printf(fe->a, "omp interop destroy(%s)", object);
            *before = arena_printf(fe->a, "%s omp_interop_t %s;%s", *before, object,
                                   lower_line(fe, init, p->extent.begin));
            *after = arena_printf(fe->a, "%s%s", lower_line(fe, destroy, p->extent.begin), *after);
        }
        g = end + 1;
    }
    return text;
}

/* The statement with the variant's call. */
static const char *variant_call(struct call *c, const char *variant)
{
    struct fe *fe = c->l->fe;
    struct omp_extent rest = { c->callee.end, c->close };
    const char *text = arena_printf(
        fe->a, "%s%s", fe_text(fe, (struct omp_extent){ c->statement.begin, c->callee.begin }),
        variant);
    for (unsigned i = 1; i < c->children.n; i++) {
        struct omp_extent e = fe_extent(fe, c->children.at[i]);
        rest.end = e.begin;
        text = arena_printf(fe->a, "%s%s%s", text, fe_text(fe, rest), argument(c, i - 1, e));
        rest.begin = e.end;
    }
    rest.end = c->close;
    const char *before = "", *after = "",
               *objects = appended(c, c->children.n < 2, &before, &after);
    return arena_printf(fe->a, "%s%s%s%s%s%s", before, text, fe_text(fe, rest), objects,
                        fe_text(fe, (struct omp_extent){ c->close, c->statement.end }), after);
}

/* ------------------------------------------------------------------ the construct */
/* The argument of a clause, which is a condition; NULL: there is no such clause. */
static const char *condition(struct fe *fe, const struct fe_pragma *p, enum omp_clause_kind kind)
{
    struct lower_argument a;
    if (!lower_find(fe, p, kind, p->clauses_at, &a))
        return NULL;
    return a.end > a.begin ? lower_tokens(fe, p, a.begin, a.end) : "1";
}

static const char *either(struct fe *fe, const char *when, const char *one, const char *other)
{
    return when && *when ? arena_printf(fe->a, "if (%s) { %s } else { %s }", when, one, other)
                         : one;
}

/* The call of the first variant whose condition holds. */
static const char *call_of_variant(struct call *c, const char *base, const char *name,
                                   bool dispatch)
{
    struct fe *fe = c->l->fe;
    unsigned at = c->p->extent.begin;
    struct fe_candidates list = fe_find_candidates(fe, name, at, FE_ON_HOST, dispatch);
    const char *text = base;
    for (unsigned i = list.n; i-- > 0;) {
        c->variant = list.at[i].p;
        find_declaration(c);
        text = either(fe, list.at[i].condition, variant_call(c, list.at[i].function), text);
    }
    return text;
}

static const char *dependences(struct fe *fe, const struct fe_pragma *p)
{
    const char *text = "";
    struct lower_argument a;
    for (unsigned k = p->clauses_at; lower_find(fe, p, OMPC_DEPEND, k, &a);
         k = lower_after(fe, p, &a))
        text =
            arena_printf(fe->a, "%s %s", text, lower_tokens(fe, p, a.at, lower_after(fe, p, &a)));
    return *text ? lower_line(fe, arena_printf(fe->a, "omp taskwait%s", text), p->extent.begin)
                 : "";
}

static bool read_call(struct call *c)
{
    struct fe *fe = c->l->fe;
    if (!c->p->found)
        return false;
    CXCursor call = find_call(fe, c->p->stmt);
    if (clang_getCursorKind(call) != CXCursor_CallExpr)
        return false;
    fe_children(fe, call, &c->children);
    c->statement = (struct omp_extent){ fe_begin(fe, c->p->stmt), fe_stmt_end(fe, c->p->stmt) };
    c->callee = fe_extent(fe, c->children.at[0]);
    c->close = fe_extent(fe, call).end - 1;
    c->function = clang_getCursorReferenced(call);
    return true;
}

/* The device is the default one meanwhile. */
static const char *on_device(struct call *c, const struct lower_argument *a, const char *text)
{
    struct fe *fe = c->l->fe;
    const char *before = lower_name(c->l, "before");
    return arena_printf(
        fe->a,
        "%s %s const int %s = omp_get_default_device(); omp_set_default_device(%s); {%s} "
        "omp_set_default_device(%s);",
        lower_declare(fe, c->p, "omp_get_default_device",
                      "extern int omp_get_default_device(void);"),
        lower_declare(fe, c->p, "omp_set_default_device",
                      "extern void omp_set_default_device(int);"),
        before, lower_tokens(fe, c->p, a->begin, a->end), text, before);
}

bool lower_dispatches_to(struct lowering *l, struct fe_pragma *p, const char *base)
{
    struct call c = { .l = l, .p = p };
    return read_call(&c) && !strcmp(fe_text(l->fe, c.callee), base);
}

/* No variant takes the place of a function that is called through a pointer, of which gcc must not
 * know where it points. */
static const char *call_of_base(struct call *c, const char *base, const char *name)
{
    struct fe *fe = c->l->fe;
    if (!fe_find_candidates(fe, name, c->p->extent.begin, FE_ON_HOST, false).n)
        return base;
    const char *pointer = lower_name(c->l, "base");
    return arena_printf(fe->a, "__typeof__(&%s) volatile %s = %s; %s%s%s", name, pointer, name,
                        fe_text(fe, (struct omp_extent){ c->statement.begin, c->callee.begin }),
                        pointer,
                        fe_text(fe, (struct omp_extent){ c->callee.end, c->statement.end }));
}

void lower_dispatch(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct call c = { .l = l, .p = p, .device = "omp_get_default_device()" };
    struct lower_argument a;
    if (!read_call(&c))
        return; /* clang says what is wrong */
    struct omp_extent e = lower_statement(fe, p);
    const char *base = fe_text(fe, c.statement), *name = fe_text(fe, c.callee);
    const char *text = call_of_variant(&c, base, name, true);
    const char *plain = condition(fe, p, OMPC_NOCONTEXT), *none = condition(fe, p, OMPC_NOVARIANTS);
    if (plain)
        text = either(fe, plain, call_of_variant(&c, base, name, false), text);
    if (none)
        text = either(fe, none, call_of_base(&c, base, name), text);
    if (lower_find(fe, p, OMPC_DEVICE, p->clauses_at, &a))
        text = on_device(&c, &a, text);
    lower_replace(l, e,
                  arena_printf(fe->a, "{%s\n# %u\n%s }", dependences(fe, p),
                               fe_place(fe->u, c.statement.begin).line, text));
}
