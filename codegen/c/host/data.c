/* data.c - target data, target enter data, target exit data and target update. */
#include "codegen/c/host/host.h"

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
    const char *condition = cg_condition_of(cg, c, leaf);
    cg_open_scope(cg);
    cg_line(cg, "static const struct __ompgpu_place @place = { %s, %u, %s, %s };",
            cg_quoted(cg, c->place.file), c->place.line, cg_quoted(cg, cg_directive(cg, c, true)),
            construct_value(leaf));
    cg_line(cg, "const long @device = %s;", cg_device_of(cg, c));
    cg_line(cg, "const _Bool @if = %s;", condition ? condition : "1");
}

/* nowait: the runtime takes it, or it is done at once. */
static void write_deferred_call(struct cg *cg, const struct omp_construct *c, enum omp_leaf leaf,
                                const char *function)
{
    open_data(cg, c, leaf);
    cg_line(cg, "void *@task = 0;");
    cg_declare_later(cg, c);
    cg_open(cg, "if (@if)");
    cg_declare_list(cg, c);
    const char *arguments =
        cg_strf(cg, "&@place, @device, %s", cg_entries_of(cg, c, cg_maps(cg, c, NULL)));
    cg_defer(cg, c, "__ompgpu_defer_data", arguments);
    cg_open(cg, "if (!@task)");
    cg_wait(cg, c, cg_strf(cg, "@device"));
    cg_line(cg, "%s(%s);", function, arguments);
    cg_close(cg);
    cg_free_list(cg, c);
    cg_close(cg);
    cg_detached_task(cg, c);
    if (cg_clause(c, OMPC_DEPEND)) {
        cg_open(cg, "else");
        cg_host_task(cg, c);
        cg_line(cg, ";");
        cg_close(cg);
    }
    cg_close(cg);
}

/* Stand-alone: the maps are evaluated only where the condition holds. */
static void write_data_call(struct cg *cg, const struct omp_construct *c, enum omp_leaf leaf,
                            const char *function)
{
    if (cg_is_deferrable(cg, c)) {
        write_deferred_call(cg, c, leaf, function);
        return;
    }
    cg_task_around(cg, c);
    open_data(cg, c, leaf);
    cg_open(cg, "if (@if)");
    cg_declare_list(cg, c);
    unsigned nmaps = cg_maps(cg, c, NULL);
    if (nmaps)
        cg_line(cg, "%s(&@place, @device, %s);", function, cg_entries_of(cg, c, nmaps));
    cg_free_list(cg, c);
    cg_close(cg);
    cg_close(cg);
}

void cg_enter_data(struct cg *cg, const struct omp_construct *c)
{
    write_data_call(cg, c, OMPL_ENTER_DATA, "__ompgpu_data_begin");
}
void cg_exit_data(struct cg *cg, const struct omp_construct *c)
{
    write_data_call(cg, c, OMPL_EXIT_DATA, "__ompgpu_data_end");
}
void cg_update(struct cg *cg, const struct omp_construct *c)
{
    write_data_call(cg, c, OMPL_UPDATE, "__ompgpu_data_update");
}

static const char *kept_entries(struct cg *cg, const struct omp_construct *c, unsigned n)
{
    return cg_collects_maps(c) ? cg_entries_of(cg, c, n) : cg_strf(cg, "@kept, %u", n);
}

/* The same entries at the end as at the beginning, whatever the body does to pointers and sections.
 */
static unsigned begin_data(struct cg *cg, const struct omp_construct *c)
{
    cg_task_around(cg, c);
    open_data(cg, c, OMPL_TARGET_DATA);
    if (!c->nmaps)
        return 0;
    bool collected = cg_collects_maps(c);
    if (collected)
        cg_declare_list(cg, c);
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

void cg_target_data(struct cg *cg, const struct omp_construct *c)
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
        cg_free_list(cg, c);
        cg_close(cg);
    }
    cg_close(cg);
}
