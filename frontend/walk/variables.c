/* variables.c - variables, by where they are declared, and their uses. */
#include <ctype.h>
#include <string.h>
#include "frontend/walk/walk.h"

static struct fe_var_slot *var_slot(struct fe *fe, unsigned decl)
{
    unsigned mask = fe->var_table_size - 1, i = decl * 2654435761u & mask;
    while (fe->var_table[i].var && fe->var_table[i].decl != decl)
        i = (i + 1) & mask;
    return &fe->var_table[i];
}

static void var_remember(struct fe *fe, unsigned decl, struct omp_var *v)
{
    if (fe->vars.n * 2 + 2 >= fe->var_table_size) {
        struct fe_var_slot *old = fe->var_table;
        unsigned n = fe->var_table_size;
        fe->var_table_size = n ? n * 2 : 1024;
        fe->var_table = arena_alloc(fe->a, fe->var_table_size * sizeof *old);
        for (unsigned i = 0; i < n; i++)
            if (old[i].var)
                *var_slot(fe, old[i].decl) = old[i];
    }
    *var_slot(fe, decl) = (struct fe_var_slot){ decl, v };
}

struct omp_var *fe_var_at(struct fe *fe, unsigned decl)
{
    return fe->var_table_size ? var_slot(fe, decl)->var : NULL;
}

struct omp_var *fe_var_of(struct fe *fe, CXCursor decl)
{
    return fe_var_at(fe, fe_location(fe, clang_getCanonicalCursor(decl)));
}

static struct omp_var *new_var(struct fe *fe, CXCursor c, enum omp_storage storage)
{
    struct omp_var *v = arena_alloc(fe->a, sizeof *v);
    v->name = walk_spelling(fe, c);
    v->storage = storage;
    v->id = fe->vars.n;
    *VEC_PUSH(fe->a, &fe->vars) = v;
    *VEC_PUSH(fe->a, &fe->var_types) = clang_getCursorType(c);
    *VEC_PUSH(fe->a, &fe->var_flags) = 0;
    var_remember(fe, fe_location(fe, clang_getCanonicalCursor(c)), v);
    return v;
}

/* What this declaration says of the variable; a later one that defines it, or completes its type,
 * wins. */
