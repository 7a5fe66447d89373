/* atomic.c - the statement of an atomic construct, section 15.8.4 of OpenMP 5.2, taken apart into
 * x, expr and v. */
#include "frontend/fe.h"
#include <string.h>

struct form {
    struct fe *fe;
    struct omp_atomic *a;
};

const char *const omp_atomic_op_names[] = {
#define NAME(id, name) [OMPAO_##id] = name,
    OMP_ATOMIC_OPS(NAME)
#undef NAME
};

/* Of `x = x op e` and `x op= e`. */
static enum omp_atomic_op update_op(CXCursor c)
{
    enum CXBinaryOperatorKind k = clang_getCursorBinaryOperatorKind(c);
    static const struct {
        enum CXBinaryOperatorKind plain, assign;
        enum omp_atomic_op op;
    } ops[] = {
#define ROW(kind, op) { CXBinaryOperator_##kind, CXBinaryOperator_##kind##Assign, OMPAO_##op }
        ROW(Add, ADD), ROW(Sub, SUB), ROW(Mul, MUL), ROW(Div, DIV), ROW(Rem, REM),
        ROW(And, AND), ROW(Or, OR),   ROW(Xor, XOR), ROW(Shl, SHL), ROW(Shr, SHR),
#undef ROW
    };
    for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++)
        if (ops[i].plain == k || ops[i].assign == k)
            return ops[i].op;
    return OMPAO_NONE;
}

/* The two operands of a binary operator; false if c is none. */
static bool operands(struct fe *fe, CXCursor c, CXCursor *l, CXCursor *r)
{
    fe_cursors v = { 0 };
    enum CXCursorKind k = clang_getCursorKind(c);
    if (k != CXCursor_BinaryOperator && k != CXCursor_CompoundAssignOperator)
        return false;
    fe_children(fe, c, &v);
    if (v.n != 2)
        return false;
    *l = v.at[0];
    *r = v.at[1];
    return true;
}
static bool is_assign(CXCursor c)
{
    return clang_getCursorKind(c) == CXCursor_BinaryOperator &&
           clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign;
}
static bool same(struct form *f, CXCursor c, struct omp_extent e)
{
    return fe_same_text(f->fe->u, fe_extent(f->fe, c), e) ||
           fe_same_text(f->fe->u, fe_extent(f->fe, fe_strip(f->fe, c)), e);
}

static void set_x(struct form *f, CXCursor x)
{
    x = clang_getCursorKind(x) == CXCursor_ParenExpr ? fe_strip(f->fe, x) : x;
    f->a->x = fe_extent(f->fe, x);
    f->a->x_type = fe_type(f->fe, clang_getCursorType(x));
}

/* x++, --x */
static bool read_increment(struct form *f, CXCursor c, bool *post)
{
    enum CXUnaryOperatorKind op = clang_getCursorUnaryOperatorKind(c);
    bool plus = op == CXUnaryOperator_PostInc || op == CXUnaryOperator_PreInc;
    *post = op == CXUnaryOperator_PostInc || op == CXUnaryOperator_PostDec;
    if (!plus && !*post && op != CXUnaryOperator_PreDec)
        return false;
    fe_cursors v = { 0 };
    fe_children(f->fe, c, &v);
    set_x(f, v.at[0]);
    f->a->op = plus ? OMPAO_ADD : OMPAO_SUB;
    return true;
}

/* x = x op e, x = e op x; l and r: of the assignment */
static bool read_operation(struct form *f, CXCursor l, CXCursor r)
{
    CXCursor value = fe_strip(f->fe, r), a, b;
    if (!operands(f->fe, value, &a, &b) || is_assign(value))
        return false;
    f->a->op = update_op(value);
    if (!f->a->op)
        return false;
    set_x(f, l);
    bool left = same(f, a, f->a->x), right = !left && same(f, b, f->a->x);
    f->a->expr = fe_extent(f->fe, left ? b : a);
    f->a->x_is_right = right;
    return left || right;
}

