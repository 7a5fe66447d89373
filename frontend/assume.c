/* assume.c - what the user assumes: `assume` around a statement, `assumes` for the file, `begin
 * assumes` … `end assumes` for the functions between, and `[[omp::assume("…")]]` on one
 * (section 10.6 of OpenMP 6.0).
 *
 * Only what helps the device tool to choose a region's mode is kept; other assumptions of the
 * specification change nothing, and implementation- defined ones that are not known here are
 * ignored with a note. */
#include "frontend/fe.h"
#include <string.h>

static unsigned find_assumption(struct fe *fe, struct omp_place place, const char *word, size_t n,
                                bool in_string)
{
    bool prefix = in_string && n > 4 && !strncmp(word, "omp_", 4);
    unsigned assumptions = 0;
    if (fe_word(WORDS_ASSUMPTION, prefix ? word + 4 : word, prefix ? n - 4 : n, &assumptions))
        return assumptions;
    fe_report(fe->u, place, DIAG_NOTE, "assumption '%.*s' is not known and ignored", (int)n, word);
    return 0;
}

/* ------------------------------------------------------------------ directives */
/* absent(parallel …) says no_parallelism. */
static unsigned read_words(struct fe *fe, const struct fe_pragma *p)
{
    unsigned assumptions = 0, depth = 0;
    bool absent = false;
    for (unsigned k = p->clauses_at; k < p->ntokens; k++) {
        const struct fe_token *t = &p->tokens[k];
        if (fe_token_is(fe, t, "("))
            depth++;
        else if (fe_token_is(fe, t, ")"))
            depth--;
        else if (depth && absent && fe_keyword(fe, t) == OMPK_PARALLEL)
            assumptions |= OMPASSUME_NO_PARALLEL;
        else if (!depth && t->kind == TOK_IDENT) {
            absent = fe_clause_named(fe, t) == OMPC_ABSENT;
            assumptions |= find_assumption(fe, fe_place(fe->u, t->begin), fe->u->text + t->begin,
                                           t->end - t->begin, false);
        }
    }
    return assumptions;
}

static void assume_within(struct fe *fe, struct omp_extent e, unsigned assumptions)
{
    for (unsigned i = 0; i < fe->decls.n; i++) {
        struct omp_decl *d = &fe->decls.at[i];
        if (d->function && fe_inside(d->extent.begin, e))
            d->function->assumptions |= assumptions;
    }
}

static unsigned end_of_block(const struct fe *fe, unsigned begin)
{
    unsigned depth = 1;
    for (unsigned i = begin + 1; i < fe->pragmas.n; i++) {
        depth += fe->pragmas.at[i].c->directive == OMPDIR_BEGIN_ASSUMES;
        depth -= fe->pragmas.at[i].c->directive == OMPDIR_END_ASSUMES;
        if (!depth)
            return fe->pragmas.at[i].extent.begin;
    }
    return (unsigned)fe->u->length;
}

static void read_directive(struct fe *fe, unsigned i)
{
    struct fe_pragma *p = &fe->pragmas.at[i];
    if (p->c->directive == OMPDIR_ASSUME)
        p->c->assumptions = read_words(fe, p);
    else if (p->c->directive == OMPDIR_ASSUMES)
        assume_within(fe, (struct omp_extent){ 0, (unsigned)fe->u->length }, read_words(fe, p));
    else if (p->c->directive == OMPDIR_BEGIN_ASSUMES)
        assume_within(fe, (struct omp_extent){ p->extent.end, end_of_block(fe, i) },
                      read_words(fe, p));
}

/* ------------------------------------------------------------------ attributes */
/* [[omp::assume("a,b")]] between `begin` and `end`. */
static unsigned read_attribute(struct fe *fe, unsigned begin, unsigned end)
{
    static const char name[] = "omp::assume(\"";
    const char *t = fe->u->text, *p = memmem(t + begin, end - begin, name, sizeof name - 1);
    if (!p)
        return 0;
    p += sizeof name - 1;
    size_t n = strcspn(p, "\"");
    unsigned assumptions = 0;
    for (size_t at = 0; at < n;) {
        size_t skip = strspn(p + at, " ,"), length = strcspn(p + at + skip, " ,\"");
        if (length)
            assumptions |= find_assumption(fe, fe_place(fe->u, (unsigned)(p + at + skip - t)),
                                           p + at + skip, length, true);
        at += skip + length;
    }
    return assumptions;
}

/* The declaration may begin before its extent, which leaves attributes out. */
static unsigned declaration_begin(const struct fe *fe, unsigned at)
{
    while (at && !strchr(";}#", fe->u->text[at - 1]))
        at--;
    return at;
}

static void read_attributes(struct fe *fe)
{
    if (!memmem(fe->u->text, fe->u->length, "omp::assume", 11))
        return;
    for (unsigned i = 0; i < fe->decls.n; i++) {
        const struct omp_decl *d = &fe->decls.at[i];
        if (!d->function)
            continue;
        unsigned end = d->kind == OMPD_FUNCTION ? d->function->body.begin : d->extent.end;
        d->function->assumptions |= read_attribute(fe, declaration_begin(fe, d->extent.begin), end);
    }
}

void fe_read_assumptions(struct fe *fe)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        read_directive(fe, i);
    read_attributes(fe);
}
