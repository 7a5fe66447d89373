/* clause.c - expressions and list items of clauses, from the cursors that libclang has for them
 * (probe.c): types, values, what is read, and the path of a list item  s->p[i].q[0:n]  from its
 * variable to the storage. */
#include "frontend/reader.h"

/* ------------------------------------------------------------------ expressions */
struct effects {
    struct fe *fe;
    bool impure, reads_memory, other_types;
};

static enum CXChildVisitResult find_pure(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    enum CXCursorKind k = clang_getCursorKind(c);
    *(bool *)data |= k == CXCursor_PureAttr || k == CXCursor_ConstAttr;
    return CXChildVisit_Continue;
}

static bool calls_pure(CXCursor call)
{
    bool pure = false;
    clang_visitChildren(clang_getCursorReferenced(call), find_pure, &pure);
    return pure;
}

static bool is_integer(CXType t)
{
    return t.kind == CXType_Enum || (t.kind >= CXType_Bool && t.kind <= CXType_Int128);
}

/* -> or the member of what a pointer points to */
static bool follows_pointer(struct fe *fe, CXCursor member)
{
    fe_cursors v = { 0 };
    fe_children(fe, member, &v);
    return v.n && clang_getCanonicalType(clang_getCursorType(v.at[0])).kind == CXType_Pointer;
}

static enum CXChildVisitResult note_effects(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    struct effects *x = data;
    bool follows = false;
    switch (clang_getCursorKind(c)) {
    case CXCursor_UnaryExpr: return CXChildVisit_Continue; /* sizeof and friends evaluate nothing */
    case CXCursor_CompoundAssignOperator:
    case CXCursor_StmtExpr: x->impure = true; break;
    case CXCursor_BinaryOperator:
        x->impure |= clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign;
        break;
    case CXCursor_UnaryOperator: {
        enum CXUnaryOperatorKind op = clang_getCursorUnaryOperatorKind(c);
        x->impure |= op >= CXUnaryOperator_PostInc && op <= CXUnaryOperator_PreDec;
        follows = op == CXUnaryOperator_Deref;
        break;
    }
    case CXCursor_CallExpr:
        x->impure |= !calls_pure(c);
        follows = true;
        break;
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_StringLiteral: follows = true; break;
    case CXCursor_MemberRefExpr: follows = follows_pointer(x->fe, c); break;
    default: break;
    }
    x->reads_memory |= follows;
    CXType type = clang_getCanonicalType(clang_getCursorType(c));
    x->impure |= clang_isVolatileQualifiedType(type) != 0;
    x->other_types |= !is_integer(type);
    return CXChildVisit_Recurse;
}

/* The integer that the expression always has. */
static bool evaluate(CXCursor c, int64_t *value)
{
    CXEvalResult r = clang_Cursor_Evaluate(c);
    bool constant = r && clang_EvalResult_getKind(r) == CXEval_Int;
    if (constant)
        *value = clang_EvalResult_isUnsignedInt(r) ? (int64_t)clang_EvalResult_getAsUnsigned(r)
                                                   : clang_EvalResult_getAsLongLong(r);
    if (r)
        clang_EvalResult_dispose(r);
    return constant;
}

struct omp_expr fe_expr(struct fe *fe, CXCursor c)
{
    struct omp_expr x = { .extent = fe_extent(fe, c) };
    struct effects effects = { .fe = fe };
    CXCursor inner = fe_strip(fe, c);
    note_effects(inner, inner, &effects);
    if (clang_getCursorKind(inner) != CXCursor_UnaryExpr)
        clang_visitChildren(inner, note_effects, &effects);
    x.type = fe_type(fe, clang_getCursorType(inner)); /* before conversions */
    x.is_pure = !effects.impure;
    x.reads_memory = effects.reads_memory;
    x.is_integer = !effects.other_types;
    x.is_constant = x.is_pure && evaluate(inner, &x.value);
    return x;
}

