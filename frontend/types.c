/* types.c - struct omp_type from libclang types, and names for types that have none outside of a
 * function.
 *
 * Spellings must be usable anywhere in the device text.  A type declared inside a function gets the
 * name __omp_NAME_FUNCTION and an unnamed one __omp_unnamed_N, with the unit's prefix;
 * unit->renames carries both into copied text, unit->local_types into file scope. */
#include "frontend/fe.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *spell(struct fe *, CXType, const char *inner);

static const char *take(struct fe *fe, CXString s)
{
    const char *t = arena_strdup(fe->a, clang_getCString(s) ? clang_getCString(s) : "");
    clang_disposeString(s);
    return t;
}

/* ------------------------------------------------------------------ local types */
static struct fe_localtype *local_at(struct fe *fe, unsigned decl)
{
    for (unsigned i = 0; i < fe->localtypes.n; i++)
        if (fe->localtypes.at[i].decl == decl)
            return &fe->localtypes.at[i];
    return NULL;
}

static bool name_taken(struct fe *fe, const char *name)
{
    for (unsigned i = 0; i < fe->localtypes.n; i++)
        if (fe->localtypes.at[i].new_name && !strcmp(fe->localtypes.at[i].new_name, name))
            return true;
    return false;
}

static const char *fresh_name(struct fe *fe, const char *old, const char *function)
{
    const char *p = fe->u->prefix,
               *base = *old ? arena_printf(fe->a, "%s%s_%s", p, old, function)
                            : arena_printf(fe->a, "%sunnamed_%s_%u", p, function, ++fe->unnamed);
    const char *name = base;
    for (unsigned n = 2; name_taken(fe, name); n++)
        name = arena_printf(fe->a, "%s_%u", base, n);
    return name;
}

static const char *keyword_of(enum CXCursorKind k)
{
    return k == CXCursor_StructDecl  ? "struct"
           : k == CXCursor_UnionDecl ? "union"
           : k == CXCursor_EnumDecl  ? "enum"
                                     : "";
}

static bool variably_modified(CXType t)
{
    t = clang_getCanonicalType(t);
    switch (t.kind) {
    case CXType_VariableArray: return true;
    case CXType_ConstantArray:
    case CXType_IncompleteArray: return variably_modified(clang_getArrayElementType(t));
    case CXType_Pointer: return variably_modified(clang_getPointeeType(t));
    default: return false;
    }
}

/* Its text is the declaration up to the ';', with all that it declares. */
static bool is_whole(const struct fe_localtype *l) { return l->is_typedef || l->is_constexpr; }

void fe_note_local_type(struct fe *fe, CXCursor c)
{
    unsigned at = fe_location(fe, c);
    if (local_at(fe, at) || fe_inside(at, fe->in->f->defines))
        return;
    enum CXCursorKind k = clang_getCursorKind(c);
    const char *name = clang_Cursor_isAnonymous(c) ? "" : take(fe, clang_getCursorSpelling(c));
    bool constant = k == CXCursor_EnumConstantDecl, is_typedef = k == CXCursor_TypedefDecl,
         is_constexpr = k == CXCursor_VarDecl;
    size_t n = strlen(name);
    /* clang lends a typedef's name to an unnamed struct */
    if (strncmp(fe->u->text + at, name, n)) {
        name = "";
        n = 0;
    }
    const char *fresh = fresh_name(fe, name, fe->in->f->name);
    struct fe_localtype *l = VEC_PUSH(fe->a, &fe->localtypes);
    *l = (struct fe_localtype){ .decl = at,
                                .extent = fe_extent(fe, c),
                                .name_at = at,
                                .name_length = (unsigned)n,
                                .old_name = name,
                                .keyword = keyword_of(k),
                                .is_typedef = is_typedef,
                                .is_constant = constant,
                                .is_constexpr = is_constexpr,
                                .function = fe->in->f,
                                .cursor = c };
    l->new_name = fresh;
    l->definition = is_whole(l) || (!constant && clang_isCursorDefinition(c));
    if (is_typedef)
        l->variably_modified = variably_modified(clang_getTypedefDeclUnderlyingType(c));
    if (is_constexpr) /* with the type that it may define */
        l->extent.begin = fe->declaration;
    if (is_whole(l))
        l->extent.end = fe_find_semicolon(fe->u, l->extent.end);
}

