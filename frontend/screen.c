/* screen.c - clauses at which clang 22 goes round for ever.
 *
 * Its parser does not step over a clause that it knows by name but cannot read, or not here; the
 * loop that reads clauses meets the same word again: with an error each time until the error limit
 * is reached, or in silence where the clause is allowed.  So such clauses must be found without
 * clang's parser.  Exactly those: the same word as a variable, or behind a word that is no clause
 * (clang leaves the rest of the line alone), does no harm.  Of a metadirective clang reads the
 * variants that may be chosen; here each counts. */
#include "frontend/fe.h"
#include <string.h>

static const char endless[] =
    "adjust_args append_args apply collector combiner counts device_safesync graph_id graph_reset "
    "inbranch indirect induction inductor "
    "init_complete initializer interop link local memory_order memscope notinbranch otherwise "
    "replayable safesync transparent";

/* Their clauses are read in another way, or not at all.  So are those of declarative directives
 * other than `requires`. */
static const char harmless[] = "nothing, split, begin metadirective, end metadirective";

static bool is_word(const struct fe *fe, const struct fe_token *t, const char *list)
{
    size_t n = t->end - t->begin;
    const char *word = fe->u->text + t->begin;
    for (const char *p = list; *(p += strspn(p, " ")); p += strcspn(p, " "))
        if (strcspn(p, " ") == n && !strncmp(p, word, n))
            return true;
    return false;
}

/* A clause, or one more word of the directive's name: `cancel parallel`. */
static bool is_known(const struct fe *fe, const struct fe_token *t)
{
    for (unsigned i = 0; i < OMPC_COUNT; i++)
        if (fe_clause_rows[i].spelling && is_word(fe, t, fe_clause_rows[i].spelling))
            return true;
    for (const struct fe_directive_row *r = fe_directive_rows; r->spelling; r++)
        if (!strchr(r->spelling, ' ') && is_word(fe, t, r->spelling))
            return true;
    return is_word(fe, t, "dyn_groupprivate");
}

static bool is_char(const struct fe *fe, const struct fe_pragma *p, unsigned k, char c)
{
    return k < p->ntokens && p->tokens[k].kind == TOK_PUNCT && fe->u->text[p->tokens[k].begin] == c;
}

/* Behind the argument, if one begins at k. */
static unsigned skip_argument(const struct fe *fe, const struct fe_pragma *p, unsigned k)
{
    if (!is_char(fe, p, k, '('))
        return k;
    for (int depth = 0; k < p->ntokens; k++) {
        depth += is_char(fe, p, k, '(') - is_char(fe, p, k, ')');
        if (!depth)
            return k + 1;
    }
    return k;
}

/* Clauses from token k to the line's end, or to the ')' around them. */
static void check_clauses(struct fe *fe, const struct fe_pragma *p, unsigned k)
{
    for (k = skip_argument(fe, p, k); k < p->ntokens; k += is_char(fe, p, k, ',')) {
        const struct fe_token *t = &p->tokens[k];
        if (is_word(fe, t, endless)) {
            fe_error(fe, t->begin, "clause '%s' is not supported: clang 22 does not end on it",
                     fe_text(fe, (struct omp_extent){ t->begin, t->end }));
            return;
        }
        if (!is_known(fe, t))
            return;
        k = skip_argument(fe, p, k + 1);
    }
}

/* when(context: directive), otherwise(directive) */
static void check_variants(struct fe *fe, const struct fe_pragma *p)
{
    for (unsigned k = p->clauses_at, end; k < p->ntokens; k = end + is_char(fe, p, end, ',')) {
        unsigned from = k + 2, at = from;
        int depth = 0;
        end = skip_argument(fe, p, k + 1);
        for (; at < end && (depth || !is_char(fe, p, at, ':')); at++)
            depth += is_char(fe, p, at, '(') - is_char(fe, p, at, ')');
        check_clauses(fe, p, at < end ? at + 1 : from);
    }
}

static void check(struct fe *fe, const struct fe_pragma *p)
{
    const struct fe_directive_row *r = p->nrows ? p->rows[p->nrows - 1] : NULL;
    if (!r)
        return;
    if (!strcmp(r->spelling, "metadirective"))
        check_variants(fe, p);
    else if (!(p->assoc == ASSOC_DECL && strcmp(r->spelling, "requires")) &&
             !strstr(harmless, r->spelling))
        check_clauses(fe, p, p->clauses_at);
}

int fe_screen(const char *path, char *text, size_t length)
{
    struct arena *a = arena_new();
    struct fe *fe = arena_alloc(a, sizeof *fe);
    fe->a = a;
    fe->u = arena_alloc(a, sizeof *fe->u);
    *fe->u = (struct omp_unit){ .path = path, .text = text, .length = length, .arena = a };
    fe_scan_lines(fe);
    fe_scan_pragmas(fe);
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        check(fe, &fe->pragmas.at[i]);
    int errors = fe->errors;
    arena_free(a);
    return errors;
}
