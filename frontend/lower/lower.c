/* lower.c - the constructs that become others in the text, and the rounds in which they do.
 *
 * In a round each construct is rewritten that holds no other one to be rewritten; then the new text
 * is read again.  Rows that need no statement go first: they are about the words of a line. */
#include "frontend/lower/lower.h"
#include <string.h>

enum { MOST_ROUNDS = 100 };

/* ------------------------------------------------------------------ what is lowered */
static bool always(struct fe *fe, const struct fe_pragma *p)
{
    (void)fe, (void)p;
    return true;
}

/* num_teams(lower: upper) */
static bool has_bounds(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    if (!lower_find(fe, p, OMPC_NUM_TEAMS, p->clauses_at, &a))
        return false;
    unsigned colon = fe_find_top(fe, p, a.begin, a.end, ":");
    return colon < fe_find_top(fe, p, a.begin, a.end, "?") && colon < a.end;
}

/* `ordered` of a loop with doacross directives: it is about one loop. */
static bool has_doacross(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    lower_find(fe, p, OMPC_ORDERED, p->clauses_at, &a);
    if (a.begin > a.at + 1)
        return false;
    do
        p++;
    while (p < fe->pragmas.at + fe->pragmas.n && p->c->directive != OMPDIR_ORDERED);
    return p < fe->pragmas.at + fe->pragmas.n &&
           lower_find(fe, p, OMPC_DOACROSS, p->clauses_at, &a);
}

/* dispatch asks what is preferred. */
static bool append_args_are_read(struct fe *fe, const struct fe_pragma *p)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        if (fe->pragmas.at[i].c->directive == OMPDIR_DISPATCH)
            return false;
    return lower_appends_preferred(fe, p);
}

