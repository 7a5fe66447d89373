/* mistakes.c - warnings about regions that are valid, and hardly meant so.
 *
 * What a region leaves in a copy of its own counts as lost where the next use of the variable in
 * the text after the region reads it.  A use that assigns, in whatever way, and one in a clause end
 * the search: a variable that several regions use for what they compute by themselves is no
 * mistake. */
#include "frontend/mistakes/mistakes.h"
#include <stdarg.h>
#include <string.h>

enum { MOST_THREADS = 1024 }; /* of a team, on every GPU */

static const char *levels = "";
void fe_set_warnings(const char *digits) { levels = digits ? digits : ""; }

#define NAME(id, name) name,
static const char *const names[FE_WARNINGS] = { PROTO_WARNINGS(NAME) };
#undef NAME

bool fe_warns(enum fe_warning w) { return strlen(levels) > w && levels[w] != '0'; }

void fe_warn(struct fe *fe, enum fe_warning w, unsigned offset, const char *fmt, ...)
{
    struct omp_place p = fe_place(fe->u, offset);
    va_list ap;
    if (!fe_warns(w) || fe_is_system(fe, offset))
        return;
    va_start(ap, fmt);
    const char *words = arena_vprintf(fe->a, fmt, ap);
    va_end(ap);
    if (levels[w] == '2')
        fe_error_at(fe, p, "%s [-Werror,-W%s]", words, names[w]);
    else
        fe_report(fe->u, p, DIAG_WARNING, "%s [-W%s]", words, names[w]);
}

/* ------------------------------------------------------------------ what is lost */
bool fe_is_in_clause(const struct fe *fe, unsigned offset)
{
    const struct fe_pragma *p = FE_LAST(fe->pragmas, offset);
    return p && fe_inside(offset, p->extent);
}

static bool is_read_after(const struct fe *fe, const struct omp_construct *c,
                          const struct omp_var *v)
{
    unsigned end = c->function ? c->function->extent.end : 0;
    for (const struct omp_ref *r = FE_FIRST(fe->refs, c->body.end);
         r && r < fe->refs.at + fe->refs.n && r->offset < end; r++)
        if (r->var == v)
            return !r->write && !fe_is_in_clause(fe, r->offset);
    return false;
}

static bool is_named(const struct omp_construct *c, const struct omp_var *v)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next) {
        if (k->kind == OMPC_DEFAULTMAP)
            return true;
        for (unsigned i = 0; i < k->nitems; i++)
            if (k->items[i].var == v)
                return true;
    }
    return false;
}

/* A copy that nobody asked for. */
static bool is_implicit_copy(const struct omp_construct *c, const struct omp_capture *k)
{
    return (k->kind == OMPCAP_BYVAL || k->kind == OMPCAP_POINTER) && k->map < 0 &&
           !is_named(c, k->var);
}

/* Not: its address is taken. */
static bool is_assigned(const struct fe *fe, const struct omp_ref *r)
{
    const unsigned *w = FE_FIRST(fe->writes, r->offset);
    return w && w < fe->writes.at + fe->writes.n && *w == r->offset;
}

static void find_lost_value(struct fe *fe, const struct omp_construct *c, const struct omp_var *v)
{
    FE_EACH(r, fe->refs, c->body) {
        if (r->var != v || !is_assigned(fe, r) || fe_is_private_at(c, v, r->offset))
            continue;
        fe_warn(fe, WARN_LOST, r->offset,
                "what '%s' gets here is lost: no clause of the region names it, so it is "
                "firstprivate there; map(tofrom: %s) brings the value back",
                v->name, v->name);
        return;
    }
}

/* Of a construct inside of c that reduces into its variable v. */
static const struct omp_clause *reduction_of(const struct omp_construct *c, const struct omp_var *v)
{
    for (const struct omp_construct *n = c->child; n; n = n->next) {
        const struct omp_sharing *s = fe_sharing_of(n, v);
        if (s && s->share == OMPSH_REDUCTION)
            return s->clause;
        const struct omp_clause *inner = s && s->share != OMPSH_SHARED ? NULL : reduction_of(n, v);
        if (inner)
            return inner;
    }
    return NULL;
}

static void find_lost_reduction(struct fe *fe, const struct omp_construct *c,
                                const struct omp_var *v)
{
    const struct omp_clause *k = reduction_of(c, v);
    if (k)
        fe_warn(fe, WARN_LOST_REDUCTION, k->extent.begin,
                "the result for '%s' stays in the region, where it is firstprivate: "
                "map(tofrom: %s) on the target construct brings it back",
                v->name, v->name);
}

static void find_lost(struct fe *fe, const struct omp_construct *c)
{
    for (unsigned i = 0; i < c->ncaptures; i++) {
        const struct omp_var *v = c->captures[i].var;
        if (v->carries || !is_implicit_copy(c, &c->captures[i]) || !is_read_after(fe, c, v))
            continue;
        find_lost_value(fe, c, v);
        find_lost_reduction(fe, c, v);
    }
}

/* ------------------------------------------------------------------ what nothing maps */
struct uses {
    struct fe *fe;
    const struct omp_var *v;
    CXCursor parent; /* the last one that is more than a conversion or parentheses */
    bool escapes;    /* what it points to may be mapped elsewhere, under another name */
};

static bool is_function(CXCursor c, const char *const *names)
{
    CXString s = clang_getCursorSpelling(c);
    bool found = false;
    for (; *names && !found; names++)
        found = !strcmp(clang_getCString(s), *names);
    clang_disposeString(s);
    return found;
}

