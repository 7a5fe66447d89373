/* probe.c - shows libclang the arguments of directives.
 *
 * libclang parses the text without -fopenmp and sees no pragma.  So it gets another text, in which
 * each directive with arguments is a *probe*: code in the same scope that has each argument as an
 * operand in parentheses, in the order of the text.
 *
 *     #pragma omp target update to(a[l:n])    _Static_assert(sizeof(0,(a[(l),(n)]),0),"");
 *     #pragma omp parallel for if(n > 9)      if(0,(n > 9),0);else
 *     map(iterator(i=0:n), to: p[i])          ({int i;(0),(n),(p[(i)]),0;})
 *     #pragma ompx target spread ...          the same, with the names for the part of a device
 *     #pragma omp declare mapper(...)         a prototype for each clause: the mapper's variable
 *                                             and iterators are parameters, the operands stand in
 *                                             the bound of a further one
 *     #pragma omp declare reduction(...)      a prototype for each type: omp_in, omp_out, omp_priv
 *                                             and omp_orig are parameters, combiner and initialiser
 *                                             stand in the bound of a further one; a statement
 *                                             expression, which is not allowed there at file
 *                                             scope, makes the probe a function
 *     #pragma omp declare induction(...)      the same: omp_var, omp_step, omp_idx
 *
 * What belongs to a statement is an `if` that no `else` of the user can belong to.  The rest is
 * declarations: they are allowed at file scope, too.  Operands are copied as they are; the table of
 * segments leads from offsets in what libclang sees to offsets in the user's text.  All else of a
 * probe has no place there: it maps to the end of what is before it.
 *
 * The walk (walk/) remembers the cursor of each operand; clause.c takes types, values and uses from
 * there.  An argument with an error is left out and the text parsed again: clang reports it on the
 * user's text.
 *
 * The second thing that libclang must not see: functions between `begin declare variant` and `end
 * declare variant`, which have the names of others. */
#include "frontend/reader.h"
#include <stdlib.h>

/* ------------------------------------------------------------------ operands */
static int by_begin(const void *a, const void *b)
{
    const struct fe_operand *x = a, *y = b;
    return (x->text.begin > y->text.begin) - (x->text.begin < y->text.begin);
}

void fe_collect_operands(struct fe *fe)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        struct fe_pragma *p = &fe->pragmas.at[i];
        p->first_operand = fe->operands.n;
        fe_collect_arguments(fe, p);
        p->noperands = fe->operands.n - p->first_operand;
        if (p->noperands)
            qsort(fe->operands.at + p->first_operand, p->noperands, sizeof *fe->operands.at,
                  by_begin);
    }
}

void fe_add_operand(struct reader *r, unsigned b, unsigned e, bool item)
{
    if (b < e)
        *VEC_PUSH(r->fe->a, &r->fe->operands) =
            (struct fe_operand){ .text = extent_of(r, b, e), .item = item };
}

const struct fe_operand *fe_operand_at(const struct fe *fe, unsigned begin)
{
    const struct fe_operand key = { .text.begin = begin };
    const struct fe_operand *o = fe->operands.n ? bsearch(&key, fe->operands.at, fe->operands.n,
                                                          sizeof *fe->operands.at, by_begin)
                                                : NULL;
    return o && o->found ? o : NULL;
}

/* The operand whose parenthesis opens there. */
static struct fe_operand *operand_opened_at(struct fe *fe, const struct fe_pragma *p, unsigned seen)
{
    for (unsigned i = 0; i < p->noperands; i++)
        if (fe->operands.at[p->first_operand + i].open == seen)
            return &fe->operands.at[p->first_operand + i];
    return NULL;
}

void fe_found_operand(struct fe *fe, const struct fe_probe *probe, unsigned seen, CXCursor c)
{
    struct fe_operand *o = operand_opened_at(fe, probe->pragma, seen);
    if (o && !o->found) {
        o->found = true;
        o->cursor = c;
    }
}

/* ------------------------------------------------------------------ writing */
static void put_text(struct fe *fe, const char *s, size_t n)
{
    while (fe->seen.n + n > fe->seen.cap)
        fe->seen.at = arena_grow(fe->a, fe->seen.at, &fe->seen.cap, 1);
    memcpy(fe->seen.at + fe->seen.n, s, n);
    fe->seen.n += (unsigned)n;
}
static void put(struct fe *fe, const char *s) { put_text(fe, s, strlen(s)); }

static void put_segment(struct fe *fe, unsigned begin, unsigned end)
{
    if (begin >= end)
        return;
    *VEC_PUSH(fe->a, &fe->segments) = (struct fe_segment){ fe->seen.n, begin, end - begin };
    put_text(fe, fe->u->text + begin, end - begin);
}

