/* choice.c - metadirectives whose choice is made at run time.
 *
 * One context that is known at run time becomes an `if`, and a metadirective on each side of it is
 * left, in which the context holds, and what it is preferred to is gone, or whose clause is gone:
 *
 *     metadirective when(user={condition(n > 9)}: A) when(user={condition(n > 5)}: B) …
 *         statement
 * becomes
 *     if (n > 9) {
 *         metadirective when(user={condition(1)}: A) … statement
 *     } else {
 *         metadirective when(user={condition(n > 5)}: B) … statement
 *     }
 *
 * Scores and the order of clauses stay what they were. */
#include "frontend/lower/lower.h"
#include <string.h>

struct late { /* tokens of a set of selectors in the clause `when` */
    struct lower_argument when;
    enum fe_trait_set set;
    unsigned begin, end;
    unsigned condition, condition_end; /* user: the expression */
    unsigned implementation;           /* the first selector of such a set; 0: there is none */
};

static unsigned value_of(const struct fe *fe, const struct fe_pragma *p, unsigned k,
                         enum fe_words set)
{
    if (k >= p->ntokens)
        return 0;
    const struct fe_token *t = &p->tokens[k];
    unsigned quote = t->kind == TOK_STRING, value = 0;
    fe_word(set, fe->u->text + t->begin + quote, t->end - t->begin - 2 * quote, &value);
    return value;
}

/* The expression of condition(…), after its score. */
static bool find_condition(struct fe *fe, const struct fe_pragma *p, struct late *x)
{
    for (unsigned k = x->begin + 3; k < x->end; k++) {
        if (value_of(fe, p, k, WORDS_SELECTOR) != SELECTOR_CONDITION ||
            !fe_word_at(fe, p, k + 1, "("))
            continue;
        x->condition = k + 2;
        x->condition_end = fe_closing(fe, p, k + 1);
        if (lower_keyword(fe, p, k + 2) == OMPK_SCORE)
            x->condition = fe_closing(fe, p, k + 3) + 2;
        return true;
    }
    return false;
}

static bool is_late(struct fe *fe, const struct fe_pragma *p, struct late *x)
{
    long long value;
    if (!fe_word_at(fe, p, x->begin + 1, "="))
        return false;
    if (x->set == TRAITS_TARGET_DEVICE)
        return true;
    return x->set == TRAITS_USER && find_condition(fe, p, x) &&
           !fe_constant(fe, p, x->condition, x->condition_end, &value);
}

/* ------------------------------------------------------------------ scores
 * clang takes the score of a condition for a part of the expression.  Any other selector that holds
 * can have it: condition(score(3): c) is condition(c) and vendor(score(3): llvm), or the vendor
 * that is there has it. */
static bool find_scored(struct fe *fe, const struct fe_pragma *p, enum omp_clause_kind kind,
                        struct late *x)
{
    unsigned after = p->clauses_at;
    for (; lower_find(fe, p, kind, after, &x->when); after = lower_after(fe, p, &x->when)) {
        unsigned taken = 0;
        bool scored = false;
        unsigned colon = fe_find_top(fe, p, x->when.begin, x->when.end, ":");
        for (unsigned k = x->when.begin, end; k < colon; k = end + 1) {
            struct late one = { .begin = k };
            end = one.end = fe_find_top(fe, p, k, colon, ",");
            enum fe_trait_set set = (enum fe_trait_set)value_of(fe, p, k, WORDS_TRAIT_SET);
            taken = set == TRAITS_IMPLEMENTATION ? k + 3 : taken;
            if (set != TRAITS_USER || !find_condition(fe, p, &one) ||
                !fe_word_at(fe, p, one.condition - 1, ":"))
                continue;
            one.when = x->when;
            *x = one;
            scored = true;
        }
        x->implementation = taken;
        if (scored)
            return true;
    }
    return false;
}

bool lower_scores_condition(struct fe *fe, const struct fe_pragma *p)
{
    struct late x;
    return find_scored(fe, p, OMPC_WHEN, &x) || find_scored(fe, p, OMPC_MATCH, &x);
}

