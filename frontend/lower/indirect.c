/* indirect.c - declare target indirect: functions that device code may call through pointers of the
 * host.
 *
 * The device gets the host's addresses of the functions of all such directives when the image is
 * loaded, and a call through a pointer asks which of them it is:
 *
 *     before the first function               static void *hosts[2];  (declare target)
 *                                             static void *here(void *p);
 *     declare target enter(f, g) indirect     the directive without the clause
 *     after the last of them                  static void *hosts[2] = { f, g };
 *                                             a constructor that says that its value is the host's
 *                                             here(p): what p is on this device
 *     (*p)(x)                                 ((__typeof__(*p) *)here((void *)p))(x)
 *     p == f                                  here((void *)(p)) == here((void *)(f))
 *
 * An address that is none of the host's is the device's own. */
#include "frontend/lower/lower.h"

static bool has_clause(const struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    return (p->c->leaves & OMPL_DECLARE_TARGET) &&
           lower_find(fe, p, OMPC_INDIRECT, p->clauses_at, &a);
}

static bool has_list(const struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    return lower_find(fe, p, OMPC_ENTER, p->clauses_at, &a) ||
           lower_find(fe, p, OMPC_TO, p->clauses_at, &a);
}

static bool begins_block(const struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    return (p->c->leaves & OMPL_DECLARE_TARGET) && !has_list(fe, p) &&
           !lower_find(fe, p, OMPC_LINK, p->clauses_at, &a) &&
           !fe_word_at(fe, p, p->clauses_at, "(");
}

/* The directive itself, or the one that ends its block; else the last one. */
static const struct fe_pragma *end_of(const struct fe *fe, const struct fe_pragma *p)
{
    const struct fe_pragma *last = fe->pragmas.at + fe->pragmas.n - 1;
    for (int depth = 0; p < last; p++) {
        depth += begins_block(fe, p);
        depth -= (p->c->leaves & OMPL_END_DECLARE_TARGET) != 0;
        if (depth <= 0)
            return p;
    }
    return p;
}

/* Not where it is only called, as a function of the compiler is. */
static bool is_declared_in(const struct fe *fe, struct omp_extent block,
                           const struct fe_function *f)
{
    for (unsigned i = 0; i < fe->decls.n; i++)
        if (fe->decls.at[i].function == f->f && fe_inside(fe->decls.at[i].extent.begin, block))
            return true;
    return false;
}

static bool is_in_list(const struct fe *fe, const struct fe_pragma *p, enum omp_clause_kind kind,
                       const struct fe_function *f)
{
    struct lower_argument a;
    for (unsigned k = p->clauses_at; lower_find(fe, p, kind, k, &a); k = lower_after(fe, p, &a))
        for (unsigned i = a.begin; i < a.end; i++)
            if (fe_token_is(fe, &p->tokens[i], f->f->name))
                return true;
    return false;
}

bool lower_declares(const struct fe *fe, const struct fe_pragma *p, const struct fe_function *f)
{
    const struct fe_pragma *end = end_of(fe, p);
    if (f->system)
        return false;
    if (p != end)
        return is_declared_in(fe, (struct omp_extent){ p->extent.end, end->extent.begin }, f);
    return is_in_list(fe, p, OMPC_ENTER, f) || is_in_list(fe, p, OMPC_TO, f);
}

static const char *functions_of(struct fe *fe, const struct fe_pragma *p, unsigned *n)
{
    const char *list = "";
    for (unsigned i = 0; i < fe->functions.n; i++)
        if (lower_declares(fe, p, fe->functions.at[i])) {
            list = arena_printf(fe->a, "%s (void *)%s,", list, fe->functions.at[i]->f->name);
            ++*n;
        }
    return list;
}

/* ------------------------------------------------------------------ calls */
struct calls {
    struct lowering *l;
    const char *here;
};

/* The pointer there becomes what it is on this device. */
static void ask(struct calls *x, struct omp_extent e, const char *open)
{
    struct fe *fe = x->l->fe;
    fe_add_edit(
        fe, &x->l->edits, e.begin, 0,
        arena_printf(fe->a, "((__typeof__(%s%s)))%s((void *)(", open, fe_text(fe, e), x->here));
    fe_add_edit(fe, &x->l->edits, e.end, 0, ")))");
}

static bool points_to_function(CXCursor c)
{
    CXType t = clang_getCanonicalType(clang_getCursorType(c));
    if (t.kind != CXType_Pointer)
        return false;
    enum CXTypeKind k = clang_getCanonicalType(clang_getPointeeType(t)).kind;
    return k == CXType_FunctionProto || k == CXType_FunctionNoProto;
}

/* A pointer to a function, as another type, too; a function's name is the device's already. */
static bool may_be_host_pointer(struct fe *fe, CXCursor c)
{
    CXCursor inner = fe_strip(fe, c);
    while (!points_to_function(inner) && clang_getCursorKind(inner) == CXCursor_CStyleCastExpr) {
        fe_cursors v = { 0 };
        fe_children(fe, inner, &v); /* the last one is what is cast */
        if (!v.n)
            return false;
        inner = fe_strip(fe, v.at[v.n - 1]);
    }
    return points_to_function(inner);
}

/* What is compared is what both are on this device. */
static void rewrite_comparison(struct calls *x, CXCursor c)
{
    struct fe *fe = x->l->fe;
    enum CXBinaryOperatorKind k = clang_getCursorBinaryOperatorKind(c);
    fe_cursors v = { 0 };
    if (k != CXBinaryOperator_EQ && k != CXBinaryOperator_NE)
        return;
    fe_children(fe, c, &v);
    for (unsigned i = 0; i < v.n; i++) {
        struct omp_extent e = fe_extent(fe, v.at[i]);
        if (!may_be_host_pointer(fe, v.at[i]) || fe_is_system(fe, e.begin))
            continue;
        ask(x, e, "(");
    }
}

