/* lanes.c - loops of a league, or of a team, whose iterations, the rows, may each be run by several
 * lanes of a warp.
 *
 *      #pragma omp target teams distribute parallel for
 *      for (int i = 0; i < n; i++) {                 row = thread of the league / L
 *          double s = 0;                             all L lanes
 *          #pragma omp simd reduction(+: s)
 *          for (int k = e[i]; k < e[i + 1]; k++)     lane, lane + L, lane + 2L …
 *              s += a[k] * x[c[k]];                  … then all lanes have the sum
 *          y[i] = s;                                 one lane
 *      }
 *
 * One thread a row reads a[k] of 32 rows at a time, each in a line of memory of its own; lanes read
 * what lies side by side.  The lanes of a row run the same statements with the same values, so that
 * nothing has to be handed from one to another; what only one may do, stores and calls, has a
 * guard, before and after which the lanes wait for each other (codegen/c/device/lanes.c).
 *
 * The inner loop may also be that of a `parallel for` (inner.c), which has one thread otherwise.
 *
 * Such a kernel is a form beside the usual one.  The clause simdlen says how many lanes there are,
 * or the host chooses (hostrt/core/lanes.c), where it knows how long the inner loops are: from
 * their bounds, or from an array of row pointers, as in the example: e[n] - e[0] in all.
 *
 * A `parallel for` of a team, as in the third level of `teams distribute`, `parallel for`, `simd`,
 * has the form beside the usual one in its kernel.  Where there are fewer rows than threads, those
 * that would have none help with the others'.
 *
 * In: constructs with their loops, data-sharing and modes.  Out: `lanes` of the loops, `by_lanes`
 * and `stores` of the constructs inside, `guards` of the unit. */
#include "frontend/lanes/lanes.h"
#include <stdlib.h>

enum { WARP = 32, MOST_COST = 150 };

/* ------------------------------------------------------------------ the loop around */
static const enum omp_clause_kind fixing[] = {
    OMPC_LINEAR,   OMPC_LASTPRIVATE,  OMPC_ORDERED,       OMPC_COPYIN,
    OMPC_SCHEDULE, OMPC_IN_REDUCTION, OMPC_DIST_SCHEDULE,
};

/* Clauses that give threads or iterations a meaning that lanes would change. */
static void check_clauses(struct lanes_row *r, const struct omp_construct *c)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next) {
        bool fixes = k->kind == OMPC_IF && k->if_leaf && k->if_leaf != OMPL_TARGET;
        for (unsigned i = 0; i < sizeof fixing / sizeof *fixing; i++)
            fixes |= k->kind == fixing[i];
        fixes |= k->kind == OMPC_REDUCTION && k->keyword != OMPK_NONE;
        for (unsigned i = 0; k->kind == OMPC_REDUCTION && i < k->nitems; i++)
            fixes |= k->items[i].nsections || !k->items[i].var ||
                     k->items[i].var->type->kind == OMPT_ARRAY;
        if (fixes)
            lanes_refuse(r, k->extent.begin, "the loop around it has '%s'",
                         fe_clause_rows[k->kind].spelling);
    }
}

static void check_loop(struct lanes_row *r)
{
    const struct omp_construct *c = r->loop, *last = r->parallel ? r->parallel : fe_target_of(c);
    for (const struct omp_construct *p = c; p; p = p == last ? NULL : p->parent)
        check_clauses(r, p);
    if (c->scan || c->cancelled || c->ninner || !c->nloops)
        lanes_refuse(r, c->pragma.begin,
                     "the loop around it has a scan, is cancelled, or is no "
                     "plain nest");
    for (unsigned i = 0; i < c->nloops; i++)
        if (c->loops[i].outer)
            lanes_refuse(r, c->pragma.begin, "the loop around it is not rectangular");
    for (unsigned i = 0; i < c->nsharings; i++)
        if (c->sharings[i].lastprivate || c->sharings[i].share == OMPSH_LINEAR)
            lanes_refuse(r, c->pragma.begin, "the loop around it has a last value of '%s'",
                         c->sharings[i].var->name);
    if (fe_shows_team(r->fe, NULL, r->body))
        lanes_refuse(r, r->body.begin,
                     "it calls a function that may ask which thread it runs in, "
                     "or wait for others");
}

/* Each construct inside is one that has been read. */
static void check_constructs(struct lanes_row *r)
{
    unsigned n = 0;
    for (const struct omp_construct *k = r->loop->child; k; k = k->next, n++)
        if (n >= r->found.n)
            lanes_refuse(r, k->pragma.begin, "it contains '%s'", k->spelling);
}

/* ------------------------------------------------------------------ how many lanes */
static unsigned power_below(int64_t n)
{
    unsigned lanes = 1;
    while (lanes < WARP && (int64_t)lanes * 2 <= n)
        lanes *= 2;
    return lanes;
}

