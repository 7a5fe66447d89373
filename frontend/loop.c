/* loop.c - canonical loops, section 4.4.1 of OpenMP 5.2.  clang has checked the form; the parts are
 * extracted here as text.
 *
 * Of a nest whose inner loops have bounds that depend on outer variables, or statements between the
 * loops, the outer part that has neither is collapsed.  Each of its iterations runs the inner loops
 * whole: that is one of the ways to share the iterations that the specification leaves open, and
 * only their variables remain to be made private.  Where the program asks for more - chunks of a
 * size, the number of each iteration - it is an error. */
#include "frontend/fe.h"
#include <string.h>

struct loop_reader {
    struct fe *fe;
    struct fe_pragma *p; /* NULL: of no directive, nothing is said */
    struct omp_loop *l;
    bool bad;
};

static void bad_loop(struct loop_reader *r, unsigned offset, const char *what)
{
    if (!r->bad && r->p)
        fe_error(r->fe, offset, "%s in the loop of '#pragma %s%s'", what,
                 fe_word_at(r->fe, r->p, 0, "ompx") ? "" : "omp ", r->p->c->spelling);
    r->bad = true;
}

/* Braces and attributes around the one statement inside. */
static CXCursor peel(struct fe *fe, CXCursor c)
{
    fe_cursors v = { 0 };
    for (;;) {
        enum CXCursorKind k = clang_getCursorKind(c);
        if (k != CXCursor_CompoundStmt && k != CXCursor_UnexposedStmt)
            return c;
        fe_children(fe, c, &v);
        if (!v.n || (k == CXCursor_CompoundStmt && v.n != 1))
            return c;
        c = v.at[v.n - 1];
    }
}

static bool refers_to(struct fe *fe, CXCursor c, const struct omp_var *v)
{
    c = fe_strip(fe, c);
    return clang_getCursorKind(c) == CXCursor_DeclRefExpr &&
           fe_var_of(fe, clang_getCursorReferenced(c)) == v;
}

static void read_init(struct loop_reader *r, CXCursor c)
{
    fe_cursors v = { 0 };
    fe_children(r->fe, c, &v);
    if (clang_getCursorKind(c) == CXCursor_DeclStmt && v.n == 1 &&
        clang_getCursorKind(v.at[0]) == CXCursor_VarDecl) {
        r->l->iv = fe_var_of(r->fe, v.at[0]);
        r->l->iv_declared = true;
        if (r->l->iv && r->l->iv->init.end)
            r->l->lb = fe_expr(r->fe, clang_Cursor_getVarDeclInitializer(v.at[0]));
    } else if (clang_getCursorKind(c) == CXCursor_BinaryOperator && v.n == 2 &&
               clang_getCursorKind(fe_strip(r->fe, v.at[0])) == CXCursor_DeclRefExpr) {
        r->l->iv = fe_var_of(r->fe, clang_getCursorReferenced(fe_strip(r->fe, v.at[0])));
        r->l->lb = fe_expr(r->fe, v.at[1]);
    }
    if (!r->l->iv || !r->l->lb.extent.end) {
        bad_loop(r, fe_begin(r->fe, c), "initialisation that is not 'var = lb'");
        return;
    }
    enum omp_type_kind kind = r->l->iv->type->kind;
    if (kind == OMPT_OTHER)
        bad_loop(r, fe_begin(r->fe, c), "a loop variable of type _BitInt, which is not supported");
    else if (kind != OMPT_INT && kind != OMPT_BOOL && kind != OMPT_POINTER)
        bad_loop(r, fe_begin(r->fe, c), "a loop variable that is neither an integer nor a pointer");
}

