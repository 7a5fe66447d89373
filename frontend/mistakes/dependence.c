/* dependence.c - loops whose iterations are shared among threads, and are not independent.
 *
 * Two accesses of an iteration, certain to be done, to one variable that all threads share: one
 * writes, one reads.  Each subscript is the variable of an associated loop plus a constant, or the
 * same in all iterations.  So the distance is known between the iteration that writes an element
 * and the one that reads it; where it is not zero, and the loop is that long, there is a dependence
 * between iterations that may run at the same time.  Loops whose variable is in no subscript have
 * all distances: their iterations update the same element, or each sets it to a value of its own.
 */
#include "frontend/mistakes/mistakes.h"
#include <stdlib.h>

enum { SURELY_SHORTER = 4 }; /* than any loop that somebody shares among threads */

struct nest {
    struct fe *fe;
    const struct omp_construct *c, *target;
    CXCursor body;
    struct omp_extent extent; /* of the body */
};

/* A subscript: variable of loop `loop` plus `offset`; loop < 0: what no iteration changes. */
struct place {
    int loop;
    bool is_constant, fails;
    int64_t offset;
    struct omp_expr expr;
};

/* ------------------------------------------------------------------ subscripts */
static int loop_of(const struct nest *n, const struct omp_var *v)
{
    for (unsigned i = 0; i < n->c->nloops; i++)
        if (n->c->loops[i].iv == v)
            return (int)i;
    return -1;
}

static bool uses_loops(const struct nest *n, struct omp_extent e)
{
    FE_EACH(r, n->fe->refs, e)
        if (loop_of(n, r->var) >= 0)
            return true;
    return false;
}

static struct place place_of(struct nest *n, CXCursor c)
{
    struct place fails = { .fails = true }, l;
    fe_cursors v = { 0 };
    if (clang_Cursor_isNull(c))
        return (struct place){ .loop = -1, .is_constant = true };
    c = fe_strip(n->fe, c);
    struct omp_expr x = fe_expr(n->fe, c);
    if (x.is_constant || !uses_loops(n, x.extent))
        return (struct place){ .loop = -1,
                               .is_constant = x.is_constant,
                               .offset = x.value,
                               .expr = x,
                               .fails = !x.is_pure || x.reads_memory };
    if (clang_getCursorKind(c) == CXCursor_DeclRefExpr)
        return (struct place){ .loop = loop_of(n, fe_var_of(n->fe, clang_getCursorReferenced(c))) };
    fe_children(n->fe, c, &v);
    enum CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(c);
    if (clang_getCursorKind(c) != CXCursor_BinaryOperator || v.n != 2 ||
        (op != CXBinaryOperator_Add && op != CXBinaryOperator_Sub))
        return fails;
    struct omp_expr left = fe_expr(n->fe, v.at[0]), right = fe_expr(n->fe, v.at[1]);
    bool swap = op == CXBinaryOperator_Add && left.is_constant;
    if (!swap && !right.is_constant)
        return fails;
    l = place_of(n, v.at[swap]);
    l.offset += swap ? left.value : op == CXBinaryOperator_Add ? right.value : -right.value;
    return l;
}

/* ------------------------------------------------------------------ loops in the body */
struct inner_loops { /* those around an offset */
    struct nest *nest;
    unsigned offset;
    struct omp_extent headers[8];
    unsigned n;
    bool bad; /* one whose repetitions are not the same in each iteration, or not known to be */
};

static enum CXChildVisitResult visit_loops(CXCursor c, CXCursor parent, CXClientData data)
{
    struct inner_loops *l = data;
    struct fe *fe = l->nest->fe;
    enum CXCursorKind k = clang_getCursorKind(c);
    fe_cursors v = { 0 };
    (void)parent;
    if (!fe_inside(l->offset, fe_extent(fe, c)))
        return CXChildVisit_Continue;
    l->bad |= k == CXCursor_WhileStmt || k == CXCursor_DoStmt;
    if (k == CXCursor_ForStmt) {
        fe_children(fe, c, &v);
        struct omp_extent header = { fe_begin(fe, c), v.n ? fe_begin(fe, v.at[v.n - 1]) : 0 };
        l->bad |= v.n != 4 || l->n == 8 || uses_loops(l->nest, header);
        if (!l->bad)
            l->headers[l->n++] = header;
    }
    return CXChildVisit_Recurse;
}

