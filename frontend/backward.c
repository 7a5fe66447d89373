/* backward.c - loops of constructs that lead away from their bound, and have no iteration.
 *
 *     for (i = 10; i < 0; i--)      for (i = 10; i < 0; i += 1)
 *
 * OpenMP wants the step to lead to the bound, and so does clang; GCC counts no iteration.  Where
 * constants say that the condition does not hold at first, the direction makes no difference: the
 * loop gets the one that is wanted.  Any other is left to clang's message. */
#include "frontend/fe.h"

enum { IN_EACH_TYPE = 127 };

struct walk {
    struct fe *fe;
    fe_edits *edits;
};

/* A constant that no conversion to the type of a loop variable changes. */
static bool is_small(const struct omp_expr *x)
{
    return x->extent.end && x->is_constant && x->value >= 0 && x->value <= IN_EACH_TYPE;
}

/* What the loop variable begins with, or an empty expression. */
static struct omp_expr first_value(struct fe *fe, CXCursor init)
{
    struct omp_expr none = { 0 };
    CXCursor value = clang_getNullCursor();
    fe_cursors v = { 0 };
    fe_children(fe, init, &v);
    if (clang_getCursorKind(init) == CXCursor_DeclStmt && v.n == 1)
        value = clang_Cursor_getVarDeclInitializer(v.at[0]);
    else if (clang_getCursorKind(init) == CXCursor_BinaryOperator && v.n == 2 &&
             clang_getCursorBinaryOperatorKind(init) == CXBinaryOperator_Assign)
        value = v.at[1];
    return clang_Cursor_isNull(value) ? none : fe_expr(fe, value);
}

/* -1, 1: the way the condition wants; 0: it may hold at first, or wants none. */
static int wanted_way(struct fe *fe, CXCursor init, CXCursor test)
{
    fe_cursors v = { 0 };
    test = fe_strip(fe, test);
    fe_children(fe, test, &v);
    if (clang_getCursorKind(test) != CXCursor_BinaryOperator || v.n != 2)
        return 0;
    struct omp_expr first = first_value(fe, init), bound = fe_expr(fe, v.at[1]);
    if (!is_small(&first) || !is_small(&bound))
        return 0;
    switch (clang_getCursorBinaryOperatorKind(test)) {
    case CXBinaryOperator_LT: return first.value >= bound.value;
    case CXBinaryOperator_LE: return first.value > bound.value;
    case CXBinaryOperator_GT: return -(first.value <= bound.value);
    case CXBinaryOperator_GE: return -(first.value < bound.value);
    default: return 0;
    }
}

/* ++, --, += and -= with a constant: the way it goes, and the other way as text. */
static int way_of_step(struct fe *fe, CXCursor step, const char **other)
{
    fe_cursors v = { 0 };
    const char *by = "1";
    int way = 0;
    fe_children(fe, step, &v);
    if (clang_getCursorKind(step) == CXCursor_UnaryOperator && v.n == 1) {
        enum CXUnaryOperatorKind op = clang_getCursorUnaryOperatorKind(step);
        way = op == CXUnaryOperator_PreInc || op == CXUnaryOperator_PostInc
                  ? 1
                  : -(op == CXUnaryOperator_PreDec || op == CXUnaryOperator_PostDec);
    } else if (clang_getCursorKind(step) == CXCursor_CompoundAssignOperator && v.n == 2) {
        struct omp_expr value = fe_expr(fe, v.at[1]);
        enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(step);
        by = fe_text(fe, value.extent);
        if (is_small(&value) && value.value)
            way = op == CXBinaryOperator_AddAssign ? 1 : -(op == CXBinaryOperator_SubAssign);
    }
    if (way)
        *other = arena_printf(fe->a, "%s %c= %s", fe_text(fe, fe_extent(fe, v.at[0])),
                              way > 0 ? '-' : '+', by);
    return way;
}

static void turn_round(const struct walk *w, CXCursor loop)
{
    struct fe *fe = w->fe;
    const char *other = NULL;
    fe_cursors v = { 0 };
    fe_children(fe, loop, &v);
    if (v.n != 4)
        return;
    CXCursor step = fe_strip(fe, v.at[2]);
    struct omp_extent e = fe_extent(fe, step);
    int wanted = wanted_way(fe, v.at[0], v.at[1]);
    if (!wanted || way_of_step(fe, step, &other) != -wanted || fe_has_edit(w->edits, e))
        return;
    fe_add_edit(fe, w->edits, e.begin, e.end - e.begin, other);
    fe_report_now(fe->u, fe_place(fe->u, fe_begin(fe, v.at[1])), DIAG_WARNING,
                  "this loop has no iteration: its condition does not hold at first");
}

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    if (clang_getCursorKind(c) == CXCursor_ForStmt)
        turn_round(data, c);
    return CXChildVisit_Recurse;
}

void fe_turn_backward_loops(struct fe *fe, fe_edits *l)
{
    struct walk w = { fe, l };
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        const struct fe_pragma *p = &fe->pragmas.at[i];
        if (p->assoc != ASSOC_LOOP || !p->found)
            continue;
        visit(p->stmt, p->stmt, &w);
        clang_visitChildren(p->stmt, visit, &w);
    }
}
