/* clang22.c - what clang 22's own reading of directives needs of us.  The page on all such things
 * is driver/pipeline/clang22.c.
 *
 * Clauses on which it hangs (fe_screen).  Its parser does not step over a clause that it knows by
 * name but cannot read, or not here; the loop that reads clauses finds the same word again: with an
 * error each time until the error limit is reached, or in silence where the clause is allowed.  So
 * such clauses must be found without clang's parser.  Exactly those: the same word as a variable,
 * or after a word that is no clause (clang leaves the rest of the line alone), does no harm.  Of a
 * metadirective clang reads the variants that may be chosen; here each counts.
 *
 * Inscan reductions (fe_hide).  It knows them on `for`, `simd` and their combinations with
 * parallel, and rejects them on `target parallel for` and the like.  In such directives the leaves
 * that are ours, and their clauses, become blanks: clang checks the rest, at the same places, and
 * what is blanked is checked by the frontend.  It also rejects `scan` in collapsed loops: in a file
 * that has some, all scans are hidden, and are reductions without a directive.
 *
 * Directives of ours (fe_hide), which it takes for unknown ones: all but their reductions. */
#include "frontend/lower/lower.h"
#include <ctype.h>
#include <string.h>

static bool is_one_of(const struct fe *fe, const struct fe_token *t, enum fe_words set)
{
    unsigned value = 0;
    return fe_word(set, fe->u->text + t->begin, t->end - t->begin, &value);
}

/* A clause, or one more word of the directive's name: `cancel parallel`. */
static bool is_known(const struct fe *fe, const struct fe_pragma *p, unsigned k)
{
    unsigned n;
    return fe_clause_named(fe, &p->tokens[k]) != OMPC_COUNT ||
           fe_directive_at(fe, p, k, &n) != OMPDIR_UNKNOWN ||
           is_one_of(fe, &p->tokens[k], WORDS_CLANG_CLAUSE);
}

/* clang reads the clauses of these in another way, or not at all. */
static bool is_harmless(const struct fe_pragma *p, enum omp_directive d)
{
    switch (d) {
    case OMPDIR_NOTHING:
    case OMPDIR_SPLIT:
    case OMPDIR_BEGIN_METADIRECTIVE:
    case OMPDIR_END_METADIRECTIVE: return true;
    case OMPDIR_REQUIRES:
    case OMPDIR_DECLARE_MAPPER: return false;
    default: return p->assoc == ASSOC_DECL;
    }
}

/* After the argument, if one begins at k. */
static unsigned skip_argument(const struct fe *fe, const struct fe_pragma *p, unsigned k)
{
    if (!fe_word_at(fe, p, k, "("))
        return k;
    unsigned close = fe_closing(fe, p, k);
    return close < p->ntokens ? close + 1 : close;
}

/* An argument that nothing closes: clang looks for its end in what follows, and may come back to
 * the same clause.  And `(::`, on which clang 22 hangs in any C expression. */
static bool is_endless_argument(struct fe *fe, const struct fe_pragma *p, unsigned k)
{
    int depth = 0;
    for (unsigned i = k; i < p->ntokens && (i == k || depth); i++) {
        bool opens = fe_word_at(fe, p, i, "(");
        depth += opens - fe_word_at(fe, p, i, ")");
        if (i == k && !opens)
            return false;
        if (opens && fe_word_at(fe, p, i + 1, ":") && fe_word_at(fe, p, i + 2, ":")) {
            fe_error(fe, p->tokens[i + 1].begin, "expected expression");
            return true;
        }
    }
    if (depth)
        fe_error(fe, p->tokens[k].begin, "expected ')': nothing closes this parenthesis");
    return depth != 0;
}

/* Clauses from token k to the line's end, or to the ')' around them. */
static void check_clauses(struct fe *fe, const struct fe_pragma *p, unsigned k)
{
    for (k = skip_argument(fe, p, k); k < p->ntokens; k += fe_word_at(fe, p, k, ",")) {
        const struct fe_token *t = &p->tokens[k];
        if (is_one_of(fe, t, WORDS_CLANG_HANGS)) {
            fe_unsupported(fe, fe_place(fe->u, t->begin), UNSUPPORTED_CLANG_HANGS,
                           fe_text(fe, (struct omp_extent){ t->begin, t->end }), NULL);
            return;
        }
        if (!is_known(fe, p, k) || is_endless_argument(fe, p, k + 1))
            return;
        k = skip_argument(fe, p, k + 1);
    }
}

