/* region.c - target regions: the region function, the record for the device tool, and the kernel.
 *
 * SPMD: the constructs from `target` to the innermost tightly nested one are one function that
 * every thread runs; their private copies are made together, for each thread, around the loop.
 * Generic: thread 0 runs the region; teams, distribute and parallel are written where they stand.
 */
#include <stdlib.h>
#include <string.h>
#include "codegen/c/device/device.h"
#include "hostrt/image.h"

/* ------------------------------------------------------------------ parameters */
static bool by_address(enum cg_pass pass)
{
    return pass == CG_PASS_ADDRESS || pass == CG_PASS_COPY || pass == CG_PASS_HOST_ADDRESS;
}

static const char *parameter_list(struct cg *cg, const struct cg_plan *p)
{
    const char *s = "";
    for (unsigned i = 0; i < p->nparams; i++) {
        const struct omp_var *v = p->params[i].var;
        if (p->params[i].pass == CG_PASS_BOUND)
            s = cg_strf(cg, "%s, unsigned long @%s_d%u", s, v->name, p->params[i].bound);
        else
            s = cg_strf(cg, "%s, %s", s,
                        by_address(p->params[i].pass)
                            ? cg_reference(cg, v)
                            : cg_declaration(cg, cg_var_type(cg, v, CG_UNQUALIFIED), v->name));
    }
    return s;
}

static const char *argument_list(struct cg *cg, const struct cg_plan *p)
{
    const char *s = "";
    for (unsigned i = 0; i < p->nparams; i++)
        s = p->params[i].pass == CG_PASS_BOUND
                ? cg_strf(cg, "%s, @%s_d%u", s, p->params[i].var->name, p->params[i].bound)
                : cg_strf(cg, "%s, %s", s, p->params[i].var->name);
    return s;
}

/* The emulated device passes an array of pointers to the arguments. */
static const char *unpacked_list(struct cg *cg, const struct cg_plan *p)
{
    const char *s = "";
    for (unsigned i = 0; i < p->nparams; i++) {
        const struct omp_var *v = p->params[i].var;
        const char *type = p->params[i].pass == CG_PASS_BOUND ? "unsigned long"
                           : by_address(p->params[i].pass) || v->type->variably_modified
                               ? "void *"
                               : cg_var_type(cg, v, CG_UNQUALIFIED);
        s = cg_strf(cg, "%s, *(%s *)@p[%u]", s, type, i + 1);
    }
    return s;
}

static void bind_parameters(struct cg *cg, const struct cg_plan *p)
{
    for (unsigned i = 0; i < p->nparams; i++)
        if (p->params[i].pass != CG_PASS_BOUND)
            cg_bind(cg, p->params[i].var,
                    by_address(p->params[i].pass) ? cg_strf(cg, "(*%s)", p->params[i].var->name)
                                                  : NULL);
}

/* ------------------------------------------------------------------ SPMD */
/* The construct of the chain that decides how v is treated: the innermost that does not just share
 * it. */
static const struct omp_construct *decided_by(const struct cg_plan *p, const struct omp_var *v)
{
    for (unsigned i = p->nchain; i--;) {
        const struct omp_sharing *s = cg_sharing(p->chain[i], v);
        if (s && s->share != OMPSH_SHARED)
            return p->chain[i];
    }
    return NULL;
}

/* A private variable of a team (not of its threads) through which the threads can communicate is in
 * team-shared storage. */
static void share_in_team(struct cg *cg, const struct cg_plan *p, struct cg_privates *l)
{
    for (unsigned i = 0; i < l->n; i++) {
        const struct omp_construct *c = decided_by(p, l->list[i].var);
        enum omp_share s = l->list[i].sharing->share;
        bool of_team = !(c->leaves & ~(unsigned)(OMPL_TARGET | OMPL_TEAMS | OMPL_DISTRIBUTE));
        bool communicates =
            cg_is_aggregate(l->list[i].var->type) ||
            (p->chain[0]->synchronises && cg_is_written(cg->unit, p->inner->body, l->list[i].var));
        if (of_team && communicates && (s == OMPSH_PRIVATE || s == OMPSH_FIRSTPRIVATE))
            cg_share_copy(cg, &l->list[i]);
    }
}

/* Pointers and private scalars that arrive by value, but that the threads of the team may change
 * for each other. */
