/* ast.c - one walk over libclang's tree.
 *
 * The text is parsed without -fopenmp, so the bodies of OpenMP constructs are plain statements. The
 * walk collects what the later passes need and no tree of its own: declarations with extents,
 * variables with scopes, every use of a variable or a function, references to types, and the
 * statements that pragmas wait for.  Functions of system headers are walked only when a function
 * that is walked refers to them. */
#include "frontend/fe.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void walk_children(struct fe *, CXCursor);

/* ------------------------------------------------------------------ small helpers */
/* In what libclang sees; offsets everywhere else are the user's. */
static unsigned seen_offset(CXSourceLocation l)
{
    unsigned offset;
    clang_getSpellingLocation(l, NULL, NULL, NULL, &offset);
    return offset;
}
static unsigned offset_of(const struct fe *fe, CXSourceLocation l)
{
    return fe_text_offset(fe, seen_offset(l));
}
static unsigned seen_begin(CXCursor c)
{
    return seen_offset(clang_getRangeStart(clang_getCursorExtent(c)));
}
struct omp_extent fe_extent(const struct fe *fe, CXCursor c)
{
    CXSourceRange r = clang_getCursorExtent(c);
    return (struct omp_extent){ offset_of(fe, clang_getRangeStart(r)),
                                offset_of(fe, clang_getRangeEnd(r)) };
}
unsigned fe_begin(const struct fe *fe, CXCursor c) { return fe_text_offset(fe, seen_begin(c)); }
unsigned fe_location(const struct fe *fe, CXCursor c)
{
    return offset_of(fe, clang_getCursorLocation(c));
}

/* The probe that the cursor is, or NULL. */
static const struct fe_probe *probe_of(const struct fe *fe, CXCursor c)
{
    switch (clang_getCursorKind(c)) {
    case CXCursor_IfStmt:
    case CXCursor_DeclStmt:
    case CXCursor_StaticAssert:
    case CXCursor_FunctionDecl: return fe_probe_at(fe, seen_begin(c));
    default: return NULL;
    }
}

