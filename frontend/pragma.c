/* pragma.c - finds `#pragma omp` lines in the preprocessed text and reads the directives' names. */
#include "frontend/fe.h"
#include <ctype.h>
#include <string.h>

/* ------------------------------------------------------------------ lines */
/* End of the directive line that starts at i: after the newline that no backslash precedes. */
static unsigned line_end(const struct omp_unit *u, unsigned i)
{
    while (i < u->length && (u->text[i] != '\n' || (i && u->text[i - 1] == '\\')))
        i++;
    return i < u->length ? i + 1 : i;
}

/* After `#pragma NAME` when the line at i is one, else 0. */
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

static bool is_clang_fp(const struct omp_unit *u, unsigned i)
{
    struct fe_token t;
    unsigned k = after_pragma(u, i, "clang");
    return k && fe_next_token(u, k, &t) && t.end - t.begin == 2 &&
           !strncmp(u->text + t.begin, "fp", 2);
}

/* ------------------------------------------------------------------ tokens */
static bool in_identifier(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

static unsigned skip_identifier(const char *t, unsigned i, unsigned end)
{
    while (i < end && in_identifier(t[i]))
        i++;
    return i;
}

static unsigned skip_number(const char *t, unsigned i, unsigned end)
{
    while (i < end && (isalnum((unsigned char)t[i]) || t[i] == '.' ||
                       ((t[i] == '+' || t[i] == '-') && strchr("eEpP", t[i - 1])) ||
                       (t[i] == '\'' && isalnum((unsigned char)t[i + 1]))))
        i++;
    return i;
}

static unsigned skip_string(const char *t, unsigned i, unsigned end)
{
    char quote = t[i++];
    while (i < end && t[i] != quote && t[i] != '\n')
        i += t[i] == '\\' ? 2 : 1;
    return i + (i < end && t[i] == quote);
}

static unsigned skip_punctuation(const char *t, unsigned i)
{
    static const char *const two[] = { "->", "<<", ">>", "&&", "||", "==",
                                       "!=", "<=", ">=", "++", "--" };
    for (unsigned k = 0; k < sizeof two / sizeof *two; k++)
        if (!strncmp(t + i, two[k], 2))
            return i + 2;
    return i + 1;
}

unsigned fe_scan_token(const struct omp_unit *u, unsigned i, unsigned end, struct fe_token *out)
{
    const char *t = u->text;
    *out = (struct fe_token){ TOK_PUNCT, i, i };
    if (isdigit((unsigned char)t[i]) || (t[i] == '.' && isdigit((unsigned char)t[i + 1]))) {
        out->kind = TOK_NUMBER;
        i = skip_number(t, i, end);
    } else if (in_identifier(t[i])) {
        out->kind = TOK_IDENT;
        i = skip_identifier(t, i, end);
    } else if (t[i] == '"' || t[i] == '\'') {
        out->kind = TOK_STRING;
        i = skip_string(t, i, end);
    } else {
        i = skip_punctuation(t, i);
    }
    return out->end = i < end ? i : end;
}

bool fe_next_token(const struct omp_unit *u, unsigned i, struct fe_token *t)
{
    i = fe_skip_blank(u, i);
    if (i < u->length)
        fe_scan_token(u, i, (unsigned)u->length, t);
    return i < u->length;
}

int fe_bracket(const struct omp_unit *u, struct fe_token *t)
{
    char c = u->text[t->begin], next = u->text[t->begin + 1];
    bool opens = c == '<' && next == ':', closes = c == ':' && next == '>';
    if (t->kind != TOK_PUNCT)
        return 0;
    if (opens || closes)
        t->end = t->begin + 2;
    return opens || strchr("([{", c) ? 1 : closes || strchr(")]}", c) ? -1 : 0;
}

unsigned fe_find_semicolon(const struct omp_unit *u, unsigned i)
{
    struct fe_token t;
    for (int depth = 0; fe_next_token(u, i, &t); i = t.end) {
        depth += fe_bracket(u, &t);
        if (depth <= 0 && u->text[t.begin] == ';')
            return t.end;
    }
    return (unsigned)u->length;
}

static bool is_attribute_word(const struct omp_unit *u, const struct fe_token *t)
{
    static const char *const words[] = { "__attribute__", "__attribute" };
    size_t n = t->end - t->begin;
    for (unsigned i = 0; i < 2; i++)
        if (n == strlen(words[i]) && !memcmp(u->text + t->begin, words[i], n))
            return true;
    return false;
}

unsigned fe_attributes_end(const struct omp_unit *u, unsigned end)
{
    struct fe_token t;
    while (fe_next_token(u, end, &t) && is_attribute_word(u, &t)) {
        int depth = 0;
        do {
            if (!fe_next_token(u, t.end, &t))
                break;
            depth += fe_bracket(u, &t);
        } while (depth > 0);
        end = t.end;
    }
    return end;
}

/* Behind a parenthesis that nothing closes one may look for what follows: empty tokens are there.
 */
static void tokenise(struct fe *fe, struct fe_pragma *p, unsigned i)
{
    enum { BEHIND = 4 };
    VEC(struct fe_token) v = { 0 };
    while (i = fe_skip_space(fe->u, i), i < p->extent.end)
        i = fe_scan_token(fe->u, i, p->extent.end, VEC_PUSH(fe->a, &v));
    p->ntokens = v.n;
    unsigned end = v.n ? v.at[v.n - 1].end : i;
    for (unsigned k = 0; k < BEHIND; k++)
        *VEC_PUSH(fe->a, &v) = (struct fe_token){ TOK_PUNCT, end, end };
    p->tokens = v.at;
}

bool fe_word_at(const struct fe *fe, const struct fe_pragma *p, unsigned k, const char *word)
{
    return k < p->ntokens && fe_token_is(fe, &p->tokens[k], word);
}

/* 1: it opens, -1: it closes */
static int bracket_at(const struct fe *fe, const struct fe_pragma *p, unsigned k)
{
    char c = fe->u->text[p->tokens[k].begin];
    if (p->tokens[k].kind != TOK_PUNCT)
        return 0;
    return strchr("([{", c) ? 1 : strchr(")]}", c) ? -1 : 0;
}

unsigned fe_closing(const struct fe *fe, const struct fe_pragma *p, unsigned k)
{
    for (int depth = 0; k < p->ntokens; k++) {
        int bracket = bracket_at(fe, p, k);
        depth += bracket;
        if (bracket < 0 && !depth)
            return k;
    }
    return k;
}

unsigned fe_find_top(const struct fe *fe, const struct fe_pragma *p, unsigned k, unsigned end,
                     const char *word)
{
    for (int depth = 0; k < end; k++) {
        if (!depth && fe_word_at(fe, p, k, word))
            return k;
        depth += bracket_at(fe, p, k);
    }
    return end;
}

/* ------------------------------------------------------------------ directive names */
static bool has_clause(const struct fe *fe, const struct fe_pragma *p, enum omp_clause_kind kind)
{
    for (unsigned k = p->clauses_at; k < p->ntokens; k++)
        if (fe_clause_named(fe, &p->tokens[k]) == kind)
            return true;
    return false;
}

static void add_name(struct fe_pragma *p, enum omp_directive d)
{
    p->names[p->nnames++] = d;
    p->c->directive = p->names[0];
    p->c->leaves |= fe_directive_rows[d].leaf;
    p->c->role = fe_directive_rows[d].role;
    p->assoc = fe_directive_rows[d].assoc;
}

/* Combined and composite constructs (section 17 of OpenMP 5.2): what may follow a name. */
static const struct {
    unsigned leaf, next;
} combinations[] = {
    { OMPL_TARGET, OMPL_TEAMS | OMPL_PARALLEL | OMPL_SIMD | OMPL_LOOP },
    { OMPL_TEAMS, OMPL_DISTRIBUTE | OMPL_LOOP },
    { OMPL_DISTRIBUTE, OMPL_PARALLEL | OMPL_SIMD },
    { OMPL_PARALLEL,
      OMPL_FOR | OMPL_LOOP | OMPL_SECTIONS | OMPL_MASTER | OMPL_MASKED | OMPL_SINGLE },
    { OMPL_FOR, OMPL_SIMD },
    { OMPL_MASTER, OMPL_TASKLOOP },
    { OMPL_SINGLE, OMPL_TASKLOOP },
    { OMPL_MASKED, OMPL_TASKLOOP },
    { OMPL_TASKLOOP, OMPL_SIMD },
};

static bool may_follow(struct fe *fe, const struct fe_pragma *p, unsigned k, enum omp_directive d)
{
    unsigned n, next = 0, leaf = fe_directive_rows[d].leaf;
    unsigned last = fe_directive_rows[p->names[p->nnames - 1]].leaf;
    for (unsigned i = 0; i < sizeof combinations / sizeof *combinations; i++)
        if (combinations[i].leaf == last)
            next = combinations[i].next;
    if (last == OMPL_PARALLEL && (p->c->leaves & OMPL_TARGET))
        next = OMPL_FOR | OMPL_LOOP | OMPL_SECTIONS | OMPL_MASKED | OMPL_SINGLE;
    if (last == OMPL_DISTRIBUTE && leaf == OMPL_PARALLEL) /* only as `distribute parallel for` */
        return fe_directive_at(fe, p, k + 1, &n) == OMPDIR_FOR;
    return fe_directive_rows[d].combines && (next & leaf);
}

/* Up to what is no part of the name: clauses, or junk. */
static unsigned read_names(struct fe *fe, struct fe_pragma *p)
{
    unsigned n, k = 0;
    while (p->nnames < sizeof p->names / sizeof *p->names) {
        enum omp_directive d = fe_directive_at(fe, p, k, &n);
        if (d == OMPDIR_UNKNOWN || (k && !may_follow(fe, p, k, d)))
            break;
        add_name(p, d);
        k += n;
        if (!fe_directive_rows[d].combines)
            break;
    }
    return k;
}

void fe_read_directive(struct fe *fe, struct fe_pragma *p)
{
    p->nnames = 0;
    p->c->leaves = 0;
    p->c->directive = OMPDIR_UNKNOWN;
    p->c->role = OMPROLE_UNSUPPORTED;
    p->assoc = ASSOC_NONE;
    unsigned k = read_names(fe, p);
    p->clauses_at = k;
    if (p->assoc == ASSOC_MAYBE)
        p->assoc = has_clause(fe, p, OMPC_DEPEND) || has_clause(fe, p, OMPC_DOACROSS) ? ASSOC_NONE
                                                                                      : ASSOC_STMT;
    if (!p->ntokens) /* a metadirective chose nothing */
        add_name(p, OMPDIR_NOTHING);
    if (!p->nnames || !p->ntokens)
        p->c->leaves = OMPL_OTHER; /* clang has complained, or it is an extension unknown to us */
    p->c->written = p->c->leaves;
    struct omp_extent name = { p->ntokens ? p->tokens[0].begin : p->extent.begin, 0 };
    name.end = k ? p->tokens[k - 1].end : p->ntokens ? p->tokens[0].end : name.begin;
    p->c->spelling = fe_text(fe, name);
    p->c->place = fe_place(fe->u, name.begin);
}

void fe_add_pragma(struct fe *fe, struct omp_extent extent, unsigned tokens)
{
    struct fe_pragma *p = VEC_PUSH(fe->a, &fe->pragmas);
    *p = (struct fe_pragma){ .extent = extent, .c = arena_alloc(fe->a, sizeof *p->c) };
    p->c->pragma = p->extent;
    tokenise(fe, p, tokens);
    fe_read_directive(fe, p);
    if (p->assoc == ASSOC_STMT || p->assoc == ASSOC_LOOP || p->c->directive == OMPDIR_METADIRECTIVE)
        p->wanted = fe_skip_blank(fe->u, p->extent.end);
}

/* `ompx` is part of the name of a directive of ours; those of others are not looked at. */
static void add_extension(struct fe *fe, struct omp_extent extent, unsigned after)
{
    fe_add_pragma(fe, extent, after - (sizeof "ompx" - 1));
    if (!fe->pragmas.at[fe->pragmas.n - 1].nnames)
        fe->pragmas.n--;
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
            fe_add_pragma(fe, (struct omp_extent){ begin, eol }, k);
        else if ((k = after_pragma(u, begin, "ompx")))
            add_extension(fe, (struct omp_extent){ begin, eol }, k);
        else if (after_pragma(u, begin, "pack"))
            *VEC_PUSH(fe->a, &fe->packs) = (struct omp_extent){ begin, eol };
        else if (after_pragma(u, begin, "STDC") || is_clang_fp(u, begin))
            *VEC_PUSH(fe->a, &fe->fp_pragmas) = (struct omp_fp_pragma){ .extent = { begin, eol } };
    }
}
