/* clause.c - expressions and list items of clauses: the names in them, constants, sections and
 * members.
 *
 * libclang does not see pragma lines: names are looked up in the scopes that the walk found, and
 * the types of list items such as  s->p[i].q[0:n]  are worked out here from the variable's type. */
#include "frontend/reader.h"
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ names in expressions */
struct fe_name *fe_lookup_token(const struct reader *r, unsigned k)
{
    const struct fe_token *t = &r->p->tokens[k];
    return fe_lookup(r->fe, text_of(r) + t->begin, t->end - t->begin, r->p->extent.begin);
}

/* Is the token in the block that the declaration is in? */
static bool sees(const struct reader *r, const struct fe_localtype *l, unsigned at)
{
    unsigned end = fe_block_end(r->fe->u, l->extent.end);
    /* the first was that of the enum */
    if (l->is_constant)
        end = fe_block_end(r->fe->u, end + 1);
    return l->decl < at && at < end;
}

/* A type or enumeration constant of the function: its name in device text is another one. */
static void note_local_type(struct reader *r, unsigned k, bool tag)
{
    const struct fe_token *t = &r->p->tokens[k];
    const struct fe_localtype *found = NULL;
    for (unsigned i = 0; i < r->fe->localtypes.n; i++) {
        const struct fe_localtype *l = &r->fe->localtypes.at[i];
        bool is_tag = !l->is_typedef && !l->is_constant;
        if (is_tag != tag || !l->name_length || strlen(l->old_name) != t->end - t->begin)
            continue;
        if (strncmp(l->old_name, text_of(r) + t->begin, t->end - t->begin) || !sees(r, l, t->begin))
            continue;
        if (!found || l->decl > found->decl)
            found = l;
    }
    if (found)
        *VEC_PUSH(r->fe->a, &r->fe->typerefs) =
            (struct fe_typeref){ t->begin, t->end - t->begin, found->decl };
}

/* Notes every use of a variable, function or local type in tokens [b, e). */
void fe_note_tokens(struct reader *r, unsigned b, unsigned e)
{
    for (unsigned k = b; k < e; k++) {
        const struct fe_token *t = &r->p->tokens[k];
        if (t->kind != TOK_IDENT ||
            (k > b && (token_is(r, k - 1, ".") || token_is(r, k - 1, "->"))))
            continue;
        bool tag = k > b && (token_is(r, k - 1, "struct") || token_is(r, k - 1, "union") ||
                             token_is(r, k - 1, "enum"));
        struct fe_name *n = tag ? NULL : fe_lookup_token(r, k);
        if (n && n->var)
            *VEC_PUSH(r->fe->a, &r->fe->refs) =
                (struct omp_ref){ t->begin, t->end - t->begin, n->var, false };
        if (tag || !n || !n->var)
            note_local_type(r, k, tag);
        struct fe_function *f =
            n || tag ? NULL : fe_function_named(r->fe, text_of(r) + t->begin, t->end - t->begin);
        if (f)
            *VEC_PUSH(r->fe->a, &r->fe->frefs) =
                (struct fe_fref){ t->begin, t->end - t->begin, f, false };
    }
}

void fe_set_expr(struct reader *r, unsigned b, unsigned e)
{
    r->c->expr = fe_expr_of(r, b, e);
    fe_note_tokens(r, b, e);
}

/* ------------------------------------------------------------------ constant expressions */
struct eval {
    struct reader *r;
    unsigned k, end;
    bool bad;
};
static long long eval_binary(struct eval *, int level);

static long long eval_primary(struct eval *v)
{
    struct reader *r = v->r;
    if (v->k >= v->end) {
        v->bad = true;
        return 0;
    }
    unsigned k = v->k++;
    if (token_is(r, k, "-"))
        return -eval_primary(v);
    if (token_is(r, k, "+"))
        return eval_primary(v);
    if (token_is(r, k, "~"))
        return ~eval_primary(v);
    if (token_is(r, k, "!"))
        return !eval_primary(v);
    if (token_is(r, k, "(")) {
        long long x = eval_binary(v, 0);
        if (!token_is(r, v->k++, ")"))
            v->bad = true;
        return x;
    }
    if (r->p->tokens[k].kind == TOK_NUMBER)
        return (long long)strtoull(text_of(r) + r->p->tokens[k].begin, NULL, 0);
    struct fe_name *n = is_ident(r, k) ? fe_lookup_token(r, k) : NULL;
    if (n && n->constant)
        return n->value;
    v->bad = true;
    return 0;
}

