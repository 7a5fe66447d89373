/* body.c - the statements of a row: which of them all lanes may run, each for itself, and which
 * only one.
 *
 * All lanes have the same values in the variables of the row, so that they take the same branches.
 * A statement that sets such a variable is run by all of them, one that stores to memory by one.
 * What is not known here, as libclang shows it, is in the way of the whole form. */
#include "frontend/lanes/lanes.h"
#include <stdarg.h>
#include <stdio.h>

enum { MOST_DEPTH = 8, LIBRARY_COST = 20 };

unsigned lanes_refuse(struct lanes_row *r, unsigned offset, const char *fmt, ...)
{
    char text[512];
    va_list args;
    if (r->why)
        return 0;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    r->why = arena_strdup(r->fe->a, text);
    r->place = fe_place(r->fe->u, offset);
    return 0;
}

static unsigned refuse_at(struct lanes_row *r, CXCursor c, const char *what)
{
    return lanes_refuse(r, fe_begin(r->fe, c), "%s", what);
}

/* ------------------------------------------------------------------ variables */
static bool is_loop_variable(const struct omp_construct *c, const struct omp_var *v)
{
    for (unsigned i = 0; i < c->nloops + c->ninner; i++)
        if ((i < c->nloops ? c->loops[i] : c->inner[i - c->nloops]).iv == v)
            return true;
    return false;
}

static bool is_private(const struct omp_sharing *s)
{
    return s && s->share == OMPSH_PRIVATE && !s->lastprivate;
}

/* Does the kernel have its address? */
static bool is_reached(const struct omp_construct *target, const struct omp_var *v)
{
    for (unsigned i = 0; i < target->ncaptures; i++)
        if (target->captures[i].var == v)
            return target->captures[i].kind == OMPCAP_BYREF ||
                   target->captures[i].kind == OMPCAP_DEVICE_ADDR;
    return v->declare_target != OMPV_NOT_DECLARED;
}

/* The lanes of a row are threads of a region in which a thread may have kept something. */
static bool is_of_thread(const struct lanes_row *r, const struct omp_var *v)
{
    const struct omp_construct *p = r->parallel;
    if (!p || p == r->loop || is_private(fe_sharing_of(r->loop, v)))
        return false;
    const struct omp_sharing *s = fe_sharing_of(p, v);
    return fe_inside(v->decl, p->body) || (s && s->share != OMPSH_SHARED);
}

static enum lanes_home outside_home(const struct lanes_row *r, const struct omp_var *v)
{
    const struct omp_construct *target = fe_target_of(r->loop);
    if (is_loop_variable(r->loop, v))
        return LANES_FIXED;
    if (is_of_thread(r, v))
        return LANES_OF_THREAD;
    for (const struct omp_construct *c = r->loop; c; c = c == target ? NULL : c->parent) {
        const struct omp_sharing *s = fe_sharing_of(c, v);
        if (s && s->share == OMPSH_REDUCTION)
            return LANES_OF_TALLY;
        if (s && s->share != OMPSH_SHARED)
            return c == r->loop && is_private(s) ? LANES_OF_ROW : LANES_FIXED;
    }
    bool of_team = r->parallel && v->storage == OMPS_LOCAL && fe_inside(v->decl, target->body);
    return of_team || is_reached(target, v) ? LANES_OF_MEMORY : LANES_FIXED;
}

enum lanes_home lanes_home_of(const struct lanes_row *r, const struct omp_var *v)
{
    if (r->inner) {
        const struct omp_sharing *s = fe_sharing_of(r->inner, v);
        if (fe_inside(v->decl, r->inner->loops[0].extent) || is_private(s) ||
            (s && s->share == OMPSH_REDUCTION))
            return LANES_OF_LOOP;
    }
    if (fe_inside(v->decl, r->body))
        return v->storage == OMPS_LOCAL || v->storage == OMPS_PARAM ? LANES_OF_ROW : LANES_FIXED;
    return r->loop ? outside_home(r, v) : LANES_FIXED;
}

