/* arguments.c - reads the clauses of a directive: which ones there are, and the argument of each by
 * the kind that the table gives.  Expressions and list items: clause.c. */
#include "frontend/reader.h"
#include <string.h>

/* ------------------------------------------------------------------ words */
static bool word_is_one_of(struct reader *r, unsigned k, enum fe_words set, unsigned *value)
{
    const struct fe_token *t = &r->p->tokens[k];
    return fe_word(set, text_of(r) + t->begin, t->end - t->begin, value);
}
static enum omp_keyword keyword_at(struct reader *r, unsigned k)
{
    return k < r->end ? fe_keyword(r->fe, &r->p->tokens[k]) : OMPK_NONE;
}

/* What clang 22 does not read has an older word of the same meaning: the text gets that. */
static void respell(struct reader *r, unsigned k, const char *word)
{
    struct fe_token *t = &r->p->tokens[k];
    size_t n = strlen(word);
    memset(r->fe->u->text + t->begin, ' ', t->end - t->begin);
    memcpy(r->fe->u->text + t->begin, word, n);
    t->end = t->begin + (unsigned)n;
    r->fe->respelled = true;
}
static void respell_storage(struct reader *r, unsigned k)
{
    if (token_is(r, k, "storage"))
        respell(r, k, "alloc");
}

/* ------------------------------------------------------------ one function per kind of argument */
static void read_none(struct reader *r) { (void)r; }
static void read_raw(struct reader *r) { r->c->expr.extent = extent_of(r, r->at, r->end); }
static void read_list(struct reader *r) { fe_read_items(r, r->at, r->end); }

/* `lower : upper`, `strict: n`, `device_num: n` - what follows the ':' counts. */
static void read_expr(struct reader *r)
{
    unsigned colon = find_top(r, r->at, r->end, ":"), question = find_top(r, r->at, r->end, "?");
    if (colon < r->end && question > colon) {
        if (r->c->kind == OMPC_NUM_TEAMS || r->c->kind == OMPC_RANGE)
            fe_expr_of(r, r->at, colon);
        else
            r->c->keyword = keyword_at(r, r->at);
        r->at = colon + 1;
    }
    fe_set_expr(r, r->at, r->end);
    r->c->value = r->c->expr.value;
}

static void read_const(struct reader *r)
{
    r->c->expr = fe_expr_of(r, r->at, r->end);
    if (r->at < r->end && !r->collecting && !r->c->expr.is_constant && r->c->kind == OMPC_COLLAPSE)
        fe_error(r->fe, offset_at(r, r->at),
                 "argument of clause '%s' is not a constant that can be evaluated here",
                 fe_clause_rows[r->c->kind].spelling);
    r->c->value = r->c->expr.value;
}

static void read_exprs(struct reader *r)
{
    for (unsigned k = r->at, end; k < r->end; k = end + 1) {
        end = find_top(r, k, r->end, ",");
        if (end != k + 1 || keyword_at(r, k) == OMPK_NONE) /* not omp_fill, all */
            fe_expr_of(r, k, end);
    }
}

static void bad_modifier(struct reader *r, unsigned k)
{
    if (!r->collecting)
        fe_unsupported(r->fe, fe_place(r->fe->u, offset_at(r, k)), UNSUPPORTED_MODIFIER,
                       word_at(r, k), fe_clause_rows[r->c->kind].spelling);
}

/* Attached pointers are always set where they differ. */
static void read_attach(struct reader *r, unsigned k)
{
    enum omp_keyword mode = keyword_at(r, k);
    r->c->map |= OMPM_SAYS_ATTACH;
    if (mode == OMPK_NEVER)
        r->c->map |= OMPM_UNATTACHED;
    else if (mode != OMPK_ALWAYS && mode != OMPK_AUTO)
        bad_modifier(r, k);
}

