/* spread_reduction.c - reductions of `ompx target spread`.
 *
 * reduction(+: s): each chunk has a cell that begins with the operation's identity; the cells are
 * combined with s in the order of the chunks, after all of them.  Both are done by host reductions
 * of one thread, so that any operation will do.  In the clauses and in the body the cell takes the
 * variable's place. */
#include "frontend/lower/spread.h"
#include <string.h>

/* The variable of that name, as the body means it; NULL: it does not use it. */
static const struct omp_var *find_variable(const struct spread *s, const char *name)
{
    FE_EACH(ref, s->l->fe->refs, s->body)
        if (strcmp(ref->var->name, name) == 0 && !fe_inside(ref->var->decl, s->body))
            return ref->var;
    return NULL;
}

/* x or x[lower: length], tokens [k, end). */
static bool read_section(struct spread *s, struct reduced *r, const struct omp_var *v, unsigned k,
                         unsigned end)
{
    struct fe *fe = s->l->fe;
    bool array = v->type->kind == OMPT_ARRAY, alone = end == k + 1;
    if (alone && !array)
        return true;
    unsigned close = alone ? end : fe_closing(fe, s->p, k + 1),
             colon = alone ? end : fe_find_top(fe, s->p, k + 2, close, ":");
    if (!alone && (!fe_word_at(fe, s->p, k + 1, "[") || close + 1 != end || colon == close ||
                   fe_find_top(fe, s->p, colon + 1, close, ":") < close))
        return false;
    const char *lower = alone ? "" : lower_tokens(fe, s->p, k + 2, colon),
               *length = alone ? "" : lower_tokens(fe, s->p, colon + 1, close), *x = r->name;
    r->from = *lower ? lower : "0";
    r->count = *length ? length
                       : arena_printf(fe->a, "sizeof(%s) / sizeof((%s)[0]) - (%s)", x, x, r->from);
    r->lower = lower_name(s->l, "lower"), r->length = lower_name(s->l, "length");
    r->inner = "";
    const struct omp_type *t = v->type->elem;
    for (; t->kind == OMPT_ARRAY && !t->vla; t = t->elem)
        r->inner = arena_printf(fe->a, "%s[0:%llu]", r->inner, (unsigned long long)t->bound);
    return t->kind != OMPT_ARRAY && (*length || array);
}

static void add_reduced(struct spread *s, const struct lower_argument *a, unsigned colon,
                        unsigned k, unsigned end)
{
    struct fe *fe = s->l->fe;
    struct reduced r = { .operation = lower_tokens(fe, s->p, a->begin, colon + 1),
                         .name = lower_tokens(fe, s->p, k, k + 1),
                         .cells = lower_name(s->l, "cells"),
                         .cell = lower_name(s->l, "cell") };
    const struct omp_var *v = find_variable(s, r.name);
    if (!v) /* it stays as it is */
        return;
    if (s->nreduced == MOST_REDUCED)
        lower_spread_fail(s, k, "more than 16 reductions in");
    else if (!read_section(s, &r, v, k, end))
        lower_spread_fail(
            s, k, "the reduction of anything but a variable or a section 'x[lower: length]' in");
    else
        s->reduced[s->nreduced++] = r;
}

static void read_reduction(struct spread *s, const struct lower_argument *a)
{
    struct fe *fe = s->l->fe;
    unsigned colon = fe_find_top(fe, s->p, a->begin, a->end, ":");
    if (colon == a->end || fe_find_top(fe, s->p, a->begin, colon, ",") < colon)
        lower_spread_fail(s, a->at, "a modifier of 'reduction' in");
    for (unsigned k = colon + 1, end; k < a->end && !s->failed; k = end + 1) {
        end = fe_find_top(fe, s->p, k, a->end, ",");
        add_reduced(s, a, colon, k, end);
    }
}

/* A host reduction of one thread, with s as its variable. */
static const char *by_reduction(struct spread *s, const struct reduced *r, const char *variable,
                                const char *assignment)
{
    struct fe *fe = s->l->fe;
    return arena_printf(
        fe->a, "%s{ %s; }",
        lower_own_line(s, arena_printf(fe->a, "omp parallel num_threads(1) reduction(%s %s)",
                                       r->operation, variable)),
        assignment);
}

/* The same for a section, whose first element is `base`, and a copy to or from the one at `other`.
 * In pieces: the copies of a reduction are on the stack. */
static const char *by_section(struct spread *s, const struct reduced *r, const char *base,
                              const char *other, bool to_other)
{
    struct fe *fe = s->l->fe;
    const char *i = lower_name(s->l, "i"), *n = lower_name(s->l, "n"),
               *v = lower_name(s->l, "section"), *there = arena_printf(fe->a, "%s + %s", other, i);
    const char *copy = arena_printf(fe->a, "__builtin_memcpy(%s, %s, %s * sizeof *%s)",
                                    to_other ? there : v, to_other ? v : there, n, r->cells);
    return arena_printf(
        fe->a,
        "for (long %s = 0, %s; %s < %s; %s += %s) { %s = 32768 / sizeof *%s ?: 1; "
        "if (%s > %s - %s) %s = %s - %s; __typeof__(*%s) *%s = %s + %s; %s }",
        i, n, i, r->length, i, n, n, r->cells, n, r->length, i, n, r->length, i, r->cells, v, base,
        i, by_reduction(s, r, arena_printf(fe->a, "%s[0 : %s]%s", v, n, r->inner), copy));
}

