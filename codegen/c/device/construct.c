/* construct.c - constructs in device code, but for parallel (device/parallel.c) and atomic
 * (device/atomic.c).
 *
 * The runtime's __ompgpu_thread_id() and friends mean the innermost parallel region, with one
 * thread in sequential parts; so a worksharing construct reads the same wherever it stands,
 * orphaned ones included. */
#include <stdlib.h>
#include <string.h>
#include "codegen/c/device/device.h"

/* ---------------------------------------------------------- private copies around one statement */
static void copy_with_privates(struct cg *cg, const struct omp_construct *c, struct cg_privates *p)
{
    cg_open_privates(cg, p);
    cg_open_cancellable(cg, c);
    cg_copy_body(cg, c->body);
    cg_close_cancellable(cg, c);
    cg_close_privates(cg, p);
}

/* --------------------------------------------------------------- simd: one thread runs the loop */
static void write_simd(struct cg *cg, const struct omp_construct *c, struct cg_privates *p)
{
    bool plain = !p->last && c->nloops && !c->scan;
    for (unsigned j = 0; j < c->nloops; j++)
        plain = plain && c->loops[j].iv_declared;
    if (!plain) {
        cg_loop_nest(cg, c, CG_ONE, p, NULL, NULL);
        return;
    }
    cg_open_privates(cg, p);
    cg_copy_body(cg, c->loops[0].extent);
    cg_close_privates(cg, p);
}

/* -------------------------------------------------- sections: section i to thread i mod threads */
static void write_section(struct cg *cg, unsigned i, struct omp_extent body, bool last)
{
    cg_open(cg, "case %u:", i);
    if (last)
        cg_line(cg, "@last = 1;");
    cg_copy_body(cg, body);
    cg_line(cg, "break;");
    cg_close(cg);
}

/* The first section may stand without its directive. */
static struct omp_extent first_section(struct cg *cg, const struct omp_construct *c)
{
    const struct omp_construct *k = c->child;
    while (k && !(k->leaves & OMPL_SECTION))
        k = k->next;
    struct omp_extent e = { c->body.begin + 1, k ? k->pragma.begin : c->body.end - 1 };
    return *cg_raw(cg, e) ? e : (struct omp_extent){ 0, 0 };
}

static void store_last_section(struct cg *cg, struct cg_privates *p)
{
    cg_open(cg, "if (@last)");
    for (unsigned i = 0; i < p->n; i++)
        cg_store_last(cg, &p->list[i]);
    cg_close(cg);
}

static void write_sections(struct cg *cg, const struct omp_construct *c, struct cg_privates *p)
{
    struct omp_extent first = first_section(cg, c);
    unsigned n = !cg_empty(first), i = 0;
    for (const struct omp_construct *k = c->child; k; k = k->next)
        n += (k->leaves & OMPL_SECTION) != 0;
    cg_open_privates(cg, p);
    if (p->race)
        cg_line(cg, "__ompgpu_barrier(%u);", c->place.line);
    if (p->last)
        cg_line(cg, "_Bool @last = 0;");
    cg_open_cancellable(cg, c);
    cg_open(cg,
            "for (struct __ompgpu_loop32 @it = __ompgpu_loop32(__OMPGPU_THREADS, %u); @it.more; "
            "__ompgpu_next32(&@it))",
            n);
    cg_open(cg, "switch (@it.at)");
    if (!cg_empty(first))
        write_section(cg, i++, first, p->last && n == 1);
    for (const struct omp_construct *k = c->child; k; k = k->next) {
        if (!(k->leaves & OMPL_SECTION))
            continue;
        write_section(cg, i, k->body, p->last && i + 1 == n);
        i++;
    }
    cg_close(cg);
    cg_close(cg);
    cg_close_cancellable(cg, c);
    if (p->last)
        store_last_section(cg, p);
    cg_close_privates(cg, p);
}

/* ------------------------------------------------------------------ one thread of the team */
static const char *masked_condition(struct cg *cg, const struct omp_construct *c)
{
    const struct omp_clause *filter = cg_clause(c, OMPC_FILTER);
    return cg_strf(cg, "__ompgpu_thread_id() == %s",
                   filter ? cg_strf(cg, "(%s)", cg_expr(cg, filter->expr.extent)) : "0");
}

static void write_masked(struct cg *cg, const struct omp_construct *c, struct cg_privates *p)
{
    cg_open_privates(cg, p);
    cg_open(cg, "if (%s)", masked_condition(cg, c));
    cg_copy_body(cg, c->body);
    cg_close(cg);
    cg_close_privates(cg, p);
}