static void read_test(struct loop_reader *r, CXCursor c)
{
    static const struct {
        enum CXBinaryOperatorKind op;
        int rel, mirrored;
    } rels[] = {
        { CXBinaryOperator_LT, OMPREL_LT, OMPREL_GT },
        { CXBinaryOperator_LE, OMPREL_LE, OMPREL_GE },
        { CXBinaryOperator_GT, OMPREL_GT, OMPREL_LT },
        { CXBinaryOperator_GE, OMPREL_GE, OMPREL_LE },
        { CXBinaryOperator_NE, OMPREL_NE, OMPREL_NE },
    };
    fe_cursors v = { 0 };
    c = fe_strip(r->fe, c);
    fe_children(r->fe, c, &v);
    for (unsigned i = 0; v.n == 2 && i < sizeof rels / sizeof *rels; i++) {
        if (clang_getCursorKind(c) != CXCursor_BinaryOperator ||
            clang_getCursorBinaryOperatorKind(c) != rels[i].op)
            continue;
        bool left = refers_to(r->fe, v.at[0], r->l->iv);
        if (!left && !refers_to(r->fe, v.at[1], r->l->iv))
            break;
        r->l->rel = left ? rels[i].rel : rels[i].mirrored;
        r->l->ub = fe_expr(r->fe, v.at[left]);
        return;
    }
    bad_loop(r, fe_begin(r->fe, c), "a test that is not 'var relation bound'");
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
    if (k == CXCursor_CompoundAssignOperator && v.n == 2 &&
        (op == CXBinaryOperator_AddAssign || op == CXBinaryOperator_SubAssign)) {
        r->l->step = fe_expr(r->fe, v.at[1]);
        r->l->step_negative = op == CXBinaryOperator_SubAssign;
        return;
    }
    if (k == CXCursor_BinaryOperator && op == CXBinaryOperator_Assign && v.n == 2) {
        c = fe_strip(r->fe, v.at[1]);
        op = clang_getCursorBinaryOperatorKind(c);
        fe_children(r->fe, c, &v);
        if (v.n == 2 && (op == CXBinaryOperator_Add || op == CXBinaryOperator_Sub)) {
            bool left = refers_to(r->fe, v.at[0], r->l->iv);
            r->l->step = fe_expr(r->fe, v.at[left]);
            r->l->step_negative = op == CXBinaryOperator_Sub;
            if (left || (op == CXBinaryOperator_Add && refers_to(r->fe, v.at[1], r->l->iv)))
                return;
        }
    }
    bad_loop(r, fe_begin(r->fe, c), "an increment that is not 'var += step'");
}

/* What OpenMP wants with !=, as far as it can be seen; clang takes any. */
static bool may_be_unit(const struct omp_expr *step)
{
    return !step->extent.end || !step->is_constant || step->value == 1 || step->value == -1;
}

/* The governed statement, with the pragmas before it. */
static struct omp_extent body_extent(struct fe *fe, CXCursor body, unsigned after)
{
    struct omp_extent e = { fe_begin(fe, body), fe_stmt_end(fe, body) };
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        if (fe->pragmas.at[i].extent.begin > after && fe->pragmas.at[i].extent.begin < e.begin)
            e.begin = fe->pragmas.at[i].extent.begin;
    return e;
}

static CXCursor read_loop(struct loop_reader *r, CXCursor c)
{
    fe_cursors v = { 0 };
    c = peel(r->fe, c);
    if (clang_getCursorKind(c) != CXCursor_ForStmt) {
        bad_loop(r, fe_begin(r->fe, c), "a statement that is not a 'for' loop");
        return c;
    }
    fe_children(r->fe, c, &v);
    if (v.n != 4) {
        bad_loop(r, fe_begin(r->fe, c), "a 'for' without initialisation, test or increment");
        return c;
    }
    r->l->extent = (struct omp_extent){ fe_begin(r->fe, c), fe_stmt_end(r->fe, c) };
    r->l->place = fe_place(r->fe->u, r->l->extent.begin);
    read_init(r, v.at[0]);
    if (!r->bad)
        read_test(r, v.at[1]);
    if (!r->bad)
        read_step(r, v.at[2]);
    if (!r->bad && r->l->rel == OMPREL_NE && !may_be_unit(&r->l->step))
        bad_loop(r, fe_begin(r->fe, v.at[2]), "'!=' with a step that is not 1 or -1");
    r->l->body = body_extent(r->fe, v.at[3], fe_extent(r->fe, v.at[2]).end);
    return v.at[3];
}