static const char *spelling_of(struct fe *fe, CXCursor c)
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
static CXCursor probed_statement(CXCursor c)
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
    while (probe_of(g->fe, c)) {
        if (clang_getCursorKind(c) != CXCursor_IfStmt)
            return CXChildVisit_Continue;
        c = probed_statement(c);
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

static struct fe_function *function_of(struct fe *fe, CXCursor c)
{
    CXString s = clang_getCursorSpelling(c);
    const char *name = clang_getCString(s);
    if (fe->functions.n * 2 >= fe->function_table_size)
        function_table_grow(fe);
    struct fe_function *f = fe_function_named(fe, name, (unsigned)strlen(name));
    if (!f) {
        f = arena_alloc(fe->a, sizeof *f);
        f->f = arena_alloc(fe->a, sizeof *f->f);
        f->f->name = arena_strdup(fe->a, name);
        f->cursor = c;
        f->decl = fe_location(fe, c);
        f->f->place = fe_place(fe->u, f->decl);
        f->system = !clang_Cursor_isNull(c) && fe_is_system(fe, f->decl);
        *VEC_PUSH(fe->a, &fe->functions) = f;
        function_insert(fe, f);
    }
    clang_disposeString(s);
    return f;
}

/* End of a declaration without body: after its ';'. */
static unsigned decl_end(struct fe *fe, unsigned end) { return fe_find_semicolon(fe->u, end); }

static struct omp_decl *add_decl(struct fe *fe, enum omp_decl_kind kind, struct omp_extent e)
{
    struct omp_decl *d = VEC_PUSH(fe->a, &fe->decls);
    *d = (struct omp_decl){ .kind = kind, .extent = e, .place = fe_place(fe->u, e.begin) };
    return d;
}

static CXCursor body_of(struct fe *fe, CXCursor function)
{
    fe_cursors v = { 0 };
    fe_children(fe, function, &v);
    return v.n && clang_getCursorKind(v.at[v.n - 1]) == CXCursor_CompoundStmt
               ? v.at[v.n - 1]
               : clang_getNullCursor();
}

static void walk_function(struct fe *fe, struct fe_function *f)
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

static bool has_run_time_bound(CXType type)
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

static void note_parameters(struct fe *fe, CXCursor prototype, unsigned begin)
{
    for (int i = 0, n = clang_Cursor_getNumArguments(prototype); i < n; i++)
        if (has_run_time_bound(
                clang_getCursorType(clang_Cursor_getArgument(prototype, (unsigned)i)))) {
            *VEC_PUSH(fe->a, &fe->run_time_bounds) = begin;
            return;
        }
}

static void on_function(struct fe *fe, CXCursor c)
{
    struct fe_function *f = function_of(fe, c);
    struct omp_extent e = fe_extent(fe, c);
    bool definition = clang_isCursorDefinition(c);
    if (!definition)
        e.end = decl_end(fe, e.end);
    struct omp_decl *d = add_decl(fe, definition ? OMPD_FUNCTION : OMPD_PROTOTYPE, e);
    d->function = f->f;
    d->place = fe_place(fe->u, fe_location(fe, c));
    f->f->is_static |= clang_Cursor_getStorageClass(c) == CX_SC_Static;
    f->f->is_inline |= clang_Cursor_isFunctionInlined(c);
    f->f->is_variadic |= clang_Cursor_isVariadic(c);
    if (!definition && !f->system)
        note_parameters(fe, c, e.begin);
    if (!definition)
        return;
    f->cursor = c;
    f->f->defined = true;
    f->f->extent = e;
    f->f->body = fe_extent(fe, body_of(fe, c));
    f->f->place = d->place;
    f->system = fe_is_system(fe, fe_location(fe, c));
    if (!f->system)
        walk_function(fe, f);
}

static void function_used(struct fe *fe, CXCursor ref, CXCursor decl, unsigned length)
{
    struct fe_function *f = function_of(fe, decl);
    *VEC_PUSH(fe->a, &fe->frefs) = (struct fe_fref){ fe_begin(fe, ref), length, f, false };
    if (f->system && !f->visited)
        *VEC_PUSH(fe->a, &fe->pending) = f;
}

/* ------------------------------------------------------------------ variables */
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

struct omp_var *fe_var_of(struct fe *fe, CXCursor decl)
{
    return fe->var_table_size ? var_slot(fe, fe_location(fe, clang_getCanonicalCursor(decl)))->var
                              : NULL;
}

static struct omp_var *new_var(struct fe *fe, CXCursor c, enum omp_storage storage)
{
    struct omp_var *v = arena_alloc(fe->a, sizeof *v);
    v->name = spelling_of(fe, c);
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
        fe->var_flags.at[v->id] |= FE_VAR_THREAD_LOCAL;
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

static void on_var(struct fe *fe, CXCursor c)
{
    bool parameter = clang_getCursorKind(c) == CXCursor_ParmDecl;
    enum CX_StorageClass sc = clang_Cursor_getStorageClass(c);
    struct omp_var *v = fe_var_of(fe, c);
    CXCursor init = clang_Cursor_getVarDeclInitializer(c);
    bool known = v != NULL, definition = sc != CX_SC_Extern || !clang_Cursor_isNull(init);
    bool file_scope = !fe->in || sc == CX_SC_Extern;
    if (!v) {
        v = new_var(fe, c,
                    parameter            ? OMPS_PARAM
                    : file_scope         ? OMPS_GLOBAL
                    : sc == CX_SC_Static ? OMPS_STATIC_LOCAL
                                         : OMPS_LOCAL);
        v->is_extern = !definition;
    }
    if (!known || (definition && !v->init.end))
        describe_var(fe, v, c);
    else if (clang_getCursorType(c).kind == CXType_ConstantArray && !v->type->size)
        v->type = fe_type(fe, clang_getCursorType(c));
    if (definition)
        v->is_extern = false;
    v->is_static |= sc == CX_SC_Static;
    unsigned at = fe_location(fe, c);
    if (fe->in && sc == CX_SC_Extern) {
        v->in_blocks = true; /* the device text calls it otherwise, and this declares nothing */
        *VEC_PUSH(fe->a, &fe->renames) =
            (struct omp_rename){ at, (unsigned)strlen(v->name),
                                 arena_printf(fe->a, "%sno_%s", fe->u->prefix, v->name) };
    }
    if (sc == CX_SC_Register)
        drop_register(fe, parameter ? fe_begin(fe, c) : fe->declaration, at,
                      at + (unsigned)strlen(v->name));
    if (file_scope) {
        struct omp_extent e = fe_extent(fe, c);
        struct omp_decl *d =
            add_decl(fe, OMPD_VARIABLE, (struct omp_extent){ e.begin, decl_end(fe, e.end) });
        d->var = v;
        d->place = fe_place(fe->u, at);
        d->tentative = !definition;
        v->is_weak |= !fe->in && is_weak(fe, c);
    }
    walk_children(fe, c);
}

static void on_reference(struct fe *fe, CXCursor c)
{
    CXCursor decl = clang_getCursorReferenced(c);
    struct omp_extent e = fe_extent(fe, c);
    switch (clang_getCursorKind(decl)) {
    case CXCursor_VarDecl:
    case CXCursor_ParmDecl: {
        struct omp_var *v = fe_var_of(fe, decl);
        if (v)
            *VEC_PUSH(fe->a, &fe->refs) = (struct omp_ref){ e.begin, e.end - e.begin, v, false };
        break;
    }
    case CXCursor_FunctionDecl: function_used(fe, c, decl, e.end - e.begin); break;
    case CXCursor_EnumConstantDecl:
        *VEC_PUSH(fe->a, &fe->typerefs) =
            (struct fe_typeref){ e.begin, e.end - e.begin, fe_location(fe, decl) };
        break;
    default: break;
    }
}

/* ------------------------------------------------------------------ writes */
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

static void on_binary(struct fe *fe, CXCursor c)
{
    if (clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign)
        mark_first(fe, c, &fe->writes);
    walk_children(fe, c);
}
static void on_compound_assign(struct fe *fe, CXCursor c)
{
    mark_first(fe, c, &fe->writes);
    walk_children(fe, c);
}
static void on_unary(struct fe *fe, CXCursor c)
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

static void on_asm(struct fe *fe, CXCursor c)
{
    fe_cursors v = { 0 };
    fe_children(fe, c, &v);
    for (unsigned i = 0; i < v.n; i++)
        mark_lvalue(fe, v.at[i], &fe->addrs);
    if (has_instructions(c))
        *VEC_PUSH(fe->a, &fe->marks) = (struct fe_mark){ fe_begin(fe, c), "inline assembly" };
    walk_children(fe, c);
}

/* ------------------------------------------------------------------ the rest */
static void on_call(struct fe *fe, CXCursor c)
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

static void on_declaration(struct fe *fe, CXCursor c)
{
    unsigned outer = fe->declaration;
    fe->declaration = fe_begin(fe, c);
    walk_children(fe, c);
    fe->declaration = outer;
}

static void on_scope(struct fe *fe, CXCursor c)
{
    unsigned outer = fe->scope_end;
    fe->scope_end = fe_extent(fe, c).end;
    walk_children(fe, c);
    fe->scope_end = outer;
}

/* At file scope. */
static void note_type_name(struct fe *fe, CXCursor c)
{
    CXString s = clang_getCursorSpelling(c);
    *VEC_PUSH(fe->a, &fe->type_names) =
        (struct omp_type_name){ fe_location(fe, c), arena_strdup(fe->a, clang_getCString(s)) };
    clang_disposeString(s);
}

static void on_tag(struct fe *fe, CXCursor c)
{
    if (fe->in)
        fe_note_local_type(fe, c);
    else {
        struct omp_extent e = fe_extent(fe, c);
        e.end = fe_attributes_end(fe->u, e.end);
        add_decl(fe, OMPD_TYPE, e);
        note_type_name(fe, c);
    }
    walk_children(fe, c);
}
static void on_typedef(struct fe *fe, CXCursor c)
{
    struct omp_extent e = fe_extent(fe, c);
    e.end = decl_end(fe, e.end);
    if (fe->in)
        fe_note_local_type(fe, c);
    else {
        add_decl(fe, OMPD_TYPEDEF, e);
        note_type_name(fe, c);
    }
    walk_children(fe, c);
}
static void on_constant(struct fe *fe, CXCursor c)
{
    if (fe->in)
        fe_note_local_type(fe, c);
    else
        note_type_name(fe, c);
    walk_children(fe, c);
}
static void on_type_ref(struct fe *fe, CXCursor c)
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
static void on_static_assert(struct fe *fe, CXCursor c)
{
    struct omp_extent e = fe_extent(fe, c);
    e.end = decl_end(fe, e.end);
    if (!fe->in)
        add_decl(fe, OMPD_STATIC_ASSERT, e);
    walk_children(fe, c);
}

static const struct {
    enum CXCursorKind kind;
    void (*handle)(struct fe *, CXCursor);
} handlers[] = {
    { CXCursor_FunctionDecl, on_function },
    { CXCursor_VarDecl, on_var },
    { CXCursor_ParmDecl, on_var },
    { CXCursor_DeclRefExpr, on_reference },
    { CXCursor_BinaryOperator, on_binary },
    { CXCursor_CompoundAssignOperator, on_compound_assign },
    { CXCursor_UnaryOperator, on_unary },
    { CXCursor_CallExpr, on_call },
    { CXCursor_CompoundStmt, on_scope },
    { CXCursor_ForStmt, on_scope },
    { CXCursor_IfStmt, on_scope },
    { CXCursor_WhileStmt, on_scope },
    { CXCursor_DoStmt, on_scope },
    { CXCursor_SwitchStmt, on_scope },
    { CXCursor_StructDecl, on_tag },
    { CXCursor_UnionDecl, on_tag },
    { CXCursor_EnumDecl, on_tag },
    { CXCursor_TypedefDecl, on_typedef },
    { CXCursor_EnumConstantDecl, on_constant },
    { CXCursor_TypeRef, on_type_ref },
    { CXCursor_StaticAssert, on_static_assert },
    { CXCursor_DeclStmt, on_declaration },
    { CXCursor_GCCAsmStmt, on_asm },
    { CXCursor_MSAsmStmt, on_asm },
};
static unsigned char handler_of[1024]; /* kind -> index + 1 */

static void find_statement(struct fe *fe, CXCursor c, enum CXCursorKind k)
{
    if (!clang_isStatement(k) && !clang_isExpression(k))
        return;
    unsigned at =
        fe_begin(fe, c); /* the pragmas' begins grow, and their `wanted` where it is set */
    unsigned i = fe_count_before(fe->pragmas.at, fe->pragmas.n, sizeof *fe->pragmas.at, at);
    while (i-- > 0) { /* the pragmas just in front of it, past stand-alone ones */
        struct fe_pragma *p = &fe->pragmas.at[i];
        if (p->wanted == at && !p->found) {
            p->found = true;
            p->stmt = c;
        } else if (p->wanted != at && fe_skip_blank(fe->u, p->extent.end) != at)
            break;
    }
}

static void note_long_double(struct fe *fe, CXCursor c, enum CXCursorKind k)
{
    if (!clang_isExpression(k) && k != CXCursor_VarDecl)
        return;
    CXType t = clang_getCursorType(c);
    if (t.kind == CXType_Typedef || t.kind == CXType_Elaborated)
        t = clang_getCanonicalType(t);
    if (t.kind == CXType_LongDouble)
        *VEC_PUSH(fe->a, &fe->marks) = (struct fe_mark){ fe_begin(fe, c), "long double" };
    if (t.kind == CXType_Float128)
        *VEC_PUSH(fe->a, &fe->marks) = (struct fe_mark){ fe_begin(fe, c), "__float128" };
}

/* Types with run-time bounds, of variables, their uses and casts. */
static void note_run_time_bound(struct fe *fe, CXCursor c, enum CXCursorKind k)
{
    if (k != CXCursor_VarDecl && k != CXCursor_DeclRefExpr && k != CXCursor_CStyleCastExpr)
        return;
    if (has_run_time_bound(clang_getCursorType(c)))
        *VEC_PUSH(fe->a, &fe->run_time_bounds) = fe_begin(fe, c);
}

struct probe_visit {
    struct fe *fe;
    const struct fe_probe *probe;
};

/* A parameter omp_in: `declare reduction` is for its type, too. */
static void note_reduction_type(struct fe *fe, const struct fe_probe *probe, CXCursor c)
{
    CXString name = clang_getCursorSpelling(c);
    if (!strcmp(clang_getCString(name), "omp_in"))
        *VEC_PUSH(fe->a, &fe->udr_types) =
            (struct fe_udr_type){ probe->pragma->extent.begin, fe->scope_end,
                                  clang_getCursorType(c) };
    clang_disposeString(name);
}

/* Uses in the operands of a probe, and the operands themselves. */
static enum CXChildVisitResult visit_operand(CXCursor c, CXCursor parent, CXClientData data)
{
    struct probe_visit *v = data;
    (void)parent;
    if (seen_begin(c) >= v->probe->end)
        return CXChildVisit_Continue; /* the statement after it */
    switch (clang_getCursorKind(c)) {
    case CXCursor_DeclRefExpr: on_reference(v->fe, c); break;
    case CXCursor_TypeRef: on_type_ref(v->fe, c); break;
    case CXCursor_ParenExpr: fe_found_operand(v->fe, v->probe, seen_begin(c), c); break;
    case CXCursor_ParmDecl: note_reduction_type(v->fe, v->probe, c); break;
    default: break;
    }
    return CXChildVisit_Recurse;
}

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
    struct fe *fe = data;
    enum CXCursorKind k = clang_getCursorKind(c);
    const struct fe_probe *probe = probe_of(fe, c);
    if (probe) {
        struct probe_visit v = { fe, probe };
        clang_visitChildren(c, visit_operand, &v);
        return k == CXCursor_IfStmt ? visit(probed_statement(c), parent, data)
                                    : CXChildVisit_Continue;
    }
    if (fe->in) {
        find_statement(fe, c, k);
        note_long_double(fe, c, k);
        note_run_time_bound(fe, c, k);
    }
    unsigned h = k < sizeof handler_of ? handler_of[k] : 0;
    if (h)
        handlers[h - 1].handle(fe, c);
    else
        walk_children(fe, c);
    return CXChildVisit_Continue;
}
static void walk_children(struct fe *fe, CXCursor c) { clang_visitChildren(c, visit, fe); }

/* ------------------------------------------------------------------ ends of statements */
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

/* ------------------------------------------------------------------ sorting */
static int by_unsigned(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x > y) - (x < y);
}
static int by_decl(const void *a, const void *b)
{
    const struct omp_decl *x = a, *y = b;
    if (x->extent.begin != y->extent.begin)
        return x->extent.begin < y->extent.begin ? -1 : 1;
    return x->extent.end == y->extent.end ? 0 : x->extent.end > y->extent.end ? -1 : 1;
}
#define SORT(v, by)                                                                                \
    do {                                                                                           \
        if ((v).n)                                                                                 \
            qsort((v).at, (v).n, sizeof *(v).at, by);                                              \
    } while (0)
