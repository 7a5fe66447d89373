/* reach.c - what belongs to the device: functions that target regions reach, the variables these
 * use, declare target.
 *
 * Target regions are the roots.  A declare target function that no region of this file reaches is
 * taken along for other files when all of what it needs can run on the device; otherwise it stays
 * on the host.  What has no definition here and is not of a system header is left to the device
 * link, which knows the program's other files. */
#include "frontend/fe.h"
#include <string.h>

static const struct device_func {
    enum {
        GROUP_MATH,
        GROUP_STDLIB,
        GROUP_STRING,
        GROUP_STDIO,
        GROUP_ASSERT,
        GROUP_OMP_ANY, /* the same for all teams */
        GROUP_OMP,     /* from here on, what may show the team */
        GROUP_SCHEDULE,
        GROUP_THREADS,
        GROUP_TASK,
        GROUP_LOCK
    } group;
    const char *name;
} device_funcs[] = {
#define DEVICE_FUNC(group, name) { GROUP_##group, #name },
#include "devicertl/device_funcs.def"
};

struct walk { /* one closure */
    struct fe *fe;
    VEC(struct fe_function *) functions;
    VEC(struct omp_var *) vars;
    unsigned next_function, next_var;
    struct omp_construct *region; /* for messages; NULL for declare target functions */
    struct omp_function *in;      /* whose body is looked at, NULL: the region's */
    bool quiet, bad, elsewhere;
};

static const struct device_func *find_device_func(const char *name)
{
    size_t n = strlen(name);
    for (unsigned i = 0; i < sizeof device_funcs / sizeof *device_funcs; i++) {
        const struct device_func *f = &device_funcs[i];
        bool suffix = f->group == GROUP_MATH && n &&
                      (name[n - 1] == 'f' || (name[n - 1] == 'l' && fe_has_long_double()));
        if (!strcmp(f->name, name) ||
            (suffix && strlen(f->name) == n - 1 && !strncmp(f->name, name, n - 1)))
            return f;
    }
    return NULL;
}
bool fe_is_device_function(const char *name) { return find_device_func(name) != NULL; }

/* Of the known names those that ISO C leaves to the user: declared without a system header they may
 * be functions of another file. */
static bool is_free_name(const char *name)
{
    static const char *const names[] = { "exp10", "j0", "j1", "jn", "y0", "y1", "yn", "sincos" };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (!strncmp(name, names[i], n) &&
            (!name[n] || !strcmp(name + n, "f") || !strcmp(name + n, "l")))
            return true;
    }
    return false;
}
static bool is_builtin(const char *name)
{
    return !strncmp(name, "__builtin_", 10) || !strncmp(name, "__sync_", 7) ||
           !strncmp(name, "__atomic_", 9);
}

/* A header's static function without a body, as those of <tgmath.h>: only operands of sizeof and
 * __typeof__, which are not evaluated, can name it. */
static bool is_for_types(const struct fe_function *f)
{
    return f->system && f->f->is_static && !f->f->defined;
}

static const char *where(struct walk *w)
{
    struct fe *fe = w->fe;
    if (w->region && !w->in)
        return arena_printf(fe->a, "the target region at line %u", w->region->place.line);
    if (w->region)
        return arena_printf(fe->a, "'%s', which the target region at line %u calls,", w->in->name,
                            w->region->place.line);
    return arena_printf(fe->a, "the device function '%s'", w->in->name);
}

static void add_fault(struct walk *w, unsigned offset, enum fe_unsupported what, const char *name,
                      const char *where)
{
    w->bad = true;
    if (!w->quiet)
        fe_unsupported(w->fe, fe_place(w->fe->u, offset), what, name, where);
}

bool fe_is_stream(const struct fe *fe, const struct omp_var *v)
{
    return v->is_extern && fe_is_system(fe, v->decl) &&
           (!strcmp(v->name, "stdout") || !strcmp(v->name, "stderr"));
}

