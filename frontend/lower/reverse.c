/* reverse.c - target device(ancestor: 1): a region of the host that a region of the device calls.
 *
 * The statement becomes a function of the host at the end of the file, which a constructor
 * registers under a number; in its place stands the call of that number, with what the function
 * needs of the variables (hostrt/mailbox.h):
 *
 *     target device(ancestor: 1) map(a)   { unsigned long i[][5] = { { &a, sizeof a, 0, 3, 0 } };
 *     a[0] = x;                             __ompgpu_reverse(KEY, i, n); }
 *
 *     static void f(void **v) { (*(int (*)[9])v[0])[0] = *(int *)v[1]; }
 *
 * clang knows neither the directive nor `requires reverse_offload`. */
#include "frontend/lower/lower.h"
#include "hostrt/mailbox.h"
#include <string.h>

struct item { /* as expressions */
    struct omp_var *var;
    const char *at, *size, *base;
    unsigned flags, of;
};
struct region {
    struct lowering *l;
    struct fe_pragma *p;
    struct omp_extent body;
    struct item items[OMPGPU_REVERSE_ITEMS];
    unsigned n;
    const char *objects; /* the function's parameter */
};

/* ------------------------------------------------------------------ items */
bool lower_is_reverse(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    return p->c->leaves == OMPL_TARGET && lower_find(fe, p, OMPC_DEVICE, p->clauses_at, &a) &&
           lower_keyword(fe, p, a.begin) == OMPK_ANCESTOR && fe_word_at(fe, p, a.begin + 1, ":");
}

static void refuse(struct region *r, unsigned k, enum fe_unsupported what, const char *a,
                   const char *b)
{
    fe_unsupported(r->l->fe, fe_place(r->l->fe->u, r->p->tokens[k].begin), what, a, b);
}

static void add_item(struct region *r, struct item item)
{
    if (r->n == OMPGPU_REVERSE_ITEMS) {
        fe_error_at(r->l->fe, r->p->c->place,
                    "'%s' with device(ancestor: …) uses more than %d "
                    "variables and list items",
                    r->p->c->spelling, OMPGPU_REVERSE_ITEMS);
        r->n = 0;
    }
    r->items[r->n++] = item;
}

static struct item whole(struct region *r, struct omp_var *v, unsigned flags)
{
    struct fe *fe = r->l->fe;
    return (struct item){ .var = v,
                          .at = arena_printf(fe->a, "&(%s)", v->name),
                          .size = arena_printf(fe->a, "sizeof(%s)", v->name),
                          .base = "0",
                          .flags = flags };
}

/* What the variable is to the region, without a clause or firstprivate. */
static struct item implicit(struct region *r, struct omp_var *v, bool firstprivate)
{
    bool aggregate = v->type->kind == OMPT_ARRAY || v->type->kind == OMPT_RECORD;
    unsigned flags = OMPM_TO | OMPGPU_REVERSE_COPY;
    if (v->type->kind == OMPT_POINTER)
        flags |= OMPGPU_REVERSE_POINTER;
    return whole(r, v, aggregate && !firstprivate ? OMPM_TOFROM : flags);
}

/* x[lower: length] or x[i], tokens [k, end). */
static void add_section(struct region *r, struct omp_var *v, unsigned k, unsigned end, unsigned how)
{
    struct fe *fe = r->l->fe;
    unsigned colon = fe_find_top(fe, r->p, k + 2, end - 1, ":");
    bool pointer = v->type->kind == OMPT_POINTER, range = colon < end - 1;
    const char *x = v->name, *lower = lower_tokens(fe, r->p, k + 2, colon), *length = "1";
    lower = *lower ? lower : "0";
    if (range)
        length = lower_tokens(fe, r->p, colon + 1, end - 1);
    if (!*length)
        length = arena_printf(fe->a, "sizeof(%s) / sizeof((%s)[0]) - (%s)", x, x, lower);
    if (pointer)
        add_item(r, whole(r, v, OMPM_TO | OMPGPU_REVERSE_COPY));
    add_item(r, (struct item){ .var = pointer ? NULL : v,
                               .at = arena_printf(fe->a, "&(%s)[%s]", x, lower),
                               .size = arena_printf(fe->a, "(%s) * sizeof((%s)[0])", length, x),
                               .base = arena_printf(fe->a, "(%s) * sizeof((%s)[0])", lower, x),
                               .flags = how | (pointer ? OMPGPU_REVERSE_SECTION : 0),
                               .of = r->n ? r->n - 1 : 0 });
}

/* A list item, tokens [k, end). */
static void add_listed(struct region *r, enum omp_clause_kind kind, unsigned k, unsigned end,
                       unsigned how)
{
    struct fe *fe = r->l->fe;
    const struct omp_ref *ref = k < end ? fe_ref_at(fe, r->p->tokens[k].begin) : NULL;
    bool alone = end == k + 1, section = !alone && fe_word_at(fe, r->p, k + 1, "[") &&
                                         fe_closing(fe, r->p, k + 1) == end - 1 && kind == OMPC_MAP;
    if (!ref || !(alone || section))
        refuse(r, k, UNSUPPORTED_LIST_ITEM, lower_tokens(fe, r->p, k, end),
               fe_clause_rows[kind].spelling);
    else if (section)
        add_section(r, ref->var, k, end, how);
    else if (kind == OMPC_MAP)
        add_item(r, whole(r, ref->var, how));
    else if (kind == OMPC_PRIVATE)
        add_item(r, whole(r, ref->var, OMPGPU_REVERSE_COPY));
    else
        add_item(r, implicit(r, ref->var, true));
}