static void take_lengths(struct lanes_row *r, struct omp_lanes *to)
{
    to->most = WARP;
    for (unsigned i = 0; i < r->found.n; i++) {
        const struct omp_clause *length = fe_clause(r->found.at[i], OMPC_SIMDLEN),
                                *safe = fe_clause(r->found.at[i], OMPC_SAFELEN);
        unsigned wanted = length ? power_below(length->value) : 0,
                 most = safe ? power_below(safe->value) : WARP;
        to->length = wanted && (!to->length || wanted < to->length) ? wanted : to->length;
        to->most = most < to->most ? most : to->most;
        if (!to->inner && lanes_is_inner(r->found.at[i]))
            to->inner = r->found.at[i];
    }
    to->length = to->length < to->most ? to->length : to->most;
    if (to->most < 2 || to->length == 1)
        lanes_refuse(r, to->inner->pragma.begin, "'%s' says that it takes one lane",
                     to->most < 2 ? "safelen" : "simdlen");
    if (!r->unsuited && r->cost > MOST_COST)
        r->unsuited = "each lane would do all that is not in the inner loop, which is much";
    if (r->unsuited && !to->length)
        lanes_refuse(r, to->inner->pragma.begin, "%s", r->unsuited);
}

/* ------------------------------------------------------------------ row pointers */
/* The initial value of a variable of the row that keeps it. */
static CXCursor value_of(const struct lanes_row *r, CXCursor c)
{
    struct fe *fe = r->fe;
    for (;;) {
        c = fe_strip(fe, c);
        CXCursor decl = clang_getCursorReferenced(c);
        struct omp_var *v =
            clang_getCursorKind(c) == CXCursor_DeclRefExpr ? fe_var_of(fe, decl) : NULL;
        CXCursor init = v ? clang_Cursor_getVarDeclInitializer(decl) : clang_getNullCursor();
        if (!v || !fe_inside(v->decl, r->body) || fe_is_written(fe, r->body, v) ||
            clang_Cursor_isNull(init))
            return c;
        c = init;
    }
}

static bool is_row_number(const struct lanes_row *r, CXCursor c)
{
    c = fe_strip(r->fe, c);
    return clang_getCursorKind(c) == CXCursor_DeclRefExpr &&
           fe_var_of(r->fe, clang_getCursorReferenced(c)) == r->loop->loops[0].iv;
}

/* i + n: n; false: it is none. */
static bool read_subscript(const struct lanes_row *r, CXCursor c, int64_t *n)
{
    fe_cursors v = { 0 };
    c = fe_strip(r->fe, c);
    *n = 0;
    if (is_row_number(r, c))
        return true;
    fe_children(r->fe, c, &v);
    enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(c);
    bool sum = op == CXBinaryOperator_Add, difference = op == CXBinaryOperator_Sub;
    if (clang_getCursorKind(c) != CXCursor_BinaryOperator || v.n != 2 || !(sum || difference))
        return false;
    bool swapped = sum && is_row_number(r, v.at[1]);
    struct omp_expr x = fe_expr(r->fe, v.at[!swapped]);
    *n = difference ? -x.value : x.value;
    return x.is_constant && is_row_number(r, v.at[swapped]);
}

/* e[i + n]: e. */
static struct omp_var *read_element(const struct lanes_row *r, CXCursor c, int64_t *n)
{
    fe_cursors v = { 0 };
    if (clang_Cursor_isNull(c))
        return NULL;
    c = value_of(r, c);
    fe_children(r->fe, c, &v);
    if (clang_getCursorKind(c) != CXCursor_ArraySubscriptExpr || v.n != 2 ||
        !read_subscript(r, v.at[1], n))
        return NULL;
    CXCursor base = fe_strip(r->fe, v.at[0]);
    return clang_getCursorKind(base) == CXCursor_DeclRefExpr
               ? fe_var_of(r->fe, clang_getCursorReferenced(base))
               : NULL;
}

static bool counts_up(const struct omp_construct *c)
{
    const struct omp_loop *l = &c->loops[0];
    bool one = !l->step.extent.end || (l->step.is_constant && l->step.value == 1);
    return c->nloops == 1 && one && !l->step_negative && l->iv->type->kind == OMPT_INT;
}

static bool is_of_integers(const struct omp_var *v)
{
    const struct omp_type *t = v->type;
    bool has = t->kind == OMPT_POINTER || t->kind == OMPT_ARRAY;
    return has && t->elem && t->elem->kind == OMPT_INT &&
           (t->elem->size == sizeof(int) || t->elem->size == sizeof(long));
}

static void find_rows(const struct lanes_row *r, struct omp_lanes *to)
{
    int64_t first, after;
    const struct omp_loop *l = &to->inner->loops[0];
    struct omp_var *e = read_element(r, r->lower, &first);
    bool steps = (!l->step.extent.end || (l->step.is_constant && l->step.value == 1)) &&
                 !l->step_negative && l->rel == OMPREL_LT;
    if (!e || read_element(r, r->upper, &after) != e || after != first + 1 || !steps ||
        !counts_up(r->loop) || !is_of_integers(e) || fe_inside(e->decl, fe_whole(r->loop)))
        return;
    to->rows = e;
    to->first = first;
}