static void need_var(struct walk *w, struct omp_var *v, unsigned offset)
{
    for (unsigned i = 0; i < w->vars.n; i++)
        if (w->vars.at[i] == v)
            return;
    *VEC_PUSH(w->fe->a, &w->vars) = v;
    const char *at =
        w->in ? arena_printf(w->fe->a, "the device function '%s'", w->in->name) : "device code";
    if (v->declare_target == OMPV_DT_LINK && v->is_extern)
        add_fault(w, offset, UNSUPPORTED_LINK_VARIABLE, v->name, at);
    else if (fe_is_stream(w->fe, v))
        return;
    else if (v->alias)
        need_var(w, (struct omp_var *)v->alias, offset);
    else if (v->is_extern && fe_is_system(w->fe, v->decl))
        add_fault(w, offset, UNSUPPORTED_SYSTEM_VARIABLE, v->name, at);
    else if (v->is_extern)
        w->elsewhere = true;
}

static struct fe_function *function_aliased(const struct fe *fe, const struct fe_function *f)
{
    return f->alias ? fe_function_named((struct fe *)fe, f->alias, (unsigned)strlen(f->alias))
                    : NULL;
}

static void need_function(struct walk *, struct fe_function *, unsigned offset);

/* Where clang knows it by another name, it says so. */
static void need_aliased(struct walk *w, struct fe_function *f, unsigned offset)
{
    struct fe_function *aliased = function_aliased(w->fe, f);
    f->f->elsewhere = true; /* what it reaches is as little known */
    if (aliased)
        need_function(w, aliased, offset);
}

static void need_function(struct walk *w, struct fe_function *f, unsigned offset)
{
    const struct device_func *d = find_device_func(f->f->name);
    f->known = d && (f->system || (!f->f->defined && !is_free_name(f->f->name)));
    f->locks = f->known && d->group == GROUP_LOCK;
    f->shows_team = f->known ? d->group >= GROUP_OMP
                             : !f->f->defined && strncmp(f->f->name, "__builtin_", 10) != 0;
    w->fe->u->sets_schedule |= f->known && d->group == GROUP_SCHEDULE;
    w->fe->u->sets_threads |= f->known && d->group == GROUP_THREADS;
    w->fe->u->asks_task |= f->known && d->group == GROUP_TASK;
    for (unsigned i = 0; i < w->functions.n; i++)
        if (w->functions.at[i] == f)
            return;
    if (is_builtin(f->f->name))
        return;
    *VEC_PUSH(w->fe->a, &w->functions) = f;
    if (f->known || f->f->defined || is_for_types(f))
        return;
    if (f->alias) {
        need_aliased(w, f, offset);
        return;
    }
    bool routine = !strncmp(f->f->name, "omp_", 4);
    if (!f->system && !routine) {
        f->f->elsewhere = w->elsewhere = true;
        return;
    }
    add_fault(w, offset, routine ? UNSUPPORTED_ROUTINE : UNSUPPORTED_NO_BODY, f->f->name, where(w));
}

/* A construct of a device function that needs the host ends the kernel that reaches it. */
static bool is_left_out(const struct walk *w, unsigned offset)
{
    return w->in && fe_is_left_to_host(w->in->constructs, offset);
}

/* Everything that the text in e refers to.  Region text captures its global variables, but for
 * those that the device has; the text of device functions does not. */
static void scan(struct walk *w, struct omp_extent e, bool globals)
{
    struct fe *fe = w->fe;
    FE_EACH(r, fe->frefs, e)
        if (!is_left_out(w, r->offset))
            need_function(w, r->function, r->offset);
    FE_EACH(r, fe->refs, e) {
        struct omp_var *v = r->var;
        if (is_left_out(w, r->offset))
            continue;
        bool target = v->declare_target == OMPV_DT_TO || v->declare_target == OMPV_DT_IMPLICIT ||
                      fe_is_stream(fe, v);
        if (v->storage == OMPS_GLOBAL && (globals || target))
            need_var(w, v, r->offset);
    }
}

/* Functions and variables of the user-defined reductions that constructs in e use. */
static void scan_reductions(struct walk *w, struct omp_extent e)
{
    for (unsigned i = 0; i < w->fe->pragmas.n; i++)
        for (struct omp_clause *k = w->fe->pragmas.at[i].c->clauses; k; k = k->next)
            for (unsigned j = 0; fe_clause_rows[k->kind].arg == ARG_REDUCE &&
                                 fe_inside(k->extent.begin, e) && j < k->nitems;
                 j++)
                if (k->items[j].udr) {
                    scan(w, k->items[j].udr->combiner, true);
                    scan(w, k->items[j].udr->init, true);
                }
}