/* The words before the colon of a map clause; those after it begin at *k. */
static unsigned read_map_type(struct region *r, const struct lower_argument *a, unsigned *k)
{
    struct fe *fe = r->l->fe;
    unsigned colon = fe_find_top(fe, r->p, a->begin, a->end, ":"), how = 0;
    bool typed = false;
    *k = colon < a->end ? colon + 1 : a->begin;
    for (unsigned i = a->begin; i < *k; i++) {
        const struct fe_token *t = &r->p->tokens[i];
        const char *word = fe_text(fe, (struct omp_extent){ t->begin, t->end });
        bool type = fe_word(WORDS_MAP_TYPE, word, strlen(word), &how);
        typed |= type;
        if (t->kind == TOK_IDENT && !type && !fe_word(WORDS_MAP_MODIFIER, word, strlen(word), &how))
            refuse(r, i, UNSUPPORTED_MODIFIER, word, "map");
    }
    return (typed ? how : how | OMPM_TOFROM) &
           (OMPM_TOFROM | (unsigned)OMPM_ALWAYS | (unsigned)OMPM_PRESENT);
}

static void read_clause(struct region *r, enum omp_clause_kind kind, const struct lower_argument *a)
{
    struct fe *fe = r->l->fe;
    long long level = 0;
    unsigned k = a->begin, how = 0;
    switch (kind) {
    case OMPC_NOWAIT: return; /* it is done at once */
    case OMPC_DEVICE:
        if (!fe_constant(fe, r->p, a->begin + 2, a->end, &level) || level != 1)
            fe_error(fe, r->p->tokens[a->begin].begin, "the ancestor must be 1, the host");
        return;
    case OMPC_MAP: how = read_map_type(r, a, &k); break;
    case OMPC_PRIVATE:
    case OMPC_FIRSTPRIVATE: break;
    default:
        refuse(r, a->at, UNSUPPORTED_CLAUSE, fe_clause_rows[kind].spelling,
               "target device(ancestor: …)");
        return;
    }
    for (unsigned end; k < a->end; k = end + 1) {
        end = fe_find_top(fe, r->p, k, a->end, ",");
        add_listed(r, kind, k, end, how);
    }
}

static void read_clauses(struct region *r)
{
    struct fe *fe = r->l->fe;
    struct lower_argument a;
    for (unsigned k = r->p->clauses_at; k < r->p->ntokens; k = lower_after(fe, r->p, &a)) {
        enum omp_clause_kind kind = fe_clause_named(fe, &r->p->tokens[k]);
        if (kind == OMPC_COUNT)
            return; /* reported as no clause */
        lower_find(fe, r->p, kind, k, &a);
        read_clause(r, kind, &a);
    }
}

/* ------------------------------------------------------------------ variables */
static int item_of(const struct region *r, const struct omp_var *v)
{
    for (unsigned i = 0; i < r->n; i++)
        if (r->items[i].var == v)
            return (int)i;
    return -1;
}

/* Of the type, or of what it consists of or points to: declared in a function? */
static bool is_local_type(CXType t)
{
    t = clang_getCanonicalType(t);
    for (CXType inner; t.kind != CXType_Record && t.kind != CXType_Enum; t = inner) {
        inner = t.kind == CXType_Pointer ? clang_getPointeeType(t) : clang_getArrayElementType(t);
        if (inner.kind == CXType_Invalid)
            return false;
        inner = clang_getCanonicalType(inner);
    }
    CXCursor owner = clang_getCursorSemanticParent(clang_getTypeDeclaration(t));
    return clang_getCursorKind(owner) == CXCursor_FunctionDecl;
}

static bool lists(const struct fe *fe, const struct fe_pragma *p, const struct omp_var *v)
{
    for (unsigned k = p->clauses_at; k < p->ntokens; k++) {
        const struct omp_ref *ref = fe_ref_at(fe, p->tokens[k].begin);
        if (ref && ref->var == v)
            return true;
    }
    return false;
}

/* Of the file: by a list, or between begin and end. */
static bool is_declare_target(const struct fe *fe, const struct omp_var *v)
{
    int depth = 0;
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        const struct fe_pragma *p = &fe->pragmas.at[i];
        bool opens = p->c->directive == OMPDIR_BEGIN_DECLARE_TARGET ||
                     (p->c->directive == OMPDIR_DECLARE_TARGET && p->clauses_at == p->ntokens);
        if ((p->c->leaves & OMPL_DECLARE_TARGET) && lists(fe, p, v))
            return true;
        if (p->extent.begin < v->decl)
            depth += opens - ((p->c->leaves & OMPL_END_DECLARE_TARGET) != 0);
    }
    return depth > 0;
}

