/* split.c - combined directives that become two, on two lines.
 *
 *     parallel single                      parallel, and single: clang ignores the second word, and
 *                                          each thread would run the statement; also target
 *                                          parallel single, sections, masked, masked taskloop
 *     parallel masked reduction(task, …)   parallel, and masked: clang crashes
 *     parallel masked taskloop filter(n)   parallel, masked filter(n), and taskloop: clang takes
 *                                          thread 0
 *     target parallel for                  target parallel reduction(+: x), and for
 *         reduction(inscan, …)             reduction(inscan, …): it has only such reductions on
 *         reduction(+: x)                  one directive
 *     target teams firstprivate(target: x) target firstprivate(x), and teams
 *     target parallel for firstprivate(x)  target map(x), and parallel for firstprivate(x)
 *         lastprivate(x)                   lastprivate(x): clang loses the result on the host
 *
 * The last one is OpenMP 6.0: a clause of any kind may name the construct of a combined one that it
 * is for.  Where that is the innermost one of those that have the clause, or a part of a composite
 * construct, which cannot be two, the name just goes. */
#include "frontend/lower/lower.h"

/* ------------------------------------------------------------------ names in clauses */
/* The token of the modifier in the clause [at, end) that names one of the directive's constructs,
 * and which of them; 0: there is none.  `if` has it since 4.5. */
static unsigned find_name(struct fe *fe, const struct fe_pragma *p, unsigned at, unsigned end,
                          unsigned *which)
{
    unsigned colon = fe_word_at(fe, p, at + 1, "(") ? fe_find_top(fe, p, at + 2, end, ":") : end, n;
    if (colon >= end || fe_clause_named(fe, &p->tokens[at]) == OMPC_IF)
        return 0;
    for (unsigned k = at + 2, next; k < colon; k = next + 1) {
        next = fe_find_top(fe, p, k, colon, ",");
        enum omp_directive d = fe_directive_at(fe, p, k, &n);
        for (unsigned i = 0; i < p->nnames && d != OMPDIR_UNKNOWN && next == k + 1; i++)
            if (p->names[i] == d) {
                *which = i;
                return k;
            }
    }
    return 0;
}

/* The clause without it, and without the comma or colon that it leaves. */
static const char *without_name(struct fe *fe, const struct fe_pragma *p, unsigned at, unsigned end,
                                unsigned name)
{
    bool first = name == at + 2;
    return arena_printf(fe->a, "%s %s", lower_tokens(fe, p, at, first ? name : name - 1),
                        lower_tokens(fe, p, first ? name + 2 : name + 1, end));
}

/* After the clause at token k. */
static unsigned clause_end(const struct fe *fe, const struct fe_pragma *p, unsigned k)
{
    return fe_word_at(fe, p, k + 1, "(") ? fe_closing(fe, p, k + 1) + 1 : k + 1;
}

static unsigned next_clause(const struct fe *fe, const struct fe_pragma *p, unsigned end)
{
    return end + fe_word_at(fe, p, end, ",");
}

/* ------------------------------------------------------------------ where it is split */
static bool has_reduction(struct fe *fe, const struct fe_pragma *p, enum omp_keyword modifier,
                          bool with)
{
    struct lower_argument a;
    for (unsigned k = p->clauses_at; lower_find(fe, p, OMPC_REDUCTION, k, &a);
         k = lower_after(fe, p, &a))
        if ((lower_keyword(fe, p, a.begin) == modifier) == with)
            return true;
    return false;
}

