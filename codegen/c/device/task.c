/* task.c - tasks in device code, and reductions in which they take part.
 *
 * A task is undeferred: the thread that encounters it runs it at once (OpenMP 5.2 section 12.5 lets
 * any task be).  So taskwait, taskyield and depend have nothing to wait for, a taskloop is one task
 * that runs all iterations, and what is left of a task is its data environment: private copies
 * around its body (device/construct.c), with the values of what it does not share
 * (frontend/sharing.c).
 *
 * All tasks of a taskgroup are run by the thread that runs the taskgroup, which makes one copy for
 * them:
 *
 *   taskgroup task_reduction(+: x)   T *const @g0_x = &x;  { T x = 0; … }   elsewhere (*@g0_x)
 *     task in_reduction(+: x)                               { x += 1; }      the copy
 *   end of the taskgroup                                    *@o_x = *@o_x + x;
 *
 * Where x belongs to a `reduction(task, …)` or a taskloop's reduction, it is the thread's copy
 * already.
 *
 * A detached task leaves its event, which the thread that encountered it waits for where the task
 * has to be complete (devicertl/events.c).
 *
 * The runtime is told of tasks only where something asks for them, and of taskgroups only where
 * something may cancel one. */
#include <stdlib.h>
#include "codegen/c/device/device.h"

struct cg_group {
    const struct omp_construct *c;
    const struct cg_privates *copies;
    const char **spelling; /* of each copy */
    struct cg_group *outer;
};

/* ------------------------------------------------------------------ what the runtime is told */
/* May anything cancel a taskgroup? */
static bool groups_count(const struct cg *cg)
{
    const struct omp_unit *u = cg->unit;
    return u->cancels_group || u->needs_link || u->provides;
}

/* Does anything ask whether it runs in a task? */
static bool is_noted_task(const struct cg *cg, unsigned leaves)
{
    return (leaves & (OMPL_TASK | OMPL_TASKLOOP)) &&
           (cg->unit->asks_task || cg->unit->detaches || groups_count(cg));
}

/* May there be detached tasks? */
static bool has_events(const struct cg *cg)
{
    const struct omp_unit *u = cg->unit;
    return u->detaches || u->needs_link || u->provides;
}

static bool is_group(const struct omp_construct *c)
{
    return (c->leaves & (OMPL_TASKGROUP | OMPL_TASKLOOP)) && !cg_clause(c, OMPC_NOGROUP);
}

static void open_group(struct cg *cg, const struct omp_construct *c)
{
    if (is_group(c) && groups_count(cg))
        cg_line(cg, "const unsigned @group = __ompgpu_taskgroup_begin();");
    if (is_group(c) && has_events(cg))
        cg_line(cg, "const unsigned @events = __ompgpu_events_begin();");
}

static void close_group(struct cg *cg, const struct omp_construct *c)
{
    if (is_group(c) && has_events(cg))
        cg_line(cg, "__ompgpu_events_end(@events, %u);", c->place.line);
    if (is_group(c) && groups_count(cg))
        cg_line(cg, "__ompgpu_task_restore(@group);");
}

void cg_end_cancelled_tasks(struct cg *cg)
{
    if (groups_count(cg))
        cg_line(cg, "if (__ompgpu_cancel_taskgroup(0)) break;");
}

/* A dependence on tasks before this one.  The handle is in the variable when the body gets its
 * copy. */
static void open_event(struct cg *cg, const struct omp_construct *c)
{
    const struct omp_clause *detach = cg_clause(c, OMPC_DETACH),
                            *depend = cg_clause(c, OMPC_DEPEND);
    if (depend && has_events(cg))
        cg_line(cg, "__ompgpu_events_wait(1, %u);", c->place.line);
    if (!detach || !detach->nitems) /* clang complains */
        return;
    const char *handle = cg_expr(cg, detach->items[0].text);
    cg_line(cg, "const unsigned long @event = __ompgpu_event(%d, %u);", depend != NULL,
            c->place.line);
    cg_line(cg, "%s = (__typeof__(%s))@event;", handle, handle);
}

/* An undeferred task is complete here. */
static void close_event(struct cg *cg, const struct omp_construct *c)
{
    const struct omp_clause *k = cg_if(c, OMPL_TASK);
    if (k && cg_clause(c, OMPC_DETACH))
        cg_line(cg, "if (!(%s)) __ompgpu_event_await(@event, %u);", cg_expr(cg, k->expr.extent),
                c->place.line);
}

static void open_schedule(struct cg *cg, const char *before)
{
    if (cg->unit->sets_schedule)
        cg_line(cg, "const unsigned long @%s = __ompgpu_schedule_begin();", before);
}

static void close_schedule(struct cg *cg, const char *before)
{
    if (cg->unit->sets_schedule)
        cg_line(cg, "__ompgpu_schedule_restore(@%s);", before);
}

/* A task has its own. */
static void open_icvs(struct cg *cg)
{
    open_schedule(cg, "task_schedule");
    if (cg->unit->sets_threads)
        cg_line(cg, "const int @task_threads = omp_get_max_threads();");
}

static void close_icvs(struct cg *cg)
{
    if (cg->unit->sets_threads)
        cg_line(cg, "omp_set_num_threads(@task_threads);");
    close_schedule(cg, "task_schedule");
}

