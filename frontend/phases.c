/* phases.c - target regions that can be run as a sequence of kernels.
 *
 *      #pragma omp target map(…)              kernel 1, one thread:    s[0] = 0;
 *      {                                      kernel 2, all teams:     the first loop
 *          s[0] = 0;                          kernel 3, all teams:     the second loop
 *          #pragma omp parallel for
 *          …                                  in one stream, so that each sees what those before
 *          #pragma omp parallel for           it have written
 *          …
 *      }
 *
 * Such a region has one team, so one multiprocessor of a hundred.  Its statements may be kernels of
 * their own where nothing but memory goes from one to another: none declares anything, jumps, or
 * changes a variable of which the region has a copy; and where the loops may run on several teams
 * (spread.c).  The runtime has the choice, since a launch takes longer than a short loop.
 *
 * A loop around such statements is run by the host, which launches their kernels in each iteration,
 * with the loop's variable as one more parameter:
 *
 *          for (int t = 0; t < steps; t++) {  kernels 2 and 3, steps times, with t
 *              #pragma omp parallel for
 *              …
 *
 * In: target constructs with their captures.  Out: `phases` and `phase_loops` of some: copies of
 * the target construct, each with a part of its body, and the loops around some of them. */
#include "frontend/fe.h"
#include <string.h>

enum { MOST = 16 };

struct division { /* of one target construct */
    struct fe *fe;
    struct omp_construct *target, *first, *last;
    struct omp_construct *open; /* the kernel that the next statement can join */
    unsigned n, loops;
    struct omp_repeat repeats[MOST];
    unsigned nrepeats;
    bool repeating;
};

/* ------------------------------------------------------------------ what stands in the way */
static bool keeps_clauses(const struct omp_construct *target)
{
    static const enum omp_clause_kind fine[] = {
        OMPC_MAP,           OMPC_DEVICE,          OMPC_IF,           OMPC_DEFAULTMAP,
        OMPC_IS_DEVICE_PTR, OMPC_HAS_DEVICE_ADDR, OMPC_FIRSTPRIVATE, OMPC_DEPEND,
    };
    for (const struct omp_clause *k = target->clauses; k; k = k->next) {
        bool is_fine = false;
        for (unsigned i = 0; i < sizeof fine / sizeof *fine; i++)
            is_fine |= k->kind == fine[i];
        if (!is_fine)
            return false;
    }
    return true;
}

/* The variable is used in loops around phases alone, whose counter it is. */
static bool only_counts(const struct division *d, const struct omp_var *v)
{
    FE_EACH(r, d->fe->refs, d->target->body) {
        bool inside = r->var != v;
        for (unsigned i = 0; i < d->nrepeats && !inside; i++)
            inside = d->repeats[i].loop.iv == v && fe_inside(r->offset, d->repeats[i].loop.extent);
        if (!inside)
            return false;
    }
    return true;
}

/* What the region has a copy of is the same in all phases: nobody writes it, and threads that share
 * it need no object of their own for that. */
static bool keeps_copies(const struct division *d)
{
    const struct omp_construct *target = d->target;
    for (unsigned i = 0; i < target->ncaptures; i++) {
        const struct omp_capture *k = &target->captures[i];
        bool is_scalar = k->var->type->kind != OMPT_ARRAY && k->var->type->kind != OMPT_RECORD;
        bool is_memory = k->kind == OMPCAP_BYREF || k->kind == OMPCAP_DEVICE_ADDR;
        if (k->kind == OMPCAP_PRIVATE || k->one_copy ||
            (!is_memory && (!is_scalar || (fe_is_written(d->fe, target->body, k->var) &&
                                           !only_counts(d, k->var)))))
            return false;
    }
    return true;
}

/* What the loop leaves behind is in memory. */
static bool leaves_memory(const struct omp_construct *target, const struct omp_construct *loop)
{
    for (unsigned i = 0; i < loop->nsharings; i++) {
        const struct omp_sharing *s = &loop->sharings[i];
        if (s->share != OMPSH_REDUCTION && s->share != OMPSH_LINEAR && !s->lastprivate)
            continue;
        bool found = false;
        for (unsigned k = 0; k < target->ncaptures; k++)
            found |= target->captures[k].var == s->var && target->captures[k].kind == OMPCAP_BYREF;
        if (!found && s->clause)
            return false;
    }
    return true;
}

static enum CXChildVisitResult find_jump(CXCursor c, CXCursor parent, CXClientData found)
{
    enum CXCursorKind k = clang_getCursorKind(c);
    (void)parent;
    if (k != CXCursor_GotoStmt && k != CXCursor_IndirectGotoStmt && k != CXCursor_LabelStmt &&
        k != CXCursor_ReturnStmt)
        return CXChildVisit_Recurse;
    *(bool *)found = true;
    return CXChildVisit_Break;
}