static void put_operand(struct reader *r, unsigned b, unsigned e);

/* `[l:n:s]` becomes `[(l),(n),(s)]`, with 0 for what is not there. */
static void put_bracket(struct reader *r, const struct bracket *x)
{
    for (unsigned i = 0; i < x->nparts; i++) {
        if (i)
            put(r->fe, ",");
        if (x->part[i].begin < x->part[i].end)
            put_operand(r, x->part[i].begin, x->part[i].end);
        else
            put(r->fe, "0");
    }
}

/* `([n][m])p` becomes `(*(__typeof__((p)[0])(*)[n][m])p)`. */
static void put_shape(struct reader *r, const struct shape *s)
{
    struct omp_extent dimensions = extent_of(r, s->dimensions, s->end),
                      pointer = extent_of(r, s->pointer, s->pointer_end);
    put(r->fe, "(*(__typeof__((");
    put_segment(r->fe, pointer.begin, pointer.end);
    put(r->fe, ")[0])(*)");
    put_segment(r->fe, dimensions.begin, dimensions.end);
    put(r->fe, ")");
    put_segment(r->fe, pointer.begin, pointer.end);
    put(r->fe, ")");
}

/* The innermost text of an operand, with the operands in its brackets. */
static void put_operand(struct reader *r, unsigned b, unsigned e)
{
    struct fe *fe = r->fe;
    struct fe_operand key = { .text.begin = r->p->tokens[b].begin };
    struct fe_operand *o = bsearch(&key, fe->operands.at + r->p->first_operand, r->p->noperands,
                                   sizeof *fe->operands.at, by_begin);
    put(fe, "(");
    if (o && !o->open)
        o->open = fe->seen.n - 1;
    struct shape shape;
    if (o && o->item && read_shape(r, b, e, &shape)) {
        put_shape(r, &shape);
        b = shape.rest;
    }
    unsigned at = offset_at(r, b);
    for (unsigned k = b; k < e && o && o->item; k++) {
        struct bracket x;
        if (!token_is(r, k, "[") || !read_bracket(r, k, &x) || x.close >= e)
            continue;
        put_segment(fe, at, r->p->tokens[k].end);
        put_bracket(r, &x);
        at = r->p->tokens[x.close].begin;
        k = x.close;
    }
    put_segment(fe, at, r->p->tokens[e - 1].end);
    put(fe, ")");
}

/* No expression begins with a colon, and clang 22 hangs on `(::x)`. */
static bool is_endless(struct reader *r, const struct fe_operand *o)
{
    unsigned b = token_at(r, o->text.begin), e = token_at(r, o->text.end);
    for (unsigned k = b; k < e; k++)
        if (r->fe->u->text[r->p->tokens[k].begin] == ':' && (k == b || token_is(r, k - 1, "(")))
            return true;
    return false;
}

static void put_type(struct reader *r, unsigned b, unsigned e)
{
    put(r->fe, "__typeof__(");
    put_segment(r->fe, r->p->tokens[b].begin, r->p->tokens[e - 1].end);
    put(r->fe, ")");
}

/* ------------------------------------------------------------------ variables of clauses */
static const struct fe_group *group_at(const struct fe *fe, const struct fe_pragma *p,
                                       unsigned offset)
{
    for (unsigned i = 0; i < p->ngroups; i++)
        if (fe_inside(offset, fe->groups.at[p->first_group + i].clause))
            return &fe->groups.at[p->first_group + i];
    return NULL;
}

static void put_iterators(struct fe *fe, const struct fe_group *g, const char *after)
{
    for (unsigned i = 0; i < g->niterators; i++) {
        const struct omp_iterator *it = &g->iterators[i];
        if (it->type.end)
            put_segment(fe, it->type.begin, it->type.end);
        put(fe, it->type.end ? " " : "int ");
        put_segment(fe, it->name.begin, it->name.end);
        put(fe, after);
    }
}

static bool is_mapper(const struct reader *r)
{
    return r->p->c->directive == OMPDIR_DECLARE_MAPPER;
}

static void open_group(struct reader *r, const struct fe_group *g)
{
    struct fe *fe = r->fe;
    unsigned open = r->p->clauses_at, close = closing(r, open),
             colon = find_top(r, open + 1, close, ":"), type = colon < close ? colon + 1 : open + 1;
    if (!is_mapper(r)) {
        put(fe, "({");
        put_iterators(fe, g, ";");
        return;
    }
    put(fe, arena_printf(fe->a, "void __ompgpu_probe_%u_%u(", fe->probes.n, g->clause.begin));
    put_segment(fe, r->p->tokens[type].begin, r->p->tokens[close - 1].end);
    put(fe, ",");
    put_iterators(fe, g, ",");
    put(fe, "int omp_probe[sizeof(0,");
}