/* On the heap: there may be many chunks.  An array has one cell more, the first, to work with. */
const char *lower_declare_cells(struct spread *s)
{
    struct fe *fe = s->l->fe;
    static const char no_memory[] =
        "omp error at(execution) message(\"no memory for the reductions of ompx target spread\")";
    const char *text = "";
    for (unsigned i = 0; i < s->nreduced; i++) {
        const struct reduced *r = &s->reduced[i];
        if (r->count)
            text = arena_printf(fe->a, "%s const long %s = %s, %s = %s;", text, r->lower, r->from,
                                r->length, r->count);
        text = arena_printf(
            fe->a,
            "%s __typeof__(%s%s) *const %s = __builtin_malloc((%s + 1) * (unsigned long)(%s) * "
            "sizeof *%s); if (!%s) {%s}",
            text, r->name, r->count ? "[0]" : "", r->cells, s->number, r->count ? r->length : "1",
            r->cells, r->cells, lower_own_line(s, no_memory));
    }
    return text;
}

/* Of the chunk: where it is, with the operation's identity in it. */
static const char *begin_scalar(struct spread *s, const struct reduced *r)
{
    struct fe *fe = s->l->fe;
    const char *v = lower_name(s->l, "identity");
    return arena_printf(fe->a,
                        " __typeof__(%s) *const %s = &%s[%s]; { __typeof__(%s) %s = %s; %s }",
                        r->name, r->cell, r->cells, s->k, r->name, v, r->name,
                        by_reduction(s, r, v, arena_printf(fe->a, "*%s = %s", r->cell, v)));
}

static const char *begin_section(struct spread *s, const struct reduced *r)
{
    struct fe *fe = s->l->fe;
    return arena_printf(
        fe->a,
        " __typeof__(*%s) *const %s = %s + (long)(%s + 1) * %s - %s; "
        "__builtin_memcpy(%s, &(%s)[%s], %s * sizeof *%s); %s",
        r->cells, r->cell, r->cells, s->k, r->length, r->lower, r->cells, r->name, r->lower,
        r->length, r->cells,
        by_section(s, r, r->cells, arena_printf(fe->a, "&%s[%s]", r->cell, r->lower), true));
}

const char *lower_begin_cells(struct spread *s)
{
    const char *text = "";
    for (unsigned i = 0; i < s->nreduced; i++)
        text =
            arena_printf(s->l->fe->a, "%s%s", text,
                         (s->reduced[i].count ? begin_section : begin_scalar)(s, &s->reduced[i]));
    return text;
}

static const char *combine_cell(struct spread *s, const struct reduced *r)
{
    struct fe *fe = s->l->fe;
    return r->count ? by_section(s, r, arena_printf(fe->a, "&(%s)[%s]", r->name, r->lower),
                                 arena_printf(fe->a, "%s + (long)(%s + 1) * %s", r->cells, s->k,
                                              r->length),
                                 false)
                    : by_reduction(s, r, r->name,
                                   arena_printf(fe->a, "%s = %s[%s]", r->name, r->cells, s->k));
}

const char *lower_combine_cells(struct spread *s)
{
    struct fe *fe = s->l->fe;
    const char *text = "";
    for (unsigned i = 0; i < s->nreduced; i++)
        text = arena_printf(
            fe->a, "%s for (unsigned long %s = 0; %s < %s; %s++) {%s} __builtin_free(%s);", text,
            s->k, s->k, s->number, s->k, combine_cell(s, &s->reduced[i]), s->reduced[i].cells);
    return text;
}

/* The reduced variable that a reference in the body means: not one of the body's own. */
static const struct reduced *reduced_by(const struct spread *s, const struct omp_ref *ref,
                                        struct omp_extent body)
{
    for (unsigned i = 0; i < s->nreduced; i++)
        if (strcmp(s->reduced[i].name, ref->var->name) == 0 && !fe_inside(ref->var->decl, body))
            return &s->reduced[i];
    return NULL;
}

/* Without parentheses and conversions. */
static CXCursor operand_of(struct fe *fe, CXCursor c)
{
    fe_cursors v = { 0 };
    for (fe_children(fe, c, &v); v.n == 1; fe_children(fe, c, &v)) {
        c = v.at[0];
        if (clang_getCursorKind(c) != CXCursor_ParenExpr &&
            clang_getCursorKind(c) != CXCursor_UnexposedExpr)
            break;
        v = (fe_cursors){ 0 };
    }
    return c;
}

