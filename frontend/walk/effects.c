/* effects.c - what is written, whose address is taken, and what is called or executed that the walk
 * cannot follow: pointers to functions, assembly. */
#include <string.h>
#include "frontend/walk/walk.h"

/* libclang shows a parameter that is written as an array with that type; it is a pointer. */
bool fe_is_array(CXCursor c)
{
    if (clang_getCursorKind(c) == CXCursor_DeclRefExpr &&
        clang_getCursorKind(clang_getCursorReferenced(c)) == CXCursor_ParmDecl)
        return false;
    enum CXTypeKind k = clang_getCanonicalType(clang_getCursorType(c)).kind;
    return k == CXType_ConstantArray || k == CXType_IncompleteArray || k == CXType_VariableArray;
}

/* Notes the variable whose own storage the lvalue c designates; nothing when a pointer is followed.
 */
static void mark_lvalue(struct fe *fe, CXCursor c, fe_offsets *into)
{
    fe_cursors v = { 0 };
    for (;;) {
        enum CXCursorKind k = clang_getCursorKind(c);
        if (k == CXCursor_DeclRefExpr) {
            *VEC_PUSH(fe->a, into) = fe_begin(fe, c);
            return;
        }
        fe_children(fe, c, &v);
        if (!v.n)
            return;
        CXCursor first = v.at[0];
        if (k == CXCursor_MemberRefExpr &&
            clang_getCanonicalType(clang_getCursorType(first)).kind == CXType_Pointer)
            return;
        if (k == CXCursor_ArraySubscriptExpr && !fe_is_array(first = fe_strip(fe, first)))
            return;
        if (k == CXCursor_UnaryOperator &&
            clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_Deref &&
            !fe_is_array(first = fe_strip(fe, first)))
            return;
        if (k == CXCursor_GenericSelectionExpr) {
            for (unsigned i = 1; i < v.n; i++)
                mark_lvalue(fe, v.at[i], into);
            return;
        }
        if (k != CXCursor_MemberRefExpr && k != CXCursor_ArraySubscriptExpr &&
            k != CXCursor_UnaryOperator && k != CXCursor_ParenExpr && k != CXCursor_UnexposedExpr)
            return;
        c = first;
    }
}

static void mark_first(struct fe *fe, CXCursor c, fe_offsets *into)
{
    fe_cursors v = { 0 };
    fe_children(fe, c, &v);
    if (v.n)
        mark_lvalue(fe, v.at[0], into);
}

void walk_on_binary(struct fe *fe, CXCursor c)
{
    if (clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign)
        mark_first(fe, c, &fe->writes);
    walk_children(fe, c);
}
void walk_on_compound_assign(struct fe *fe, CXCursor c)
{
    mark_first(fe, c, &fe->writes);
    walk_children(fe, c);
}
void walk_on_unary(struct fe *fe, CXCursor c)
{
    switch (clang_getCursorUnaryOperatorKind(c)) {
    case CXUnaryOperator_PreInc:
    case CXUnaryOperator_PreDec:
    case CXUnaryOperator_PostInc:
    case CXUnaryOperator_PostDec: mark_first(fe, c, &fe->writes); break;
    case CXUnaryOperator_AddrOf: mark_first(fe, c, &fe->addrs); break;
    default: break;
    }
    walk_children(fe, c);
}
/* Instructions of the host; a template without any orders memory accesses and is valid anywhere.
 * Registers differ in kind and size, so that on the device its operands are in memory: variables,
 * or what is given the value of a scalar expression. */
static bool is_general(CXString constraint)
{
    const char *letters = clang_getCString(constraint);
    size_t modifiers = strspn(letters, "=+&"), kinds = strspn(letters + modifiers, "rgmqxX,");
    bool general = kinds && !letters[modifiers + kinds];
    clang_disposeString(constraint);
    return general;
}