static void describe_var(struct fe *fe, struct omp_var *v, CXCursor c)
{
    CXType t = clang_getCursorType(c);
    v->decl = fe_location(fe, c);
    v->begin = fe_begin(fe, c);
    v->place = fe_place(fe->u, v->decl);
    v->scope = (struct omp_extent){ v->decl + (unsigned)strlen(v->name), fe->scope_end };
    v->type = fe_type(fe, t);
    if (clang_getCursorKind(c) == CXCursor_ParmDecl && v->type->kind == OMPT_ARRAY) {
        struct omp_type *p = arena_alloc(fe->a, sizeof *p);
        *p = (struct omp_type){ .kind = OMPT_POINTER,
                                .size = sizeof(void *),
                                .elem = v->type->elem,
                                .variably_modified = v->type->elem->variably_modified,
                                .spelling = "void *" };
        v->type = p;
        if (!p->variably_modified)
            p->spelling = arena_printf(fe->a, "__typeof__(%s) *", p->elem->spelling);
    }
    fe->var_types.at[v->id] = t;
    if (clang_isVolatileQualifiedType(t) || clang_getCanonicalType(t).kind == CXType_Atomic)
        fe->var_flags.at[v->id] |= FE_VAR_VOLATILE;
    if (clang_getCursorTLSKind(c) != CXTLS_None)
        v->is_per_thread = true, fe->var_flags.at[v->id] |= FE_VAR_THREAD_LOCAL;
    CXCursor init = clang_Cursor_getVarDeclInitializer(c);
    if (!clang_Cursor_isNull(init))
        v->init = fe_extent(fe, init);
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* libclang has no kind of its own for the attribute's cursor. */
static bool is_weak(struct fe *fe, CXCursor variable)
{
    fe_cursors v = { 0 };
    fe_children(fe, variable, &v);
    for (unsigned i = 0; i < v.n; i++) {
        if (clang_getCursorKind(v.at[i]) != CXCursor_UnexposedAttr)
            continue;
        const char *word = fe_text(fe, fe_extent(fe, v.at[i]));
        if (!strcmp(word, "weak") || !strcmp(word, "__weak__"))
            return true;
    }
    return false;
}

/* `_Alignas` is a cursor without it. */
struct omp_extent walk_operand_after(struct fe *fe, unsigned offset)
{
    struct fe_token t;
    if (!fe_next_token(fe->u, offset, &t) || fe_bracket(fe->u, &t) <= 0)
        return (struct omp_extent){ 0, 0 };
    struct omp_extent e = { t.end, t.end };
    for (int depth = 1; depth && fe_next_token(fe->u, e.end, &t); e.end = depth ? t.end : e.end)
        depth += fe_bracket(fe->u, &t);
    return e;
}

/* `gnu::aligned(8)` without its scope */
static struct omp_extent skip_scope(struct fe *fe, struct omp_extent e)
{
    struct fe_token t;
    for (unsigned at = e.begin; at < e.end && fe_next_token(fe->u, at, &t); at = t.end)
        if (fe_bracket(fe->u, &t) > 0)
            break;
        else if (fe_token_is(fe, &t, ":"))
            e.begin = t.end;
    return e;
}

static const char *alignment_of(struct fe *fe, CXCursor variable)
{
    fe_cursors v = { 0 };
    const char *text = NULL;
    fe_children(fe, variable, &v);
    for (unsigned i = 0; i < v.n; i++) {
        if (clang_getCursorKind(v.at[i]) != CXCursor_AlignedAttr)
            continue;
        struct omp_extent e = fe_extent(fe, v.at[i]), inner = walk_operand_after(fe, e.end);
        const char *one =
            inner.end ? arena_printf(fe->a, "_Alignas(%s) ", fe_text(fe, inner))
                      : arena_printf(fe->a, "__attribute__((%s)) ", fe_text(fe, skip_scope(fe, e)));
        text = text ? arena_printf(fe->a, "%s%s", text, one) : one;
    }
    return text;
}

/* A region takes the address of what it maps.  `register` forbids that and says nothing else, but
 * with a register's name after it; clang has checked that the user keeps to it. */
static void drop_register(struct fe *fe, unsigned begin, unsigned name, unsigned after_name)
{
    static const char word[] = "register";
    enum { N = sizeof word - 1 };
    char *text = fe->u->text, *end = text + name;
    unsigned next = fe_skip_blank(fe->u, after_name);
    if (!strncmp(text + next, "asm", 3) || !strncmp(text + next, "__asm", 5))
        return;
    for (char *p = text + begin; (p = memmem(p, (size_t)(end - p), word, N)); p += N)
        if ((p == text || !is_word(p[-1])) && !is_word(p[N]))
            memset(p, ' ', N);
}

static enum omp_storage storage_of(const struct fe *fe, CXCursor c)
{
    enum CX_StorageClass sc = clang_Cursor_getStorageClass(c);
    return clang_getCursorKind(c) == CXCursor_ParmDecl ? OMPS_PARAM
           : !fe->in || sc == CX_SC_Extern             ? OMPS_GLOBAL
           : sc == CX_SC_Static                        ? OMPS_STATIC_LOCAL
                                                       : OMPS_LOCAL;
}

/* `extern` in a block: the device text calls it otherwise, and this declares nothing. */
static void rename_in_block(struct fe *fe, struct omp_var *v, unsigned at)
{
    v->in_blocks = true;
    *VEC_PUSH(fe->a, &fe->renames) =
        (struct omp_rename){ at, (unsigned)strlen(v->name),
                             arena_printf(fe->a, "%sno_%s", fe->u->prefix, v->name) };
}

static void add_variable_decl(struct fe *fe, CXCursor c, struct omp_var *v, bool definition)
{
    struct omp_extent e = fe_extent(fe, c);
    e.end = walk_decl_end(fe, e.end);
    struct omp_decl *d = walk_add_decl(fe, OMPD_VARIABLE, e);
    d->var = v;
    d->place = fe_place(fe->u, fe_location(fe, c));
    d->tentative = !definition;
    v->is_weak |= !fe->in && is_weak(fe, c);
    const char *alignment = alignment_of(fe, c), *alias = fe->in ? NULL : walk_alias(fe, c);
    v->alignment = alignment ? alignment : v->alignment;
    if (alias)
        *VEC_PUSH(fe->a, &fe->aliases) = (struct fe_alias){ v, alias };
}

/* Outside of the brackets of what a declaration says before the name? */
static bool says_constexpr(struct fe *fe, unsigned begin, unsigned name)
{
    struct fe_token t;
    int depth = 0;
    for (unsigned at = begin; at < name && fe_next_token(fe->u, at, &t); at = t.end) {
        depth += fe_bracket(fe->u, &t);
        if (!depth && fe_token_is(fe, &t, "constexpr"))
            return true;
    }
    return false;
}

static bool is_constant(CXCursor c)
{
    CXType t = clang_getCanonicalType(clang_getCursorType(c));
    bool is = clang_isConstQualifiedType(t);
    for (; !is && t.kind == CXType_ConstantArray; is = clang_isConstQualifiedType(t))
        t = clang_getCanonicalType(clang_getArrayElementType(t));
    return is && !clang_Cursor_isNull(clang_Cursor_getVarDeclInitializer(c));
}

/* libclang does not say so, but that at file scope it is internal without `static`. */
static bool is_constexpr(struct fe *fe, CXCursor c)
{
    if (clang_getCursorKind(c) != CXCursor_VarDecl || !is_constant(c))
        return false;
    if (!fe->in && clang_Cursor_getStorageClass(c) == CX_SC_None)
        return clang_getCursorLinkage(c) == CXLinkage_Internal;
    return says_constexpr(fe, fe->in ? fe->declaration : fe_begin(fe, c), fe_location(fe, c));
}

void walk_on_var(struct fe *fe, CXCursor c)
{
    enum omp_storage storage = storage_of(fe, c);
    enum CX_StorageClass sc = clang_Cursor_getStorageClass(c);
    struct omp_var *v = fe_var_of(fe, c);
    bool known = v != NULL;
    bool definition =
        sc != CX_SC_Extern || !clang_Cursor_isNull(clang_Cursor_getVarDeclInitializer(c));
    if (!v) {
        v = new_var(fe, c, storage);
        v->is_extern = !definition;
    }
    if (!known || (definition && !v->init.end))
        describe_var(fe, v, c);
    else if (clang_getCursorType(c).kind == CXType_ConstantArray && !v->type->size)
        v->type = fe_type(fe, clang_getCursorType(c));
    v->is_extern &= !definition;
    v->is_constexpr |= is_constexpr(fe, c);
    v->is_static |= sc == CX_SC_Static || (v->is_constexpr && !fe->in);
    if (v->is_constexpr && fe->in)
        fe_note_local_type(fe, c);
    unsigned at = fe_location(fe, c);
    if (fe->in && sc == CX_SC_Extern)
        rename_in_block(fe, v, at);
    if (sc == CX_SC_Register)
        drop_register(fe, storage == OMPS_PARAM ? fe_begin(fe, c) : fe->declaration, at,
                      at + (unsigned)strlen(v->name));
    if (storage == OMPS_GLOBAL)
        add_variable_decl(fe, c, v, definition);
    walk_children(fe, c);
}

void walk_on_reference(struct fe *fe, CXCursor c)
{
    CXCursor decl = clang_getCursorReferenced(c);
    struct omp_extent e = fe_extent(fe, c);
    switch (clang_getCursorKind(decl)) {
    case CXCursor_VarDecl:
    case CXCursor_ParmDecl: {
        struct omp_var *v = fe_var_of(fe, decl);
        if (v && v->is_constexpr)
            *VEC_PUSH(fe->a, &fe->typerefs) =
                (struct fe_typeref){ e.begin, e.end - e.begin, v->decl };
        else if (v)
            *VEC_PUSH(fe->a, &fe->refs) = (struct omp_ref){ e.begin, e.end - e.begin, v, false };
        break;
    }
    case CXCursor_FunctionDecl: walk_function_used(fe, c, decl, e.end - e.begin); break;
    case CXCursor_EnumConstantDecl:
        *VEC_PUSH(fe->a, &fe->typerefs) =
            (struct fe_typeref){ e.begin, e.end - e.begin, fe_location(fe, decl) };
        break;
    default: break;
    }
}