static bool is_in_header(const struct inner_loops *l, unsigned offset)
{
    for (unsigned i = 0; i < l->n; i++)
        if (fe_inside(offset, l->headers[i]))
            return true;
    return false;
}

/* Its variables take the same values in each iteration of the nest, as the loops around say. */
static bool repeats_alike(const struct inner_loops *l, struct omp_extent e)
{
    struct fe *fe = l->nest->fe;
    FE_EACH(r, fe->refs, e) {
        if (r->var->address_taken)
            return false;
        FE_EACH(w, fe->refs, l->nest->extent)
            if (w->var == r->var && w->write && !is_in_header(l, w->offset))
                return false;
        bool inside = fe_inside(r->var->decl, l->nest->extent);
        if (inside && !is_in_header(l, r->var->decl))
            return false;
    }
    return true;
}

static struct inner_loops loops_around(struct nest *n, unsigned offset)
{
    struct inner_loops l = { .nest = n, .offset = offset };
    visit_loops(n->body, n->body, &l);
    clang_visitChildren(n->body, visit_loops, &l);
    return l;
}

static bool same_loops(const struct inner_loops *a, const struct inner_loops *b)
{
    return a->n == b->n && (!a->n || a->headers[a->n - 1].begin == b->headers[b->n - 1].begin);
}

/* ------------------------------------------------------------------ distances */
/* Are there iterations of the loop at this distance, in its variable's values? */
static bool reaches(const struct omp_loop *l, int64_t distance)
{
    int64_t step = l->step.extent.end ? l->step.value : 1, length = fe_length_of(l);
    if ((l->step.extent.end && !l->step.is_constant) || !step || distance % step)
        return false;
    int64_t iterations = llabs(distance / step);
    return length < 0 ? iterations <= SURELY_SHORTER : iterations < length;
}

struct distances {
    bool known[OMP_MAX_LOOPS];
    int64_t of[OMP_MAX_LOOPS];
};

/* false: the accesses never meet, or it is not known. */
static bool compare(struct nest *n, const struct fe_access *w, const struct fe_access *x,
                    struct distances *d)
{
    struct inner_loops around = loops_around(n, w->offset), other = loops_around(n, x->offset);
    if (around.bad || other.bad)
        return false;
    for (unsigned i = 0; i < w->nsubscripts; i++) {
        struct place a = place_of(n, w->subscripts[i]), b = place_of(n, x->subscripts[i]);
        if (a.fails || b.fails || a.loop != b.loop)
            return false;
        if (a.loop < 0 && a.is_constant && b.is_constant && a.offset == b.offset)
            continue;
        if (a.loop < 0 && (a.is_constant || b.is_constant ||
                           !fe_same_text(n->fe->u, a.expr.extent, b.expr.extent) ||
                           !same_loops(&around, &other) || !repeats_alike(&around, a.expr.extent)))
            return false;
        if (a.loop < 0)
            continue;
        if (d->known[a.loop] && d->of[a.loop] != a.offset - b.offset)
            return false;
        d->known[a.loop] = true;
        d->of[a.loop] = a.offset - b.offset;
    }
    return true;
}

enum finding { INDEPENDENT, CARRIED, SAME_ELEMENT };

