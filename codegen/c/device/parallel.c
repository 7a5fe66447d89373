/* parallel.c - parallel regions that a generic kernel or a device function encounters are outlined.
 *
 *   struct __omp_ctx_main_23 {                       before the function: the captured variables
 *       double *s;                                   by reference
 *       int r;                                       by value
 *   };
 *   __OMPGPU_PARALLEL void main_23__omp_parallel(void *__omp_c)
 *   {
 *       struct __omp_ctx_main_23 *__omp_ctx = __omp_c;
 *       double *s = __omp_ctx->s;
 *       int r = __omp_ctx->r;
 *       … the rest of the construct, with private copies …
 *   }
 *
 *   {                                                in place of the construct
 *       struct __omp_ctx_main_23 __omp_ctx = { &s, r };
 *       __ompgpu_parallel(main_23__omp_parallel, &__omp_ctx, num_threads, if);
 *   }
 *
 * Types with run-time bounds cannot be members: their pointers travel as void *, the bounds beside
 * them. */
#include <stdlib.h>
#include <string.h>
#include "codegen/c/device/device.h"

struct captured {
    const struct omp_var *var;
    enum { BOUNDS_ONLY, BY_VALUE, BY_REFERENCE } how;
};
struct captures {
    struct captured *list;
    unsigned n;
};

static bool in_atomic(const struct cg *cg, const struct omp_construct *first,
                      const struct omp_var *v)
{
    for (const struct omp_construct *c = first; c; c = c->next)
        if (((c->leaves & OMPL_ATOMIC) && cg_is_used(cg->unit, c->body, v)) ||
            in_atomic(cg, c->child, v))
            return true;
    return false;
}

/* May the region have a copy of this shared variable?  It must not change while the region runs,
 * and its address must not be taken.  A firstprivate of the target construct lives only there, so
 * the address taken elsewhere in the function does not count. */
static bool is_copyable(const struct cg *cg, const struct omp_construct *c,
                        const struct omp_sharing *s, const struct omp_var *v)
{
    if (cg_is_aggregate(v->type) || v->type->kind == OMPT_COMPLEX ||
        cg_is_written(cg->unit, cg_whole(c), v) || in_atomic(cg, c->child, v))
        return false;
    if (s && s->by_value)
        return true;
    return cg->target && !cg->env[v->id] && v->decl < cg->target->pragma.begin &&
           !cg_is_written(cg->unit, cg_whole(cg->target), v);
}

static bool used_inside(const struct cg *cg, const struct omp_construct *c, const struct omp_var *v)
{
    if (cg_is_used(cg->unit, c->body, v))
        return true;
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if ((k->kind == OMPC_SCHEDULE || k->kind == OMPC_DIST_SCHEDULE || k->kind == OMPC_LINEAR ||
             k->kind == OMPC_FILTER) &&
            cg_is_used(cg->unit, k->expr.extent, v))
            return true;
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0; k->kind == OMPC_REDUCTION && i < k->nitems; i++)
            if (k->items[i].nsections && cg_is_used(cg->unit, k->items[i].text, v))
                return true;
    return false;
}

/* A variable of the file that the target construct captures is a parameter of the region, and the
 * file's no more. */
static bool is_of_file(const struct cg *cg, const struct omp_var *v)
{
    if (v->storage != OMPS_GLOBAL || cg->env[v->id] != cg->file_env[v->id])
        return false;
    for (unsigned i = 0; cg->target && i < cg->target->ncaptures; i++)
        if (cg->target->captures[i].var == v)
            return false;
    return true;
}