static bool has_jump(CXCursor body)
{
    bool found = false;
    clang_visitChildren(body, find_jump, &found);
    return found;
}

/* ------------------------------------------------------------------ the parts */
static struct omp_construct *add_phase(struct division *d, struct omp_extent body)
{
    struct omp_construct *p = arena_alloc(d->fe->a, sizeof *p);
    *p = *d->target;
    p->next = p->child = p->spmd_inner = p->phases = NULL;
    p->phase_loops = NULL, p->nphase_loops = 0;
    p->body = body;
    p->needs_parallel = p->synchronises = false;
    p->place = fe_place(d->fe->u, body.begin);
    p->region = arena_printf(d->fe->a, "%s%sphase%u", d->target->region, d->fe->u->prefix, ++d->n);
    if (d->last)
        d->last->next = p;
    else
        d->first = p;
    return d->last = p;
}

/* The loop, on all teams. */
static void add_loop(struct division *d, const struct omp_construct *loop)
{
    struct omp_construct *p = add_phase(d, fe_whole(loop)), *l = arena_alloc(d->fe->a, sizeof *l);
    *l = *loop;
    l->next = NULL, l->parent = p;
    l->leaves |= OMPL_TEAMS | OMPL_DISTRIBUTE;
    l->spread = true;
    p->child = p->spmd_inner = l;
    p->needs_parallel = true;
    p->place = loop->place;
    d->open = NULL;
    d->loops++;
}

/* Statements that follow each other are one kernel. */
static void add_statement(struct division *d, struct omp_extent e)
{
    if (d->open)
        d->open->body.end = e.end;
    else
        d->open = add_phase(d, e);
}

static const struct omp_construct *construct_at(const struct omp_construct *target,
                                                struct omp_extent e)
{
    for (const struct omp_construct *c = target->child; c; c = c->next)
        if (fe_inside(e.begin, fe_whole(c)) || fe_inside(c->pragma.begin, e))
            return c;
    return NULL;
}

static bool add_repeat(struct division *, CXCursor loop);

static bool add_part(struct division *d, CXCursor part)
{
    const struct fe *fe = d->fe;
    struct omp_extent e = { fe_begin(fe, part), fe_stmt_end(d->fe, part) };
    const struct omp_construct *c = construct_at(d->target, e);
    const unsigned loop = OMPL_PARALLEL | OMPL_FOR;
    if (clang_getCursorKind(part) == CXCursor_NullStmt)
        return true;
    if (!c) {
        add_statement(d, e);
        return clang_getCursorKind(part) != CXCursor_DeclStmt && !fe_shows_team(fe, NULL, e);
    }
    if (clang_getCursorKind(part) == CXCursor_ForStmt && !fe_inside(e.begin, c->body))
        return add_repeat(d, part);
    if (!fe_inside(e.begin, c->body) || (c->leaves & ~(unsigned)OMPL_SIMD) != loop ||
        fe_clause(c, OMPC_IF) || fe_fixes_team(c) || fe_shows_team(fe, c->child, c->body) ||
        !leaves_memory(d->target, c))
        return false;
    add_loop(d, c);
    return true;
}

/* ------------------------------------------------------------------ loops around parts */
/* A break or continue that ends the loop whose body this is, or an iteration of it. */
static bool leaves_loop(struct fe *fe, CXCursor c, bool in_switch)
{
    fe_cursors v = { 0 };
    switch (clang_getCursorKind(c)) {
    case CXCursor_BreakStmt: return !in_switch;
    case CXCursor_ContinueStmt: return true;
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt: return false;
    case CXCursor_SwitchStmt: in_switch = true; break;
    default: break;
    }
    fe_children(fe, c, &v);
    for (unsigned i = 0; i < v.n; i++)
        if (leaves_loop(fe, v.at[i], in_switch))
            return true;
    return false;
}

static bool is_by_value(const struct omp_construct *target, const struct omp_var *v)
{
    for (unsigned i = 0; i < target->ncaptures; i++)
        if (target->captures[i].var == v)
            return target->captures[i].kind == OMPCAP_BYVAL;
    return false;
}

/* The host has the same value for it: integers that the region has copies of. */
static bool is_of_host(const struct division *d, const struct omp_expr *x)
{
    FE_EACH(r, d->fe->refs, x->extent)
        if (!is_by_value(d->target, r->var))
            return false;
    return x->is_integer && x->is_pure && !x->reads_memory;
}

/* Conversions in the test change no value. */
static bool compares_as_is(const struct omp_type *t, const struct omp_expr *bound)
{
    if (bound->is_constant)
        return bound->value >= 0 &&
               (t->size == 8 || bound->value < 1ll << (8 * t->size - t->is_signed));
    return bound->type && bound->type->kind == OMPT_INT && bound->type->size <= t->size &&
           bound->type->is_signed == t->is_signed;
}