void lower_score(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct late x;
    if (!find_scored(fe, p, OMPC_WHEN, &x))
        find_scored(fe, p, OMPC_MATCH, &x);
    unsigned first = x.begin;
    while (lower_keyword(fe, p, first) != OMPK_SCORE)
        first++;
    const char *score = lower_tokens(fe, p, first, x.condition - 1);
    bool vendor = x.implementation &&
                  value_of(fe, p, x.implementation, WORDS_SELECTOR) == SELECTOR_VENDOR &&
                  lower_keyword(fe, p, x.implementation + 2) != OMPK_SCORE;
    if (!x.implementation)
        fe_add_edit(fe, &l->edits, p->tokens[x.begin].begin, 0,
                    arena_printf(fe->a, "implementation={vendor(%s: %s)}, ", score, fe_vendor()));
    else if (vendor)
        fe_add_edit(fe, &l->edits, p->tokens[x.implementation + 2].begin, 0,
                    arena_printf(fe->a, "%s: ", score));
    fe_add_edit(fe, &l->edits, p->tokens[first].begin,
                p->tokens[x.condition].begin - p->tokens[first].begin, "");
}

/* ------------------------------------------------------------------ what is known at run time */
/* The first such set of the clause `when`. */
static bool find_late_in(struct fe *fe, const struct fe_pragma *p, struct late *x)
{
    unsigned colon = fe_find_top(fe, p, x->when.begin, x->when.end, ":");
    for (unsigned k = x->when.begin; k < colon; k = x->end + 1) {
        x->begin = k;
        x->end = fe_find_top(fe, p, k, colon, ",");
        x->set = (enum fe_trait_set)value_of(fe, p, k, WORDS_TRAIT_SET);
        if (is_late(fe, p, x))
            return true;
    }
    return false;
}

/* What the program gives the clause. */
static long long score_of(struct fe *fe, const struct fe_pragma *p, const struct lower_argument *a)
{
    long long sum = 0, value;
    unsigned colon = fe_find_top(fe, p, a->begin, a->end, ":");
    for (unsigned k = a->begin; k < colon; k++)
        if (lower_keyword(fe, p, k) == OMPK_SCORE && fe_word_at(fe, p, k + 1, "(") &&
            fe_constant(fe, p, k + 2, fe_closing(fe, p, k + 1), &value))
            sum += value;
    return sum;
}

/* Of the clauses that have one, the first with the highest score: in this order OpenMP asks them.
 */
static bool find_late(struct fe *fe, const struct fe_pragma *p, struct late *x)
{
    struct late one;
    bool found = false;
    long long best = 0;
    unsigned after = p->clauses_at;
    for (; lower_find(fe, p, OMPC_WHEN, after, &one.when); after = lower_after(fe, p, &one.when)) {
        if (!find_late_in(fe, p, &one))
            continue;
        long long score = score_of(fe, p, &one.when);
        if (!found || score > best)
            *x = one, best = score;
        found = true;
    }
    return found;
}

/* By the words alone, since expressions have values in the tree only. */
bool lower_may_choose_late(struct fe *fe, const struct fe_pragma *p)
{
    bool late = false;
    for (unsigned k = p->clauses_at; k + 1 < p->ntokens; k++) {
        unsigned end = value_of(fe, p, k, WORDS_SELECTOR) == SELECTOR_CONDITION &&
                               fe_word_at(fe, p, k + 1, "(")
                           ? fe_closing(fe, p, k + 1)
                           : 0;
        late |= value_of(fe, p, k, WORDS_TRAIT_SET) == TRAITS_TARGET_DEVICE;
        for (unsigned i = k + 2; i < end; i++)
            late |= p->tokens[i].kind == TOK_IDENT;
    }
    return late;
}

bool lower_chooses_late(struct fe *fe, const struct fe_pragma *p)
{
    struct late x;
    return find_late(fe, p, &x);
}

