/* selectors.c - context selectors that clang 22 does not know, where the file decides them.
 *
 *     implementation={requires(C)}     vendor(llvm), which holds (vendor(gnu) for gcc), if the file
 *                                      has `requires C`; else vendor(unknown), which does not.
 *                                      Also the older implementation={C}
 *     arch(sparc), extension(x)        others that do not hold: in a metadirective clang has errors
 *                                      for those that it does not know
 *     user={condition(n == 1)}         condition(1), where n is a constant variable: clang wants
 *                                      constant expressions */
#include "frontend/lower/lower.h"
#include <string.h>

static bool chooses(const struct fe_pragma *p)
{
    for (unsigned i = 0; i < p->nnames; i++)
        if (p->names[i] == OMPDIR_METADIRECTIVE || p->names[i] == OMPDIR_BEGIN_METADIRECTIVE ||
            p->names[i] == OMPDIR_DECLARE_VARIANT || p->names[i] == OMPDIR_BEGIN_DECLARE_VARIANT)
            return true;
    return false;
}

/* ------------------------------------------------------------------ requires */
/* The clause at token k, with its argument, is one of a directive of the file. */
static bool is_required(struct fe *fe, const struct fe_pragma *p, unsigned k, unsigned end)
{
    struct lower_argument a;
    enum omp_clause_kind kind = fe_clause_named(fe, &p->tokens[k]);
    const char *argument = lower_tokens(fe, p, k + 1, end);
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        const struct fe_pragma *q = &fe->pragmas.at[i];
        if (q->c->directive == OMPDIR_REQUIRES && lower_find(fe, q, kind, q->clauses_at, &a) &&
            !strcmp(argument, lower_tokens(fe, q, a.at + 1, lower_end(q, &a))))
            return true;
    }
    return false;
}

static bool are_required(struct fe *fe, const struct fe_pragma *p, unsigned k, unsigned end)
{
    bool all = true;
    for (unsigned next; k < end; k = next + 1) {
        next = fe_find_top(fe, p, k, end, ",");
        all &= is_required(fe, p, k, next);
    }
    return all;
}

/* The next selector in an implementation set from token k on: tokens [*begin, *end); false: there
 * is none. */
static bool find_requirement(struct fe *fe, const struct fe_pragma *p, unsigned k, unsigned *begin,
                             unsigned *end)
{
    for (; k + 3 < p->ntokens; k++) {
        if (lower_word_at(fe, p, k, WORDS_TRAIT_SET) != TRAITS_IMPLEMENTATION ||
            !fe_word_at(fe, p, k + 1, "=") || !fe_word_at(fe, p, k + 2, "{"))
            continue;
        unsigned close = fe_closing(fe, p, k + 2);
        for (*begin = k + 3; *begin < close; *begin = *end + 1) {
            *end = fe_find_top(fe, p, *begin, close, ",");
            enum omp_clause_kind kind = fe_clause_named(fe, &p->tokens[*begin]);
            if (lower_keyword(fe, p, *begin) == OMPK_REQUIRES ||
                (kind != OMPC_COUNT && fe_allows(OMPDIR_REQUIRES, kind)))
                return true;
        }
        k = close;
    }
    return false;
}

bool lower_selects_required(struct fe *fe, const struct fe_pragma *p)
{
    unsigned begin, end;
    return chooses(p) && find_requirement(fe, p, p->clauses_at, &begin, &end);
}

void lower_required(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    unsigned begin, end;
    find_requirement(fe, p, p->clauses_at, &begin, &end); /* one a round */
    bool list = lower_keyword(fe, p, begin) == OMPK_REQUIRES;
    bool holds = list ? are_required(fe, p, begin + 2, end - 1) : is_required(fe, p, begin, end);
    unsigned at = p->tokens[begin].begin;
    fe_add_edit(fe, &l->edits, at, p->tokens[end - 1].end - at,
                arena_printf(fe->a, "vendor(%s)", holds ? fe_vendor() : "unknown"));
}

