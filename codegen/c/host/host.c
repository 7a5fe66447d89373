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
#include "codegen/c/host/host.h"
#include "hostrt/ompgpu.h"

extern const char cg_host_abi[]; /* hostrt/ompgpu.h, preprocessed; made by the Makefile */

/* ------------------------------------------------------------------ declare target */
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
    { OMPL_TARGET, cg_target },         { OMPL_TARGET_DATA, cg_target_data },
    { OMPL_ENTER_DATA, cg_enter_data }, { OMPL_EXIT_DATA, cg_exit_data },
    { OMPL_UPDATE, cg_update },
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
        cg_host_region(cg, c);
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
    return c->left_out || c->host_region || cg_host_changes(cg, c) || declares_on_host(cg, c);
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
    if (!u->event_handle && cg_any_deferrable(cg))
        cg_put(cg, "\ntypedef %s omp_event_handle_t;",
               u->for_gcc ? "enum omp_event_handle_t { __ompgpu_most = ~0ul }" : "unsigned long");
    declare_this_unit(cg);
    cg_host_reductions(cg);
    cg_variables_of_blocks(cg, false);
    cg_copy_needed(cg);
    cg_marker(cg, (struct omp_place){ "<ompgpu>", 1, 1 });
    cg_variables_of_blocks(cg, true);
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