/* `mapper(name)`, `iterator(…)`, `attach(mode)`: the token after it, 0: it is none. */
static unsigned read_map_argument(struct reader *r, unsigned k)
{
    enum omp_keyword word = keyword_at(r, k);
    if (!token_is(r, k + 1, "(") ||
        (word != OMPK_MAPPER && word != OMPK_ITERATOR && word != OMPK_ATTACH))
        return 0;
    if (word == OMPK_ITERATOR)
        fe_read_iterators(r, k + 1);
    else if (word == OMPK_ATTACH)
        read_attach(r, k + 2);
    else
        r->c->mapper = word_at(r, k + 2);
    return closing(r, k + 1) + 1;
}

/* The words before the colon; false if there is one that is not known, which is an error. */
static bool read_map_words(struct reader *r, unsigned colon, enum fe_words types,
                           enum fe_words modifiers, bool *typed)
{
    for (unsigned k = r->at, next; k < colon; k++) {
        if (token_is(r, k, ","))
            continue;
        respell_storage(r, k);
        if ((next = read_map_argument(r, k))) {
            k = next - 1;
        } else if (word_is_one_of(r, k, types, &r->c->map)) {
            *typed = true;
        } else if (!word_is_one_of(r, k, modifiers, &r->c->map)) {
            bad_modifier(r, k);
            return false;
        }
    }
    r->at = colon + 1;
    return true;
}

static void read_map(struct reader *r)
{
    unsigned colon = find_top(r, r->at, r->end, ":"), leaves = r->p->c->leaves;
    bool typed = false;
    if (colon == r->at && !r->collecting)
        fe_error(r->fe, offset_at(r, colon), "expected a map type or modifier before ':'");
    if (colon < r->end && !read_map_words(r, colon, WORDS_MAP_TYPE, WORDS_MAP_MODIFIER, &typed))
        return;
    unsigned map = r->c->map;
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
    bool modified = false;
    if (colon < r->end &&
        !read_map_words(r, colon, WORDS_LOCATOR_MODIFIER, WORDS_LOCATOR_MODIFIER, &modified))
        return;
    if (r->c->kind == OMPC_TO)
        r->c->map |= OMPM_TO;
    if (r->c->kind == OMPC_FROM)
        r->c->map |= OMPM_FROM;
    fe_read_items(r, r->at, r->end);
}

