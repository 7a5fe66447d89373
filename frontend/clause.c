/* clause.c - reads clauses by the kind of argument that the table gives, and resolves the names in
 * them.
 *
 * libclang does not see pragma lines: names are looked up in the scopes that the walk found, and
 * the types of list items such as  s->p[i].q[0:n]  are worked out here from the variable's type. */
#include "frontend/fe.h"
#include <stdlib.h>
#include <string.h>

struct reader {
    struct fe *fe;
    struct fe_pragma *p;
    struct omp_clause *c;
    unsigned at, end; /* tokens of the argument, without the parentheses */
};

static const char *text_of(const struct reader *r) { return r->fe->u->text; }
static bool token_is(const struct reader *r, unsigned k, const char *s)
{
    const struct fe_token *t = &r->p->tokens[k];
    return k < r->end && t->end - t->begin == strlen(s) &&
           !strncmp(text_of(r) + t->begin, s, t->end - t->begin);
}
static bool is_ident(const struct reader *r, unsigned k)
{
    return k < r->end && r->p->tokens[k].kind == TOK_IDENT;
}
static unsigned offset_at(const struct reader *r, unsigned k)
{
    return k < r->p->ntokens ? r->p->tokens[k].begin : r->p->extent.end - 1;
}
static const char *word_at(struct reader *r, unsigned k)
{
    return fe_text(r->fe, (struct omp_extent){ r->p->tokens[k].begin, r->p->tokens[k].end });
}
static struct omp_extent extent_of(const struct reader *r, unsigned b, unsigned e)
{
    if (b >= e)
        return (struct omp_extent){ 0, 0 };
    return (struct omp_extent){ r->p->tokens[b].begin, r->p->tokens[e - 1].end };
}
/* First token from k on that is `s` outside of brackets; end when there is none. */
static unsigned find_top(const struct reader *r, unsigned k, unsigned end, const char *s)
{
    for (int depth = 0; k < end; k++) {
        const struct fe_token *t = &r->p->tokens[k];
        if (!depth && token_is(r, k, s))
            return k;
        if (t->kind != TOK_PUNCT || t->end - t->begin != 1)
            continue;
        char c = text_of(r)[t->begin];
        if (strchr("([{", c))
            depth++;
        if (strchr(")]}", c))
            depth--;
    }
    return end;
}
static unsigned closing(const struct reader *r, unsigned k) /* of the bracket at k */
{
    int depth = 0;
    for (; k < r->p->ntokens; k++) {
        char c = text_of(r)[r->p->tokens[k].begin];
        if (r->p->tokens[k].kind == TOK_PUNCT && strchr("([{", c))
            depth++;
        if (r->p->tokens[k].kind == TOK_PUNCT && strchr(")]}", c) && --depth == 0)
            return k;
    }
    return r->p->ntokens;
}