/* *post: the value of the expression is the old one. */
static bool read_update(struct form *f, CXCursor c, bool *post)
{
    CXCursor l, r;
    *post = false;
    c = fe_strip(f->fe, c);
    if (clang_getCursorKind(c) == CXCursor_UnaryOperator)
        return read_increment(f, c, post);
    if (!operands(f->fe, c, &l, &r))
        return false;
    if (is_assign(c))
        return read_operation(f, l, r);
    if (clang_getCursorKind(c) != CXCursor_CompoundAssignOperator)
        return false;
    set_x(f, l);
    f->a->op = update_op(c);
    f->a->expr = fe_extent(f->fe, r);
    return f->a->op != OMPAO_NONE;
}

/* cond ? value : x, or if (cond) x = value;  cond: x < e, e < x, x > e, x == e */
static bool read_condition(struct form *f, CXCursor cond, CXCursor x, CXCursor value)
{
    CXCursor l, r;
    cond = fe_strip(f->fe, cond);
    if (!operands(f->fe, cond, &l, &r))
        return false;
    enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(cond);
    set_x(f, x);
    bool left = same(f, l, f->a->x);
    if (!left && !same(f, r, f->a->x))
        return false;
    f->a->expr = fe_extent(f->fe, left ? r : l);
    if (op == CXBinaryOperator_EQ) {
        f->a->op = OMPAO_EQUAL;
        f->a->desired = fe_extent(f->fe, value);
        return true;
    }
    if (op != CXBinaryOperator_LT && op != CXBinaryOperator_GT)
        return false;
    f->a->op = (op == CXBinaryOperator_LT) == left ? OMPAO_MAX : OMPAO_MIN;
    return same(f, value, f->a->expr);
}

static CXCursor peel(struct fe *fe, CXCursor c)
{
    fe_cursors v = { 0 };
    while (clang_getCursorKind(c) == CXCursor_CompoundStmt) {
        fe_children(fe, c, &v);
        if (v.n != 1)
            return c;
        c = v.at[0];
    }
    return c;
}

/* else v = x; */
static bool read_failure(struct form *f, CXCursor c)
{
    CXCursor assign = fe_strip(f->fe, peel(f->fe, c)), l, r;
    if (!is_assign(assign) || !operands(f->fe, assign, &l, &r) || !same(f, r, f->a->x))
        return false;
    f->a->v = fe_extent(f->fe, l);
    f->a->capture_failure = true;
    return true;
}

/* if (condition) x = e; else v = x;  The condition may have been evaluated before. */
static bool read_if(struct form *f, CXCursor c, const CXCursor *condition)
{
    fe_cursors v = { 0 };
    CXCursor l, r;
    fe_children(f->fe, c, &v);
    if (v.n != 2 && v.n != 3)
        return false;
    CXCursor assign = fe_strip(f->fe, peel(f->fe, v.at[1]));
    return is_assign(assign) && operands(f->fe, assign, &l, &r) &&
           read_condition(f, condition ? *condition : v.at[0], l, r) &&
           (v.n == 2 || (f->a->op == OMPAO_EQUAL && read_failure(f, v.at[2])));
}

static bool read_compare(struct form *f, CXCursor c)
{
    fe_cursors v = { 0 };
    CXCursor l, r;
    c = peel(f->fe, c);
    if (clang_getCursorKind(c) == CXCursor_IfStmt)
        return read_if(f, c, NULL);
    c = fe_strip(f->fe, c);
    if (!is_assign(c) || !operands(f->fe, c, &l, &r))
        return false;
    r = fe_strip(f->fe, r);
    if (clang_getCursorKind(r) != CXCursor_ConditionalOperator)
        return false;
    fe_children(f->fe, r, &v);
    if (v.n != 3)
        return false;
    CXCursor cond = v.at[0], yes = v.at[1], no = v.at[2];
    set_x(f, l);
    return same(f, no, f->a->x) && read_condition(f, cond, l, yes);
}

/* { r = x == e; if (r) x = d; else v = x; } */
static bool read_result(struct form *f, CXCursor first, CXCursor second)
{
    CXCursor assign = fe_strip(f->fe, first), l, r;
    fe_cursors v = { 0 };
    if (clang_getCursorKind(second) != CXCursor_IfStmt || !is_assign(assign) ||
        !operands(f->fe, assign, &l, &r))
        return false;
    fe_children(f->fe, second, &v);
    f->a->result = fe_extent(f->fe, l);
    return v.n && same(f, v.at[0], f->a->result) && read_if(f, second, &r) &&
           f->a->op == OMPAO_EQUAL;
}