/* -1: not captured */
static int how_captured(const struct cg *cg, const struct omp_construct *c, const struct omp_var *v)
{
    const struct omp_sharing *s = cg_sharing(c, v);
    bool declared_inside = v->decl >= c->pragma.begin && v->decl < cg_whole(c).end;
    if (declared_inside || (is_of_file(cg, v) && (!s || s->share == OMPSH_SHARED)))
        return -1;
    if (!s && v->storage != OMPS_GLOBAL && v->storage != OMPS_STATIC_LOCAL &&
        !v->type->variably_modified)
        return -1; /* only inner constructs use it, and each has a copy of its own */
    if (s && !s->lastprivate && (s->share == OMPSH_PRIVATE || s->share == OMPSH_LOOP_IV))
        return v->type->variably_modified ? BOUNDS_ONLY : -1;
    if ((!s || s->share == OMPSH_SHARED) && !used_inside(cg, c, v))
        return -1;
    if (s && s->share == OMPSH_FIRSTPRIVATE && !s->lastprivate && !cg_is_aggregate(v->type))
        return BY_VALUE;
    if ((!s || s->share == OMPSH_SHARED) && is_copyable(cg, c, s, v))
        return BY_VALUE;
    return BY_REFERENCE;
}

static void capture_variables(struct cg *cg, const struct omp_construct *c, struct captures *to)
{
    const struct omp_unit *u = cg->unit;
    struct omp_extent e = cg_whole(c);
    for (unsigned i = cg_first_ref(u, e.begin); i < u->nrefs && u->refs[i].offset < e.end; i++) {
        const struct omp_var *v = u->refs[i].var;
        bool seen = false;
        for (unsigned k = 0; k < to->n; k++)
            seen = seen || to->list[k].var == v;
        int how = seen ? -1 : how_captured(cg, c, v);
        if (how < 0)
            continue;
        to->list = realloc(to->list, (to->n + 1) * sizeof *to->list);
        if (!to->list)
            abort();
        to->list[to->n++] = (struct captured){ v, how };
    }
}

/* ------------------------------------------------------------------ text */
static bool is_pointer_only(const struct captured *k) { return k->var->type->variably_modified; }

static void declare_context(struct cg *cg, const char *name, const struct captures *l,
                            bool deferred)
{
    cg_open_struct(cg, cg_strf(cg, "struct @ctx_%s", name));
    for (unsigned i = 0; i < l->n; i++) {
        const struct omp_var *v = l->list[i].var;
        for (unsigned b = 0; b < cg_nbounds(v->type); b++)
            cg_line(cg, "unsigned long @%s_d%u;", v->name, b);
        if (l->list[i].how == BOUNDS_ONLY)
            continue;
        if (is_pointer_only(&l->list[i]))
            cg_line(cg, "void *%s;", v->name);
        else
            cg_line(cg, "%s;",
                    l->list[i].how == BY_REFERENCE
                        ? cg_reference(cg, v)
                        : cg_declaration(cg, cg_var_type(cg, v, CG_AS_IS), v->name));
    }
    if (deferred)
        cg_line(cg, "void *@deferred;");
    cg_close_struct(cg);
}

static const char *add_value(struct cg *cg, const char *list, const char *value)
{
    return *list ? cg_strf(cg, "%s, %s", list, value) : value;
}

/* A bound of the target construct's private variable was passed to the kernel. */
static bool is_bound_passed(const struct cg *cg, const struct captured *k)
{
    return k->how == BOUNDS_ONLY && !cg->env[k->var->id] && cg->target &&
           k->var->decl < cg->target->pragma.begin && k->var->type->kind == OMPT_ARRAY;
}

static const char *context_values(struct cg *cg, const struct captures *l, const char *deferred)
{
    const char *s = "";
    for (unsigned i = 0; i < l->n; i++) {
        const struct omp_var *v = l->list[i].var;
        const char *here = cg_spell(cg, v);
        for (unsigned b = 0; b < cg_nbounds(v->type); b++)
            s = add_value(cg, s,
                          is_bound_passed(cg, &l->list[i])
                              ? cg_strf(cg, "@%s_d%u", v->name, b)
                              : cg_bound(cg, v->type, b, cg_strf(cg, "(%s)", here)));
        if (l->list[i].how == BOUNDS_ONLY)
            continue;
        s = add_value(cg, s,
                      cg_strf(cg, "%s%s", is_pointer_only(&l->list[i]) ? "(void *)" : "",
                              l->list[i].how == BY_VALUE ? here : cg_address(cg, v)));
    }
    return deferred ? add_value(cg, s, deferred) : s;
}