/* It is followed, freed, or compared: no other pointer gets its value. */
static bool keeps_value(CXCursor parent)
{
    static const char *const frees[] = { "free", NULL };
    switch (clang_getCursorKind(parent)) {
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_IfStmt: return true;
    case CXCursor_CallExpr: return is_function(clang_getCursorReferenced(parent), frees);
    case CXCursor_UnaryOperator:
        return clang_getCursorUnaryOperatorKind(parent) == CXUnaryOperator_Deref ||
               clang_getCursorUnaryOperatorKind(parent) == CXUnaryOperator_LNot;
    case CXCursor_BinaryOperator:
        return clang_getCursorBinaryOperatorKind(parent) == CXBinaryOperator_EQ ||
               clang_getCursorBinaryOperatorKind(parent) == CXBinaryOperator_NE;
    default: return false;
    }
}

/* The last construct that begins before the offset is in all that are around it. */
bool fe_is_in_region(const struct fe *fe, unsigned offset)
{
    unsigned first = 0, end = fe->u->nconstructs;
    while (first < end) {
        unsigned middle = first + (end - first) / 2;
        if (fe->u->constructs[middle]->pragma.begin <= offset)
            first = middle + 1;
        else
            end = middle;
    }
    const struct omp_construct *c = first ? fe->u->constructs[first - 1] : NULL;
    for (; c; c = c->parent)
        if ((c->leaves & OMPL_TARGET) && fe_inside(offset, c->body))
            return true;
    return false;
}

static enum CXChildVisitResult visit_uses(CXCursor c, CXCursor parent, CXClientData data)
{
    struct uses *u = data, inner = *u;
    enum CXCursorKind k = clang_getCursorKind(c);
    (void)parent;
    if (k == CXCursor_DeclRefExpr && fe_var_of(u->fe, clang_getCursorReferenced(c)) == u->v &&
        !keeps_value(u->parent) && !fe_is_in_region(u->fe, fe_begin(u->fe, c)))
        u->escapes = true;
    if (k != CXCursor_UnexposedExpr && k != CXCursor_ParenExpr)
        inner.parent = c;
    clang_visitChildren(c, visit_uses, &inner);
    u->escapes |= inner.escapes;
    return CXChildVisit_Continue;
}

static bool escapes(struct fe *fe, const struct omp_construct *c, const struct omp_var *v)
{
    struct uses u = { fe, v, clang_getNullCursor(), true };
    FE_EACH(r, fe->refs, c->function->extent)
        if (r->var == v && fe_is_in_clause(fe, r->offset))
            return true;
    for (unsigned i = 0; i < fe->functions.n; i++)
        if (fe->functions.at[i]->f == c->function) {
            u.escapes = false;
            clang_visitChildren(fe->functions.at[i]->cursor, visit_uses, &u);
        }
    return u.escapes;
}

static bool is_allocated(struct fe *fe, const struct omp_var *v)
{
    static const char *const names[] = { "malloc", "calloc", "aligned_alloc", "realloc" };
    FE_EACH(r, fe->frefs, v->init)
        for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
            if (!strcmp(r->function->f->name, names[i]) && !r->function->f->defined)
                return true;
    return false;
}

bool fe_has_unified_memory(const struct fe *fe)
{
    for (unsigned i = 0; i < fe->u->nconstructs; i++)
        if (fe_clause(fe->u->constructs[i], OMPC_UNIFIED_SHARED_MEMORY))
            return true;
    return false;
}

static void find_unmapped(struct fe *fe, const struct omp_construct *c)
{
    if (!c->function || fe_clause(c, OMPC_IF) || fe_clause(c, OMPC_DEVICE) ||
        fe_has_unified_memory(fe))
        return;
    for (unsigned i = 0; i < c->ncaptures; i++) {
        const struct omp_var *v = c->captures[i].var;
        if (v->type->kind != OMPT_POINTER || v->storage != OMPS_LOCAL ||
            !is_implicit_copy(c, &c->captures[i]) || !is_allocated(fe, v) || escapes(fe, c, v))
            continue;
        const struct omp_ref *r = FE_FIRST(fe->refs, c->body.begin);
        while (r->var != v)
            r++;
        fe_warn(fe, WARN_UNMAPPED, r->offset,
                "'%s' points to memory of the host here: neither the region nor a data "
                "construct of the function maps it; map(%s[0:n])",
                v->name, v->name);
    }
}

/* ------------------------------------------------------------------ limits */
static void check_limits(struct fe *fe, const struct omp_construct *c)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if ((k->kind == OMPC_NUM_THREADS || k->kind == OMPC_THREAD_LIMIT) && k->expr.is_constant &&
            k->expr.value > MOST_THREADS)
            fe_warn(fe, WARN_LIMITS, k->extent.begin,
                    "%lld threads are asked for: a team on a GPU has at most %d",
                    (long long)k->expr.value, MOST_THREADS);
}

void fe_find_mistakes(struct fe *fe)
{
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        const struct omp_construct *c = fe->u->constructs[i];
        if (c->leaves & OMPL_TARGET) {
            find_lost(fe, c);
            fe_find_left(fe, c);
            find_unmapped(fe, c);
            fe_find_uninitialized(fe, c);
            fe_find_repeated_transfers(fe, c);
            fe_find_single_threads(fe, c);
            fe_find_shallow(fe, c);
        }
        fe_find_dependences(fe, c);
        fe_find_single_teams(fe, c);
        if (c->on_device || (c->leaves & OMPL_TARGET)) {
            check_limits(fe, c);
            fe_find_unset_privates(fe, c);
        }
    }
}
