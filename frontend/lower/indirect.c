/* indirect.c - declare target indirect: functions that device code may call through pointers of the
 * host.
 *
 * The host's addresses of the functions travel with each target construct, and a call through a
 * pointer asks which of them it is:
 *
 *     declare target enter(f, g) indirect     the directive without the clause, and
 *                                             static void *hosts[] = { f, g };  (declare target
 * link) void *here(void *p): what p is on this device
 *     (*p)(x)                                 ((__typeof__(*p) *)here((void *)p))(x)
 *
 * An address that is none of the host's is the device's own. */
#include "frontend/lower/lower.h"

static bool has_clause(const struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    return (p->c->leaves & OMPL_DECLARE_TARGET) &&
           lower_find(fe, p, OMPC_INDIRECT, p->clauses_at, &a);
}

/* The directive itself, or the one that ends its block. */
static const struct fe_pragma *end_of(const struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    bool list = lower_find(fe, p, OMPC_ENTER, p->clauses_at, &a) ||
                lower_find(fe, p, OMPC_TO, p->clauses_at, &a);
    while (!list && p + 1 < fe->pragmas.at + fe->pragmas.n &&
           !(p->c->leaves & OMPL_END_DECLARE_TARGET))
        p++;
    return p;
}

static bool is_listed(const struct fe *fe, const struct fe_pragma *p, const struct fe_pragma *end,
                      const struct fe_function *f)
{
    if (f->system)
        return false;
    if (p != end)
        return fe_inside(f->decl, (struct omp_extent){ p->extent.end, end->extent.begin });
    for (unsigned k = p->clauses_at; k < p->ntokens; k++)
        if (fe_token_is(fe, &p->tokens[k], f->f->name))
            return true;
    return false;
}

static const char *functions_of(struct fe *fe, const struct fe_pragma *p,
                                const struct fe_pragma *end)
{
    const char *list = "";
    for (unsigned i = 0; i < fe->functions.n; i++)
        if (is_listed(fe, p, end, fe->functions.at[i]))
            list = arena_printf(fe->a, "%s (void *)%s,", list, fe->functions.at[i]->f->name);
    return list;
}

/* ------------------------------------------------------------------ calls */
struct calls {
    struct lowering *l;
    const char *here;
};

static enum CXChildVisitResult rewrite_call(CXCursor c, CXCursor parent, CXClientData data)
{
    struct calls *x = data;
    struct fe *fe = x->l->fe;
    fe_cursors v = { 0 };
    (void)parent;
    if (clang_getCursorKind(c) != CXCursor_CallExpr)
        return CXChildVisit_Recurse;
    fe_children(fe, c, &v);
    struct omp_extent e = v.n ? fe_extent(fe, v.at[0]) : (struct omp_extent){ 0, 0 };
    CXCursor callee = v.n ? fe_strip(fe, v.at[0]) : c;
    bool direct = clang_getCursorKind(clang_getCursorReferenced(callee)) == CXCursor_FunctionDecl;
    if (!v.n || direct || fe_is_system(fe, e.begin))
        return CXChildVisit_Recurse;
    const char *text = fe_text(fe, e);
    fe_add_edit(fe, &x->l->edits, e.begin, e.end - e.begin,
                arena_printf(fe->a, "((__typeof__(&*(%s)))%s((void *)(%s)))", text, x->here, text));
    for (unsigned i = 1; i < v.n; i++) /* what computes the pointer is a part of the text */
        if (rewrite_call(v.at[i], c, x) == CXChildVisit_Recurse)
            clang_visitChildren(v.at[i], rewrite_call, x);
    return CXChildVisit_Continue;
}

/* Each construct after the directive that runs on the device has the addresses. */
static void map_addresses(struct lowering *l, const char *hosts, unsigned from)
{
    struct fe *fe = l->fe;
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        const struct fe_pragma *p = &fe->pragmas.at[i];
        if ((p->c->leaves & OMPL_TARGET) && p->ntokens && p->extent.begin >= from)
            fe_add_edit(fe, &l->edits, p->tokens[p->ntokens - 1].end, 0,
                        arena_printf(fe->a, " map(to: %s)", hosts));
    }
}

/* Before the first function of the user. */
static void declare_here(struct lowering *l, const char *here)
{
    struct fe *fe = l->fe;
    unsigned at = (unsigned)fe->u->length;
    for (unsigned i = 0; i < fe->decls.n; i++) {
        const struct omp_decl *d = &fe->decls.at[i];
        if (d->kind == OMPD_FUNCTION && d->extent.begin < at && !fe_is_system(fe, d->extent.begin))
            at = d->extent.begin;
    }
    fe_add_edit(fe, &l->edits, at, 0, arena_printf(fe->a, "static void *%s(void *); ", here));
}

bool lower_is_indirect(struct fe *fe, const struct fe_pragma *p) { return has_clause(fe, p); }

void lower_indirect(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    if (l->edits.n)
        return; /* it is about the whole text: a round of its own */
    const struct fe_pragma *end = end_of(fe, p);
    const char *list = functions_of(fe, p, end), *hosts = lower_name(l, "hosts");
    struct calls calls = { l, lower_name(l, "here") };
    fe_add_edit(fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
                lower_line(fe, lower_without(fe, p, OMPC_INDIRECT), p->extent.end));
    if (!*list)
        return;
    unsigned at = end->extent.end;
    fe_add_edit(
        fe, &l->edits, at, 0,
        arena_printf(
            fe->a,
            "static void *%s[] = {%s};%s%sstatic void *%s(void *p) { void *const here[] = {%s}; "
            "for (unsigned i = 0; i < sizeof here / sizeof *here; i++) if (%s[i] == p) return "
            "here[i]; return p; }%s",
            hosts, list,
            lower_line(fe, arena_printf(fe->a, "omp declare target link(%s)", hosts), at),
            lower_line(fe, "omp begin declare target", at), calls.here, list, hosts,
            lower_line(fe, "omp end declare target", at)));
    declare_here(l, calls.here);
    clang_visitChildren(clang_getTranslationUnitCursor(fe->tu), rewrite_call, &calls);
    map_addresses(l, hosts, at);
    fe_set_indirect();
}