struct omp_expr fe_expr_of(struct reader *r, unsigned b, unsigned e)
{
    struct omp_expr x = { .extent = extent_of(r, b, e), .reads_memory = b < e };
    if (r->collecting)
        fe_add_operand(r, b, e, false);
    const struct fe_operand *o = b < e ? fe_operand_at(r->fe, x.extent.begin) : NULL;
    if (!o)
        return x;
    struct omp_extent text = x.extent;
    x = fe_expr(r->fe, o->cursor);
    x.extent = text;
    return x;
}

void fe_set_expr(struct reader *r, unsigned b, unsigned e) { r->c->expr = fe_expr_of(r, b, e); }

bool fe_constant(struct fe *fe, const struct fe_pragma *p, unsigned first, unsigned end,
                 long long *value)
{
    struct reader r = { .fe = fe, .p = (struct fe_pragma *)p, .end = end };
    struct omp_expr x = fe_expr_of(&r, first, end);
    *value = x.value;
    return x.is_constant;
}

/* ------------------------------------------------------------------ list items */
struct path { /* from a variable to the storage of a list item, while it is followed */
    struct reader *r;
    CXType type;
    struct omp_extent text, base;
    CXType base_type;
    VEC(struct omp_section) sections;
    VEC(unsigned) members;
    bool ok, plain; /* plain: just the variable's name so far */
    bool shaped;    /* the pointer is cast to one to an array */
    /* the base pointer, and what is read now: each is one where it is followed */
    CXCursor pointer, cursor;
    bool pointer_is_plain;
    /* the struct object that holds the last member, or the pointer read from it; fresh: no pointer
     * was followed since the object's first member */
    CXCursor object;
    bool has_object, object_arrow, object_fresh;
    bool at_end; /* each member on the way through the object is the last of its struct */
    unsigned derefs;
    struct omp_var *var;
};

static bool type_is_array(CXType t)
{
    enum CXTypeKind k = clang_getCanonicalType(t).kind;
    return k == CXType_ConstantArray || k == CXType_IncompleteArray || k == CXType_VariableArray;
}

/* A parameter declared as an array is a pointer: its type in libclang stays the array's. */
static bool is_array_parameter(const struct path *x)
{
    return x->plain && x->var->storage == OMPS_PARAM && type_is_array(x->type);
}

/* Steps from an array to an element (what was read so far becomes the base, unless a base is known)
 * or through a pointer (it becomes the base). */
static void step_into(struct path *x)
{
    bool array = type_is_array(x->type), parameter = is_array_parameter(x);
    CXType type = clang_getCanonicalType(x->type);
    if (!array && type.kind != CXType_Pointer) {
        x->ok = false;
        return;
    }
    if (!array || parameter || !x->base.end) {
        x->base = x->text;
        x->base_type = x->type;
    }
    if (!array || parameter) {
        x->pointer = x->cursor;
        x->pointer_is_plain = x->plain;
        x->sections.n = 0;
        x->derefs++;
        x->object_fresh = false;
    }
    x->type = array ? clang_getArrayElementType(type) : clang_getPointeeType(type);
}

/* Elements that are taken, 0 if unknown. */
static uint64_t count_of(const struct omp_section *s)
{
    if (!s->is_section)
        return 1;
    if (s->length.extent.end)
        return s->length.is_constant && s->length.value > 0 ? (uint64_t)s->length.value : 0;
    bool known = !s->lower.extent.end || s->lower.is_constant;
    return known && s->lower.value >= 0 && (uint64_t)s->lower.value < s->dim
               ? s->dim - (uint64_t)s->lower.value
               : 0;
}

/* Token of the '[' whose ']' ends at the offset. */
static unsigned opening(const struct reader *r, unsigned end)
{
    unsigned k = token_at(r, end);
    for (int depth = 0; k-- > 0;) {
        depth += token_is(r, k, "]") - token_is(r, k, "[");
        if (!depth)
            return k;
    }
    return r->p->ntokens;
}

struct omp_expr fe_part_of(struct reader *r, const struct bracket *x, unsigned i)
{
    return i < x->nparts ? fe_expr_of(r, x->part[i].begin, x->part[i].end)
                         : (struct omp_expr){ .value = 0 };
}

