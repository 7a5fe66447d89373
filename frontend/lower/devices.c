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
 * The proposal: Torres, Ferrer, Teruel, "A novel set of directives for multi-device programming
 * with OpenMP", 2022. */
#include "frontend/lower/spread.h"
#include <string.h>

static bool find(const struct spread *s, enum omp_clause_kind kind, struct lower_argument *a)
{
    return lower_find(s->l->fe, s->p, kind, s->p->clauses_at, a);
}

static void refuse(struct spread *s, enum omp_clause_kind kind, const char *why)
{
    struct lower_argument a;
    if (find(s, kind, &a))
        lower_spread_fail(s, a.at, why);
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
            lower_spread_fail(s, a.at,
                              "'spread_schedule' of a kind other than 'static' and 'weighted' in");
        if (s->weighted && comma < a.end)
            lower_spread_fail(s, a.at, "a size in 'spread_schedule(weighted)' of");
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
        unsigned next = clause ? lower_after(fe, s->p, &a) : k + 1;
        if (!clause || !is_ours(kind))
            text = arena_printf(fe->a, "%s%s", text,
                                clause && kind == OMPC_MAP ? lower_map_cells(s, &a)
                                                           : lower_tokens(fe, s->p, k, next));
        k = next;
    }
    text = arena_printf(fe->a, "%s%s device(%s)", text, lower_reduce_cells(s), s->device);
    return s->exchange ? text
                       : arena_printf(fe->a, "%s nowait depend(inout: %s[%s & 63])", text, s->order,
                                      s->device);
}

static const char *users_line(struct spread *s, const char *directive)
{
    return lower_on_line(s, directive, s->p->c->place.line);
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
                        m, fe->u->prefix, s->all, s->at, m, lower_own_line(s, directive), i, i,
                        s->at, i, x, i, k, k, k, x, x, m, i, x);
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
                        s->nowait || s->exchange ? "" : lower_own_line(s, "omp taskgroup"), s->k,
                        fe->u->prefix, s->all, s->at, s->k, s->at, s->at, s->device, s->at, text,
                        fe->u->prefix, s->all);
}

/* ------------------------------------------------------------------ target spread */
static const char *chunk_loop(struct spread *s, const struct lower_loop *x, const char *step)
{
    struct fe *fe = s->l->fe;
    const struct omp_var *i = x->loop.iv;
    const char *type = i->type->spelling;
    return arena_printf(
        fe->a,
        "\n# %u\nfor (%s%s = (%s)omp_spread_start; %s %s (%s)(omp_spread_start "
        "+ (omp_spread_size - 1) * %s); %s += %s) %s",
        x->loop.place.line, x->loop.iv_declared ? arena_printf(fe->a, "%s ", type) : "", i->name,
        type, i->name, x->down ? ">=" : "<=", type, step, i->name, step, lower_body_with_cells(s));
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
        lower_spread_fail(&s, p->clauses_at, "a loop variable that is a pointer in");
    refuse(&s, OMPC_LASTPRIVATE, "'lastprivate' in");
    refuse(&s, OMPC_LINEAR, "'linear' in");
    lower_read_reductions(&s, body);
    if (s.failed)
        return;
    const char *step = lower_step(fe, &x, "long");
    const char *chunk =
        arena_printf(fe->a, "%s %s%s", lower_begin_cells(&s),
                     users_line(&s, directive_of(&s, "target")), chunk_loop(&s, &x, step));
    lower_replace(l, lower_statement(fe, p),
                  arena_printf(fe->a, "\n# %u\n{ %s %s %s %s %s }", lower_line_before(&s),
                               s.declarations, divide(&s, fe_text(fe, x.loop.lb.extent), step),
                               lower_declare_cells(&s), each_chunk(&s, chunk),
                               lower_combine_cells(&s)));
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
                arena_printf(fe->a, "\n# %u\n{ %s %s }\n# %u\n", lower_line_before(&s),
                             s.declarations, one_directive(&s, start, directive_of(&s, name)),
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
         k = lower_after(fe, s->p, &a))
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
                  arena_printf(fe->a, "\n# %u\n{ %s %s {%s} %s }", lower_line_before(&s),
                               s.declarations, one_directive(&s, start, half_of_data(&s, false)),
                               lower_text(fe, (struct omp_extent){ p->extent.end, all.end }),
                               one_directive(&s, start, half_of_data(&s, true))));
}
