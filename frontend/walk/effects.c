/* effects.c - what is written, whose address is taken, and what is called or executed that the walk
 * cannot follow: pointers to functions, assembly. */
#include <string.h>
#include "frontend/walk/walk.h"

/* libclang shows a parameter that is written as an array with that type; it is a pointer. */
static bool is_array(CXCursor c)
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
        if (k == CXCursor_ArraySubscriptExpr && !is_array(first = fe_strip(fe, first)))
            return;
        if (k == CXCursor_UnaryOperator &&
            clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_Deref &&
            !is_array(first = fe_strip(fe, first)))
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
 * Its operands must be in memory: registers differ in kind and size. */
static bool is_in_memory(CXString constraint)
{
    const char *letters = clang_getCString(constraint);
    bool memory = letters[strspn(letters, "=+")] == 'm' && !letters[strspn(letters, "=+") + 1];
    clang_disposeString(constraint);
    return memory;
}

static bool is_plain_clobber(CXString name)
{
    bool plain = !strcmp(clang_getCString(name), "memory") || !strcmp(clang_getCString(name), "cc");
    clang_disposeString(name);
    return plain;
}

static bool has_instructions(CXCursor c)
{
    CXString template = clang_Cursor_getGCCAssemblyTemplate(c), constraint;
    CXCursor operand;
    bool empty = clang_getCursorKind(c) == CXCursor_GCCAsmStmt && !*clang_getCString(template) &&
                 !clang_Cursor_isGCCAssemblyHasGoto(c);
    clang_disposeString(template);
    for (unsigned i = 0; empty && i < clang_Cursor_getGCCAssemblyNumOutputs(c); i++)
        empty = clang_Cursor_getGCCAssemblyOutput(c, i, &constraint, &operand) &&
                is_in_memory(constraint);
    for (unsigned i = 0; empty && i < clang_Cursor_getGCCAssemblyNumInputs(c); i++)
        empty = clang_Cursor_getGCCAssemblyInput(c, i, &constraint, &operand) &&
                is_in_memory(constraint);
    for (unsigned i = 0; empty && i < clang_Cursor_getGCCAssemblyNumClobbers(c); i++)
        empty = is_plain_clobber(clang_Cursor_getGCCAssemblyClobber(c, i));
    return !empty;
}

void walk_on_asm(struct fe *fe, CXCursor c)
{
    fe_cursors v = { 0 };
    fe_children(fe, c, &v);
    for (unsigned i = 0; i < v.n; i++)
        mark_lvalue(fe, v.at[i], &fe->addrs);
    if (has_instructions(c))
        *VEC_PUSH(fe->a, &fe->marks) = (struct fe_mark){ fe_begin(fe, c), "inline assembly" };
    walk_children(fe, c);
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
    }
    walk_children(fe, c);
}