/* A name for the unnamed struct, union or enum that begins there. */
static void insert_tag(struct fe *fe, unsigned begin, const char *name)
{
    const char *t = fe->u->text;
    unsigned brace = begin + (unsigned)strcspn(t + begin, "{");
    bool word = isalnum((unsigned char)t[brace - 1]);
    *VEC_PUSH(fe->a, &fe->renames) =
        (struct omp_rename){ brace, 0, arena_printf(fe->a, "%s%s ", word ? " " : "", name) };
}

/* Name of the tag or typedef that d declares, with its keyword; NULL: clang's own spelling will do.
 */
static const char *declared_name(struct fe *fe, CXCursor d)
{
    enum CXCursorKind k = clang_getCursorKind(d);
    CXCursor definition = clang_getCursorDefinition(d);
    if (!clang_Cursor_isNull(definition))
        d = definition;
    unsigned at = fe_location(fe, d);
    /* of an expression that the walk has come to, but not to the type in it */
    if (fe->in && *keyword_of(k) && fe_inside(at, fe_extent(fe, fe->in->cursor)))
        fe_note_local_type(fe, d);
    struct fe_localtype *l = local_at(fe, at);
    if (l)
        return l->variably_modified ? NULL
               : *l->keyword        ? arena_printf(fe->a, "%s %s", l->keyword, l->new_name)
                                    : l->new_name;
    if (k == CXCursor_TypedefDecl || !clang_Cursor_isAnonymous(d))
        return NULL;
    const char *lent = take(fe, clang_getCursorSpelling(d));
    if (*lent && !strchr(lent, '('))
        return lent; /* the typedef's name */
    const char *name = NULL;
    for (unsigned i = 0; i < fe->unnamed_tags.n && !name; i++)
        if (fe->unnamed_tags.at[i].decl == at)
            name = fe->unnamed_tags.at[i].name;
    if (!name) {
        name = arena_printf(fe->a, "%sunnamed_%u", fe->u->prefix, ++fe->unnamed);
        *VEC_PUSH(fe->a, &fe->unnamed_tags) = (struct fe_unnamed_tag){ at, name };
        insert_tag(fe, fe_begin(fe, d), name);
    }
    return arena_printf(fe->a, "%s %s", keyword_of(k), name);
}

const char *fe_tag_name(struct fe *fe, CXCursor tag)
{
    const char *name = declared_name(fe, tag);
    return name ? name : take(fe, clang_getTypeSpelling(clang_getCursorType(tag)));
}

/* ------------------------------------------------------------------ spelling */
static const char *qualified(struct fe *fe, CXType t, const char *inner)
{
    return arena_printf(fe->a, "%s%s%s%s", clang_isConstQualifiedType(t) ? "const " : "",
                        clang_isVolatileQualifiedType(t) ? "volatile " : "",
                        clang_isRestrictQualifiedType(t) ? "restrict " : "", inner);
}

static const char *spell_function(struct fe *fe, CXType t, const char *inner)
{
    const char *args = "";
    int n = clang_getNumArgTypes(t);
    for (int i = 0; i < n; i++)
        args = arena_printf(fe->a, "%s%s%s", args, i ? ", " : "",
                            spell(fe, clang_getArgType(t, (unsigned)i), ""));
    if (clang_isFunctionTypeVariadic(t))
        args = arena_printf(fe->a, "%s%s...", args, n > 0 ? ", " : "");
    if (t.kind == CXType_FunctionProto && !*args)
        args = "void";
    return spell(fe, clang_getResultType(t), arena_printf(fe->a, "%s(%s)", inner, args));
}

static const char *join(struct fe *fe, const char *base, const char *inner)
{
    return *inner ? arena_printf(fe->a, "%s %s", base, inner) : base;
}

