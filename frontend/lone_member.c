/* lone_member.c - structs and unions of one member, in a text with run-time array bounds.
 *
 * Such a text is compiled for wasm64 (drv_vla_target()), which passes and returns a struct of one
 * member as that member; nvptx64, for which files without such bounds are compiled, does not.  So
 * the member gets another one beside it there, where clang looks for no lone one:
 *
 *     struct S { double x; };      struct S { union { double x; char beside; }; };
 *
 * Size, alignment, offset and initialisers stay.  Other members than scalars, and arrays of one,
 * are none that wasm64 passes in place of the struct: structs are not, now that inner ones are not
 * either.
 *
 * Not done: a member beside others that have no size; the initialiser { { [0] = 1 } } of a struct
 * with an array, which clang rejects then. */
#include "frontend/fe.h"

struct members {
    unsigned n;
    CXType type; /* of the last one */
};

static enum CXVisitorResult count_member(CXCursor field, CXClientData data)
{
    struct members *m = data;
    m->n++;
    m->type = clang_getCanonicalType(clang_getCursorType(field));
    return CXVisit_Continue;
}

static enum CXChildVisitResult find_attribute(CXCursor c, CXCursor parent, CXClientData found)
{
    (void)parent;
    *(bool *)found |= clang_getCursorKind(c) == CXCursor_UnexposedAttr;
    return CXChildVisit_Continue;
}

/* Such as transparent_union, which is about the member. */
static bool is_union_with_attribute(CXCursor record)
{
    bool found = false;
    if (clang_getCursorKind(record) == CXCursor_UnionDecl)
        clang_visitChildren(record, find_attribute, &found);
    return found;
}

static bool has_lone_member(CXCursor record)
{
    CXType t = clang_getCursorType(record);
    struct members m = { 0 };
    clang_Type_visitFields(t, count_member, &m);
    if (m.n != 1 || clang_Type_getSizeOf(m.type) != clang_Type_getSizeOf(t) ||
        is_union_with_attribute(record))
        return false;
    while (m.type.kind == CXType_ConstantArray && clang_getArraySize(m.type) == 1)
        m.type = clang_getCanonicalType(clang_getArrayElementType(m.type));
    switch (m.type.kind) {
    case CXType_Record:
    case CXType_Complex:
    case CXType_ConstantArray:
    case CXType_IncompleteArray: return false;
    default: return true;
    }
}

struct walk {
    struct fe *fe;
    VEC(unsigned) seen; /* where they begin: a declaration has the type that it defines once more */
};

static bool is_new(struct walk *w, unsigned begin)
{
    for (unsigned i = w->seen.n; i-- > 0;)
        if (w->seen.at[i] == begin)
            return false;
    *VEC_PUSH(w->fe->a, &w->seen) = begin;
    return true;
}

static unsigned find_brace(const struct fe *fe, unsigned begin)
{
    struct fe_token t = { .begin = begin };
    while (fe_next_token(fe->u, begin, &t) && !(t.kind == TOK_PUNCT && fe->u->text[t.begin] == '{'))
        begin = t.end;
    return t.begin;
}

static void insert(struct fe *fe, unsigned offset, const char *text)
{
    *VEC_PUSH(fe->a, &fe->renames) = (struct omp_rename){ offset, 0, text };
}

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
    struct walk *w = data;
    enum CXCursorKind k = clang_getCursorKind(c);
    (void)parent;
    if ((k == CXCursor_StructDecl || k == CXCursor_UnionDecl) && clang_isCursorDefinition(c) &&
        has_lone_member(c)) {
        struct omp_extent e = fe_extent(w->fe, c); /* to the '}' */
        if (is_new(w, e.begin)) {
            insert(w->fe, find_brace(w->fe, e.begin) + 1, " __OMPGPU_LONE_BEGIN ");
            /* its number is for members of unnamed structs in one other struct */
            insert(w->fe, e.end - 1, arena_printf(w->fe->a, " __OMPGPU_LONE_END(%u) ", w->seen.n));
        }
    }
    return CXChildVisit_Recurse;
}

void fe_find_lone_members(struct fe *fe)
{
    struct walk w = { .fe = fe };
    if (fe->u->not_for_nvptx)
        clang_visitChildren(clang_getTranslationUnitCursor(fe->tu), visit, &w);
}