static bool host_only(const struct omp_construct *c)
{
    for (; c; c = c->next)
        if (fe_needs_host(c) || host_only(c->child))
            return true;
    return false;
}

static void close_over(struct walk *w)
{
    while (w->next_function < w->functions.n || w->next_var < w->vars.n) {
        if (w->next_function < w->functions.n) {
            struct fe_function *f = w->functions.at[w->next_function++];
            if (f->known || !f->f->defined)
                continue;
            w->in = f->f;
            if (w->quiet && host_only(f->f->constructs))
                w->bad = true;
            scan(w, f->f->extent, true);
            scan_reductions(w, f->f->extent);
        } else {
            scan(w, w->vars.at[w->next_var++]->init, true);
        }
    }
}

static void commit(struct walk *w)
{
    for (unsigned i = 0; i < w->functions.n; i++)
        w->functions.at[i]->f->device = true;
    for (unsigned i = 0; i < w->vars.n; i++)
        if (w->vars.at[i]->declare_target == OMPV_NOT_DECLARED)
            w->vars.at[i]->declare_target =
                fe_is_stream(w->fe, w->vars.at[i]) ? OMPV_DT_TO : OMPV_DT_IMPLICIT;
    if (w->elsewhere && !w->quiet)
        w->fe->u->needs_link = true;
}

/* ------------------------------------------------------------------ declare target */
static void declare_item(struct fe *fe, const struct omp_item *item, bool link)
{
    if (item->var && item->var->declare_target == OMPV_DT_GROUP)
        return;
    if (item->var && item->var->storage == OMPS_STATIC_LOCAL && !fe_can_move(fe, item->var))
        fe_unsupported(fe, item->place, UNSUPPORTED_STATIC_LOCAL, item->var->name, NULL);
    if (item->var) {
        item->var->declare_target = link ? OMPV_DT_LINK : OMPV_DT_TO;
        return;
    }
    struct fe_function *f =
        fe_function_named(fe, fe->u->text + item->text.begin, item->text.end - item->text.begin);
    if (f)
        f->declare_target = true;
}

static void declare_range(struct fe *fe, unsigned begin, unsigned end)
{
    for (unsigned i = 0; i < fe->decls.n; i++) {
        struct omp_decl *d = &fe->decls.at[i];
        if (d->extent.begin < begin || d->extent.begin >= end)
            continue;
        if (d->kind == OMPD_VARIABLE && d->var->declare_target == OMPV_NOT_DECLARED)
            d->var->declare_target = OMPV_DT_TO;
        if (d->kind == OMPD_FUNCTION || d->kind == OMPD_PROTOTYPE)
            fe_function_of(fe, d->function)->declare_target = true;
    }
}

static bool lists(const struct omp_clause *k)
{
    return k->kind == OMPC_TO || k->kind == OMPC_ENTER || k->kind == OMPC_LINK;
}

static bool begins_declare_target(const struct omp_construct *c)
{
    bool listed = false;
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        listed |= lists(k);
    return c->leaves == OMPL_DECLARE_TARGET && !listed;
}

static bool is_for_host(const struct omp_construct *c)
{
    const struct omp_clause *type = fe_clause(c, OMPC_DEVICE_TYPE);
    return type && type->keyword == OMPK_HOST;
}

static struct omp_var *global_named(const struct fe *fe, const char *name)
{
    for (unsigned i = 0; i < fe->vars.n; i++)
        if (fe->vars.at[i]->storage == OMPS_GLOBAL && !strcmp(fe->vars.at[i]->name, name))
            return fe->vars.at[i];
    return NULL;
}

/* What is declared of one name of a variable holds for all of them. */
static void declare_aliases(struct fe *fe)
{
    for (unsigned i = 0; i < fe->aliases.n; i++)
        fe->aliases.at[i].var->alias = global_named(fe, fe->aliases.at[i].symbol);
    for (unsigned i = 0, n = fe->aliases.n; i < n * n; i++) { /* also through aliases of aliases */
        struct omp_var *v = fe->aliases.at[i % n].var, *of = (struct omp_var *)v->alias;
        if (of && v->declare_target == OMPV_NOT_DECLARED)
            v->declare_target = of->declare_target;
        else if (of && of->declare_target == OMPV_NOT_DECLARED)
            of->declare_target = v->declare_target;
    }
}