/* The executing thread's values reach the others' copies through team-shared memory.  The barrier
 * at the construct's end keeps the memory until all have read it; a region of one thread, which may
 * be one of several nested ones, does without: its neighbours use the same memory. */
static void broadcast_copies(struct cg *cg, const struct omp_construct *c, bool store)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0; k->kind == OMPC_COPYPRIVATE && i < k->nitems; i++) {
            const struct omp_var *v = k->items[i].var;
            const char *cell = cg_strf(cg, "@cell_%s", v->name), *copy = cg_spell(cg, v);
            cg_line(cg, "__builtin_memcpy((void *)&%s, (const void *)&%s, sizeof %s);",
                    store ? cell : copy, store ? copy : cell, cell);
        }
}

static void write_single(struct cg *cg, const struct omp_construct *c, struct cg_privates *p)
{
    const struct omp_clause *copies = cg_clause(c, OMPC_COPYPRIVATE);
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0; k->kind == OMPC_COPYPRIVATE && i < k->nitems; i++)
            cg_line(cg, "static __OMPGPU_SHARED __typeof__(%s) @cell_%s __OMPGPU_SHARED_INIT;",
                    cg_var_type(cg, k->items[i].var, CG_UNQUALIFIED), k->items[i].var->name);
    cg_open(cg, "if (__ompgpu_thread_id() == 0)");
    copy_with_privates(cg, c, p);
    if (copies) {
        cg_open(cg, "if (__ompgpu_num_threads() > 1)");
        broadcast_copies(cg, c, true);
        cg_close(cg);
    }
    cg_close(cg);
    if (!copies)
        return;
    cg_open(cg, "if (__ompgpu_num_threads() > 1)");
    cg_line(cg, "__ompgpu_barrier(%u);", c->place.line);
    broadcast_copies(cg, c, false);
    cg_close(cg);
}

/* ------------------------------------------------------------ constructs without private copies */
static void write_critical(struct cg *cg, const struct omp_construct *c)
{
    const char *lock = cg_lock(cg, cg_strf(cg, "lock_%s", c->name ? c->name : ""));
    cg_line(cg, "__ompgpu_critical_begin(&%s);", lock);
    cg_copy_body(cg, c->body);
    cg_line(cg, "__ompgpu_critical_end(&%s);", lock);
}

static void write_barrier(struct cg *cg, const struct omp_construct *c)
{
    cg_line(cg, "__ompgpu_barrier(%u);", c->place.line);
}

static void write_flush(struct cg *cg, const struct omp_construct *c)
{
    (void)c;
    cg_line(cg, "__ompgpu_flush();");
}

/* At compilation it is clang's. */
static void write_error(struct cg *cg, const struct omp_construct *c)
{
    const struct omp_clause *at = cg_clause(c, OMPC_AT), *message = cg_clause(c, OMPC_MESSAGE),
                            *severity = cg_clause(c, OMPC_SEVERITY);
    if (!at || at->keyword != OMPK_EXECUTION)
        return;
    const struct omp_type *t = message ? message->expr.type : NULL; /* clang ignores others */
    bool has_text = t && (t->kind == OMPT_POINTER || t->kind == OMPT_ARRAY);
    cg_line(cg, "__ompgpu_error(%s, %u, %s, %d);", cg_quoted(cg, c->place.file), c->place.line,
            has_text ? cg_expr(cg, message->expr.extent) : "0",
            !severity || severity->keyword != OMPK_WARNING);
}

/* --------------------------------------------- teams of a generic kernel: thread 0 of each team */
void cg_teams(struct cg *cg, const struct omp_construct *c, unsigned leaves)
{
    unsigned rest = leaves & ~(unsigned)(OMPL_TARGET | OMPL_TEAMS);
    unsigned outlined = c->leaves & OMPL_TARGET ? CG_OUTLINED : 0;
    struct cg_privates p = { .finish = CG_TEAMS, .base = cg->target->region };
    cg_collect_privates(cg, c, &p,
                        outlined | (rest & OMPL_PARALLEL ? CG_REDUCTIONS_ONLY : CG_ALL_COPIES));
    if (rest & OMPL_PARALLEL) {
        cg_open_privates(cg, &p);
        cg_parallel(cg, c, rest);
        cg_close_privates(cg, &p);
    } else {
        cg_inner_construct(cg, c, rest, &p);
    }
    cg_state_teams(cg, &p);
}

/* ------------------------------------------- teams of a function: one team after the other */
static const char *clause_value(struct cg *cg, const struct omp_construct *c,
                                enum omp_clause_kind kind)
{
    const struct omp_clause *k = cg_clause(c, kind);
    return k ? cg_expr(cg, k->expr.extent) : "0";
}

