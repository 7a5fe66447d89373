/* host.c - the host text: the preprocessed file, with target and data constructs turned into calls
 * of the host runtime.
 *
 * A target construct keeps its directive and body after the call, as its host version (version.c):
 * without offload targets clang compiles it for the host.  Other directives stay as they are. Names
 * made up here begin with the prefix ('@') or __ompgpu_. */
#include <stdlib.h>
#include <string.h>
#include "codegen/c/codegen.h"
#include "codegen/c/device/device.h"
#include "codegen/c/device/trips.h"
#include "codegen/c/host/host.h"
#include "codegen/c/reduce/reduce.h"
#include "hostrt/ompgpu.h"

extern const char cg_host_abi[]; /* hostrt/ompgpu.h, preprocessed; made by the Makefile */

/* ------------------------------------------------------------------ clauses */
static const char *device_of(struct cg *cg, const struct omp_construct *c)
{
    const struct omp_clause *k = cg_clause(c, OMPC_DEVICE);
    return k ? cg_strf(cg, "(%s)", cg_expr(cg, k->expr.extent)) : "__OMPGPU_DEVICE_DEFAULT";
}

static const char *condition_of(struct cg *cg, const struct omp_construct *c, enum omp_leaf leaf)
{
    const struct omp_clause *k = cg_if(c, leaf);
    return k ? cg_strf(cg, "(%s)", cg_expr(cg, k->expr.extent)) : NULL;
}

/* The smaller of two limits, of which 0 (NULL) is none. */
static const char *smaller_limit(struct cg *cg, const char *a, const char *b)
{
    if (!a || !b)
        return a ? a : b;
    return cg_strf(cg, "({ const int @a = %s, @b = %s; @a < @b ? @a : @b; })", a, b);
}

static const char *limit_of(struct cg *cg, const struct omp_construct *c, enum omp_clause_kind kind)
{
    const struct omp_clause *k = cg_clause(c, kind);
    return k ? cg_strf(cg, "(int)(%s)", cg_expr(cg, k->expr.extent)) : NULL;
}

static const char *thread_limit(struct cg *cg, const struct omp_construct *c,
                                const struct cg_plan *p)
{
    const char *n = NULL;
    for (unsigned i = 0; i < p->nchain; i++) {
        n = smaller_limit(cg, n, limit_of(cg, p->chain[i], OMPC_THREAD_LIMIT));
        if (p->spmd)
            n = smaller_limit(cg, n, limit_of(cg, p->chain[i], OMPC_NUM_THREADS));
    }
    if (p->teams && !p->spmd && p->teams != c)
        n = smaller_limit(cg, n, limit_of(cg, p->teams, OMPC_THREAD_LIMIT));
    for (unsigned i = 0; p->spmd && i < p->nchain;
         i++) { /* if(parallel: false): one thread a team */
        const struct omp_clause *k = cg_if(p->chain[i], OMPL_PARALLEL);
        if (k && k != cg_if(c, OMPL_TARGET))
            n = cg_strf(cg, "(%s) ? %s : 1", cg_expr(cg, k->expr.extent), n ? n : "0");
    }
    return n;
}

/* A pointer that reaches the kernel as it is, or the address of what has one of the device. */
static bool is_address(const struct cg_param *p)
{
    return p->pass == CG_PASS_HOST_ADDRESS ||
           (p->pass == CG_PASS_VALUE && p->var->type->kind == OMPT_POINTER);
}

static bool passes_addresses(const struct cg_plan *p)
{
    unsigned i = 0;
    while (i < p->nparams && !is_address(&p->params[i]))
        i++;
    return i < p->nparams;
}

static unsigned launch_flags(struct cg *cg, const struct omp_construct *c, const struct cg_plan *p)
{
    struct cg_lanes lanes;
    bool scans = p->teams && p->inner->scan;
    unsigned flags = 0;
    flags |= p->teams ? OMPGPU_LAUNCH_TEAMS : 0;
    flags |= p->workers ? OMPGPU_LAUNCH_PARALLEL : 0;
    flags |= p->leaves & OMPL_DISTRIBUTE ? OMPGPU_LAUNCH_DISTRIBUTE : 0;
    flags |= p->reduction || scans ? OMPGPU_LAUNCH_REDUCTION : 0;
    flags |= scans ? OMPGPU_LAUNCH_SCAN : 0;
    flags |= cg_clause(c, OMPC_OMPX_DYN_CGROUP_MEM) ? OMPGPU_LAUNCH_DYNAMIC : 0;
    flags |= passes_addresses(p) ? OMPGPU_LAUNCH_NAMED : 0;
    flags |= cg_find_lanes(cg, p, &lanes) ? OMPGPU_LAUNCH_LANES : 0;
    return flags | (p->spmd ? OMPGPU_LAUNCH_SPMD : 0);
}

/* ----------------------------------------------------------- tasks for a construct
 * depend: it waits for the others.  in_reduction: in it the variable is the copy of the host's task
 * reduction. */
