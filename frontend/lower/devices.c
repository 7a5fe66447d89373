/* devices.c - `ompx target spread` and its data directives: work and data over several devices.
 *
 *     ompx target spread devices(0, 1)      for each chunk of the iterations, in a task group:
 *         spread_schedule(static, c)            omp_spread_start = …, omp_spread_size = …
 *         LEAVES CLAUSES                        target LEAVES CLAUSES device(d) nowait
 *     for (…)                                   for (… the chunk's iterations …)
 *
 * The library says which chunks there are, and knows what belongs to which (hostrt/core/spread.c).
 * Those of one device follow each other, by a dependence, since the data of neighbours may overlap.
 * The data directives do the same with a range in place of a loop; an update with both `from` and
 * `to` is synchronous, and the library makes it when it has all chunks.
 *
 * reduction(+: s): each chunk has a cell that begins with the operation's identity; the cells are
 * combined with s in the order of the chunks, after all of them.  Both are done by host reductions
 * of one thread, so that any operation will do.
 *
 * The proposal: Torres, Ferrer, Teruel, "A novel set of directives for multi-device programming
 * with OpenMP", 2022. */
#include "frontend/lower/lower.h"
#include <string.h>

enum { MOST_REDUCED = 16 };
struct reduced {
    const char *operation, *name; /* "+:"; the variable */
    const char *cells, *cell;     /* names: all of them, the chunk's */
    /* of an array: its section, the names of both, and what follows it in a list; NULL: a scalar */
    const char *from, *count, *lower, *length, *inner;
};

struct spread {
    struct lowering *l;
    struct fe_pragma *p;
    /* names; all: the library's object, at: what it says of the chunk, number: of chunks */
    const char *devices, *chunk, *trip, *order, *all, *at, *number, *k, *device;
    const char *list; /* of devices: an array and its length */
    const char *declarations;
    struct reduced reduced[MOST_REDUCED];
    unsigned nreduced;
    bool nowait, weighted, exchange, failed;
    struct omp_extent body; /* of the loop */
};

static void fail(struct spread *s, unsigned token, const char *what)
{
    if (!s->failed)
        fe_error(s->l->fe, s->p->tokens[token].begin, "%s '#pragma %s'", what, s->p->c->spelling);
    s->failed = true;
}

static bool find(const struct spread *s, enum omp_clause_kind kind, struct lower_argument *a)
{
    return lower_find(s->l->fe, s->p, kind, s->p->clauses_at, a);
}

static void refuse(struct spread *s, enum omp_clause_kind kind, const char *why)
{
    struct lower_argument a;
    if (find(s, kind, &a))
        fail(s, a.at, why);
}

/* ------------------------------------------------------------------ devices and chunks */
static void read_devices(struct spread *s)
{
    struct fe *fe = s->l->fe;
    struct lower_argument a;
    if (!find(s, OMPC_DEVICES, &a) || a.begin >= a.end) {
        fe_error_at(fe, s->p->c->place, "'#pragma %s' without 'devices'", s->p->c->spelling);
        s->failed = true;
        return;
    }
    s->list = "0, 0u", s->declarations = "";
    if (a.end == a.begin + 1 && lower_keyword(fe, s->p, a.begin) == OMPK_ALL)
        return;
    s->declarations = arena_printf(fe->a, "const int %s[] = { %s };", s->devices,
                                   lower_tokens(fe, s->p, a.begin, a.end));
    s->list = arena_printf(fe->a, "%s, sizeof %s / sizeof *%s", s->devices, s->devices, s->devices);
}

static const char *positive(struct spread *s, unsigned begin, unsigned end)
{
    return arena_printf(s->l->fe->a, "((unsigned long)(%s) ?: 1)",
                        lower_tokens(s->l->fe, s->p, begin, end));
}