static void enter_group(struct reader *r, const struct fe_group **open, const struct fe_group *g)
{
    if (*open == g)
        return;
    if (*open)
        put(r->fe, is_mapper(r) ? "0)]);" : "0;}),");
    if (g)
        open_group(r, g);
    *open = g;
}

static void put_operands(struct reader *r)
{
    const struct fe_pragma *p = r->p;
    const struct fe_group *open = NULL;
    unsigned done = 0; /* operands in brackets are written with the item */
    for (unsigned i = 0; i < p->noperands; i++) {
        struct fe_operand *o = &r->fe->operands.at[p->first_operand + i];
        o->bad |= is_endless(r, o);
        if (o->bad || o->text.begin < done)
            continue;
        done = o->text.end;
        enter_group(r, &open, group_at(r->fe, p, o->text.begin));
        put_operand(r, token_at(r, o->text.begin), token_at(r, o->text.end));
        put(r->fe, ",");
    }
    enter_group(r, &open, NULL);
}

static bool has_good_operand(const struct fe *fe, const struct fe_pragma *p)
{
    for (unsigned i = 0; i < p->noperands; i++)
        if (!fe->operands.at[p->first_operand + i].bad)
            return true;
    return false;
}

static void put_parameters(struct reader *r, unsigned b, unsigned e)
{
    static const char *const names[] = { " omp_in,", " omp_out,", " omp_priv,", " omp_orig," };
    bool induction = r->p->c->directive == OMPDIR_DECLARE_INDUCTION;
    struct fe_type_pair t = fe_type_pair(r->fe, r->p, b, e);
    for (unsigned i = 0; i < sizeof names / sizeof *names && !induction; i++) {
        put_type(r, b, e);
        put(r->fe, names[i]);
    }
    if (!induction)
        return;
    put_type(r, t.begin, t.end);
    put(r->fe, " omp_var,");
    put_type(r, t.step, t.step_end);
    put(r->fe, " omp_step,long omp_idx,");
}

/* The prototype, or the function, for the type in tokens [b, e). */
static void put_prototype(struct reader *r, unsigned b, unsigned e, unsigned number)
{
    struct fe *fe = r->fe;
    bool function = r->p->as_function && has_good_operand(fe, r->p);
    put(fe, arena_printf(fe->a, "%s __ompgpu_probe_%u_%u(", function ? "static void" : "void",
                         fe->probes.n, number));
    put_parameters(r, b, e);
    put(fe, function ? "int omp_probe){(void)(0," : "int omp_probe[sizeof(");
    for (unsigned i = 0; i < r->p->noperands; i++) {
        const struct fe_operand *o = &fe->operands.at[r->p->first_operand + i];
        if (o->bad)
            continue;
        if (fe->u->text[o->text.begin] == '{') {
            put(fe, "(");
            put_type(r, b, e);
            put(fe, ")");
            put_segment(fe, o->text.begin, o->text.end);
        } else {
            put_operand(r, token_at(r, o->text.begin), token_at(r, o->text.end));
        }
        put(fe, ",");
    }
    put(fe, function ? "0);}" : "0)]);");
}

static void put_prototypes(struct reader *r, struct omp_extent types)
{
    unsigned end, last = token_at(r, types.end), number = 0;
    for (unsigned k = token_at(r, types.begin); k < last; k = end + 1) {
        end = find_top(r, k, last, ",");
        if (k < end)
            put_prototype(r, k, end, number++);
    }
}

static void put_probe(struct fe *fe, struct fe_pragma *p)
{
    struct reader r = { .fe = fe, .p = p, .end = p->ntokens };
    bool statement = p->assoc == ASSOC_STMT || p->assoc == ASSOC_LOOP || p->takes_statement;
    struct omp_udr d;
    unsigned begin = fe->seen.n;
    if (fe_is_for_types(p)) {
        if (fe_read_udr_parts(&r, &d))
            put_prototypes(&r, d.types);
    } else if (is_mapper(&r)) {
        put_operands(&r);
    } else {
        bool spread = fe_is_spread(p);
        put(fe, statement ? "if(0," : "_Static_assert(sizeof(0,");
        put(fe, spread ? "({long omp_spread_start,omp_spread_size;" : "");
        put_operands(&r);
        put(fe, spread ? "0;})," : "");
        put(fe, statement ? "0);else" : "0),\"\");");
    }
    put(fe, "\n");
    *VEC_PUSH(fe->a, &fe->probes) = (struct fe_probe){ begin, fe->seen.n, p, p->as_function };
}

