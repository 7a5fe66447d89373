/* nest.c - tile, stripe, unroll, reverse and interchange: other loops over the same iterations.
 *
 * The iterations of each loop are numbered.  The generated loops count, and the body sets the
 * user's variables from the number that the counters make:
 *
 *     #pragma omp tile sizes(4)         for (unsigned f = 0; f < trip / 4 + (trip % 4 != 0); f++)
 *     for (int i = a; i < b; i += s)      for (unsigned t = 0; t < 4; t++)
 *         body                              if (t < trip - f * 4) { int i = a + (f * 4 + t) * s;
 *                                                                   body }
 *
 * The nest is rectangular, so that a directive around it may collapse any number of its loops. */
#include "frontend/lower/lower.h"
#include <stdlib.h>

struct counter { /* a generated loop */
    const char *name, *count, *type;
};
struct nest {
    struct lowering *l;
    struct fe_pragma *p;
    unsigned n, ncounters;
    struct lower_loop loops[OMP_MAX_LOOPS];
    CXCursor at; /* the body of the last one */
    struct lower_applied applied[2 * OMP_MAX_LOOPS];
    struct counter counters[2 * OMP_MAX_LOOPS];
    const char *number[OMP_MAX_LOOPS]; /* of the iteration, in terms of the counters */
    const char *guard;                 /* "": always true */
    struct omp_extent body;
};

/* ------------------------------------------------------------------ the user's loops */
static bool goes_down(const struct omp_loop *l)
{
    if (l->rel == OMPREL_NE)
        return l->step_negative != (l->step.is_constant && l->step.value < 0);
    return l->rel == OMPREL_GT || l->rel == OMPREL_GE;
}

static const char *trip_of(struct fe *fe, const struct lower_loop *x)
{
    const struct omp_loop *l = &x->loop;
    bool down = goes_down(l), pointer = l->iv->type->kind == OMPT_POINTER;
    const char *lb = fe_text(fe, l->lb.extent), *ub = fe_text(fe, l->ub.extent);
    const char *low = down ? ub : lb, *high = down ? lb : ub;
    const char *distance =
        pointer ? arena_printf(fe->a, "(%s)((%s) - (%s))", x->type, high, low)
                : arena_printf(fe->a, "((%s)(%s) - (%s)(%s))", x->type, high, x->type, low);
    if (l->rel == OMPREL_NE)
        return distance;
    bool equal = l->rel == OMPREL_LE || l->rel == OMPREL_GE;
    const char *step = "";
    if (l->step.extent.end)
        step = arena_printf(fe->a, " / (%s)%s(%s)", x->type, l->step_negative == down ? "" : "-",
                            fe_text(fe, l->step.extent));
    return arena_printf(fe->a, "((%s) %s (%s) ? (%s%s)%s + 1 : 0)", low, equal ? "<=" : "<", high,
                        distance, equal ? "" : " - 1", step);
}

const char *lower_step(struct fe *fe, const struct lower_loop *x, const char *type)
{
    const struct omp_loop *l = &x->loop;
    if (!l->step.extent.end)
        return arena_printf(fe->a, "(%s)%s", type, l->step_negative ? "-1" : "1");
    return arena_printf(fe->a, "(%s)%s(%s)", type, l->step_negative ? "-" : "",
                        fe_text(fe, l->step.extent));
}

/* A directive that privatises the variables of its loops is about them: directly, or with other
 * transformations in between, or as inner loops of those that it collapses. */
static bool is_privatised(struct fe *fe, const struct fe_pragma *p)
{
    const unsigned loops = OMPL_FOR | OMPL_SIMD | OMPL_DISTRIBUTE | OMPL_TASKLOOP | OMPL_LOOP;
    struct lower_argument a;
    for (const struct fe_pragma *q = fe->pragmas.at; q < p; q++)
        if ((q->c->leaves & loops) && q->found && p->extent.begin < lower_statement(fe, q).end &&
            (q->wanted == p->wanted || lower_find(fe, q, OMPC_COLLAPSE, q->clauses_at, &a) ||
             lower_find(fe, q, OMPC_ORDERED, q->clauses_at, &a)))
            return true;
    return false;
}