static bool is_variable(struct fe *fe, CXCursor operand)
{
    return clang_getCursorKind(fe_strip(fe, operand)) == CXCursor_DeclRefExpr;
}

/* The type of what holds the operand's value; NULL: there is none. */
static const char *holder_of(CXCursor operand)
{
    CXType t = clang_getCanonicalType(clang_getCursorType(operand));
    if (t.kind == CXType_Pointer)
        return "const volatile void *";
    if (t.kind == CXType_Float || t.kind == CXType_Double)
        return "double";
    bool integer = t.kind >= CXType_Bool && t.kind <= CXType_LongLong;
    return integer && t.kind != CXType_UInt128 ? "long long" : NULL;
}

static bool is_plain_clobber(CXString name)
{
    bool plain = !strcmp(clang_getCString(name), "memory") || !strcmp(clang_getCString(name), "cc");
    clang_disposeString(name);
    return plain;
}

static bool has_instructions(struct fe *fe, CXCursor c)
{
    CXString template = clang_Cursor_getGCCAssemblyTemplate(c), constraint;
    CXCursor operand;
    bool empty = clang_getCursorKind(c) == CXCursor_GCCAsmStmt && !*clang_getCString(template) &&
                 !clang_Cursor_isGCCAssemblyHasGoto(c);
    clang_disposeString(template);
    for (unsigned i = 0; empty && i < clang_Cursor_getGCCAssemblyNumOutputs(c); i++)
        empty = clang_Cursor_getGCCAssemblyOutput(c, i, &constraint, &operand) &&
                is_general(constraint);
    for (unsigned i = 0; empty && i < clang_Cursor_getGCCAssemblyNumInputs(c); i++)
        empty = clang_Cursor_getGCCAssemblyInput(c, i, &constraint, &operand) &&
                is_general(constraint) && (is_variable(fe, operand) || holder_of(operand));
    for (unsigned i = 0; empty && i < clang_Cursor_getGCCAssemblyNumClobbers(c); i++)
        empty = is_plain_clobber(clang_Cursor_getGCCAssemblyClobber(c, i));
    return !empty;
}

/* What holds operand number i, where that is no variable; NULL: it is one. */
static const char *holder_at(struct fe *fe, CXCursor c, unsigned i)
{
    unsigned noutputs = clang_Cursor_getGCCAssemblyNumOutputs(c);
    CXString constraint;
    CXCursor operand;
    if (i < noutputs || !clang_Cursor_getGCCAssemblyInput(c, i - noutputs, &constraint, &operand))
        return NULL;
    clang_disposeString(constraint);
    return is_variable(fe, operand) ? NULL : holder_of(operand);
}

/* `"g"(x)`, from the constraint on. */
static void put_in_memory(struct fe *fe, const struct fe_token *constraint, const char *holder)
{
    const char *letters = fe->u->text + constraint->begin + 1;
    int modifiers = *letters == '=' || *letters == '+';
    struct omp_rename r = { .offset = constraint->begin,
                            .length = constraint->end - constraint->begin };
    struct fe_token t = *constraint;
    int depth = 0;
    r.text = arena_printf(fe->a, "\"%.*sm\"", modifiers, letters);
    if (holder)
        r.text = arena_printf(fe->a, "%s(((%s[1]){", r.text, holder);
    *VEC_PUSH(fe->a, &fe->renames) = r;
    while (holder && fe_next_token(fe->u, t.end, &t) && (depth += fe_bracket(fe->u, &t))) {}
    if (holder)
        *VEC_PUSH(fe->a, &fe->renames) =
            (struct omp_rename){ .offset = t.end, .length = 0, .text = "})[0])" };
}