static void unpack_context(struct cg *cg, const char *name, const struct captures *l)
{
    cg_line(cg, "struct @ctx_%s *@ctx = @c;", name);
    for (unsigned i = 0; i < l->n; i++) {
        const struct omp_var *v = l->list[i].var;
        for (unsigned b = 0; b < cg_nbounds(v->type); b++)
            cg_line(cg, "const unsigned long @%s_d%u = @ctx->@%s_d%u;", v->name, b, v->name, b);
        cg_bind(cg, v, NULL);
        if (l->list[i].how == BOUNDS_ONLY)
            continue;
        bool reference = l->list[i].how == BY_REFERENCE;
        cg_line(cg, "%s = @ctx->%s;",
                reference ? cg_reference(cg, v)
                          : cg_declaration(cg, cg_var_type(cg, v, CG_UNQUALIFIED), v->name),
                v->name);
        if (reference)
            cg_bind(cg, v, cg_strf(cg, "(*%s)", v->name));
    }
}

static void write_function(struct cg *cg, const struct omp_construct *c, unsigned leaves,
                           const char *name, const struct captures *l, bool deferred)
{
    struct cg_text text = { 0 }, *out = cg->out;
    struct cg_privates p = { .finish = CG_PARALLEL, .base = name };
    const char **env = cg_push_env(cg, true), *below = cg->copies_below;
    cg->copies_below = NULL;
    cg->out = &text;
    cg_open_function(cg, "__OMPGPU_PARALLEL void %s@parallel(void *@c)", name);
    cg_fp_pragmas(cg, c->pragma.begin);
    if (l->n || deferred)
        unpack_context(cg, name, l);
    if (deferred)
        cg_line(cg, "void *const @deferred = @ctx->@deferred;");
    cg_collect_privates(cg, c, &p, CG_OUTLINED);
    cg_find_owners(cg, c, &p);
    cg_open_implicit_task(cg, c);
    cg_inner_construct(cg, c, leaves, &p);
    cg_close_implicit_task(cg, c);
    cg_close(cg);
    cg_pop_env(cg, env);
    cg->copies_below = below;
    cg->out = cg->before;
    cg_comment(cg, "%s:%u: %s", cg_in_comment(cg, c->place.file), c->place.line,
               cg_directive(cg, c, false));
    if (l->n || deferred)
        declare_context(cg, name, l, deferred);
    cg_append(cg, &text);
    free(text.s);
    cg->out = out;
}

void cg_parallel(struct cg *cg, const struct omp_construct *c, unsigned leaves)
{
    struct captures l = { 0 };
    const char *name =
        cg_name(cg, cg_strf(cg, "%s_%u", c->function ? c->function->name : "file", c->place.line),
                "__parallel");
    const struct omp_clause *threads = cg_clause(c, OMPC_NUM_THREADS),
                            *condition = cg_if(c, OMPL_PARALLEL);
    name = cg_strf(cg, "%.*s", (int)(strlen(name) - strlen("__parallel")), name);
    capture_variables(cg, c, &l);
    const char *deferred = cg_deferred_pointer(cg, c);
    bool context = l.n || deferred;
    write_function(cg, c, leaves & ~(unsigned)OMPL_PARALLEL, name, &l, deferred);
    if (context)
        cg_line(cg, "struct @ctx_%s @ctx = { %s };", name, context_values(cg, &l, deferred));
    cg_line(cg, "__ompgpu_parallel(%s@parallel, %s, %s, %s);", name,
            context ? cg_strf(cg, "&@ctx") : "0", threads ? cg_expr(cg, threads->expr.extent) : "0",
            condition ? cg_strf(cg, "(%s) != 0", cg_expr(cg, condition->expr.extent)) : "1");
    free(l.list);
}
