/* induction.c - induction(step(s), op: x): in each iteration x begins with what the ones before
 * would have made of it.
 *
 *     x := x op s op s …, as often as the number of the iteration; at the end, for all of them
 *
 * The body gets a variable of that name; the original keeps its value until the end.  `strict` and
 * `relaxed` say whether the body has to make the next value itself; here that is never asked for.
 *
 * On distribute inside of teams, the original is the league's where the teams share it: the last
 * team that has done its part stores the new value, when all have read the old one.  They count
 * themselves in a variable before the target construct, which is mapped.
 *
 * declare induction(op: T) inductor(I) collector(C): the same with C, which makes the step of all
 * these iterations, and I, once.  Nothing of the directive is left. */
#include "frontend/lower/lower.h"
#include <ctype.h>
#include <string.h>

#define LOOPS (OMPL_FOR | OMPL_SIMD | OMPL_TASKLOOP | OMPL_DISTRIBUTE)

struct induced {
    const char *step, *op;
    unsigned items, end; /* tokens of the list */
};

/* ------------------------------------------------------------------ what it does */
/* name: x as it is after k steps */
static const char *after_steps(struct lowering *l, const char *x, const struct induced *how,
                               const char *name, const char *k)
{
    struct fe *fe = l->fe;
    const char *i = lower_name(l, "i");
    if (*how->op == '+') /* signed: the step may be negative, and x wider, or a pointer */
        return arena_printf(fe->a, "__typeof__(%s) %s = %s + (long)(%s) * (%s);", x, name, x, k,
                            how->step);
    return arena_printf(fe->a,
                        "__typeof__(%s) %s = %s; for (unsigned long %s = %s; %s; %s--) %s *= (%s);",
                        x, name, x, i, k, i, i, name, how->step);
}

static CXType type_of(const struct fe *fe, const struct fe_pragma *p, unsigned item)
{
    const struct fe_operand *o = fe_operand_at(fe, p->tokens[item].begin);
    return o ? clang_getCursorType(o->cursor) : (CXType){ .kind = CXType_Invalid };
}

static void read_declarations(struct fe *fe)
{
    for (unsigned i = fe->udrs.n ? fe->pragmas.n : 0; i < fe->pragmas.n; i++)
        if (fe->pragmas.at[i].c->directive == OMPDIR_DECLARE_INDUCTION)
            fe_read_udr(fe, &fe->pragmas.at[i]);
}

static const struct fe_pragma *pragma_of(const struct fe *fe, const struct omp_udr *d)
{
    const struct fe_pragma *p = fe->pragmas.at;
    while (p->extent.begin != d->scope.begin)
        p++;
    return p;
}

/* The same where the operation is of the program; NULL: there was an error. */
static const char *after_user_steps(struct lowering *l, const struct fe_pragma *p, unsigned item,
                                    const struct induced *how, const char *name, const char *k)
{
    struct fe *fe = l->fe;
    const char *x = lower_tokens(fe, p, item, item + 1);
    CXType t = type_of(fe, p, item);
    read_declarations(fe);
    const struct omp_udr *d = fe_find_udr(fe, how->op, t, p->extent.begin);
    if (!d) {
        fe_error(fe, p->tokens[item].begin,
                 "no 'declare induction' of '%s' for the type of '%s' is visible here", how->op, x);
        return NULL;
    }
    const struct fe_pragma *q = pragma_of(fe, d);
    struct fe_type_pair pair = fe_induced_pair(fe, q, t);
    return arena_printf(fe->a,
                        "__typeof__(%s) %s = %s; { __typeof__(%s) omp_var = %s; __typeof__(%s) "
                        "omp_step = (%s); long omp_idx = %s; if (omp_idx) { omp_step = (%s); "
                        "(%s); %s = omp_var; } }",
                        x, name, x, x, x, lower_tokens(fe, q, pair.step, pair.step_end), how->step,
                        k, fe_text(fe, d->init), fe_text(fe, d->combiner), name);
}

/* ------------------------------------------------------------------ the loops */
/* (i - lb) / step, without a sign: steps of an unsigned variable may be negative */
const char *lower_number(struct fe *fe, const struct lower_loop *x)
{
    const struct omp_loop *l = &x->loop;
    bool pointer = l->iv->type->kind == OMPT_POINTER;
    const char *lb = fe_text(fe, l->lb.extent), *name = l->iv->name;
    const char *low = x->down ? name : lb, *high = x->down ? lb : name;
    const char *distance =
        pointer ? arena_printf(fe->a, "(%s)((%s) - (%s))", x->type, high, low)
                : arena_printf(fe->a, "((%s)(%s) - (%s)(%s))", x->type, high, x->type, low);
    if (!l->step.extent.end)
        return arena_printf(fe->a, "(%s)", distance);
    return arena_printf(fe->a, "(%s / (%s)%s(%s))", distance, x->type,
                        l->step_negative == x->down ? "" : "-", fe_text(fe, l->step.extent));
}