static enum finding judge(struct nest *n, const struct fe_access *w, const struct fe_access *x)
{
    struct distances d = { 0 };
    enum finding f = INDEPENDENT;
    bool depends = false; /* a loop's bounds on another one's variable */
    if (!compare(n, w, x, &d))
        return INDEPENDENT;
    for (unsigned i = 0; i < n->c->nloops; i++) {
        const struct omp_loop *l = &n->c->loops[i];
        int64_t length = fe_length_of(l);
        depends |= l->outer != NULL;
        if (!d.known[i] && length != 0 && length != 1 && f != CARRIED)
            f = SAME_ELEMENT;
        if (!d.known[i] || !d.of[i])
            continue;
        if (!reaches(l, d.of[i]) || l->outer)
            return INDEPENDENT;
        f = CARRIED;
    }
    return f == SAME_ELEMENT && depends ? INDEPENDENT : f;
}

/* ------------------------------------------------------------------ accesses that all share */
static bool is_in_inner_construct(const struct nest *n, unsigned offset)
{
    for (unsigned i = 0; i < n->fe->u->nconstructs; i++) {
        const struct omp_construct *x = n->fe->u->constructs[i];
        if (x != n->c && (x->leaves & ~(unsigned)OMPL_SIMD) &&
            fe_inside(x->pragma.begin, n->extent) && fe_inside(offset, fe_whole(x)))
            return true;
    }
    return false;
}

static bool is_plain(CXType t)
{
    CXType c = clang_getCanonicalType(t);
    return c.kind != CXType_Atomic && !clang_isVolatileQualifiedType(c);
}

static bool is_shared(const struct nest *n, const struct fe_access *a)
{
    const struct omp_var *v = a->var;
    unsigned special = FE_VAR_VOLATILE | FE_VAR_THREADPRIVATE | FE_VAR_THREAD_LOCAL;
    return !a->may_not && !a->is_member && !(a->how & (FE_GIVEN | FE_LENT)) && is_plain(a->type) &&
           !fe_inside(v->decl, n->target->body) && !(n->fe->var_flags.at[v->id] & special) &&
           v->declare_target != OMPV_DT_GROUP && !fe_is_private_at(n->target, v, a->offset) &&
           loop_of(n, v) < 0 && !is_in_inner_construct(n, a->offset);
}

/* What it points to is another array from then on. */
static bool moves(const struct fe_access *v, const fe_accesses *all)
{
    if (v->var->type->kind != OMPT_POINTER || !v->nsubscripts)
        return false;
    for (unsigned i = 0; i < all->n; i++)
        if (all->at[i].var == v->var && !all->at[i].nsubscripts && (all->at[i].how & FE_WRITE))
            return true;
    return false;
}

/* An element that all iterations access: each reads what another one may have written, and not
 * only what it has written itself. */
static bool reads_before(const struct fe_access *x, const struct fe_access *w)
{
    return x == w ? (w->how & FE_READ) != 0 : x < w;
}

static bool is_set_before(const struct fe_access *w, const fe_accesses *all)
{
    for (const struct fe_access *x = all->at; x < w; x++)
        if (x->var == w->var && !x->may_not && x->how == FE_WRITE)
            return true;
    return false;
}

static void warn_of_update(struct nest *n, const struct fe_access *w, const fe_accesses *all)
{
    const char *name = w->var->name;
    const char *what = w->nsubscripts ? "element of " : "";
    const char *remedy = !w->nsubscripts && is_set_before(w, all)
                             ? arena_printf(n->fe->a, "private(%s) on this construct", name)
                             : "a reduction clause, or an atomic construct";
    fe_warn(n->fe, WARN_DEPENDENCE, w->offset,
            "iterations of '%s' that run at the same time update the same %s'%s': "
            "that takes %s",
            n->c->spelling, what, name, remedy);
}

static bool check_pair(struct nest *n, const struct fe_access *w, const struct fe_access *x,
                       const fe_accesses *all)
{
    if (x->var != w->var || x->nsubscripts != w->nsubscripts || !(x->how & FE_READ) ||
        !is_shared(n, x))
        return false;
    enum finding f = judge(n, w, x);
    if (f == CARRIED)
        fe_warn(n->fe, WARN_DEPENDENCE, x->offset,
                "iterations of '%s' depend on each other: one reads the element of "
                "'%s' that another one writes, and they run at the same time",
                n->c->spelling, w->var->name);
    else if (f == SAME_ELEMENT && reads_before(x, w))
        warn_of_update(n, w, all);
    else
        return false;
    return true;
}