/* The number of iterations of a chunk; 0: an equal part for each device. */
static const char *chunk_size(struct spread *s)
{
    struct fe *fe = s->l->fe;
    struct lower_argument a;
    if (find(s, OMPC_CHUNK_SIZE, &a))
        refuse(s, OMPC_SPREAD_SCHEDULE, "'spread_schedule' beside 'chunk_size' in");
    if (find(s, OMPC_CHUNK_SIZE, &a))
        return positive(s, a.begin, a.end);
    if (find(s, OMPC_SPREAD_SCHEDULE, &a)) {
        unsigned comma = fe_find_top(fe, s->p, a.begin, a.end, ",");
        s->weighted = lower_keyword(fe, s->p, a.begin) == OMPK_WEIGHTED;
        if (!s->weighted && lower_keyword(fe, s->p, a.begin) != OMPK_STATIC)
            fail(s, a.at, "'spread_schedule' of a kind other than 'static' and 'weighted' in");
        if (s->weighted && comma < a.end)
            fail(s, a.at, "a size in 'spread_schedule(weighted)' of");
        if (comma < a.end)
            return positive(s, comma + 1, a.end);
    }
    return "0";
}

/* A string literal. */
static const char *quote(struct fe *fe, const char *text)
{
    size_t n = 0;
    char *out = arena_alloc(fe->a, 2 * strlen(text) + 3);
    out[n++] = '"';
    for (const char *t = text; *t; t++) {
        if (*t == '"' || *t == '\\')
            out[n++] = '\\';
        out[n++] = (unsigned char)*t < ' ' ? ' ' : *t;
    }
    out[n++] = '"', out[n] = 0;
    return out;
}

/* hostrt/ompgpu.h */
static const struct {
    const char *result, *name, *parameters;
} functions[] = {
    { "void *", "begin", "const char *, unsigned, const char *, const int *, unsigned, unsigned" },
    { "int ", "weigh", "void *, long *, float **" },
    { "unsigned long ", "divide", "void *, long, long, unsigned long, unsigned long" },
    { "int ", "chunk", "void *, long *" },
    { "void ", "end", "void *" },
};

static const char *declare_library(const struct fe *fe)
{
    const char *text = "";
    for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++)
        text = arena_printf(fe->a, "%sextern %s%sspread_%s(%s) __asm__(\"__ompgpu_spread_%s\"); ",
                            text, functions[i].result, fe->u->prefix, functions[i].name,
                            functions[i].parameters, functions[i].name);
    return text;
}

/* What is the same for all chunks. */
static void begin_spread(struct spread *s, const char *trip)
{
    struct fe *fe = s->l->fe;
    struct lower_argument a;
    static const char *const names[] = { "devices", "trip", "chunk",  "order", "all",
                                         "at",      "k",    "number", "device" };
    const char **to[] = { &s->devices, &s->trip, &s->chunk,  &s->order, &s->all,
                          &s->at,      &s->k,    &s->number, &s->device };
    for (unsigned i = 0; i < sizeof to / sizeof *to; i++)
        *to[i] = lower_name(s->l, names[i]);
    s->nowait = find(s, OMPC_NOWAIT, &a);
    s->exchange = find(s, OMPC_FROM, &a) && find(s, OMPC_TO, &a);
    if (s->exchange) {
        refuse(s, OMPC_NOWAIT, "'nowait' beside both 'from' and 'to' in");
        refuse(s, OMPC_DEPEND, "'depend' beside both 'from' and 'to' in");
    }
    refuse(s, OMPC_DEVICE, "'device' in");
    read_devices(s);
    s->declarations = arena_printf(
        fe->a, "%s %s static char %s[64]; const unsigned long %s = %s, %s = %s; (void)%s;",
        declare_library(fe), s->declarations, s->order, s->trip, trip, s->chunk, chunk_size(s),
        s->order);
}

/* Is the clause one of the spread, which the target construct does not get? */
static bool is_ours(enum omp_clause_kind kind)
{
    return kind == OMPC_DEVICES || kind == OMPC_SPREAD_SCHEDULE || kind == OMPC_RANGE ||
           kind == OMPC_CHUNK_SIZE || kind == OMPC_NOWAIT || kind == OMPC_REDUCTION;
}

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
        next = clause ? lower_after(s->p, &a) : k + 1;
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
static const char *with_cells(struct spread *s, const struct lower_argument *a)
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