/* ------------------------------------------------------------------ names in expressions */
static struct fe_name *lookup(const struct reader *r, unsigned k)
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
static void note_refs(struct reader *r, unsigned b, unsigned e)
{
    for (unsigned k = b; k < e; k++) {
        const struct fe_token *t = &r->p->tokens[k];
        if (t->kind != TOK_IDENT ||
            (k > b && (token_is(r, k - 1, ".") || token_is(r, k - 1, "->"))))
            continue;
        bool tag = k > b && (token_is(r, k - 1, "struct") || token_is(r, k - 1, "union") ||
                             token_is(r, k - 1, "enum"));
        struct fe_name *n = tag ? NULL : lookup(r, k);
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

static void set_expr(struct reader *r, unsigned b, unsigned e)
{
    r->c->expr = extent_of(r, b, e);
    note_refs(r, b, e);
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
    struct fe_name *n = is_ident(r, k) ? lookup(r, k) : NULL;
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

static bool constant(struct reader *r, unsigned b, unsigned e, long long *out)
{
    struct eval v = { r, b, e, b >= e };
    *out = v.bad ? 0 : eval_binary(&v, 0);
    return !v.bad && v.k == e;
}

bool fe_constant(struct fe *fe, const struct fe_pragma *p, unsigned first, unsigned end,
                 long long *value)
{
    struct reader r = { .fe = fe, .p = (struct fe_pragma *)p, .end = end };
    return constant(&r, first, end, value);
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

static uint64_t count_of(struct reader *r, const struct omp_section *s, unsigned b, unsigned colon,
                         unsigned e)
{
    long long n = 1, lower = 0;
    if (s->is_section && colon + 1 < e)
        return constant(r, colon + 1, e, &n) && n > 0 ? (uint64_t)n : 0;
    if (!s->is_section)
        return 1;
    return (b == colon || constant(r, b, colon, &lower)) && s->dim && lower >= 0 &&
                   (uint64_t)lower < s->dim
               ? s->dim - (uint64_t)lower
               : 0;
}

static void apply_bracket(struct reader *r, struct chain *x, unsigned b, unsigned e)
{
    struct omp_section s = { .dim = type_is_array(x->type) ? bound_of(x->type) : 0 };
    unsigned colon = find_top(r, b, e, ":");
    if (find_top(r, b, e, "?") < colon)
        colon = e; /* a ?: inside an index */
    s.is_section = colon < e;
    s.lower = extent_of(r, b, colon);
    if (s.is_section) {
        unsigned second = find_top(r, colon + 1, e, ":");
        if (find_top(r, colon + 1, e, "?") < second)
            second = e;
        s.length = extent_of(r, colon + 1, second);
        if (second < e)
            s.stride = extent_of(r, second + 1, e);
        if (second < e && !(r->p->c->leaves & OMPL_UPDATE))
            fe_error(r->fe, offset_at(r, colon),
                     "array section with a stride is not supported yet outside of 'target update'");
    }
    s.count = count_of(r, &s, b, colon, e);
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
    struct fe_name *n = is_ident(r, k) ? lookup(r, k) : NULL;
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
    note_refs(r, b, e);
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

static void read_items(struct reader *r, unsigned b, unsigned e)
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

/* ------------------------------------------------------------ one function per kind of argument */
static void read_none(struct reader *r) { (void)r; }
static void read_raw(struct reader *r) { r->c->expr = extent_of(r, r->at, r->end); }
static void read_list(struct reader *r) { read_items(r, r->at, r->end); }

/* `lower : upper`, `strict: n`, `device_num: n` - what is behind the ':' counts. */
static void read_expr(struct reader *r)
{
    unsigned colon = find_top(r, r->at, r->end, ":"), question = find_top(r, r->at, r->end, "?");
    if (colon < r->end && question > colon) {
        if (colon == r->at + 1 && is_ident(r, r->at) && !lookup(r, r->at))
            r->c->word = word_at(r, r->at);
        else
            note_refs(r, r->at, colon);
        r->at = colon + 1;
    }
    set_expr(r, r->at, r->end);
    long long n;
    if (constant(r, r->at, r->end, &n))
        r->c->value = n;
}

static void read_const(struct reader *r)
{
    long long n = 0;
    r->c->expr = extent_of(r, r->at, r->end);
    if (r->at < r->end && !constant(r, r->at, r->end, &n) && r->c->kind == OMPC_COLLAPSE)
        fe_error(r->fe, offset_at(r, r->at),
                 "argument of clause '%s' is not a constant that can be evaluated here",
                 fe_clause_rows[r->c->kind].spelling);
    r->c->value = n;
}

static void bad_modifier(struct reader *r, unsigned k)
{
    fe_error(r->fe, offset_at(r, k), "modifier '%s' of clause '%s' is not supported yet",
             word_at(r, k), fe_clause_rows[r->c->kind].spelling);
}

static bool map_word(struct reader *r, unsigned k, unsigned *map, bool *typed)
{
    static const struct {
        const char *word;
        unsigned bits;
        bool type;
    } words[] = {
        { "to", OMPM_TO, true },           { "from", OMPM_FROM, true },
        { "tofrom", OMPM_TOFROM, true },   { "alloc", OMPM_ALLOC, true },
        { "release", OMPM_RELEASE, true }, { "delete", OMPM_DELETE, false },
        { "storage", OMPM_ALLOC, true },   { "always", OMPM_ALWAYS, false },
        { "close", OMPM_CLOSE, false },    { "present", OMPM_PRESENT, false },
    };
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (token_is(r, k, words[i].word)) {
            *map |= words[i].bits;
            *typed |= words[i].type || words[i].bits == OMPM_DELETE;
            return true;
        }
    return false;
}

static void read_map(struct reader *r)
{
    unsigned colon = find_top(r, r->at, r->end, ":"), leaves = r->p->c->leaves, map = 0;
    bool typed = false;
    if (colon < r->end) {
        for (unsigned k = r->at; k < colon; k++)
            if (!token_is(r, k, ",") && !map_word(r, k, &map, &typed)) {
                bad_modifier(r, k);
                return;
            }
        r->at = colon + 1;
    }
    if (!typed)
        map |= OMPM_TOFROM;
    if (leaves & OMPL_ENTER_DATA)
        map &= ~(unsigned)OMPM_FROM;
    if (leaves & OMPL_EXIT_DATA) {
        map &= ~(unsigned)OMPM_TO;
        if (!(map & (OMPM_FROM | OMPM_DELETE | OMPM_RELEASE)))
            map |= OMPM_RELEASE;
    }
    r->c->map = map;
    read_items(r, r->at, r->end);
}

/* to, from, has_device_addr, use_device_addr */
static void read_locator(struct reader *r)
{
    unsigned colon = find_top(r, r->at, r->end, ":");
    if (colon < r->end) {
        for (unsigned k = r->at; k < colon; k++) {
            bool typed = false;
            if (token_is(r, k, ","))
                continue;
            if (!token_is(r, k, "present") || !map_word(r, k, &r->c->map, &typed)) {
                bad_modifier(r, k);
                return;
            }
        }
        r->at = colon + 1;
    }
    if (r->c->kind == OMPC_TO)
        r->c->map |= OMPM_TO;
    if (r->c->kind == OMPC_FROM)
        r->c->map |= OMPM_FROM;
    read_items(r, r->at, r->end);
}

static void read_reduce(struct reader *r)
{
    static const struct {
        const char *op;
        enum omp_red_op code;
    } ops[] = {
        { "+", OMPR_ADD },   { "-", OMPR_SUB },   { "*", OMPR_MUL },   { "&", OMPR_AND },
        { "|", OMPR_OR },    { "^", OMPR_XOR },   { "&&", OMPR_LAND }, { "||", OMPR_LOR },
        { "min", OMPR_MIN }, { "max", OMPR_MAX },
    };
    unsigned colon = find_top(r, r->at, r->end, ":"), comma = find_top(r, r->at, colon, ",");
    if (comma < colon) {
        r->c->modifier = word_at(r, r->at);
        r->at = comma + 1;
    }
    r->c->op = OMPR_USER;
    for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++)
        if (token_is(r, r->at, ops[i].op))
            r->c->op = ops[i].code;
    r->c->word = fe_text(r->fe, extent_of(r, r->at, colon));
    read_items(r, colon + 1, r->end);
}

static void read_if(struct reader *r)
{
    static const struct {
        const char *word;
        enum omp_leaf leaf;
    } leaves[] = {
        { "target", OMPL_TARGET },
        { "parallel", OMPL_PARALLEL },
        { "simd", OMPL_SIMD },
        { "teams", OMPL_TEAMS },
        { "task", OMPL_TASK },
        { "taskloop", OMPL_TASKLOOP },
        { "target data", OMPL_TARGET_DATA },
        { "target enter data", OMPL_ENTER_DATA },
        { "target exit data", OMPL_EXIT_DATA },
        { "target update", OMPL_UPDATE },
        { "cancel", OMPL_OTHER },
        { "target_data", OMPL_TARGET_DATA },
        { "target_enter_data", OMPL_ENTER_DATA },
        { "target_exit_data", OMPL_EXIT_DATA },
        { "target_update", OMPL_UPDATE },
    };
    unsigned colon = find_top(r, r->at, r->end, ":");
    for (unsigned i = 0; colon < r->end && i < sizeof leaves / sizeof *leaves; i++) {
        const char *w = leaves[i].word;
        unsigned k = r->at;
        for (size_t n; k < colon && *w; k++, w += n + (w[n] == ' ')) {
            n = strcspn(w, " ");
            if (r->p->tokens[k].end - r->p->tokens[k].begin != n ||
                strncmp(text_of(r) + r->p->tokens[k].begin, w, n))
                break;
        }
        if (*w || k != colon)
            continue;
        r->c->if_leaf = leaves[i].leaf;
        r->at = colon + 1;
        break;
    }
    set_expr(r, r->at, r->end);
}

static void read_sched(struct reader *r)
{
    static const struct {
        const char *word;
        enum omp_sched s;
    } kinds[] = {
        { "static", OMPSCHED_STATIC },   { "dynamic", OMPSCHED_DYNAMIC },
        { "guided", OMPSCHED_GUIDED },   { "auto", OMPSCHED_AUTO },
        { "runtime", OMPSCHED_RUNTIME },
    };
    unsigned comma = find_top(r, r->at, r->end, ","), colon = find_top(r, r->at, r->end, ":");
    if (colon < r->end &&
        find_top(r, r->at, colon, "?") == colon) { /* monotonic, nonmonotonic, simd */
        r->at = colon + 1;
        comma = find_top(r, r->at, r->end, ",");
    }
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (token_is(r, r->at, kinds[i].word))
            r->c->sched = kinds[i].s;
    if (comma < r->end)
        set_expr(r, comma + 1, r->end);
}

static void read_mapdef(struct reader *r)
{
    static const struct {
        const char *word;
        enum fe_defaultmap m;
    } words[] = {
        { "default", DMAP_DEFAULT }, { "alloc", DMAP_ALLOC },
        { "to", DMAP_TO },           { "from", DMAP_FROM },
        { "tofrom", DMAP_TOFROM },   { "firstprivate", DMAP_FIRSTPRIVATE },
        { "private", DMAP_PRIVATE }, { "none", DMAP_NONE },
        { "present", DMAP_PRESENT }, { "storage", DMAP_ALLOC },
    };
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (token_is(r, r->at, words[i].word))
            r->c->map = words[i].m;
    unsigned colon = find_top(r, r->at, r->end, ":");
    r->c->word = colon + 1 < r->end ? word_at(r, colon + 1) : "all";
}

static void read_word(struct reader *r)
{
    /* behind modifiers: order(reproducible: concurrent) */
    if (r->end > r->at)
        r->c->word = word_at(r, r->end - 1);
    if (r->c->kind == OMPC_DEFAULT && r->end > r->at)
        r->c->word = word_at(r, r->at);
}

static void read_linear(struct reader *r)
{
    unsigned colon = find_top(r, r->at, r->end, ":"), list_end = colon;
    for (unsigned k = colon + 1; k < r->end;) { /* step, step(n), val */
        unsigned comma = find_top(r, k, r->end, ",");
        if (token_is(r, k, "step") && token_is(r, k + 1, "("))
            set_expr(r, k + 2, comma - 1);
        else if (!token_is(r, k, "val") && !token_is(r, k, "uval") && !token_is(r, k, "ref"))
            set_expr(r, k, comma);
        k = comma + 1;
    }
    if (token_is(r, r->at, "val") && token_is(r, r->at + 1, "(")) {
        r->at += 2;
        list_end = closing(r, r->at - 1);
    }
    read_items(r, r->at, list_end);
}

static void read_lastpriv(struct reader *r)
{
    unsigned colon = find_top(r, r->at, r->end, ":");
    if (colon < r->end) {
        r->c->word = word_at(r, r->at);
        r->at = colon + 1;
    }
    read_items(r, r->at, r->end);
}

static void (*const readers[])(struct reader *) = {
    [ARG_NONE] = read_none,         [ARG_EXPR] = read_expr,       [ARG_CONST] = read_const,
    [ARG_LIST] = read_list,         [ARG_LOCATOR] = read_locator, [ARG_MAP] = read_map,
    [ARG_REDUCE] = read_reduce,     [ARG_IF] = read_if,           [ARG_SCHED] = read_sched,
    [ARG_MAPDEF] = read_mapdef,     [ARG_WORD] = read_word,       [ARG_LINEAR] = read_linear,
    [ARG_LASTPRIV] = read_lastpriv, [ARG_ALIGN] = read_raw,       [ARG_RAW] = read_raw,
};

/* ------------------------------------------------------------------ the clauses of a directive */
static bool listed(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = words; (p = strstr(p, word)); p += n)
        if ((p == words || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
            return true;
    return false;
}

static int clause_named(struct reader *r, unsigned k)
{
    int found = -1;
    for (int i = 0; i < OMPC_COUNT; i++)
        if (token_is(r, k, fe_clause_rows[i].spelling))
            found = i;
    return found;
}

static bool allowed(const struct fe_pragma *p, int kind)
{
    for (unsigned i = 0; i < p->nrows; i++)
        if (listed(p->rows[i]->clauses, fe_clause_rows[kind].spelling))
            return true;
    return false;
}

static void add_clause(struct omp_construct *c, struct omp_clause *clause)
{
    struct omp_clause **tail = &c->clauses;
    while (*tail)
        tail = &(*tail)->next;
    *tail = clause;
}

static unsigned read_clause(struct reader *r, int kind, unsigned k)
{
    bool argument = token_is(r, k + 1, "(");
    unsigned last = argument ? closing(r, k + 1) : k;
    unsigned ntokens = r->p->ntokens;
    r->c = arena_alloc(r->fe->a, sizeof *r->c);
    r->c->kind = (enum omp_clause_kind)kind;
    r->c->place = fe_place(r->fe->u, offset_at(r, k));
    r->c->extent = extent_of(r, k, last < ntokens ? last + 1 : ntokens);
    add_clause(r->p->c, r->c);
    r->at = argument ? k + 2 : last + 1;
    r->end = argument ? last : last + 1;
    if (argument || fe_clause_rows[kind].arg == ARG_NONE)
        readers[fe_clause_rows[kind].arg](r);
    r->end = ntokens;
    return last + 1;
}

/* critical(name), flush(list), threadprivate(list), declare target(list) */
static unsigned directive_argument(struct reader *r, unsigned k)
{
    unsigned close = closing(r, k), leaves = r->p->c->leaves;
    if (leaves & OMPL_CRITICAL)
        r->p->c->name = fe_text(r->fe, extent_of(r, k + 1, close));
    bool threadprivate = r->p->nrows && !strcmp(r->p->rows[0]->spelling, "threadprivate");
    if ((leaves & OMPL_DECLARE_TARGET) || threadprivate) {
        r->c = arena_alloc(r->fe->a, sizeof *r->c);
        r->c->kind = threadprivate ? OMPC_PRIVATE : OMPC_ENTER;
        r->c->place = r->p->c->place;
        r->c->extent = extent_of(r, k, close < r->p->ntokens ? close + 1 : close);
        read_items(r, k + 1, close);
        for (unsigned i = 0; threadprivate && i < r->c->nitems; i++)
            if (r->c->items[i].var)
                r->fe->var_flags.at[r->c->items[i].var->id] |= FE_VAR_THREADPRIVATE;
        if (!threadprivate)
            add_clause(r->p->c, r->c);
    }
    return close + 1;
}

static void read_clauses(struct fe *fe, struct fe_pragma *p)
{
    struct reader r = { .fe = fe, .p = p, .end = p->ntokens };
    unsigned k = p->clauses_at;
    if (k < p->ntokens && token_is(&r, k, "("))
        k = directive_argument(&r, k);
    while (k < p->ntokens) {
        int kind = is_ident(&r, k) ? clause_named(&r, k) : -1;
        if (kind >= 0 && allowed(p, kind)) {
            k = read_clause(&r, kind, k);
            continue;
        }
        if (is_ident(&r, k) && !p->unexpected && !(p->c->leaves & OMPL_OTHER))
            p->unexpected = p->tokens[k].begin;
        k = token_is(&r, k + 1, "(") ? closing(&r, k + 1) + 1 : k + 1;
    }
}

void fe_note_refs(struct fe *fe, const struct fe_pragma *p, unsigned first, unsigned end)
{
    struct reader r = { .fe = fe, .p = (struct fe_pragma *)p, .end = end };
    note_refs(&r, first, end);
}

void fe_parse_clauses(struct fe *fe)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        if (fe_is_declare_reduction(&fe->pragmas.at[i]))
            fe_read_udr(fe, &fe->pragmas.at[i]);
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        if (!strstr(fe->pragmas.at[i].c->spelling, "declare reduction") &&
            !strstr(fe->pragmas.at[i].c->spelling, "declare mapper"))
            read_clauses(fe, &fe->pragmas.at[i]);
}

struct omp_clause *fe_clause(const struct omp_construct *c, enum omp_clause_kind kind)
{
    for (struct omp_clause *x = c->clauses; x; x = x->next)
        if (x->kind == kind)
            return x;
    return NULL;
}