/* In the device text: each string between the template and the clobbers is a constraint. */
static void put_operands_in_memory(struct fe *fe, CXCursor c)
{
    struct omp_extent e = fe_extent(fe, c);
    unsigned n = clang_Cursor_getGCCAssemblyNumOutputs(c) + clang_Cursor_getGCCAssemblyNumInputs(c),
             done = 0;
    struct fe_token t;
    int depth = 0;
    bool template = true;
    for (unsigned i = e.begin; done < n && fe_next_token(fe->u, i, &t) && t.begin < e.end;
         i = t.end) {
        depth += fe_bracket(fe->u, &t);
        if (t.kind != TOK_STRING || depth != 1)
            continue;
        if (template && fe->u->text[t.begin + 1] == '"')
            continue;
        template = false;
        put_in_memory(fe, &t, holder_at(fe, c, done));
        done++;
    }
}

void walk_on_asm(struct fe *fe, CXCursor c)
{
    fe_cursors v = { 0 };
    fe_children(fe, c, &v);
    for (unsigned i = 0; i < v.n; i++)
        mark_lvalue(fe, v.at[i], &fe->addrs);
    if (has_instructions(fe, c))
        *VEC_PUSH(fe->a, &fe->marks) =
            (struct fe_mark){ fe_begin(fe, c), MARK_LANGUAGE, "inline assembly" };
    else
        put_operands_in_memory(fe, c);
    walk_children(fe, c);
}

/* __builtin_isnan and its like are declared as if they took any arguments. */
static bool reads_variable_arguments(struct fe *fe, CXCursor function)
{
    static const char prefix[] = "__builtin_";
    const char *name = walk_spelling(fe, function);
    return clang_Cursor_isVariadic(function) && (strncmp(name, prefix, sizeof prefix - 1) != 0 ||
                                                 fe_is_device_function(name + sizeof prefix - 1));
}

/* printf and its like read the host's format, or none. */
static void note_variable_arguments(struct fe *fe, CXCursor c, CXCursor callee)
{
    CXCursor f = clang_getCursorReferenced(callee);
    int fixed = clang_getNumArgTypes(clang_getCursorType(f)), n = clang_Cursor_getNumArguments(c);
    if (!fe_has_long_double() || !reads_variable_arguments(fe, f))
        return;
    for (int i = fixed < 0 ? 0 : fixed; i < n; i++) {
        CXType t = clang_getCursorType(clang_Cursor_getArgument(c, (unsigned)i));
        if (clang_getCanonicalType(t).kind == CXType_LongDouble)
            *VEC_PUSH(fe->a, &fe->marks) =
                (struct fe_mark){ fe_begin(fe, c), MARK_VARIABLE_ARGUMENT, NULL };
    }
}

/* clang's NVPTX target stores their members one after the other, and reads the whole. */
static void note_struct_arguments(struct fe *fe, CXCursor c, CXCursor callee)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(callee));
    if (type.kind == CXType_Pointer)
        type = clang_getPointeeType(type);
    if (!clang_isFunctionTypeVariadic(type))
        return;
    for (int i = clang_getNumArgTypes(type), n = clang_Cursor_getNumArguments(c); i < n; i++) {
        CXType t = clang_getCursorType(clang_Cursor_getArgument(c, (unsigned)i));
        if (clang_getCanonicalType(t).kind == CXType_Record)
            *VEC_PUSH(fe->a, &fe->not_for_nvptx) = fe_begin(fe, c);
    }
}

void walk_on_call(struct fe *fe, CXCursor c)
{
    fe_cursors v = { 0 };
    fe_children(fe, c, &v);
    if (v.n) {
        CXCursor callee = fe_strip(fe, v.at[0]);
        bool direct =
            clang_getCursorKind(callee) == CXCursor_DeclRefExpr &&
            clang_getCursorKind(clang_getCursorReferenced(callee)) == CXCursor_FunctionDecl;
        if (!direct)
            *VEC_PUSH(fe->a, &fe->indirect) = fe_begin(fe, c);
        else
            note_variable_arguments(fe, c, callee);
        note_struct_arguments(fe, c, callee);
    }
    walk_children(fe, c);
}