const char *lower_variable(struct fe *fe, const struct fe_pragma *p, const struct lower_loop *x,
                           const char *k)
{
    const struct omp_loop *l = &x->loop;
    const char *name = l->iv->name, *lb = fe_text(fe, l->lb.extent);
    bool pointer = l->iv->type->kind == OMPT_POINTER;
    const char *type = pointer ? "long" : x->type, *step = lower_step(fe, x, type);
    const char *declares = "";
    if (l->iv_declared || is_privatised(fe, p))
        declares =
            arena_printf(fe->a, "__typeof__(%s) ", l->iv_declared ? l->iv->type->spelling : name);
    return arena_printf(fe->a, "%s%s = %s(%s) + (%s)(%s) * %s;", declares, name,
                        pointer ? "" : arena_printf(fe->a, "(%s)", x->type), lb, type, k, step);
}

/* clang sees another loop: what OpenMP wants of this one is checked here (5.2, 4.4.1). */
static bool check_step(struct fe *fe, const struct lower_loop *x)
{
    const struct omp_loop *l = &x->loop;
    long long value = l->step.extent.end ? l->step.value : 1,
              step = l->step_negative ? -value : value;
    if (l->step.extent.end && !l->step.is_constant)
        return true;
    bool up = l->rel == OMPREL_LT || l->rel == OMPREL_LE,
         down = l->rel == OMPREL_GT || l->rel == OMPREL_GE;
    if (step != 0 && !(up && step < 0) && !(down && step > 0))
        return true;
    fe_error(fe, l->ub.extent.begin,
             "the increment must cause '%s' to %s on each iteration of the loop", l->iv->name,
             up     ? "increase"
             : down ? "decrease"
                    : "change");
    return false;
}

/* inner: in a loop or switch of its own, which a break ends */
static bool check_exits(struct fe *fe, const struct lower_loop *x, CXCursor c, bool inner)
{
    fe_cursors v = { 0 };
    enum CXCursorKind k = clang_getCursorKind(c);
    const char *exit =
        k == CXCursor_ReturnStmt            ? "return"
        : k == CXCursor_BreakStmt && !inner ? "break"
        : k == CXCursor_LabelRef &&
                !fe_inside(fe_location(fe, clang_getCursorReferenced(c)), x->loop.body)
            ? "goto"
            : NULL;
    if (exit) {
        fe_error(fe, fe_begin(fe, c), "'%s' leaves the loop of an OpenMP directive", exit);
        return false;
    }
    inner |= k == CXCursor_ForStmt || k == CXCursor_WhileStmt || k == CXCursor_DoStmt ||
             k == CXCursor_SwitchStmt;
    fe_children(fe, c, &v);
    for (unsigned i = 0; i < v.n; i++)
        if (!check_exits(fe, x, v.at[i], inner))
            return false;
    return true;
}

bool lower_read_loop(struct lowering *l, struct fe_pragma *p, CXCursor at, struct lower_loop *x,
                     CXCursor *body)
{
    *x = (struct lower_loop){ .type = NULL };
    if (!fe_read_loop(l->fe, p, at, &x->loop, body) || !check_step(l->fe, x) ||
        !check_exits(l->fe, x, *body, false))
        return false;
    x->type = x->loop.iv->type->size > 4 ? "unsigned long" : "unsigned";
    x->trip = trip_of(l->fe, x);
    x->down = goes_down(&x->loop);
    return true;
}

/* The first use of an outer loop's variable in the bounds of the next one; NULL: there is none. */
static const struct omp_ref *find_dependence(const struct nest *x)
{
    struct fe *fe = x->l->fe;
    const struct omp_loop *loop = &x->loops[x->n].loop;
    const struct omp_extent parts[] = { loop->lb.extent, loop->ub.extent, loop->step.extent };
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        FE_EACH(ref, fe->refs, parts[i])
            for (unsigned k = 0; k < x->n; k++)
                if (ref->var == x->loops[k].loop.iv)
                    return ref;
    return NULL;
}