static void read_reduce(struct reader *r)
{
    unsigned colon = find_top(r, r->at, r->end, ":"), comma = find_top(r, r->at, colon, ",");
    if (colon == r->end) { /* clang warns */
        fe_error(r->fe, offset_at(r, r->at), "expected ':' after the reduction's identifier");
        return;
    }
    if (comma < colon) {
        r->c->keyword = keyword_at(r, r->at);
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
    unsigned colon = find_top(r, r->at, r->end, ":"), n;
    enum omp_directive d = fe_directive_at(r->fe, r->p, r->at, &n);
    if (colon < r->end && d != OMPDIR_UNKNOWN && r->at + n == colon) {
        r->c->if_leaf = (enum omp_leaf)fe_directive_rows[d].leaf;
        r->at = colon + 1;
    }
    fe_set_expr(r, r->at, r->end);
}

static void read_sched(struct reader *r)
{
    unsigned comma = find_top(r, r->at, r->end, ","), colon = find_top(r, r->at, r->end, ":");
    unsigned kind = OMPSCHED_NONE;
    if (colon < r->end &&
        find_top(r, r->at, colon, "?") == colon) { /* monotonic, nonmonotonic, simd */
        for (; r->at < colon; r->at++)
            if (keyword_at(r, r->at) == OMPK_MONOTONIC ||
                (keyword_at(r, r->at) == OMPK_SIMD && r->c->keyword != OMPK_MONOTONIC))
                r->c->keyword = keyword_at(r, r->at);
        r->at = colon + 1;
        comma = find_top(r, r->at, r->end, ",");
    }
    word_is_one_of(r, r->at, WORDS_SCHEDULE, &kind);
    r->c->sched = (enum omp_sched)kind;
    if (comma < r->end)
        fe_set_expr(r, comma + 1, r->end);
}

static void read_mapdef(struct reader *r)
{
    respell_storage(r, r->at);
    word_is_one_of(r, r->at, WORDS_DEFAULTMAP, &r->c->map);
    unsigned colon = find_top(r, r->at, r->end, ":");
    r->c->keyword = colon + 1 < r->end ? keyword_at(r, colon + 1) : OMPK_ALL;
}

/* after modifiers: order(reproducible: concurrent); default(firstprivate: category) */
static void read_word(struct reader *r)
{
    if (r->end > r->at)
        r->c->keyword = keyword_at(r, r->c->kind == OMPC_DEFAULT ? r->at : r->end - 1);
}

static void read_linear(struct reader *r)
{
    unsigned colon = find_top(r, r->at, r->end, ":"), list_end = colon, ignored = 0;
    for (unsigned k = colon + 1; k < r->end;) { /* step, step(n), val */
        unsigned comma = find_top(r, k, r->end, ",");
        if (token_is(r, k, "step") && token_is(r, k + 1, "("))
            fe_set_expr(r, k + 2, comma - 1);
        else if (!word_is_one_of(r, k, WORDS_LINEAR_MODIFIER, &ignored))
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
        r->c->keyword = keyword_at(r, r->at);
        r->at = colon + 1;
    }
    fe_read_items(r, r->at, r->end);
}

static void read_induct(struct reader *r)
{
    unsigned colon = find_top(r, r->at, r->end, ":");
    for (unsigned k = r->at, end; k < colon; k = end + 1) {
        end = find_top(r, k, colon, ",");
        if (keyword_at(r, k) == OMPK_STEP && token_is(r, k + 1, "("))
            fe_set_expr(r, k + 2, closing(r, k + 1));
    }
    fe_read_items(r, colon + 1, r->end);
}

static void add_clause(struct omp_construct *c, struct omp_clause *clause)
{
    struct omp_clause **tail = &c->clauses;
    while (*tail)
        tail = &(*tail)->next;
    *tail = clause;
}

/* Before 5.2: `a(t), b, c(u)`.  Each allocator with traits is a clause of its own. */
static void read_old_traits(struct reader *r)
{
    for (unsigned k = r->at, end; k < r->end; k = end + 1) {
        end = find_top(r, k, r->end, ",");
        if (!token_is(r, k + 1, "("))
            continue;
        if (r->c->value) {
            struct omp_clause *more = arena_alloc(r->fe->a, sizeof *more);
            *more = (struct omp_clause){ .kind = r->c->kind,
                                         .place = r->c->place,
                                         .extent = r->c->extent };
            add_clause(r->p->c, more);
            r->c = more;
        }
        fe_read_items(r, k, k + 1);
        fe_set_expr(r, k + 2, closing(r, k + 1));
        r->c->value = 1;
    }
}

/* `memspace(h), traits(t): a`: the expression is an array of traits, the item an allocator, which
 * is made for the region where `value` is not 0. */
static void read_traits(struct reader *r)
{
    unsigned colon = find_top(r, r->at, r->end, ":");
    if (colon == r->end) {
        read_old_traits(r);
        return;
    }
    for (unsigned k = r->at; k < colon; k++) {
        if (!token_is(r, k + 1, "("))
            continue;
        if (keyword_at(r, k) == OMPK_MEMSPACE)
            r->c->keyword = OMPK_MEMSPACE;
        else
            fe_set_expr(r, k + 2, closing(r, k + 1));
        r->c->value = 1;
        k = closing(r, k + 1);
    }
    fe_read_items(r, colon + 1, r->end);
}

/* `allocator(a), align(n): list`, or `a: list`: the expression is the alignment. */
static void read_alloc(struct reader *r)
{
    unsigned colon = find_top(r, r->at, r->end, ":");
    bool modifiers = false;
    for (unsigned k = r->at; colon < r->end && k + 1 < colon; k++) {
        bool align = token_is(r, k, "align");
        if ((!align && !token_is(r, k, "allocator")) || !token_is(r, k + 1, "("))
            continue;
        modifiers = true;
        if (align)
            fe_set_expr(r, k + 2, closing(r, k + 1));
        else
            fe_expr_of(r, k + 2, closing(r, k + 1)); /* for its variables */
        k = closing(r, k + 1);
    }
    if (colon < r->end && !modifiers)
        fe_expr_of(r, r->at, colon);
    fe_read_items(r, colon < r->end ? colon + 1 : r->at, r->end);
}

static void (*const readers[])(struct reader *) = {
    [ARG_NONE] = read_none,     [ARG_EXPR] = read_expr,         [ARG_CONST] = read_const,
    [ARG_EXPRS] = read_exprs,   [ARG_LIST] = read_list,         [ARG_LOCATOR] = read_locator,
    [ARG_MAP] = read_map,       [ARG_REDUCE] = read_reduce,     [ARG_IF] = read_if,
    [ARG_SCHED] = read_sched,   [ARG_MAPDEF] = read_mapdef,     [ARG_WORD] = read_word,
    [ARG_LINEAR] = read_linear, [ARG_LASTPRIV] = read_lastpriv, [ARG_RAW] = read_raw,
    [ARG_TRAITS] = read_traits, [ARG_ALLOC] = read_alloc,       [ARG_INDUCT] = read_induct,
};

/* ------------------------------------------------------------------ the clauses of a directive */
static bool allowed(const struct fe_pragma *p, enum omp_clause_kind kind)
{
    for (unsigned i = 0; i < p->nnames; i++)
        if (fe_allows(p->names[i], kind))
            return true;
    return false;
}

/* OpenMP 6.0: `teams:` before the argument says which construct of a combined one it is for. */
static bool names_construct(const struct reader *r, enum omp_clause_kind kind)
{
    unsigned n;
    enum omp_directive d = OMPDIR_UNKNOWN;
    if (kind != OMPC_IF && token_is(r, r->at + 1, ":"))
        d = fe_directive_at(r->fe, r->p, r->at, &n);
    for (unsigned i = 0; i < r->p->nnames && d != OMPDIR_UNKNOWN; i++)
        if (r->p->names[i] == d)
            return true;
    return false;
}

static unsigned read_clause(struct reader *r, enum omp_clause_kind kind, unsigned k)
{
    bool argument = token_is(r, k + 1, "(");
    unsigned last = argument ? closing(r, k + 1) : k;
    unsigned ntokens = r->p->ntokens;
    r->c = arena_alloc(r->fe->a, sizeof *r->c);
    /* whoever can share all memory maps nothing */
    r->c->kind = kind == OMPC_SELF_MAPS ? OMPC_UNIFIED_SHARED_MEMORY : kind;
    r->c->place = fe_place(r->fe->u, offset_at(r, k));
    r->c->extent = extent_of(r, k, last < ntokens ? last + 1 : ntokens);
    add_clause(r->p->c, r->c);
    r->at = argument ? k + 2 : last + 1;
    r->end = argument ? last : last + 1;
    if (argument && names_construct(r, kind))
        r->at += 2;
    if (argument || fe_clause_rows[kind].arg == ARG_NONE)
        readers[fe_clause_rows[kind].arg](r);
    if (kind == OMPC_DETACH && r->c->nitems) /* gets the event */
        *VEC_PUSH(r->fe->a, &r->fe->writes) = r->c->items[0].text.begin;
    r->end = ntokens;
    return last + 1;
}

static void note_private(struct reader *r, enum omp_directive d, struct omp_var *v)
{
    if (v && d == OMPDIR_THREADPRIVATE)
        v->is_per_thread = true, r->fe->var_flags.at[v->id] |= FE_VAR_THREADPRIVATE;
    if (v && d == OMPDIR_GROUPPRIVATE)
        v->declare_target = OMPV_DT_GROUP;
}

/* critical(name), flush(list), threadprivate(list), groupprivate(list), declare target(list) */
static unsigned directive_argument(struct reader *r, unsigned k)
{
    unsigned close = closing(r, k), leaves = r->p->c->leaves;
    if (leaves & OMPL_CRITICAL)
        r->p->c->name = fe_text(r->fe, extent_of(r, k + 1, close));
    enum omp_directive d = r->p->c->directive;
    bool is_private = d == OMPDIR_THREADPRIVATE || d == OMPDIR_GROUPPRIVATE;
    if ((leaves & OMPL_DECLARE_TARGET) || is_private || d == OMPDIR_ALLOCATE) {
        r->c = arena_alloc(r->fe->a, sizeof *r->c);
        r->c->kind = is_private ? OMPC_PRIVATE : OMPC_ENTER;
        r->c->place = r->p->c->place;
        r->c->extent = extent_of(r, k, close < r->p->ntokens ? close + 1 : close);
        fe_read_items(r, k + 1, close);
        for (unsigned i = 0; is_private && i < r->c->nitems; i++)
            note_private(r, d, r->c->items[i].var);
        if (leaves & OMPL_DECLARE_TARGET)
            add_clause(r->p->c, r->c);
    }
    return close + 1;
}

static bool takes_argument(const struct fe_pragma *p)
{
    const unsigned some = OMPL_CRITICAL | OMPL_FLUSH | OMPL_DECLARE_TARGET | OMPL_OTHER;
    return (p->c->leaves & some) || p->assoc == ASSOC_DECL;
}

/* A word may be a clause that only clang knows; of the rest of the line after anything else clang
 * reads nothing. */
static bool ends_clauses(const struct reader *r, unsigned k)
{
    return !is_ident(r, k) && !token_is(r, k, ",") && !(r->p->c->leaves & OMPL_OTHER);
}

static void read_clauses(struct fe *fe, struct fe_pragma *p, bool collecting)
{
    struct reader r = { .fe = fe, .p = p, .end = p->ntokens, .collecting = collecting };
    unsigned k = p->clauses_at;
    if (k < p->ntokens && token_is(&r, k, "(") && takes_argument(p))
        k = directive_argument(&r, k);
    while (k < p->ntokens) {
        enum omp_clause_kind kind =
            is_ident(&r, k) ? fe_clause_named(fe, &p->tokens[k]) : OMPC_COUNT;
        if (kind == OMPC_LOCAL && allowed(p, kind)) {
            respell(&r, k, fe_clause_rows[OMPC_ENTER].spelling);
            continue; /* no mapping is made of either: each device has a variable of its own */
        }
        if (kind != OMPC_COUNT && allowed(p, kind)) {
            k = read_clause(&r, kind, k);
            continue;
        }
        bool last = ends_clauses(&r, k);
        if ((is_ident(&r, k) || last) && !p->unexpected && !(p->c->leaves & OMPL_OTHER))
            p->unexpected = p->tokens[k].begin;
        if (last)
            break;
        k = is_ident(&r, k) && token_is(&r, k + 1, "(") ? closing(&r, k + 1) + 1 : k + 1;
    }
}

/* A region for the host alone is host code: nothing of it is the device's. */
static void set_host_region(struct omp_construct *c)
{
    const struct omp_clause *type = fe_clause(c, OMPC_DEVICE_TYPE);
    if ((c->leaves & OMPL_TARGET) && type && type->keyword == OMPK_HOST) {
        c->host_region = true;
        c->leaves &= ~(unsigned)OMPL_TARGET;
    }
}

void fe_parse_clauses(struct fe *fe)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        if (fe->pragmas.at[i].c->directive == OMPDIR_DECLARE_REDUCTION)
            fe_read_udr(fe, &fe->pragmas.at[i]);
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        enum omp_directive d = fe->pragmas.at[i].c->directive;
        if (d != OMPDIR_DECLARE_REDUCTION)
            read_clauses(fe, &fe->pragmas.at[i], false);
        if (d == OMPDIR_DECLARE_MAPPER)
            fe_read_mapper(fe, &fe->pragmas.at[i]);
        set_host_region(fe->pragmas.at[i].c);
    }
}

