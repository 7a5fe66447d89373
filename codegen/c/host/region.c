/* region.c - target constructs: if condition, region, maps, parameters, launch, call, and the
 * user's construct, which runs where the call says so (version.c). */
#include "codegen/c/device/trips.h"
#include "codegen/c/host/host.h"
#include "codegen/c/reduce/reduce.h"
#include "hostrt/ompgpu.h"

/* ------------------------------------------------------------------ clauses */
const char *cg_device_of(struct cg *cg, const struct omp_construct *c)
{
    const struct omp_clause *k = cg_clause(c, OMPC_DEVICE);
    return k ? cg_strf(cg, "(%s)", cg_expr(cg, k->expr.extent)) : "__OMPGPU_DEVICE_DEFAULT";
}

const char *cg_condition_of(struct cg *cg, const struct omp_construct *c, enum omp_leaf leaf)
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
    flags |= cg_has_covering_form(cg, p) && !cg_has_strided_form(cg, p) ? OMPGPU_LAUNCH_COVERS : 0;
    return flags | (p->spmd ? OMPGPU_LAUNCH_SPMD : 0);
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
    const char *teams = p->teams ? limit_of(cg, p->teams, OMPC_NUM_TEAMS) : NULL, *trip,
               *trips = NULL;
    const char *slot = cg_launch_slot_bytes(cg, p), *copy = cg_launch_copy_bytes(cg, p),
               *inner = cg_inner_copy_bytes(cg, c, p);
    struct cg_lanes lanes;
    bool covering =
        cg_has_covering_form(cg, p) || (cg_lanes_cover(cg, p) && cg_find_lanes(cg, p, &lanes));
    if (covering)
        trips = cg_declare_trips(cg, p, suffix, &trip);
    else
        trip = cg_trip(cg, c);
    const struct {
        const char *member, *value;
    } rows[] = {
        { "device", cg_device_of(cg, c) },
        { "num_teams", teams },
        { "thread_limit", thread_limit(cg, c, p) },
        { "trip", trip },
        { "flags", cg_strf(cg, "%u", launch_flags(cg, c, p)) },
        { "copy_bytes", copy },
        { "reduce_bytes", slot },
        { "inner_bytes", inner },
        { "nloops", covering ? cg_strf(cg, "%u", p->inner->nloops) : NULL },
        { "trips", trips },
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
void cg_variables_of_blocks(struct cg *cg, bool after)
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
    cg_declare_list(cg, c);
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
    return cg_strf(cg, "&@region, %s, %s, %u, &@launch", cg_entries_of(cg, c, nmaps),
                   p->nparams ? cg_strf(cg, "@params") : "0", p->nparams);
}

/* nowait: the runtime takes it, or it is done at once, on the device or the host. */
static void write_deferred_target(struct cg *cg, const struct omp_construct *c, struct cg_plan *p)
{
    const char *condition = cg_condition_of(cg, c, OMPL_TARGET);
    cg_open_scope(cg);
    cg_line(cg, "void *@task = 0;");
    cg_line(cg, "_Bool @on_host = 1;");
    cg_declare_later(cg, c);
    cg_open(cg, "if (%s)", condition ? condition : "1"); /* false: maps are not evaluated */
    const char *arguments = call_arguments(cg, c, p, declare_call(cg, c, p));
    cg_defer(cg, c, "__ompgpu_defer_target", arguments);
    cg_open(cg, "if (!@task)");
    cg_wait(cg, c, cg_strf(cg, "@launch.device"));
    cg_line(cg, "@on_host = __ompgpu_target(%s);", arguments);
    cg_close(cg);
    cg_free_list(cg, c);
    cg_close(cg);
    cg_detached_task(cg, c);
    cg_line(cg, "else if (@on_host)");
    cg_host_task(cg, c);
    cg_host_version(cg, c);
    cg_close(cg);
}

static void write_undeferred_target(struct cg *cg, const struct omp_construct *c, struct cg_plan *p)
{
    const char *condition = cg_condition_of(cg, c, OMPL_TARGET);
    unsigned open = cg->out->open;
    cg_task_around(cg, c);
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
        cg_free_list(cg, c);
        call = cg_strf(cg, "@on_host");
    }
    if (condition)
        cg_close(cg);
    cg_line(cg, "if (%s)", call);
    cg_host_version(cg, c);
    cg_close_to(cg, open);
}

void cg_target(struct cg *cg, const struct omp_construct *c)
{
    struct cg_plan p;
    cg_make_plan(cg, c, &p);
    (cg_is_deferrable(cg, c) ? write_deferred_target : write_undeferred_target)(cg, c, &p);
    cg_free_plan(&p);
}

/* device_type(host): nobody else has it, and its maps are not evaluated. */
void cg_host_region(struct cg *cg, const struct omp_construct *c)
{
    unsigned open = cg->out->open;
    if (cg_is_deferrable(cg, c)) {
        cg_open_scope(cg);
        cg_declare_later(cg, c);
        cg_host_task(cg, c);
    } else
        cg_task_around(cg, c);
    cg_open_scope(cg);
    cg_host_version(cg, c);
    cg_close_to(cg, open);
}