/* ------------------------------------------------------------------ the condition */
/* Which devices have all the traits, and the device that is asked about. */
static unsigned matching_devices(struct fe *fe, const struct fe_pragma *p, const struct late *x,
                                 const char **device)
{
    unsigned devices = FE_ON_ANY;
    for (unsigned k = x->begin + 3, end; k < x->end; k = end + 1) {
        unsigned selector = value_of(fe, p, k, WORDS_SELECTOR), close = fe_closing(fe, p, k + 1);
        end = fe_find_top(fe, p, k, x->end, ",");
        if (selector == SELECTOR_DEVICE_NUM)
            *device = lower_tokens(fe, p, k + 2, close);
        for (unsigned t = k + 2, stop; t < close && selector != SELECTOR_DEVICE_NUM; t = stop + 1) {
            stop = fe_find_top(fe, p, t, close, ",");
            devices &= selector == SELECTOR_KIND   ? value_of(fe, p, t, WORDS_KIND)
                       : selector == SELECTOR_ARCH ? value_of(fe, p, t, WORDS_ARCH)
                                                   : 0;
        }
    }
    return devices;
}

static const char *device_matches(struct lowering *l, const struct fe_pragma *p,
                                  const struct late *x)
{
    static const char *const tests[] = { [0] = "0",
                                         [FE_ON_HOST] = "%s == -1 || %s == %s",
                                         [FE_ON_GPU] = "%s >= 0 && %s < %s",
                                         [FE_ON_ANY] = "%s >= -1 && %s <= %s" };
    struct fe *fe = l->fe;
    const char *device = "omp_get_default_device()", *name = lower_name(l, "device");
    unsigned devices = matching_devices(fe, p, x, &device);
    const char *test = tests[devices], *end = test;
    const char *parts[] = { name, name, "omp_get_num_devices()" }, *text = "";
    for (unsigned i = 0; (end = strstr(test, "%s")); test = end + 2, i++)
        text = arena_printf(fe->a, "%s%.*s%s", text, (int)(end - test), test, parts[i]);
    return arena_printf(
        fe->a, "({ %s %s int %s = (%s); (void)%s; %s%s; })",
        lower_declare(fe, p, "omp_get_num_devices", "extern int omp_get_num_devices(void);"),
        lower_declare(fe, p, "omp_get_default_device", "extern int omp_get_default_device(void);"),
        name, device, name, text, test);
}

/* ------------------------------------------------------------------ both sides */
/* Is the set known to hold, and without a weight but its score? */
static bool is_vendor(struct fe *fe, const struct fe_pragma *p, unsigned k)
{
    unsigned name = k + 3, vendor = name + 2, close = fe_closing(fe, p, name + 1);
    if (lower_keyword(fe, p, vendor) == OMPK_SCORE)
        vendor = fe_closing(fe, p, vendor + 1) + 2;
    return value_of(fe, p, name, WORDS_SELECTOR) == SELECTOR_VENDOR &&
           fe_word_at(fe, p, close + 1, "}") && fe_word_at(fe, p, vendor, fe_vendor());
}

/* Is a condition all that the clause asks for? */
static bool asks_for_condition(struct fe *fe, const struct fe_pragma *p, const struct late *x)
{
    unsigned colon = fe_find_top(fe, p, x->when.begin, x->when.end, ":");
    for (unsigned k = x->when.begin; k < colon; k = fe_find_top(fe, p, k, colon, ",") + 1) {
        unsigned set = value_of(fe, p, k, WORDS_TRAIT_SET);
        if (set != TRAITS_USER && (set != TRAITS_IMPLEMENTATION || !is_vendor(fe, p, k)))
            return false;
    }
    return x->set == TRAITS_USER;
}

/* Where x holds it is chosen before this one, which comes later in the order of scores.  One with
 * the same condition may ask for more. */
static bool is_behind(struct fe *fe, const struct fe_pragma *p, const struct late *x,
                      const struct lower_argument *when)
{
    struct late one = { .when = *when };
    return find_late_in(fe, p, &one) && asks_for_condition(fe, p, x) &&
           asks_for_condition(fe, p, &one) &&
           strcmp(lower_tokens(fe, p, x->condition, x->condition_end),
                  lower_tokens(fe, p, one.condition, one.condition_end)) != 0;
}