static void write_league(struct cg *cg, const struct omp_construct *c, unsigned leaves)
{
    unsigned rest = leaves & ~(unsigned)OMPL_TEAMS;
    struct cg_privates p = { .finish = CG_SERIAL };
    p.base = cg_strf(cg, "%s_%u", c->function->name, c->place.line);
    cg_line(cg, "__ompgpu_league_begin(%s, %s, %u);", clause_value(cg, c, OMPC_NUM_TEAMS),
            clause_value(cg, c, OMPC_THREAD_LIMIT), c->place.line);
    cg_open(cg, "do");
    if (rest & OMPL_PARALLEL) {
        cg_parallel(cg, c, rest);
    } else {
        cg_collect_privates(cg, c, &p, CG_ALL_COPIES);
        cg_inner_construct(cg, c, rest, &p);
    }
    cg_close(cg);
    cg_line(cg, "while (__ompgpu_league_next());");
}

/* ------------------------------------------------------------------ dispatch */
static void write_loop(struct cg *cg, const struct omp_construct *c, unsigned leaves,
                       struct cg_privates *p)
{
    enum cg_who who = leaves & OMPL_TASKLOOP     ? CG_ONE
                      : !(leaves & OMPL_FOR)     ? CG_TEAM
                      : leaves & OMPL_DISTRIBUTE ? CG_ALL_THREADS
                                                 : CG_THREAD;
    bool in_order = (leaves & OMPL_FOR) && cg_clause(c, OMPC_ORDERED) && !cg_takes_turns(cg, c);
    if (leaves & OMPL_TASKLOOP)
        p->guard = leaves & (OMPL_MASTER | OMPL_MASKED) ? masked_condition(cg, c) : NULL;
    else if (in_order)
        p->guard = "__ompgpu_thread_id() == 0";
    if (who == CG_ONE || in_order)
        cg_loop_nest(cg, c, CG_ONE, p, NULL, NULL);
    else
        cg_loop_nest(cg, c, who, p, cg_clause(c, OMPC_SCHEDULE), cg_clause(c, OMPC_DIST_SCHEDULE));
}

static void write_inner(struct cg *cg, const struct omp_construct *c, unsigned leaves,
                        struct cg_privates *p)
{
    static const struct {
        unsigned leaf;
        void (*write)(struct cg *, const struct omp_construct *, struct cg_privates *);
    } table[] = {
        { OMPL_SIMD, write_simd },     { OMPL_SECTIONS, write_sections },
        { OMPL_MASTER, write_masked }, { OMPL_MASKED, write_masked },
        { OMPL_SINGLE, write_single },
    };
    if (leaves & (OMPL_TASKLOOP | OMPL_DISTRIBUTE | OMPL_FOR)) {
        write_loop(cg, c, leaves, p);
        return;
    }
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        if (leaves & table[i].leaf) {
            table[i].write(cg, c, p);
            return;
        }
    copy_with_privates(cg, c, p);
}

/* What remains of a construct when teams and parallel are dealt with; `p` are the private copies to
 * make around it. */
void cg_inner_construct(struct cg *cg, const struct omp_construct *c, unsigned leaves,
                        struct cg_privates *p)
{
    unsigned open = cg->out->open;
    cg_open_task(cg, c, leaves);
    write_inner(cg, c, leaves, p);
    cg_close_task(cg, c, leaves, open);
}

static void write_worksharing(struct cg *cg, const struct omp_construct *c, unsigned leaves)
{
    const unsigned shared = OMPL_FOR | OMPL_SECTIONS | OMPL_SCOPE,
                   synchronised = shared | OMPL_SINGLE;
    struct cg_privates p = { .finish = leaves & shared ? CG_PARALLEL : CG_SERIAL };
    p.base = cg_strf(cg, "%s_%u", c->function ? c->function->name : "file", c->place.line);
    if (leaves & OMPL_DISTRIBUTE)
        p.finish = CG_ONE_THREAD;
    cg_collect_privates(cg, c, &p, CG_ALL_COPIES);
    cg_find_owners(cg, c, &p);
    if (p.deferred)
        cg_line(cg, "void *const @deferred = %s;", cg_deferred_pointer(cg, c));
    cg_inner_construct(cg, c, leaves, &p);
    /* the next reduction wants a barrier in between (devicertl/reduction.c) */
    bool slots = p.reduction && p.finish == CG_PARALLEL;
    if ((leaves & synchronised) && (slots || !cg_never_waits(c)))
        cg_line(cg, "__ompgpu_barrier(%u);", c->place.line);
}

