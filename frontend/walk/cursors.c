/* cursors.c - libclang's cursors: where they are in the user's text and what is in them, without
 * our probes. */
#include "frontend/walk/walk.h"

/* In what libclang sees; offsets everywhere else are the user's. */
unsigned walk_seen_offset(CXSourceLocation l)
{
    unsigned offset;
    clang_getSpellingLocation(l, NULL, NULL, NULL, &offset);
    return offset;
}
unsigned walk_offset(const struct fe *fe, CXSourceLocation l)
{
    return fe_text_offset(fe, walk_seen_offset(l));
}
unsigned walk_seen_begin(CXCursor c)
{
    return walk_seen_offset(clang_getRangeStart(clang_getCursorExtent(c)));
}
struct omp_extent fe_extent(const struct fe *fe, CXCursor c)
{
    CXSourceRange r = clang_getCursorExtent(c);
    return (struct omp_extent){ walk_offset(fe, clang_getRangeStart(r)),
                                walk_offset(fe, clang_getRangeEnd(r)) };
}
unsigned fe_begin(const struct fe *fe, CXCursor c)
{
    return fe_text_offset(fe, walk_seen_begin(c));
}
unsigned fe_location(const struct fe *fe, CXCursor c)
{
    return walk_offset(fe, clang_getCursorLocation(c));
}

/* The probe that the cursor is, or NULL. */
const struct fe_probe *walk_probe_of(const struct fe *fe, CXCursor c)
{
    switch (clang_getCursorKind(c)) {
    case CXCursor_IfStmt:
    case CXCursor_DeclStmt:
    case CXCursor_StaticAssert:
    case CXCursor_FunctionDecl: return fe_probe_at(fe, walk_seen_begin(c));
    default: return NULL;
    }
}

const char *walk_spelling(struct fe *fe, CXCursor c)
{
    CXString s = clang_getCursorSpelling(c);
    const char *t = arena_strdup(fe->a, clang_getCString(s) ? clang_getCString(s) : "");
    clang_disposeString(s);
    return t;
}

static enum CXChildVisitResult take_last(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    *(CXCursor *)data = c;
    return CXChildVisit_Continue;
}

/* What an `if` of ours stands before. */
CXCursor walk_probed_statement(CXCursor c)
{
    CXCursor last = clang_getNullCursor();
    clang_visitChildren(c, take_last, &last);
    return last;
}

struct gather {
    struct fe *fe;
    fe_cursors *out;
};
static enum CXChildVisitResult gather(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    struct gather *g = data;
    while (walk_probe_of(g->fe, c)) {
        if (clang_getCursorKind(c) != CXCursor_IfStmt)
            return CXChildVisit_Continue;
        c = walk_probed_statement(c);
    }
    *VEC_PUSH(g->fe->a, g->out) = c;
    return CXChildVisit_Continue;
}
/* Without the probes. */
void fe_children(struct fe *fe, CXCursor c, fe_cursors *out)
{
    struct gather g = { fe, out };
    out->n = 0;
    clang_visitChildren(c, gather, &g);
}

/* The only child, or a cursor of kind InvalidFile. */
static CXCursor only_child(struct fe *fe, CXCursor c)
{
    fe_cursors v = { 0 };
    fe_children(fe, c, &v);
    return v.n == 1 ? v.at[0] : clang_getNullCursor();
}

CXCursor fe_strip(struct fe *fe, CXCursor c)
{
    for (;;) {
        enum CXCursorKind k = clang_getCursorKind(c);
        if (k != CXCursor_ParenExpr && k != CXCursor_UnexposedExpr)
            return c;
        CXCursor inner = only_child(fe, c);
        if (clang_Cursor_isNull(inner))
            return c;
        c = inner;
    }
}

bool walk_has_run_time_bound(CXType type)
{
    for (CXType t = clang_getCanonicalType(type);; t = clang_getCanonicalType(t)) {
        if (t.kind == CXType_VariableArray)
            return true;
        if (t.kind == CXType_Pointer)
            t = clang_getPointeeType(t);
        else if (t.kind == CXType_ConstantArray || t.kind == CXType_IncompleteArray)
            t = clang_getArrayElementType(t);
        else
            return false;
    }
}

unsigned fe_stmt_end(struct fe *fe, CXCursor c)
{
    fe_cursors v = { 0 };
    unsigned end = fe_extent(fe, c).end;
    switch (clang_getCursorKind(c)) {
    case CXCursor_CompoundStmt: return end;
    case CXCursor_NullStmt:
    case CXCursor_DeclStmt:
        return fe->u->text[end - 1] == ';' ? end : fe_find_semicolon(fe->u, end);
    case CXCursor_IfStmt:
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_SwitchStmt:
    case CXCursor_LabelStmt:
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
    case CXCursor_UnexposedStmt:
        fe_children(fe, c, &v);
        if (v.n)
            return fe_stmt_end(fe, v.at[v.n - 1]);
        /* fall through */
    default: return fe_find_semicolon(fe->u, end);
    }
}