/* The metadirective where the context holds, without the clauses after it: the statement is then
 * written once for them, not twice. */
static const char *with_context(struct fe *fe, const struct fe_pragma *p, const struct late *x)
{
    bool user = x->set == TRAITS_USER, has_user = false;
    for (unsigned k = x->when.begin; k < x->when.end; k++)
        has_user |= value_of(fe, p, k, WORDS_TRAIT_SET) == TRAITS_USER;
    unsigned begin = user ? x->condition : x->begin, end = user ? x->condition_end : x->end, k = 0;
    const char *holds = user       ? "1"
                        : has_user ? arena_printf(fe->a, "implementation={vendor(%s)}", fe_vendor())
                                   : "user={condition(1)}";
    const char *text = "omp";
    for (struct lower_argument a; lower_find(fe, p, OMPC_WHEN, k, &a);) {
        unsigned from = k;
        k = lower_after(fe, p, &a);
        if (a.at == x->when.at)
            text = arena_printf(fe->a, "%s %s %s %s", text, lower_tokens(fe, p, from, begin), holds,
                                lower_tokens(fe, p, end, k));
        else
            text = arena_printf(fe->a, "%s %s", text,
                                lower_tokens(fe, p, from, is_behind(fe, p, x, &a) ? a.at : k));
    }
    return arena_printf(fe->a, "%s %s", text, lower_tokens(fe, p, k, p->ntokens));
}

/* Without its clause; "": nothing is left. */
static const char *without_clause(struct fe *fe, const struct fe_pragma *p, const struct late *x)
{
    unsigned after = lower_after(fe, p, &x->when);
    if (x->when.at == p->clauses_at && after == p->ntokens)
        return "";
    return arena_printf(fe->a, "omp %s %s", lower_tokens(fe, p, 0, x->when.at),
                        lower_tokens(fe, p, after, p->ntokens));
}

static const char *side(struct fe *fe, const struct fe_pragma *p, const char *directive)
{
    struct omp_extent e = lower_statement(fe, p);
    const char *line = *directive ? lower_line(fe, directive, p->extent.begin) : "";
    e.begin = p->extent.end;
    return arena_printf(fe->a, "%s%s", line, p->takes_statement ? lower_text(fe, e) : ";");
}

void lower_metadirective(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct late x;
    find_late(fe, p, &x);
    if (p->takes_statement && !p->found)
        return;
    const char *condition = x.set == TRAITS_USER ? lower_tokens(fe, p, x.condition, x.condition_end)
                                                 : device_matches(l, p, &x);
    lower_replace(l, p->takes_statement ? lower_statement(fe, p) : p->extent,
                  arena_printf(fe->a, "if (%s) {%s} else {%s}", condition,
                               side(fe, p, with_context(fe, p, &x)),
                               side(fe, p, without_clause(fe, p, &x))));
}

/* ------------------------------------------------------------------ choices known at compile time
 * Where selectors ask for the constructs around, clang takes the last of several clauses with the
 * same score, also one that asks for less than another.  And the directive that is chosen may be
 * one that becomes another itself. */
static bool is_lowered(struct fe *fe, const struct fe_pragma *p)
{
    unsigned chosen[2];
    return p->c->directive == OMPDIR_METADIRECTIVE &&
           (fe_asks_for_constructs(fe, p) || (fe_chosen_everywhere(fe, p, &chosen[0], &chosen[1]) &&
                                              lower_becomes_another(fe, p, chosen)));
}

/* This one, or another, which may be inside of it. */
static bool any_is_lowered(struct fe *fe, const struct fe_pragma *p)
{
    while (p < fe->pragmas.at + fe->pragmas.n && !is_lowered(fe, p))
        p++;
    return p < fe->pragmas.at + fe->pragmas.n;
}

