/* loop.c - canonical loops, section 4.4.1 of OpenMP 5.2.  clang has checked the form; the parts are extracted here as text. */
#include "frontend/fe.h"

struct loop_reader { struct fe *fe; struct fe_pragma *p; struct omp_loop *l; bool bad; };

static void bad_loop(struct loop_reader *r, unsigned offset, const char *what)
{
    if (!r->bad) fe_error(r->fe, offset, "%s in the loop of '#pragma omp %s'", what, r->p->c->spelling);
    r->bad = true;
}

/* Braces and attributes around the one statement inside. */
static CXCursor peel(struct fe *fe, CXCursor c)
{
    fe_cursors v = { 0 };
    for (;;) {
        enum CXCursorKind k = clang_getCursorKind(c);
        if (k != CXCursor_CompoundStmt && k != CXCursor_UnexposedStmt) return c;
        fe_children(fe, c, &v);
        if (!v.n || (k == CXCursor_CompoundStmt && v.n != 1)) return c;
        c = v.at[v.n - 1];
    }
}

static bool refers_to(struct fe *fe, CXCursor c, const struct omp_var *v)
{
    c = fe_strip(fe, c);
    return clang_getCursorKind(c) == CXCursor_DeclRefExpr && fe_var_of(fe, clang_getCursorReferenced(c)) == v;
}

static void read_init(struct loop_reader *r, CXCursor c)
{
    fe_cursors v = { 0 };
    fe_children(r->fe, c, &v);
    if (clang_getCursorKind(c) == CXCursor_DeclStmt && v.n == 1 && clang_getCursorKind(v.at[0]) == CXCursor_VarDecl) {
        r->l->iv = fe_var_of(r->fe, v.at[0]);
        r->l->iv_declared = true;
        if (r->l->iv) r->l->lb = r->l->iv->init;
    } else if (clang_getCursorKind(c) == CXCursor_BinaryOperator && v.n == 2 &&
               clang_getCursorKind(fe_strip(r->fe, v.at[0])) == CXCursor_DeclRefExpr) {
        r->l->iv = fe_var_of(r->fe, clang_getCursorReferenced(fe_strip(r->fe, v.at[0])));
        r->l->lb = fe_extent(v.at[1]);
    }
    if (!r->l->iv || !r->l->lb.end) { bad_loop(r, fe_begin(c), "initialisation that is not 'var = lb'"); return; }
    enum omp_type_kind kind = r->l->iv->type->kind;
    if (kind != OMPT_INT && kind != OMPT_BOOL && kind != OMPT_POINTER)
        bad_loop(r, fe_begin(c), "a loop variable that is neither an integer nor a pointer");
}

static void read_test(struct loop_reader *r, CXCursor c)
{
    static const struct { enum CXBinaryOperatorKind op; int rel, mirrored; } rels[] = {
        { CXBinaryOperator_LT, OMPREL_LT, OMPREL_GT }, { CXBinaryOperator_LE, OMPREL_LE, OMPREL_GE },
        { CXBinaryOperator_GT, OMPREL_GT, OMPREL_LT }, { CXBinaryOperator_GE, OMPREL_GE, OMPREL_LE },
        { CXBinaryOperator_NE, OMPREL_NE, OMPREL_NE },
    };
    fe_cursors v = { 0 };
    c = fe_strip(r->fe, c);
    fe_children(r->fe, c, &v);
    for (unsigned i = 0; v.n == 2 && i < sizeof rels / sizeof *rels; i++) {
        if (clang_getCursorKind(c) != CXCursor_BinaryOperator || clang_getCursorBinaryOperatorKind(c) != rels[i].op) continue;
        bool left = refers_to(r->fe, v.at[0], r->l->iv);
        if (!left && !refers_to(r->fe, v.at[1], r->l->iv)) break;
        r->l->rel = left ? rels[i].rel : rels[i].mirrored;
        r->l->ub = fe_extent(v.at[left]);
        return;
    }
    bad_loop(r, fe_begin(c), "a test that is not 'var relation bound'");
}