/* Parameters have the variables' names. */
static bool is_name_free(const struct omp_construct *target, const struct omp_var *v)
{
    for (unsigned i = 0; i < target->ncaptures; i++)
        if (target->captures[i].var != v && !strcmp(target->captures[i].var->name, v->name))
            return false;
    return true;
}

/* Only statements use the variable, and the bounds of loops, but no clause. */
static bool keeps_counter(const struct fe *fe, const struct omp_loop *l)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        struct omp_extent e = fe->pragmas.at[i].extent;
        if (!fe_inside(e.begin, l->body))
            continue;
        FE_EACH(r, fe->refs, e)
            if (r->var == l->iv)
                return false;
    }
    return !l->iv->address_taken && !fe_is_written(fe, l->body, l->iv);
}

static bool can_host_run(const struct division *d, const struct omp_loop *l)
{
    const struct omp_type *t = l->iv->type;
    return (l->iv_declared || is_by_value(d->target, l->iv)) && is_name_free(d->target, l->iv) &&
           t->kind == OMPT_INT && t->size <= 8 && is_of_host(d, &l->lb) && is_of_host(d, &l->ub) &&
           compares_as_is(t, &l->ub) &&
           (!l->step.extent.end || (l->step.is_constant && l->step.value)) &&
           keeps_counter(d->fe, l);
}

static bool add_parts(struct division *d, CXCursor block)
{
    fe_cursors parts = { 0 };
    if (clang_getCursorKind(block) != CXCursor_CompoundStmt)
        return add_part(d, block);
    fe_children(d->fe, block, &parts);
    for (unsigned i = 0; i < parts.n; i++)
        if (!add_part(d, parts.at[i]) || d->n > MOST)
            return false;
    return true;
}

static bool add_repeat(struct division *d, CXCursor loop)
{
    struct omp_repeat *r = &d->repeats[d->nrepeats];
    CXCursor body;
    if (d->repeating || d->nrepeats == MOST || !fe_read_loop(d->fe, NULL, loop, &r->loop, &body) ||
        !can_host_run(d, &r->loop) || leaves_loop(d->fe, body, false))
        return false;
    d->nrepeats++;
    d->repeating = true;
    d->open = NULL;
    r->first = d->n;
    bool good = add_parts(d, body);
    r->end = d->n;
    d->open = NULL;
    d->repeating = false;
    return good;
}

/* The counter is a parameter of the loop's phases: one of the region, or another one after these.
 */
static void add_counter(struct division *d, const struct omp_repeat *r)
{
    const struct omp_construct *target = d->target;
    unsigned n = target->ncaptures, number = 0;
    struct omp_capture *all = arena_alloc(d->fe->a, (n + 1) * sizeof *all);
    for (unsigned i = 0; i < n; i++)
        all[i] = target->captures[i];
    all[n] = (struct omp_capture){ .var = r->loop.iv, .kind = OMPCAP_BYVAL, .map = -1 };
    r->loop.iv->counts = true;
    for (struct omp_construct *p = d->first; p; p = p->next, number++)
        if (number >= r->first && number < r->end) {
            p->captures = all;
            p->ncaptures = n + r->loop.iv_declared;
        }
}

static void add_counters(struct division *d)
{
    struct omp_repeat *all = arena_alloc(d->fe->a, d->nrepeats * sizeof *all);
    for (unsigned i = 0; i < d->nrepeats; i++) {
        all[i] = d->repeats[i];
        add_counter(d, &all[i]);
    }
    d->target->phase_loops = all;
    d->target->nphase_loops = d->nrepeats;
}

/* Others than loops: within a statement, or where no statement is. */
static bool has_other_constructs(const struct division *d)
{
    unsigned n = 0;
    for (const struct omp_construct *c = d->target->child; c; c = c->next)
        n++;
    return n != d->loops;
}

static void divide(struct fe *fe, const struct fe_pragma *p)
{
    struct division d = { .fe = fe, .target = p->c };
    if (has_jump(p->stmt) || !add_parts(&d, p->stmt) || !d.loops || d.n + d.nrepeats < 2 ||
        has_other_constructs(&d) || !keeps_copies(&d))
        return;
    p->c->phases = d.first;
    add_counters(&d);
}

void fe_find_phases(struct fe *fe)
{
    if (!fe_may_spread())
        return;
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        const struct fe_pragma *p = &fe->pragmas.at[i];
        if (p->found && p->c->leaves == OMPL_TARGET && !p->c->on_device && !p->c->spmd_inner &&
            p->c->child && keeps_clauses(p->c))
            divide(fe, p);
    }
}
