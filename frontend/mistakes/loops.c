/* loops.c - how often loops run, as far as constants say. */
#include "frontend/mistakes/mistakes.h"
#include <stdlib.h>

int64_t fe_length_of(const struct omp_loop *l)
{
    int64_t step = l->step.extent.end ? l->step.value : 1;
    if (!l->lb.is_constant || !l->ub.is_constant || (l->step.extent.end && !l->step.is_constant) ||
        !step || l->rel == OMPREL_NE)
        return -1;
    int64_t way = l->ub.value - l->lb.value;
    bool up = l->rel == OMPREL_LT || l->rel == OMPREL_LE;
    way = (up ? way : -way) + (l->rel == OMPREL_LE || l->rel == OMPREL_GE);
    return way <= 0 ? 0 : (way - 1) / llabs(step) + 1;
}

/* ------------------------------------------------------------------ loops of no construct */
static struct omp_var *named(struct fe *fe, CXCursor c)
{
    c = fe_strip(fe, c);
    return clang_getCursorKind(c) == CXCursor_DeclRefExpr
               ? fe_var_of(fe, clang_getCursorReferenced(c))
               : NULL;
}

static void read_init(struct fe *fe, CXCursor c, struct fe_for *f, struct omp_expr *from)
{
    fe_cursors v = { 0 };
    fe_children(fe, c, &v);
    if (clang_getCursorKind(c) == CXCursor_DeclStmt && v.n == 1) {
        CXCursor init = clang_Cursor_getVarDeclInitializer(v.at[0]);
        f->iv = fe_var_of(fe, v.at[0]);
        if (!clang_Cursor_isNull(init))
            *from = fe_expr(fe, init);
    } else if (clang_getCursorKind(c) == CXCursor_BinaryOperator && v.n == 2 &&
               clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign) {
        f->iv = named(fe, v.at[0]);
        *from = fe_expr(fe, v.at[1]);
    }
}

/* How far it goes: steps are not looked at. */
struct fe_for fe_read_for(struct fe *fe, CXCursor c)
{
    struct fe_for f = { .length = -1, .body = c };
    struct omp_expr from = { 0 };
    fe_cursors v = { 0 };
    fe_children(fe, c, &v);
    if (v.n)
        f.body = v.at[v.n - 1];
    if (clang_getCursorKind(c) != CXCursor_ForStmt || v.n != 4)
        return f;
    CXCursor test = fe_strip(fe, v.at[1]);
    read_init(fe, v.at[0], &f, &from);
    fe_children(fe, test, &v);
    if (!f.iv || clang_getCursorKind(test) != CXCursor_BinaryOperator || v.n != 2)
        return f;
    bool left = named(fe, v.at[0]) == f.iv;
    struct omp_expr to = fe_expr(fe, v.at[left]);
    if ((left || named(fe, v.at[1]) == f.iv) && from.is_constant && to.is_constant)
        f.length = llabs(to.value - from.value);
    return f;
}