/* when(context: directive), otherwise(directive) */
static void check_variants(struct fe *fe, const struct fe_pragma *p)
{
    for (unsigned k = p->clauses_at, end; k < p->ntokens; k = end + fe_word_at(fe, p, end, ",")) {
        end = skip_argument(fe, p, k + 1);
        unsigned colon = fe_find_top(fe, p, k + 2, end, ":");
        check_clauses(fe, p, colon < end ? colon + 1 : k + 2);
    }
}

static void check_pragma(struct fe *fe, const struct fe_pragma *p)
{
    if (!p->nnames) {
        fe_check_name(fe, p);
        return;
    }
    enum omp_directive last = p->names[p->nnames - 1];
    if (last == OMPDIR_METADIRECTIVE)
        check_variants(fe, p);
    else if (!is_harmless(p, last))
        check_clauses(fe, p, p->clauses_at);
    else if (p->assoc == ASSOC_DECL)
        is_endless_argument(fe, p, p->clauses_at);
}

/* The directives of a text, without anything else of it. */
static struct fe *read_directives(const char *path, char *text, size_t length)
{
    struct fe *fe = fe_begin_unit(path, text, length);
    fe_scan_lines(fe);
    fe_scan_pragmas(fe);
    return fe;
}

static unsigned find_keyword(const struct fe *fe, const struct fe_pragma *p, enum omp_keyword word)
{
    unsigned k = p->clauses_at;
    while (k < p->ntokens && fe_keyword(fe, &p->tokens[k]) != word)
        k++;
    return k;
}

/* Also in a variant of a metadirective. */
static bool mentions_device(const struct fe *fe, const struct fe_pragma *p)
{
    const unsigned ours = OMPL_TARGET | OMPL_DATA | OMPL_DECLARE_TARGET;
    unsigned n;
    for (unsigned k = 0; k < p->ntokens; k++) {
        enum omp_directive d = fe_directive_at(fe, p, k, &n);
        if (d != OMPDIR_UNKNOWN && (fe_directive_rows[d].leaf & ours))
            return true;
    }
    return false;
}

/* Its choice is for us to make on the host, too. */
static bool chooses(const struct fe *fe, const struct fe_pragma *p)
{
    return p->c->directive == OMPDIR_METADIRECTIVE && !fe_is_system(fe, p->extent.begin);
}

/* It may lose iterations (fe_deals_singly), or last values (fe_may_miss_last). */
static bool may_lose(const struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a, other;
    return lower_find(fe, p, OMPC_SCHEDULE, p->clauses_at, &a) &&
           ((p->c->leaves & OMPL_SIMD) ||
            ((p->c->leaves & OMPL_DISTRIBUTE) && fe_find_top(fe, p, a.begin, a.end, ",") < a.end) ||
            lower_find(fe, p, OMPC_LASTPRIVATE, p->clauses_at, &other) ||
            lower_find(fe, p, OMPC_LINEAR, p->clauses_at, &other));
}

static void check_pragmas(struct fe *fe)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        check_pragma(fe, &fe->pragmas.at[i]);
}

static void check_parentheses(struct fe *fe, const struct fe_pragma *p)
{
    unsigned k = 0;
    while (k < p->ntokens && !is_endless_argument(fe, p, k))
        k = fe_word_at(fe, p, k, "(") ? fe_closing(fe, p, k) + 1 : k + 1;
}

static bool is_misread(struct fe *fe)
{
    check_pragmas(fe);
    bool misread = fe->errors > 0;
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        misread |= lower_is_misread(fe, &fe->pragmas.at[i]);
    return misread;
}

bool fe_is_misread(const char *path, char *text, size_t length)
{
    struct fe *fe = read_directives(path, text, length);
    bool misread = is_misread(fe);
    arena_free(fe->a);
    return misread;
}

static bool chooses_otherwise(const struct fe *fe)
{
    bool any = false;
    for (unsigned i = 0; i < fe->pragmas.n && !any; i++)
        any = chooses(fe, &fe->pragmas.at[i]) && fe_asks_for_constructs(fe, &fe->pragmas.at[i]);
    return any;
}

int fe_read_by_clang(const char *path, char *text, size_t length, struct fe_reading *r)
{
    struct fe *fe = read_directives(path, text, length);
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        check_parentheses(fe, &fe->pragmas.at[i]);
    int errors = fe->errors;
    if (errors)
        fe_show_messages(fe->u);
    else /* what that complains of is not said */
        *r = (struct fe_reading){ .misread = is_misread(fe), .rechosen = chooses_otherwise(fe) };
    arena_free(fe->a);
    return errors;
}