static const struct row {
    enum omp_directive directive; /* UNKNOWN: any */
    enum omp_clause_kind clause;  /* COUNT: any */
    bool statement;               /* it needs to know it */
    bool (*wanted)(struct fe *, const struct fe_pragma *);
    void (*lower)(struct lowering *, struct fe_pragma *);
} rows[] = {
    { OMPDIR_UNKNOWN, OMPC_COUNT, false, lower_has_comma, lower_commas },
    { OMPDIR_UNKNOWN, OMPC_DEVICE, false, lower_has_device_modifier, lower_device_modifier },
    { OMPDIR_UNKNOWN, OMPC_COUNT, false, lower_has_misplaced_iterator, lower_misplaced_iterator },
    { OMPDIR_UNKNOWN, OMPC_COUNT, false, lower_selects_required, lower_required },
    { OMPDIR_UNKNOWN, OMPC_COUNT, false, lower_selects_unknown, lower_unknown },
    { OMPDIR_BEGIN_DECLARE_VARIANT, OMPC_COUNT, false, lower_is_inner_variant_block,
      lower_inner_variant_block },
    { OMPDIR_BEGIN_DECLARE_VARIANT, OMPC_COUNT, false, lower_is_variant_block,
      lower_variant_block },
    { OMPDIR_DECLARE_VARIANT, OMPC_COUNT, false, lower_hides_types, lower_hidden_types },
    { OMPDIR_DECLARE_SIMD, OMPC_COUNT, false, lower_hides_types, lower_hidden_types },
    { OMPDIR_BEGIN_METADIRECTIVE, OMPC_COUNT, false, always, lower_metadirective_block },
    { OMPDIR_TASKGRAPH, OMPC_COUNT, false, always, lower_taskgraph },
    { OMPDIR_DEPOBJ, OMPC_DESTROY, false, lower_destroys, lower_destroy },
    { OMPDIR_DECLARE_REDUCTION, OMPC_COMBINER, false, always, lower_combiner },
    { OMPDIR_TARGET_ENTER_DATA_SPREAD, OMPC_COUNT, false, always, lower_data_spread },
    { OMPDIR_TARGET_EXIT_DATA_SPREAD, OMPC_COUNT, false, always, lower_data_spread },
    { OMPDIR_TARGET_UPDATE_SPREAD, OMPC_COUNT, false, always, lower_data_spread },
    { OMPDIR_UNKNOWN, OMPC_COUNT, false, lower_is_split, lower_split_directive },
    { OMPDIR_REQUIRES, OMPC_REVERSE_OFFLOAD, false, always, lower_reverse_offload },
    { OMPDIR_REQUIRES, OMPC_DEVICE_SAFESYNC, false, always, lower_device_safesync },
    { OMPDIR_UNKNOWN, OMPC_SAFESYNC, false, always, lower_safesync },
    { OMPDIR_REQUIRES, OMPC_ATOMIC_DEFAULT_MEM_ORDER, false, lower_has_half_order,
      lower_memory_order },
    { OMPDIR_UNKNOWN, OMPC_COUNT, false, lower_has_target_default, lower_target_default },
    { OMPDIR_GROUPPRIVATE, OMPC_DEVICE_TYPE, false, lower_has_group_type, lower_device_type },
    { OMPDIR_UNKNOWN, OMPC_DEVICE_TYPE, false, lower_has_reverse_type, lower_device_type },
    { OMPDIR_UNKNOWN, OMPC_MEMSCOPE, false, lower_has_scope, lower_scope },
    { OMPDIR_UNKNOWN, OMPC_NUM_TEAMS, false, has_bounds, lower_num_teams },
    { OMPDIR_UNKNOWN, OMPC_REPLAYABLE, false, always, lower_replayable },
    { OMPDIR_ATOMIC, OMPC_WEAK, false, always, lower_weak },
    { OMPDIR_ATOMIC, OMPC_UPDATE, false, lower_updates, lower_update },
    { OMPDIR_DECLARE_VARIANT, OMPC_APPEND_ARGS, false, append_args_are_read, lower_append_args },
    { OMPDIR_INTEROP, OMPC_COUNT, false, lower_lists_objects, lower_objects },
    { OMPDIR_INTEROP, OMPC_DEVICE, false, lower_is_initial_device, lower_initial_device },
    { OMPDIR_INTEROP, OMPC_INIT, false, lower_prefers, lower_interop },
    { OMPDIR_UNKNOWN, OMPC_ORDERED, false, has_doacross, lower_ordered },
    { OMPDIR_UNKNOWN, OMPC_INDIRECT, true, lower_is_indirect, lower_indirect },
    { OMPDIR_TARGET_SPREAD, OMPC_COUNT, true, always, lower_target_spread },
    { OMPDIR_TARGET_DATA_SPREAD, OMPC_COUNT, true, always, lower_target_data_spread },
    { OMPDIR_TILE, OMPC_COUNT, true, always, lower_nest },
    { OMPDIR_STRIPE, OMPC_COUNT, true, always, lower_nest },
    { OMPDIR_REVERSE, OMPC_COUNT, true, always, lower_nest },
    { OMPDIR_INTERCHANGE, OMPC_COUNT, true, always, lower_nest },
    { OMPDIR_UNROLL, OMPC_COUNT, true, always, lower_unroll },
    { OMPDIR_FUSE, OMPC_COUNT, true, always, lower_fuse },
    { OMPDIR_SPLIT, OMPC_COUNT, true, always, lower_split },
    { OMPDIR_METADIRECTIVE, OMPC_COUNT, false, lower_scores_condition, lower_score },
    { OMPDIR_DECLARE_VARIANT, OMPC_COUNT, false, lower_scores_condition, lower_score },
    { OMPDIR_UNKNOWN, OMPC_COUNT, true, lower_has_folded_condition, lower_folded_condition },
    { OMPDIR_METADIRECTIVE, OMPC_COUNT, true, lower_chooses_late, lower_metadirective },
    { OMPDIR_METADIRECTIVE, OMPC_COUNT, true, lower_has_known_choice, lower_known_choice },
    { OMPDIR_DECLARE_VARIANT, OMPC_COUNT, true, lower_is_late_variant, lower_late_variant },
    { OMPDIR_DISPATCH, OMPC_COUNT, true, always, lower_dispatch },
    { OMPDIR_UNKNOWN, OMPC_NUM_THREADS, true, lower_has_levels, lower_levels },
    { OMPDIR_UNKNOWN, OMPC_REDUCTION, true, lower_has_original, lower_original },
    { OMPDIR_UNKNOWN, OMPC_REDUCTION, true, lower_initialises_scan, lower_init_complete },
    { OMPDIR_ATOMIC, OMPC_COMPARE, true, lower_compares, lower_compare },
    { OMPDIR_UNKNOWN, OMPC_REDUCTION, true, lower_has_host_scan, lower_host_scan },
    { OMPDIR_UNKNOWN, OMPC_COUNT, true, lower_has_task_iterations, lower_task_iterations },
    { OMPDIR_UNKNOWN, OMPC_TRANSPARENT, true, always, lower_transparent },
    { OMPDIR_UNKNOWN, OMPC_IN_REDUCTION, true, lower_reduces_section, lower_reduced_section },
    { OMPDIR_UNKNOWN, OMPC_LASTPRIVATE, true, lower_is_conditional, lower_conditional },
    { OMPDIR_UNKNOWN, OMPC_FIRSTPRIVATE, true, lower_is_initial, lower_initial },
    { OMPDIR_UNKNOWN, OMPC_LASTPRIVATE, true, lower_is_initial, lower_initial },
    { OMPDIR_TARGET, OMPC_DEVICE, true, lower_is_reverse, lower_reverse },
    { OMPDIR_UNKNOWN, OMPC_ALLOCATE, true, lower_uses_unnamed, lower_uses_allocators },
    { OMPDIR_UNKNOWN, OMPC_OMPX_ATTRIBUTE, false, always, lower_attributes },
    { OMPDIR_UNKNOWN, OMPC_OMPX_BARE, true, always, lower_bare },
    { OMPDIR_UNKNOWN, OMPC_INDUCTION, true, always, lower_induction },
    { OMPDIR_DECLARE_INDUCTION, OMPC_COUNT, true, lower_is_unused_induction,
      lower_declare_induction },
};