static const char *spell_pointer(struct fe *fe, CXType t, const char *inner)
{
    CXType p = clang_getPointeeType(t), canonical = clang_getCanonicalType(p);
    bool parens =
        canonical.kind == CXType_ConstantArray || canonical.kind == CXType_IncompleteArray ||
        canonical.kind == CXType_FunctionProto || canonical.kind == CXType_FunctionNoProto;
    if (canonical.kind != p.kind && p.kind != CXType_Unexposed)
        parens = p.kind == CXType_ConstantArray;
    const char *star = arena_printf(fe->a, "*%s", qualified(fe, t, inner));
    return spell(fe, p, parens ? arena_printf(fe->a, "(%s)", star) : star);
}

static const char *spell_declared(struct fe *fe, CXType t, const char *inner)
{
    CXCursor d = clang_getTypeDeclaration(t);
    const char *name = declared_name(fe, d);
    if (!name && clang_getCursorKind(d) == CXCursor_TypedefDecl)
        name = take(fe, clang_getCursorSpelling(d));
    if (!name) /* has its own qualifiers */
        return join(fe, take(fe, clang_getTypeSpelling(t)), inner);
    return join(fe, qualified(fe, t, name), inner);
}

/* typeof, parentheses, attributes */
static const char *spell_canonical(struct fe *fe, CXType t, const char *inner)
{
    CXType c = clang_getCanonicalType(t);
    return c.kind != t.kind ? spell(fe, c, inner)
                            : join(fe, take(fe, clang_getTypeSpelling(t)), inner);
}

/* C declaration syntax grows from the inside out: `inner` is the declarator so far. */
static const char *spell(struct fe *fe, CXType t, const char *inner)
{
    switch (t.kind) {
    case CXType_Pointer: return spell_pointer(fe, t, inner);
    case CXType_ConstantArray:
        return spell(fe, clang_getArrayElementType(t),
                     arena_printf(fe->a, "%s[%lld]", inner, clang_getArraySize(t)));
    case CXType_IncompleteArray:
        return spell(fe, clang_getArrayElementType(t), arena_printf(fe->a, "%s[]", inner));
    case CXType_FunctionProto:
    case CXType_FunctionNoProto: return spell_function(fe, t, inner);
    case CXType_Elaborated:
    case CXType_Typedef:
    case CXType_Record:
    case CXType_Enum: return spell_declared(fe, t, inner);
    case CXType_Unexposed:
    case CXType_Auto:
    case CXType_Attributed: return spell_canonical(fe, t, inner);
    default: return join(fe, take(fe, clang_getTypeSpelling(t)), inner);
    }
}

const char *fe_declaration(struct fe *fe, CXCursor function)
{
    bool is_static = clang_Cursor_getStorageClass(function) == CX_SC_Static;
    const char *name = take(fe, clang_getCursorSpelling(function));
    return arena_printf(fe->a, "%s%s;", is_static ? "static " : "",
                        spell(fe, clang_getCursorType(function), name));
}

/* ------------------------------------------------------------------ omp_type */
static enum omp_type_kind kind_of(CXType c)
{
    if (c.kind == CXType_Bool)
        return OMPT_BOOL;
    if (c.kind == CXType_Enum || (c.kind >= CXType_Char_U && c.kind <= CXType_Int128))
        return OMPT_INT;
    switch (c.kind) {
    case CXType_Float:
    case CXType_Double:
    case CXType_LongDouble:
    case CXType_Float128:
    case CXType_Half:
    case CXType_Float16:
    case CXType_BFloat16: return OMPT_FLOAT;
    case CXType_Complex: return OMPT_COMPLEX;
    case CXType_Pointer: return OMPT_POINTER;
    case CXType_ConstantArray:
    case CXType_IncompleteArray:
    case CXType_VariableArray: return OMPT_ARRAY;
    case CXType_Record: return OMPT_RECORD;
    default: return OMPT_OTHER;
    }
}