static void read_declare_target(struct fe *fe)
{
    const struct omp_construct *open[64];
    unsigned depth = 0;
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        const struct omp_construct *c = fe->pragmas.at[i].c;
        if (c->leaves == OMPL_END_DECLARE_TARGET && depth && !is_for_host(open[--depth]))
            declare_range(fe, open[depth]->pragma.end, c->pragma.begin);
        if (c->leaves != OMPL_DECLARE_TARGET)
            continue;
        for (struct omp_clause *x = c->clauses; x; x = x->next)
            for (unsigned k = 0; lists(x) && k < x->nitems && !is_for_host(c); k++)
                declare_item(fe, &x->items[k], x->kind == OMPC_LINK);
        if (begins_declare_target(c) && depth < 64)
            open[depth++] = c;
    }
    if (depth)
        fe_error(fe, open[depth - 1]->pragma.begin,
                 "'#pragma omp %s' without its '#pragma omp end declare target'",
                 open[depth - 1]->spelling);
    declare_aliases(fe);
}

/* ------------------------------------------------------------------ */
static bool device_clause(const struct omp_clause *c)
{
    return fe_clause_rows[c->kind].role == OMPROLE_DEVICE &&
           (c->kind != OMPC_IF || (c->if_leaf && c->if_leaf != OMPL_TARGET));
}

static void reach_regions(struct fe *fe)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        struct omp_construct *c = fe->pragmas.at[i].c;
        if (!(c->leaves & OMPL_TARGET) || c->on_device)
            continue;
        struct walk w = { .fe = fe, .region = c };
        scan(&w, c->body, false);
        scan_reductions(&w, fe_whole(c));
        for (struct omp_clause *x = c->clauses; x; x = x->next)
            if (device_clause(x))
                scan(&w, x->extent, false);
        close_over(&w);
        commit(&w);
        if (fe->errors > 20)
            return;
    }
}

static void reach_declared(struct fe *fe)
{
    for (unsigned i = 0; i < fe->functions.n; i++) {
        struct fe_function *f = fe->functions.at[i];
        if (!f->declare_target || f->f->device || !(f->f->defined || f->alias))
            continue;
        struct walk w = { .fe = fe, .in = f->f, .quiet = true };
        need_function(&w, f, f->decl);
        close_over(&w);
        if (!w.bad)
            commit(&w);
    }
}

static void reach_variables(struct fe *fe)
{
    for (unsigned i = 0; i < fe->vars.n; i++) {
        struct omp_var *v = fe->vars.at[i];
        if (v->declare_target != OMPV_DT_TO || v->is_extern || !v->init.end)
            continue;
        struct walk w = { .fe = fe };
        *VEC_PUSH(fe->a, &w.vars) = v;
        close_over(&w);
        commit(&w);
    }
}

/* What the device code of other files can refer to by name.  C's inline functions have their bodies
 * in every file. */
static void find_provided(struct fe *fe)
{
    for (unsigned i = 0; i < fe->functions.n; i++) {
        const struct omp_function *f = fe->functions.at[i]->f;
        const struct fe_function *aliased = function_aliased(fe, fe->functions.at[i]);
        bool device = f->device || (aliased && aliased->f->device);
        if (fe->functions.at[i]->declare_target && device && !f->is_static && !f->is_inline)
            fe->u->provides = true;
    }
    for (unsigned i = 0; i < fe->vars.n; i++) {
        const struct omp_var *v = fe->vars.at[i];
        if (v->declare_target != OMPV_DT_TO || v->is_extern || v->is_static)
            continue;
        fe->u->provides = true;
        /* the program has it once, so has the device */
        if (v->is_weak || (fe->common && !v->init.end))
            fe->u->needs_link = true;
    }
}