/* ------------------------------------------------------------------ unknown properties */
static enum fe_words properties_at(const struct fe *fe, const struct fe_pragma *p, unsigned k)
{
    if (!fe_word_at(fe, p, k + 1, "("))
        return WORDS_CLANG_HANGS;
    switch (lower_word_at(fe, p, k, WORDS_SELECTOR)) {
    case SELECTOR_ARCH: return WORDS_ARCH;
    case SELECTOR_VENDOR: return WORDS_VENDOR;
    case SELECTOR_EXTENSION: return WORDS_EXTENSION;
    default: return WORDS_CLANG_HANGS;
    }
}

/* The next one from token k on, and the set that it is not in; 0: there is none. */
static unsigned find_unknown(const struct fe *fe, const struct fe_pragma *p, unsigned k,
                             enum fe_words *set)
{
    unsigned value;
    for (; k + 2 < p->ntokens; k++) {
        if ((*set = properties_at(fe, p, k)) == WORDS_CLANG_HANGS)
            continue;
        unsigned end = fe_closing(fe, p, k + 1);
        k += 2;
        if (lower_keyword(fe, p, k) == OMPK_SCORE)
            k = fe_closing(fe, p, k + 1) + 2;
        for (; k < end; k = fe_find_top(fe, p, k, end, ",") + 1)
            if (!fe_is_property(fe, p, k, *set, &value))
                return k;
    }
    return 0;
}

bool lower_selects_unknown(struct fe *fe, const struct fe_pragma *p)
{
    enum omp_directive d = p->c->directive;
    enum fe_words set;
    return (d == OMPDIR_METADIRECTIVE || d == OMPDIR_BEGIN_METADIRECTIVE) &&
           find_unknown(fe, p, p->clauses_at, &set);
}

void lower_unknown(struct lowering *l, struct fe_pragma *p)
{
    enum fe_words set;
    for (unsigned k = p->clauses_at; (k = find_unknown(l->fe, p, k, &set)); k++) {
        bool whole = set == WORDS_EXTENSION && fe_word_at(l->fe, p, k + 1, ")");
        unsigned first = whole ? k - 2 : k, last = whole ? k + 1 : k;
        fe_add_edit(l->fe, &l->edits, p->tokens[first].begin,
                    p->tokens[last].end - p->tokens[first].begin,
                    whole               ? "vendor(unknown)"
                    : set == WORDS_ARCH ? "arm"
                                        : "unknown");
    }
}

/* ------------------------------------------------------------------ conditions */
static bool names_variable(const struct fe *fe, const struct fe_pragma *p, unsigned k, unsigned end)
{
    struct omp_extent e = { p->tokens[k].begin, p->tokens[end - 1].end };
    FE_EACH(r, fe->refs, e)
        return true;
    return false;
}

/* The next condition from token k on that clang would not take for a constant. */
static bool find_folded(struct fe *fe, const struct fe_pragma *p, unsigned k, unsigned *begin,
                        unsigned *end, long long *value)
{
    for (; k + 2 < p->ntokens; k++) {
        if (lower_word_at(fe, p, k, WORDS_SELECTOR) != SELECTOR_CONDITION ||
            !fe_word_at(fe, p, k + 1, "("))
            continue;
        *begin = k + 2;
        *end = fe_closing(fe, p, k + 1);
        if (lower_keyword(fe, p, k + 2) == OMPK_SCORE)
            *begin = fe_closing(fe, p, k + 3) + 2;
        if (*begin < *end && names_variable(fe, p, *begin, *end) &&
            fe_constant(fe, p, *begin, *end, value))
            return true;
    }
    return false;
}

/* Only once libclang has read the text. */
bool lower_has_folded_condition(struct fe *fe, const struct fe_pragma *p)
{
    unsigned begin, end;
    long long value;
    return fe->tu && chooses(p) && !fe_is_system(fe, p->extent.begin) &&
           find_folded(fe, p, p->clauses_at, &begin, &end, &value);
}

void lower_folded_condition(struct lowering *l, struct fe_pragma *p)
{
    unsigned begin, end;
    long long value;
    for (unsigned k = p->clauses_at; find_folded(l->fe, p, k, &begin, &end, &value); k = end) {
        unsigned at = p->tokens[begin].begin;
        fe_add_edit(l->fe, &l->edits, at, p->tokens[end - 1].end - at, value ? "1" : "0");
    }
}