/* The variables of others are set only in the new loops. */
static bool is_rectangular(const struct nest *x)
{
    const struct omp_ref *ref = find_dependence(x);
    if (ref)
        fe_error(x->l->fe, ref->offset,
                 "'#pragma omp %s' needs a rectangular loop nest: '%s' changes in a loop outside",
                 x->p->c->spelling, ref->var->name);
    return !ref;
}

/* One more, in the others. */
static bool read_loop(struct nest *x)
{
    if (!x->p->found || !lower_read_loop(x->l, x->p, x->at, &x->loops[x->n], &x->at) ||
        !is_rectangular(x))
        return false;
    x->body = x->loops[x->n++].loop.body;
    return true;
}

static bool read_loops(struct nest *x, unsigned n)
{
    x->at = x->p->stmt;
    while (x->n < n)
        if (!read_loop(x))
            return false;
    return true;
}

/* ------------------------------------------------------------------ generated loops */
static const char *add_counter(struct nest *x, const struct lower_loop *of, const char *count)
{
    const char *name = lower_name(x->l, "k");
    x->counters[x->ncounters++] = (struct counter){ name, count, of->type };
    return name;
}

/* Blocks of that size: the last one may have less. */
static const char *blocks(struct fe *fe, const struct lower_loop *of, const char *size)
{
    return arena_printf(fe->a, "%s / (%s)(%s) + (%s %% (%s)(%s) != 0)", of->trip, of->type, size,
                        of->trip, of->type, size);
}

static void add_guard(struct nest *x, const char *condition)
{
    x->guard = *x->guard ? arena_printf(x->l->fe->a, "%s && %s", x->guard, condition) : condition;
}

/* ------------------------------------------------------------------ apply */
static const struct {
    enum omp_directive directive;
    enum omp_keyword word;
} second_groups[] = { /* the other words are about the first group, or the only one */
                      { OMPDIR_TILE, OMPK_INTRATILE },
                      { OMPDIR_STRIPE, OMPK_GRID }
};

static unsigned first_of_group(const struct fe *fe, const struct fe_pragma *p,
                               const struct fe_token *word, unsigned per_group)
{
    for (unsigned i = 0; i < sizeof second_groups / sizeof *second_groups; i++)
        if (p->c->directive == second_groups[i].directive &&
            fe_keyword(fe, word) == second_groups[i].word)
            return per_group;
    return 0;
}

/* Of what is written as a number. */
static void check_positive(struct fe *fe, const struct fe_pragma *p, unsigned k, unsigned end)
{
    bool negative = fe_word_at(fe, p, k, "-");
    const struct fe_token *t = &p->tokens[k + negative];
    if (k + negative + 1 == end && t->kind == TOK_NUMBER &&
        (negative || strtoull(fe->u->text + t->begin, NULL, 0) == 0))
        fe_error(fe, p->tokens[k].begin, "expected a strictly positive integer value");
}

/* The expressions of the argument of a clause among the tokens [k, stop); their number. */
static unsigned read_sizes(struct lowering *l, const struct fe_pragma *p, enum omp_clause_kind kind,
                           unsigned k, unsigned stop, const char **sizes)
{
    struct lower_argument a;
    unsigned n = 0;
    if (!lower_find(l->fe, p, kind, k, &a) || a.at >= stop)
        return 0;
    for (unsigned t = a.begin, end; t < a.end && n < OMP_MAX_LOOPS; t = end + 1) {
        end = fe_find_top(l->fe, p, t, a.end, ",");
        check_positive(l->fe, p, t, end);
        sizes[n++] = lower_tokens(l->fe, p, t, end);
    }
    return n;
}

/* The loops that the directive at token k is about. */
static unsigned depth_at(struct lowering *l, const struct fe_pragma *p, unsigned k, unsigned stop)
{
    const char *sizes[OMP_MAX_LOOPS];
    unsigned words, n;
    enum omp_directive directive = fe_directive_at(l->fe, p, k, &words);
    bool interchange = directive == OMPDIR_INTERCHANGE;
    if (!interchange && directive != OMPDIR_TILE && directive != OMPDIR_STRIPE)
        return 1;
    n = read_sizes(l, p, interchange ? OMPC_PERMUTATION : OMPC_SIZES, k, stop, sizes);
    return n ? n : 2;
}