/* { v = x; update } or { update; v = x; } */
static bool read_capture_block(struct form *f, CXCursor c, bool compare)
{
    fe_cursors v = { 0 };
    CXCursor l, r;
    bool post;
    fe_children(f->fe, c, &v);
    if (v.n != 2)
        return false;
    if (compare && read_result(f, v.at[0], v.at[1]))
        return true;
    for (int second = 0; second < 2; second++) {
        CXCursor read = fe_strip(f->fe, v.at[second]), update = v.at[1 - second];
        memset(f->a, 0, sizeof *f->a);
        bool ok = compare ? read_compare(f, update) : read_update(f, update, &post);
        if (!ok && !compare && !second && is_assign(fe_strip(f->fe, update)) &&
            operands(f->fe, fe_strip(f->fe, update), &l, &r)) {
            set_x(f, l); /* { v = x; x = expr; } */
            f->a->expr = fe_extent(f->fe, r);
            f->a->op = OMPAO_ASSIGN;
            ok = true;
        }
        if (!ok || !is_assign(read) || !operands(f->fe, read, &l, &r) || !same(f, r, f->a->x))
            continue;
        f->a->v = fe_extent(f->fe, l);
        f->a->capture_new = second == 1;
        return true;
    }
    return false;
}

static bool read_capture(struct form *f, CXCursor c, bool compare)
{
    CXCursor l, r;
    bool post;
    c = peel(f->fe, c);
    if (clang_getCursorKind(c) == CXCursor_CompoundStmt)
        return read_capture_block(f, c, compare);
    if (compare && clang_getCursorKind(c) == CXCursor_IfStmt)
        return read_if(f, c, NULL) && f->a->capture_failure;
    c = fe_strip(f->fe, c);
    if (!is_assign(c) || !operands(f->fe, c, &l, &r))
        return false;
    if (compare ? !read_compare(f, fe_strip(f->fe, r)) : !read_update(f, r, &post))
        return false;
    f->a->v = fe_extent(f->fe, l);
    f->a->capture_new = compare || !post;
    return true;
}

bool fe_read_compare(struct fe *fe, const struct fe_pragma *p, bool captures, struct omp_atomic *a)
{
    struct form f = { fe, a };
    *a = (struct omp_atomic){ .form = OMPA_COMPARE };
    return captures ? read_capture(&f, p->stmt, true) : read_compare(&f, p->stmt);
}

void fe_parse_atomic(struct fe *fe, struct fe_pragma *p)
{
    struct form f = { fe, arena_alloc(fe->a, sizeof *f.a) };
    CXCursor c = peel(fe, p->stmt), l, r;
    bool post, ok, compare = fe_clause(p->c, OMPC_COMPARE), capture = fe_clause(p->c, OMPC_CAPTURE);
    int form = compare                       ? OMPA_COMPARE
               : capture                     ? OMPA_CAPTURE
               : fe_clause(p->c, OMPC_READ)  ? OMPA_READ
               : fe_clause(p->c, OMPC_WRITE) ? OMPA_WRITE
                                             : OMPA_UPDATE;
    p->c->atomic = f.a;
    if (capture) {
        ok = read_capture(&f, p->stmt, compare);
    } else if (compare) {
        ok = read_compare(&f, p->stmt);
    } else if (form == OMPA_UPDATE) {
        ok = read_update(&f, c, &post);
    } else {
        c = fe_strip(fe, c);
        ok = is_assign(c) && operands(fe, c, &l, &r);
        if (ok)
            set_x(&f, form == OMPA_READ ? fe_strip(fe, r) : l);
        if (ok && form == OMPA_READ)
            f.a->v = fe_extent(fe, l);
        if (ok && form == OMPA_WRITE)
            f.a->expr = fe_extent(fe, r);
    }
    f.a->form = form;
    if (!ok)
        fe_unsupported(fe, p->c->place, UNSUPPORTED_ATOMIC_FORM, compare ? " compare" : "",
                       capture ? " capture" : "");
}