static void share_pointers(struct cg *cg, const struct cg_plan *p)
{
    for (unsigned i = 0; i < p->nparams; i++) {
        const struct omp_var *v = p->params[i].var;
        bool value = !by_address(p->params[i].pass) && p->params[i].pass != CG_PASS_BOUND;
        if (!value || v->type->kind != OMPT_POINTER || !p->params[i].one_copy)
            continue;
        const char *type = cg_var_type(cg, v, CG_UNQUALIFIED), *n = v->name;
        cg_line(cg, "static __OMPGPU_SHARED __typeof__(%s) @s_%s __OMPGPU_SHARED_INIT;", type, n);
        cg_line(cg, "%s *@t_%s = (%s *)&@s_%s;", type, n, type, n);
        cg_open(cg, "if (__ompgpu_thread_id() == 0)");
        cg_line(cg, "*@t_%s = %s;", n, n);
        cg_close(cg);
        cg_line(cg, "__ompgpu_barrier(%u);", cg->place.line);
        cg_bind(cg, v, cg_strf(cg, "(*@t_%s)", n));
    }
}

/* Constant clauses that ask for whole warps: the launch has as many threads, or fewer warps
 * (hostrt/core/geometry.c). */
static bool whole_warps(const struct cg_plan *p)
{
    static const enum omp_clause_kind kinds[] = { OMPC_THREAD_LIMIT, OMPC_NUM_THREADS };
    bool any = false;
    for (unsigned i = 0; i < p->nchain; i++) {
        for (unsigned k = 0; k < 2; k++) {
            const struct omp_clause *c = cg_clause(p->chain[i], kinds[k]);
            unsigned n = cg_constant(c);
            if (c && (!n || n % 32))
                return false;
            any = any || c;
        }
        if (cg_if(p->chain[i], OMPL_PARALLEL))
            return false;
    }
    return any;
}

static const char *spmd_region(struct cg *cg, const struct cg_plan *p, unsigned *flags)
{
    struct cg_privates l = { .finish = p->teams ? CG_LEAGUE : CG_PARALLEL,
                             .base = p->chain[0]->region,
                             .scratchpad = true,
                             .whole_warps = whole_warps(p) };
    share_pointers(cg, p);
    for (unsigned i = 0; i < p->nchain; i++)
        cg_collect_privates(cg, p->chain[i], &l, CG_OUTLINED);
    share_in_team(cg, p, &l);
    cg_inner_construct(cg, p->inner,
                       p->leaves & ~(unsigned)(OMPL_TARGET | OMPL_TEAMS | OMPL_PARALLEL), &l);
    *flags = l.flags;
    return l.atomic || !l.record ? NULL : cg_strf(cg, "sizeof(%s)", l.record);
}

/* ------------------------------------------------------------------ generic */
static void generic_region(struct cg *cg, const struct cg_plan *p)
{
    const struct omp_construct *c = p->inner;
    unsigned rest = p->leaves & ~(unsigned)OMPL_TARGET;
    if (rest & OMPL_TEAMS) {
        cg_teams(cg, c, p->leaves);
    } else if (rest & OMPL_PARALLEL) {
        cg_parallel(cg, c, rest);
    } else {
        struct cg_privates l = { .finish = CG_SERIAL };
        cg_collect_privates(cg, c, &l, CG_OUTLINED);
        cg_inner_construct(cg, c, rest, &l);
    }
}

/* ------------------------------------------------------------------ the whole */
static unsigned smaller_limit(unsigned a, unsigned b) { return !a ? b : !b ? a : a < b ? a : b; }

static unsigned max_threads(const struct cg_plan *p)
{
    unsigned n = 0;
    const struct omp_clause *k;
    for (unsigned i = 0; i < p->nchain; i++) {
        if ((k = cg_clause(p->chain[i], OMPC_THREAD_LIMIT)))
            n = smaller_limit(n, cg_constant(k));
        if (p->spmd && (k = cg_clause(p->chain[i], OMPC_NUM_THREADS)))
            n = smaller_limit(n, cg_constant(k));
    }
    if (!p->spmd && p->teams && p->teams != p->chain[0] &&
        (k = cg_clause(p->teams, OMPC_THREAD_LIMIT)))
        n = smaller_limit(n, cg_constant(k));
    return n;
}

static bool is_constant_clause(const struct omp_clause *c) { return !c || cg_constant(c); }

/* Is the kernel launched with max_threads() threads, whatever the device and the environment?  The
 * clauses that the host asks (thread_limit() in host/region.c) are constants. */
static bool is_exact(const struct cg_plan *p)
{
    enum { LARGEST = 1024 };
    unsigned n = max_threads(p);
    if (!p->workers || !n || n > LARGEST)
        return false;
    for (unsigned i = 0; i < p->nchain; i++)
        if (!is_constant_clause(cg_clause(p->chain[i], OMPC_THREAD_LIMIT)) ||
            (p->spmd && (!is_constant_clause(cg_clause(p->chain[i], OMPC_NUM_THREADS)) ||
                         cg_if(p->chain[i], OMPL_PARALLEL))))
            return false;
    return p->spmd || !p->teams || is_constant_clause(cg_clause(p->teams, OMPC_THREAD_LIMIT));
}