static bool is_signed(CXType c)
{
    if (c.kind == CXType_Enum)
        c = clang_getCanonicalType(clang_getEnumDeclIntegerType(clang_getTypeDeclaration(c)));
    return (c.kind >= CXType_Char_S && c.kind <= CXType_Int128) || c.kind == CXType_Float ||
           c.kind == CXType_Double || c.kind == CXType_LongDouble || c.kind == CXType_Float16 ||
           c.kind == CXType_Half;
}

static void element_type(struct fe *fe, struct omp_type *t, CXType c)
{
    if (t->kind == OMPT_POINTER) {
        t->elem = fe_type(fe, clang_getPointeeType(c));
    } else if (t->kind == OMPT_ARRAY) {
        t->elem = fe_type(fe, clang_getArrayElementType(c));
        t->vla = c.kind == CXType_VariableArray;
        if (c.kind == CXType_ConstantArray)
            t->bound = (uint64_t)clang_getArraySize(c);
        t->is_const |= t->elem->is_const;
        t->is_long_double |= t->elem->is_long_double;
    }
    if (t->elem)
        t->variably_modified = t->vla || t->elem->variably_modified;
}

struct omp_type *fe_type(struct fe *fe, CXType written)
{
    CXType c = clang_getCanonicalType(written);
    if (c.kind == CXType_Atomic)
        c = clang_getCanonicalType(clang_Type_getValueType(c));
    struct omp_type *t = arena_alloc(fe->a, sizeof *t);
    t->kind = kind_of(c);
    t->is_signed = is_signed(c);
    t->is_const = clang_isConstQualifiedType(clang_getCanonicalType(written));
    t->is_long_double =
        c.kind == CXType_LongDouble ||
        (c.kind == CXType_Complex && clang_getElementType(c).kind == CXType_LongDouble);
    long long size = clang_Type_getSizeOf(c);
    t->size = size > 0 ? (uint64_t)size : 0;
    long long alignment = clang_Type_getAlignOf(written);
    t->alignment = alignment > 0 ? (uint64_t)alignment : 0;
    if (t->kind == OMPT_POINTER || t->kind == OMPT_ARRAY) {
        CXType w = written; /* keep the user's typedef names of elements where the type is written
                               plainly */
        element_type(fe, t, w.kind == c.kind ? w : c);
    }
    if (!t->variably_modified) {
        bool plain = t->kind == OMPT_ARRAY || !t->is_const;
        CXType w = plain ? written : clang_getUnqualifiedType(written);
        t->spelling = spell(fe, w, "");
        if (!plain && clang_isVolatileQualifiedType(written))
            t->spelling = arena_printf(fe->a, "volatile %s", t->spelling);
        if (t->vla)
            t->size = 0;
    } else if (t->kind != OMPT_POINTER) {
        t->size = 0;
    }
    return t;
}

/* ------------------------------------------------------------------ hoisting */
/* Text of [b, e) with every reference to a local type renamed. */
static const char *renamed_text(struct fe *fe, unsigned b, unsigned e)
{
    const char *out = "";
    unsigned at = b;
    for (unsigned i = 0; i < fe->renames.n; i++) {
        const struct omp_rename *r = &fe->renames.at[i];
        if (r->offset < at || r->offset >= e)
            continue;
        out =
            arena_printf(fe->a, "%s%.*s%s", out, (int)(r->offset - at), fe->u->text + at, r->text);
        at = r->offset + r->length;
    }
    return arena_printf(fe->a, "%s%.*s", out, (int)(e - at), fe->u->text + at);
}

/* Only the type of a local variable can matter in a type: __typeof__(v), sizeof v.  At file scope
 * it is that of an expression without the variable, where the type has a name there. */
static bool uses_variable_type(struct fe *fe, struct omp_extent e)
{
    FE_EACH(r, fe->refs, e)
        if (r->var->storage != OMPS_GLOBAL && r->var->type->variably_modified)
            return true;
    return false;
}