/* ------------------------------------------------------------------ assume */
static const char *assumption_words(struct cg *cg, unsigned assumptions)
{
    return cg_strf(cg, "%s%s%s", assumptions & OMPASSUME_AMENABLE ? "ompx_spmd_amenable," : "",
                   assumptions & OMPASSUME_NO_PARALLEL ? "omp_no_parallelism," : "",
                   assumptions & OMPASSUME_NO_ROUTINES ? "omp_no_openmp_routines," : "");
}

void cg_function_assumptions(struct cg *cg, const struct omp_function *f)
{
    cg_put(cg, "__OMPGPU_ASSUME(%s, \"%s\")\n", f->name, assumption_words(cg, f->assumptions));
}

static void write_assume(struct cg *cg, const struct omp_construct *c)
{
    unsigned outer = 0;
    for (const struct omp_construct *p = c->parent; p && p->function == c->function; p = p->parent)
        outer |= p->assumptions;
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if (k->kind == OMPC_HOLDS && !cg_empty(k->expr.extent))
            cg_line(cg, "__builtin_assume(%s);", cg_expr(cg, k->expr.extent));
    if (c->assumptions)
        cg_line(cg, "__ompgpu_assume(\"%s\");", assumption_words(cg, outer | c->assumptions));
    cg_copy_body(cg, c->body);
    if (c->assumptions)
        cg_line(cg, "__ompgpu_assume(\"%s\");", assumption_words(cg, outer));
}

/* Constructs of a single leaf. */
static bool write_leaf(struct cg *cg, const struct omp_construct *c)
{
    static const struct {
        unsigned leaf;
        void (*write)(struct cg *, const struct omp_construct *);
    } table[] = {
        { OMPL_ATOMIC, cg_atomic },       { OMPL_CRITICAL, write_critical },
        { OMPL_BARRIER, write_barrier },  { OMPL_FLUSH, write_flush },
        { OMPL_TASKGROUP, cg_taskgroup }, { OMPL_TASKWAIT, cg_taskwait },
        { OMPL_ERROR, write_error },      { OMPL_ORDERED, cg_ordered },
    };
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        if (c->leaves != table[i].leaf)
            continue;
        if (cg->lanes && c->by_lanes)
            cg_open(cg, "if (__ompgpu_row_once(@lanes))");
        table[i].write(cg, c);
        if (cg->lanes && c->by_lanes) {
            cg_close(cg);
            cg_line(cg, "__ompgpu_row_sync(@lanes);");
        }
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------ what needs the host */
static bool needs_host(const struct omp_construct *c)
{
    return (c->leaves & (OMPL_TARGET | OMPL_DATA)) || c->host_region;
}

/* Of a function that the host calls, too; the frontend has warned. */
static void write_end(struct cg *cg, const struct omp_construct *c)
{
    const char *message =
        cg_strf(cg, "'%s' in '%s', which only the host can do", c->spelling, c->function->name);
    cg_line(cg, "__ompgpu_fail(%s, %u);", cg_quoted(cg, message), c->place.line);
}

void cg_device_construct(struct cg *cg, const struct omp_construct *c)
{
    const unsigned known = OMPL_DISTRIBUTE | OMPL_FOR | OMPL_SIMD | OMPL_SECTIONS | OMPL_MASTER |
                           OMPL_MASKED | OMPL_SINGLE | OMPL_SCOPE | OMPL_TASK | OMPL_TASKLOOP;
    unsigned leaves = c->leaves;
    const char **env = cg_push_env(cg, false);
    cg_bind_in_reductions(cg, c);
    cg_open_scope(cg); /* one statement, wherever the construct stands */
    if (needs_host(c))
        write_end(cg, c);
    else if (write_leaf(cg, c))
        ;
    else if (cg->lanes && c->by_lanes)
        cg_loop_by_lanes(cg, c);
    else if (c->directive == OMPDIR_CANCEL || c->directive == OMPDIR_CANCELLATION_POINT)
        cg_cancel(cg, c);
    else if (c->directive == OMPDIR_ASSUME)
        write_assume(cg, c);
    else if (c->role == OMPROLE_IGNORED)
        cg_copy_body(cg, c->body);
    else if ((leaves & OMPL_TEAMS) && !cg->target)
        write_league(cg, c, leaves);
    else if (leaves & OMPL_TEAMS)
        cg_teams(cg, c, leaves);
    else if (leaves & OMPL_PARALLEL)
        cg_parallel(cg, c, leaves);
    else if (leaves & known)
        write_worksharing(cg, c, leaves);
    else
        cg_fault(cg, c->place, "'#pragma omp %s' in device code", c->spelling);
    cg_close(cg);
    cg_pop_env(cg, env);
}