/* libclang shows some subtrees twice (a type in front of two declarators, the syntactic form of an
 * initialiser). */
#define UNIQUE(v, key)                                                                             \
    do {                                                                                           \
        unsigned n_ = 0;                                                                           \
        for (unsigned i_ = 0; i_ < (v).n; i_++) {                                                  \
            if (n_ && (v).at[n_ - 1] key == (v).at[i_] key)                                        \
                continue;                                                                          \
            (v).at[n_++] = (v).at[i_];                                                             \
        }                                                                                          \
        (v).n = n_;                                                                                \
    } while (0)

const struct omp_ref *fe_ref_at(const struct fe *fe, unsigned offset)
{
    const struct omp_ref *r = FE_FIRST(fe->refs, offset);
    return r && r->offset == offset ? r : NULL;
}

static bool contains(const fe_offsets *v, unsigned offset)
{
    return v->n && bsearch(&offset, v->at, v->n, sizeof *v->at, by_unsigned);
}

/* A tag inside a typedef is part of the typedef's text; `typedef … T, *P` and `int f(void),
 * g(void)` are one text. */
static void drop_contained_decls(struct fe *fe)
{
    SORT(fe->decls, by_decl);
    unsigned n = 0, typedef_end = 0, tag_end = 0;
    const struct omp_decl *last = NULL;
    for (unsigned i = 0; i < fe->decls.n; i++) {
        struct omp_decl d = fe->decls.at[i];
        if (d.kind == OMPD_TYPE && (d.extent.begin < typedef_end || d.extent.begin < tag_end))
            continue;
        if (d.kind == OMPD_TYPEDEF && d.extent.begin < typedef_end)
            continue;
        if (d.kind == OMPD_TYPE && last && last->kind == OMPD_TYPE &&
            last->extent.begin == d.extent.begin)
            continue;
        if (d.kind == OMPD_TYPEDEF)
            typedef_end = d.extent.end;
        if (d.kind == OMPD_TYPE)
            tag_end = d.extent.end;
        fe->decls.at[n] = d;
        last = &fe->decls.at[n++];
    }
    fe->decls.n = n;
}

