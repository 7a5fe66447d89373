/* accesses.c - which variables a statement accesses, and how, from libclang's cursors.
 *
 * An access is  v[i][j].m  as a whole: variable, subscripts, and whether the storage is read,
 * written, or made known elsewhere.  A loop's body counts as executed; what an `if` governs, or
 * what stands after a break, may not be. */
#include "frontend/mistakes/mistakes.h"
#include <string.h>

struct reader {
    struct fe *fe;
    fe_accesses *out;
    bool may_not;
    bool left; /* there was a way out of what is being read */
};

static void read_value(struct reader *, CXCursor);

/* ------------------------------------------------------------------ v[i][j].m */
static bool has_address(CXType t)
{
    enum CXTypeKind k = clang_getCanonicalType(t).kind;
    return k == CXType_Pointer || k == CXType_ConstantArray || k == CXType_IncompleteArray ||
           k == CXType_VariableArray;
}

typedef VEC(CXCursor) indices;

static bool is_pointer(CXType t) { return clang_getCanonicalType(t).kind == CXType_Pointer; }

static void add_member(struct fe_access *a, CXCursor c, bool ends, bool is_followed)
{
    a->is_member = true;
    if (ends)
        a->member = clang_getCursorReferenced(c);
    if (is_followed && is_pointer(clang_getCursorType(c)))
        a->followed = clang_getCursorReferenced(c);
}

/* Fills a from the end of the path to its variable; false: it is no path. */
static bool follow(struct reader *r, CXCursor c, struct fe_access *a, indices *subscripts)
{
    fe_cursors v = { 0 };
    bool ends = true, is_followed = false; /* by what comes after it */
    for (;;) {
        c = fe_strip(r->fe, c);
        enum CXCursorKind k = clang_getCursorKind(c);
        if (k == CXCursor_DeclRefExpr) {
            a->var = fe_var_of(r->fe, clang_getCursorReferenced(c));
            a->offset = fe_begin(r->fe, c);
            return a->var != NULL;
        }
        fe_children(r->fe, c, &v);
        bool deref = k == CXCursor_UnaryOperator &&
                     clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_Deref;
        bool subscript = k == CXCursor_ArraySubscriptExpr && v.n == 2;
        if (!v.n || !(deref || subscript || k == CXCursor_MemberRefExpr))
            return false;
        unsigned base = subscript && !has_address(clang_getCursorType(v.at[0]));
        if (subscript) {
            *VEC_PUSH(r->fe->a, subscripts) = v.at[!base];
            a->room = clang_getArraySize(clang_getCursorType(fe_strip(r->fe, v.at[base])));
        }
        if (deref)
            *VEC_PUSH(r->fe->a, subscripts) = clang_getNullCursor();
        if (k == CXCursor_MemberRefExpr)
            add_member(a, c, ends, is_followed);
        ends = false;
        c = v.at[base];
        is_followed = k != CXCursor_MemberRefExpr || is_pointer(clang_getCursorType(c));
    }
}

static void reverse(indices *v)
{
    for (unsigned i = 0; i < v->n / 2; i++) {
        CXCursor c = v->at[i];
        v->at[i] = v->at[v->n - 1 - i];
        v->at[v->n - 1 - i] = c;
    }
}

/* The lvalue c is accessed; anything else is evaluated. */
static void add_access(struct reader *r, CXCursor c, unsigned how, CXCursor value)
{
    struct fe_access a = { .how = how,
                           .may_not = r->may_not || r->left,
                           .type = clang_getCursorType(c),
                           .value = value,
                           .room = -1 };
    indices subscripts = { 0 };
    if (!follow(r, c, &a, &subscripts)) {
        fe_cursors v = { 0 };
        c = fe_strip(r->fe, c);
        fe_children(r->fe, c, &v);
        for (unsigned i = 0; i < v.n; i++)
            read_value(r, v.at[i]);
        return;
    }
    reverse(&subscripts);
    for (unsigned i = 0; i < subscripts.n; i++)
        if (!clang_Cursor_isNull(subscripts.at[i]))
            read_value(r, subscripts.at[i]);
    a.subscripts = subscripts.at;
    a.nsubscripts = subscripts.n;
    *VEC_PUSH(r->fe->a, r->out) = a;
}