/* word(indices): directives, one for each index, or for each loop of the group from the first */
static void read_applied(struct lowering *l, struct fe_pragma *p, const struct lower_argument *a,
                         unsigned per_group, unsigned n, struct lower_applied *applied)
{
    struct fe *fe = l->fe;
    unsigned colon = fe_find_top(fe, p, a->begin, a->end, ":"), k = a->begin, first = 0, index = 0;
    unsigned next = 0, last = 0; /* of the indices */
    if (colon < a->end) {
        first = first_of_group(fe, p, &p->tokens[k], per_group);
        if (fe_word_at(fe, p, k + 1, "("))
            next = k + 2, last = fe_closing(fe, p, k + 1);
        k = colon + 1;
    }
    for (unsigned end; k < a->end; k = end + 1) {
        end = fe_find_top(fe, p, k, a->end, ",");
        if (next < last) {
            unsigned comma = fe_find_top(fe, p, next, last, ",");
            index = (unsigned)strtoul(lower_tokens(fe, p, next, comma), NULL, 10) - 1;
            next = comma + 1;
        }
        unsigned words;
        if (first + index < n && fe_directive_at(fe, p, k, &words) != OMPDIR_NOTHING)
            applied[first + index] =
                (struct lower_applied){ lower_tokens(fe, p, k, end), depth_at(l, p, k, end) };
        index++;
    }
}

void lower_read_apply(struct lowering *l, struct fe_pragma *p, unsigned per_group, unsigned n,
                      struct lower_applied *applied)
{
    struct lower_argument a;
    for (unsigned k = p->clauses_at; lower_find(l->fe, p, OMPC_APPLY, k, &a);
         k = lower_after(l->fe, p, &a))
        read_applied(l, p, &a, per_group, n, applied);
}

const char *lower_apply(struct fe *fe, const struct fe_pragma *p, const struct lower_applied *a)
{
    const char *directive = a->directive;
    return directive ? lower_line(fe, arena_printf(fe->a, "omp %s", directive), p->extent.begin)
                     : "";
}

/* ------------------------------------------------------------------ directives around it */
/* It stands between another directive and the loop: that wants the loop itself. */
static bool is_wanted(const struct fe *fe, const struct fe_pragma *p)
{
    return p > fe->pragmas.at && p[-1].wanted && p[-1].wanted == p->wanted;
}

/* The loops that a directive is about. */
static unsigned loops_of(struct lowering *l, const struct fe_pragma *p)
{
    static const enum omp_clause_kind numbers[] = { OMPC_COLLAPSE, OMPC_ORDERED };
    struct lower_argument a;
    long long n;
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (lower_find(l->fe, p, numbers[i], p->clauses_at, &a) && a.begin > a.at + 1 &&
            fe_constant(l->fe, p, a.begin, a.end, &n) && n > 0)
            return n < OMP_MAX_LOOPS ? (unsigned)n : OMP_MAX_LOOPS;
    return depth_at(l, p, 0, p->ntokens);
}

/* Those that it makes of them. */
static unsigned loops_made(struct lowering *l, const struct fe_pragma *p)
{
    struct lower_argument a;
    enum omp_directive d = p->c->directive;
    bool blocks = d == OMPDIR_TILE || d == OMPDIR_STRIPE ||
                  (d == OMPDIR_UNROLL && lower_find(l->fe, p, OMPC_PARTIAL, p->clauses_at, &a) &&
                   a.begin > a.at + 1);
    return blocks ? 2 * loops_of(l, p) : loops_of(l, p);
}

/* The loops that the directives around this one want of it. */
static unsigned loops_wanted(struct lowering *l, const struct fe_pragma *p)
{
    if (!is_wanted(l->fe, p))
        return 0;
    unsigned outer = loops_wanted(l, p - 1), made = loops_made(l, p - 1);
    return loops_of(l, p - 1) + (outer > made ? outer - made : 0);
}