static bool has_clause(const struct fe *fe, const struct fe_pragma *p, enum omp_clause_kind kind)
{
    struct lower_argument a;
    bool allowed = false;
    for (unsigned i = 0; i < p->nnames; i++)
        allowed |= fe_allows(p->names[i], kind);
    return allowed && lower_find(fe, p, kind, p->clauses_at, &a);
}

static const struct row *row_of(struct fe *fe, const struct fe_pragma *p)
{
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((rows[i].directive == OMPDIR_UNKNOWN || rows[i].directive == p->c->directive) &&
            (rows[i].clause == OMPC_COUNT || has_clause(fe, p, rows[i].clause)) &&
            rows[i].wanted(fe, p))
            return &rows[i];
    return NULL;
}

bool lower_becomes_another(struct fe *fe, const struct fe_pragma *metadirective,
                           const unsigned tokens[2])
{
    struct fe_pragma *p = &fe->pragmas.at[metadirective - fe->pragmas.at], written = *p;
    if (tokens[0] == tokens[1])
        return false;
    p->c = arena_alloc(fe->a, sizeof *p->c);
    p->tokens += tokens[0];
    p->ntokens = tokens[1] - tokens[0];
    fe_read_directive(fe, p);
    bool another = row_of(fe, p) != NULL;
    *p = written;
    return another;
}

/* ------------------------------------------------------------------ pieces of text */
bool lower_find(const struct fe *fe, const struct fe_pragma *p, enum omp_clause_kind kind,
                unsigned k, struct lower_argument *a)
{
    for (; k < p->ntokens; k++) {
        bool found = p->tokens[k].kind == TOK_IDENT && fe_clause_named(fe, &p->tokens[k]) == kind;
        bool opens = fe_word_at(fe, p, k + 1, "(");
        unsigned close = opens ? fe_closing(fe, p, k + 1) : k;
        *a = (struct lower_argument){ k, opens ? k + 2 : k + 1, opens ? close : k + 1 };
        if (found)
            return true;
        k = close;
    }
    return false;
}

enum omp_keyword lower_keyword(const struct fe *fe, const struct fe_pragma *p, unsigned k)
{
    return k < p->ntokens ? fe_keyword(fe, &p->tokens[k]) : OMPK_NONE;
}

unsigned lower_end(const struct fe_pragma *p, const struct lower_argument *a)
{
    unsigned end = a->begin > a->at + 1 ? a->end + 1 : a->end;
    return end < p->ntokens ? end : p->ntokens;
}

unsigned lower_after(const struct fe *fe, const struct fe_pragma *p, const struct lower_argument *a)
{
    unsigned end = lower_end(p, a);
    return end + fe_word_at(fe, p, end, ",");
}

const char *lower_tokens(struct fe *fe, const struct fe_pragma *p, unsigned begin, unsigned end)
{
    if (begin >= end || end > p->ntokens)
        return "";
    return fe_text(fe, (struct omp_extent){ p->tokens[begin].begin, p->tokens[end - 1].end });
}

const char *lower_without(struct fe *fe, const struct fe_pragma *p, enum omp_clause_kind kind)
{
    const char *text = "";
    struct lower_argument a;
    unsigned k = 0;
    while (lower_find(fe, p, kind, k, &a)) {
        text = arena_printf(fe->a, "%s %s", text, lower_tokens(fe, p, k, a.at));
        k = lower_after(fe, p, &a);
    }
    return arena_printf(fe->a, "omp%s %s", text, lower_tokens(fe, p, k, p->ntokens));
}