static const char *task_clauses(struct cg *cg, const struct omp_construct *c)
{
    const char *clauses = "";
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if (k->kind == OMPC_DEPEND || k->kind == OMPC_IN_REDUCTION)
            clauses = cg_strf(cg, "%s %s", clauses, cg_expr(cg, k->extent));
    return clauses;
}

/* An undeferred one around what follows. */
static void write_task_around(struct cg *cg, const struct omp_construct *c)
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
static bool is_deferrable(const struct cg *cg, const struct omp_construct *c)
{
    return cg_clause(c, OMPC_NOWAIT) && !cg_clause(c, OMPC_IN_REDUCTION) &&
           !(cg->unit->for_gcc && cg_clause(c, OMPC_DEPEND)) &&
           cg->unit->event_handle <= c->pragma.begin;
}

static bool any_deferrable(const struct cg *cg)
{
    const unsigned leaves = OMPL_TARGET | OMPL_ENTER_DATA | OMPL_EXIT_DATA | OMPL_UPDATE;
    for (unsigned i = 0; i < cg->unit->nconstructs; i++)
        if ((cg->unit->constructs[i]->leaves & leaves) &&
            is_deferrable(cg, cg->unit->constructs[i]))
            return true;
    return false;
}

/* @task: what the runtime takes, where the clause does not say otherwise. */
static void write_defer(struct cg *cg, const struct omp_construct *c, const char *function,
                        const char *arguments)
{
    const struct omp_clause *k = cg_clause(c, OMPC_NOWAIT);
    if (!cg_never_waits(c))
        cg_line(cg, "if (%s)", cg_expr(cg, k->expr.extent));
    cg_line(cg, "@task = %s(%s, %d);", function, arguments, cg_clause(c, OMPC_DEPEND) != NULL);
}

/* The host task of @task, which ends when that has ended.  The OpenMP library gives the rest of it
 * to any thread of the team, and those of tied tasks may get in each other's way for ever. */
static void write_detached_task(struct cg *cg, const struct omp_construct *c)
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
static void write_wait(struct cg *cg, const struct omp_construct *c)
{
    if (cg_clause(c, OMPC_DEPEND)) {
        write_task_around(cg, c);
        cg_marker(cg, cg->place);
        cg_line(cg, ";");
    }
}

/* The `if` clause says no. */
static void write_wait_else(struct cg *cg, const struct omp_construct *c)
{
    if (cg_clause(c, OMPC_DEPEND) && cg_clause(c, OMPC_IF)) {
        cg_open(cg, "else");
        write_wait(cg, c);
        cg_close(cg);
    }
}

/* ------------------------------------------------------------------ target */
/* Inside a host construct with a default clause a global of ours would have no or the wrong
 * data-sharing attribute. */
static bool in_default(const struct omp_construct *c)
{
    for (c = c->parent; c; c = c->parent)
        for (const struct omp_clause *k = c->clauses; k; k = k->next)
            if (k->kind == OMPC_DEFAULT)
                return true;
    return false;
}

static bool lists(const struct omp_clause *k, const struct omp_var *v)
{
    unsigned i = 0;
    while (i < k->nitems && k->items[i].var != v)
        i++;
    return i < k->nitems;
}

/* Why it is passed as it is, and what would map it. */
static const char *passed_as(struct cg *cg, const struct omp_construct *c, const struct omp_var *v)
{
    const char *name = "firstprivate", *section = v->type->kind == OMPT_POINTER ? "[0:n]" : "";
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if (k->kind == OMPC_IS_DEVICE_PTR && lists(k, v))
            name = "is_device_ptr";
        else if (k->kind == OMPC_HAS_DEVICE_ADDR && lists(k, v))
            name = "has_device_addr";
    return cg_strf(cg, "%s, %s", cg_quoted(cg, cg_strf(cg, "%s(%s)", name, v->name)),
                   cg_quoted(cg, cg_strf(cg, "map(tofrom: %s%s)", v->name, section)));
}

static void declare_passed(struct cg *cg, const struct omp_construct *c, const struct cg_plan *p,
                           const char *suffix)
{
    if (!passes_addresses(p))
        return;
    cg_open(cg, "static const struct __ompgpu_passed @passed%s[] =", suffix);
    for (unsigned i = 0; i < p->nparams; i++)
        cg_line(cg, "{ %s },",
                is_address(&p->params[i]) ? passed_as(cg, c, p->params[i].var) : "0, 0");
    cg_close_with(cg, ";");
}