static unsigned set_variable(struct lanes_row *r, CXCursor c, const struct omp_var *v)
{
    switch (lanes_home_of(r, v)) {
    case LANES_OF_LOOP: return LANES_KEEPS;
    case LANES_OF_MEMORY: return r->inner ? 0 : LANES_ONCE;
    case LANES_OF_ROW:
    case LANES_OF_TALLY:
        if (r->inner)
            break;
        return lanes_home_of(r, v) == LANES_OF_ROW ? LANES_KEEPS : LANES_ONCE;
    default: break;
    }
    return lanes_refuse(r, fe_begin(r->fe, c),
                        r->inner ? "'%s' is set in the inner loop and lives outside of it"
                                 : "'%s' is set, and is neither the iteration's own nor mapped",
                        v->name);
}

/* what: the lvalue that ends at it. */
static unsigned use_variable(struct lanes_row *r, CXCursor c, CXCursor what, bool written)
{
    CXCursor decl = clang_getCursorReferenced(c);
    struct omp_var *v = fe_var_of(r->fe, decl);
    if (clang_getCursorKind(decl) == CXCursor_EnumConstantDecl)
        return 0;
    if (!v)
        return refuse_at(r, c, "it uses a name that is no variable");
    if (r->fe->var_flags.at[v->id] & (FE_VAR_VOLATILE | FE_VAR_THREADPRIVATE | FE_VAR_THREAD_LOCAL))
        return lanes_refuse(r, fe_begin(r->fe, c), "'%s' is volatile, or a thread's", v->name);
    enum lanes_home home = lanes_home_of(r, v);
    if (home == LANES_OF_THREAD)
        return lanes_refuse(r, fe_begin(r->fe, c), "each thread has a '%s' of its own", v->name);
    r->reads |= home == LANES_OF_MEMORY || home == LANES_FIXED;
    if (r->inner && (home == LANES_OF_MEMORY || (home == LANES_FIXED && fe_is_array(c))))
        *VEC_PUSH(r->fe->a, &r->accesses) = (struct lanes_access){ what, v, written };
    if (written)
        return set_variable(r, c, v);
    if (home != LANES_OF_TALLY)
        return 0;
    return r->inner
               ? lanes_refuse(r, fe_begin(r->fe, c), "'%s' is read while it is reduced", v->name)
               : LANES_ONCE;
}

/* ------------------------------------------------------------------ v[i][j].m */
static bool has_pointer_type(CXCursor c)
{
    return clang_getCanonicalType(clang_getCursorType(c)).kind == CXType_Pointer;
}

/* The storage that the pointer leads to. */
static unsigned follow_pointer(struct lanes_row *r, CXCursor pointer, CXCursor what, bool written)
{
    CXCursor p = fe_strip(r->fe, pointer);
    unsigned effect = lanes_value(r, pointer);
    struct omp_var *v = clang_getCursorKind(p) == CXCursor_DeclRefExpr
                            ? fe_var_of(r->fe, clang_getCursorReferenced(p))
                            : NULL;
    r->reads = true;
    if (r->inner)
        *VEC_PUSH(r->fe->a, &r->accesses) = (struct lanes_access){ what, v, written };
    return effect | (written && !r->inner ? LANES_ONCE : 0);
}

static unsigned use_path(struct lanes_row *, CXCursor, CXCursor what, bool written);

/* An array, or a pointer to its first element. */
static unsigned use_base(struct lanes_row *r, CXCursor base, CXCursor what, bool written)
{
    CXCursor inner = fe_strip(r->fe, base);
    return fe_is_array(inner) ? use_path(r, inner, what, written)
                              : follow_pointer(r, base, what, written);
}

static unsigned use_operand(struct lanes_row *r, CXCursor c, CXCursor operand, CXCursor what,
                            bool written)
{
    switch (clang_getCursorUnaryOperatorKind(c)) {
    case CXUnaryOperator_Deref: return use_base(r, operand, what, written);
    case CXUnaryOperator_Real:
    case CXUnaryOperator_Imag: return use_path(r, operand, what, written);
    default: return written ? refuse_at(r, c, "it sets what is no variable") : lanes_value(r, c);
    }
}

