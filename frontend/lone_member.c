/* lone_member.c - structs and unions of one member, in a text with run-time array bounds.
 *
 * Such a text is compiled for wasm64 (drv_vla_target()), which passes and returns a struct of one
 * member as that member; nvptx64, for which files without such bounds are compiled, does not.  So
 * the member gets another one beside it there, where clang looks for no lone one:
 *
 *     struct S { double x; };      struct S { union { double x; char beside; }; };
 *
 * Size, alignment, offset and initialisers stay.  Not so where the member does not fill the struct,
 * or is a struct itself; wasm64 takes neither for a lone one, now that the inner one is none. */
#include "frontend/fe.h"
#include <string.h>

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

static bool has_lone_member(CXCursor record)
{
    CXType t = clang_getCursorType(record);
    struct members m = { 0 };
    clang_Type_visitFields(t, count_member, &m);
    if (m.n != 1 || clang_Type_getSizeOf(m.type) != clang_Type_getSizeOf(t))
        return false;
    while (m.type.kind == CXType_ConstantArray)
        m.type = clang_getCanonicalType(clang_getArrayElementType(m.type));
    return m.type.kind != CXType_Record;
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
            insert(w->fe, e.begin + (unsigned)strcspn(w->fe->u->text + e.begin, "{") + 1,
                   " __OMPGPU_LONE_BEGIN ");
            insert(w->fe, e.end - 1, " __OMPGPU_LONE_END ");
        }
    }
    return CXChildVisit_Recurse;
}

void fe_find_lone_members(struct fe *fe)
{
    struct walk w = { .fe = fe };
    if (fe->u->run_time_types)
        clang_visitChildren(clang_getTranslationUnitCursor(fe->tu), visit, &w);
}