/* suffix: of the names. */
static void declare_region(struct cg *cg, const struct omp_construct *c, const struct cg_plan *p,
                           const char *suffix)
{
    declare_passed(cg, c, p, suffix);
    cg_line(cg,
            "static struct __ompgpu_region @region%s = { %s, %s, %s, %s, %u, %u, %s, 0, %s%s };",
            suffix, cg_quoted(cg, c->region), cg_quoted(cg, c->place.file),
            cg_quoted(cg, c->function ? c->function->name : ""),
            cg_quoted(cg, cg_directive(cg, c, true)), c->place.line, c->place.col,
            in_default(c) ? "0" : "&__ompgpu_unit",
            cg_has_covering_form(cg, p) ? cg_quoted(cg, cg_strided_kernel(cg, c)) : "0",
            passes_addresses(p) ? cg_strf(cg, ", @passed%s", suffix) : "");
    if (in_default(c))
        cg_line(cg, "__atomic_store_n(&@region%s.unit, __ompgpu_this_unit(), 0);", suffix);
}

/* How long the loop is that lanes may share. */
static void declare_lanes(struct cg *cg, const struct omp_construct *c, const struct cg_plan *p)
{
    const struct omp_lanes *l = p->inner->lanes;
    struct cg_lanes lanes;
    if (!cg_find_lanes(cg, p, &lanes))
        return;
    if (l->length)
        cg_line(cg, ".lanes = %u,", l->length);
    if (lanes.trip)
        cg_line(cg, ".inner_trip = %s,", lanes.trip);
    if (!lanes.rows)
        return;
    cg_line(cg, ".rows = %u,", lanes.rows);
    cg_line(cg, ".row_size = %u,", (unsigned)l->rows->type->elem->size);
    cg_line(cg, ".first = (long long)%s + %lld,", cg_first(cg, c), (long long)l->first);
}

static void declare_launch(struct cg *cg, const struct omp_construct *c, const struct cg_plan *p,
                           const char *suffix)
{
    const char *teams = p->teams ? limit_of(cg, p->teams, OMPC_NUM_TEAMS) : NULL,
               *trip = cg_trip(cg, c);
    const char *slot = cg_launch_slot_bytes(cg, p), *copy = cg_launch_copy_bytes(cg, p),
               *inner = cg_inner_copy_bytes(cg, c, p);
    struct cg_lanes lanes;
    bool covering =
        cg_has_covering_form(cg, p) || (cg_lanes_cover(cg, p) && cg_find_lanes(cg, p, &lanes));
    const struct {
        const char *member, *value;
    } rows[] = {
        { "device", device_of(cg, c) },
        { "num_teams", teams },
        { "thread_limit", thread_limit(cg, c, p) },
        { "trip", trip },
        { "flags", cg_strf(cg, "%u", launch_flags(cg, c, p)) },
        { "copy_bytes", copy },
        { "reduce_bytes", slot },
        { "inner_bytes", inner },
        { "nloops", covering ? cg_strf(cg, "%u", p->inner->nloops) : NULL },
        { "trips", covering ? cg_trips(cg, p) : NULL },
        { "dynamic_bytes", limit_of(cg, c, OMPC_OMPX_DYN_CGROUP_MEM) },
    };
    cg_open(cg, "const struct __ompgpu_launch @launch%s =", suffix);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value)
            cg_line(cg, ".%s = %s,", rows[i].member, rows[i].value);
    declare_lanes(cg, c, p);
    cg_close_with(cg, ";");
}

/* ------------------------------------------------------------------ variables of blocks
 * What `extern` in a region declares may have another meaning, or none, where the region stands, by
 * a local variable that hides it. What is mapped is found through a pointer of file scope. */
static bool is_in_blocks(const struct omp_construct *c, const struct omp_var *v)
{
    for (unsigned i = 0; v->in_blocks && i < c->ncaptures; i++)
        if (c->captures[i].var == v)
            return true;
    return false;
}

static void bind_variables_of_blocks(struct cg *cg, const struct omp_construct *c)
{
    for (unsigned i = 0; i < c->ncaptures; i++) {
        const struct omp_var *v = c->captures[i].var;
        if (v->in_blocks && !cg->env[v->id])
            cg_bind(
                cg, v,
                cg_strf(cg, "(*(%s *)@at_%s)", cg_type(cg, v->type, v->name, CG_AS_IS), v->name));
    }
}

/* Before and after the text. */
static void write_variables_of_blocks(struct cg *cg, bool after)
{
    const struct omp_unit *u = cg->unit;
    for (unsigned i = 0; i < u->nvars; i++) {
        const struct omp_var *v = u->vars[i];
        bool any = false;
        for (unsigned k = 0; v->in_blocks && k < u->nconstructs; k++)
            any = any || is_in_blocks(u->constructs[k], v);
        if (any && !after)
            cg_put(cg, "static char *const @at_%s;\n", v->name);
        if (any && after && !v->is_static)
            cg_line(cg, "extern %s %s;", cg_type(cg, v->type, v->name, CG_AS_IS), v->name);
        if (any && after)
            cg_line(cg, "static char *const @at_%s = (char *)&%s;", v->name, v->name);
    }
}