struct nest { /* all that share the iterations, as if they were one */
    const char *number, *trip;
    struct omp_extent body; /* of the innermost */
};

static unsigned count_loops(struct fe *fe, struct fe_pragma *p)
{
    struct lower_argument a;
    long long n = 1;
    bool known = !lower_find(fe, p, OMPC_COLLAPSE, p->clauses_at, &a) ||
                 fe_constant(fe, p, a.begin, a.end, &n);
    return known && n > 0 && n <= OMP_MAX_LOOPS ? (unsigned)n : 0;
}

/* OpenMP wants bounds that depend on no other loop. */
static bool uses_variable(const struct fe *fe, const struct omp_loop *loop, const struct omp_var *v)
{
    const struct omp_extent parts[] = { loop->lb.extent, loop->ub.extent, loop->step.extent };
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        FE_EACH(ref, fe->refs, parts[i])
            if (ref->var == v)
                return true;
    return false;
}

static bool read_nest(struct lowering *l, struct fe_pragma *p, struct nest *x)
{
    struct fe *fe = l->fe;
    struct lower_loop loops[OMP_MAX_LOOPS];
    CXCursor at = p->stmt;
    unsigned n = count_loops(fe, p);
    for (unsigned i = 0; i < n; i++) {
        if (!lower_read_loop(l, p, at, &loops[i], &at))
            return false;
        for (unsigned k = 0; k < i; k++)
            if (uses_variable(fe, &loops[i].loop, loops[k].loop.iv)) {
                fe_error_at(fe, p->c->place, "'induction' needs a rectangular loop nest");
                return false;
            }
        const char *number = lower_number(fe, &loops[i]), *trip = loops[i].trip;
        x->number =
            i ? arena_printf(fe->a, "((unsigned long)%s * %s + %s)", x->number, trip, number)
              : number;
        x->trip = i ? arena_printf(fe->a, "((unsigned long)%s * %s)", x->trip, trip) : trip;
        x->body = loops[i].loop.body;
    }
    return n > 0;
}

/* ------------------------------------------------------------------ other clauses */
/* Those of them that make a variable the team's own come first. */
static const enum omp_clause_kind sharing[] = { OMPC_PRIVATE,     OMPC_FIRSTPRIVATE, OMPC_REDUCTION,
                                                OMPC_LASTPRIVATE, OMPC_INDUCTION,    OMPC_SHARED };
enum { OWN = 3, SHARING = sizeof sharing / sizeof *sharing };

/* Is the variable an item of one of the first n kinds of clauses, but for the one at a token? */
static bool is_listed(struct fe *fe, const struct fe_pragma *p, const struct omp_var *v, unsigned n,
                      unsigned but)
{
    struct lower_argument a;
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = p->clauses_at; lower_find(fe, p, sharing[i], k, &a);
             k = lower_after(fe, p, &a)) {
            unsigned colon = fe_find_top(fe, p, a.begin, a.end, ":"), end;
            for (unsigned item = colon < a.end ? colon + 1 : a.begin; item < a.end;
                 item = end + 1) {
                const struct omp_ref *r = fe_ref_at(fe, p->tokens[item].begin);
                if (item != but && r && r->var == v)
                    return true;
                end = fe_find_top(fe, p, item, a.end, ",");
            }
        }
    return false;
}

/* Has each team one? */
static bool is_own(struct fe *fe, const struct fe_pragma *teams, const struct omp_ref *r)
{
    return !r || fe_inside(r->var->decl, lower_statement(fe, teams)) ||
           is_listed(fe, teams, r->var, OWN, teams->ntokens);
}

/* A variable that all teams count in, 0 before them; NULL: there was an error. */
static const char *count_teams(struct lowering *l, const struct fe_pragma *p,
                               const struct fe_pragma *teams)
{
    struct fe *fe = l->fe;
    struct lower_argument a;
    const char *name = lower_name(l, "teams");
    const struct fe_pragma *target = lower_around(fe, p, OMPL_TARGET),
                           *first = target ? target : teams;
    if (lower_find(fe, first, OMPC_NOWAIT, first->clauses_at, &a)) {
        fe_unsupported(fe, p->c->place, UNSUPPORTED_CLAUSE, "induction",
                       "distribute inside teams with nowait");
        return NULL;
    }
    lower_declare_around(l, first, arena_printf(fe->a, "unsigned %s = 0;", name));
    if (target)
        lower_add_clause(l, target, "map", name);
    if (teams != target && lower_find(fe, teams, OMPC_DEFAULT, teams->clauses_at, &a))
        lower_add_clause(l, teams, "shared", name);
    return name;
}