/* Of what is read now: which elements of it are not known yet. */
static struct omp_section section_of(const struct path *x)
{
    bool array = type_is_array(x->type) && !is_array_parameter(x);
    CXType whole = clang_getCanonicalType(x->type);
    return (struct omp_section){ .is_unbounded = !array || whole.kind == CXType_IncompleteArray,
                                 .dim = array && whole.kind == CXType_ConstantArray
                                            ? (uint64_t)clang_getArraySize(whole)
                                            : 0,
                                 .count = 1 };
}

static void add_subscript(struct path *x, CXCursor c)
{
    struct reader *r = x->r;
    struct omp_extent text = fe_extent(r->fe, c);
    struct bracket b;
    if (!read_bracket(r, opening(r, text.end), &b)) {
        x->ok = false;
        return;
    }
    struct omp_section s = section_of(x);
    s.is_section = b.nparts > 1;
    s.lower = fe_part_of(r, &b, 0);
    s.length = fe_part_of(r, &b, 1);
    s.stride = fe_part_of(r, &b, 2);
    if (b.nparts == 3 && !(r->p->c->leaves & OMPL_UPDATE))
        fe_unsupported(r->fe, fe_place(r->fe->u, offset_at(r, b.part[0].end)), UNSUPPORTED_STRIDE,
                       NULL, NULL);
    s.is_assumed = r->c->kind == OMPC_MAP && !fe_host_is_gcc() && s.is_section &&
                   !type_is_array(x->type) && !s.lower.extent.end && !s.length.extent.end &&
                   !s.stride.extent.end;
    s.count = count_of(&s);
    step_into(x);
    *VEC_PUSH(r->fe->a, &x->sections) = s;
    x->text.end = text.end;
    x->plain = false;
}

static void add_deref(struct path *x, CXCursor c)
{
    step_into(x);
    *VEC_PUSH(x->r->fe->a, &x->sections) = (struct omp_section){ .count = 1 };
    x->text.begin = fe_begin(x->r->fe, c);
    x->plain = false;
}

static bool is_address(CXCursor c)
{
    CXType t = clang_getCanonicalType(clang_getCursorType(c));
    return t.kind == CXType_Pointer || type_is_array(t);
}

/* *(p + i), *(i + p): the sum's operands, as those of p[i]; false: it is another expression. */
static bool read_sum(struct path *x, CXCursor c, CXCursor *pointer, CXCursor *index)
{
    fe_cursors v = { 0 };
    CXCursor sum = fe_strip(x->r->fe, c);
    if (clang_getCursorKind(sum) != CXCursor_BinaryOperator ||
        clang_getCursorBinaryOperatorKind(sum) != CXBinaryOperator_Add)
        return false;
    fe_children(x->r->fe, sum, &v);
    bool first = v.n == 2 && is_address(fe_strip(x->r->fe, v.at[0]));
    if (v.n != 2)
        return false;
    *pointer = fe_strip(x->r->fe, v.at[!first]), *index = v.at[first];
    return true;
}

static void add_sum(struct path *x, CXCursor deref, CXCursor index)
{
    struct omp_section s = section_of(x);
    s.lower = fe_expr(x->r->fe, index);
    step_into(x);
    *VEC_PUSH(x->r->fe->a, &x->sections) = s;
    x->text = fe_extent(x->r->fe, deref);
    x->plain = false;
}

static enum CXVisitorResult keep_field(CXCursor field, CXClientData last)
{
    *(CXCursor *)last = field;
    return CXVisit_Continue;
}

/* Any member of a union is its last. */
static bool is_last_member(CXCursor field)
{
    CXCursor record = clang_getCursorSemanticParent(field), last = clang_getNullCursor();
    clang_Type_visitFields(clang_getCursorType(record), keep_field, &last);
    return clang_getCursorKind(record) == CXCursor_UnionDecl || clang_equalCursors(field, last);
}

