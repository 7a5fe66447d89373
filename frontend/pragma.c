/* pragma.c - finds `#pragma omp` lines in the preprocessed text and reads directive names by the
 * table. */
#include "frontend/fe.h"
#include <ctype.h>
#include <string.h>

const struct fe_clause_row fe_clause_rows[OMPC_COUNT] = {
#define OMP_CLAUSE(id, spelling, arg, flags) [OMPC_##id] = { spelling, ARG_##arg, flags },
#include "frontend/omp.def"
#undef OMP_CLAUSE
};
const struct fe_directive_row fe_directive_rows[] = {
#define OMP_DIRECTIVE(spelling, leaves, assoc, flags, since, clauses)                              \
    { spelling, leaves, ASSOC_##assoc, flags, since, clauses },
#include "frontend/omp.def"
#undef OMP_DIRECTIVE
    { NULL, 0, ASSOC_NONE, "", 0, "" }
};

/* ------------------------------------------------------------------ lines */
/* End of the directive line that starts at i: behind the newline that no backslash precedes. */
static unsigned line_end(const struct omp_unit *u, unsigned i)
{
    while (i < u->length && (u->text[i] != '\n' || (i && u->text[i - 1] == '\\')))
        i++;
    return i < u->length ? i + 1 : i;
}

/* Behind `#pragma NAME` when the line at i is one, else 0. */
static unsigned after_pragma(const struct omp_unit *u, unsigned i, const char *name)
{
    const char *t = u->text;
    const char *const words[] = { "#", "pragma", name };
    for (unsigned w = 0; w < 3; w++) {
        while (t[i] == ' ' || t[i] == '\t')
            i++;
        size_t n = strlen(words[w]);
        if (strncmp(t + i, words[w], n) ||
            (w && (isalnum((unsigned char)t[i + n]) || t[i + n] == '_')))
            return 0;
        i += (unsigned)n;
    }
    return i;
}

/* ------------------------------------------------------------------ tokens */
static unsigned scan_token(const struct omp_unit *u, unsigned i, unsigned end, struct fe_token *out)
{
    static const char *const two[] = { "->", "<<", ">>", "&&", "||", "==",
                                       "!=", "<=", ">=", "++", "--" };
    const char *t = u->text;
    unsigned b = i;
    enum fe_token_kind kind = TOK_PUNCT;
    if (isalpha((unsigned char)t[i]) || t[i] == '_' || t[i] == '$' || (t[i] & 0x80)) {
        kind = TOK_IDENT;
        while (i < end &&
               (isalnum((unsigned char)t[i]) || t[i] == '_' || t[i] == '$' || (t[i] & 0x80)))
            i++;
    } else if (isdigit((unsigned char)t[i]) || (t[i] == '.' && isdigit((unsigned char)t[i + 1]))) {
        kind = TOK_NUMBER;
        while (i < end && (isalnum((unsigned char)t[i]) || t[i] == '.' ||
                           ((t[i] == '+' || t[i] == '-') && strchr("eEpP", t[i - 1]))))
            i++;
    } else if (t[i] == '"' || t[i] == '\'') {
        kind = TOK_STRING;
        char quote = t[i++];
        while (i < end && t[i] != quote)
            i += t[i] == '\\' ? 2 : 1;
        i++;
    } else {
        i++;
        for (unsigned k = 0; k < sizeof two / sizeof *two; k++)
            if (!strncmp(t + b, two[k], 2))
                i = b + 2;
    }
    if (i > end)
        i = end;
    *out = (struct fe_token){ kind, b, i };
    return i;
}

static void tokenise(struct fe *fe, struct fe_pragma *p, unsigned i)
{
    VEC(struct fe_token) v = { 0 };
    while (i = fe_skip_space(fe->u, i), i < p->extent.end)
        i = scan_token(fe->u, i, p->extent.end, VEC_PUSH(fe->a, &v));
    p->tokens = v.at;
    p->ntokens = v.n;
}

/* ------------------------------------------------------------------ directive names */
/* Number of tokens from k on that spell the row's words, 0 if they do not. */
static unsigned match_words(const struct fe *fe, const struct fe_pragma *p, unsigned k,
                            const char *words)
{
    unsigned n = 0;
    while (*words) {
        size_t length = strcspn(words, " ");
        if (k + n >= p->ntokens)
            return 0;
        const struct fe_token *t = &p->tokens[k + n];
        if (t->end - t->begin != length || strncmp(fe->u->text + t->begin, words, length))
            return 0;
        words += length + (words[length] == ' ');
        n++;
    }
    return n;
}

static const struct fe_directive_row *match_row(const struct fe *fe, const struct fe_pragma *p,
                                                unsigned k, unsigned *length)
{
    const struct fe_directive_row *best = NULL;
    *length = 0;
    for (const struct fe_directive_row *r = fe_directive_rows; r->spelling; r++) {
        unsigned n = match_words(fe, p, k, r->spelling);
        if (n > *length) {
            *length = n;
            best = r;
        }
    }
    return best;
}

static bool has_word(const struct fe *fe, const struct fe_pragma *p, const char *word)
{
    for (unsigned k = p->clauses_at; k < p->ntokens; k++)
        if (match_words(fe, p, k, word))
            return true;
    return false;
}

static const struct fe_directive_row *row_named(const char *spelling)
{
    const struct fe_directive_row *r = fe_directive_rows;
    while (strcmp(r->spelling, spelling))
        r++;
    return r;
}

bool fe_is_metadirective(const struct fe_pragma *p)
{
    return p->nrows && !strcmp(p->rows[0]->spelling, "metadirective");
}

void fe_read_directive(struct fe *fe, struct fe_pragma *p)
{
    unsigned n, k = 0;
    p->nrows = 0;
    p->c->leaves = 0;
    p->assoc = ASSOC_NONE;
    const struct fe_directive_row *r = match_row(fe, p, 0, &n);
    for (; r && p->nrows < 8; r = match_row(fe, p, k, &n)) {
        if (p->nrows && !strchr(r->flags, 'C'))
            break;
        p->rows[p->nrows++] = r;
        p->c->leaves |= r->leaves;
        p->assoc = r->assoc;
        k += n;
        if (!strchr(r->flags, 'C'))
            break;
    }
    p->clauses_at = k;
    if (p->assoc == ASSOC_MAYBE)
        p->assoc =
            has_word(fe, p, "depend") || has_word(fe, p, "doacross") ? ASSOC_NONE : ASSOC_STMT;
    /* a metadirective chose nothing */
    if (!p->ntokens)
        p->rows[p->nrows++] = row_named("nothing");
    if (!p->nrows) { /* clang has complained already, or it is an extension that we do not know */
        p->c->leaves = OMPL_OTHER;
        n = p->ntokens ? 1 : 0;
    }
    struct omp_extent name = { p->ntokens ? p->tokens[0].begin : p->extent.begin, 0 };
    name.end = k ? p->tokens[k - 1].end : p->ntokens ? p->tokens[0].end : name.begin;
    p->c->spelling = fe_text(fe, name);
    p->c->place = fe_place(fe->u, name.begin);
}

static void add_pragma(struct fe *fe, unsigned begin, unsigned tokens)
{
    struct fe_pragma *p = VEC_PUSH(fe->a, &fe->pragmas);
    *p = (struct fe_pragma){ .extent = { begin, line_end(fe->u, begin) },
                             .c = arena_alloc(fe->a, sizeof *p->c) };
    p->c->pragma = p->extent;
    tokenise(fe, p, tokens);
    fe_read_directive(fe, p);
    if (p->assoc == ASSOC_STMT || p->assoc == ASSOC_LOOP || fe_is_metadirective(p))
        p->wanted = fe_skip_blank(fe->u, p->extent.end);
}

void fe_scan_pragmas(struct fe *fe)
{
    const struct omp_unit *u = fe->u;
    for (unsigned i = 0, eol; i < u->length; i = eol) {
        eol = line_end(u, i);
        unsigned begin = i, k;
        while (u->text[begin] == ' ' || u->text[begin] == '\t')
            begin++;
        if (u->text[begin] != '#')
            continue;
        if ((k = after_pragma(u, begin, "omp")))
            add_pragma(fe, begin, k);
        else if (after_pragma(u, begin, "pack"))
            *VEC_PUSH(fe->a, &fe->packs) = (struct omp_extent){ begin, eol };
    }
}