int fe_screen(const char *path, char *text, size_t length, bool *ours)
{
    struct fe *fe = read_directives(path, text, length);
    unsigned ordered = 0;
    *ours = false;
    check_pragmas(fe);
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        const struct fe_pragma *p = &fe->pragmas.at[i];
        *ours |= mentions_device(fe, p) || chooses(fe, p) || may_lose(fe, p) ||
                 find_keyword(fe, p, OMPK_INSCAN) < p->ntokens;
        ordered += p->c->directive == OMPDIR_ORDERED;
    }
    *ours |= ordered > 1; /* perhaps of one loop (fe_is_later_ordered) */
    int errors = fe->errors;
    fe_show_messages(fe->u);
    arena_free(fe->a);
    return errors;
}

/* ------------------------------------------------------------------ isa */
/* In the text that clang checks; of the directives as they are written, not as they were chosen. */
void fe_name_architectures(struct fe *fe, fe_edits *l)
{
    struct fe *written = read_directives(fe->u->path, fe->u->text, fe->u->length);
    for (unsigned i = 0; i < written->pragmas.n; i++) {
        const struct fe_pragma *p = &written->pragmas.at[i];
        unsigned isa = lower_lone_isa(written, p);
        if (isa && !fe_has_edit(l, p->extent))
            fe_add_edit(fe, l, p->tokens[isa].begin, 0, "arch(nvptx64), ");
    }
    arena_free(written->a);
}

/* ------------------------------------------------------------------ inscan reductions */
#define OURS (OMPL_TARGET | OMPL_TEAMS | OMPL_DISTRIBUTE)

/* `_Pragma("omp …")`: the text has not been preprocessed. */
static void add_operators(struct fe *fe)
{
    static const char word[] = "_Pragma";
    const char *t = fe->u->text, *end = t + fe->u->length;
    for (const char *p = t; (p = memmem(p, (size_t)(end - p), word, sizeof word - 1));) {
        unsigned begin = (unsigned)(p - t), i = fe_skip_space(fe->u, begin + sizeof word - 1);
        p += sizeof word - 1;
        if (t[i] == '(')
            i = fe_skip_space(fe->u, i + 1);
        if (t[i] == '"')
            i = fe_skip_space(fe->u, i + 1);
        const char *quote = memchr(t + i, '"', (size_t)(end - (t + i)));
        bool ours = quote && !strncmp(t + i, "ompx", 4);
        if (ours || (quote && !strncmp(t + i, "omp", 3) && isspace((unsigned char)t[i + 3])))
            fe_add_pragma(fe, (struct omp_extent){ begin, (unsigned)(quote - t) },
                          ours ? i : i + 3);
    }
}

static void blank(char *text, unsigned begin, unsigned end)
{
    for (unsigned i = begin; i < end; i++)
        if (!isspace((unsigned char)text[i]) &&
            !(text[i] == '\\' && isspace((unsigned char)text[i + 1])))
            text[i] = ' ';
}

static bool has_clause(const struct fe *fe, const struct fe_pragma *p, enum omp_clause_kind kind)
{
    for (unsigned k = p->clauses_at; k < p->ntokens; k = skip_argument(fe, p, k + 1))
        if (fe_clause_named(fe, &p->tokens[k]) == kind)
            return true;
    return false;
}

/* The clause at token k says nothing to what is left of the directive. */
static bool is_hidden(const struct fe *fe, const struct fe_pragma *p, unsigned k)
{
    enum omp_clause_kind kind = fe_clause_named(fe, &p->tokens[k]);
    unsigned n;
    if (kind == OMPC_IF && fe_word_at(fe, p, k + 1, "("))
        return fe_directive_at(fe, p, k + 2, &n) == OMPDIR_TARGET && fe_word_at(fe, p, k + 3, ":");
    bool of_ours = false, of_rest = false;
    for (unsigned i = 0; i < p->nnames && kind != OMPC_COUNT; i++)
        if (fe_directive_rows[p->names[i]].leaf & OURS)
            of_ours = of_ours || fe_allows(p->names[i], kind);
        else
            of_rest = of_rest || fe_allows(p->names[i], kind);
    return of_ours && (!of_rest || kind == OMPC_NOWAIT);
}

