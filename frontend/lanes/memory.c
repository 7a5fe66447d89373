/* memory.c - how an inner loop accesses memory.
 *
 * OpenMP lets iterations of a `simd` loop run together, but in step: what comes first in the text
 * comes first (section 10.4 of OpenMP 5.2), so that `a[k] = a[k + 1]` is right.  Lanes are not in
 * step.  They may run a loop that stores where order(concurrent) says that nothing in it depends on
 * another iteration; or where each element that is stored to is one iteration's: its subscript is
 * the loop's variable, every access to this array has the same subscripts, and no pointer leads
 * there under another name.
 *
 * Iterations of a loop that a parallel region shares do not depend on each other, so that they may
 * store anywhere.  Where all of them store to the same element, that is an error of the program
 * which the usual form, with its one thread, does not show; it keeps that form.
 *
 * Lanes gain where some accesses are to elements next to each other in consecutive iterations, and
 * lose where consecutive iterations are rows apart. */
#include "frontend/lanes/lanes.h"

/* ------------------------------------------------------------------ subscripts */
enum form {
    FREE,     /* the same in all iterations */
    UNIT,     /* the loop's variable, and what is the same */
    INDIRECT, /* what iterations compute or read */
    OTHER
};

static const struct omp_loop *loop_of(const struct lanes_row *r) { return &r->inner->loops[0]; }

static bool uses(const struct lanes_row *r, struct omp_extent e, bool variable)
{
    FE_EACH(x, r->fe->refs, e)
        if (variable ? x->var == loop_of(r)->iv
                     : x->var != loop_of(r)->iv && lanes_home_of(r, x->var) == LANES_OF_LOOP)
            return true;
    return false;
}

/* A cast that keeps all values; `v` has what is cast. */
static bool widens(struct fe *fe, CXCursor c, fe_cursors *v)
{
    if (clang_getCursorKind(c) != CXCursor_CStyleCastExpr)
        return false;
    fe_children(fe, c, v);
    return v->n && clang_Type_getSizeOf(clang_getCursorType(c)) >=
                       clang_Type_getSizeOf(clang_getCursorType(v->at[v->n - 1]));
}

static enum form form_of(const struct lanes_row *r, CXCursor c)
{
    fe_cursors v = { 0 };
    struct fe *fe = r->fe;
    for (c = fe_strip(fe, c); widens(fe, c, &v); c = fe_strip(fe, v.at[v.n - 1]))
        ;
    struct omp_extent e = fe_extent(fe, c);
    if (uses(r, e, false))
        return INDIRECT;
    if (!uses(r, e, true))
        return FREE;
    fe_children(fe, c, &v);
    enum CXCursorKind k = clang_getCursorKind(c);
    if (k == CXCursor_DeclRefExpr)
        return UNIT;
    if (k == CXCursor_ArraySubscriptExpr)
        return INDIRECT;
    enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(c);
    if (k != CXCursor_BinaryOperator || v.n != 2 ||
        (op != CXBinaryOperator_Add && op != CXBinaryOperator_Sub))
        return OTHER;
    enum form a = form_of(r, v.at[0]), b = form_of(r, v.at[1]);
    if (a == INDIRECT || b == INDIRECT)
        return INDIRECT;
    return (a == UNIT && b == FREE) || (a == FREE && b == UNIT) ? UNIT : OTHER;
}

/* ------------------------------------------------------------------ v[i][j] */
struct path {
    CXCursor subscripts[8]; /* the last one first; of *p the pointer */
    unsigned n;
    bool has_member, fails;
};

static bool is_pointer(CXCursor c)
{
    return clang_getCanonicalType(clang_getCursorType(c)).kind == CXType_Pointer;
}

/* Down to the first pointer that is followed, or to the array. */
static struct path path_of(const struct lanes_row *r, CXCursor c)
{
    struct path p = { .n = 0 };
    fe_cursors v = { 0 };
    for (;;) {
        c = fe_strip(r->fe, c);
        enum CXCursorKind k = clang_getCursorKind(c);
        fe_children(r->fe, c, &v);
        if (k == CXCursor_DeclRefExpr)
            return p;
        p.has_member |= k == CXCursor_MemberRefExpr;
        if (!v.n || p.n == 8 ||
            (k != CXCursor_MemberRefExpr && k != CXCursor_ArraySubscriptExpr &&
             k != CXCursor_UnaryOperator)) {
            p.fails = true;
            return p;
        }
        bool subscript = k == CXCursor_ArraySubscriptExpr,
             swapped = subscript && !is_pointer(v.at[0]) && !fe_is_array(fe_strip(r->fe, v.at[0]));
        bool deref = k == CXCursor_UnaryOperator &&
                     clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_Deref;
        if (deref || subscript)
            p.subscripts[p.n++] = v.at[subscript && !swapped];
        c = v.at[swapped];
        if (is_pointer(c) && !fe_is_array(fe_strip(r->fe, c)))
            return p;
    }
}

static enum form form_of_path(const struct lanes_row *r, const struct path *p)
{
    enum form all = p->fails ? INDIRECT : FREE;
    for (unsigned i = 0; i < p->n; i++) {
        enum form f = form_of(r, p->subscripts[i]);
        if (f == UNIT && i)
            f = OTHER;
        all = f > all ? f : all;
    }
    return all;
}

/* ------------------------------------------------------------------ order */
static bool is_same(struct fe *, CXCursor, CXCursor);