const char *lower_line(struct fe *fe, const char *directive, unsigned offset)
{
    unsigned line = fe_place(fe->u, offset).line;
    return arena_printf(fe->a, "\n# %u\n#pragma %s\n# %u\n", line, directive, line);
}

void lower_drop(struct lowering *l, const struct fe_pragma *p, enum omp_clause_kind kind)
{
    fe_add_edit(l->fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
                lower_line(l->fe, lower_without(l->fe, p, kind), p->extent.end));
}

const char *lower_text(struct fe *fe, struct omp_extent e)
{
    struct omp_place at = fe_place(fe->u, e.begin);
    return arena_printf(fe->a, "%s%*s%s", fe_marker(fe, at, fe_is_system(fe, e.begin)),
                        at.col > 1 ? (int)at.col - 1 : 0, "", fe_text(fe, e));
}

struct omp_extent lower_statement(struct fe *fe, const struct fe_pragma *p)
{
    return (struct omp_extent){ p->extent.begin,
                                p->found ? fe_stmt_end(fe, p->stmt) : p->extent.end };
}

const struct fe_pragma *lower_around(struct fe *fe, const struct fe_pragma *p, unsigned leaf)
{
    const struct fe_pragma *found = NULL;
    for (const struct fe_pragma *q = fe->pragmas.at; q < p; q++)
        if ((q->c->leaves & leaf) && q->found && p->extent.begin < lower_statement(fe, q).end)
            found = q;
    return found;
}

void lower_replace(struct lowering *l, struct omp_extent e, const char *text)
{
    unsigned line = fe_place(l->fe->u, e.end).line;
    fe_add_edit(l->fe, &l->edits, e.begin, e.end - e.begin,
                arena_printf(l->fe->a, "%s\n# %u\n", text, line));
}

void lower_declare_around(struct lowering *l, const struct fe_pragma *p, const char *declarations)
{
    struct fe *fe = l->fe;
    struct omp_extent e = lower_statement(fe, p);
    fe_add_edit(fe, &l->edits, e.begin, 0,
                arena_printf(fe->a, "{ %s\n# %u\n", declarations, fe_place(fe->u, e.begin).line));
    fe_add_edit(fe, &l->edits, e.end, 0, " }");
}

void lower_add_clause(struct lowering *l, const struct fe_pragma *p, const char *clause,
                      const char *item)
{
    fe_add_edit(l->fe, &l->edits, p->tokens[p->ntokens - 1].end, 0,
                arena_printf(l->fe->a, " %s(%s)", clause, item));
}

const char *lower_name(struct lowering *l, const char *what)
{
    return arena_printf(l->fe->a, "%s%s%u", l->fe->u->prefix, what, l->names++);
}

const char *lower_declare(struct fe *fe, const struct fe_pragma *p, const char *name,
                          const char *declaration)
{
    const struct fe_function *f = fe_function_named(fe, name, (unsigned)strlen(name));
    bool of_file = f && clang_getCursorKind(clang_getCursorLexicalParent(f->first)) ==
                            CXCursor_TranslationUnit;
    return of_file && f->decl < p->extent.begin ? "" : declaration;
}

bool lower_is_edited(const struct lowering *l, struct omp_extent e)
{
    for (unsigned i = 0; i < l->edits.n; i++)
        if (l->edits.at[i].offset < e.end &&
            l->edits.at[i].offset + l->edits.at[i].length >= e.begin)
            return true;
    return false;
}

void lower_num_teams(struct lowering *l, struct fe_pragma *p)
{
    struct lower_argument a;
    lower_find(l->fe, p, OMPC_NUM_TEAMS, p->clauses_at, &a);
    unsigned colon = fe_find_top(l->fe, p, a.begin, a.end, ":"), at = p->tokens[a.begin].begin;
    fe_add_edit(l->fe, &l->edits, at, p->tokens[colon].end - at, "");
}

void lower_ordered(struct lowering *l, struct fe_pragma *p)
{
    struct lower_argument a;
    lower_find(l->fe, p, OMPC_ORDERED, p->clauses_at, &a);
    fe_add_edit(l->fe, &l->edits, p->tokens[a.at].end, 0, "(1)");
}

/* ------------------------------------------------------------------ what clang never sees */
static bool is_replaced(struct fe *fe, const struct fe_pragma *p)
{
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].directive == p->c->directive && rows[i].clause == OMPC_COUNT &&
            rows[i].wanted == always)
            return true;
    return p->c->directive == OMPDIR_TASK_ITERATION ||
           (p->c->directive == OMPDIR_DEPOBJ && lower_destroys(fe, p));
}