static void replace_variables(struct fe *fe, struct omp_extent e)
{
    FE_EACH(r, fe->refs, e)
        if (r->var->storage != OMPS_GLOBAL)
            *VEC_PUSH(fe->a, &fe->renames) =
                (struct omp_rename){ r->offset, r->length,
                                     arena_printf(fe->a, "(*(__typeof__(%s) *)0)",
                                                  r->var->type->spelling) };
}

static bool has_device_construct(const struct omp_construct *c)
{
    for (; c; c = c->next)
        if (c->on_device || (c->leaves & OMPL_TARGET) || has_device_construct(c->child))
            return true;
    return false;
}

static int by_rename(const void *a, const void *b)
{
    const struct omp_rename *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->length == y->length ? 0 : x->length > y->length ? -1 : 1;
}
static void sort_renames(struct fe *fe)
{
    if (fe->renames.n)
        qsort(fe->renames.at, fe->renames.n, sizeof *fe->renames.at, by_rename);
}

static void rename_references(struct fe *fe)
{
    for (unsigned i = 0; i < fe->typerefs.n; i++) {
        struct fe_typeref *r = &fe->typerefs.at[i];
        struct fe_localtype *l = local_at(fe, r->decl);
        if (l && l->hoisted)
            *VEC_PUSH(fe->a, &fe->renames) =
                (struct omp_rename){ r->offset, r->length, l->new_name };
    }
}

/* Renames of what declarations name: only for the hoisted text. */
static void rename_declarations(struct fe *fe)
{
    for (unsigned i = 0; i < fe->localtypes.n; i++) {
        struct fe_localtype *l = &fe->localtypes.at[i];
        if (!l->hoisted)
            continue;
        if (l->name_length)
            *VEC_PUSH(fe->a, &fe->renames) =
                (struct omp_rename){ l->name_at, l->name_length, l->new_name };
        else if (!clang_Cursor_isAnonymousRecordDecl(
                     l->cursor)) /* whose members are the object's */
            insert_tag(fe, l->extent.begin, l->new_name);
        replace_variables(fe, l->extent);
    }
}

static int by_local_type(const void *a, const void *b)
{
    const struct fe_localtype *x = a, *y = b;
    if (x->extent.begin != y->extent.begin)
        return x->extent.begin < y->extent.begin ? -1 : 1;
    return (x->extent.end < y->extent.end) - (x->extent.end > y->extent.end); /* the outer one */
}

static bool refers_to_unhoisted(struct fe *fe, const struct fe_localtype *l)
{
    FE_EACH(r, fe->typerefs, l->extent) {
        const struct fe_localtype *m = local_at(fe, r->decl);
        if (m && m != l && !m->hoisted)
            return true;
    }
    return false;
}

static void choose_hoisted(struct fe *fe)
{
    for (unsigned i = 0; i < fe->localtypes.n; i++) {
        struct fe_localtype *l = &fe->localtypes.at[i];
        l->hoisted = has_device_construct(l->function->constructs) && !l->variably_modified &&
                     !uses_variable_type(fe, l->extent);
    }
    for (bool change = true; change;) { /* what is built on one that stays stays, too */
        change = false;
        for (unsigned i = 0; i < fe->localtypes.n; i++) {
            struct fe_localtype *l = &fe->localtypes.at[i];
            if (l->hoisted && refers_to_unhoisted(fe, l)) {
                l->hoisted = false;
                change = true;
            }
        }
    }
}

bool fe_enters_construct(const struct fe *fe, unsigned from, unsigned to)
{
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        const struct omp_construct *c = fe->u->constructs[i];
        if ((c->on_device || (c->leaves & OMPL_TARGET)) && fe_inside(to, c->body) &&
            !fe_inside(from, c->body))
            return true;
    }
    return false;
}

/* A type that stays inside its function cannot be named in a function that is outlined from there.
 */
static void check_unhoisted(struct fe *fe)
{
    for (unsigned i = 0; i < fe->typerefs.n; i++) {
        const struct fe_typeref *r = &fe->typerefs.at[i];
        const struct fe_localtype *l = local_at(fe, r->decl);
        if (l && !l->hoisted && !l->carried && fe_enters_construct(fe, l->decl, r->offset))
            fe_unsupported(fe, fe_place(fe->u, r->offset), UNSUPPORTED_DEPENDENT_TYPE, l->old_name,
                           NULL);
    }
}