static bool are_same(struct fe *fe, const fe_cursors *a, const fe_cursors *b)
{
    bool same = a->n == b->n;
    for (unsigned i = 0; i < a->n && same; i++)
        same = is_same(fe, a->at[i], b->at[i]);
    return same;
}

/* Expressions of the same shape and names. */
static bool is_same(struct fe *fe, CXCursor a, CXCursor b)
{
    fe_cursors v = { 0 }, w = { 0 };
    a = fe_strip(fe, a);
    b = fe_strip(fe, b);
    enum CXCursorKind k = clang_getCursorKind(a);
    if (k != clang_getCursorKind(b))
        return false;
    fe_children(fe, a, &v);
    fe_children(fe, b, &w);
    switch (k) {
    case CXCursor_DeclRefExpr:
    case CXCursor_MemberRefExpr:
        return clang_equalCursors(clang_getCursorReferenced(a), clang_getCursorReferenced(b)) &&
               are_same(fe, &v, &w);
    case CXCursor_IntegerLiteral: return fe_expr(fe, a).value == fe_expr(fe, b).value;
    case CXCursor_BinaryOperator:
        return clang_getCursorBinaryOperatorKind(a) == clang_getCursorBinaryOperatorKind(b) &&
               are_same(fe, &v, &w);
    case CXCursor_UnaryOperator:
        return clang_getCursorUnaryOperatorKind(a) == clang_getCursorUnaryOperatorKind(b) &&
               are_same(fe, &v, &w);
    case CXCursor_ArraySubscriptExpr: return are_same(fe, &v, &w);
    default: return false;
    }
}

/* An element that no other iteration stores to. */
static bool is_of_iteration(const struct lanes_row *r, CXCursor lvalue)
{
    struct path p = path_of(r, lvalue);
    if (p.fails || form_of_path(r, &p) != UNIT)
        return false;
    for (unsigned i = 0; i < p.n; i++) {
        struct omp_expr x = fe_expr(r->fe, p.subscripts[i]);
        if (!x.is_pure || x.reads_memory)
            return false;
    }
    return true;
}

/* An object with a name, or what is reached by no other name than the pointer's.  A pointer without
 * `restrict` may lead to either. */
static bool is_apart(const struct lanes_row *r, const struct lanes_access *a)
{
    return a->var->type->kind != OMPT_POINTER ||
           (clang_isRestrictQualifiedType(r->fe->var_types.at[a->var->id]) &&
            !fe_is_written(r->fe, fe_whole(fe_target_of(r->loop)), a->var));
}

/* Of a member of an element the element. */
static CXCursor element_of(const struct lanes_row *r, CXCursor c)
{
    fe_cursors v = { 0 };
    for (;;) {
        c = fe_strip(r->fe, c);
        fe_children(r->fe, c, &v);
        if (clang_getCursorKind(c) != CXCursor_MemberRefExpr || !v.n || is_pointer(v.at[0]))
            return c;
        c = v.at[0];
    }
}

/* w: one of those that store. */
static bool may_meet(const struct lanes_row *r, const struct lanes_access *w,
                     const struct lanes_access *a)
{
    if (!w->var || !a->var)
        return true;
    return w->var == a->var
               ? !is_of_iteration(r, w->lvalue) ||
                     !is_same(r->fe, element_of(r, w->lvalue), element_of(r, a->lvalue))
               : !is_apart(r, w) || !is_apart(r, a);
}

/* `order` has no other argument than concurrent, and `loop` implies it. */
static bool says_concurrent(const struct omp_construct *c)
{
    return (c->written & OMPL_LOOP) || fe_clause(c, OMPC_ORDER);
}

static void check_elements(struct lanes_row *r)
{
    for (unsigned i = 0; i < r->accesses.n; i++) {
        const struct lanes_access *w = &r->accesses.at[i];
        struct path p = path_of(r, w->lvalue);
        if (w->written && form_of_path(r, &p) == FREE)
            lanes_refuse(r, fe_begin(r->fe, w->lvalue),
                         "all iterations of the inner loop store to the same element");
    }
}

void lanes_check_order(struct lanes_row *r)
{
    r->inner->stores = false;
    for (unsigned i = 0; i < r->accesses.n; i++)
        r->inner->stores |= r->accesses.at[i].written;
    if (r->inner->leaves & OMPL_FOR)
        check_elements(r);
    if ((r->inner->leaves & OMPL_FOR) || says_concurrent(r->inner))
        return;
    for (unsigned i = 0; i < r->accesses.n; i++) {
        const struct lanes_access *w = &r->accesses.at[i];
        for (unsigned k = 0; k < r->accesses.n && w->written; k++)
            if (may_meet(r, w, &r->accesses.at[k]))
                lanes_refuse(r, fe_begin(r->fe, w->lvalue),
                             "the inner loop stores to what another of its iterations may access; "
                             "order(concurrent), or pointers with 'restrict', would say that "
                             "none does");
    }
}

/* ------------------------------------------------------------------ gain */
bool lanes_suit(const struct lanes_row *r)
{
    bool next = false;
    for (unsigned i = 0; i < r->accesses.n; i++) {
        struct path p = path_of(r, r->accesses.at[i].lvalue);
        enum form f = form_of_path(r, &p);
        if (f == OTHER)
            return false;
        next |= f == UNIT;
    }
    return next;
}