/* The first name that clang misreads behind the ones before it, or behind `single`; 0: none. */
static unsigned find_misread(struct fe *fe, const struct fe_pragma *p)
{
    unsigned split =
        p->c->leaves & OMPL_TARGET ? OMPL_SINGLE | OMPL_SECTIONS | OMPL_MASKED : OMPL_SINGLE;
    bool crashes = has_reduction(fe, p, OMPK_TASK, true);
    for (unsigned i = 1; i < p->nnames; i++) {
        unsigned leaf = fe_directive_rows[p->names[i]].leaf;
        bool misread = (leaf & split) || (crashes && (leaf & (OMPL_MASKED | OMPL_MASTER)));
        if (p->names[i - 1] == OMPDIR_SINGLE || (p->names[i - 1] == OMPDIR_PARALLEL && misread))
            return i;
    }
    return 0;
}

/* The host's scans are clang's, which has none of its own in such a parallel region. */
static bool mixes_reductions(struct fe *fe, const struct fe_pragma *p)
{
    return p->names[0] == OMPDIR_TARGET && has_reduction(fe, p, OMPK_INSCAN, true) &&
           has_reduction(fe, p, OMPK_INSCAN, false);
}

/* Is what begins with name i a construct of its own, not part of a composite one? */
static bool can_split_at(const struct fe_pragma *p, unsigned i)
{
    if (i == 0 || i >= p->nnames)
        return false;
    unsigned before = fe_directive_rows[p->names[i - 1]].leaf,
             leaf = fe_directive_rows[p->names[i]].leaf;
    bool composite = (before & OMPL_DISTRIBUTE) || leaf == OMPL_SIMD;
    return !composite && !(leaf == OMPL_FOR && i > 1 && p->names[i - 2] == OMPDIR_DISTRIBUTE);
}

static bool gives_variables(enum omp_clause_kind kind)
{
    return kind == OMPC_PRIVATE || kind == OMPC_FIRSTPRIVATE || kind == OMPC_LASTPRIVATE ||
           kind == OMPC_REDUCTION || kind == OMPC_SHARED || kind == OMPC_DEFAULT;
}

/* Some construct inside of the named one has the clause, too. */
static bool is_wanted_outside(const struct fe_pragma *p, enum omp_clause_kind kind, unsigned which)
{
    bool inside = false;
    for (unsigned i = which + 1; i < p->nnames; i++)
        inside |= kind != OMPC_COUNT && fe_allows(p->names[i], kind);
    return inside && gives_variables(kind) && fe_allows(p->names[which], kind) &&
           can_split_at(p, which + 1);
}

static unsigned split_by_names(struct fe *fe, const struct fe_pragma *p)
{
    for (unsigned k = p->clauses_at, end; k < p->ntokens; k = next_clause(fe, p, end)) {
        unsigned which;
        end = clause_end(fe, p, k);
        if (find_name(fe, p, k, end, &which) &&
            is_wanted_outside(p, fe_clause_named(fe, &p->tokens[k]), which))
            return which + 1;
    }
    return 0;
}

static bool lists(struct fe *fe, const struct fe_pragma *p, enum omp_clause_kind kind,
                  const struct fe_token *variable)
{
    struct lower_argument a;
    const char *name = fe_text(fe, (struct omp_extent){ variable->begin, variable->end });
    for (unsigned k = p->clauses_at; lower_find(fe, p, kind, k, &a); k = lower_after(fe, p, &a))
        for (unsigned i = a.begin; i < a.end; i++)
            if (fe_token_is(fe, &p->tokens[i], name))
                return true;
    return false;
}

/* Is a variable of a combined target construct firstprivate and lastprivate? */
static bool is_first_and_last(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    for (unsigned k = p->clauses_at;
         p->names[0] == OMPDIR_TARGET && p->nnames > 1 && !(p->c->leaves & OMPL_DISTRIBUTE) &&
         lower_find(fe, p, OMPC_LASTPRIVATE, k, &a);
         k = lower_after(fe, p, &a))
        for (unsigned i = a.begin; i < a.end; i++)
            if (p->tokens[i].kind == TOK_IDENT && lists(fe, p, OMPC_FIRSTPRIVATE, &p->tokens[i]))
                return true;
    return false;
}