/* ------------------------------------------------------------------ maps */
static void declare_list(struct cg *cg, const struct omp_construct *c)
{
    if (cg_collects_maps(c))
        cg_line(cg, "struct __ompgpu_map_list @list = { 0, 0, 0 };");
}

static void free_list(struct cg *cg, const struct omp_construct *c)
{
    if (cg_collects_maps(c))
        cg_line(cg, "__ompgpu_map_free(&@list);");
}

/* As two arguments. */
static const char *entries_of(struct cg *cg, const struct omp_construct *c, unsigned n)
{
    if (cg_collects_maps(c))
        return cg_strf(cg, "@list.at, @list.n");
    return n ? cg_strf(cg, "@maps, %u", n) : "0, 0";
}

static long long step_of(const struct omp_loop *l)
{
    long long step = l->step.extent.end ? l->step.value : 1;
    return l->step_negative ? -step : step;
}

/* How often the loops around phases run, and their variables for the launches, which are described
 * once: with the values in the middle, so that loops which use them are as long as on average. */
static void declare_counters(struct cg *cg, const struct omp_construct *c)
{
    if (c->nphase_loops)
        cg_line(cg, "unsigned long long @counter = 0;");
    for (unsigned i = 0; i < c->nphase_loops; i++) {
        const struct omp_loop *l = &c->phase_loops[i].loop;
        const char *type = cg_type(cg, l->iv->type, "", CG_UNQUALIFIED);
        cg_line(cg, "const unsigned long long @times%u = %s;", i, cg_trip_here(cg, l));
        cg_line(cg,
                "const %s @middle%u = (%s)((long long)(%s) + %lldll * (long long)(@times%u / 2));",
                type, i, type, cg_expr(cg, l->lb.extent), step_of(l), i);
    }
}

/* Those of the region, where the counter is one of them or comes last.  -> how many */
static unsigned declare_parameters(struct cg *cg, const struct cg_plan *p, const struct omp_var *iv,
                                   unsigned number)
{
    const char *counter = cg_strf(cg, "{ &@counter, sizeof @counter, -1 },");
    bool found = false;
    cg_open(cg, "const struct __ompgpu_param @params%u[] =", number);
    for (unsigned i = 0; i < p->nparams; i++) {
        bool counts = p->params[i].var == iv;
        found |= counts;
        cg_line(cg, "%s", counts ? counter : cg_strf(cg, "@params[%u],", i));
    }
    if (!found)
        cg_line(cg, "%s", counter);
    cg_close_with(cg, ";");
    return p->nparams + !found;
}

/* -> the last two arguments of __ompgpu_target_repeated().  p: of the region */
static const char *declare_repeats(struct cg *cg, const struct omp_construct *c,
                                   const struct cg_plan *p)
{
    const char *list = "";
    for (unsigned i = 0; i < c->nphase_loops; i++) {
        const struct omp_repeat *r = &c->phase_loops[i];
        unsigned n = declare_parameters(cg, p, r->loop.iv, i);
        list = cg_strf(
            cg, "%s{ %u, %u, @times%u, (long long)(%s), %lldll, &@counter, @params%u, %u }, ", list,
            r->first, r->end, i, cg_expr(cg, r->loop.lb.extent), step_of(&r->loop), i, n);
    }
    cg_line(cg, "const struct __ompgpu_repeat @repeats[] = { %s};", list);
    return cg_strf(cg, ", @repeats, %u", c->nphase_loops);
}

static void bind_counters(struct cg *cg, const struct omp_construct *c)
{
    for (unsigned i = 0; i < c->nphase_loops; i++)
        cg_bind(cg, c->phase_loops[i].loop.iv, cg_strf(cg, "@middle%u", i));
}

/* -> the last arguments of __ompgpu_target_phases() or _repeated(), after a comma; "": there are no
 * phases. */
static const char *declare_phases(struct cg *cg, const struct omp_construct *c,
                                  const struct cg_plan *whole)
{
    const char *list = "", **env = cg_push_env(cg, false);
    unsigned n = 0;
    bind_counters(cg, c);
    for (const struct omp_construct *k = c->phases; k; k = k->next) {
        const char *suffix = cg_strf(cg, "_%u", ++n);
        struct cg_plan p;
        cg_make_plan(cg, k, &p);
        declare_region(cg, k, &p, suffix);
        declare_launch(cg, k, &p, suffix);
        cg_free_plan(&p);
        list =
            cg_strf(cg, "%s%s{ &@region%s, &@launch%s }", list, n > 1 ? ", " : "", suffix, suffix);
    }
    cg_pop_env(cg, env);
    if (!n)
        return "";
    cg_line(cg, "const struct __ompgpu_phase @phases[] = { %s };", list);
    return cg_strf(cg, ", @phases, %u%s", n, c->nphase_loops ? declare_repeats(cg, c, whole) : "");
}

