/* threads.c - loops that leave most of the device idle: on one of its threads, or on one team.
 *
 * Said where the loop is long, or nothing is known of its length: what initialises a few elements
 * is well where it is.  What asks for the team, as omp_get_thread_num() does, means one. */
#include "frontend/mistakes/mistakes.h"

enum { LONG = 65536 }; /* iterations: about as many threads as a GPU runs at a time */

static bool may_be_long(int64_t length) { return length < 0 || length >= LONG; }

/* ------------------------------------------------------------------ one thread */
struct body { /* of a `for` in a region */
    struct fe *fe;
    const struct omp_construct *target;
    const struct fe_for *loop;
    struct omp_extent extent;
    fe_accesses all;
};

static bool is_own(const struct body *b, const struct omp_var *v)
{
    return fe_inside(v->decl, b->extent);
}

/* a[i], a[i][…] */
static bool is_by_iv(const struct body *b, const struct fe_access *a)
{
    struct fe *fe = b->fe;
    if (!a->nsubscripts || clang_Cursor_isNull(a->subscripts[0]))
        return false;
    CXCursor c = fe_strip(fe, a->subscripts[0]);
    return clang_getCursorKind(c) == CXCursor_DeclRefExpr &&
           fe_var_of(fe, clang_getCursorReferenced(c)) == b->loop->iv;
}

static bool is_written(const struct body *b, const struct omp_var *v)
{
    for (unsigned i = 0; i < b->all.n; i++)
        if (b->all.at[i].var == v && (b->all.at[i].how & FE_WRITE))
            return true;
    return false;
}

/* Each iteration sets elements of its own of what the region shares with the host; nothing is
 * carried from one to the next, and no array is too small for many iterations. */
static bool fills_array(const struct body *b)
{
    bool fills = false;
    for (unsigned i = 0; i < b->all.n; i++) {
        const struct fe_access *a = &b->all.at[i];
        if ((a->how & (FE_GIVEN | FE_LENT)) || (is_by_iv(b, a) && !may_be_long(a->room)))
            return false;
        if (is_own(b, a->var) || !is_written(b, a->var))
            continue;
        if (!is_by_iv(b, a))
            return false;
        fills |= !fe_inside(a->var->decl, b->target->body);
    }
    return fills;
}

static bool check_loop(struct fe *fe, const struct omp_construct *c, CXCursor at)
{
    struct fe_for f = fe_read_for(fe, at);
    struct body b = { fe, c, &f, fe_extent(fe, f.body), { 0 } };
    if (!f.iv || !may_be_long(f.length))
        return false;
    fe_find_accesses(fe, f.body, &b.all);
    if (!fills_array(&b))
        return false;
    fe_warn(fe, WARN_ONE_THREAD, fe_begin(fe, at),
            "this loop runs on one thread of the device: no construct of the region shares its "
            "iterations, as 'teams distribute parallel for' does");
    return true;
}

static bool find_loop(struct fe *fe, const struct omp_construct *c, CXCursor at)
{
    fe_cursors v = { 0 };
    if (clang_getCursorKind(at) == CXCursor_ForStmt && check_loop(fe, c, at))
        return true;
    fe_children(fe, at, &v);
    for (unsigned i = 0; i < v.n; i++)
        if (find_loop(fe, c, v.at[i]))
            return true;
    return false;
}

static bool is_sequential(const struct omp_construct *c)
{
    for (const struct omp_construct *x = c->child; x; x = x->next)
        if (x->leaves & ~(unsigned)(OMPL_SIMD | OMPL_ATOMIC))
            return false;
    return !(c->leaves & ~(unsigned)(OMPL_TARGET | OMPL_SIMD)) && !c->needs_parallel;
}

void fe_find_single_threads(struct fe *fe, const struct omp_construct *c)
{
    const struct fe_pragma *p = fe_pragma_of(fe, c);
    if (fe_warns(WARN_ONE_THREAD) && p && is_sequential(c) && !fe_clause(c, OMPC_IF) &&
        !fe_clause(c, OMPC_DEVICE) && !fe_clause(c, OMPC_THREAD_LIMIT))
        find_loop(fe, c, p->stmt);
}

/* ------------------------------------------------------------------ one team */
static int64_t iterations(const struct omp_construct *c)
{
    int64_t all = 1;
    for (unsigned i = 0; i < c->nloops; i++) {
        int64_t n = fe_length_of(&c->loops[i]);
        if (n < 0 || __builtin_mul_overflow(all, n, &all))
            return -1;
    }
    return all;
}

void fe_find_single_teams(struct fe *fe, const struct omp_construct *c)
{
    const struct omp_construct *target = fe_target_of(c);
    if (!c->one_team || target->phases || !may_be_long(iterations(c)) || fe_fixes_team(c) ||
        fe_fixes_team(target)) /* the program's choice */
        return;
    fe_warn(fe, WARN_ONE_TEAM, c->loops[0].extent.begin,
            "this loop runs on one team, so on one multiprocessor of the GPU: %s; "
            "'teams distribute' has it run on all",
            c->one_team);
}