/* The value of an lvalue: of an array, and of a pointer, it is an address. */
static void read_lvalue(struct reader *r, CXCursor c, unsigned how_address)
{
    CXType t = clang_getCursorType(c);
    bool array = has_address(t) && clang_getCanonicalType(t).kind != CXType_Pointer;
    add_access(r, c, (array ? 0 : FE_READ) | (has_address(t) ? how_address : 0),
               clang_getNullCursor());
}

/* ------------------------------------------------------------------ expressions */
static bool is_lvalue_path(struct fe *fe, CXCursor c)
{
    enum CXCursorKind k = clang_getCursorKind(fe_strip(fe, c));
    return k == CXCursor_DeclRefExpr || k == CXCursor_ArraySubscriptExpr ||
           k == CXCursor_MemberRefExpr ||
           (k == CXCursor_UnaryOperator &&
            clang_getCursorUnaryOperatorKind(fe_strip(fe, c)) == CXUnaryOperator_Deref);
}

/* A pointer's value that goes nowhere. */
static void read_and_forget(struct reader *r, CXCursor c)
{
    if (is_lvalue_path(r->fe, c))
        read_lvalue(r, fe_strip(r->fe, c), 0);
    else
        read_value(r, c);
}

static void read_maybe(struct reader *r, CXCursor c)
{
    bool before = r->may_not;
    r->may_not = true;
    read_value(r, c);
    r->may_not = before;
}

static void read_binary(struct reader *r, CXCursor c)
{
    fe_cursors v = { 0 };
    fe_children(r->fe, c, &v);
    if (v.n != 2)
        return;
    switch (clang_getCursorBinaryOperatorKind(c)) {
    case CXBinaryOperator_Assign:
        read_value(r, v.at[1]);
        add_access(r, v.at[0], FE_WRITE, v.at[1]);
        break;
    case CXBinaryOperator_LAnd:
    case CXBinaryOperator_LOr:
        read_and_forget(r, v.at[0]);
        read_maybe(r, v.at[1]);
        break;
    case CXBinaryOperator_EQ:
    case CXBinaryOperator_NE:
        read_and_forget(r, v.at[0]);
        read_and_forget(r, v.at[1]);
        break;
    default: read_value(r, v.at[0]); read_value(r, v.at[1]);
    }
}

static void read_unary(struct reader *r, CXCursor c)
{
    fe_cursors v = { 0 };
    fe_children(r->fe, c, &v);
    if (!v.n)
        return;
    switch (clang_getCursorUnaryOperatorKind(c)) {
    case CXUnaryOperator_PreInc:
    case CXUnaryOperator_PreDec:
    case CXUnaryOperator_PostInc:
    case CXUnaryOperator_PostDec:
        add_access(r, v.at[0], FE_READ | FE_WRITE, clang_getNullCursor());
        break;
    case CXUnaryOperator_AddrOf: add_access(r, v.at[0], FE_GIVEN, clang_getNullCursor()); break;
    case CXUnaryOperator_LNot: read_and_forget(r, v.at[0]); break;
    default: read_value(r, v.at[0]);
    }
}

/* Of a system header, and no routine that notes where something is. */
static bool forgets(struct fe *fe, CXCursor call)
{
    CXCursor f = clang_getCursorReferenced(call);
    CXString name = clang_getCursorSpelling(f);
    bool notes = !strcmp(clang_getCString(name), "omp_target_associate_ptr");
    clang_disposeString(name);
    return clang_getCursorKind(f) == CXCursor_FunctionDecl && !notes &&
           fe_is_system(fe, fe_location(fe, f));
}

CXCursor fe_without_casts(struct fe *fe, CXCursor c)
{
    fe_cursors v = { 0 };
    for (c = fe_strip(fe, c); clang_getCursorKind(c) == CXCursor_CStyleCastExpr;) {
        fe_children(fe, c, &v);
        c = fe_strip(fe, v.at[v.n - 1]);
    }
    return c;
}