static unsigned use_path(struct lanes_row *r, CXCursor c, CXCursor what, bool written)
{
    fe_cursors v = { 0 };
    c = fe_strip(r->fe, c);
    fe_children(r->fe, c, &v);
    switch (clang_getCursorKind(c)) {
    case CXCursor_DeclRefExpr: return use_variable(r, c, what, written);
    case CXCursor_MemberRefExpr:
        if (!v.n || clang_Cursor_isBitField(clang_getCursorReferenced(c)))
            return refuse_at(r, c, "it uses a bit-field, or a member of nothing that is known");
        return has_pointer_type(v.at[0]) && !fe_is_array(fe_strip(r->fe, v.at[0]))
                   ? follow_pointer(r, v.at[0], what, written)
                   : use_path(r, v.at[0], what, written);
    case CXCursor_ArraySubscriptExpr: {
        if (v.n != 2)
            return refuse_at(r, c, "it has an unusual subscript");
        bool swapped = !has_pointer_type(v.at[0]) && !fe_is_array(fe_strip(r->fe, v.at[0]));
        return lanes_value(r, v.at[!swapped]) | use_base(r, v.at[swapped], what, written);
    }
    case CXCursor_UnaryOperator: return use_operand(r, c, v.at[0], what, written);
    default: return written ? refuse_at(r, c, "it sets what is no variable") : lanes_value(r, c);
    }
}

/* ------------------------------------------------------------------ calls */
static bool is_number(CXType t)
{
    t = clang_getCanonicalType(t);
    return t.kind >= CXType_Bool && t.kind <= CXType_LongDouble;
}

static bool is_real(CXType t)
{
    t = clang_getCanonicalType(t);
    return t.kind == CXType_Float || t.kind == CXType_Double || t.kind == CXType_LongDouble;
}

/* Of <math.h> and its like: of the functions that take a floating-point number, and else numbers,
 * none does anything but compute. */
static bool only_computes(struct fe *fe, CXCursor f)
{
    CXType t = clang_getCursorType(f);
    bool real = false;
    if (!fe_is_system(fe, fe_location(fe, f)) || clang_isFunctionTypeVariadic(t) ||
        !is_number(clang_getResultType(t)))
        return false;
    for (int i = 0; i < clang_getNumArgTypes(t); i++) {
        if (!is_number(clang_getArgType(t, (unsigned)i)))
            return false;
        real |= is_real(clang_getArgType(t, (unsigned)i));
    }
    return real;
}

static enum CXChildVisitResult find_const(CXCursor c, CXCursor parent, CXClientData found)
{
    (void)parent;
    *(bool *)found |= clang_getCursorKind(c) == CXCursor_ConstAttr;
    return CXChildVisit_Continue;
}

static bool has_construct(const struct fe *fe, struct omp_extent e)
{
    for (unsigned i = 0; i < fe->u->nconstructs; i++)
        if (fe_inside(fe->u->constructs[i]->pragma.begin, e))
            return true;
    return false;
}

/* What it reads is not known here; what it costs, each lane pays. */
static void take_over(struct lanes_row *r, CXCursor call, const struct lanes_row *in)
{
    r->reads |= in->reads;
    if (r->inner && in->reads)
        *VEC_PUSH(r->fe->a, &r->accesses) = (struct lanes_access){ .lvalue = call };
    if (r->inner)
        return;
    r->cost += in->cost;
    r->unsuited = r->unsuited ? r->unsuited : in->unsuited;
}

/* A function of this file that stores nothing and asks nothing but memory. */
static bool is_pure_here(struct lanes_row *r, CXCursor call, CXCursor definition)
{
    struct lanes_row in = { .fe = r->fe,
                            .body = fe_extent(r->fe, definition),
                            .depth = r->depth + 1 };
    fe_cursors v = { 0 };
    fe_children(r->fe, definition, &v);
    if (!v.n || r->depth == MOST_DEPTH || has_construct(r->fe, in.body))
        return false;
    lanes_statement(&in, v.at[v.n - 1]);
    take_over(r, call, &in);
    return !in.why && !in.guards.n;
}