void cg_open_task(struct cg *cg, const struct omp_construct *c, unsigned leaves)
{
    const struct omp_clause *k = cg_clause(c, OMPC_FINAL);
    if (leaves & (OMPL_TASK | OMPL_TASKLOOP))
        open_icvs(cg);
    if (!is_noted_task(cg, leaves))
        return;
    /* in a new parallel region no taskgroup is cancelled, and all threads are to go on */
    if (groups_count(cg) && !(c->leaves & OMPL_PARALLEL))
        cg_open(cg, "if (!__ompgpu_cancel_taskgroup(0))");
    open_event(cg, c);
    cg_line(cg, "const unsigned @task = __ompgpu_task_begin(%s);",
            k ? cg_strf(cg, "(%s) != 0", cg_expr(cg, k->expr.extent)) : "0");
    if (has_events(cg))
        cg_line(cg, "const unsigned @task_events = __ompgpu_events_task();");
    open_group(cg, c);
}

void cg_close_task(struct cg *cg, const struct omp_construct *c, unsigned leaves, unsigned open)
{
    if (is_noted_task(cg, leaves)) {
        close_group(cg, c);
        if (has_events(cg))
            cg_line(cg, "__ompgpu_events_task_end(@task_events);");
        cg_line(cg, "__ompgpu_task_end(@task);");
        close_event(cg, c);
        cg_close_to(cg, open);
    }
    if (leaves & (OMPL_TASK | OMPL_TASKLOOP))
        close_icvs(cg);
}

/* Can a thread's part in this parallel region be in a task that something asks for? */
static bool is_noted_parallel(const struct cg *cg, const struct omp_construct *c)
{
    if (cg->unit->asks_task || cg->unit->cancels_group)
        return true;
    while (c && !(c->leaves & (OMPL_TASK | OMPL_TASKLOOP)))
        c = c->parent;
    return c && groups_count(cg);
}

void cg_open_implicit_task(struct cg *cg, const struct omp_construct *c)
{
    open_schedule(cg, "schedule");
    if (is_noted_parallel(cg, c))
        cg_line(cg, "const unsigned @implicit = __ompgpu_implicit_task_begin();");
    if (cg->unit->detaches) {
        cg_line(cg, "const unsigned @part_events = __ompgpu_events_begin();");
        cg_line(cg, "const unsigned @part_task = __ompgpu_events_task();");
    }
}

void cg_close_implicit_task(struct cg *cg, const struct omp_construct *c)
{
    if (cg->unit->detaches) {
        cg_line(cg, "__ompgpu_events_end(@part_events, %u);", c->place.line);
        cg_line(cg, "__ompgpu_events_task_end(@part_task);");
    }
    if (is_noted_parallel(cg, c))
        cg_line(cg, "__ompgpu_task_restore(@implicit);");
    close_schedule(cg, "schedule");
}

/* Tasks run at once: there are only events to wait for. */
void cg_taskwait(struct cg *cg, const struct omp_construct *c)
{
    if (has_events(cg))
        cg_line(cg, "__ompgpu_events_wait(%d, %u);", cg_clause(c, OMPC_DEPEND) != NULL,
                c->place.line);
}

/* ------------------------------------------------------------------ taskgroups */
static unsigned group_depth(const struct cg_group *g) { return g ? 1 + group_depth(g->outer) : 0; }

void cg_taskgroup(struct cg *cg, const struct omp_construct *c)
{
    struct cg_privates p = { .finish = CG_SERIAL,
                             .base = cg_strf(cg, "%s_%u", c->function ? c->function->name : "file",
                                             c->place.line) };
    cg_collect_privates(cg, c, &p, CG_ALL_COPIES);
    const char **spelling = calloc(p.n + 1, sizeof *spelling);
    struct cg_group g = { c, &p, spelling, cg->groups };
    unsigned d = group_depth(cg->groups);
    if (!spelling)
        abort();
    for (unsigned i = 0; i < p.n; i++)
        cg_line(cg, "__typeof__(%s) *const @g%u_%s = %s;", cg_spell(cg, p.list[i].var), d,
                p.list[i].var->name, cg_address(cg, p.list[i].var));
    cg_open_privates(cg, &p);
    open_group(cg, c);
    for (unsigned i = 0; i < p.n; i++)
        spelling[i] = cg_bind(cg, p.list[i].var, cg_strf(cg, "(*@g%u_%s)", d, p.list[i].var->name));
    cg->groups = &g;
    cg_copy_body(cg, c->body);
    cg->groups = g.outer;
    close_group(cg, c);
    cg_close_privates(cg, &p);
    free(spelling);
}

static const struct cg_group *group_of(const struct cg *cg, const struct omp_construct *c)
{
    for (const struct cg_group *g = cg->groups; g; g = g->outer)
        if (g->c == c)
            return g;
    return NULL;
}

static bool lists_variable(const struct omp_construct *c, enum omp_clause_kind kind,
                           const struct omp_var *v)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0; k->kind == kind && i < k->nitems; i++)
            if (k->items[i].var == v)
                return true;
    return false;
}

/* In a task in which v takes part already, or in a construct that reduces it, its spelling is that
 * of the copy. */
static void bind_to_group(struct cg *cg, const struct omp_construct *c, const struct omp_var *v)
{
    for (c = c->parent;
         c && !lists_variable(c, OMPC_IN_REDUCTION, v) && !lists_variable(c, OMPC_REDUCTION, v);
         c = c->parent) {
        const struct cg_group *g = group_of(cg, c);
        for (unsigned i = 0; g && i < g->copies->n; i++)
            if (g->copies->list[i].var == v) {
                cg_bind(cg, v, g->spelling[i]);
                return;
            }
    }
}

void cg_bind_in_reductions(struct cg *cg, const struct omp_construct *c)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0; k->kind == OMPC_IN_REDUCTION && i < k->nitems; i++)
            bind_to_group(cg, c, k->items[i].var);
}