/* Of several declarations of one variable the one with the initialiser defines it, else the last
 * that is not extern. */
static void choose_definitions(struct fe *fe)
{
    struct omp_decl **chosen = arena_alloc(fe->a, (fe->vars.n + 1) * sizeof *chosen);
    for (unsigned i = 0; i < fe->decls.n; i++) {
        struct omp_decl *d = &fe->decls.at[i];
        if (d->kind != OMPD_VARIABLE)
            continue;
        struct omp_decl **c = &chosen[d->var->id];
        bool has_init = *c && fe_inside((*c)->var->init.begin, (*c)->extent) && (*c)->var->init.end;
        if (!*c || (!has_init && (!d->tentative || (*c)->tentative)))
            *c = d;
    }
    unsigned n = 0;
    for (unsigned i = 0; i < fe->decls.n; i++) {
        struct omp_decl d = fe->decls.at[i];
        if (d.kind == OMPD_VARIABLE) {
            if (&fe->decls.at[i] > chosen[d.var->id])
                continue;
            d.tentative = &fe->decls.at[i] != chosen[d.var->id];
            chosen[d.var->id] = d.tentative ? chosen[d.var->id] : &fe->decls.at[i];
        }
        fe->decls.at[n++] = d;
    }
    fe->decls.n = n;
}