static bool is_pure(struct lanes_row *r, CXCursor call, CXCursor f)
{
    bool is_const = false;
    CXCursor definition = clang_getCursorDefinition(f);
    clang_visitChildren(f, find_const, &is_const);
    if (is_const || only_computes(r->fe, f)) {
        r->cost += r->inner ? 0 : LIBRARY_COST;
        return true;
    }
    return !clang_Cursor_isNull(definition) && is_pure_here(r, call, definition);
}

static unsigned use_call(struct lanes_row *r, CXCursor c)
{
    fe_cursors v = { 0 };
    unsigned effect = 0;
    fe_children(r->fe, c, &v);
    CXCursor callee = v.n ? fe_strip(r->fe, v.at[0]) : c, f = clang_getCursorReferenced(callee);
    if (clang_getCursorKind(callee) != CXCursor_DeclRefExpr ||
        clang_getCursorKind(f) != CXCursor_FunctionDecl)
        return refuse_at(r, c, "it calls a function that is not known");
    for (unsigned i = 1; i < v.n; i++)
        effect |= lanes_value(r, v.at[i]);
    if (is_pure(r, c, f))
        return effect;
    return r->inner
               ? refuse_at(r, c, "the inner loop calls a function that may do more than compute")
               : effect | LANES_ONCE;
}

/* ------------------------------------------------------------------ expressions */
static bool is_special(CXType t)
{
    return clang_isVolatileQualifiedType(t) || clang_getCanonicalType(t).kind == CXType_Atomic ||
           clang_isVolatileQualifiedType(clang_getCanonicalType(t));
}

/* May it be a copy that each lane has?  A store through its address would be to one of them. */
static bool is_of_lane(const struct lanes_row *r, CXCursor c)
{
    fe_cursors v = { 0 };
    for (;;) {
        c = fe_strip(r->fe, c);
        enum CXCursorKind k = clang_getCursorKind(c);
        if (k == CXCursor_DeclRefExpr) {
            struct omp_var *var = fe_var_of(r->fe, clang_getCursorReferenced(c));
            return !var || lanes_home_of(r, var) != LANES_OF_MEMORY;
        }
        fe_children(r->fe, c, &v);
        bool member = k == CXCursor_MemberRefExpr, subscript = k == CXCursor_ArraySubscriptExpr,
             deref = k == CXCursor_UnaryOperator &&
                     clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_Deref;
        if (!v.n || !(member || subscript || deref))
            return true;
        if (has_pointer_type(v.at[0]) && !fe_is_array(fe_strip(r->fe, v.at[0])))
            return false; /* what a pointer leads to is in memory: no copy's address was taken */
        c = v.at[0];
    }
}

static unsigned use_children(struct lanes_row *r, CXCursor c)
{
    fe_cursors v = { 0 };
    unsigned effect = 0;
    fe_children(r->fe, c, &v);
    for (unsigned i = 0; i < v.n; i++)
        if (!clang_isReference(clang_getCursorKind(v.at[i])))
            effect |= lanes_value(r, v.at[i]);
    return effect;
}

static unsigned use_unary(struct lanes_row *r, CXCursor c)
{
    fe_cursors v = { 0 };
    fe_children(r->fe, c, &v);
    if (!v.n)
        return refuse_at(r, c, "it has an unusual expression");
    switch (clang_getCursorUnaryOperatorKind(c)) {
    case CXUnaryOperator_PreInc:
    case CXUnaryOperator_PreDec:
    case CXUnaryOperator_PostInc:
    case CXUnaryOperator_PostDec: return use_path(r, v.at[0], v.at[0], true);
    case CXUnaryOperator_AddrOf:
        return is_of_lane(r, v.at[0]) || r->inner ? refuse_at(r, c, "it takes an address")
                                                  : use_path(r, v.at[0], v.at[0], false);
    case CXUnaryOperator_Deref:
    case CXUnaryOperator_Real:
    case CXUnaryOperator_Imag: return use_path(r, c, c, false);
    default: return lanes_value(r, v.at[0]);
    }
}

