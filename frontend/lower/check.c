/* check.c - what clang does not get to see.
 *
 * A directive that becomes another loses clauses and arguments on the way, and clang would say
 * nothing of what is wrong with them.  So before the first round, of those that will be lowered:
 *
 *   clauses     that the directive does not have or has twice, where nothing of it is left
 *   arguments   that libclang complains of: each is an operand of a probe (probe.c)
 *   types       of the arguments that no other directive has a place for, and words
 */
#include "frontend/lower/lower.h"

/* ------------------------------------------------------------------ clauses */
static bool may_repeat(enum omp_clause_kind kind)
{
    static const enum omp_clause_kind once[] = {
        OMPC_SIZES,      OMPC_FULL,      OMPC_PARTIAL,  OMPC_PERMUTATION, OMPC_LOOPRANGE,
        OMPC_COUNTS,     OMPC_IF,        OMPC_GRAPH_ID, OMPC_GRAPH_RESET, OMPC_NOGROUP,
        OMPC_NOVARIANTS, OMPC_NOCONTEXT, OMPC_NOWAIT,   OMPC_DEVICE
    };
    for (unsigned i = 0; i < sizeof once / sizeof *once; i++)
        if (once[i] == kind)
            return false;
    return true;
}

void lower_check_clauses(struct fe *fe, struct fe_pragma *p)
{
    bool seen[OMPC_COUNT + 1] = { false };
    unsigned k = p->clauses_at;
    /* after whose name comes what each device gets */
    const bool spread = fe_is_spread(p);
    if (fe_word_at(fe, p, k, "(")) /* depobj(o) */
        k = fe_closing(fe, p, k) + 1;
    while (k < p->ntokens) {
        const struct fe_token *t = &p->tokens[k];
        enum omp_clause_kind kind = t->kind == TOK_IDENT ? fe_clause_named(fe, t) : OMPC_COUNT;
        bool allowed = fe_word_at(fe, p, k, ",") || (spread && kind != OMPC_COUNT);
        unsigned words;
        if (spread && kind == OMPC_COUNT && fe_directive_at(fe, p, k, &words) != OMPDIR_UNKNOWN) {
            k += words;
            continue;
        }
        for (unsigned i = 0; kind != OMPC_COUNT && i < p->nnames; i++)
            allowed |= fe_allows(p->names[i], kind);
        if (!allowed) {
            p->unexpected = t->begin;
            fe_say_unexpected(fe, p, true);
            return;
        }
        if (seen[kind] && !may_repeat(kind) && !spread)
            fe_error(fe, t->begin,
                     "directive '#pragma omp %s' cannot contain more than one '%s' clause",
                     p->c->spelling, fe_clause_rows[kind].spelling);
        seen[kind] = true;
        if ((kind == OMPC_FULL || kind == OMPC_PARTIAL) && seen[OMPC_FULL] && seen[OMPC_PARTIAL])
            fe_error(fe, t->begin, "'full' clause and 'partial' clause are mutually exclusive");
        k = fe_word_at(fe, p, k + 1, "(") ? fe_closing(fe, p, k + 1) + 1 : k + 1;
    }
}

/* ------------------------------------------------------------------ arguments */
static void check_operands(struct fe *fe, const struct fe_pragma *p)
{
    for (unsigned i = 0; i < p->noperands; i++) {
        const struct fe_operand *o = &fe->operands.at[p->first_operand + i];
        if (o->bad && o->complaint)
            fe_error(fe, o->complaint_at, "%s", o->complaint);
    }
}

/* The argument begins with one of these; clang would be told another word, or nothing. */
static const struct {
    enum omp_clause_kind kind;
    const char *words[5], *message;
    bool (*applies)(struct fe *, const struct fe_pragma *); /* NULL: always */
} words[] = {
    { OMPC_DEVICE_TYPE,
      { "any", "host", "nohost" },
      "'device_type' needs 'host', 'nohost' or 'any'",
      NULL },
    { OMPC_DEFAULT,
      { "none", "shared", "private", "firstprivate" },
      "'default' needs 'none', 'shared', 'private' or 'firstprivate'",
      lower_has_target_default },
};

static void check_words(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        if (!lower_find(fe, p, words[i].kind, p->clauses_at, &a) ||
            (words[i].applies && !words[i].applies(fe, p)))
            continue;
        bool known = false;
        for (const char *const *w = words[i].words; *w; w++)
            known |= fe_word_at(fe, p, a.begin, *w) ||
                     (fe_word_at(fe, p, a.begin + 1, ":") && fe_word_at(fe, p, a.begin + 2, *w));
        if (!known)
            fe_error(fe, p->tokens[a.at].begin, "%s", words[i].message);
    }
}

/* The arguments that clang would not see; others it does. */
static void check_types(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    for (enum omp_clause_kind kind = 0; kind < OMPC_COUNT; kind++)
        for (unsigned k = p->clauses_at; lower_find(fe, p, kind, k, &a); k = lower_end(p, &a)) {
            const struct fe_operand *o =
                a.begin < a.end ? fe_operand_at(fe, p->tokens[a.begin].begin) : NULL;
            if (o)
                fe_check_argument(fe, kind, fe_place(fe->u, o->text.begin),
                                  fe_expr(fe, o->cursor).type);
        }
}

/* A metadirective with variants that are chosen, or not, before the program runs: clang reads those
 * that are chosen. */
static bool is_chosen_early(const struct fe *fe, const struct fe_pragma *p)
{
    for (unsigned k = p->clauses_at; p->c->directive == OMPDIR_METADIRECTIVE && k + 1 < p->ntokens;
         k++)
        if (fe_word_at(fe, p, k + 1, "=") && !fe_word_at(fe, p, k, "user") &&
            lower_word_at(fe, p, k, WORDS_TRAIT_SET))
            return true;
    return false;
}

/* Names may be those of the parameters of the function that follows. */
static bool has_names_of_its_own(const struct fe_pragma *p)
{
    return fe_is_for_types(p) || p->c->directive == OMPDIR_DECLARE_VARIANT ||
           p->c->directive == OMPDIR_DECLARE_SIMD;
}

/* Clang says of a construct outside of a function that it does not belong there. */
void lower_check_arguments(struct fe *fe, struct fe_pragma *p)
{
    bool construct = p->assoc == ASSOC_STMT || p->assoc == ASSOC_LOOP;
    if (has_names_of_its_own(p) || is_chosen_early(fe, p) ||
        (construct && !fe_is_in_function(fe, p->extent.begin)))
        return;
    check_operands(fe, p);
    check_types(fe, p);
    check_words(fe, p);
}
