/* declarations.c - types, constants and the other declarations; scopes. */
#include <string.h>
#include "frontend/walk/walk.h"

/* End of a declaration without body: after its ';'. */
unsigned walk_decl_end(struct fe *fe, unsigned end) { return fe_find_semicolon(fe->u, end); }

struct omp_decl *walk_add_decl(struct fe *fe, enum omp_decl_kind kind, struct omp_extent e)
{
    struct omp_decl *d = VEC_PUSH(fe->a, &fe->decls);
    *d = (struct omp_decl){ .kind = kind, .extent = e, .place = fe_place(fe->u, e.begin) };
    return d;
}

void walk_on_declaration(struct fe *fe, CXCursor c)
{
    unsigned outer = fe->declaration;
    fe->declaration = fe_begin(fe, c);
    walk_children(fe, c);
    fe->declaration = outer;
}

void walk_on_scope(struct fe *fe, CXCursor c)
{
    unsigned outer = fe->scope_end;
    struct omp_extent block = fe_extent(fe, c);
    for (unsigned i = 0; i < fe->fp_pragmas.n; i++)
        if (fe_inside(fe->fp_pragmas.at[i].extent.begin, block))
            fe->fp_pragmas.at[i].scope = block; /* inner blocks come later */
    fe->scope_end = block.end;
    walk_children(fe, c);
    fe->scope_end = outer;
}

void walk_on_repeat(struct fe *fe, CXCursor c)
{
    *VEC_PUSH(fe->a, &fe->repeats) = fe_extent(fe, c);
    walk_on_scope(fe, c);
}

/* At file scope. */
static void note_type_name(struct fe *fe, CXCursor c)
{
    CXString s = clang_getCursorSpelling(c);
    *VEC_PUSH(fe->a, &fe->type_names) =
        (struct omp_type_name){ fe_location(fe, c), arena_strdup(fe->a, clang_getCString(s)) };
    clang_disposeString(s);
}

void walk_on_tag(struct fe *fe, CXCursor c)
{
    if (fe->in)
        fe_note_local_type(fe, c);
    else {
        struct omp_extent e = fe_extent(fe, c);
        e.end = fe_attributes_end(fe->u, e.end);
        walk_add_decl(fe, OMPD_TYPE, e);
        note_type_name(fe, c);
    }
    walk_children(fe, c);
}
static bool is_event_handle(CXCursor c)
{
    CXString name = clang_getCursorSpelling(c);
    bool is = strcmp(clang_getCString(name), "omp_event_handle_t") == 0;
    clang_disposeString(name);
    return is;
}

void walk_on_typedef(struct fe *fe, CXCursor c)
{
    struct omp_extent e = fe_extent(fe, c);
    e.end = walk_decl_end(fe, e.end);
    if (fe->in)
        fe_note_local_type(fe, c);
    else {
        walk_add_decl(fe, OMPD_TYPEDEF, e);
        note_type_name(fe, c);
        if (!fe->u->event_handle && is_event_handle(c))
            fe->u->event_handle = e.end;
    }
    walk_children(fe, c);
}
void walk_on_constant(struct fe *fe, CXCursor c)
{
    if (fe->in)
        fe_note_local_type(fe, c);
    else
        note_type_name(fe, c);
    walk_children(fe, c);
}
void walk_on_type_ref(struct fe *fe, CXCursor c)
{
    CXCursor d = clang_getCursorReferenced(c);
    CXCursor definition = clang_getCursorDefinition(d);
    struct omp_extent e = fe_extent(fe, c);
    if (!fe->in)
        return;
    *VEC_PUSH(fe->a, &fe->typerefs) =
        (struct fe_typeref){ e.begin, e.end - e.begin,
                             fe_location(fe, clang_Cursor_isNull(definition) ? d : definition) };
}
void walk_on_static_assert(struct fe *fe, CXCursor c)
{
    struct omp_extent e = fe_extent(fe, c);
    e.end = walk_decl_end(fe, e.end);
    if (!fe->in)
        walk_add_decl(fe, OMPD_STATIC_ASSERT, e);
    walk_children(fe, c);
}
