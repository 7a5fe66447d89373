/* describe.c - target regions in the user's words, for -Rompgpu: who runs each loop, what is mapped
 * and what the launch will be, as records `region` at the top of the device text
 * (driver/base/protocol.h).  What the device tool and ptxas find out, the command adds. */
#include "codegen/c/clause.h"
#include "codegen/c/device/device.h"
#include "codegen/c/device/trips.h"
#include "codegen/c/text/text.h"
#include "driver/base/protocol.h"
#include "driver/base/text.h"
#include "hostrt/occupancy.h"

/* ------------------------------------------------------------------ words */
static const struct omp_construct *region_of(const struct omp_construct *c)
{
    while (c && !(c->leaves & OMPL_TARGET))
        c = c->parent;
    return c;
}

static bool is_within(struct omp_extent inner, struct omp_extent outer)
{
    return inner.begin >= outer.begin && inner.end <= outer.end;
}

/* Of the construct, and of those around it up to the region. */
static unsigned leaves_around(const struct omp_construct *c)
{
    unsigned leaves = 0;
    for (; c; c = c->leaves & OMPL_TARGET ? NULL : c->parent)
        leaves |= c->leaves;
    return leaves;
}

/* A parallel region inside of another one has one thread. */
static bool is_nested(const struct omp_construct *c)
{
    unsigned regions = 0;
    for (; c; c = c->leaves & OMPL_TARGET ? NULL : c->parent)
        regions += (c->leaves & OMPL_PARALLEL) != 0;
    return regions > 1;
}

/* In one line. */
static const char *words_of(struct cg *cg, struct omp_extent e)
{
    struct text t = { 0 };
    for (unsigned i = e.begin; i < e.end; i++) {
        char c = cg->unit->text[i];
        bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\';
        if (!blank)
            text_putc(&t, c);
        else if (t.n && t.s[t.n - 1] != ' ')
            text_putc(&t, ' ');
    }
    return cg_strf(cg, "%.*s", (int)t.n, t.n ? t.s : "");
}

/* What the frontend declares for constructs that it lowers. */
static bool is_ours(const struct omp_var *v) { return text_starts(v->name, "__"); }

/* ------------------------------------------------------------------ loops */
static const char *who_runs(const struct omp_construct *c)
{
    const unsigned around = leaves_around(c);
    const bool teams = around & OMPL_TEAMS, distributed = c->leaves & OMPL_DISTRIBUTE;
    if (c->leaves & (OMPL_FOR | OMPL_SECTIONS))
        return distributed                 ? "divided among the threads of all teams"
               : !(around & OMPL_PARALLEL) ? "one thread: no parallel region encloses it"
               : is_nested(c) ? "one thread: its parallel region is inside of another one"
               : around & OMPL_DISTRIBUTE ? "divided among the threads of the team that runs the "
                                            "iteration of 'distribute'"
               : teams ? "divided among the threads of a team, and each team runs all of it"
                       : "divided among the threads of one team";
    if (distributed)
        return "divided among the teams";
    return around & OMPL_PARALLEL ? "each thread runs all of it"
                                  : "one thread runs all of it, an iteration after the other";
}

static const char *schedule_of(struct cg *cg, const struct omp_construct *c)
{
    const struct omp_clause *k = cg_clause(c, OMPC_SCHEDULE);
    return k && k->sched != OMPSCHED_STATIC ? cg_strf(cg, ", %s", words_of(cg, k->extent)) : "";
}

/* "'i', 'j', 1000 iterations" */
static const char *iterations_of(struct cg *cg, const struct omp_construct *c)
{
    const char *names = "";
    int64_t all = 1;
    for (unsigned i = 0; i < c->nloops; i++) {
        int64_t n = cg_constant_trip(&c->loops[i]);
        all = all > 0 && n > 0 && n <= INT64_MAX / all ? all * n : 0;
        names = cg_strf(cg, "%s%s'%s'", names, i ? ", " : "", c->loops[i].iv->name);
    }
    return all > 0 ? cg_strf(cg, "%s, %lld iterations", names, (long long)all) : names;
}