/* -> number of map entries */
static unsigned declare_call(struct cg *cg, const struct omp_construct *c, struct cg_plan *p)
{
    declare_region(cg, c, p, "");
    const char **env = cg_push_env(cg, false);
    bind_variables_of_blocks(cg, c);
    declare_list(cg, c);
    declare_counters(cg, c);
    unsigned nmaps = cg_maps(cg, c, p);
    cg_pop_env(cg, env);
    declare_launch(cg, c, p, "");
    return nmaps;
}

/* The arguments of __ompgpu_target(). */
static const char *call_arguments(struct cg *cg, const struct omp_construct *c,
                                  const struct cg_plan *p, unsigned nmaps)
{
    return cg_strf(cg, "&@region, %s, %s, %u, &@launch", entries_of(cg, c, nmaps),
                   p->nparams ? cg_strf(cg, "@params") : "0", p->nparams);
}

/* nowait: the runtime takes it, or it is done at once, on the device or the host. */
static void write_deferred_target(struct cg *cg, const struct omp_construct *c, struct cg_plan *p)
{
    const char *condition = condition_of(cg, c, OMPL_TARGET);
    cg_open_scope(cg);
    cg_line(cg, "void *@task = 0;");
    cg_line(cg, "_Bool @on_host = 1;");
    cg_open(cg, "if (%s)", condition ? condition : "1"); /* false: maps are not evaluated */
    const char *arguments = call_arguments(cg, c, p, declare_call(cg, c, p));
    write_defer(cg, c, "__ompgpu_defer_target", arguments);
    cg_open(cg, "if (!@task)");
    write_wait(cg, c);
    cg_line(cg, "@on_host = __ompgpu_target(%s);", arguments);
    cg_close(cg);
    free_list(cg, c);
    cg_close(cg);
    write_wait_else(cg, c);
    write_detached_task(cg, c);
    cg_line(cg, "else if (@on_host)");
    cg_host_version(cg, c);
    cg_close(cg);
}

static void write_undeferred_target(struct cg *cg, const struct omp_construct *c, struct cg_plan *p)
{
    const char *condition = condition_of(cg, c, OMPL_TARGET);
    unsigned open = cg->out->open;
    write_task_around(cg, c);
    cg_open_scope(cg);
    if (condition) { /* when it is false, the map clauses are not evaluated */
        cg_line(cg, "_Bool @on_host = 1;");
        cg_open(cg, "if %s", condition);
    }
    const char *arguments = call_arguments(cg, c, p, declare_call(cg, c, p)),
               *call = cg_strf(cg, "__ompgpu_target%s(%s%s)",
                               c->nphase_loops ? "_repeated"
                               : c->phases     ? "_phases"
                                               : "",
                               arguments, declare_phases(cg, c, p));
    if (condition || cg_collects_maps(c)) {
        cg_line(cg, "%s@on_host = %s;", condition ? "" : "const _Bool ", call);
        free_list(cg, c);
        call = cg_strf(cg, "@on_host");
    }
    if (condition)
        cg_close(cg);
    cg_line(cg, "if (%s)", call);
    cg_host_version(cg, c);
    cg_close_to(cg, open);
}

static void write_target(struct cg *cg, const struct omp_construct *c)
{
    struct cg_plan p;
    cg_make_plan(cg, c, &p);
    (is_deferrable(cg, c) ? write_deferred_target : write_undeferred_target)(cg, c, &p);
    cg_free_plan(&p);
}

/* device_type(host): nobody else has it, and its maps are not evaluated. */
static void write_host_region(struct cg *cg, const struct omp_construct *c)
{
    unsigned open = cg->out->open;
    write_task_around(cg, c);
    cg_open_scope(cg);
    cg_host_version(cg, c);
    cg_close_to(cg, open);
}

/* ------------------------------------------------------------------ data constructs */
/* enum ompgpu_construct of hostrt/ompgpu.h */
static const char *construct_value(enum omp_leaf leaf)
{
    return leaf == OMPL_ENTER_DATA  ? "__OMPGPU_ENTER_DATA"
           : leaf == OMPL_EXIT_DATA ? "__OMPGPU_EXIT_DATA"
           : leaf == OMPL_UPDATE    ? "__OMPGPU_UPDATE"
                                    : "__OMPGPU_TARGET_DATA";
}

/* Opens a scope; evaluates condition, place and device, once. */
static void open_data(struct cg *cg, const struct omp_construct *c, enum omp_leaf leaf)
{
    const char *condition = condition_of(cg, c, leaf);
    cg_open_scope(cg);
    cg_line(cg, "static const struct __ompgpu_place @place = { %s, %u, %s, %s };",
            cg_quoted(cg, c->place.file), c->place.line, cg_quoted(cg, cg_directive(cg, c, true)),
            construct_value(leaf));
    cg_line(cg, "const long @device = %s;", device_of(cg, c));
    cg_line(cg, "const _Bool @if = %s;", condition ? condition : "1");
}