static void add_member(struct path *x, CXCursor c, CXCursor object)
{
    CXCursor field = clang_getCursorReferenced(c);
    bool arrow = clang_getCanonicalType(x->type).kind == CXType_Pointer || type_is_array(x->type);
    bool element = arrow && type_is_array(x->type) && !is_array_parameter(x);
    if (element)
        x->type = clang_getArrayElementType(clang_getCanonicalType(x->type));
    else if (arrow)
        step_into(x);
    if (!x->object_fresh) {
        x->object = object;
        x->has_object = true;
        x->object_arrow = arrow && !element;
        x->object_fresh = x->at_end = true;
    }
    x->at_end &= is_last_member(field);
    x->type = clang_getCursorType(field);
    *VEC_PUSH(x->r->fe->a, &x->members) = fe_location(x->r->fe, field);
    x->text.end = fe_extent(x->r->fe, c).end;
    x->sections.n = 0;
    x->base = (struct omp_extent){ 0, 0 };
    x->plain = false;
}

static void add_variable(struct path *x, CXCursor c)
{
    x->var = fe_var_of(x->r->fe, clang_getCursorReferenced(c));
    x->text = fe_extent(x->r->fe, c);
    x->ok = x->var != NULL;
    x->plain = true;
    if (x->var)
        x->type = x->r->fe->var_types.at[x->var->id];
}

bool fe_is_unnamed_member(CXCursor c)
{
    CXString name = clang_getCursorSpelling(clang_getCursorReferenced(c));
    bool unnamed = !*clang_getCString(name) || strchr(clang_getCString(name), '(');
    clang_disposeString(name);
    return unnamed;
}

/* The operand of a cast of ours. */
static CXCursor uncast(struct path *x, CXCursor c)
{
    fe_cursors v = { 0 };
    CXCursor cast = fe_strip(x->r->fe, c);
    if (!x->shaped || clang_getCursorKind(cast) != CXCursor_CStyleCastExpr)
        return c;
    fe_children(x->r->fe, cast, &v);
    return v.at[v.n - 1];
}

static void follow_path(struct path *x, CXCursor c);

static void follow_cast(struct path *x, CXCursor c)
{
    follow_path(x, uncast(x, c));
    x->type = clang_getCursorType(c);
}

static void follow_path(struct path *x, CXCursor c)
{
    fe_cursors v = { 0 };
    enum CXCursorKind k = clang_getCursorKind(c);
    if (k == CXCursor_DeclRefExpr) {
        add_variable(x, c);
        return;
    }
    if (k == CXCursor_CStyleCastExpr && x->shaped) {
        follow_cast(x, c);
        return;
    }
    fe_children(x->r->fe, c, &v);
    bool deref =
        k == CXCursor_UnaryOperator && clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_Deref;
    if (!v.n || !(deref || k == CXCursor_ParenExpr || k == CXCursor_UnexposedExpr ||
                  k == CXCursor_MemberRefExpr || k == CXCursor_ArraySubscriptExpr)) {
        x->ok = false;
        return;
    }
    CXCursor pointer, index;
    if (deref && read_sum(x, v.at[0], &pointer, &index)) {
        follow_path(x, pointer);
        x->cursor = pointer;
        if (x->ok)
            add_sum(x, c, index);
        return;
    }
    follow_path(x, v.at[0]);
    if (!x->ok)
        return;
    x->cursor = uncast(x, v.at[0]);
    if (k == CXCursor_ParenExpr && !x->shaped)
        x->text = fe_extent(x->r->fe, c);
    else if (deref)
        add_deref(x, c);
    else if (k == CXCursor_ArraySubscriptExpr)
        add_subscript(x, c);
    else if (k == CXCursor_MemberRefExpr && !fe_is_unnamed_member(c))
        add_member(x, c, v.at[0]);
}

static CXType read_item(struct reader *, struct omp_item *, CXCursor);

static struct omp_item *read_inner_item(struct reader *r, CXCursor c)
{
    struct omp_item *o = arena_alloc(r->fe->a, sizeof *o);
    o->text = fe_extent(r->fe, c);
    read_item(r, o, c);
    return o;
}