/* ------------------------------------------------------------------ the clause */
static bool read_argument(struct lowering *l, struct fe_pragma *p, const struct lower_argument *a,
                          struct induced *x)
{
    struct fe *fe = l->fe;
    unsigned colon = fe_find_top(fe, p, a->begin, a->end, ":");
    *x = (struct induced){ .step = NULL, .items = colon + 1, .end = a->end };
    for (unsigned k = a->begin, end; k < colon; k = end + 1) {
        end = fe_find_top(fe, p, k, colon, ",");
        enum omp_keyword word = lower_keyword(fe, p, k);
        if (word == OMPK_STEP && fe_word_at(fe, p, k + 1, "("))
            x->step = lower_tokens(fe, p, k + 2, end - 1);
        else if (end == k + 1 && (end == colon || (word != OMPK_STRICT && word != OMPK_RELAXED)))
            x->op = x->op ? "" : lower_tokens(fe, p, k, end);
    }
    if (x->step && x->op && (isalpha((unsigned char)*x->op) || strchr("_+*", *x->op)) && *x->op)
        return true;
    fe_unsupported(fe, p->c->place, UNSUPPORTED_MODIFIER,
                   lower_tokens(fe, p, a->begin, colon < a->end ? colon : a->end), "induction");
    return false;
}

/* x after k steps; NULL: there was an error. */
static const char *induce(struct lowering *l, const struct fe_pragma *p, unsigned item,
                          const struct induced *x, const char *name, const char *k)
{
    if (*x->op == '+' || *x->op == '*')
        return after_steps(l, lower_tokens(l->fe, p, item, item + 1), x, name, k);
    return after_user_steps(l, p, item, x, name, k);
}

/* What the loop gets. */
struct text {
    const char *before; /* the body */
    const char *after;  /* the loop; `by_last`: done by the last of all teams */
    const char *by_last;
};

static bool add_items(struct lowering *l, struct fe_pragma *p, const struct induced *x,
                      const struct nest *loops, const struct fe_pragma *teams, struct text *t)
{
    struct fe *fe = l->fe;
    for (unsigned k = x->items, end; k < x->end; k = end + 1) {
        end = fe_find_top(fe, p, k, x->end, ",");
        const char *item = lower_tokens(fe, p, k, end), *first = lower_name(l, "v"),
                   *last = lower_name(l, "v");
        CXType element = clang_getArrayElementType(clang_getCanonicalType(type_of(fe, p, k)));
        if (end != k + 1 || element.kind != CXType_Invalid) {
            fe_unsupported(fe, fe_place(fe->u, p->tokens[k].begin), UNSUPPORTED_LIST_ITEM, item,
                           "induction");
            return false;
        }
        const struct omp_ref *r = fe_ref_at(fe, p->tokens[k].begin);
        if (r && is_listed(fe, p, r->var, SHARING, k)) {
            fe_error(fe, p->tokens[k].begin, "'%s' is in another data-sharing clause, too", item);
            return false;
        }
        const char *begins = induce(l, p, k, x, first, loops->number),
                   *ends = induce(l, p, k, x, last, loops->trip);
        if (!begins || !ends)
            return false;
        t->before = arena_printf(fe->a, "%s %s __typeof__(%s) %s = %s;", t->before, begins, item,
                                 item, first);
        const char **after = teams && !is_own(fe, teams, r) ? &t->by_last : &t->after;
        *after = arena_printf(fe->a, "%s {%s %s = %s;}", *after, ends, item, last);
    }
    return true;
}

/* What the body reads is the original: it has an attribute where `default` wants one for each
 * variable.  Tasks, which may run later (nogroup), have its value. */
static const char *attribute_of(struct fe *fe, const struct fe_pragma *p, const struct induced *x)
{
    struct lower_argument a;
    bool task = p->c->leaves & OMPL_TASKLOOP;
    if (!task && !lower_find(fe, p, OMPC_DEFAULT, p->clauses_at, &a))
        return "";
    return arena_printf(fe->a, " %s(%s)", task ? "firstprivate" : "shared",
                        lower_tokens(fe, p, x->items, x->end));
}