/* nowait: the runtime takes it, or it is done at once. */
static void write_deferred_call(struct cg *cg, const struct omp_construct *c, enum omp_leaf leaf,
                                const char *function)
{
    open_data(cg, c, leaf);
    cg_line(cg, "void *@task = 0;");
    cg_open(cg, "if (@if)");
    declare_list(cg, c);
    const char *arguments =
        cg_strf(cg, "&@place, @device, %s", entries_of(cg, c, cg_maps(cg, c, NULL)));
    write_defer(cg, c, "__ompgpu_defer_data", arguments);
    cg_open(cg, "if (!@task)");
    write_wait(cg, c);
    cg_line(cg, "%s(%s);", function, arguments);
    cg_close(cg);
    free_list(cg, c);
    cg_close(cg);
    write_wait_else(cg, c);
    write_detached_task(cg, c);
    cg_close(cg);
}

/* Stand-alone: the maps are evaluated only where the condition holds. */
static void write_data_call(struct cg *cg, const struct omp_construct *c, enum omp_leaf leaf,
                            const char *function)
{
    if (is_deferrable(cg, c)) {
        write_deferred_call(cg, c, leaf, function);
        return;
    }
    write_task_around(cg, c);
    open_data(cg, c, leaf);
    cg_open(cg, "if (@if)");
    declare_list(cg, c);
    unsigned nmaps = cg_maps(cg, c, NULL);
    if (nmaps)
        cg_line(cg, "%s(&@place, @device, %s);", function, entries_of(cg, c, nmaps));
    free_list(cg, c);
    cg_close(cg);
    cg_close(cg);
}

static void write_enter_data(struct cg *cg, const struct omp_construct *c)
{
    write_data_call(cg, c, OMPL_ENTER_DATA, "__ompgpu_data_begin");
}
static void write_exit_data(struct cg *cg, const struct omp_construct *c)
{
    write_data_call(cg, c, OMPL_EXIT_DATA, "__ompgpu_data_end");
}
static void write_update(struct cg *cg, const struct omp_construct *c)
{
    write_data_call(cg, c, OMPL_UPDATE, "__ompgpu_data_update");
}

static const char *kept_entries(struct cg *cg, const struct omp_construct *c, unsigned n)
{
    return cg_collects_maps(c) ? entries_of(cg, c, n) : cg_strf(cg, "@kept, %u", n);
}

/* The same entries at the end as at the beginning, whatever the body does to pointers and sections.
 */
static unsigned begin_data(struct cg *cg, const struct omp_construct *c)
{
    write_task_around(cg, c);
    open_data(cg, c, OMPL_TARGET_DATA);
    if (!c->nmaps)
        return 0;
    bool collected = cg_collects_maps(c);
    if (collected)
        declare_list(cg, c);
    else
        cg_line(cg, "struct __ompgpu_map @kept[%u];", c->nmaps);
    cg_open(cg, "if (@if)");
    unsigned nmaps = cg_maps(cg, c, NULL);
    if (!collected)
        cg_line(cg, "__builtin_memcpy(@kept, @maps, sizeof @maps);");
    cg_line(cg, "__ompgpu_data_begin(&@place, @device, %s);", kept_entries(cg, c, nmaps));
    cg_close(cg);
    return nmaps;
}

static bool is_device_pointer(const struct omp_clause *k, const struct omp_item *item)
{
    return item->var->type->kind == OMPT_POINTER &&
           (k->kind == OMPC_USE_DEVICE_PTR || item->nsections);
}

/* use_device_ptr(p): p is a variable of the body with the device pointer.  use_device_addr(v): v is
 * spelled (*@dev_v); for a pointer with a section it is the pointer that is translated, by where
 * the section is. */
static void use_device(struct cg *cg, const struct omp_clause *k)
{
    for (unsigned i = 0; i < k->nitems; i++) {
        const struct omp_item *item = &k->items[i];
        const char *v = item->var->name;
        bool pointer = is_device_pointer(k, item);
        const char *base = pointer ? v : cg_strf(cg, "&(%s)", v), *star = pointer ? "" : "*",
                   *device = cg_strf(cg, "__ompgpu_use_device_at(&@place, @device, %s)", base);
        if (item->nsections) {
            const char *begin = cg_span_of(cg, item).begin;
            device = cg_strf(cg,
                             "(void *)((char *)__ompgpu_use_device_at(&@place, @device, %s) - "
                             "((char *)%s - (char *)%s))",
                             begin, begin, base);
        }
        cg_line(cg, "__typeof__(%s) %s@dev_%s = @if ? %s : (void *)%s;", v, star, v, device, base);
        if (pointer)
            cg_line(cg, "__typeof__(@dev_%s) %s = @dev_%s;", v, v, v);
    }
}

static void bind_device_addresses(struct cg *cg, const struct omp_clause *k)
{
    for (unsigned i = 0; i < k->nitems; i++) {
        const struct omp_item *item = &k->items[i];
        cg_bind(cg, item->var,
                is_device_pointer(k, item) ? NULL : cg_strf(cg, "(*@dev_%s)", item->var->name));
    }
}