static unsigned use_binary(struct lanes_row *r, CXCursor c)
{
    fe_cursors v = { 0 };
    fe_children(r->fe, c, &v);
    bool sets = clang_getCursorKind(c) == CXCursor_CompoundAssignOperator ||
                clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign;
    if (v.n != 2)
        return refuse_at(r, c, "it has an unusual expression");
    return (sets ? use_path(r, v.at[0], v.at[0], true) : lanes_value(r, v.at[0])) |
           lanes_value(r, v.at[1]);
}

unsigned lanes_value(struct lanes_row *r, CXCursor c)
{
    c = fe_strip(r->fe, c);
    r->cost += !r->inner;
    if (is_special(clang_getCursorType(c)))
        return refuse_at(r, c, "it uses volatile or _Atomic objects");
    if (fe_is_array(c) && clang_getCursorKind(c) != CXCursor_StringLiteral &&
        clang_getCursorKind(c) != CXCursor_InitListExpr && is_of_lane(r, c))
        return refuse_at(r, c, "it takes an array's address");
    switch (clang_getCursorKind(c)) {
    case CXCursor_IntegerLiteral:
    case CXCursor_FloatingLiteral:
    case CXCursor_ImaginaryLiteral:
    case CXCursor_StringLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_CXXBoolLiteralExpr:
    case CXCursor_UnaryExpr: return 0; /* the last: sizeof and its like */
    case CXCursor_DeclRefExpr:
    case CXCursor_MemberRefExpr:
    case CXCursor_ArraySubscriptExpr: return use_path(r, c, c, false);
    case CXCursor_UnaryOperator: return use_unary(r, c);
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator: return use_binary(r, c);
    case CXCursor_CallExpr: return use_call(r, c);
    case CXCursor_CStyleCastExpr:
    case CXCursor_ConditionalOperator:
    case CXCursor_InitListExpr: return use_children(r, c);
    default: return refuse_at(r, c, "it has an expression that is not looked into");
    }
}

/* ------------------------------------------------------------------ statements */
/* What all lanes evaluate. */
static void use_for_all(struct lanes_row *r, CXCursor c)
{
    if (lanes_value(r, c) & LANES_ONCE)
        refuse_at(r, c, "only one lane may evaluate an expression that all of them need");
}

static void read_declaration(struct lanes_row *r, CXCursor c)
{
    fe_cursors v = { 0 };
    fe_children(r->fe, c, &v);
    for (unsigned i = 0; i < v.n; i++) {
        enum CXCursorKind k = clang_getCursorKind(v.at[i]);
        struct omp_var *var = k == CXCursor_VarDecl ? fe_var_of(r->fe, v.at[i]) : NULL;
        CXCursor init = k == CXCursor_VarDecl ? clang_Cursor_getVarDeclInitializer(v.at[i])
                                              : clang_getNullCursor();
        if (k != CXCursor_VarDecl || !var || var->storage != OMPS_LOCAL ||
            var->type->variably_modified || is_special(clang_getCursorType(v.at[i])))
            refuse_at(r, v.at[i], "it has a declaration that is not of a plain local variable");
        else if (!clang_Cursor_isNull(init))
            use_for_all(r, init);
    }
}

/* Is part i of n of such a statement an expression that decides where it goes on? */
static bool decides(enum CXCursorKind kind, unsigned i, unsigned n)
{
    switch (kind) {
    case CXCursor_IfStmt:
    case CXCursor_WhileStmt:
    case CXCursor_SwitchStmt: return !i;
    case CXCursor_ForStmt:
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt: return i + 1 < n;
    case CXCursor_DoStmt: return i + 1 == n;
    default: return true;
    }
}

static void read_parts(struct lanes_row *r, CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    bool repeats =
        kind == CXCursor_ForStmt || kind == CXCursor_WhileStmt || kind == CXCursor_DoStmt;
    fe_cursors v = { 0 };
    fe_children(r->fe, c, &v);
    unsigned found = r->found.n;
    r->repeats += repeats;
    for (unsigned i = 0; i < v.n; i++)
        if (clang_isExpression(clang_getCursorKind(v.at[i])) && decides(kind, i, v.n))
            use_for_all(r, v.at[i]);
        else
            lanes_statement(r, v.at[i]);
    r->repeats -= repeats;
    if (repeats && !r->within && found == r->found.n)
        r->unsuited = "each lane would run all of another loop in the iteration";
}

