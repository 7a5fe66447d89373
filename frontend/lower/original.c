/* original.c - reduction(original(shared | private | default), +: x).
 *
 * Where parallel or what is outside of it reduces, the modifier says nothing: the variable around
 * the construct gets the result.  On a worksharing construct it says whether all threads have one
 * x.  If each has its own, all of them get the result:
 *
 *     for reduction(original(private), +: x)      x0 = x; x = identity
 *                                                 for …
 *                                                 all = an array that one thread allocates
 *                                                 all[thread] = x; x = x0
 *                                                 x = x + all[0] + all[1] …
 *
 * in the order of the threads' numbers.  The identity, and the sum of two, is what a simd loop with
 * the reduction makes in its only iteration, so that any operator will do. */
#include "frontend/lower/lower.h"

struct clause {
    struct lower_argument a;
    unsigned colon;
    const char *operator, *modifiers; /* the others, each with a comma after it */
    bool modified, is_private;
    unsigned bad;   /* token in `original` that says neither; 0: there is none */
    unsigned other; /* token of one of those that is not `default`; 0: there is none */
};

static bool is_shared_or_private(const struct fe *fe, const struct fe_pragma *p, unsigned k)
{
    enum omp_keyword word = lower_keyword(fe, p, k);
    return word == OMPK_SHARED || word == OMPK_PRIVATE || word == OMPK_DEFAULT;
}

static bool next_clause(struct fe *fe, const struct fe_pragma *p, unsigned k, struct clause *c)
{
    *c = (struct clause){ .operator = "", .modifiers = "" };
    if (!lower_find(fe, p, OMPC_REDUCTION, k, &c->a))
        return false;
    c->colon = fe_find_top(fe, p, c->a.begin, c->a.end, ":");
    for (unsigned i = c->a.begin, next; i < c->colon; i = next + 1) {
        next = fe_find_top(fe, p, i, c->colon, ",");
        const char *text = lower_tokens(fe, p, i, next);
        if (lower_keyword(fe, p, i) == OMPK_ORIGINAL && fe_word_at(fe, p, i + 1, "(")) {
            c->modified = true;
            c->is_private = lower_keyword(fe, p, i + 2) == OMPK_PRIVATE;
            c->bad = is_shared_or_private(fe, p, i + 2) ? 0 : i + 2;
        } else if (next == c->colon) {
            c->operator = text;
        } else {
            c->other = lower_keyword(fe, p, i) == OMPK_DEFAULT ? c->other : i;
            c->modifiers = arena_printf(fe->a, "%s%s, ", c->modifiers, text);
        }
    }
    return true;
}

bool lower_has_original(struct fe *fe, const struct fe_pragma *p)
{
    struct clause c;
    for (unsigned k = p->clauses_at; next_clause(fe, p, k, &c); k = lower_after(fe, p, &c.a))
        if (c.modified)
            return true;
    return false;
}

/* Does it share out work to the threads of a team that is there already? */
static bool binds_to_team(const struct fe_pragma *p)
{
    const unsigned outer = OMPL_PARALLEL | OMPL_TEAMS | OMPL_TARGET | OMPL_TASKLOOP,
                   works = OMPL_FOR | OMPL_SECTIONS | OMPL_SCOPE | OMPL_LOOP;
    return (p->c->leaves & works) && !(p->c->leaves & outer);
}

/* ------------------------------------------------------------------ an original of each thread */
struct texts {
    const char *before, *after;
};

static const char *copy(struct fe *fe, const char *to, const char *from, const char *like)
{
    return arena_printf(fe->a, "__builtin_memcpy(&%s, &%s, sizeof %s);", to, from, like);
}

/* `statement` sees a copy of x that has the identity; what it leaves there is added to x. */
static const char *reduce_once(struct lowering *l, const struct fe_pragma *p, const char *op,
                               const char *x, const char *statement)
{
    struct fe *fe = l->fe;
    const char *i = lower_name(l, "i"),
               *line = arena_printf(fe->a, "omp simd reduction(%s: %s)", op, x);
    return arena_printf(fe->a, "%sfor (int %s = 0; %s < 1; %s++) { %s }",
                        lower_line(fe, line, p->extent.begin), i, i, i, statement);
}