/* form: NULL, or the value of `covering` or `form`. */
static void write_entry(struct cg *cg, const char *region, const char *form, const char *mode,
                        const char *env, const char *arguments)
{
    cg_open(cg, "if (__ompgpu_kernel_begin(%s, __OMPGPU_%s))", env, mode);
    cg_line(cg, "%s@region(%s%s%s%s);", region, env, form ? ", " : "", form ? form : "", arguments);
    cg_line(cg, "__ompgpu_kernel_end(%s, __OMPGPU_%s);", env, mode);
    cg_close(cg);
    cg_close(cg);
}

static const char *mode_of(const struct cg_plan *p) { return p->spmd ? "SPMD" : "GENERIC"; }

/* The kernel as the GPU calls it, … */
static void write_gpu_kernel(struct cg *cg, const char *region, const struct cg_plan *p,
                             const char *id, const char *form, const char *parameters)
{
    cg_open_function(cg, "__attribute__((nvptx_kernel)) void %s(struct __ompgpu_env @env%s)", id,
                     parameters);
    write_entry(cg, region, form, mode_of(p), cg_strf(cg, "&@env"), argument_list(cg, p));
}

/* … and as the emulated device does. */
static void write_kernel(struct cg *cg, const char *region, const struct cg_plan *p, const char *id,
                         const char *form, const char *parameters)
{
    cg_puts(cg, "\n#ifdef __NVPTX__\n");
    write_gpu_kernel(cg, region, p, id, form, parameters);
    cg_puts(cg, "\n#else\n");
    cg_open_function(cg, "void %s(void **@p)", id);
    cg_line(cg, "struct __ompgpu_env *@env = @p[0];");
    write_entry(cg, region, form, mode_of(p), cg_strf(cg, "@env"), unpacked_list(cg, p));
    cg_puts(cg, "\n#endif\n");
}

static void write_info(struct cg *cg, const struct omp_construct *c, const struct cg_plan *p,
                       const char *id, unsigned most, const char *bytes, unsigned flags)
{
    cg_line(cg, "__OMPGPU_INFO(%s, %s, %u, %u, %u, %s, %u, %s, %s, %s)", id, mode_of(p),
            c->place.line, c->place.col, most, bytes ? bytes : "0",
            flags | (!p->spmd && p->workers ? OMPGPU_KERNEL_WORKERS : 0),
            cg_quoted(cg, c->function ? c->function->name : ""), cg_quoted(cg, c->place.file),
            cg_quoted(cg, cg_directive(cg, c, true)));
}

const char *cg_strided_kernel(struct cg *cg, const struct omp_construct *target)
{
    return cg_strf(cg, "%s@strided", target->region);
}

/* A covering kernel has no loop that would gain from an exact number, and the device tool knows it
 * by its form (codegen/ir/passes/wide.c). */
static void write_kernels(struct cg *cg, const struct omp_construct *c, const struct cg_plan *p,
                          const char *parameters, const char *bytes, unsigned flags)
{
    bool covering = cg_has_covering_form(cg, p), strides = cg_has_strided_form(cg, p),
         tiled = cg_has_tiled_form(cg, p);
    unsigned exact = is_exact(p) ? OMPGPU_KERNEL_EXACT : 0,
             numbered = covering && !p->inner->unnumbered ? OMPGPU_KERNEL_NUMBERED : 0;
    write_info(cg, c, p, c->region, max_threads(p), bytes, flags | (covering ? numbered : exact));
    write_kernel(cg, c->region, p, c->region, strides || tiled ? "1" : NULL, parameters);
    if (strides) {
        const char *id = cg_strided_kernel(cg, c);
        write_info(cg, c, p, id, max_threads(p), bytes, flags | exact | OMPGPU_KERNEL_STRIDED);
        write_kernel(cg, c->region, p, id, "0", parameters);
    }
    if (tiled) {
        const char *id = cg_strf(cg, "%s" OMPGPU_TILED_SUFFIX, c->region);
        cg_puts(cg, "\n#ifdef __NVPTX__\n");
        write_info(cg, c, p, id, OMPGPU_TILE, NULL,
                   flags | OMPGPU_KERNEL_EXACT | OMPGPU_KERNEL_TILED);
        write_gpu_kernel(cg, c->region, p, id, "__ompgpu_tiled(__ompgpu_tile_shift())", parameters);
        cg_puts(cg, "\n#endif\n");
    }
}