/* What is before or after the masked of one with a filter; 0: nothing. */
static unsigned find_filtered(const struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    for (unsigned i = 1; i < p->nnames; i++)
        if ((p->names[i] == OMPDIR_MASKED || p->names[i - 1] == OMPDIR_MASKED) &&
            lower_find(fe, p, OMPC_FILTER, p->clauses_at, &a))
            return i;
    return 0;
}

/* The name with which the inner directive begins; 0: it stays one. */
static unsigned split_at(struct fe *fe, const struct fe_pragma *p)
{
    unsigned misread = find_misread(fe, p), filtered = find_filtered(fe, p);
    if (misread || filtered)
        return misread ? misread : filtered;
    for (unsigned i = 1; i < p->nnames; i++)
        if (p->names[i] == OMPDIR_FOR && can_split_at(p, i) && mixes_reductions(fe, p))
            return i;
    unsigned named = split_by_names(fe, p);
    return named ? named : is_first_and_last(fe, p) ? 1 : 0;
}

static bool has_name(struct fe *fe, const struct fe_pragma *p)
{
    unsigned which;
    for (unsigned k = p->clauses_at, end; k < p->ntokens; k = next_clause(fe, p, end)) {
        end = clause_end(fe, p, k);
        if (find_name(fe, p, k, end, &which))
            return true;
    }
    return false;
}

bool lower_is_split(struct fe *fe, const struct fe_pragma *p)
{
    return p->assoc != ASSOC_DECL && p->nnames && (split_at(fe, p) || has_name(fe, p));
}

/* ------------------------------------------------------------------ the two parts */
struct parts {
    struct lowering *l;
    struct fe_pragma *p;
    unsigned at;
    const char *outer, *inner;
};
enum { OUTER = 1, INNER = 2 };

static bool allows(const struct parts *s, bool inner, enum omp_clause_kind kind)
{
    unsigned i = inner ? s->at : 0, end = inner ? s->p->nnames : s->at;
    while (i < end && !fe_allows(s->p->names[i], kind))
        i++;
    return i < end;
}

/* if(parallel: …) */
static bool names_inner(const struct parts *s, unsigned k)
{
    unsigned n, i = s->at;
    enum omp_directive d = fe_directive_at(s->l->fe, s->p, k, &n);
    while (i < s->p->nnames && s->p->names[i] != d)
        i++;
    return i < s->p->nnames;
}

/* default(private) or default(firstprivate) */
static bool defaults_to_copies(const struct fe *fe, const struct fe_pragma *p, unsigned k)
{
    enum omp_keyword word = lower_keyword(fe, p, k + 2);
    return word == OMPK_PRIVATE || word == OMPK_FIRSTPRIVATE;
}

/* Which parts get a clause that names none.  Those that both have are about the inner one's
 * variables; what is reduced on a target construct is mapped there. */
static unsigned parts_of(const struct parts *s, unsigned k, enum omp_clause_kind kind)
{
    bool inner = kind != OMPC_COUNT && allows(s, true, kind),
         outer = kind == OMPC_COUNT || allows(s, false, kind);
    bool inscan = lower_keyword(s->l->fe, s->p, k + 2) == OMPK_INSCAN;
    if (!inner || !outer)
        return inner ? INNER : OUTER;
    if (kind == OMPC_DEFAULT && !defaults_to_copies(s->l->fe, s->p, k))
        return INNER;
    if (kind == OMPC_IF && fe_word_at(s->l->fe, s->p, k + 3, ":"))
        return names_inner(s, k + 2) ? INNER : OUTER;
    if (kind == OMPC_IF || kind == OMPC_DEFAULT || kind == OMPC_THREAD_LIMIT)
        return OUTER | INNER;
    if (kind == OMPC_REDUCTION && s->p->names[s->at - 1] == OMPDIR_TEAMS)
        return OUTER | INNER; /* for the threads of a team, and for the teams */
    if (kind == OMPC_REDUCTION && s->p->names[0] == OMPDIR_TARGET)
        return inscan ? INNER : OUTER;
    return kind == OMPC_NOWAIT && s->p->names[0] == OMPDIR_TARGET ? OUTER : INNER;
}