static bool uses_device(const struct omp_clause *k)
{
    return k->kind == OMPC_USE_DEVICE_PTR || k->kind == OMPC_USE_DEVICE_ADDR;
}

static void write_target_data(struct cg *cg, const struct omp_construct *c)
{
    unsigned nmaps = begin_data(cg, c);
    cg_open_scope(cg);
    const char **env = cg_push_env(cg, false);
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if (uses_device(k))
            use_device(cg, k), bind_device_addresses(cg, k);
    cg_copy_body(cg, c->body);
    cg_pop_env(cg, env);
    cg_close(cg);
    if (nmaps) {
        cg_open(cg, "if (@if)");
        cg_line(cg, "__ompgpu_data_end(&@place, @device, %s);", kept_entries(cg, c, nmaps));
        free_list(cg, c);
        cg_close(cg);
    }
    cg_close(cg);
}

static bool has_blocks(const struct omp_unit *u)
{
    for (unsigned i = 0; i < u->nconstructs; i++)
        if (u->constructs[i]->leaves & OMPL_END_DECLARE_TARGET)
            return true;
    return false;
}

/* The clause `was(list)` under another name; a list without one stays. */
static const char *rename_clause(struct cg *cg, const struct omp_clause *k, const char *was,
                                 const char *name)
{
    unsigned list = k->extent.begin + (unsigned)strlen(was);
    if (cg->unit->text[k->extent.begin] == '(')
        return NULL;
    return cg_strf(cg, "%s%.*s", name, (int)(k->extent.end - list), cg->unit->text + list);
}

/* What the clause is in the host text; NULL: what it was.  clang would leave out what is
 * `device_type(nohost)`, to which tables and regions that run on the host refer, and rejects `link`
 * variables in functions of declare target blocks, and `to` since 5.2.  gcc 12 knows OpenMP 5.0's
 * clauses. */
static const char *host_clause(struct cg *cg, const struct omp_clause *k)
{
    bool gcc = cg->unit->for_gcc;
    if (k->kind == OMPC_DEVICE_TYPE && k->keyword == OMPK_NOHOST)
        return "device_type(any)";
    if (k->kind == OMPC_LINK && (gcc || has_blocks(cg->unit)))
        return rename_clause(cg, k, "link", gcc ? "to" : fe_enter_clause());
    if (k->kind == OMPC_ENTER && gcc)
        return rename_clause(cg, k, "enter", "to");
    if (k->kind == OMPC_TO && !gcc)
        return rename_clause(cg, k, "to", fe_enter_clause());
    if (k->kind == OMPC_LOCAL && gcc)
        return rename_clause(cg, k, "local", "to");
    return k->kind == OMPC_INDIRECT && gcc ? "" : NULL;
}

static bool declares_on_host(const struct cg *cg, const struct omp_construct *c)
{
    if (!(c->leaves & OMPL_DECLARE_TARGET) || cg->unit->for_gcc)
        return (c->leaves & OMPL_DECLARE_TARGET) != 0;
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if (k->kind == OMPC_LINK || k->keyword == OMPK_NOHOST ||
            (k->kind == OMPC_TO && strcmp(fe_enter_clause(), "to") != 0))
            return true;
    return false;
}

static void declare_on_host(struct cg *cg, const struct omp_construct *c)
{
    unsigned at = c->pragma.begin;
    cg_marker(cg, fe_place(cg->unit, at));
    if (c->directive == OMPDIR_BEGIN_DECLARE_TARGET && cg->unit->for_gcc) {
        cg_puts(cg, "#pragma omp declare target\n");
        return;
    }
    for (const struct omp_clause *k = c->clauses; k; k = k->next) {
        const char *other = host_clause(cg, k);
        if (!other)
            continue;
        cg_write(cg, cg->unit->text + at, k->extent.begin - at);
        cg_puts(cg, other);
        at = k->extent.end;
    }
    cg_write(cg, cg->unit->text + at, c->pragma.end - at);
}

/* ------------------------------------------------------------------ the file */
static const struct {
    unsigned leaf;
    void (*write)(struct cg *, const struct omp_construct *);
} handlers[] = {
    { OMPL_TARGET, write_target },         { OMPL_TARGET_DATA, write_target_data },
    { OMPL_ENTER_DATA, write_enter_data }, { OMPL_EXIT_DATA, write_exit_data },
    { OMPL_UPDATE, write_update },
};