typedef VEC(struct omp_rename) rename_list;

/* The definition at file scope, with the new names. */
static struct omp_decl hoisted_decl(struct fe *fe, const struct fe_localtype *l, unsigned end)
{
    const char *text = renamed_text(fe, l->extent.begin, end);
    return (struct omp_decl){ .kind = l->is_constexpr ? OMPD_VARIABLE
                                      : l->is_typedef ? OMPD_TYPEDEF
                                                      : OMPD_TYPE,
                              .extent = { l->extent.begin, end },
                              .device = true,
                              .function = l->function,
                              .place = fe_place(fe->u, l->extent.begin),
                              .text = is_whole(l) ? text : arena_printf(fe->a, "%s;", text) };
}

/* The tag's definition in the function becomes a reference, unless it is inside of another one. */
static void replace_definition(struct fe *fe, const struct fe_localtype *l, unsigned end,
                               rename_list *definitions)
{
    const struct omp_rename *last = definitions->n ? &definitions->at[definitions->n - 1] : NULL;
    if (last && last->offset + last->length > l->extent.begin)
        return;
    /* `struct S;` in an inner scope would be another type */
    bool alone = fe->u->text[fe_skip_space(fe->u, end)] == ';';
    *VEC_PUSH(fe->a, definitions) =
        (struct omp_rename){ l->extent.begin, end - l->extent.begin,
                             alone ? "" : arena_printf(fe->a, "%s %s", l->keyword, l->new_name) };
}

static bool is_inside_one(const rename_list *definitions, unsigned offset)
{
    for (unsigned i = 0; i < definitions->n; i++) {
        const struct omp_rename *d = &definitions->at[i];
        if (offset >= d->offset && offset < d->offset + d->length)
            return true;
    }
    return false;
}

/* What bodies get: the definitions' replacements, and the references outside of these. */
static void set_renames(struct fe *fe, const rename_list *references,
                        const rename_list *definitions)
{
    fe->renames.n = 0;
    for (unsigned i = 0; i < references->n; i++)
        if (!is_inside_one(definitions, references->at[i].offset))
            *VEC_PUSH(fe->a, &fe->renames) = references->at[i];
    for (unsigned i = 0; i < definitions->n; i++)
        *VEC_PUSH(fe->a, &fe->renames) = definitions->at[i];
    sort_renames(fe);
}

/* Renames so far name unnamed file-scope types; add those of local types, build the texts, then
 * replace the definitions in bodies by references. */
void fe_hoist_types(struct fe *fe)
{
    VEC(struct omp_decl) out = { 0 };
    rename_list references = { 0 }, definitions = { 0 };
    unsigned covered = 0;
    if (fe->localtypes.n)
        qsort(fe->localtypes.at, fe->localtypes.n, sizeof *fe->localtypes.at, by_local_type);
    choose_hoisted(fe);
    check_unhoisted(fe);
    rename_references(fe);
    for (unsigned i = 0; i < fe->renames.n; i++)
        *VEC_PUSH(fe->a, &references) = fe->renames.at[i];
    rename_declarations(fe);
    sort_renames(fe);
    for (unsigned i = 0; i < fe->localtypes.n; i++) {
        const struct fe_localtype *l = &fe->localtypes.at[i];
        if (!l->hoisted || l->is_constant || !l->definition)
            continue;
        unsigned end = is_whole(l) ? l->extent.end : fe_attributes_end(fe->u, l->extent.end);
        if (l->extent.begin >= covered) {
            *VEC_PUSH(fe->a, &out) = hoisted_decl(fe, l, end);
            covered = end;
        }
        if (!is_whole(l))
            replace_definition(fe, l, end, &definitions);
    }
    set_renames(fe, &references, &definitions);
    fe->u->local_types = out.at;
    fe->u->nlocal_types = out.n;
}