/* The struct object; of an arrow what the pointer leads to, as its section [0]. */
static struct omp_item *read_object(struct reader *r, CXCursor c, bool arrow)
{
    struct omp_item *pointer = read_inner_item(r, c);
    if (!arrow || !pointer->var)
        return pointer;
    struct omp_item *o = arena_alloc(r->fe->a, sizeof *o);
    *o = *pointer;
    o->base = o->base_pointer = o->text;
    o->base_pointer_is_var = pointer->base_is_var && !pointer->nsections;
    o->base_is_var = o->base_pointer_is_var;
    o->base_type = fe_type(r->fe, clang_getCursorType(c));
    o->sections = arena_alloc(r->fe->a, sizeof *o->sections);
    o->sections[0].count = 1;
    o->nsections = 1;
    o->derefs++;
    o->pointer = pointer;
    return o;
}

static void read_base_pointer(struct reader *r, struct omp_item *item, const struct path *x)
{
    item->base_pointer = fe_extent(r->fe, x->pointer);
    item->base_pointer_is_var = x->pointer_is_plain;
    item->pointer = read_inner_item(r, x->pointer);
}

/* The object itself, in a mapper for it. */
static bool is_mappers_own(const struct reader *r, const struct omp_item *item)
{
    return r->p->c->directive == OMPDIR_DECLARE_MAPPER && item->base_is_var && !item->nsections;
}

/* Fills the item, whose text is known.  Returns the type of the whole. */
static CXType read_item(struct reader *r, struct omp_item *item, CXCursor c)
{
    struct path x = { .r = r, .ok = true, .shaped = item->shape.end > 0 };
    item->place = fe_place(r->fe->u, item->text.begin);
    item->base = item->text;
    follow_path(&x, c);
    item->var = x.var;
    if (!x.ok || !x.var)
        return x.type;
    if (x.base.end && x.sections.n)
        item->base = x.base;
    else
        x.base_type = x.type;
    item->base_type = fe_type(r->fe, x.base_type);
    item->base_is_var = item->base.end - item->base.begin == strlen(x.var->name);
    if (item->base_is_var)
        item->base_type = x.var->type;
    item->sections = x.sections.at;
    item->nsections = x.sections.n;
    item->derefs = x.derefs;
    item->members = x.members.at;
    item->nmembers = x.members.n;
    item->may_be_longer = x.derefs && x.at_end;
    if (x.derefs)
        read_base_pointer(r, item, &x);
    if (r->c && fe_clause_rows[r->c->kind].arg == ARG_REDUCE)
        item->udr = fe_find_udr(r->fe, r->c->word, x.type, r->p->extent.begin);
    if (r->c && !is_mappers_own(r, item))
        item->mapper = fe_find_mapper(r->fe, r->c->mapper ? r->c->mapper : "default", x.type,
                                      r->p->extent.begin);
    if (x.has_object)
        item->object = read_object(r, x.object, x.object_arrow);
    return x.type;
}

/* The item, and the bounds in its brackets. */
static void collect_item(struct reader *r, unsigned b, unsigned e)
{
    fe_add_operand(r, b, e, true);
    for (unsigned k = b; k < e; k++) {
        struct bracket x;
        if (!token_is(r, k, "[") || !read_bracket(r, k, &x))
            continue;
        for (unsigned i = 0; i < x.nparts; i++)
            fe_add_operand(r, x.part[i].begin, x.part[i].end, false);
        k = x.close;
    }
}

void fe_read_items(struct reader *r, unsigned b, unsigned e)
{
    VEC(struct omp_item) v = { 0 };
    while (b < e) {
        unsigned comma = find_top(r, b, e, ",");
        if (r->collecting) {
            collect_item(r, b, comma);
        } else {
            struct omp_item *item = VEC_PUSH(r->fe->a, &v);
            *item = (struct omp_item){ .text = extent_of(r, b, comma) };
            item->base = item->text;
            struct shape shape;
            if (read_shape(r, b, comma, &shape))
                item->shape = extent_of(r, shape.dimensions, shape.end);
            item->place = fe_place(r->fe->u, offset_at(r, b));
            const struct fe_operand *o = b < comma ? fe_operand_at(r->fe, item->text.begin) : NULL;
            fe_cursors inner = { 0 };
            if (o)
                fe_children(r->fe, o->cursor, &inner);
            if (inner.n)
                read_item(r, item, inner.at[0]);
        }
        b = comma + 1;
    }
    r->c->items = v.at;
    r->c->nitems = v.n;
}