/* The leaves and clauses for one chunk. */
static const char *directive_of(struct spread *s, const char *name)
{
    struct fe *fe = s->l->fe;
    const char *text = arena_printf(fe->a, "omp %s", name);
    struct lower_argument a;
    for (unsigned k = s->p->clauses_at; k < s->p->ntokens;) {
        if (!fe_token_is(fe, &s->p->tokens[k], ","))
            text = arena_printf(fe->a, "%s ", text);
        enum omp_clause_kind kind = fe_clause_named(fe, &s->p->tokens[k]);
        bool clause = kind != OMPC_COUNT && lower_find(fe, s->p, kind, k, &a) && a.at == k;
        unsigned next = clause ? lower_after(s->p, &a) : k + 1;
        if (!clause || !is_ours(kind))
            text = arena_printf(fe->a, "%s%s", text,
                                clause && kind == OMPC_MAP ? with_cells(s, &a)
                                                           : lower_tokens(fe, s->p, k, next));
        k = next;
    }
    for (unsigned i = 0; i < s->nreduced; i++)
        text = arena_printf(fe->a, "%s%s", text, reduce_cell(s, &s->reduced[i]));
    text = arena_printf(fe->a, "%s device(%s)", text, s->device);
    return s->exchange ? text
                       : arena_printf(fe->a, "%s nowait depend(inout: %s[%s & 63])", text, s->order,
                                      s->device);
}

/* Messages show the first line with the number of the user's: that is to be the chunk's directive,
 * so what is made around it counts as the line before. */
static unsigned line_before(const struct spread *s)
{
    unsigned line = s->p->c->place.line;
    return line > 1 ? line - 1 : 1;
}

static const char *on_line(struct spread *s, const char *directive, unsigned line)
{
    return arena_printf(s->l->fe->a, "\n# %u\n#pragma %s\n# %u\n", line, directive, line_before(s));
}

static const char *own_line(struct spread *s, const char *directive)
{
    return on_line(s, directive, line_before(s));
}

static const char *users_line(struct spread *s, const char *directive)
{
    return on_line(s, directive, s->p->c->place.line);
}

/* The loop that the library times to know how fast devices are. */
static const char *weigh(struct spread *s)
{
    struct fe *fe = s->l->fe;
    const char *m = lower_name(s->l, "memory"), *i = lower_name(s->l, "i"),
               *x = lower_name(s->l, "x"), *k = s->k;
    const char *directive = arena_printf(
        fe->a, "omp target teams distribute parallel for device((int)%s[0]) is_device_ptr(%s)",
        s->at, m);
    return arena_printf(fe->a,
                        "float *%s; while (%sspread_weigh(%s, %s, &%s)) {%s"
                        "for (long %s = 0; %s < %s[1]; %s++) { float %s = (float)%s;"
                        " for (int %s = 0; %s < 16; %s++) %s = %s * 0.5f + 1; %s[%s] = %s; } }",
                        m, fe->u->prefix, s->all, s->at, m, own_line(s, directive), i, i, s->at, i,
                        x, i, k, k, k, x, x, m, i, x);
}

/* start: of the first chunk; step: between values of omp_spread_start for one iteration */
static const char *divide(struct spread *s, const char *start, const char *step)
{
    struct fe *fe = s->l->fe;
    const struct fe_pragma *p = s->p;
    return arena_printf(fe->a,
                        "void *const %s = %sspread_begin(%s, %u, %s, %s, %u); long %s[3]; %s "
                        "const unsigned long %s = %sspread_divide(%s, (long)(%s), (long)(%s), %s, "
                        "%s); (void)%s;",
                        s->all, fe->u->prefix, quote(fe, p->c->place.file), p->c->place.line,
                        quote(fe, p->c->spelling), s->list, s->weighted * 1u | s->exchange * 2u,
                        s->at, s->weighted ? weigh(s) : "", s->number, fe->u->prefix, s->all, start,
                        step, s->trip, s->chunk, s->number);
}

/* The loop over the chunks. */
static const char *each_chunk(struct spread *s, const char *text)
{
    struct fe *fe = s->l->fe;
    return arena_printf(fe->a,
                        "%s for (unsigned long %s = 0; %sspread_chunk(%s, %s); %s++) {"
                        " const long omp_spread_start = %s[0], omp_spread_size = %s[1];"
                        " const int %s = (int)%s[2];"
                        " (void)omp_spread_start; (void)omp_spread_size; %s }"
                        " %sspread_end(%s);",
                        s->nowait || s->exchange ? "" : own_line(s, "omp taskgroup"), s->k,
                        fe->u->prefix, s->all, s->at, s->k, s->at, s->at, s->device, s->at, text,
                        fe->u->prefix, s->all);
}

/* ------------------------------------------------------------------ reductions */
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
        fail(s, k, "more than 16 reductions in");
    else if (!read_section(s, &r, v, k, end))
        fail(s, k, "the reduction of anything but a variable or a section 'x[lower: length]' in");
    else
        s->reduced[s->nreduced++] = r;
}