/* ------------------------------------------------------------------ before the text is parsed */
/* Names in declarative directives can mean what is declared after them; only two of these have
 * lists of what is known, and a mapper is of a type that is complete. */
static bool has_visible_arguments(const struct fe_pragma *p)
{
    enum omp_directive d = p->c->directive;
    return p->assoc != ASSOC_DECL || (p->c->leaves & OMPL_DECLARE_TARGET) ||
           d == OMPDIR_THREADPRIVATE || d == OMPDIR_GROUPPRIVATE || d == OMPDIR_DECLARE_MAPPER;
}

static bool has_selector(const struct fe_pragma *p)
{
    enum omp_directive d = p->c->directive;
    return d == OMPDIR_METADIRECTIVE || d == OMPDIR_DECLARE_VARIANT ||
           d == OMPDIR_BEGIN_DECLARE_VARIANT;
}

static bool is_condition(const struct fe *fe, const struct fe_token *t)
{
    unsigned selector = 0;
    return fe_word(WORDS_SELECTOR, fe->u->text + t->begin, t->end - t->begin, &selector) &&
           selector == SELECTOR_CONDITION;
}

/* Conditions and scores of all selectors, and the arguments of all variants. */
static void collect_contexts(struct fe *fe, struct fe_pragma *p)
{
    struct reader r = { .fe = fe, .p = p, .end = p->ntokens, .collecting = true };
    for (unsigned k = p->clauses_at; k + 1 < p->ntokens; k++) {
        if (!token_is(&r, k + 1, "("))
            continue;
        unsigned begin = k + 2, close = closing(&r, k + 1);
        const struct fe_token *word = &p->tokens[k];
        enum omp_clause_kind kind = fe_clause_named(fe, word);
        if (is_condition(fe, word) || fe_keyword(fe, word) == OMPK_SCORE) {
            if (fe_keyword(fe, &p->tokens[begin]) == OMPK_SCORE)
                begin = find_top(&r, begin, close, ":") + 1;
            fe_add_operand(&r, begin, close, false);
        }
        if (kind != OMPC_WHEN && kind != OMPC_DEFAULT && kind != OMPC_OTHERWISE)
            continue;
        begin = kind == OMPC_WHEN ? find_top(&r, begin, close, ":") + 1 : begin;
        if (begin >= close || p->c->directive != OMPDIR_METADIRECTIVE)
            continue;
        struct omp_construct c = { .leaves = 0 };
        struct fe_pragma variant = {
            .extent = p->extent, .tokens = p->tokens + begin, .ntokens = close - begin, .c = &c
        };
        fe_read_directive(fe, &variant);
        fe_collect_arguments(fe, &variant);
        p->takes_statement |= variant.assoc == ASSOC_STMT || variant.assoc == ASSOC_LOOP;
    }
}