/* Is there one loop more that is one of a rectangular nest, and whose variable nobody sees after
 * it? */
static bool has_inner_loop(struct nest *x)
{
    struct lower_loop *next = &x->loops[x->n];
    CXCursor at = x->at, body;
    fe_cursors v = { 0 };
    while (clang_getCursorKind(at) == CXCursor_CompoundStmt) {
        fe_children(x->l->fe, at, &v);
        if (v.n != 1)
            return false;
        at = v.at[0];
    }
    return clang_getCursorKind(at) == CXCursor_ForStmt &&
           lower_read_loop(x->l, x->p, x->at, next, &body) && next->loop.iv_declared &&
           !find_dependence(x);
}

static bool add_inner_loop(struct nest *x)
{
    struct lower_loop *of = &x->loops[x->n];
    if (!read_loop(x))
        return false;
    x->number[x->n - 1] = add_counter(x, of, of->trip);
    return true;
}

/* What is applied to the innermost generated loops may be about loops of the user's in them, too,
 * and so may what is around all: those become loops of the nest. */
static bool add_inner_loops(struct nest *x)
{
    unsigned generated = x->ncounters, depth = generated, wanted = loops_wanted(x->l, x->p);
    lower_read_apply(x->l, x->p, x->n, generated, x->applied);
    for (unsigned i = 0; i < generated; i++)
        if (i + x->applied[i].depth > depth)
            depth = i + x->applied[i].depth;
    for (; generated < depth && x->n < OMP_MAX_LOOPS; generated++)
        if (!add_inner_loop(x))
            return false;
    for (; generated < wanted && x->n < OMP_MAX_LOOPS && has_inner_loop(x); generated++)
        if (!add_inner_loop(x))
            return false;
    return true;
}

/* ------------------------------------------------------------------ the new text */
static const char *loop_headers(struct nest *x)
{
    struct fe *fe = x->l->fe;
    const char *text = "";
    for (unsigned i = 0; i < x->ncounters; i++) {
        const struct counter *c = &x->counters[i];
        text = arena_printf(fe->a, "%s%s for (%s %s = 0; %s < %s; %s++)", text,
                            lower_apply(fe, x->p, &x->applied[i]), c->type, c->name, c->name,
                            c->count, c->name);
    }
    return text;
}

static void write_nest(struct nest *x)
{
    struct fe *fe = x->l->fe;
    const char *variables = "";
    for (unsigned i = 0; i < x->n; i++)
        variables = arena_printf(fe->a, "%s %s", variables,
                                 lower_variable(fe, x->p, &x->loops[i], x->number[i]));
    const char *guard = *x->guard ? arena_printf(fe->a, "if (%s) ", x->guard) : "";
    lower_replace(x->l, lower_statement(fe, x->p),
                  arena_printf(fe->a, "%s%s { %s{%s {%s}}}", fe_marker(fe, x->p->c->place, true),
                               loop_headers(x), guard, variables, lower_text(fe, x->body)));
}

/* ------------------------------------------------------------------ one function a directive */
/* Blocks of iterations: the loops over the blocks, and those in a block.  tile has those over the
 * blocks outside, stripe those over the places in a block. */
static void make_blocks(struct nest *x, const char **sizes, bool blocks_outside)
{
    struct fe *fe = x->l->fe;
    const char *block[OMP_MAX_LOOPS], *place[OMP_MAX_LOOPS];
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < x->n; i++) {
            const struct lower_loop *of = &x->loops[i];
            if ((pass == 0) == blocks_outside)
                block[i] = add_counter(x, of, blocks(fe, of, sizes[i]));
            else
                place[i] = add_counter(x, of, arena_printf(fe->a, "(%s)(%s)", of->type, sizes[i]));
        }
    for (unsigned i = 0; i < x->n; i++) {
        const char *before =
            arena_printf(fe->a, "%s * (%s)(%s)", block[i], x->loops[i].type, sizes[i]);
        x->number[i] = arena_printf(fe->a, "%s + %s", before, place[i]);
        add_guard(x, arena_printf(fe->a, "%s < %s && %s < %s - %s", before, x->loops[i].trip,
                                  place[i], x->loops[i].trip, before));
    }
}