/* ------------------------------------------------------------------ the text */
static void drop_pragmas(struct fe *fe, unsigned from, unsigned to)
{
    memmove(&fe->pragmas.at[from], &fe->pragmas.at[to],
            (fe->pragmas.n - to) * sizeof *fe->pragmas.at);
    fe->pragmas.n -= to - from;
}

static void check_hidden(struct fe *fe, const struct fe_pragma *opening,
                         const struct fe_pragma *closing)
{
    for (const struct fe_pragma *p = opening + 1; p < closing; p++)
        if (p->c->leaves & (OMPL_TARGET | OMPL_DATA))
            fe_unsupported(fe, p->c->place, UNSUPPORTED_TARGET_IN_VARIANT, p->c->spelling,
                           opening->c->spelling);
}

/* Functions of variants are hidden; pragmas in them are clang's alone. */
void fe_hide_variants(struct fe *fe)
{
    unsigned open = ~0u;
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        struct fe_pragma *p = &fe->pragmas.at[i];
        bool opens = p->c->directive == OMPDIR_BEGIN_DECLARE_VARIANT,
             closes = p->c->directive == OMPDIR_END_DECLARE_VARIANT;
        if (opens && open == ~0u)
            open = i;
        if (!closes || open == ~0u)
            continue;
        check_hidden(fe, &fe->pragmas.at[open], p);
        *VEC_PUSH(fe->a, &fe->hidden) =
            (struct omp_extent){ fe->pragmas.at[open].extent.end, p->extent.begin };
        drop_pragmas(fe, open + 1, i);
        i = open + 1;
        open = ~0u;
    }
}

/* A user-defined reduction is for its types even where its operands are wrong. */
static bool is_probed(const struct fe *fe, const struct fe_pragma *p)
{
    return has_good_operand(fe, p) || (p->noperands && fe_is_for_types(p) && !p->bad_types);
}

void fe_write_probes(struct fe *fe)
{
    unsigned at = 0, hidden = 0;
    fe->seen.n = fe->segments.n = fe->probes.n = 0;
    for (unsigned i = 0; i < fe->operands.n; i++)
        fe->operands.at[i].open = 0;
    for (unsigned i = 0; i <= fe->pragmas.n; i++) {
        struct fe_pragma *p = i < fe->pragmas.n ? &fe->pragmas.at[i] : NULL;
        unsigned end = p ? p->extent.begin : (unsigned)fe->u->length;
        while (hidden < fe->hidden.n && fe->hidden.at[hidden].begin < end) {
            put_segment(fe, at, fe->hidden.at[hidden].begin);
            put(fe, "\n");
            at = fe->hidden.at[hidden++].end;
        }
        put_segment(fe, at, end);
        at = end;
        if (!p || !is_probed(fe, p))
            continue;
        put_probe(fe, p);
        at = p->extent.end;
    }
    put_text(fe, "", 1);
    fe->seen.n--;
}

/* ------------------------------------------------------------------ offsets */
unsigned fe_text_offset(const struct fe *fe, unsigned seen)
{
    const struct fe_segment *s = FE_LAST(fe->segments, seen);
    if (!s)
        return 0;
    unsigned n = seen - s->seen;
    return s->text + (n < s->length ? n : s->length);
}

/* The probe that holds the offset, or NULL. */
const struct fe_probe *fe_probe_at(const struct fe *fe, unsigned seen)
{
    const struct fe_probe *p = FE_LAST(fe->probes, seen);
    return p && seen < p->end ? p : NULL;
}

/* The complaint is about this offset of a probe: its operand, or all, will be left out.  A
 * user-defined reduction is tried as a function first.  False: nothing is left to be left out. */
bool fe_spoil_operands(struct fe *fe, const struct fe_probe *probe, unsigned seen,
                       const char *complaint)
{
    struct fe_pragma *p = probe->pragma;
    struct fe_operand *worst = NULL;
    if (fe_is_for_types(p) && !probe->as_function)
        return p->as_function = true;
    for (unsigned i = 0; i < p->noperands; i++) {
        struct fe_operand *o = &fe->operands.at[p->first_operand + i];
        if (!o->bad && o->open && o->open <= seen && (!worst || o->text.begin >= worst->text.end))
            worst = o;
    }
    if (worst) {
        worst->complaint = complaint;
        worst->complaint_at = fe_text_offset(fe, seen);
        return worst->bad = true;
    }
    bool less = !p->bad_types && !has_good_operand(fe, p);
    p->bad_types |= less;
    for (unsigned i = 0; i < p->noperands; i++) {
        struct fe_operand *o = &fe->operands.at[p->first_operand + i];
        less |= !o->bad;
        o->bad = true;
    }
    return less;
}