static CXCursor without_address_of(struct fe *fe, CXCursor c, bool *taken)
{
    fe_cursors v = { 0 };
    c = fe_without_casts(fe, c);
    *taken = clang_getCursorKind(c) == CXCursor_UnaryOperator &&
             clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_AddrOf;
    if (*taken)
        fe_children(fe, c, &v);
    return v.n ? v.at[0] : c;
}

static void read_call(struct reader *r, CXCursor c)
{
    fe_cursors v = { 0 };
    bool lent = forgets(r->fe, c), taken;
    fe_children(r->fe, c, &v);
    for (unsigned i = 0; i < v.n; i++) {
        CXCursor at = without_address_of(r->fe, v.at[i], &taken);
        if (lent && taken)
            add_access(r, at, FE_LENT, clang_getNullCursor());
        else if (lent && is_lvalue_path(r->fe, at))
            read_lvalue(r, at, FE_LENT);
        else
            read_value(r, v.at[i]);
    }
}

/* ------------------------------------------------------------------ statements */
/* The first child is evaluated, the others perhaps. */
static void read_choice(struct reader *r, CXCursor c)
{
    fe_cursors v = { 0 };
    fe_children(r->fe, c, &v);
    for (unsigned i = 0; i < v.n; i++)
        if (i)
            read_maybe(r, v.at[i]);
        else
            read_and_forget(r, v.at[i]);
}

/* libclang does not say which of a `for`'s parts there are, but where there are all. */
static void read_for(struct reader *r, CXCursor c)
{
    static const unsigned order[] = { 0, 1, 3, 2 };
    fe_cursors v = { 0 };
    fe_children(r->fe, c, &v);
    for (unsigned i = 0; i < v.n; i++)
        if (v.n == 4)
            read_value(r, v.at[order[i]]);
        else
            read_maybe(r, v.at[i]);
}

static void read_children(struct reader *r, CXCursor c)
{
    fe_cursors v = { 0 };
    fe_children(r->fe, c, &v);
    for (unsigned i = 0; i < v.n; i++)
        read_value(r, v.at[i]);
}

static void read_variable(struct reader *r, CXCursor c)
{
    CXCursor init = clang_Cursor_getVarDeclInitializer(c);
    struct omp_var *v = fe_var_of(r->fe, c);
    if (clang_Cursor_isNull(init))
        return;
    read_value(r, init);
    if (v)
        *VEC_PUSH(r->fe->a, r->out) = (struct fe_access){ .offset = fe_location(r->fe, c),
                                                          .var = v,
                                                          .how = FE_WRITE,
                                                          .may_not = r->may_not || r->left,
                                                          .type = clang_getCursorType(c),
                                                          .value = init,
                                                          .member = clang_getNullCursor(),
                                                          .followed = clang_getNullCursor() };
}

static void give_all(struct reader *r, CXCursor c)
{
    unsigned first = r->out->n;
    read_children(r, c);
    for (unsigned i = first; i < r->out->n; i++)
        r->out->at[i].how |= FE_GIVEN;
}

static void read_assignment(struct reader *r, CXCursor c)
{
    fe_cursors v = { 0 };
    fe_children(r->fe, c, &v);
    if (v.n != 2)
        return;
    read_value(r, v.at[1]);
    add_access(r, v.at[0], FE_READ | FE_WRITE, clang_getNullCursor());
}