static void read_step(struct loop_reader *r, CXCursor c)
{
    fe_cursors v = { 0 };
    c = fe_strip(r->fe, c);
    fe_children(r->fe, c, &v);
    enum CXCursorKind k = clang_getCursorKind(c);
    if (k == CXCursor_UnaryOperator) {
        enum CXUnaryOperatorKind op = clang_getCursorUnaryOperatorKind(c);
        r->l->step_negative = op == CXUnaryOperator_PreDec || op == CXUnaryOperator_PostDec;
        return;
    }
    enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(c);
    if (k == CXCursor_CompoundAssignOperator && v.n == 2 && (op == CXBinaryOperator_AddAssign || op == CXBinaryOperator_SubAssign)) {
        r->l->step = fe_extent(v.at[1]);
        r->l->step_negative = op == CXBinaryOperator_SubAssign;
        return;
    }
    if (k == CXCursor_BinaryOperator && op == CXBinaryOperator_Assign && v.n == 2) {
        c = fe_strip(r->fe, v.at[1]);
        op = clang_getCursorBinaryOperatorKind(c);
        fe_children(r->fe, c, &v);
        if (v.n == 2 && (op == CXBinaryOperator_Add || op == CXBinaryOperator_Sub)) {
            bool left = refers_to(r->fe, v.at[0], r->l->iv);
            r->l->step = fe_extent(v.at[left]);
            r->l->step_negative = op == CXBinaryOperator_Sub;
            if (left || (op == CXBinaryOperator_Add && refers_to(r->fe, v.at[1], r->l->iv))) return;
        }
    }
    bad_loop(r, fe_begin(c), "an increment that is not 'var += step'");
}

/* The governed statement, with pragmas in front of it. */
static struct omp_extent body_extent(struct fe *fe, CXCursor body, unsigned after)
{
    struct omp_extent e = { fe_begin(body), fe_stmt_end(fe, body) };
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        if (fe->pragmas.at[i].extent.begin > after && fe->pragmas.at[i].extent.begin < e.begin) e.begin = fe->pragmas.at[i].extent.begin;
    return e;
}

static CXCursor read_loop(struct loop_reader *r, CXCursor c)
{
    fe_cursors v = { 0 };
    c = peel(r->fe, c);
    if (clang_getCursorKind(c) != CXCursor_ForStmt) { bad_loop(r, fe_begin(c), "a statement that is not a 'for' loop"); return c; }
    fe_children(r->fe, c, &v);
    if (v.n != 4) { bad_loop(r, fe_begin(c), "a 'for' without initialisation, test or increment"); return c; }
    r->l->extent = (struct omp_extent){ fe_begin(c), fe_stmt_end(r->fe, c) };
    r->l->place = fe_place(r->fe->u, r->l->extent.begin);
    read_init(r, v.at[0]);
    if (!r->bad) read_test(r, v.at[1]);
    if (!r->bad) read_step(r, v.at[2]);
    r->l->body = body_extent(r->fe, v.at[3], fe_extent(v.at[2]).end);
    return v.at[3];
}

static bool uses(const struct fe *fe, struct omp_extent e, const struct omp_var *v)
{
    for (unsigned i = fe_first_ref(fe, e.begin); i < fe->refs.n && fe->refs.at[i].offset < e.end; i++)
        if (fe->refs.at[i].var == v) return true;
    return false;
}

void fe_canonical_loops(struct fe *fe, struct fe_pragma *p)
{
    struct omp_clause *collapse = fe_clause(p->c, OMPC_COLLAPSE), *ordered = fe_clause(p->c, OMPC_ORDERED);
    int64_t n = collapse ? collapse->value : ordered && ordered->value ? ordered->value : 1;
    if (n < 1 || n > 64) {
        fe_error_at(fe, p->c->place, "cannot collapse %lld loops", (long long)n);
        return;
    }
    struct loop_reader r = { fe, p, NULL, false };
    p->c->loops = arena_alloc(fe->a, (size_t)n * sizeof *p->c->loops);
    CXCursor c = p->stmt;
    for (unsigned i = 0; i < (unsigned)n && !r.bad; i++) {
        r.l = &p->c->loops[i];
        c = read_loop(&r, c);
        if (r.bad) return;
        p->c->nloops++;
        for (unsigned k = 0; k < i; k++)
            if (uses(fe, r.l->lb, p->c->loops[k].iv) || uses(fe, r.l->ub, p->c->loops[k].iv))
                bad_loop(&r, r.l->extent.begin, "a loop whose bounds depend on an outer loop variable (a non-rectangular nest; not supported yet)");
    }
    p->loop_body = c;
}