static bool is_in_region(struct fe *fe, const struct fe_pragma *inner)
{
    for (const struct fe_pragma *p = fe->pragmas.at; p < inner; p++)
        if ((p->c->leaves & OMPL_TARGET) && p->found &&
            fe_stmt_end(fe, p->stmt) > inner->extent.begin)
            return true;
    return false;
}

/* A scalar of the file has a copy in the region around; all else of the file is the function's own.
 */
static bool is_own(struct region *r, const struct omp_var *v)
{
    bool aggregate = v->type->kind == OMPT_ARRAY || v->type->kind == OMPT_RECORD;
    return v->storage == OMPS_GLOBAL && item_of(r, v) < 0 &&
           (aggregate || is_declare_target(r->l->fe, v) || !is_in_region(r->l->fe, r->p));
}

static void add_used(struct region *r)
{
    struct fe *fe = r->l->fe;
    FE_EACH(ref, fe->refs, r->body) {
        struct omp_var *v = ref->var;
        if (fe_inside(v->decl, r->body) || is_own(r, v))
            continue;
        if (v->storage != OMPS_GLOBAL &&
            (v->type->variably_modified || is_local_type(fe->var_types.at[v->id]))) {
            fe_error(fe, ref->offset,
                     "'%s' in 'target device(ancestor: …)': its type is known only "
                     "in the function",
                     v->name);
            return;
        }
        if (item_of(r, v) < 0)
            add_item(r, implicit(r, v, false));
    }
}

/* ------------------------------------------------------------------ text */
static const char *object(const struct region *r, const struct omp_var *v)
{
    const char *type = v->storage == OMPS_GLOBAL ? v->name : v->type->spelling;
    return arena_printf(r->l->fe->a, "(*(__typeof__(%s) *)%s[%d])", type, r->objects,
                        item_of(r, v));
}

static const char *body_text(const struct region *r)
{
    struct fe *fe = r->l->fe;
    struct omp_extent e = r->body;
    const char *text = fe_marker(fe, fe_place(fe->u, e.begin), false);
    FE_EACH(ref, fe->refs, r->body) {
        if (item_of(r, ref->var) < 0 || ref->offset < e.begin)
            continue;
        text = arena_printf(fe->a, "%s%s%s", text,
                            fe_text(fe, (struct omp_extent){ e.begin, ref->offset }),
                            object(r, ref->var));
        e.begin = ref->offset + ref->length;
    }
    return arena_printf(fe->a, "%s%s", text, fe_text(fe, e));
}

/* Of this region in this file, among those of all files of a program: FNV-1a. */
static unsigned long long key_of(const struct region *r)
{
    const struct fe *fe = r->l->fe;
    unsigned long long key = 0xcbf29ce484222325ull ^ r->body.begin;
    for (const char *s = fe->u->path; *s; s++)
        key = (key ^ (unsigned char)*s) * 0x100000001b3ull;
    for (size_t i = 0; i < fe->u->length; i++)
        key = (key ^ (unsigned char)fe->u->text[i]) * 0x100000001b3ull;
    return key;
}

static const char *call_text(const struct region *r, unsigned long long key)
{
    struct fe *fe = r->l->fe;
    const char *items = lower_name(r->l, "items"), *list = "";
    for (unsigned i = 0; i < r->n; i++)
        list = arena_printf(fe->a, "%s{ (unsigned long)(%s), %s, %s, %uul, %uul }, ", list,
                            r->items[i].at, r->items[i].size, r->items[i].base, r->items[i].flags,
                            r->items[i].of);
    return arena_printf(fe->a,
                        "{ extern void __ompgpu_reverse(unsigned long long, const void *, "
                        "unsigned); const unsigned long %s[][5] = { %s{ 0 } }; "
                        "__ompgpu_reverse(%lluull, %s, %u); }",
                        items, list, key, items, r->n);
}

static void add_function(struct region *r, unsigned long long key)
{
    struct fe *fe = r->l->fe;
    const char *name = lower_name(r->l, "reverse");
    fe_add_edit(fe, &r->l->edits, (unsigned)fe->u->length, 0,
                arena_printf(fe->a,
                             "\nstatic void %s(void **%s) { (void)%s; %s\n}\n"
                             "__attribute__((constructor)) static void %s_register(void) { extern "
                             "void %sreverse_register(unsigned long long, void (*)(void **)) "
                             "__asm__(\"__ompgpu_reverse_register\"); "
                             "%sreverse_register(%lluull, %s); }\n",
                             name, r->objects, r->objects, body_text(r), name, fe->u->prefix,
                             fe->u->prefix, key, name));
}

void lower_reverse(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct region r = { .l = l, .p = p };
    if (!p->found)
        return;
    r.body = (struct omp_extent){ fe_begin(fe, p->stmt), fe_stmt_end(fe, p->stmt) };
    r.objects = lower_name(l, "objects");
    read_clauses(&r);
    add_used(&r);
    unsigned long long key = key_of(&r);
    add_function(&r, key);
    lower_replace(l, lower_statement(fe, p), call_text(&r, key));
}