static void describe_loop(struct cg *cg, struct text *t, const struct omp_construct *c)
{
    if (!c->nloops || !(c->leaves & (OMPL_DISTRIBUTE | OMPL_FOR | OMPL_SIMD | OMPL_TASKLOOP)))
        return;
    text_printf(t, "loop\tline %u (%s): %s%s%s%s%s\n", c->loops[0].place.line, iterations_of(cg, c),
                who_runs(c), schedule_of(cg, c), c->scan ? ", with a scan" : "",
                c->one_team ? "; not among several teams, since " : "",
                c->one_team ? c->one_team : "");
}

/* Does the loop belong to a construct, or to a part of the region that several threads run? */
static bool is_accounted(const struct omp_construct *first, struct omp_extent loop)
{
    for (const struct omp_construct *c = first; c; c = c->next) {
        for (unsigned i = 0; i < c->nloops; i++)
            if (c->loops[i].extent.begin == loop.begin)
                return true;
        if (is_within(loop, c->body) && (c->nloops || c->leaves & OMPL_PARALLEL))
            return true;
        if (is_accounted(c->child, loop))
            return true;
    }
    return false;
}

static bool is_alone(const struct omp_construct *target, struct omp_extent loop)
{
    return is_within(loop, target->body) && !(target->leaves & OMPL_PARALLEL) && !target->nloops &&
           !is_accounted(target->child, loop);
}

/* Outermost loops without a construct, in code that one thread of a team runs. */
static void describe_serial_loops(struct cg *cg, struct text *t, const struct omp_construct *target)
{
    const struct omp_unit *u = cg->unit;
    unsigned end = 0;
    for (unsigned i = 0; i < u->nrepeats; i++) {
        struct omp_extent loop = u->repeats[i];
        if (loop.begin < end || !is_alone(target, loop))
            continue;
        text_printf(t, "loop\tline %u: one thread of each team, an iteration after the other\n",
                    fe_place(u, loop.begin).line);
        end = loop.end;
    }
}

/* Of the league's loop, whose iterations several lanes may run; … */
static void describe_lanes(struct cg *cg, struct text *t, const struct omp_construct *target)
{
    const struct omp_construct *c = target->spmd_inner;
    struct cg_plan p;
    if (!c || !c->lanes || c->lanes->team)
        return;
    cg_make_plan(cg, target, &p);
    text_printf(t, "lanes\tline %u: %s\n", c->lanes->place.line, cg_lanes_words(cg, &p));
    cg_free_plan(&p);
}

/* ------------------------------------------------------------------ reductions */
static void describe_reductions(struct cg *cg, struct text *t, const struct omp_construct *c)
{
    const unsigned around = leaves_around(c);
    const char *over = is_nested(c) || c->leaves == OMPL_SIMD ? "one thread"
                       : !(c->leaves & OMPL_TEAMS)            ? "the threads of a team"
                       : around & OMPL_PARALLEL ? "the threads of a team, then over the teams"
                                                : "the teams";
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0; k->kind == OMPC_REDUCTION && i < k->nitems; i++)
            if (!is_ours(k->items[i].var))
                text_printf(t, "reduction\t'%s' with %s over %s\n", words_of(cg, k->items[i].text),
                            k->word, over);
}

/* … of a team's. */
static void describe_team_lanes(struct cg *cg, struct text *t, const struct omp_construct *c)
{
    if (c->lanes && c->lanes->team)
        text_printf(t, "lanes\tline %u: %s\n", c->lanes->place.line, cg_team_lanes_words(cg, c));
}

static void describe_constructs(struct cg *cg, struct text *t, const struct omp_construct *c)
{
    describe_loop(cg, t, c);
    describe_team_lanes(cg, t, c);
    describe_reductions(cg, t, c);
    for (const struct omp_construct *k = c->child; k; k = k->next)
        describe_constructs(cg, t, k);
}