static void host_construct(struct cg *cg, const struct omp_construct *c)
{
    for (unsigned i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (c->leaves & handlers[i].leaf) {
            handlers[i].write(cg, c);
            return;
        }
    if (c->left_out)
        cg_puts(cg, "\n");
    else if (c->host_region)
        write_host_region(cg, c);
    else if (declares_on_host(cg, c))
        declare_on_host(cg, c);
    else
        cg_host_construct(cg, c);
}

static bool handles_construct(const struct cg *cg, const struct omp_construct *c)
{
    for (unsigned i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (c->leaves & handlers[i].leaf)
            return true;
    return c->left_out || c->host_region || cg_host_changes(c) || declares_on_host(cg, c);
}

static unsigned write_variables(struct cg *cg)
{
    unsigned n = 0;
    for (unsigned i = 0; i < cg->unit->nvars; i++) {
        const struct omp_var *v = cg->unit->vars[i];
        if (!cg_is_device_variable(v) || v->is_extern || v->declare_target == OMPV_DT_GROUP)
            continue;
        if (!n++)
            cg_open(cg, "static const struct __ompgpu_var __ompgpu_vars[] =");
        cg_line(cg, "{ %s, (void *)&%s, sizeof %s, %d },", cg_quoted(cg, cg_export_id(cg, v)),
                v->name, v->name, v->declare_target == OMPV_DT_LINK);
    }
    if (n)
        cg_close_with(cg, ";");
    return n;
}

static unsigned unit_flags(const struct omp_unit *u)
{
    unsigned flags = u->offload_mandatory ? OMPGPU_OFFLOAD_IS_MANDATORY : 0;
    for (unsigned i = 0; i < u->nconstructs; i++) {
        const struct omp_construct *c = u->constructs[i];
        if (c->directive != OMPDIR_REQUIRES)
            continue;
        if (cg_clause(c, OMPC_UNIFIED_ADDRESS))
            flags |= OMPGPU_UNIFIED_ADDRESS;
        if (cg_clause(c, OMPC_UNIFIED_SHARED_MEMORY))
            flags |= OMPGPU_UNIFIED_SHARED_MEMORY;
    }
    return flags;
}

/* clang rejects the variable in constructs of declare target functions, if it is not one of these.
 * gcc 12 does not know `begin`. */
static void declare_this_unit(struct cg *cg)
{
    bool declared = false;
    for (unsigned i = 0; i < cg->unit->nconstructs; i++)
        declared |= (cg->unit->constructs[i]->leaves & OMPL_END_DECLARE_TARGET) != 0;
    cg_puts(cg, declared ? "\n#pragma omp declare target" : "");
    cg_puts(cg, "\nstatic struct __ompgpu_unit __ompgpu_unit;\n");
    cg_puts(cg, declared ? "#pragma omp end declare target\n" : "");
    cg_puts(cg, "static __inline__ struct __ompgpu_unit *__ompgpu_this_unit(void) { return "
                "&__ompgpu_unit; }\n");
}

static void register_unit(struct cg *cg, unsigned nvars)
{
    const struct omp_unit *u = cg->unit;
    cg_line(
        cg,
        "static struct __ompgpu_unit __ompgpu_unit = { __OMPGPU_ABI_VERSION, __ompgpu_image, %s, "
        "%s, %u, %u, 0 };",
        cg_quoted(cg, u->path), nvars ? "__ompgpu_vars" : "0", nvars, unit_flags(u));
    /* before and after those of the program, which may have regions */
    cg_open_function(cg, "static void __attribute__((constructor(100), "
                         "no_profile_instrument_function)) __ompgpu_enter(void)");
    cg_line(cg, "__ompgpu_register(&__ompgpu_unit);");
    cg_close(cg);
    cg_open_function(cg, "static void __attribute__((destructor(100), "
                         "no_profile_instrument_function)) __ompgpu_leave(void)");
    cg_line(cg, "__ompgpu_unregister(&__ompgpu_unit);");
    cg_close(cg);
}

static void write_unit(struct cg *cg)
{
    const struct omp_unit *u = cg->unit;
    cg_puts(cg, cg_host_abi);
    if (!u->event_handle && any_deferrable(cg))
        cg_put(cg, "\ntypedef %s omp_event_handle_t;",
               u->for_gcc ? "enum omp_event_handle_t { __ompgpu_most = ~0ul }" : "unsigned long");
    declare_this_unit(cg);
    cg_host_reductions(cg);
    write_variables_of_blocks(cg, false);
    cg_copy_needed(cg);
    cg_marker(cg, (struct omp_place){ "<ompgpu>", 1, 1 });
    write_variables_of_blocks(cg, true);
    unsigned nvars = write_variables(cg);
    cg_line(cg, "static const char __ompgpu_image[0] __attribute__((section(\".ompgpu.image\"), "
                "aligned(16), used, no_sanitize_address));");
    if (!u->host_only)
        register_unit(cg, nvars);
    cg_end_line(cg);
}

int cg_write_host_c(FILE *out, const struct omp_unit *u)
{
    struct cg cg;
    struct cg_text text = { 0 };
    cg_init(&cg, u, &text);
    cg.construct = host_construct;
    cg.handles = handles_construct;
    write_unit(&cg);
    if (!cg.errors)
        fwrite(text.s, 1, text.n, out);
    int errors = cg.errors;
    free(text.s);
    cg_free(&cg);
    return errors;
}