/* Results of the inner part leave the device. */
static void map_results(struct parts *s, unsigned k, unsigned end, enum omp_clause_kind kind)
{
    struct fe *fe = s->l->fe;
    bool results = kind == OMPC_LASTPRIVATE || kind == OMPC_REDUCTION || kind == OMPC_INDUCTION;
    if (s->p->names[0] != OMPDIR_TARGET || !results)
        return;
    unsigned colon = fe_find_top(fe, s->p, k + 2, end - 1, ":");
    for (unsigned i = colon < end - 1 ? colon + 1 : k + 2, next; i < end - 1; i = next + 1) {
        next = fe_find_top(fe, s->p, i, end - 1, ",");
        if (!lists(fe, s->p, OMPC_MAP, &s->p->tokens[i])) /* the user maps it */
            s->outer = arena_printf(fe->a, "%s map(tofrom: %s)", s->outer,
                                    lower_tokens(fe, s->p, i, next));
    }
}

/* default(none) of the outer part wants them to be listed there, too. */
static void share_variables(struct parts *s, unsigned k, unsigned end, enum omp_clause_kind kind)
{
    struct lower_argument a;
    struct fe *fe = s->l->fe;
    unsigned colon = fe_find_top(fe, s->p, k + 2, end - 1, ":");
    bool copies = gives_variables(kind) && kind != OMPC_PRIVATE && kind != OMPC_DEFAULT;
    if (copies && !allows(s, true, OMPC_DEFAULT) && allows(s, false, OMPC_SHARED) &&
        lower_find(fe, s->p, OMPC_DEFAULT, s->p->clauses_at, &a))
        s->outer =
            arena_printf(fe->a, "%s shared(%s)", s->outer,
                         lower_tokens(fe, s->p, colon < end - 1 ? colon + 1 : k + 2, end - 1));
}

static void add_clause(struct parts *s, unsigned k, unsigned end)
{
    struct fe *fe = s->l->fe;
    enum omp_clause_kind kind = fe_clause_named(fe, &s->p->tokens[k]);
    unsigned which, name = find_name(fe, s->p, k, end, &which), parts;
    const char *text = lower_tokens(fe, s->p, k, end);
    bool stays = name && is_wanted_outside(s->p, kind, which) && which + 1 != s->at;
    if (name && !stays)
        text = without_name(fe, s->p, k, end, name);
    parts = name ? which < s->at ? OUTER : INNER : parts_of(s, k, kind);
    if (s->at && (parts & INNER))
        s->inner = arena_printf(fe->a, "%s %s", s->inner, text);
    if (!s->at || (parts & OUTER)) {
        s->outer = arena_printf(fe->a, "%s %s", s->outer, text);
        return;
    }
    map_results(s, k, end, kind);
    share_variables(s, k, end, kind);
}

void lower_split_directive(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct parts s = { .l = l, .p = p, .at = split_at(fe, p) };
    /* each name is one token */
    s.outer = arena_printf(fe->a, "omp %s", lower_tokens(fe, p, 0, s.at ? s.at : p->clauses_at));
    s.inner = arena_printf(fe->a, "omp %s", lower_tokens(fe, p, s.at, p->clauses_at));
    for (unsigned k = p->clauses_at, end; k < p->ntokens; k = next_clause(fe, p, end)) {
        end = clause_end(fe, p, k);
        add_clause(&s, k, end);
    }
    fe_add_edit(fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
                arena_printf(fe->a, "%s%s",
                             lower_line(fe, s.outer, s.at ? p->extent.begin : p->extent.end),
                             s.at ? lower_line(fe, s.inner, p->extent.end) : ""));
}