/* ------------------------------------------------------------------ data */
static const char *name_of_map(struct cg *cg, const struct omp_map *m)
{
    const char *name = m->item ? words_of(cg, m->item->text) : m->var->name;
    const struct omp_type *type = m->item ? m->item->base_type : m->var->type;
    uint64_t size = m->item && m->item->nsections ? 0 : type ? type->size : 0;
    if (!size)
        return m->implicit ? cg_strf(cg, "'%s' (implicit)", name) : cg_strf(cg, "'%s'", name);
    return cg_strf(cg, "'%s' (%llu bytes%s)", name, (unsigned long long)size,
                   m->implicit ? ", implicit" : "");
}

/* One line a kind of map, with the list items in the order of the clauses. */
static void describe_maps(struct cg *cg, struct text *t, const struct omp_construct *target)
{
    static const char *const words[] = { [OMPM_ALLOC] = "allocated",
                                         [OMPM_TO] = "copied to the device",
                                         [OMPM_FROM] = "copied back",
                                         [OMPM_TOFROM] = "copied to the device and back" };
    static const unsigned order[] = { OMPM_TO, OMPM_TOFROM, OMPM_FROM, OMPM_ALLOC };
    for (unsigned k = 0; k < sizeof order / sizeof *order; k++) {
        const char *list = "";
        for (unsigned i = 0; i < target->nmaps; i++)
            if ((target->maps[i].type & OMPM_TOFROM) == order[k] && !is_ours(target->maps[i].var))
                list = cg_strf(cg, "%s%s%s", list, *list ? ", " : "",
                               name_of_map(cg, &target->maps[i]));
        if (*list)
            text_printf(t, "data\t%s, unless present: %s\n", words[order[k]], list);
    }
}

static void describe_captures(struct cg *cg, struct text *t, const struct omp_construct *target)
{
    const char *values = "", *pointers = "", *device = "";
    for (unsigned i = 0; i < target->ncaptures; i++) {
        const struct omp_capture *k = &target->captures[i];
        const char **list = k->kind == OMPCAP_BYVAL                   ? &values
                            : k->kind == OMPCAP_POINTER && k->map < 0 ? &pointers
                            : k->kind == OMPCAP_DEVICE_PTR || k->kind == OMPCAP_DEVICE_ADDR
                                ? &device
                                : NULL;
        const struct omp_sharing *s = cg_sharing(target, k->var);
        if (list)
            *list = cg_strf(cg, "%s%s'%s'%s", *list, **list ? ", " : "", k->var->name,
                            list == &values && !(s && s->clause) ? " (implicit)" : "");
    }
    if (*values)
        text_printf(t, "data\tpassed by value (firstprivate): %s\n", values);
    if (*pointers)
        text_printf(t, "data\tlooked up, what they point to must be mapped before: %s\n", pointers);
    if (*device)
        text_printf(t, "data\tdevice addresses: %s\n", device);
}

/* ------------------------------------------------------------------ launch */
/* The clause on the target construct or on one that is all of it. */
static const struct omp_clause *find_clause(const struct omp_construct *target,
                                            enum omp_clause_kind kind)
{
    const struct omp_construct *c = target->spmd_inner ? target->spmd_inner : target;
    const struct omp_clause *k = NULL;
    for (; !k && c && c != target->parent; c = c->parent)
        k = cg_clause(c, kind);
    for (c = target->child; !k && c && !target->spmd_inner; c = c->next)
        if (c->leaves & OMPL_TEAMS)
            k = cg_clause(c, kind);
    return k;
}

static unsigned leaves_of(const struct omp_construct *target)
{
    if (target->spmd_inner)
        return leaves_around(target->spmd_inner);
    unsigned leaves = target->leaves;
    for (const struct omp_construct *c = target->child; c; c = c->next)
        leaves |= c->leaves & OMPL_TEAMS ? c->leaves : 0;
    return leaves;
}