static void read_reduction(struct spread *s, const struct lower_argument *a)
{
    struct fe *fe = s->l->fe;
    unsigned colon = fe_find_top(fe, s->p, a->begin, a->end, ":");
    if (colon == a->end || fe_find_top(fe, s->p, a->begin, colon, ",") < colon)
        fail(s, a->at, "a modifier of 'reduction' in");
    for (unsigned k = colon + 1, end; k < a->end && !s->failed; k = end + 1) {
        end = fe_find_top(fe, s->p, k, a->end, ",");
        add_reduced(s, a, colon, k, end);
    }
}

static void read_reductions(struct spread *s)
{
    struct lower_argument a;
    for (unsigned k = s->p->clauses_at; lower_find(s->l->fe, s->p, OMPC_REDUCTION, k, &a);
         k = lower_after(s->p, &a))
        read_reduction(s, &a);
    if (s->nreduced && s->nowait)
        refuse(s, OMPC_NOWAIT, "'nowait' beside 'reduction' in");
}

/* A host reduction of one thread, with s as its variable. */
static const char *by_reduction(struct spread *s, const struct reduced *r, const char *variable,
                                const char *assignment)
{
    struct fe *fe = s->l->fe;
    return arena_printf(
        fe->a, "%s{ %s; }",
        own_line(s, arena_printf(fe->a, "omp parallel num_threads(1) reduction(%s %s)",
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
static const char *declare_cells(struct spread *s)
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
            r->cells, r->cells, own_line(s, no_memory));
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

static const char *begin_cells(struct spread *s)
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

static const char *combine_cells(struct spread *s)
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

static const char *body_with_cells(struct spread *s, struct omp_extent body)
{
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

/* ------------------------------------------------------------------ target spread */
static const char *chunk_loop(struct spread *s, const struct lower_loop *x, const char *step)
{
    struct fe *fe = s->l->fe;
    const struct omp_var *i = x->loop.iv;
    const char *type = i->type->spelling;
    return arena_printf(fe->a,
                        "\n# %u\nfor (%s%s = (%s)omp_spread_start; %s %s (%s)(omp_spread_start "
                        "+ (omp_spread_size - 1) * %s); %s += %s) %s",
                        x->loop.place.line,
                        x->loop.iv_declared ? arena_printf(fe->a, "%s ", type) : "", i->name, type,
                        i->name, x->down ? ">=" : "<=", type, step, i->name, step,
                        body_with_cells(s, x->loop.body));
}

void lower_target_spread(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct spread s = { .l = l, .p = p };
    struct lower_loop x;
    CXCursor body;
    if (!p->found || !lower_read_loop(l, p, p->stmt, &x, &body))
        return;
    s.body = x.loop.body;
    begin_spread(&s, x.trip);
    if (x.loop.iv->type->kind == OMPT_POINTER)
        fail(&s, p->clauses_at, "a loop variable that is a pointer in");
    refuse(&s, OMPC_LASTPRIVATE, "'lastprivate' in");
    refuse(&s, OMPC_LINEAR, "'linear' in");
    read_reductions(&s);
    if (s.failed)
        return;
    if (s.nreduced)
        clang_visitChildren(body, find_size, &s);
    const char *step = lower_step(fe, &x, "long");
    const char *chunk =
        arena_printf(fe->a, "%s %s%s", begin_cells(&s), users_line(&s, directive_of(&s, "target")),
                     chunk_loop(&s, &x, step));
    lower_replace(l, lower_statement(fe, p),
                  arena_printf(fe->a, "\n# %u\n{ %s %s %s %s %s }", line_before(&s), s.declarations,
                               divide(&s, fe_text(fe, x.loop.lb.extent), step), declare_cells(&s),
                               each_chunk(&s, chunk), combine_cells(&s)));
}

/* ------------------------------------------------------------------ data */
static bool begin_range(struct spread *s, const char **start)
{
    struct fe *fe = s->l->fe;
    struct lower_argument a;
    unsigned colon = 0;
    if (find(s, OMPC_RANGE, &a))
        colon = fe_find_top(fe, s->p, a.begin, a.end, ":");
    if (!colon || colon + 1 >= a.end || colon == a.begin) {
        fe_error_at(fe, s->p->c->place, "'#pragma %s' without 'range(start: size)'",
                    s->p->c->spelling);
        return false;
    }
    begin_spread(
        s, arena_printf(fe->a, "(unsigned long)(%s)", lower_tokens(fe, s->p, colon + 1, a.end)));
    *start = lower_tokens(fe, s->p, a.begin, colon);
    return !s->failed;
}

static const char *one_directive(struct spread *s, const char *start, const char *directive)
{
    return arena_printf(s->l->fe->a, "{ %s %s }", divide(s, start, "1"),
                        each_chunk(s, users_line(s, directive)));
}

/* Stand-alone: what follows `ompx` without `spread` is the directive of a chunk. */
void lower_data_spread(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct spread s = { .l = l, .p = p };
    const char *start;
    if (!begin_range(&s, &start))
        return;
    const char *name = lower_tokens(fe, p, 1, p->clauses_at - 1);
    fe_add_edit(fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
                arena_printf(fe->a, "\n# %u\n{ %s %s }\n# %u\n", line_before(&s), s.declarations,
                             one_directive(&s, start, directive_of(&s, name)),
                             fe_place(fe->u, p->extent.end).line));
}

/* The map types of a mapping's begin and end. */
static const struct {
    unsigned type;
    const char *enter, *exit;
} halves[] = {
    { OMPM_TO, "to", "release" },
    { OMPM_FROM, "alloc", "from" },
    { OMPM_TOFROM, "to", "from" },
    { OMPM_ALLOC, "alloc", "release" },
};

static const char *half_of(unsigned type, bool exit)
{
    for (unsigned i = 0; i < sizeof halves / sizeof *halves; i++)
        if (halves[i].type == type)
            return exit ? halves[i].exit : halves[i].enter;
    return NULL;
}

/* map([modifiers] [type:] items) for the begin of the mapping, or its end. */
static const char *half_of_map(struct spread *s, const struct lower_argument *a, bool exit)
{
    struct fe *fe = s->l->fe;
    unsigned colon = fe_find_top(fe, s->p, a->begin, a->end, ":"), type = OMPM_TOFROM;
    const char *modifiers = "";
    bool given = colon < a->end;
    for (unsigned k = a->begin; given && k < colon; k++) {
        const struct fe_token *t = &s->p->tokens[k];
        unsigned value = 0;
        const char *half =
            fe_word(WORDS_MAP_TYPE, fe->u->text + t->begin, t->end - t->begin, &value)
                ? half_of(value, exit)
                : NULL;
        if (half)
            type = value;
        else
            modifiers = arena_printf(fe->a, "%s%s ", modifiers, lower_tokens(fe, s->p, k, k + 1));
    }
    return arena_printf(fe->a, " map(%s%s: %s)", modifiers, half_of(type, exit),
                        lower_tokens(fe, s->p, given ? colon + 1 : a->begin, a->end));
}

static const char *half_of_data(struct spread *s, bool exit)
{
    struct fe *fe = s->l->fe;
    struct lower_argument a;
    const char *text = exit ? "omp target exit data" : "omp target enter data";
    for (unsigned k = s->p->clauses_at; lower_find(fe, s->p, OMPC_MAP, k, &a);
         k = lower_after(s->p, &a))
        text = arena_printf(fe->a, "%s%s", text, half_of_map(s, &a, exit));
    return arena_printf(fe->a, "%s device(%s) nowait depend(inout: %s[%s & 63])", text, s->device,
                        s->order, s->device);
}

void lower_target_data_spread(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct spread s = { .l = l, .p = p };
    const char *start;
    if (!p->found || !begin_range(&s, &start))
        return;
    static const enum omp_clause_kind others[] = { OMPC_USE_DEVICE_PTR, OMPC_USE_DEVICE_ADDR,
                                                   OMPC_IF, OMPC_NOWAIT, OMPC_DEPEND };
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        refuse(&s, others[i], "a clause that is about one device in");
    if (s.failed)
        return;
    struct omp_extent all = lower_statement(fe, p);
    lower_replace(l, all,
                  arena_printf(fe->a, "\n# %u\n{ %s %s {%s} %s }", line_before(&s), s.declarations,
                               one_directive(&s, start, half_of_data(&s, false)),
                               lower_text(fe, (struct omp_extent){ p->extent.end, all.end }),
                               one_directive(&s, start, half_of_data(&s, true))));
}