void fe_finish_walk(struct fe *fe)
{
    SORT(fe->refs, by_unsigned);
    UNIQUE(fe->refs, .offset);
    SORT(fe->frefs, by_unsigned); /* offset is the first member of both */
    UNIQUE(fe->frefs, .offset);
    SORT(fe->typerefs, by_unsigned);
    UNIQUE(fe->typerefs, .offset);
    SORT(fe->type_names, by_unsigned);
    SORT(fe->writes, by_unsigned);
    SORT(fe->addrs, by_unsigned);
    SORT(fe->indirect, by_unsigned);
    SORT(fe->marks, by_unsigned);
    UNIQUE(fe->marks, .offset);
    for (unsigned i = 0; i < fe->refs.n; i++) {
        struct omp_ref *r = &fe->refs.at[i];
        bool addr = contains(&fe->addrs, r->offset);
        r->write = addr || contains(&fe->writes, r->offset);
        r->var->address_taken |= addr;
    }
    for (unsigned i = 0; i < fe->vars.n; i++)
        fe->vars.at[i]->address_taken |=
            fe->vars.at[i]->type->kind == OMPT_ARRAY || fe->vars.at[i]->type->kind == OMPT_RECORD;
    for (unsigned i = 0; i < fe->packs.n; i++) {
        struct omp_decl *d = add_decl(fe, OMPD_PRAGMA, fe->packs.at[i]);
        d->device = true;
    }
    drop_contained_decls(fe);
    choose_definitions(fe);
}