bool fe_read_loop(struct fe *fe, struct fe_pragma *p, CXCursor at, struct omp_loop *l,
                  CXCursor *body)
{
    struct loop_reader r = { fe, p, l, false };
    *body = read_loop(&r, at);
    return !r.bad;
}

static bool uses(const struct fe *fe, struct omp_extent e, const struct omp_var *v)
{
    FE_EACH(r, fe->refs, e)
        if (r->var == v)
            return true;
    return false;
}

/* ------------------------------------------------------- loops that are not collapsed after all */
/* The `for` loops among the statements of a block and of the blocks in it; the last one found. */
static unsigned count_loops(struct fe *fe, CXCursor c, CXCursor *found)
{
    fe_cursors v = { 0 };
    unsigned n = 0;
    c = peel(fe, c);
    if (clang_getCursorKind(c) == CXCursor_ForStmt) {
        *found = c;
        return 1;
    }
    if (clang_getCursorKind(c) != CXCursor_CompoundStmt)
        return 0;
    fe_children(fe, c, &v);
    for (unsigned i = 0; i < v.n; i++)
        n += count_loops(fe, v.at[i], found);
    return n;
}

CXCursor fe_only_loop(struct fe *fe, CXCursor c)
{
    CXCursor found = c;
    return count_loops(fe, c, &found) == 1 ? found : c;
}

static void check_inner(struct loop_reader *r, const char *why, unsigned offset)
{
    static const struct {
        enum omp_clause_kind kind;
        bool sized;
        const char *what;
    } needs[] = {
        { OMPC_SCHEDULE, true, "chunks of a given size" },
        { OMPC_DIST_SCHEDULE, true, "chunks of a given size" },
        { OMPC_LINEAR, false, "'linear'" },
    };
    const struct omp_construct *c = r->p->c;
    const char *what = NULL;
    for (const struct omp_clause *k = c->clauses; k; k = k->next) {
        for (unsigned i = 0; i < sizeof needs / sizeof *needs; i++)
            if (k->kind == needs[i].kind && (!needs[i].sized || k->expr.extent.end))
                what = needs[i].what;
        if (k->kind == OMPC_REDUCTION && k->keyword == OMPK_INSCAN)
            what = "'scan'";
    }
    if (what)
        bad_loop(r, offset, arena_printf(r->fe->a, "%s with %s (not supported yet)", what, why));
}

static bool counts_in(const struct omp_construct *c, const struct omp_var *v)
{
    for (unsigned i = 0; i < c->nloops + c->ninner; i++)
        if (v == (i < c->nloops ? &c->loops[i] : &c->inner[i - c->nloops])->iv)
            return true;
    return false;
}

/* Is it known before the nest runs?  No statement between its loops sets it. */
static bool is_known_before(const struct loop_reader *r, const struct omp_expr *x)
{
    const struct omp_construct *c = r->p->c;
    FE_EACH(ref, r->fe->refs, x->extent)
        if (!counts_in(c, ref->var) && fe_inside(ref->var->decl, c->loops[0].body))
            return false;
    return true;
}

/* The last n loops, where c is the place of the first of them. */
static void read_inner(struct loop_reader *r, CXCursor c, unsigned n)
{
    struct omp_construct *to = r->p->c;
    to->inner = arena_alloc(r->fe->a, (size_t)n * sizeof *to->inner);
    for (unsigned i = 0; i < n && !r->bad; i++) {
        r->l = &to->inner[i];
        c = read_loop(r, fe_only_loop(r->fe, c));
        if (r->bad)
            return;
        if (fe_clause(to, OMPC_LASTPRIVATE) &&
            (!is_known_before(r, &r->l->lb) || !is_known_before(r, &r->l->ub)))
            bad_loop(r, r->l->extent.begin,
                     "values of the last iteration with bounds that statements between collapsed "
                     "loops set (not supported yet)");
        to->ninner++;
    }
}