static void make_reverse(struct nest *x)
{
    const struct lower_loop *of = &x->loops[0];
    x->number[0] = arena_printf(x->l->fe->a, "%s - 1 - %s", of->trip, add_counter(x, of, of->trip));
}

static void make_interchange(struct nest *x)
{
    struct lower_argument a;
    bool given = lower_find(x->l->fe, x->p, OMPC_PERMUTATION, x->p->clauses_at, &a);
    for (unsigned i = 0, t = a.begin, end; i < x->n; i++, t = end + 1) {
        long long k = x->n - i;
        end = given ? fe_find_top(x->l->fe, x->p, t, a.end, ",") : t;
        if (given && !fe_constant(x->l->fe, x->p, t, end, &k))
            k = 0;
        if (k > 0 && k <= x->n && !x->number[k - 1])
            x->number[k - 1] = add_counter(x, &x->loops[k - 1], x->loops[k - 1].trip);
    }
    for (unsigned i = 0; i < x->n; i++)
        if (!x->number[i]) {
            fe_error_at(x->l->fe, x->p->c->place,
                        "the argument of 'permutation' is no permutation of the loops");
            x->number[i] = "0";
        }
}

void lower_nest(struct lowering *l, struct fe_pragma *p)
{
    struct nest x = { .l = l, .p = p, .guard = "" };
    const char *sizes[OMP_MAX_LOOPS];
    bool interchange = p->c->directive == OMPDIR_INTERCHANGE;
    bool reverse = p->c->directive == OMPDIR_REVERSE;
    unsigned n = read_sizes(l, p, interchange ? OMPC_PERMUTATION : OMPC_SIZES, p->clauses_at,
                            p->ntokens, sizes);
    if (!read_loops(&x, reverse ? 1 : n ? n : 2))
        return;
    if (reverse)
        make_reverse(&x);
    else if (interchange)
        make_interchange(&x);
    else if (n)
        make_blocks(&x, sizes, p->c->directive == OMPDIR_TILE);
    if (add_inner_loops(&x))
        write_nest(&x);
}

static void check_full(struct nest *x)
{
    struct fe *fe = x->l->fe;
    if (is_wanted(fe, x->p)) {
        fe_error_at(fe, x->p->c->place,
                    "'#pragma omp unroll full' leaves no loop for the directive before it");
        return;
    }
    const struct omp_loop *loop = read_loops(x, 1) ? &x->loops[0].loop : NULL;
    if (loop && !(loop->lb.is_constant && loop->ub.is_constant))
        fe_error_at(fe, loop->place, "loop to be fully unrolled must have a constant trip count");
}

/* Without a factor, or in full, it is a hint. */
void lower_unroll(struct lowering *l, struct fe_pragma *p)
{
    struct nest x = { .l = l, .p = p, .guard = "" };
    struct lower_argument a;
    const char *sizes[OMP_MAX_LOOPS];
    if (!lower_find(l->fe, p, OMPC_PARTIAL, p->clauses_at, &a) || a.begin == a.at + 1) {
        bool full = lower_find(l->fe, p, OMPC_FULL, p->clauses_at, &a);
        if (full)
            check_full(&x);
        const char *hint = full ? "clang loop unroll(full)" : "clang loop unroll(enable)";
        fe_add_edit(l->fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
                    is_wanted(l->fe, p) ? fe_newlines_of(l->fe, p->extent)
                                        : lower_line(l->fe, hint, p->extent.end));
        return;
    }
    if (read_sizes(l, p, OMPC_PARTIAL, p->clauses_at, p->ntokens, sizes) != 1 || !read_loops(&x, 1))
        return;
    make_blocks(&x, sizes, true);
    if (add_inner_loops(&x))
        write_nest(&x);
}