static void reduce_private(struct lowering *l, const struct fe_pragma *p, const char *op,
                           const char *x, struct texts *t)
{
    struct fe *fe = l->fe;
    const char *original = lower_name(l, "original"), *identity = lower_name(l, "identity"),
               *all = lower_name(l, "all"), *k = lower_name(l, "k");
    t->before =
        arena_printf(fe->a, "%s __typeof__(%s) %s, %s; %s %s %s", t->before, x, original, identity,
                     copy(fe, original, x, x), reduce_once(l, p, op, x, copy(fe, identity, x, x)),
                     copy(fe, x, identity, x));
    const char *one = arena_printf(fe->a, "omp single copyprivate(%s)", all);
    t->after = arena_printf(
        fe->a,
        "%s { __typeof__(%s) *%s;%s%s = __builtin_malloc(omp_get_num_threads() * sizeof %s); %s "
        "%s%s for (int %s = 0; %s < omp_get_num_threads(); %s++) { %s }%s%s__builtin_free(%s); }",
        t->after, x, all, lower_line(fe, one, p->extent.begin), all, x,
        copy(fe, arena_printf(fe->a, "%s[omp_get_thread_num()]", all), x, x),
        lower_line(fe, "omp barrier", p->extent.begin), copy(fe, x, original, x), k, k, k,
        reduce_once(l, p, op, x, copy(fe, x, arena_printf(fe->a, "%s[%s]", all, k), x)),
        lower_line(fe, "omp barrier", p->extent.begin),
        lower_line(fe, "omp single nowait", p->extent.begin), all);
}

static void reduce_items(struct lowering *l, const struct fe_pragma *p, const struct clause *c,
                         struct texts *t)
{
    struct fe *fe = l->fe;
    for (unsigned k = c->colon + 1, next; k < c->a.end; k = next + 1) {
        next = fe_find_top(fe, p, k, c->a.end, ",");
        const char *x = lower_tokens(fe, p, k, next);
        if (next != k + 1)
            fe_unsupported(fe, fe_place(fe->u, p->tokens[k].begin), UNSUPPORTED_LIST_ITEM, x,
                           "reduction(original(private): ...)");
        else
            reduce_private(l, p, c->operator, x, t);
    }
}

static const char *declare_routines(struct fe *fe, const struct fe_pragma *p)
{
    return arena_printf(
        fe->a, "%s %s",
        lower_declare(fe, p, "omp_get_num_threads", "extern int omp_get_num_threads(void);"),
        lower_declare(fe, p, "omp_get_thread_num", "extern int omp_get_thread_num(void);"));
}

/* ------------------------------------------------------------------ the directive */
static const char *plain_clause(struct fe *fe, const struct fe_pragma *p, const struct clause *c)
{
    return arena_printf(fe->a, "reduction(%s%s%s)", c->modifiers, c->operator,
                        lower_tokens(fe, p, c->colon, c->a.end));
}

/* Without `nowait`, if some are private: what follows waits for all threads. */
static const char *without_nowait(struct fe *fe, const struct fe_pragma *p, unsigned k,
                                  unsigned end, bool some_private)
{
    const char *text = "";
    struct lower_argument a;
    while (some_private && lower_find(fe, p, OMPC_NOWAIT, k, &a) && a.at < end) {
        text = arena_printf(fe->a, "%s %s", text, lower_tokens(fe, p, k, a.at));
        k = lower_after(fe, p, &a);
    }
    return arena_printf(fe->a, "%s %s", text, lower_tokens(fe, p, k, end));
}

static bool has_private(struct fe *fe, const struct fe_pragma *p)
{
    struct clause c;
    for (unsigned k = p->clauses_at; next_clause(fe, p, k, &c); k = lower_after(fe, p, &c.a))
        if (c.is_private && binds_to_team(p))
            return true;
    return false;
}

void lower_original(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct texts t = { "", "" };
    struct clause c;
    const char *line = "omp";
    bool some = has_private(fe, p);
    unsigned k = 0;
    if (!p->found)
        return;
    for (; next_clause(fe, p, k, &c); k = lower_after(fe, p, &c.a)) {
        bool of_threads = c.is_private && binds_to_team(p);
        if (c.bad)
            fe_error(fe, p->tokens[c.bad].begin,
                     "'original' needs 'default', 'shared' or 'private'");
        line = arena_printf(fe->a, "%s %s %s", line, without_nowait(fe, p, k, c.a.at, some),
                            of_threads ? "" : plain_clause(fe, p, &c));
        if (of_threads && c.other)
            fe_unsupported(fe, fe_place(fe->u, p->tokens[c.other].begin), UNSUPPORTED_MODIFIER,
                           lower_tokens(fe, p, c.other, c.other + 1),
                           "reduction(original(private): ...)");
        if (of_threads)
            reduce_items(l, p, &c, &t);
    }
    line = arena_printf(fe->a, "%s %s", line, without_nowait(fe, p, k, p->ntokens, some));
    struct omp_extent e = lower_statement(fe, p);
    lower_replace(l, e,
                  arena_printf(fe->a, "{ %s %s%s%s\n%s }", some ? declare_routines(fe, p) : "",
                               t.before, lower_line(fe, line, p->extent.begin),
                               lower_text(fe, (struct omp_extent){ p->extent.end, e.end }),
                               t.after));
}