/* The thread that generates the tasks, of those that encounter the construct. */
static const char *by_masked(struct fe *fe, const struct fe_pragma *p, const char *after)
{
    struct lower_argument a;
    const char *line = p->c->leaves & OMPL_MASTER ? "omp master" : "omp masked";
    if (lower_find(fe, p, OMPC_FILTER, p->clauses_at, &a))
        line = arena_printf(fe->a, "%s filter(%s)", line, lower_tokens(fe, p, a.begin, a.end));
    return arena_printf(fe->a, "%s{%s}", lower_line(fe, line, p->extent.begin), after);
}

/* The original's new value is stored once by a team that shares out a loop, when all of its threads
 * have read the old one. */
static const char *once(struct fe *fe, const struct fe_pragma *p, const char *after)
{
    struct lower_argument a;
    const char *barrier = "";
    if (p->c->leaves & OMPL_PARALLEL)
        return after;
    if (p->c->leaves & (OMPL_MASTER | OMPL_MASKED))
        return by_masked(fe, p, after);
    if (!(p->c->leaves & OMPL_FOR))
        return after;
    if (lower_find(fe, p, OMPC_NOWAIT, p->clauses_at, &a))
        barrier = lower_line(fe, "omp barrier", p->extent.begin);
    return arena_printf(fe->a, "%s%s{%s}", barrier, lower_line(fe, "omp single", p->extent.begin),
                        after);
}

/* Nothing else orders the teams, each of which has to read the original's old value. */
static const char *by_last_team(struct fe *fe, const char *count, const char *after)
{
    return arena_printf(fe->a,
                        "{ extern int omp_get_num_teams(void); if (__atomic_add_fetch(&%s, 1, "
                        "%d) %% (unsigned)omp_get_num_teams() == 0) {%s} }",
                        count, __ATOMIC_ACQ_REL, after);
}

static bool is_inside_teams(const struct fe_pragma *p)
{
    return p->c->leaves & OMPL_DISTRIBUTE && !(p->c->leaves & OMPL_TEAMS);
}

void lower_induction(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct lower_argument a;
    struct nest x;
    struct text t = { "", "", "" };
    const char *line = lower_without(fe, p, OMPC_INDUCTION), *count = NULL;
    const struct fe_pragma *teams = is_inside_teams(p) ? lower_around(fe, p, OMPL_TEAMS) : NULL;
    if (is_inside_teams(p) && !teams) {
        fe_unsupported(fe, p->c->place, UNSUPPORTED_CLAUSE, "induction",
                       "distribute whose teams are in another function");
        return;
    }
    if (!p->found || !read_nest(l, p, &x))
        return;
    for (unsigned k = p->clauses_at; lower_find(fe, p, OMPC_INDUCTION, k, &a);
         k = lower_after(fe, p, &a)) {
        struct induced one;
        if (!read_argument(l, p, &a, &one) || !add_items(l, p, &one, &x, teams, &t))
            return;
        line = arena_printf(fe->a, "%s%s", line, attribute_of(fe, p, &one));
    }
    if (*t.by_last && !(count = count_teams(l, p, teams)))
        return;
    if (*t.by_last)
        t.after = arena_printf(fe->a, "%s %s", t.after, by_last_team(fe, count, t.by_last));
    struct omp_extent e = lower_statement(fe, p);
    struct omp_extent head = { p->extent.end, x.body.begin }, tail = { x.body.end, e.end };
    lower_replace(
        l, e,
        arena_printf(fe->a, "{%s%s { %s {%s} } %s %s }", lower_line(fe, line, p->extent.begin),
                     lower_text(fe, head), t.before, lower_text(fe, x.body),
                     tail.begin < tail.end ? lower_text(fe, tail) : "", once(fe, p, t.after)));
}

/* ------------------------------------------------------------------ declare induction */
bool lower_is_unused_induction(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    (void)p;
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        if ((fe->pragmas.at[i].c->leaves & LOOPS) &&
            lower_find(fe, &fe->pragmas.at[i], OMPC_INDUCTION, fe->pragmas.at[i].clauses_at, &a))
            return false;
    return true;
}

void lower_declare_induction(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    for (unsigned i = 0; i < p->noperands; i++) {
        const struct fe_operand *o = &fe->operands.at[p->first_operand + i];
        if (!o->found)
            fe_error(fe, o->text.begin, "'%s' is not an expression of omp_var, omp_step, omp_idx",
                     fe_text(fe, o->text));
    }
    if (p->noperands < 2)
        fe_error_at(fe, p->c->place, "'declare induction' needs types, 'inductor' and 'collector'");
    fe_add_edit(fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
                fe_newlines_of(fe, p->extent));
}
