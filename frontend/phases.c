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
 * In: target constructs with their captures.  Out: `phases` of some: copies of the target
 * construct, each with a part of its body. */
#include "frontend/fe.h"

enum { MOST = 16 };

struct division { /* of one target construct */
    struct fe *fe;
    struct omp_construct *target, *first, *last;
    unsigned n, loops;
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

/* What the region has a copy of is the same in all phases: nobody writes it, and threads that share
 * it need no object of their own for that. */
static bool keeps_copies(const struct fe *fe, const struct omp_construct *target)
{
    for (unsigned i = 0; i < target->ncaptures; i++) {
        const struct omp_capture *k = &target->captures[i];
        bool is_scalar = k->var->type->kind != OMPT_ARRAY && k->var->type->kind != OMPT_RECORD;
        bool is_memory = k->kind == OMPCAP_BYREF || k->kind == OMPCAP_DEVICE_ADDR;
        if (k->kind == OMPCAP_PRIVATE || k->one_copy ||
            (!is_memory && (!is_scalar || fe_is_written(fe, target->body, k->var))))
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
    d->loops++;
}

/* Statements that follow each other are one kernel. */
static void add_statement(struct division *d, struct omp_extent e)
{
    if (d->last && !d->last->spmd_inner)
        d->last->body.end = e.end;
    else
        add_phase(d, e);
}

static const struct omp_construct *construct_at(const struct omp_construct *target,
                                                struct omp_extent e)
{
    for (const struct omp_construct *c = target->child; c; c = c->next)
        if (fe_inside(e.begin, fe_whole(c)) || fe_inside(c->pragma.begin, e))
            return c;
    return NULL;
}

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
    if (!fe_inside(e.begin, c->body) || (c->leaves & ~(unsigned)OMPL_SIMD) != loop ||
        fe_clause(c, OMPC_IF) || fe_fixes_team(c) || fe_shows_team(fe, c->child, c->body) ||
        !leaves_memory(d->target, c))
        return false;
    add_loop(d, c);
    return true;
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
    fe_cursors parts = { 0 };
    bool good = clang_getCursorKind(p->stmt) == CXCursor_CompoundStmt && !has_jump(p->stmt);
    if (good)
        fe_children(fe, p->stmt, &parts);
    for (unsigned i = 0; i < parts.n && good; i++)
        good = add_part(&d, parts.at[i]) && d.n <= MOST;
    if (good && d.loops && d.n > 1 && !has_other_constructs(&d))
        p->c->phases = d.first;
}

void fe_find_phases(struct fe *fe)
{
    if (!fe_may_spread())
        return;
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        const struct fe_pragma *p = &fe->pragmas.at[i];
        if (p->found && p->c->leaves == OMPL_TARGET && !p->c->on_device && !p->c->spmd_inner &&
            p->c->child && keeps_clauses(p->c) && keeps_copies(fe, p->c))
            divide(fe, p);
    }
}