/* The guard ends before its ';'. */
static void add_guard(struct lanes_row *r, CXCursor c)
{
    struct omp_extent e = { fe_begin(r->fe, c), fe_stmt_end(r->fe, c) };
    if (r->inner || e.end <= e.begin || r->fe->u->text[e.end - 1] != ';')
        refuse_at(r, c, "only one lane may run a statement that all of them reach");
    else
        *VEC_PUSH(r->fe->a, &r->guards) = (struct omp_guard){ e, !r->repeats };
}

static void read_expression(struct lanes_row *r, CXCursor c)
{
    unsigned effect = lanes_value(r, c);
    if (effect == (LANES_KEEPS | LANES_ONCE))
        refuse_at(r, c,
                  "a statement sets a variable that all lanes need, and more that only one "
                  "lane may do");
    else if (effect & LANES_ONCE)
        add_guard(r, c);
}

/* Statements that follow each other have one guard. */
static void read_block(struct lanes_row *r, CXCursor c)
{
    fe_cursors v = { 0 };
    bool guarded = false;
    fe_children(r->fe, c, &v);
    for (unsigned i = 0; i < v.n; i++) {
        unsigned before = r->guards.n;
        lanes_statement(r, v.at[i]);
        bool is = clang_isExpression(clang_getCursorKind(v.at[i])) && r->guards.n == before + 1;
        if (is && guarded)
            r->guards.at[before - 1].extent.end = r->guards.at[--r->guards.n].extent.end;
        guarded = is;
    }
}

/* The construct whose statement it is. */
static struct omp_construct *construct_of(const struct lanes_row *r, CXCursor c)
{
    unsigned at = fe_begin(r->fe, c);
    for (struct omp_construct *k = r->loop ? r->loop->child : NULL; k; k = k->next)
        if (fe_inside(at, fe_whole(k)))
            return k;
    return NULL;
}

/* The update or the store is one lane's. */
static void read_atomic(struct lanes_row *r, struct omp_construct *k, CXCursor c)
{
    const struct omp_atomic *a = k->atomic;
    bool plain = a && (a->form == OMPA_WRITE || a->form == OMPA_UPDATE) && !a->v.end;
    if (!plain || r->inner || lanes_value(r, c) != LANES_ONCE)
        refuse_at(r, c, "it has an atomic construct that gives a value, or is none of memory");
    *VEC_PUSH(r->fe->a, &r->found) = k;
}

static void read_construct(struct lanes_row *r, struct omp_construct *k, CXCursor c)
{
    if (r->within || fe_begin(r->fe, c) != k->body.begin)
        lanes_refuse(r, k->pragma.begin, "it contains '%s'", k->spelling);
    else if (lanes_is_inner(k))
        lanes_inner(r, k, c);
    else if (k->leaves == OMPL_ATOMIC)
        read_atomic(r, k, c);
    else
        lanes_refuse(r, k->pragma.begin, "it contains '%s'", k->spelling);
}

static void read_statement(struct lanes_row *r, CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    switch (kind) {
    case CXCursor_CompoundStmt: read_block(r, c); return;
    case CXCursor_DeclStmt: read_declaration(r, c); return;
    case CXCursor_NullStmt:
    case CXCursor_BreakStmt:
    case CXCursor_ContinueStmt: return;
    case CXCursor_ReturnStmt:
        if (r->loop)
            break;
        read_parts(r, c);
        return;
    case CXCursor_IfStmt:
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
    case CXCursor_SwitchStmt:
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt: read_parts(r, c); return;
    default: break;
    }
    if (clang_isExpression(kind))
        read_expression(r, c);
    else
        refuse_at(r, c, "it has a statement that is not looked into");
}

void lanes_statement(struct lanes_row *r, CXCursor c)
{
    struct omp_construct *k = construct_of(r, c);
    if (k && k != r->within)
        read_construct(r, k, c);
    else
        read_statement(r, c);
}