/* The constructs around may be others when that is replaced. */
static bool is_in_metadirective(struct fe *fe, const struct fe_pragma *p)
{
    for (const struct fe_pragma *q = fe->pragmas.at; q < p; q++)
        if (q->c->directive == OMPDIR_METADIRECTIVE && q->found &&
            fe_stmt_end(fe, q->stmt) > p->extent.begin)
            return true;
    return false;
}

static const char *chosen_side(struct fe *fe, const struct fe_pragma *p, const unsigned *tokens)
{
    return side(fe, p,
                tokens[0] < tokens[1]
                    ? arena_printf(fe->a, "omp %s", lower_tokens(fe, p, tokens[0], tokens[1]))
                    : "");
}

/* Host and device run different variants, and one of these is itself lowered. */
static bool is_chosen_apart(struct fe *fe, const struct fe_pragma *p, unsigned host[2],
                            unsigned device[2])
{
    return (!p->takes_statement || p->found) && fe_chosen_apart(fe, p, host, device) &&
           (lower_becomes_another(fe, p, host) || lower_becomes_another(fe, p, device));
}

/* Otherwise the choice is left to clang, which also checks the variants that it does not choose.
 * Before the tree has been read, any metadirective may be one. */
bool lower_has_known_choice(struct fe *fe, const struct fe_pragma *p)
{
    unsigned chosen[2], other[2];
    if (!fe->tu)
        return true;
    if (is_in_metadirective(fe, p))
        return false;
    if (fe_chosen_everywhere(fe, p, &chosen[0], &chosen[1]))
        return any_is_lowered(fe, p);
    return is_chosen_apart(fe, p, chosen, other);
}

static void choose_apart(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    unsigned host[2], device[2];
    fe_chosen_apart(fe, p, host, device);
    const char *asks =
        lower_declare(fe, p, "omp_is_initial_device", "extern int omp_is_initial_device(void);");
    lower_replace(l, p->takes_statement ? lower_statement(fe, p) : p->extent,
                  arena_printf(fe->a, "{ %s if (omp_is_initial_device()) {%s} else {%s} }", asks,
                               chosen_side(fe, p, host), chosen_side(fe, p, device)));
}

void lower_known_choice(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    unsigned b, e;
    if (!fe_chosen_everywhere(fe, p, &b, &e)) {
        choose_apart(l, p);
        return;
    }
    const char *line =
        b < e ? lower_line(fe, arena_printf(fe->a, "omp %s", lower_tokens(fe, p, b, e)),
                           p->extent.end)
              : fe_newlines_of(fe, p->extent);
    fe_add_edit(fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin, line);
}

/* ------------------------------------------------------------------ blocks */
static const struct fe_pragma *end_of_block(const struct fe *fe, const struct fe_pragma *p)
{
    int depth = 0;
    for (; p < fe->pragmas.at + fe->pragmas.n; p++) {
        depth += p->c->directive == OMPDIR_BEGIN_METADIRECTIVE;
        depth -= p->c->directive == OMPDIR_END_METADIRECTIVE;
        if (!depth)
            return p;
    }
    return NULL;
}

/* The text up to `end metadirective` is the statement. */
void lower_metadirective_block(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    const struct fe_pragma *end = end_of_block(fe, p);
    struct fe_token t;
    if (!end || !fe_next_token(fe->u, p->extent.end, &t)) {
        fe_error_at(fe, p->c->place, "'%s' without its end", p->c->spelling);
        return;
    }
    bool statement = fe_token_is(fe, &t, "for") || fe_token_is(fe, &t, "{");
    unsigned at = p->extent.end, after = end->extent.end;
    fe_add_edit(fe, &l->edits, p->extent.begin, at - p->extent.begin,
                arena_printf(fe->a, "\n#pragma omp metadirective %s\n%s\n# %u\n",
                             lower_tokens(fe, p, p->clauses_at, p->ntokens), statement ? "" : "{",
                             fe_place(fe->u, at).line));
    fe_add_edit(
        fe, &l->edits, end->extent.begin, after - end->extent.begin,
        arena_printf(fe->a, "%s\n# %u\n", statement ? "" : "}", fe_place(fe->u, after).line));
}