static long long eval_binary(struct eval *v, int level)
{
    enum { LOR, LAND, OR, XOR, AND, EQ, NE, LE, GE, LT, GT, SHL, SHR, ADD, SUB, MUL, DIV, MOD };
    static const struct {
        const char *op;
        int level;
    } ops[] = {
        [LOR] = { "||", 0 }, [LAND] = { "&&", 1 }, [OR] = { "|", 2 },  [XOR] = { "^", 3 },
        [AND] = { "&", 4 },  [EQ] = { "==", 5 },   [NE] = { "!=", 5 }, [LE] = { "<=", 6 },
        [GE] = { ">=", 6 },  [LT] = { "<", 6 },    [GT] = { ">", 6 },  [SHL] = { "<<", 7 },
        [SHR] = { ">>", 7 }, [ADD] = { "+", 8 },   [SUB] = { "-", 8 }, [MUL] = { "*", 9 },
        [DIV] = { "/", 9 },  [MOD] = { "%", 9 },
    };
    if (level > 9)
        return eval_primary(v);
    long long x = eval_binary(v, level + 1);
    for (unsigned i = 0; i < sizeof ops / sizeof *ops && v->k < v->end; i++) {
        if (ops[i].level != level || !token_is(v->r, v->k, ops[i].op))
            continue;
        v->k++;
        long long y = eval_binary(v, level + 1);
        if ((i == DIV || i == MOD) && !y) {
            v->bad = true;
            return 0;
        }
        switch (i) {
        case LOR: x = x || y; break;
        case LAND: x = x && y; break;
        case OR: x |= y; break;
        case XOR: x ^= y; break;
        case AND: x &= y; break;
        case EQ: x = x == y; break;
        case NE: x = x != y; break;
        case LE: x = x <= y; break;
        case GE: x = x >= y; break;
        case LT: x = x < y; break;
        case GT: x = x > y; break;
        case SHL: x = (long long)((unsigned long long)x << (y & 63)); break;
        case SHR: x >>= y & 63; break;
        case ADD: x += y; break;
        case SUB: x -= y; break;
        case MUL: x *= y; break;
        case DIV: x /= y; break;
        default: x %= y; break;
        }
        i = ~0u; /* again from the first operator */
    }
    return x;
}

static bool constant_tokens(struct reader *r, unsigned b, unsigned e, long long *out)
{
    struct eval v = { r, b, e, b >= e };
    *out = v.bad ? 0 : eval_binary(&v, 0);
    return !v.bad && v.k == e;
}

struct omp_expr fe_expr_of(struct reader *r, unsigned b, unsigned e)
{
    struct omp_expr x = { .extent = extent_of(r, b, e), .reads_memory = b < e };
    long long value;
    x.is_constant = constant_tokens(r, b, e, &value);
    x.value = x.is_constant ? value : 0;
    return x;
}

bool fe_constant(struct fe *fe, const struct fe_pragma *p, unsigned first, unsigned end,
                 long long *value)
{
    struct reader r = { .fe = fe, .p = (struct fe_pragma *)p, .end = end };
    return constant_tokens(&r, first, end, value);
}

/* ------------------------------------------------------------------ list items */
struct chain { /* a postfix expression while it is read */
    CXType type;
    struct omp_extent text, base;
    CXType base_type;
    VEC(struct omp_section) sections;
    struct omp_extent parent;
    bool parent_arrow, ok, plain; /* plain: just the variable's name so far */
    unsigned object_end; /* token behind the struct object that holds the last member (or the
                            pointer read from it) */
    bool object_arrow,
        object_fresh; /* fresh: no pointer was followed since the object's first member */
    unsigned derefs;
    struct omp_var *var;
};
struct field {
    const char *name;
    unsigned length;
    CXType type;
    bool found;
};

static enum CXVisitorResult find_field(CXCursor c, CXClientData data)
{
    struct field *f = data;
    CXString s = clang_getCursorSpelling(c);
    const char *name = clang_getCString(s);
    bool unnamed = !*name || strchr(name, '(');
    if (!unnamed && strlen(name) == f->length && !strncmp(name, f->name, f->length)) {
        f->found = true;
        f->type = clang_getCursorType(c);
    }
    clang_disposeString(s);
    if (unnamed && !f->found)
        clang_Type_visitFields(clang_getCanonicalType(clang_getCursorType(c)), find_field, f);
    return f->found ? CXVisit_Break : CXVisit_Continue;
}