/* All clauses of a mapper see its variable. */
static void collect_groups(struct fe *fe, struct fe_pragma *p)
{
    p->first_group = fe->groups.n;
    for (const struct omp_clause *k = p->c->clauses; k; k = k->next)
        if (k->niterators || p->c->directive == OMPDIR_DECLARE_MAPPER)
            *VEC_PUSH(fe->a, &fe->groups) =
                (struct fe_group){ k->extent, k->iterators, k->niterators };
    p->ngroups = fe->groups.n - p->first_group;
}

/* What follows the name of a spread directive is for the directive that each device gets. */
static void collect_spread(struct fe *fe, const struct fe_pragma *p)
{
    struct fe_pragma whole = *p;
    unsigned words;
    enum omp_directive d = fe_directive_at(fe, p, 1, &words); /* after `ompx` */
    const unsigned most = sizeof whole.names / sizeof *whole.names;
    while (d != OMPDIR_UNKNOWN && whole.nnames < most) {
        whole.names[whole.nnames++] = d;
        d = fe_directive_at(fe, p, whole.clauses_at, &words);
        whole.clauses_at += d != OMPDIR_UNKNOWN ? words : 0;
    }
    read_clauses(fe, &whole, true);
}

void fe_collect_arguments(struct fe *fe, struct fe_pragma *p)
{
    struct omp_construct scratch = *p->c, *c = p->c;
    struct reader r = { .fe = fe, .p = p, .end = p->ntokens, .collecting = true };
    struct omp_udr d;
    p->c = &scratch;
    if (fe_is_for_types(p))
        fe_read_udr_parts(&r, &d);
    else if (has_selector(p))
        collect_contexts(fe, p);
    else if (fe_is_spread(p))
        collect_spread(fe, p);
    else if (has_visible_arguments(p))
        read_clauses(fe, p, true);
    collect_groups(fe, p);
    p->c = c;
}

struct omp_clause *fe_clause(const struct omp_construct *c, enum omp_clause_kind kind)
{
    for (struct omp_clause *x = c->clauses; x; x = x->next)
        if (x->kind == kind)
            return x;
    return NULL;
}
