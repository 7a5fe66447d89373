/* task.c - the host's tasks for a construct.
 *
 * depend: it waits for the others.  in_reduction: in it the variable is the copy of the host's task
 * reduction.  nowait: the runtime may take the construct, and a detached task stands for it.  Where
 * the host does what depends on others, it is a task of its own, and the encountering one goes on:
 * it may have to, for the others to end. */
#include "codegen/c/host/host.h"
#include "driver/base/mem.h"

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

/* ------------------------------------------------------------------ on the host
 * The runtime has not taken it. */
static bool is_value(const struct omp_capture *k)
{
    return k->kind == OMPCAP_BYVAL || k->kind == OMPCAP_POINTER ||
           (k->kind == OMPCAP_DEVICE_PTR && k->var->type->kind == OMPT_POINTER);
}

/* Of its own storage, which the task shares: a list item that is mapped, an array or a struct. */
static bool is_shared(const struct omp_construct *c, const struct omp_var *v)
{
    for (unsigned i = 0; i < c->ncaptures; i++)
        if (c->captures[i].var == v && c->captures[i].kind != OMPCAP_PRIVATE)
            return !is_value(&c->captures[i]);
    return cg_is_aggregate(v->type);
}

static bool is_declared_in(const struct omp_construct *c, const struct omp_var *v)
{
    return v->decl >= c->pragma.begin && v->decl < c->body.end;
}

typedef VEC(const struct omp_var *) var_list;

/* A variable of a block's `extern` may have another meaning here, or none. */
static void keep_value(var_list *list, const struct omp_construct *c, const struct omp_var *v)
{
    unsigned i = 0;
    while (i < list->n && list->at[i] != v)
        i++;
    if (i == list->n && !is_shared(c, v) && !is_declared_in(c, v) && !v->carries && !v->in_blocks &&
        !v->is_constexpr)
        *VEC_PUSH(NULL, list) = v;
}

/* What the region and its clauses take the value of, as it is when the construct is reached. */
static void find_values(const struct cg *cg, const struct omp_construct *c, var_list *list)
{
    const struct omp_unit *u = cg->unit;
    for (unsigned i = 0; i < c->ncaptures; i++)
        if (is_value(&c->captures[i]))
            keep_value(list, c, c->captures[i].var);
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = cg_first_ref(u, k->expr.extent.begin);
             i < u->nrefs && u->refs[i].offset < k->expr.extent.end; i++)
            keep_value(list, c, u->refs[i].var);
}

/* Another thread may run the task, and it gets no copies of arrays with run-time bounds: with such
 * values the encountering thread does it. */
static bool cannot_be_kept(const struct omp_var *v)
{
    return v->is_per_thread || v->type->variably_modified;
}

static bool needs_this_thread(const struct cg *cg, const struct omp_construct *c)
{
    var_list list = { 0 };
    find_values(cg, c, &list);
    for (unsigned i = 0; i < list.n; i++)
        if (cannot_be_kept(list.at[i]))
            return true;
    return false;
}

void cg_declare_later(struct cg *cg, const struct omp_construct *c)
{
    const struct omp_clause *k = cg_clause(c, OMPC_NOWAIT);
    if (cg_clause(c, OMPC_DEPEND))
        cg_line(cg, "_Bool @later = %s;",
                needs_this_thread(cg, c) ? "0"
                : cg_never_waits(c)      ? "1"
                                         : cg_strf(cg, "!!(%s)", cg_expr(cg, k->expr.extent)));
}

void cg_wait(struct cg *cg, const struct omp_construct *c, const char *device)
{
    if (!cg_clause(c, OMPC_DEPEND))
        return;
    cg_line(cg, "@later = @later && __ompgpu_is_host(%s);", device);
    cg_open(cg, "if (!@later)");
    cg_task_around(cg, c);
    cg_marker(cg, cg->place);
    cg_line(cg, ";");
    cg_close(cg);
}

void cg_host_task(struct cg *cg, const struct omp_construct *c)
{
    if (!cg_clause(c, OMPC_DEPEND))
        return;
    var_list list = { 0 };
    find_values(cg, c, &list);
    cg_marker(cg, cg->place);
    cg_put(cg, "#pragma omp task if(@later) default(shared)%s", task_clauses(cg, c));
    for (unsigned i = 0; i < list.n; i++)
        if (!cannot_be_kept(list.at[i]))
            cg_put(cg, " firstprivate(%s)", list.at[i]->name);
    cg_marker(cg, cg->place);
}