static bool contains_parallel(const struct omp_construct *c)
{
    for (; c; c = c->next)
        if (!fe_needs_host(c) && ((c->leaves & OMPL_PARALLEL) || contains_parallel(c->child)))
            return true;
    return false;
}
static bool calls_indirectly(const struct fe *fe, struct omp_extent e)
{
    for (unsigned i = 0; i < fe->indirect.n; i++)
        if (fe_inside(fe->indirect.at[i], e))
            return true;
    return false;
}

static void find_parallel(struct fe *fe)
{
    for (unsigned i = 0; i < fe->functions.n; i++) {
        struct omp_function *f = fe->functions.at[i]->f;
        /* as far as this file knows */
        if (f->elsewhere)
            f->has_parallel = f->synchronises = true;
        if (f->defined)
            f->has_parallel =
                contains_parallel(f->constructs) || (f->device && calls_indirectly(fe, f->body));
    }
    for (bool change = true; change;) {
        change = false;
        for (unsigned i = 0; i < fe->functions.n; i++) {
            struct omp_function *f = fe->functions.at[i]->f;
            if (!f->device || !f->defined || f->has_parallel)
                continue;
            FE_EACH(r, fe->frefs, f->extent) {
                const struct omp_function *g = r->function->f;
                if (g->has_parallel && (g->device || g->elsewhere)) {
                    f->has_parallel = change = true;
                    break;
                }
            }
        }
    }
}

/* `enum { N = sizeof table / sizeof *table };`, `struct { __typeof__(f) *call; };`: no code asks
 * for such a variable or function, only its type must be known. */
static void mark_in_types(struct fe *fe, struct omp_extent e)
{
    FE_EACH(r, fe->frefs, e)
        r->function->f->in_types = true;
    FE_EACH(r, fe->refs, e) {
        struct omp_var *v = r->var;
        v->sized |= v->storage == OMPS_GLOBAL && v->declare_target == OMPV_NOT_DECLARED;
    }
}

/* In the device text such a function is called by the name of the one for double. */
static void mark_prototype(struct fe *fe, struct omp_decl *d, const struct fe_function *f)
{
    const char *name = f->f->name, *other = fe_long_double_name(fe, name);
    d->device = f->f->device;
    if (d->device && f->known && other && find_device_func(other) != find_device_func(name))
        return;
    if (d->device && f->known && other)
        d->text = arena_printf(fe->a, "#pragma redefine_extname %s %s\n%s", name, other,
                               d->text ? d->text : fe_text(fe, d->extent));
}

static void mark_decls(struct fe *fe)
{
    for (unsigned i = 0; i < fe->decls.n; i++) {
        struct omp_decl *d = &fe->decls.at[i];
        struct fe_function *f = d->function ? fe_function_of(fe, d->function) : NULL;
        switch (d->kind) {
        case OMPD_VARIABLE:
            d->device = d->var->declare_target != OMPV_NOT_DECLARED &&
                        d->var->declare_target != OMPV_DT_LINK;
            if (d->var->is_constexpr)
                mark_in_types(fe, d->extent);
            break;
        case OMPD_PROTOTYPE: mark_prototype(fe, d, f); break;
        case OMPD_FUNCTION: d->device = f->f->device && !f->known; break;
        default:
            d->device = true;
            d->on_demand = (d->kind == OMPD_TYPE || d->kind == OMPD_TYPEDEF) &&
                           fe_is_system(fe, d->extent.begin);
            mark_in_types(fe, d->extent);
            break;
        }
    }
    for (unsigned i = 0; i < fe->functions.n;
         i++) /* only those whose bodies become device code are device functions */
        if (fe->functions.at[i]->known || !fe->functions.at[i]->f->defined)
            fe->functions.at[i]->f->device = false;
}

/* It, or what is around it, needs the host. */
static bool is_hosts(const struct omp_construct *c)
{
    while (c && !fe_needs_host(c))
        c = c->parent;
    return c != NULL;
}

void fe_mark_device(struct fe *fe)
{
    read_declare_target(fe);
    reach_regions(fe);
    reach_variables(fe);
    reach_declared(fe);
    mark_decls(fe);
    find_provided(fe);
    find_parallel(fe);
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        struct omp_construct *c = fe->pragmas.at[i].c;
        if (c->function && c->function->device && !is_hosts(c))
            c->on_device = true;
        fe->u->detaches |= c->on_device && fe_clause(c, OMPC_DETACH);
    }
}