/* The same region's function once more, and a kernel for each number of lanes. */
static void write_lanes(struct cg *cg, const struct omp_construct *c, const struct cg_plan *p)
{
    struct cg_lanes lanes;
    unsigned flags = 0, exact = is_exact(p) ? OMPGPU_KERNEL_EXACT : 0;
    if (!cg_find_lanes(cg, p, &lanes))
        return;
    const char **env = cg_push_env(cg, true), *parameters = parameter_list(cg, p),
               *name = cg_strf(cg, "%s@lanes", c->region);
    cg->lanes = true;
    bind_parameters(cg, p);
    cg_open_function(
        cg, "__OMPGPU_REGION void %s@region(struct __ompgpu_env *@env, const unsigned @lanes%s)",
        name, parameters);
    cg_fp_pragmas(cg, c->spmd_inner->pragma.begin);
    if (cg_lanes_cover(cg, p))
        cg_line(cg, "const _Bool @covering = 1;");
    const char *bytes = spmd_region(cg, p, &flags);
    cg_close(cg);
    for (unsigned i = 0; i < lanes.n; i++) {
        const char *id = cg_strf(cg, "%s" OMPGPU_LANES_SUFFIX "%u", c->region, lanes.lengths[i]);
        write_info(cg, c, p, id, max_threads(p), p->reduction ? bytes : NULL,
                   flags | exact | OMPGPU_KERNEL_LANES);
        write_kernel(cg, name, p, id, cg_strf(cg, "%u", lanes.lengths[i]), parameters);
    }
    cg->lanes = false;
    cg_pop_env(cg, env);
}

/* A GPU may lay a type of the host out in another way: some atomic ones, and max_align_t. */
static void check_layouts(struct cg *cg, const struct cg_plan *p)
{
    for (unsigned i = 0; i < p->nparams; i++) {
        const struct omp_var *v = p->params[i].var;
        const struct omp_type *t = v->type;
        while (t->kind == OMPT_ARRAY)
            t = t->elem;
        if (p->params[i].pass == CG_PASS_BOUND || t->kind != OMPT_RECORD || !t->size)
            continue;
        cg_line(cg,
                "_Static_assert(sizeof(__typeof__(%s)) == %llu, \"the type of '%s' has another "
                "size on this device than on the host\");",
                t->spelling, (unsigned long long)t->size, v->name);
    }
}

/* The region's function, and the kernels that call it. */
static void write_region(struct cg *cg, const struct omp_construct *c, const struct cg_plan *p)
{
    unsigned flags = 0;
    const char **env = cg_push_env(cg, true), *bytes = NULL, *parameters = parameter_list(cg, p);
    bool tiled = cg_has_tiled_form(cg, p);
    const char *form = tiled                        ? cg_strf(cg, ", const unsigned @form")
                       : cg_has_strided_form(cg, p) ? cg_strf(cg, ", const _Bool @covering")
                                                    : "";
    bind_parameters(cg, p);
    cg_open_function(cg, "__OMPGPU_REGION void %s@region(struct __ompgpu_env *@env%s%s)", c->region,
                     form, parameters);
    cg_fp_pragmas(cg, (p->spmd ? c->spmd_inner : c)->pragma.begin);
    check_layouts(cg, p);
    if (tiled && cg_has_strided_form(cg, p))
        cg_line(cg, "const _Bool @covering = @form;");
    if (p->spmd)
        bytes = spmd_region(cg, p, &flags);
    else
        generic_region(cg, p);
    cg_close(cg);
    if (p->reduction && !p->spmd) {
        bytes = cg->teams_bytes;
        flags = cg->teams_flags;
    }
    write_kernels(cg, c, p, parameters, p->reduction ? bytes : NULL, flags);
    cg_pop_env(cg, env);
}

void cg_region(struct cg *cg, const struct omp_construct *c)
{
    struct cg_plan p;
    struct cg_text text = { 0 }, before = { 0 }, *out = cg->out, *outer = cg->before;
    cg_make_plan(cg, c, &p);
    cg->target = c;
    cg->plan = &p;
    cg->place = c->place;
    cg->before = &before;
    cg->out = &text;
    write_region(cg, c, &p);
    write_lanes(cg, c, &p);
    cg->out = out;
    cg->before = outer;
    cg_comment(cg, "%s:%u in %s: %s  (%s)", cg_in_comment(cg, c->place.file), c->place.line,
               c->function ? c->function->name : "?", cg_directive(cg, c, false),
               p.spmd ? "SPMD" : "generic");
    cg_write_within(cg, c->function, &before, &text);
    free(text.s);
    free(before.s);
    cg->target = NULL;
    cg->plan = NULL;
    cg->teams_bytes = NULL;
    cg->teams_flags = 0;
    cg_free_plan(&p);
}