static enum CXChildVisitResult rewrite_call(CXCursor c, CXCursor parent, CXClientData data)
{
    struct calls *x = data;
    struct fe *fe = x->l->fe;
    fe_cursors v = { 0 };
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_BinaryOperator)
        rewrite_comparison(x, c);
    if (clang_getCursorKind(c) != CXCursor_CallExpr)
        return CXChildVisit_Recurse;
    fe_children(fe, c, &v);
    struct omp_extent e = v.n ? fe_extent(fe, v.at[0]) : (struct omp_extent){ 0, 0 };
    CXCursor callee = v.n ? fe_strip(fe, v.at[0]) : c;
    bool direct = clang_getCursorKind(callee) == CXCursor_DeclRefExpr &&
                  clang_getCursorKind(clang_getCursorReferenced(callee)) == CXCursor_FunctionDecl;
    if (!v.n || direct || fe_is_system(fe, e.begin))
        return CXChildVisit_Recurse;
    ask(x, e, "&*(");
    return CXChildVisit_Recurse; /* what computes the pointer may call through others */
}

/* Before the first function of the user, and outside of declare target. */
static unsigned first_place(const struct fe *fe)
{
    unsigned at = (unsigned)fe->u->length;
    for (unsigned i = 0; i < fe->decls.n; i++) {
        const struct omp_decl *d = &fe->decls.at[i];
        if (d->kind == OMPD_FUNCTION && d->extent.begin < at && !fe_is_system(fe, d->extent.begin))
            at = d->extent.begin;
    }
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        unsigned begin = fe->pragmas.at[i].extent.begin;
        if (begin < at && !fe_is_system(fe, begin))
            at = begin;
    }
    return at;
}

static void declare(struct lowering *l, const char *hosts, unsigned n, const char *here)
{
    unsigned at = first_place(l->fe);
    const char *enter =
        arena_printf(l->fe->a, "omp declare target %s(%s)", fe_enter_clause(), hosts);
    fe_add_edit(l->fe, &l->edits, at, 0,
                arena_printf(l->fe->a, "static void *%s[%u]; static void *%s(void *);%s", hosts, n,
                             here, lower_line(l->fe, enter, at)));
}

static void define(struct lowering *l, unsigned at, const char *hosts, unsigned n, const char *here,
                   const char *list)
{
    struct fe *fe = l->fe;
    const char *filling = arena_printf(
        fe->a,
        "__attribute__((constructor(101))) static void %sfill_hosts(void) { extern void "
        "%sfill(const void *) __asm__(\"__ompgpu_fill\"); %sfill(%s); }",
        fe->u->prefix, fe->u->prefix, fe->u->prefix, hosts);
    fe_add_edit(fe, &l->edits, at, 0,
                arena_printf(fe->a,
                             "static void *%s[%u] = {%s}; %s%sstatic void *%s(void *p) { void "
                             "*const here[] = {%s}; for (unsigned i = 0; i < %u; i++) if "
                             "(%s[i] == p) return here[i]; return p; }%s",
                             hosts, n, list, filling,
                             lower_line(fe, "omp begin declare target", at), here, list, n, hosts,
                             lower_line(fe, "omp end declare target", at)));
}

bool lower_is_indirect(struct fe *fe, const struct fe_pragma *p) { return has_clause(fe, p); }

/* clang does not see the clause. */
static void check_directive(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a, b;
    lower_find(fe, p, OMPC_INDIRECT, p->clauses_at, &a);
    if (lower_find(fe, p, OMPC_INDIRECT, lower_after(fe, p, &a), &b))
        fe_error(fe, p->tokens[b.at].begin, "a second 'indirect' in '#pragma omp %s'",
                 p->c->spelling);
    if (lower_find(fe, p, OMPC_DEVICE_TYPE, p->clauses_at, &b) &&
        lower_keyword(fe, p, b.begin) != OMPK_ANY)
        fe_error(fe, p->tokens[b.at].begin, "'device_type' beside 'indirect' has to be 'any'");
    if (!has_list(fe, p) && !(end_of(fe, p)->c->leaves & OMPL_END_DECLARE_TARGET))
        fe_error(fe, p->tokens[a.at].begin,
                 "'indirect' is about no function: '#pragma omp %s' has "
                 "neither 'enter' nor an 'end declare target'",
                 p->c->spelling);
}

/* All the directives at once.  What is declared before them may stand where the first one does. */
void lower_indirect(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    const struct fe_pragma *stop = fe->pragmas.at + fe->pragmas.n;
    const char *list = "", *hosts = lower_name(l, "hosts");
    struct calls calls = { l, lower_name(l, "here") };
    unsigned n = 0, at = 0;
    if (l->edits.n)
        return; /* it is about the whole text: a round of its own */
    for (p = fe->pragmas.at; p < stop; p++)
        if (has_clause(fe, p)) {
            check_directive(fe, p);
            list = arena_printf(fe->a, "%s%s", list, functions_of(fe, p, &n));
            unsigned end = end_of(fe, p)->extent.end;
            at = end > at ? end : at;
        }
    if (n)
        declare(l, hosts, n, calls.here);
    for (p = fe->pragmas.at; p < stop; p++)
        if (has_clause(fe, p))
            lower_drop(l, p, OMPC_INDIRECT);
    if (!n)
        return;
    define(l, at, hosts, n, calls.here, list);
    clang_visitChildren(clang_getTranslationUnitCursor(fe->tu), rewrite_call, &calls);
    fe_set_indirect();
}