/* Where the same iteration updates it, too, that is said. */
static bool is_updated(const struct fe_access *w, const fe_accesses *all)
{
    for (unsigned i = 0; i < all->n; i++)
        if (all->at[i].var == w->var && (all->at[i].how & FE_WRITE) && all->at[i].how != FE_WRITE)
            return true;
    return false;
}

static void check_set(struct nest *n, const struct fe_access *w, const fe_accesses *all)
{
    const char *name = w->var->name;
    if (w->how != FE_WRITE || clang_Cursor_isNull(w->value) ||
        !uses_loops(n, fe_extent(n->fe, w->value)) || is_set_before(w, all) || is_updated(w, all) ||
        judge(n, w, w) != SAME_ELEMENT)
        return;
    fe_warn(n->fe, WARN_DEPENDENCE, w->offset,
            "iterations of '%s' that run at the same time set the same %s'%s' to different values: "
            "that takes %s",
            n->c->spelling, w->nsubscripts ? "element of " : "", name,
            w->nsubscripts
                ? "an element for each"
                : arena_printf(n->fe->a, "private(%s), or lastprivate(%s), on this construct", name,
                               name));
}

static void check_variable(struct nest *n, const struct fe_access *w, const fe_accesses *all)
{
    if (!(w->how & FE_WRITE) || !is_shared(n, w) || moves(w, all))
        return;
    for (unsigned i = 0; i < all->n; i++)
        if (check_pair(n, w, &all->at[i], all))
            return;
    check_set(n, w, all);
}

/* ------------------------------------------------------------------ constructs */
static bool is_one(const struct omp_construct *c, enum omp_clause_kind kind)
{
    const struct omp_clause *k = fe_clause(c, kind);
    return k && k->expr.is_constant && k->expr.value == 1;
}

/* Threads or teams that run iterations at the same time, for all that is known here. */
static bool runs_parallel(const struct omp_construct *c)
{
    unsigned parallels = 0, leaves = 0;
    for (const struct omp_construct *x = c; x; x = x->parent) {
        if (fe_clause(x, OMPC_IF) || is_one(x, OMPC_NUM_TEAMS) || is_one(x, OMPC_NUM_THREADS) ||
            is_one(x, OMPC_THREAD_LIMIT))
            return false;
        parallels += (x->leaves & OMPL_PARALLEL) != 0;
        leaves |= x->leaves;
        if (x->leaves & OMPL_TARGET)
            break;
        if (x != c && (x->leaves & ~(unsigned)(OMPL_PARALLEL | OMPL_TEAMS | OMPL_DISTRIBUTE)))
            return false;
    }
    return (c->leaves & OMPL_FOR) ? parallels == 1 : !parallels && (leaves & OMPL_TEAMS);
}

void fe_find_dependences(struct fe *fe, const struct omp_construct *c)
{
    const struct fe_pragma *p = fe_pragma_of(fe, c);
    const struct omp_construct *target = fe_target_of(c);
    fe_accesses all = { 0 };
    if (!fe_warns(WARN_DEPENDENCE) || !p || !target || !c->nloops || c->ninner || c->scan ||
        !(c->leaves & (OMPL_FOR | OMPL_DISTRIBUTE)) || fe_clause(c, OMPC_ORDERED) ||
        !runs_parallel(c))
        return;
    struct nest n = { fe, c, target, p->loop_body, c->loops[c->nloops - 1].body };
    fe_find_accesses(fe, n.body, &all);
    for (unsigned i = 0; i < all.n; i++)
        check_variable(&n, &all.at[i], &all);
}
