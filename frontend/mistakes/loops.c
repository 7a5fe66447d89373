/* loops.c - how often loops run, as far as constants say. */
#include "frontend/mistakes/mistakes.h"
#include <limits.h>
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

static void read_init(struct fe *fe, CXCursor c, struct fe_for *f, CXCursor *from)
{
    fe_cursors v = { 0 };
    fe_children(fe, c, &v);
    if (clang_getCursorKind(c) == CXCursor_DeclStmt && v.n == 1) {
        f->iv = fe_var_of(fe, v.at[0]);
        *from = clang_Cursor_getVarDeclInitializer(v.at[0]);
    } else if (clang_getCursorKind(c) == CXCursor_BinaryOperator && v.n == 2 &&
               clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign) {
        f->iv = named(fe, v.at[0]);
        *from = v.at[1];
    }
}

/* The constant; or what a variable is initialised with, and keeps as far as the file shows. */
static bool is_known(struct fe *fe, CXCursor c, int64_t *value)
{
    struct omp_expr x = fe_expr(fe, c);
    struct omp_var *v = x.is_constant ? NULL : named(fe, c);
    CXCursor decl = v ? clang_getCursorReferenced(fe_strip(fe, c)) : clang_getNullCursor();
    CXCursor init =
        v && !v->is_extern ? clang_Cursor_getVarDeclInitializer(decl) : clang_getNullCursor();
    if (!clang_Cursor_isNull(init)) {
        x = fe_expr(fe, init);
        x.is_constant &= !fe_is_written(fe, (struct omp_extent){ 0, UINT_MAX }, v);
    }
    *value = x.value;
    return x.is_constant;
}

/* For a condition that is more than a comparison, what one part of it allows. */
static int64_t length_by(struct fe *fe, CXCursor test, const struct omp_var *iv, int64_t from)
{
    fe_cursors v = { 0 };
    int64_t to, first, second;
    test = fe_strip(fe, test);
    fe_children(fe, test, &v);
    if (clang_getCursorKind(test) != CXCursor_BinaryOperator || v.n != 2)
        return -1;
    if (clang_getCursorBinaryOperatorKind(test) == CXBinaryOperator_LAnd) {
        first = length_by(fe, v.at[0], iv, from), second = length_by(fe, v.at[1], iv, from);
        return first < 0 || (second >= 0 && second < first) ? second : first;
    }
    bool left = named(fe, v.at[0]) == iv;
    return (left || named(fe, v.at[1]) == iv) && is_known(fe, v.at[left], &to) ? llabs(to - from)
                                                                               : -1;
}

/* How far it goes: steps are not looked at. */
struct fe_for fe_read_for(struct fe *fe, CXCursor c)
{
    struct fe_for f = { .length = -1, .body = c };
    CXCursor from = clang_getNullCursor();
    fe_cursors v = { 0 };
    int64_t first;
    fe_children(fe, c, &v);
    if (v.n)
        f.body = v.at[v.n - 1];
    if (clang_getCursorKind(c) != CXCursor_ForStmt || v.n != 4)
        return f;
    read_init(fe, v.at[0], &f, &from);
    if (f.iv && !clang_Cursor_isNull(from) && is_known(fe, from, &first))
        f.length = length_by(fe, v.at[1], f.iv, first);
    return f;
}