static const char *teams_of(struct cg *cg, const struct omp_construct *target)
{
    const struct omp_clause *k = find_clause(target, OMPC_NUM_TEAMS);
    const unsigned leaves = leaves_of(target);
    if (k)
        return words_of(cg, k->extent);
    if (!(leaves & OMPL_TEAMS))
        return "1 team";
    if (!(leaves & OMPL_DISTRIBUTE))
        return "a team for each multiprocessor";
    if (!target->spmd_inner)
        return "a team for each iteration of 'distribute', up to four for each that runs at a time";
    return find_clause(target, OMPC_REDUCTION)
               ? "as many teams as run at a time, or fewer if that is a thread for each iteration"
               : "a thread for each iteration";
}

/* The constant of the clause, or what hostrt/core/geometry.c begins with. */
static unsigned threads_of(const struct omp_construct *target)
{
    unsigned limit = cg_constant(find_clause(target, OMPC_THREAD_LIMIT)),
             number = target->spmd_inner ? cg_constant(find_clause(target, OMPC_NUM_THREADS)) : 0;
    const unsigned leaves = leaves_of(target);
    if (!target->needs_parallel)
        return 1;
    if (limit && number)
        return limit < number ? limit : number;
    if (limit || number)
        return limit + number;
    if (!target->spmd_inner)
        return OMPGPU_GENERIC_THREADS;
    if (!(leaves & OMPL_TEAMS))
        return OMPGPU_SINGLE_TEAM_THREADS;
    return OMPGPU_LEAGUE_THREADS;
}

static void describe_launch(struct cg *cg, struct text *t, const struct omp_construct *target)
{
    const struct omp_clause *limit = find_clause(target, OMPC_THREAD_LIMIT),
                            *number = find_clause(target, OMPC_NUM_THREADS);
    const struct omp_clause *k = number && target->spmd_inner ? number : limit;
    unsigned threads = threads_of(target);
    text_printf(t, "launch\t%s\n", teams_of(cg, target));
    if (k)
        text_printf(t, "threads\t%s\n", words_of(cg, k->extent));
    else
        text_printf(t, "threads\t%u a team%s\n", threads,
                    threads > 1 && target->spmd_inner
                        ? ", fewer for a short loop, others where the GPU holds more with them"
                        : "");
}

static void describe_phases(struct text *t, const struct omp_construct *target)
{
    unsigned n = 0;
    for (const struct omp_construct *p = target->phases; p; p = p->next)
        n++;
    if (n == 1)
        text_puts(
            t, "kernels\tor, where the parallel loop is long, one for each iteration of the loop "
               "around it, with the name below\n");
    else if (n)
        text_printf(
            t,
            "kernels\tor, where the loops are long, %u one after the other%s, which have the "
            "names below\n",
            n, target->nphase_loops ? ", again for each iteration of a loop around them" : "");
}

/* ------------------------------------------------------------------ regions */
/* whole: else a phase, whose data is the region's. */
static void describe_region(struct cg *cg, FILE *out, const struct omp_construct *target,
                            bool whole)
{
    struct text says = { 0 };
    describe_constructs(cg, &says, target);
    describe_serial_loops(cg, &says, target);
    describe_lanes(cg, &says, target);
    if (whole) {
        describe_maps(cg, &says, target);
        describe_captures(cg, &says, target);
    }
    describe_launch(cg, &says, target);
    describe_phases(&says, target);
    fprintf(out, "// %s\n",
            proto_write_region(
                &(struct proto_region){ .name = target->region,
                                        .function = target->function ? target->function->name : "",
                                        .file = target->place.file,
                                        .directive = target->spelling,
                                        .line = target->place.line,
                                        .column = target->place.col,
                                        .threads = threads_of(target),
                                        .says = says.s }));
}

void cg_describe_regions(struct cg *cg, FILE *out)
{
    for (unsigned i = 0; i < cg->unit->nconstructs; i++) {
        const struct omp_construct *c = cg->unit->constructs[i];
        if (!c->region || region_of(c) != c)
            continue;
        describe_region(cg, out, c, true);
        for (const struct omp_construct *p = c->phases; p; p = p->next)
            describe_region(cg, out, p, false);
    }
}