static bool hide_leaves(struct fe *fe, const struct fe_pragma *p)
{
    const unsigned loops = OMPL_FOR | OMPL_SIMD, known = OURS | loops | OMPL_PARALLEL;
    unsigned leaves = p->c->leaves;
    if (!(leaves & OURS) || !(leaves & loops) || (leaves & ~known))
        return false;
    for (unsigned k = 0; k < p->nnames; k++) /* each of these is one token */
        if (fe_directive_rows[p->names[k]].leaf & OURS)
            blank(fe->u->text, p->tokens[k].begin, p->tokens[k].end);
    for (unsigned k = p->clauses_at, end; k < p->ntokens; k = end) {
        end = skip_argument(fe, p, k + 1);
        if (is_hidden(fe, p, k))
            blank(fe->u->text, p->tokens[k].begin, p->tokens[end - 1].end);
    }
    return true;
}

/* The directive from that place on becomes another, which says nothing to clang. */
static void hide_directive(struct fe *fe, const struct fe_pragma *p, unsigned begin)
{
    static const char nothing[] = "region";
    blank(fe->u->text, begin, p->tokens[p->ntokens - 1].end);
    memcpy(fe->u->text + begin, nothing, sizeof nothing - 1);
}

/* Other reductions beside it, which OpenMP 6.0 allows and loops of the host have. */
static bool hide_reductions(struct fe *fe, const struct fe_pragma *p)
{
    bool hidden = false;
    for (unsigned k = p->clauses_at, end;
         k < p->ntokens && (p->c->leaves & OMPL_FOR) && !(p->c->leaves & OURS); k = end) {
        end = skip_argument(fe, p, k + 1);
        if (fe_clause_named(fe, &p->tokens[k]) != OMPC_REDUCTION ||
            fe_keyword(fe, &p->tokens[k + 2]) == OMPK_INSCAN)
            continue;
        end += fe_word_at(fe, p, end, ",");
        blank(fe->u->text, p->tokens[k].begin, p->tokens[end - 1].end);
        hidden = true;
    }
    return hidden;
}

/* `inscan,` goes. */
static void hide_scan(struct fe *fe, const struct fe_pragma *p)
{
    char *text = fe->u->text;
    for (unsigned k = p->clauses_at; k < p->ntokens; k++)
        if (fe_keyword(fe, &p->tokens[k]) == OMPK_INSCAN)
            blank(text, p->tokens[k].begin,
                  p->tokens[fe_word_at(fe, p, k + 1, ",") ? k + 1 : k].end);
    if (p->c->directive != OMPDIR_SCAN)
        return;
    unsigned omp = p->tokens[0].begin;
    while (strncmp(text + omp, "omp", 3))
        omp--;
    hide_directive(fe, p, omp);
}

/* Variables that it reduces are used: clang sees another loop that reduces them.  false: its words
 * are on several lines. */
static bool show_reductions(struct fe *fe, const struct fe_pragma *p)
{
    static const char shown[] = "omp parallel for";
    char *text = fe->u->text;
    unsigned begin = p->tokens[0].begin, end = p->tokens[p->clauses_at].begin;
    if (end - begin < sizeof shown || memchr(text + begin, '\n', sizeof shown))
        return false;
    for (unsigned k = 0, next; k < p->ntokens; k = next) {
        bool reduces = k >= p->clauses_at && fe_clause_named(fe, &p->tokens[k]) == OMPC_REDUCTION;
        next = k < p->clauses_at ? k + 1 : skip_argument(fe, p, k + 1);
        if (!reduces)
            blank(text, p->tokens[k].begin, p->tokens[next - 1].end);
    }
    memcpy(text + begin, shown, sizeof shown - 1);
    return true;
}

static void hide_extension(struct fe *fe, const struct fe_pragma *p)
{
    if (p->c->directive != OMPDIR_TARGET_SPREAD || !has_clause(fe, p, OMPC_REDUCTION) ||
        !show_reductions(fe, p))
        hide_directive(fe, p, p->tokens[0].begin);
}

static bool is_extension(const struct fe *fe, const struct fe_pragma *p)
{
    return p->nnames && fe_word_at(fe, p, 0, "ompx");
}

bool fe_hide(const char *path, char *text, size_t length)
{
    struct fe *fe = read_directives(path, text, length);
    bool changed = false, collapsed = false;
    add_operators(fe);
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        const struct fe_pragma *p = &fe->pragmas.at[i];
        if (is_extension(fe, p)) {
            hide_extension(fe, p);
            changed = true;
        }
        if (find_keyword(fe, p, OMPK_INSCAN) == p->ntokens)
            continue;
        changed |= hide_leaves(fe, p) || hide_reductions(fe, p);
        collapsed |= has_clause(fe, p, OMPC_COLLAPSE);
    }
    for (unsigned i = 0; collapsed && i < fe->pragmas.n; i++)
        hide_scan(fe, &fe->pragmas.at[i]);
    arena_free(fe->a);
    return changed || collapsed;
}
