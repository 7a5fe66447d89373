/* functions.c - functions, by name, and what their declarations say.  The bodies of those of system
 * headers wait until a function that is walked refers to them. */
#include <string.h>
#include "frontend/walk/walk.h"

static unsigned hash_name(const char *s, unsigned n)
{
    unsigned h = 2166136261u;
    for (unsigned i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h;
}

/* ------------------------------------------------------------------ functions */
struct fe_function *fe_function_named(struct fe *fe, const char *name, unsigned length)
{
    unsigned mask = fe->function_table_size - 1;
    for (unsigned i = hash_name(name, length) & mask; fe->function_table[i].f; i = (i + 1) & mask) {
        const char *have = fe->function_table[i].f->f->name;
        if (!strncmp(have, name, length) && !have[length])
            return fe->function_table[i].f;
    }
    return NULL;
}

static void function_insert(struct fe *fe, struct fe_function *f)
{
    unsigned mask = fe->function_table_size - 1,
             i = hash_name(f->f->name, (unsigned)strlen(f->f->name)) & mask;
    while (fe->function_table[i].f)
        i = (i + 1) & mask;
    fe->function_table[i].f = f;
}

static void function_table_grow(struct fe *fe)
{
    fe->function_table_size = fe->function_table_size ? fe->function_table_size * 2 : 1024;
    fe->function_table = arena_alloc(fe->a, fe->function_table_size * sizeof *fe->function_table);
    for (unsigned i = 0; i < fe->functions.n; i++)
        function_insert(fe, fe->functions.at[i]);
}

struct fe_function *fe_function_of(struct fe *fe, const struct omp_function *function)
{
    unsigned mask = fe->function_table_size - 1,
             i = hash_name(function->name, (unsigned)strlen(function->name)) & mask;
    while (fe->function_table[i].f->f != function)
        i = (i + 1) & mask;
    return fe->function_table[i].f;
}

static bool has_same_symbol(CXCursor a, CXCursor b)
{
    CXString x = clang_Cursor_getMangling(a), y = clang_Cursor_getMangling(b);
    bool same = !strcmp(clang_getCString(x), clang_getCString(y));
    clang_disposeString(x);
    clang_disposeString(y);
    return same;
}

/* The function of that name; of several, which have the attribute overloadable, this one. */
static struct fe_function *function_declared(struct fe *fe, CXCursor c, const char *name)
{
    CXCursor first = clang_getCanonicalCursor(c);
    unsigned mask = fe->function_table_size - 1;
    for (unsigned i = hash_name(name, (unsigned)strlen(name)) & mask; fe->function_table[i].f;
         i = (i + 1) & mask) {
        struct fe_function *f = fe->function_table[i].f;
        if (!strcmp(f->f->name, name) &&
            (clang_equalCursors(f->first, first) || has_same_symbol(f->first, first)))
            return f;
    }
    return NULL;
}

static struct fe_function *function_of(struct fe *fe, CXCursor c)
{
    CXString s = clang_getCursorSpelling(c);
    const char *name = clang_getCString(s);
    if (fe->functions.n * 2 >= fe->function_table_size)
        function_table_grow(fe);
    struct fe_function *f = function_declared(fe, c, name);
    if (!f) {
        f = arena_alloc(fe->a, sizeof *f);
        f->f = arena_alloc(fe->a, sizeof *f->f);
        f->f->name = arena_strdup(fe->a, name);
        f->cursor = c;
        f->first = clang_getCanonicalCursor(c);
        f->decl = fe_location(fe, c);
        f->f->place = fe_place(fe->u, f->decl);
        f->system = !clang_Cursor_isNull(c) && fe_is_system(fe, f->decl);
        *VEC_PUSH(fe->a, &fe->functions) = f;
        function_insert(fe, f);
    }
    clang_disposeString(s);
    return f;
}

static CXCursor body_of(struct fe *fe, CXCursor function)
{
    fe_cursors v = { 0 };
    fe_children(fe, function, &v);
    return v.n && clang_getCursorKind(v.at[v.n - 1]) == CXCursor_CompoundStmt
               ? v.at[v.n - 1]
               : clang_getNullCursor();
}

void walk_body(struct fe *fe, struct fe_function *f)
{
    struct fe_function *outer = fe->in;
    unsigned scope = fe->scope_end;
    f->visited = true;
    fe->in = f;
    fe->scope_end = f->f->extent.end;
    walk_children(fe, f->cursor);
    fe->in = outer;
    fe->scope_end = scope;
}

static void note_parameters(struct fe *fe, CXCursor prototype, unsigned begin)
{
    for (int i = 0, n = clang_Cursor_getNumArguments(prototype); i < n; i++)
        if (walk_has_run_time_bound(
                clang_getCursorType(clang_Cursor_getArgument(prototype, (unsigned)i)))) {
            *VEC_PUSH(fe->a, &fe->not_for_nvptx) = begin;
            return;
        }
}

/* The attribute's name; libclang has no kinds for these, but it knows where they are. */
static const char *word_of_attribute(struct fe *fe, CXCursor attribute, unsigned *end)
{
    struct fe_token word;
    if (clang_getCursorKind(attribute) != CXCursor_UnexposedAttr ||
        !fe_next_token(fe->u, fe_begin(fe, attribute), &word))
        return "";
    *end = word.end;
    return fe_text(fe, (struct omp_extent){ word.begin, word.end });
}

static bool is_spelled(const char *word, const char *name)
{
    const char *plain = strncmp(word, "__", 2) ? word : word + 2;
    size_t n = strlen(name);
    return !strncmp(plain, name, n) && (!plain[n] || !strcmp(plain + n, "__"));
}

/* alias("name") */
const char *walk_alias(struct fe *fe, CXCursor declaration)
{
    fe_cursors v = { 0 };
    struct fe_token open, name;
    unsigned end;
    if (clang_Cursor_hasAttrs(declaration))
        fe_children(fe, declaration, &v);
    for (unsigned i = 0; i < v.n; i++)
        if (is_spelled(word_of_attribute(fe, v.at[i], &end), "alias") &&
            fe_next_token(fe->u, end, &open) && fe_next_token(fe->u, open.end, &name))
            return fe_text(fe, (struct omp_extent){ name.begin + 1, name.end - 1 });
    return NULL;
}

/* What calls it when the program begins or ends. */
static void find_starts(struct fe *fe, struct fe_function *f, CXCursor c)
{
    static const char *const names[] = { "constructor", "destructor" };
    fe_cursors v = { 0 };
    unsigned end;
    if (clang_Cursor_hasAttrs(c))
        fe_children(fe, c, &v);
    for (unsigned i = 0; i < v.n; i++)
        for (unsigned k = 0; k < FE_STARTS; k++)
            if (is_spelled(word_of_attribute(fe, v.at[i], &end), names[k])) {
                struct omp_extent priority = walk_operand_after(fe, end);
                f->starts[k] = priority.end ? fe_text(fe, priority) : "65535";
            }
}

/* What the result is made of. */
static CXCursor tag_of_result(CXCursor function)
{
    CXType t = clang_getCursorResultType(function), inner = t;
    while (inner.kind != CXType_Invalid) {
        t = inner;
        inner = clang_getPointeeType(t);
        if (inner.kind == CXType_Invalid)
            inner = clang_getArrayElementType(t);
        if (inner.kind == CXType_Invalid)
            inner = clang_getResultType(t);
    }
    return clang_getTypeDeclaration(t);
}

static void find_defined(struct fe *fe, struct omp_function *f, CXCursor c, struct omp_extent head)
{
    CXCursor tag = tag_of_result(c);
    enum CXCursorKind k = clang_getCursorKind(tag);
    bool is_tag = k == CXCursor_StructDecl || k == CXCursor_UnionDecl || k == CXCursor_EnumDecl;
    if (!is_tag || !clang_isCursorDefinition(tag) || !fe_inside(fe_begin(fe, tag), head))
        return;
    f->defines = fe_extent(fe, tag);
    f->defines.end = fe_attributes_end(fe->u, f->defines.end);
    f->defined_name = fe_tag_name(fe, tag);
}

void walk_on_function(struct fe *fe, CXCursor c)
{
    struct fe_function *f = function_of(fe, c);
    struct omp_extent e = fe_extent(fe, c);
    bool definition = clang_isCursorDefinition(c);
    find_starts(fe, f, c);
    if (!definition)
        e.end = walk_decl_end(fe, e.end);
    struct omp_decl *d = walk_add_decl(fe, definition ? OMPD_FUNCTION : OMPD_PROTOTYPE, e);
    d->function = f->f;
    d->place = fe_place(fe->u, fe_location(fe, c));
    find_defined(fe, f->f, c, e);
    f->f->is_static |= clang_Cursor_getStorageClass(c) == CX_SC_Static;
    f->f->is_inline |= clang_Cursor_isFunctionInlined(c);
    f->f->is_variadic |= clang_Cursor_isVariadic(c);
    if (!definition) {
        *VEC_PUSH(fe->a, &fe->prototypes) = (struct fe_prototype){ e.begin, f->f, c };
        if (!f->system && !f->alias)
            f->alias = walk_alias(fe, c);
        if (!f->system)
            note_parameters(fe, c, e.begin);
        return;
    }
    f->cursor = c;
    f->f->defined = true;
    f->f->extent = e;
    f->f->body = fe_extent(fe, body_of(fe, c));
    f->f->place = d->place;
    f->f->system = f->system = fe_is_system(fe, fe_location(fe, c));
    if (!f->system)
        walk_body(fe, f);
}

void walk_function_used(struct fe *fe, CXCursor ref, CXCursor decl, unsigned length)
{
    struct fe_function *f = function_of(fe, decl);
    *VEC_PUSH(fe->a, &fe->frefs) = (struct fe_fref){ fe_begin(fe, ref), length, f, false };
    if (f->system && !f->visited)
        *VEC_PUSH(fe->a, &fe->pending) = f;
}

/* cleanup(function), which the end of the variable's block calls */
void walk_on_attribute(struct fe *fe, CXCursor c)
{
    struct fe_token open, name;
    unsigned end;
    if (!is_spelled(word_of_attribute(fe, c, &end), "cleanup") ||
        !fe_next_token(fe->u, end, &open) || !fe_next_token(fe->u, open.end, &name))
        return;
    unsigned length = name.end - name.begin;
    struct fe_function *f = fe_function_named(fe, fe->u->text + name.begin, length);
    if (f)
        *VEC_PUSH(fe->a, &fe->frefs) = (struct fe_fref){ name.begin, length, f, false };
}