/* ------------------------------------------------------------------ parsing */
static int report_diagnostics(struct fe *fe)
{
    int errors = 0;
    for (unsigned i = 0, n = clang_getNumDiagnostics(fe->tu); i < n; i++) {
        CXDiagnostic d = clang_getDiagnostic(fe->tu, i);
        if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error) {
            CXString s = clang_getDiagnosticSpelling(d);
            fe_error(fe, offset_of(fe, clang_getDiagnosticLocation(d)), "%s", clang_getCString(s));
            clang_disposeString(s);
            errors++;
        }
        clang_disposeDiagnostic(d);
    }
    return errors;
}

static enum CXErrorCode parse_text(struct fe *fe, CXIndex index, int nargs, const char *const *args)
{
    struct CXUnsavedFile file = { "ompgpu-input.i", fe->seen.at, fe->seen.n };
    const char **v = arena_alloc(fe->a, ((size_t)nargs + 8) * sizeof *v);
    int n = 0;
    for (int i = 0; i < nargs; i++)
        v[n++] = args[i];
    v[n++] = "-x";
    v[n++] = "cpp-output";
    v[n++] = "-w";
    v[n++] = "-Wno-everything";
    return clang_parseTranslationUnit2(index, file.Filename, v, n, &file, 1, CXTranslationUnit_None,
                                       &fe->tu);
}

