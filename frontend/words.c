/* words.c - the tables of omp.def, and the only places where words of directives are compared. */
#include "frontend/fe.h"
#include <string.h>

const struct fe_clause_row fe_clause_rows[OMPC_COUNT] = {
#define OMP_CLAUSE(id, spelling, arg, role) [OMPC_##id] = { spelling, ARG_##arg, OMPROLE_##role },
#include "frontend/omp.def"
};

#define C(id) OMPC_##id,
#define ROW(id, spelling, leaf, assoc, role, combines, ...)                                        \
    [OMPDIR_##                                                                                     \
        id] = { spelling,       leaf,     ASSOC_##assoc,                                           \
                OMPROLE_##role, combines, (const unsigned char[]){ __VA_ARGS__ OMPC_COUNT } },
const struct fe_directive_row fe_directive_rows[OMPDIR_COUNT] = {
#define OMP_LEAF(id, spelling, leaf, assoc, since, clauses)                                        \
    ROW(id, spelling, leaf, assoc, DEVICE, true, clauses)
#define OMP_DIRECTIVE(id, spelling, leaf, assoc, role, since, clauses)                             \
    ROW(id, spelling, leaf, assoc, role, false, clauses)
#include "frontend/omp.def"
};
#undef ROW
#undef C

static const struct spelling {
    const char *words;
    enum omp_directive directive;
} spellings[] = {
#define OMP_LEAF(id, spelling, ...) { spelling, OMPDIR_##id },
#define OMP_DIRECTIVE(id, spelling, ...) { spelling, OMPDIR_##id },
#define OMP_ALIAS(id, spelling, since) { spelling, OMPDIR_##id },
#include "frontend/omp.def"
};

const char *const omp_keyword_names[OMPK_COUNT] = {
#define OMP_KEYWORD(id, spelling) [OMPK_##id] = spelling,
#include "frontend/omp.def"
};

static const struct {
    enum fe_words set;
    const char *spelling;
    unsigned value;
} words[] = {
#define OMP_WORD(set, spelling, value) { WORDS_##set, spelling, value },
#include "frontend/omp.def"
};

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && !memcmp(text, word, length);
}

bool fe_token_is(const struct fe *fe, const struct fe_token *t, const char *word)
{
    return is_word(fe->u->text + t->begin, t->end - t->begin, word);
}

/* Number of tokens from k on that spell the words, 0 if they do not. */
static unsigned match_words(const struct fe *fe, const struct fe_pragma *p, unsigned k,
                            const char *words)
{
    unsigned n = 0;
    while (*words) {
        size_t length = strcspn(words, " ");
        if (k + n >= p->ntokens)
            return 0;
        const struct fe_token *t = &p->tokens[k + n];
        if (t->end - t->begin != length || memcmp(fe->u->text + t->begin, words, length))
            return 0;
        words += length + (words[length] == ' ');
        n++;
    }
    return n;
}

enum omp_directive fe_directive_at(const struct fe *fe, const struct fe_pragma *p, unsigned k,
                                   unsigned *length)
{
    enum omp_directive longest = OMPDIR_UNKNOWN;
    *length = 0;
    for (unsigned i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        unsigned n = match_words(fe, p, k, spellings[i].words);
        if (n > *length) {
            *length = n;
            longest = spellings[i].directive;
        }
    }
    return longest;
}

enum omp_clause_kind fe_clause_named(const struct fe *fe, const struct fe_token *t)
{
    unsigned i = 0;
    while (i < OMPC_COUNT && !fe_token_is(fe, t, fe_clause_rows[i].spelling))
        i++;
    return (enum omp_clause_kind)i;
}

enum omp_keyword fe_keyword(const struct fe *fe, const struct fe_token *t)
{
    for (unsigned i = OMPK_NONE + 1; i < OMPK_COUNT; i++)
        if (fe_token_is(fe, t, omp_keyword_names[i]))
            return (enum omp_keyword)i;
    return OMPK_NONE;
}

bool fe_allows(enum omp_directive directive, enum omp_clause_kind kind)
{
    for (const unsigned char *c = fe_directive_rows[directive].clauses; *c != OMPC_COUNT; c++)
        if (*c == kind)
            return true;
    return false;
}

bool fe_is_spread(const struct fe_pragma *p)
{
    return p->c->directive != OMPDIR_UNKNOWN && fe_allows(p->c->directive, OMPC_DEVICES);
}

bool fe_word(enum fe_words set, const char *word, size_t length, unsigned *value)
{
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].set == set && is_word(word, length, words[i].spelling)) {
            *value |= words[i].value;
            return true;
        }
    return false;
}