static bool type_is_array(CXType t)
{
    enum CXTypeKind k = clang_getCanonicalType(t).kind;
    return k == CXType_ConstantArray || k == CXType_IncompleteArray || k == CXType_VariableArray;
}
static uint64_t bound_of(CXType t)
{
    CXType c = clang_getCanonicalType(t);
    return c.kind == CXType_ConstantArray ? (uint64_t)clang_getArraySize(c) : 0;
}

/* A pointer is followed: what was read so far becomes the base. */
static void follow(struct chain *x)
{
    x->base = x->text;
    x->base_type = x->type;
    x->sections.n = 0;
    x->derefs++;
    x->object_fresh = false;
    x->type = clang_getPointeeType(clang_getCanonicalType(x->type));
}

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

static void apply_bracket(struct reader *r, struct chain *x, unsigned b, unsigned e)
{
    struct omp_section s = { .dim = type_is_array(x->type) ? bound_of(x->type) : 0 };
    unsigned colon = find_top(r, b, e, ":");
    if (find_top(r, b, e, "?") < colon)
        colon = e; /* a ?: inside an index */
    s.is_section = colon < e;
    s.lower = fe_expr_of(r, b, colon);
    if (s.is_section) {
        unsigned second = find_top(r, colon + 1, e, ":");
        if (find_top(r, colon + 1, e, "?") < second)
            second = e;
        s.length = fe_expr_of(r, colon + 1, second);
        if (second < e)
            s.stride = fe_expr_of(r, second + 1, e);
        if (second < e && !(r->p->c->leaves & OMPL_UPDATE))
            fe_error(r->fe, offset_at(r, colon),
                     "array section with a stride is not supported yet outside of 'target update'");
    }
    s.count = count_of(&s);
    if (type_is_array(x->type)) {
        if (!x->sections.n && !x->base.end) {
            x->base = x->text;
            x->base_type = x->type;
        }
        x->type = clang_getArrayElementType(clang_getCanonicalType(x->type));
    } else if (clang_getCanonicalType(x->type).kind == CXType_Pointer) {
        follow(x);
    } else {
        x->ok = false;
    }
    *VEC_PUSH(r->fe->a, &x->sections) = s;
    x->text.end = r->p->tokens[e].end;
    x->plain = false;
}

static void apply_member(struct reader *r, struct chain *x, unsigned k, bool arrow)
{
    struct fe_token *t = &r->p->tokens[k];
    x->parent = x->text;
    x->parent_arrow = arrow;
    if (arrow) {
        if (type_is_array(x->type))
            x->type = clang_getArrayElementType(clang_getCanonicalType(x->type));
        else
            follow(x);
    }
    if (!x->object_fresh) {
        x->object_end = k - 1;
        x->object_arrow = arrow;
        x->object_fresh = true;
    }
    struct field f = { text_of(r) + t->begin, t->end - t->begin, x->type, false };
    clang_Type_visitFields(clang_getCanonicalType(x->type), find_field, &f);
    x->ok &= f.found;
    x->type = f.type;
    x->text.end = t->end;
    x->sections.n = 0;
    x->base = (struct omp_extent){ 0, 0 };
    x->plain = false;
}

static unsigned read_unary(struct reader *, struct chain *, unsigned k, unsigned end);

static unsigned read_primary(struct reader *r, struct chain *x, unsigned k, unsigned end)
{
    if (token_is(r, k, "(")) {
        unsigned close = closing(r, k);
        unsigned at = read_unary(r, x, k + 1, close);
        x->ok &= at == close && close < end;
        x->text = extent_of(r, k, close < end ? close + 1 : end);
        return close + 1;
    }
    x->text = extent_of(r, k, k + 1);
    struct fe_name *n = is_ident(r, k) ? fe_lookup_token(r, k) : NULL;
    if (!n || !n->var) {
        x->ok = false;
        return k + 1;
    }
    x->var = n->var;
    x->type = r->fe->var_types.at[n->var->id];
    x->plain = true;
    if (n->var->storage == OMPS_PARAM && type_is_array(x->type))
        x->type = clang_getCanonicalType(x->type);
    return k + 1;
}

/* A parameter declared as an array is a pointer: its type in libclang stays the array's, so the
 * first step follows it. */
static bool array_parameter(const struct chain *x)
{
    return x->plain && x->var->storage == OMPS_PARAM && type_is_array(x->type);
}

static void follow_parameter(struct chain *x)
{
    x->base = x->text;
    x->base_type = x->type;
    x->sections.n = 0;
    x->derefs++;
}