/* ------------------------------------------------------------------ rounds */
/* Those with or without statements; the last ones first, so that what is inside goes first. */
static void lower_all(struct lowering *l, bool statements)
{
    for (unsigned i = l->fe->pragmas.n; i-- > 0;) {
        struct fe_pragma *p = &l->fe->pragmas.at[i];
        const struct row *row = row_of(l->fe, p);
        if (row && row->statement == statements && !lower_is_edited(l, lower_statement(l->fe, p)))
            row->lower(l, p);
    }
}

static bool has_rows(struct fe *fe)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        if (row_of(fe, &fe->pragmas.at[i]))
            return true;
    return false;
}

static void lower_statements(struct lowering *l)
{
    lower_late_variants(l);
    if (!l->edits.n && !l->fe->errors)
        lower_all(l, true);
}

/* Acts on what libclang knows of the text; false: it has errors of its own. */
static bool act_on_tree(struct lowering *l, int nargs, const char *const *args,
                        void (*act)(struct lowering *))
{
    struct fe *fe = l->fe;
    CXIndex index = clang_createIndex(0, 0);
    bool walked = fe_walk(fe, index, nargs, args) == 0;
    if (walked) {
        fe_finish_walk(fe);
        act(l);
    }
    if (fe->tu)
        clang_disposeTranslationUnit(fe->tu);
    clang_disposeIndex(index);
    return walked;
}

/* The next text; NULL: there is none. */
static char *lower_tree(struct lowering *l, int nargs, const char *const *args,
                        void (*lower)(struct lowering *))
{
    struct fe *fe = l->fe;
    if (act_on_tree(l, nargs, args, lower))
        return l->edits.n && !fe->errors ? fe_edited_text(fe, &l->edits) : NULL;
    /* whoever reads the text next says what is wrong with it */
    if (!fe_is_misread(fe->u->path, fe->u->text, fe->u->length))
        fe->errors = 0;
    return NULL;
}

/* The next text; NULL: nothing is left to do, or there was an error. */
static char *lower_once(struct fe *fe, int nargs, const char *const *args)
{
    struct lowering l = { .fe = fe };
    if (!has_rows(fe))
        return NULL;
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        if (is_replaced(fe, &fe->pragmas.at[i]))
            lower_check_clauses(fe, &fe->pragmas.at[i]);
    lower_all(&l, false);
    if (l.edits.n || fe->errors)
        return fe->errors ? NULL : fe_edited_text(fe, &l.edits);
    return lower_tree(&l, nargs, args, lower_statements);
}

static void check_arguments(struct lowering *l)
{
    for (unsigned i = 0; i < l->fe->pragmas.n; i++)
        if (row_of(l->fe, &l->fe->pragmas.at[i]))
            lower_check_arguments(l->fe, &l->fe->pragmas.at[i]);
}

/* Of the user's text. */
static char *check_once(struct fe *fe, int nargs, const char *const *args)
{
    struct lowering l = { .fe = fe };
    if (has_rows(fe) && !act_on_tree(&l, nargs, args, check_arguments))
        fe->errors = 0; /* the text may become one without */
    return NULL;
}

static char *lower_at_end(struct fe *fe, int nargs, const char *const *args)
{
    struct lowering l = { .fe = fe };
    return lower_may_start(fe) ? lower_tree(&l, nargs, args, lower_starts) : NULL;
}

struct run {
    const char *path;
    char *text, *now; /* what was given, what became of it or NULL */
    size_t length;
    int nargs, errors;
    const char *const *args;
};

/* Has the text become another? */
static bool step(struct run *r, char *(*lower)(struct fe *, int, const char *const *))
{
    struct fe *fe = fe_begin_unit(r->path, r->now ? r->now : r->text, r->length);
    fe_scan_lines(fe);
    fe_scan_pragmas(fe);
    char *next = lower(fe, r->nargs, r->args);
    r->errors = fe->errors;
    if (r->errors)
        fe_show_messages(fe->u);
    arena_free(fe->a);
    if (next) {
        r->now = next;
        r->length = strlen(next);
    }
    return next != NULL;
}

char *fe_lower(const char *path, const char *text, size_t length, int nargs,
               const char *const *args, int *errors)
{
    struct run r = { path, (char *)text, NULL, length, nargs, 0, args };
    step(&r, check_once);
    for (unsigned round = 0; round < MOST_ROUNDS && !r.errors && step(&r, lower_once);)
        round++;
    if (!r.errors)
        step(&r, lower_at_end);
    *errors = r.errors;
    return r.now;
}