static void read_value(struct reader *r, CXCursor c)
{
    c = fe_strip(r->fe, c);
    if (is_lvalue_path(r->fe, c)) {
        read_lvalue(r, c, FE_GIVEN);
        return;
    }
    switch (clang_getCursorKind(c)) {
    case CXCursor_BinaryOperator: read_binary(r, c); break;
    case CXCursor_CompoundAssignOperator: read_assignment(r, c); break;
    case CXCursor_UnaryOperator: read_unary(r, c); break;
    case CXCursor_CallExpr: read_call(r, c); break;
    case CXCursor_VarDecl: read_variable(r, c); break;
    case CXCursor_UnaryExpr: break; /* sizeof and its like */
    case CXCursor_ConditionalOperator:
    case CXCursor_IfStmt:
    case CXCursor_SwitchStmt: read_choice(r, c); break;
    case CXCursor_ForStmt: read_for(r, c); break;
    case CXCursor_GenericSelectionExpr:
    case CXCursor_GCCAsmStmt: give_all(r, c); break;
    case CXCursor_BreakStmt:
    case CXCursor_ContinueStmt:
    case CXCursor_ReturnStmt:
    case CXCursor_GotoStmt:
    case CXCursor_IndirectGotoStmt:
    case CXCursor_LabelStmt:
        read_children(r, c);
        r->left = true;
        break;
    default: read_children(r, c);
    }
}

void fe_find_accesses(struct fe *fe, CXCursor statement, fe_accesses *out)
{
    struct reader r = { fe, out, false, false };
    out->n = 0;
    read_value(&r, statement);
}

const struct fe_pragma *fe_pragma_of(const struct fe *fe, const struct omp_construct *c)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        if (fe->pragmas.at[i].c == c && fe->pragmas.at[i].found)
            return &fe->pragmas.at[i];
    return NULL;
}

/* ------------------------------------------------------------------ what nothing else knows */
bool fe_is_allocation(struct fe *fe, CXCursor c)
{
    static const char *const names[] = { "malloc", "calloc", "aligned_alloc", "realloc" };
    bool found = false;
    c = fe_without_casts(fe, c);
    CXCursor f = clang_getCursorReferenced(c);
    if (clang_getCursorKind(c) != CXCursor_CallExpr ||
        clang_getCursorKind(f) != CXCursor_FunctionDecl || !fe_is_system(fe, fe_location(fe, f)))
        return false;
    CXString s = clang_getCursorSpelling(f);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        found |= !strcmp(clang_getCString(s), names[i]);
    clang_disposeString(s);
    return found;
}

const fe_accesses *fe_accesses_of(struct fe *fe, const struct omp_function *f)
{
    static const fe_accesses none;
    struct fe_function *in = NULL;
    for (unsigned i = 0; f && i < fe->functions.n && !in; i++)
        if (fe->functions.at[i]->f == f)
            in = fe->functions.at[i];
    if (!in || !f->defined)
        return &none;
    if (!in->accesses) {
        in->accesses = arena_alloc(fe->a, sizeof(fe_accesses));
        fe_find_accesses(fe, in->cursor, in->accesses);
    }
    return in->accesses;
}

static bool is_unshared(struct fe *fe, const struct omp_function *in, const struct omp_var *v)
{
    bool pointer = v->type->kind == OMPT_POINTER, allocated = false;
    const fe_accesses *all = fe_accesses_of(fe, in);
    for (unsigned i = 0; i < all->n; i++) {
        const struct fe_access *a = &all->at[i];
        if (a->var != v || fe_is_in_region(fe, a->offset))
            continue;
        if ((a->how & FE_GIVEN) && !(pointer && a->nsubscripts && a->how == (FE_READ | FE_GIVEN)))
            return false;
        if (!pointer || !(a->how & FE_WRITE) || a->nsubscripts)
            continue;
        if (clang_Cursor_isNull(a->value) || !fe_is_allocation(fe, a->value))
            return false;
        allocated = true;
    }
    return !pointer || allocated;
}

bool fe_is_unshared(struct fe *fe, const struct omp_function *in, const struct omp_var *v)
{
    if (!in || v->storage != OMPS_LOCAL)
        return false;
    if (!(fe->var_flags.at[v->id] & FE_VAR_LOOKED_AT))
        fe->var_flags.at[v->id] |=
            FE_VAR_LOOKED_AT | (is_unshared(fe, in, v) ? FE_VAR_UNSHARED : 0);
    return fe->var_flags.at[v->id] & FE_VAR_UNSHARED;
}