/* ------------------------------------------------------------------ all of them */
static bool has_inner(const struct omp_construct *c)
{
    for (const struct omp_construct *k = c->child; k; k = k->next)
        if (lanes_is_inner(k))
            return true;
    return false;
}

/* But for the brace. */
static bool ends_body(const struct lanes_row *r, unsigned offset)
{
    const struct omp_unit *u = r->fe->u;
    unsigned next = offset < r->body.end ? fe_skip_blank(u, offset) : offset;
    return next >= r->body.end || (next + 1 == r->body.end && u->text[next] == '}');
}

static void publish(struct lanes_row *r)
{
    for (unsigned i = 0; i < r->found.n; i++)
        r->found.at[i]->by_lanes = true;
    for (unsigned i = 0; i < r->guards.n; i++) {
        struct omp_guard *g = VEC_PUSH(r->fe->a, &r->fe->guards);
        *g = r->guards.at[i];
        g->last = g->last && ends_body(r, g->extent.end);
    }
}

/* parallel: of a team's loop, or NULL. */
static void read_row(struct fe *fe, const struct fe_pragma *p, const struct omp_construct *parallel)
{
    struct lanes_row r = { .fe = fe, .loop = p->c, .parallel = parallel };
    struct omp_lanes *lanes = arena_alloc(fe->a, sizeof *lanes);
    r.body = p->c->loops[p->c->nloops - 1].body;
    *lanes = (struct omp_lanes){ .team = parallel, .place = p->c->place };
    check_loop(&r);
    if (!r.why)
        lanes_statement(&r, p->loop_body);
    if (!r.why)
        check_constructs(&r);
    if (!r.why)
        take_lengths(&r, lanes);
    if (!r.why)
        find_rows(&r, lanes);
    lanes->why = r.why;
    lanes->place = r.why ? r.place : lanes->place;
    p->c->lanes = lanes;
    if (!r.why)
        publish(&r);
}

static const struct fe_pragma *pragma_of(const struct fe *fe, const struct omp_construct *c)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        if (fe->pragmas.at[i].c == c && fe->pragmas.at[i].found)
            return &fe->pragmas.at[i];
    return NULL;
}

static int by_begin(const void *a, const void *b)
{
    const struct omp_guard *x = a, *y = b;
    return (x->extent.begin > y->extent.begin) - (x->extent.begin < y->extent.begin);
}

static void read_league(struct fe *fe, const struct omp_construct *target)
{
    const unsigned leaves = OMPL_TEAMS | OMPL_DISTRIBUTE | OMPL_PARALLEL | OMPL_FOR;
    struct omp_construct *c = target->spmd_inner;
    const struct fe_pragma *p = c ? pragma_of(fe, c) : NULL;
    unsigned all = 0;
    for (const struct omp_construct *k = c; k; k = k == target ? NULL : k->parent)
        all |= k->leaves;
    if (p && (all & ~(unsigned)OMPL_TARGET) == leaves && (c->leaves & OMPL_FOR) && c->nloops &&
        has_inner(c))
        read_row(fe, p, NULL);
}

/* The only parallel region around the loop, where nothing but teams and what they share is around
 * that; NULL: it is another loop. */
static const struct omp_construct *region_of_team(const struct omp_construct *c)
{
    const unsigned around = OMPL_TARGET | OMPL_TEAMS | OMPL_DISTRIBUTE | OMPL_PARALLEL;
    const struct omp_construct *target = fe_target_of(c), *parallel = NULL;
    if (!target || !(c->leaves & OMPL_FOR) || (c->leaves & OMPL_DISTRIBUTE))
        return NULL;
    for (const struct omp_construct *k = c; k; k = k == target ? NULL : k->parent) {
        bool more = (k->leaves & OMPL_PARALLEL) && parallel;
        if (more || (k->leaves & ~(around | (k == c ? (unsigned)OMPL_FOR : 0))))
            return NULL;
        parallel = k->leaves & OMPL_PARALLEL ? k : parallel;
    }
    return parallel;
}

static void read_team(struct fe *fe, const struct omp_construct *c)
{
    const struct omp_construct *parallel = region_of_team(c);
    const struct fe_pragma *p = parallel && c->nloops && has_inner(c) ? pragma_of(fe, c) : NULL;
    if (p)
        read_row(fe, p, parallel);
}

void fe_find_lanes(struct fe *fe)
{
    struct omp_unit *u = fe->u;
    for (unsigned i = 0; i < u->nconstructs; i++) {
        read_league(fe, u->constructs[i]);
        read_team(fe, u->constructs[i]);
    }
    if (fe->guards.n)
        qsort(fe->guards.at, fe->guards.n, sizeof *fe->guards.at, by_begin);
}