/* A cell is a pointer in the body, which has another size than the array. */
static enum CXChildVisitResult find_size(CXCursor c, CXCursor parent, CXClientData data)
{
    struct spread *s = data;
    struct fe *fe = s->l->fe;
    (void)parent;
    if (clang_getCursorKind(c) != CXCursor_UnaryExpr) /* sizeof */
        return CXChildVisit_Recurse;
    CXCursor of = operand_of(fe, c);
    const struct omp_ref *ref =
        clang_getCursorKind(of) == CXCursor_DeclRefExpr ? fe_ref_at(fe, fe_begin(fe, of)) : NULL;
    const struct reduced *r = ref ? reduced_by(s, ref, s->body) : NULL;
    if (r && r->count && ref->var->type->kind == OMPT_ARRAY)
        fe_error(fe, fe_begin(fe, c), "the size of '%s', which '#pragma %s' reduces", r->name,
                 s->p->c->spelling);
    return CXChildVisit_Recurse;
}

void lower_read_reductions(struct spread *s, CXCursor body)
{
    struct lower_argument a;
    for (unsigned k = s->p->clauses_at; lower_find(s->l->fe, s->p, OMPC_REDUCTION, k, &a);
         k = lower_after(s->l->fe, s->p, &a))
        read_reduction(s, &a);
    if (s->nreduced && lower_find(s->l->fe, s->p, OMPC_NOWAIT, s->p->clauses_at, &a))
        lower_spread_fail(s, a.at, "'nowait' beside 'reduction' in");
    if (s->nreduced)
        clang_visitChildren(body, find_size, s);
}

const char *lower_body_with_cells(struct spread *s)
{
    const struct omp_extent body = s->body;
    struct fe *fe = s->l->fe;
    const char *text = "";
    unsigned at = body.begin;
    FE_EACH(ref, fe->refs, body) {
        const struct reduced *r = reduced_by(s, ref, body);
        if (!r || ref->offset < at)
            continue;
        text = arena_printf(fe->a, "%s%s%s%s", text,
                            fe_text(fe, (struct omp_extent){ at, ref->offset }), r->cell,
                            r->count ? "" : "[0]");
        at = ref->offset + (unsigned)strlen(r->name);
    }
    text = arena_printf(fe->a, "%s%s", text, fe_text(fe, (struct omp_extent){ at, body.end }));
    return arena_printf(fe->a, "\n# %u\n%s", fe_place(fe->u, body.begin).line, text);
}

/* ------------------------------------------------------------------ clauses */
/* Of a list item, by its first token. */
static const struct reduced *find_reduced(const struct spread *s, unsigned token)
{
    for (unsigned i = 0; i < s->nreduced; i++)
        if (fe_word_at(s->l->fe, s->p, token, s->reduced[i].name))
            return &s->reduced[i];
    return NULL;
}

/* The chunk's cell as a list item. */
static const char *cell_item(struct spread *s, const struct reduced *r)
{
    struct fe *fe = s->l->fe;
    return r->count ? arena_printf(fe->a, "%s[%s:%s]%s", r->cell, r->lower, r->length, r->inner)
                    : arena_printf(fe->a, "%s[0:1]", r->cell);
}

/* Constructs besides target: words between the clauses. */
static bool has_leaves(const struct spread *s)
{
    const struct fe *fe = s->l->fe;
    struct lower_argument a;
    for (unsigned k = s->p->clauses_at, next; k < s->p->ntokens; k = next) {
        enum omp_clause_kind kind = fe_clause_named(fe, &s->p->tokens[k]);
        bool clause = kind != OMPC_COUNT && lower_find(fe, s->p, kind, k, &a) && a.at == k;
        if (!clause && !fe_token_is(fe, &s->p->tokens[k], ","))
            return true;
        next = clause ? lower_after(fe, s->p, &a) : k + 1;
    }
    return false;
}

/* `target` alone has no reduction: its one thread works on the cell. */
static const char *reduce_cell(struct spread *s, const struct reduced *r)
{
    struct fe *fe = s->l->fe;
    return has_leaves(s) ? arena_printf(fe->a, " reduction(%s %s)", r->operation, cell_item(s, r))
                         : arena_printf(fe->a, " map(tofrom: %s)", cell_item(s, r));
}

/* A map clause, with the cells in place of list items that are reduced. */
const char *lower_map_cells(struct spread *s, const struct lower_argument *a)
{
    struct fe *fe = s->l->fe;
    unsigned colon = fe_find_top(fe, s->p, a->begin, a->end, ":"), k = a->begin, end;
    const char *text = "map(";
    if (colon < a->end) {
        text = arena_printf(fe->a, "%s%s", text, lower_tokens(fe, s->p, k, colon + 1));
        k = colon + 1;
    }
    for (; k < a->end; k = end + 1) {
        end = fe_find_top(fe, s->p, k, a->end, ",");
        const struct reduced *r = find_reduced(s, k);
        if (r && !r->count && end > k + 1)
            r = NULL;
        text = arena_printf(fe->a, "%s%s%s", text,
                            r ? cell_item(s, r) : lower_tokens(fe, s->p, k, end),
                            end < a->end ? ", " : ")");
    }
    return text;
}

const char *lower_reduce_cells(struct spread *s)
{
    const char *text = "";
    for (unsigned i = 0; i < s->nreduced; i++)
        text = arena_printf(s->l->fe->a, "%s%s", text, reduce_cell(s, &s->reduced[i]));
    return text;
}
