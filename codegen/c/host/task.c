/* task.c - the host's tasks for a construct.
 *
 * depend: it waits for the others.  in_reduction: in it the variable is the copy of the host's task
 * reduction.  nowait: the runtime may take the construct, and a detached task stands for it. */
#include "codegen/c/host/host.h"

static const char *task_clauses(struct cg *cg, const struct omp_construct *c)
{
    const char *clauses = "";
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if (k->kind == OMPC_DEPEND || k->kind == OMPC_IN_REDUCTION)
            clauses = cg_strf(cg, "%s %s", clauses, cg_expr(cg, k->extent));
    return clauses;
}

/* An undeferred one around what follows. */
void cg_task_around(struct cg *cg, const struct omp_construct *c)
{
    const char *clauses = task_clauses(cg, c);
    if (*clauses) {
        cg_marker(cg, cg->place);
        cg_put(cg, "#pragma omp task if(0) default(shared)%s", clauses);
    }
}

/* nowait: can the runtime do it later?  What takes part in a task reduction needs its task's
 * copies. clang finds the type of a detached task's event by its name, which must not be declared
 * later.  In gcc's library neither an undeferred task nor a taskwait with depend waits for a
 * detached task. */
bool cg_is_deferrable(const struct cg *cg, const struct omp_construct *c)
{
    return cg_clause(c, OMPC_NOWAIT) && !cg_clause(c, OMPC_IN_REDUCTION) &&
           !(cg->unit->for_gcc && cg_clause(c, OMPC_DEPEND)) &&
           cg->unit->event_handle <= c->pragma.begin;
}

bool cg_any_deferrable(const struct cg *cg)
{
    const unsigned leaves = OMPL_TARGET | OMPL_ENTER_DATA | OMPL_EXIT_DATA | OMPL_UPDATE;
    for (unsigned i = 0; i < cg->unit->nconstructs; i++)
        if ((cg->unit->constructs[i]->leaves & leaves) &&
            cg_is_deferrable(cg, cg->unit->constructs[i]))
            return true;
    return false;
}

/* @task: what the runtime takes, where the clause does not say otherwise. */
void cg_defer(struct cg *cg, const struct omp_construct *c, const char *function,
              const char *arguments)
{
    const struct omp_clause *k = cg_clause(c, OMPC_NOWAIT);
    if (!cg_never_waits(c))
        cg_line(cg, "if (%s)", cg_expr(cg, k->expr.extent));
    cg_line(cg, "@task = %s(%s, %d);", function, arguments, cg_clause(c, OMPC_DEPEND) != NULL);
}

/* The host task of @task, which ends when that has ended.  The OpenMP library gives the rest of it
 * to any thread of the team, and those of tied tasks may get in each other's way for ever. */
void cg_detached_task(struct cg *cg, const struct omp_construct *c)
{
    cg_open(cg, "if (@task)");
    cg_line(cg, "omp_event_handle_t @event;");
    cg_marker(cg, cg->place);
    cg_put(cg, "#pragma omp task untied detach(@event) default(shared) firstprivate(@task)%s",
           task_clauses(cg, c));
    cg_marker(cg, cg->place);
    cg_line(cg, "__ompgpu_deferred(@task, (unsigned long)@event);");
    cg_close(cg);
}

/* What the construct depends on has ended, where it is not deferred. */
void cg_wait(struct cg *cg, const struct omp_construct *c)
{
    if (cg_clause(c, OMPC_DEPEND)) {
        cg_task_around(cg, c);
        cg_marker(cg, cg->place);
        cg_line(cg, ";");
    }
}

/* The `if` clause says no. */
void cg_wait_else(struct cg *cg, const struct omp_construct *c)
{
    if (cg_clause(c, OMPC_DEPEND) && cg_clause(c, OMPC_IF)) {
        cg_open(cg, "else");
        cg_wait(cg, c);
        cg_close(cg);
    }
}
