/* arguments.c - reads the clauses of a directive: which ones there are, and the argument of each by
 * the kind that the table gives.  Expressions and list items: clause.c. */
#include "frontend/reader.h"
#include <string.h>

/* ------------------------------------------------------------ one function per kind of argument */
static void read_none(struct reader *r) { (void)r; }
static void read_raw(struct reader *r) { r->c->expr.extent = extent_of(r, r->at, r->end); }
static void read_list(struct reader *r) { fe_read_items(r, r->at, r->end); }

/* `lower : upper`, `strict: n`, `device_num: n` - what is behind the ':' counts. */
static void read_expr(struct reader *r)
{
    unsigned colon = find_top(r, r->at, r->end, ":"), question = find_top(r, r->at, r->end, "?");
    if (colon < r->end && question > colon) {
        if (colon == r->at + 1 && is_ident(r, r->at) && !fe_lookup_token(r, r->at))
            r->c->word = word_at(r, r->at);
        else
            fe_note_tokens(r, r->at, colon);
        r->at = colon + 1;
    }
    fe_set_expr(r, r->at, r->end);
    r->c->value = r->c->expr.value;
}

static void read_const(struct reader *r)
{
    r->c->expr = fe_expr_of(r, r->at, r->end);
    if (r->at < r->end && !r->c->expr.is_constant && r->c->kind == OMPC_COLLAPSE)
        fe_error(r->fe, offset_at(r, r->at),
                 "argument of clause '%s' is not a constant that can be evaluated here",
                 fe_clause_rows[r->c->kind].spelling);
    r->c->value = r->c->expr.value;
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
    fe_read_items(r, r->at, r->end);
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
    fe_read_items(r, r->at, r->end);
}

static void read_reduce(struct reader *r)
{
    unsigned colon = find_top(r, r->at, r->end, ":"), comma = find_top(r, r->at, colon, ",");
    if (comma < colon) {
        r->c->modifier = word_at(r, r->at);
        r->at = comma + 1;
    }
    r->c->op = OMPR_USER;
    for (unsigned i = 0; i < OMPR_USER; i++)
        if (token_is(r, r->at, omp_reduction_ops[i].spelling))
            r->c->op = (enum omp_red_op)i;
    r->c->word = fe_text(r->fe, extent_of(r, r->at, colon));
    fe_read_items(r, colon + 1, r->end);
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
    fe_set_expr(r, r->at, r->end);
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
        fe_set_expr(r, comma + 1, r->end);
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
            fe_set_expr(r, k + 2, comma - 1);
        else if (!token_is(r, k, "val") && !token_is(r, k, "uval") && !token_is(r, k, "ref"))
            fe_set_expr(r, k, comma);
        k = comma + 1;
    }
    if (token_is(r, r->at, "val") && token_is(r, r->at + 1, "(")) {
        r->at += 2;
        list_end = closing(r, r->at - 1);
    }
    fe_read_items(r, r->at, list_end);
}

static void read_lastpriv(struct reader *r)
{
    unsigned colon = find_top(r, r->at, r->end, ":");
    if (colon < r->end) {
        r->c->word = word_at(r, r->at);
        r->at = colon + 1;
    }
    fe_read_items(r, r->at, r->end);
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
        fe_read_items(r, k + 1, close);
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