/* The loops of c whose variables the bounds of l use; the last of them. */
static unsigned outer_loops(const struct fe *fe, const struct omp_construct *c,
                            const struct omp_loop *l, const struct omp_loop **last)
{
    unsigned n = 0;
    for (unsigned k = 0; k < c->nloops; k++)
        if (uses(fe, l->lb.extent, c->loops[k].iv) || uses(fe, l->ub.extent, c->loops[k].iv)) {
            *last = &c->loops[k];
            n++;
        }
    return n;
}

/* A nest whose last loop depends on one other is collapsed as if that loop always ran as often as
 * at its longest, and the writer skips what there is not of it: at most half, where it is a
 * triangle. */
static bool fills_box(const struct omp_construct *c, const struct omp_loop *l)
{
    return (c->leaves & (OMPL_DISTRIBUTE | OMPL_FOR)) && l->outer->iv->type->kind == OMPT_INT &&
           !l->outer->outer && l->iv->type->kind == OMPT_INT && l->rel != OMPREL_NE &&
           l->lb.is_pure && l->ub.is_pure;
}

/* ------------------------------------------------------------------ what the body costs */
struct cost {
    unsigned nodes;
    bool repeats;
};
enum { MOST_NODES = 400, MOST_NODES_WITH_LOOPS = 120 };

static enum CXChildVisitResult add_cost(CXCursor c, CXCursor parent, CXClientData data)
{
    struct cost *cost = data;
    (void)parent;
    switch (clang_getCursorKind(c)) {
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
    case CXCursor_GotoStmt:
    case CXCursor_IndirectGotoStmt: cost->repeats = true; break;
    case CXCursor_CallExpr: {
        CXCursor f = clang_getCursorDefinition(clang_getCursorReferenced(c));
        if (!clang_Cursor_isNull(f)) /* one that calls itself ends at MOST_NODES */
            clang_visitChildren(f, add_cost, cost);
        break;
    }
    default: break;
    }
    return ++cost->nodes > MOST_NODES ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static void weigh(struct omp_construct *c, CXCursor body)
{
    struct cost cost = { 0 };
    if (add_cost(body, body, &cost) == CXChildVisit_Recurse)
        clang_visitChildren(body, add_cost, &cost);
    c->is_short = cost.nodes <= MOST_NODES;
    c->repeats_much = cost.repeats && cost.nodes > MOST_NODES_WITH_LOOPS;
}

static int64_t associated_loops(const struct omp_construct *c)
{
    const struct omp_clause *collapse = fe_clause(c, OMPC_COLLAPSE),
                            *ordered = fe_clause(c, OMPC_ORDERED);
    return collapse ? collapse->value : ordered && ordered->value ? ordered->value : 1;
}

void fe_canonical_loops(struct fe *fe, struct fe_pragma *p)
{
    int64_t n = associated_loops(p->c);
    if (n < 1 || n > OMP_MAX_LOOPS) {
        fe_error_at(fe, p->c->place, "cannot collapse %lld loops; at most %d", (long long)n,
                    OMP_MAX_LOOPS);
        return;
    }
    struct loop_reader r = { fe, p, NULL, false };
    p->c->loops = arena_alloc(fe->a, (size_t)n * sizeof *p->c->loops);
    p->loop_body = p->stmt;
    for (unsigned i = 0; i < (unsigned)n && !r.bad; i++) {
        CXCursor at = p->loop_body;
        bool tight = !i || clang_getCursorKind(peel(fe, at)) == CXCursor_ForStmt;
        r.l = &p->c->loops[i];
        CXCursor body = tight ? read_loop(&r, at) : at;
        if (r.bad)
            return;
        unsigned outer = tight ? outer_loops(fe, p->c, r.l, &r.l->outer) : 0;
        if (!tight || outer)
            check_inner(&r,
                        tight ? "a loop whose bounds depend on an outer loop variable"
                              : "statements between collapsed loops",
                        fe_begin(fe, at));
        if (!tight || (outer && (outer > 1 || i + 1 < (unsigned)n || !fills_box(p->c, r.l)))) {
            read_inner(&r, at, (unsigned)n - i);
            return;
        }
        p->c->nloops++;
        p->loop_body = body;
    }
    if (p->c->leaves & OMPL_DISTRIBUTE)
        weigh(p->c, p->loop_body);
}
