/* inner.c - a loop in a row that lanes may share: lane i runs its iterations i, i + L, i + 2L …
 *
 * It is a `simd` loop, or the loop of a parallel region of its own.  In the usual form that region
 * has one thread: as many are active as there may be.  Lanes are no threads that could be asked for
 * their number or wait for each other, so that nothing in the loop may do that; and the schedule
 * has to leave open which thread runs an iteration.
 *
 * What an iteration leaves behind is in memory, or is reduced.  A value that only the last
 * iteration gives, or the one before the next, is in no lane but one. */
#include "frontend/lanes/lanes.h"

bool lanes_is_inner(const struct omp_construct *c)
{
    return c->leaves == OMPL_SIMD ||
           (c->leaves & ~(unsigned)OMPL_SIMD) == (OMPL_PARALLEL | OMPL_FOR);
}

/* Iterations of a chunk are one thread's, in order. */
static bool leaves_open(const struct omp_clause *schedule)
{
    const struct omp_expr *chunk = &schedule->expr;
    bool known = schedule->sched == OMPSCHED_NONE || schedule->sched == OMPSCHED_STATIC ||
                 schedule->sched == OMPSCHED_AUTO;
    return known && (!chunk->extent.end || (chunk->is_constant && chunk->value == 1));
}

static bool is_open_to_lanes(const struct omp_clause *k)
{
    switch (k->kind) {
    case OMPC_PRIVATE:
    case OMPC_SHARED:
    case OMPC_DEFAULT:
    case OMPC_REDUCTION:
    case OMPC_COLLAPSE:
    case OMPC_ORDER:
    case OMPC_BIND:
    case OMPC_SAFELEN:
    case OMPC_SIMDLEN:
    case OMPC_ALIGNED:
    case OMPC_NONTEMPORAL: return true;
    case OMPC_SCHEDULE: return leaves_open(k);
    case OMPC_IF: return k->expr.is_constant && k->expr.value;
    default: return false;
    }
}

static bool check_clauses(struct lanes_row *r, const struct omp_construct *c)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next) {
        if (!is_open_to_lanes(k))
            lanes_refuse(r, k->extent.begin, "the inner loop has '%s'",
                         fe_clause_rows[k->kind].spelling);
        for (unsigned i = 0; k->kind == OMPC_REDUCTION && i < k->nitems; i++)
            if (k->keyword != OMPK_NONE || k->items[i].nsections || !k->items[i].var ||
                k->items[i].var->type->kind == OMPT_ARRAY || !k->items[i].var->type->size)
                lanes_refuse(r, k->extent.begin, "the inner loop reduces more than a scalar");
    }
    return !r->why;
}

/* A copy for each lane, or the one of the league's reduction. */
static void check_sharings(struct lanes_row *r, const struct omp_construct *c)
{
    for (unsigned i = 0; i < c->nsharings; i++) {
        const struct omp_sharing *s = &c->sharings[i];
        enum lanes_home home = lanes_home_of(r, s->var);
        bool user = s->item && s->item->udr;
        bool good = s->share == OMPSH_REDUCTION
                        ? home == LANES_OF_ROW || (home == LANES_OF_TALLY && !user)
                        : s->share == OMPSH_SHARED || s->share == OMPSH_PRIVATE;
        if (!good || s->lastprivate)
            lanes_refuse(r, c->pragma.begin,
                         "'%s' of the inner loop has a value that more than "
                         "its iterations need",
                         s->var->name);
    }
}

static bool check_loop(struct lanes_row *r, const struct omp_construct *c)
{
    const struct omp_loop *l = c->loops;
    if (c->nloops != 1 || c->ninner || c->scan || c->child)
        lanes_refuse(r, c->pragma.begin,
                     c->child ? "the inner loop contains a construct"
                              : "the inner loop is a nest, or has a scan");
    else if (!l->iv_declared || l->iv->type->kind != OMPT_INT)
        lanes_refuse(r, l->extent.begin, "the inner loop's variable is not an integer of its own");
    else if (!l->lb.is_pure || !l->ub.is_pure || (l->step.extent.end && !l->step.is_pure))
        lanes_refuse(r, l->extent.begin, "the inner loop's bounds do more than compute");
    return !r->why;
}

/* What the variable is compared with. */
static CXCursor bound_of(struct lanes_row *r, const struct omp_loop *l, CXCursor test)
{
    fe_cursors v = { 0 };
    fe_children(r->fe, fe_strip(r->fe, test), &v);
    for (unsigned i = 0; i < v.n; i++)
        if (fe_extent(r->fe, v.at[i]).begin == l->ub.extent.begin)
            return v.at[i];
    return clang_getNullCursor();
}

static void note_bounds(struct lanes_row *r, const struct omp_loop *l, const fe_cursors *parts)
{
    fe_cursors v = { 0 };
    fe_children(r->fe, parts->at[0], &v);
    if (r->found.n || v.n != 1)
        return;
    r->lower = clang_Cursor_getVarDeclInitializer(v.at[0]);
    r->upper = bound_of(r, l, parts->at[1]);
}

void lanes_inner(struct lanes_row *r, struct omp_construct *c, CXCursor statement)
{
    fe_cursors v = { 0 };
    if (!check_clauses(r, c) || !check_loop(r, c))
        return;
    check_sharings(r, c);
    fe_children(r->fe, statement, &v);
    if (clang_getCursorKind(statement) != CXCursor_ForStmt || v.n != 4) {
        lanes_refuse(r, c->pragma.begin, "the inner loop has an unusual form");
        return;
    }
    note_bounds(r, c->loops, &v);
    r->within = c;
    for (unsigned i = 0; i < 3; i++)
        lanes_statement(r, v.at[i]);
    r->inner = c;
    r->accesses.n = 0;
    lanes_statement(r, v.at[3]);
    lanes_check_order(r);
    if (!r->unsuited && !lanes_suit(r))
        r->unsuited = "consecutive iterations of the inner loop are not side by side in memory";
    r->within = r->inner = NULL;
    *VEC_PUSH(r->fe->a, &r->found) = c;
}
