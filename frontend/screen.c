/* screen.c - clauses on which clang 22 hangs.
 *
 * Its parser does not step over a clause that it knows by name but cannot read, or not here; the
 * loop that reads clauses finds the same word again: with an error each time until the error limit
 * is reached, or in silence where the clause is allowed.  So such clauses must be found without
 * clang's parser.  Exactly those: the same word as a variable, or after a word that is no clause
 * (clang leaves the rest of the line alone), does no harm.  Of a metadirective clang reads the
 * variants that may be chosen; here each counts. */
#include "frontend/fe.h"

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
    case OMPDIR_REQUIRES: return false;
    default: return p->assoc == ASSOC_DECL;
    }
}

static bool is_char(const struct fe *fe, const struct fe_pragma *p, unsigned k, char c)
{
    return k < p->ntokens && p->tokens[k].kind == TOK_PUNCT && fe->u->text[p->tokens[k].begin] == c;
}

/* After the argument, if one begins at k. */
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
        if (is_one_of(fe, t, WORDS_CLANG_HANGS)) {
            fe_unsupported(fe, fe_place(fe->u, t->begin), UNSUPPORTED_CLANG_HANGS,
                           fe_text(fe, (struct omp_extent){ t->begin, t->end }), NULL);
            return;
        }
        if (!is_known(fe, p, k))
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

static void check_pragma(struct fe *fe, const struct fe_pragma *p)
{
    if (!p->nnames)
        return;
    enum omp_directive last = p->names[p->nnames - 1];
    if (last == OMPDIR_METADIRECTIVE)
        check_variants(fe, p);
    else if (!is_harmless(p, last))
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
        check_pragma(fe, &fe->pragmas.at[i]);
    int errors = fe->errors;
    arena_free(a);
    return errors;
}