/* Arguments with errors; their number. */
static unsigned find_bad_operands(struct fe *fe)
{
    unsigned found = 0;
    for (unsigned i = 0, n = clang_getNumDiagnostics(fe->tu); i < n; i++) {
        CXDiagnostic d = clang_getDiagnostic(fe->tu, i);
        unsigned at = seen_offset(clang_getDiagnosticLocation(d));
        const struct fe_probe *probe = fe_probe_at(fe, at);
        if (probe && clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error) {
            fe_spoil_operands(fe, probe, at);
            found++;
        }
        clang_disposeDiagnostic(d);
    }
    return found;
}

/* Parses the text with probes, again without the arguments that have errors. */
static enum CXErrorCode parse_probed(struct fe *fe, CXIndex index, int nargs,
                                     const char *const *args)
{
    for (;;) {
        fe_write_probes(fe);
        enum CXErrorCode rc = parse_text(fe, index, nargs, args);
        if (rc != CXError_Success || !find_bad_operands(fe))
            return rc;
        clang_disposeTranslationUnit(fe->tu);
        fe->tu = NULL;
    }
}

int fe_walk(struct fe *fe, CXIndex index, int nargs, const char *const *args)
{
    for (unsigned i = 0; i < sizeof handlers / sizeof *handlers; i++)
        handler_of[handlers[i].kind] = (unsigned char)(i + 1);
    fe_hide_variants(fe);
    fe_collect_operands(fe);
    enum CXErrorCode rc = parse_probed(fe, index, nargs, args);
    if (rc != CXError_Success) {
        fe_report(fe->u, (struct omp_place){ "", 0, 0 }, DIAG_ERROR,
                  "libclang cannot parse %s (code %d)", fe->u->path, (int)rc);
        return -1;
    }
    if (report_diagnostics(fe))
        return -1;
    fe->scope_end = (unsigned)fe->u->length + 1;
    walk_children(fe, clang_getTranslationUnitCursor(fe->tu));
    for (unsigned i = 0; i < fe->pending.n; i++)
        if (!fe->pending.at[i]->visited && fe->pending.at[i]->f->defined)
            walk_function(fe, fe->pending.at[i]);
    return 0;
}