static unsigned read_postfix(struct reader *r, struct chain *x, unsigned k, unsigned end)
{
    k = read_primary(r, x, k, end);
    while (x->ok && k < end) {
        if (token_is(r, k, "[")) {
            unsigned close = closing(r, k);
            if (close >= end) {
                x->ok = false;
                return end;
            }
            if (array_parameter(x))
                follow_parameter(x);
            apply_bracket(r, x, k + 1, close);
            if (x->sections.n == 1 && x->derefs && x->base.end && x->sections.at[0].dim &&
                array_parameter(
                    &(struct chain){ .plain = true, .var = x->var, .type = x->base_type }))
                x->sections.at[0].dim = 0;
            k = close + 1;
        } else if ((token_is(r, k, ".") || token_is(r, k, "->")) && is_ident(r, k + 1)) {
            if (array_parameter(x))
                follow_parameter(x);
            apply_member(r, x, k + 1, token_is(r, k, "->"));
            k += 2;
        } else {
            return k;
        }
    }
    return k;
}

static unsigned read_unary(struct reader *r, struct chain *x, unsigned k, unsigned end)
{
    if (!token_is(r, k, "*"))
        return read_postfix(r, x, k, end);
    unsigned star = k;
    k = read_unary(r, x, k + 1, end);
    if (!x->ok)
        return k;
    if (array_parameter(x)) {
        follow_parameter(x);
        x->type = clang_getArrayElementType(clang_getCanonicalType(x->type));
    } else if (type_is_array(x->type)) {
        if (!x->base.end) {
            x->base = x->text;
            x->base_type = x->type;
        }
        x->type = clang_getArrayElementType(clang_getCanonicalType(x->type));
    } else if (clang_getCanonicalType(x->type).kind == CXType_Pointer) {
        follow(x);
    } else {
        x->ok = false;
    }
    *VEC_PUSH(r->fe->a, &x->sections) = (struct omp_section){ .count = 1 };
    x->text.begin = r->p->tokens[star].begin;
    x->plain = false;
    return k;
}

static CXType read_item(struct reader *, struct omp_item *, unsigned b, unsigned e);

/* The struct object in [b, e), or what the pointer there leads to. */
static struct omp_item *read_object(struct reader *r, unsigned b, unsigned e, bool arrow)
{
    struct omp_item *o = arena_alloc(r->fe->a, sizeof *o);
    CXType type = read_item(r, o, b, e);
    o->parent_arrow = arrow;
    if (!arrow || !o->var)
        return o;
    o->derefs++; /* the whole pointer expression is the base, whatever it was made of */
    o->base = o->text;
    if (o->nsections) { /* *a[1], not *p */
        o->base_is_var = false;
        o->base_type = fe_type(r->fe, type);
    }
    o->nsections = 0;
    o->parent = (struct omp_extent){ 0, 0 };
    return o;
}

/* Returns the type of the whole item. */
static CXType read_item(struct reader *r, struct omp_item *item, unsigned b, unsigned e)
{
    struct chain x = { .ok = true };
    *item = (struct omp_item){ .text = extent_of(r, b, e),
                               .place = fe_place(r->fe->u, offset_at(r, b)) };
    item->base = item->text;
    fe_note_tokens(r, b, e);
    unsigned k = read_unary(r, &x, b, e);
    item->var = x.var;
    if (!x.ok || k != e || !x.var) {
        item->base_is_var = false;
        return x.type;
    }
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
    item->parent = x.parent;
    item->parent_arrow = x.parent_arrow;
    item->derefs = x.derefs;
    if (r->c && fe_clause_rows[r->c->kind].arg == ARG_REDUCE)
        item->udr = fe_find_udr(r->fe, r->c->word, x.type, r->p->extent.begin);
    if (x.object_end && x.object_end < e)
        item->object = read_object(r, b, x.object_end, x.object_arrow);
    return x.type;
}

void fe_read_items(struct reader *r, unsigned b, unsigned e)
{
    VEC(struct omp_item) v = { 0 };
    while (b < e) {
        unsigned comma = find_top(r, b, e, ",");
        struct omp_item *item = VEC_PUSH(r->fe->a, &v);
        read_item(r, item, b, comma);
        b = comma + 1;
    }
    r->c->items = v.at;
    r->c->nitems = v.n;
}

void fe_note_refs(struct fe *fe, const struct fe_pragma *p, unsigned first, unsigned end)
{
    struct reader r = { .fe = fe, .p = (struct fe_pragma *)p, .end = end };
    fe_note_tokens(&r, first, end);
}
