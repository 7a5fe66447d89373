/* device.c - the device text of a file: types, variables and functions that the device needs, in
 * source order, and the regions where their functions stand. */
#include <stdlib.h>
#include <string.h>
#include "codegen/c/codegen.h"
#include "codegen/c/device/device.h"
#include "driver/base/protocol.h"

/* A name that no other file's variable has: statics of the same name are told apart by the file. */
const char *cg_export_id(struct cg *cg, const struct omp_var *v)
{
    const char *name = v->symbol ? v->symbol : v->name;
    if (!v->is_static)
        return name;
    unsigned h = 2166136261u;
    for (const char *p = cg->unit->path; *p; p++)
        h = (h ^ (unsigned char)*p) * 16777619u;
    return cg_strf(cg, "%s_%08x", name, h);
}

bool cg_is_device_variable(const struct omp_var *v)
{
    return v->declare_target != OMPV_NOT_DECLARED && v->storage == OMPS_GLOBAL;
}

static const char *const_of(const struct omp_var *v)
{
    return v->type->is_const && v->type->kind != OMPT_ARRAY ? "const " : "";
}

static const char *alignment_of(const struct omp_var *v)
{
    return v->alignment ? v->alignment : "";
}

/* Pointers to it are of no special kind: it is spelled as a generic address. */
static void write_group_variable(struct cg *cg, const struct omp_decl *d)
{
    const struct omp_var *v = d->var;
    const char *type = cg_type(cg, v->type, v->name, CG_AS_IS);
    if (!d->tentative)
        cg_put(cg, "%sstatic __OMPGPU_SHARED __typeof__(%s) @group_%s __OMPGPU_SHARED_INIT;\n",
               alignment_of(v), type, v->name);
    cg->env[v->id] = cg->file_env[v->id] =
        cg_strf(cg, "(*(__typeof__(%s) *)&@group_%s)", type, v->name);
}

static void define_variable(struct cg *cg, const struct omp_decl *d, const char *type,
                            const char *symbol)
{
    const struct omp_var *v = d->var;
    cg_put(cg, "%s%s%s%s%s %s%s%s", alignment_of(v), v->is_static ? "static " : "",
           v->is_constexpr ? "constexpr " : "", v->is_weak ? "__attribute__((weak)) " : "", type,
           const_of(v), v->name, symbol);
    if (!d->tentative && !cg_empty(v->init)) {
        cg_puts(cg, " = ");
        cg_copy(cg, v->init);
    }
    cg_puts(cg, ";\n");
}

/* The attribute names what the linker knows, and a static variable, too. */
static const char *alias_of(struct cg *cg, const struct omp_var *v)
{
    const struct omp_var *of = v->alias;
    return of ? cg_strf(cg, " __attribute__((alias(\"%s\")))", of->symbol ? of->symbol : of->name)
              : "";
}

static void write_variable(struct cg *cg, const struct omp_decl *d, bool *written)
{
    const struct omp_var *v = d->var;
    if (written[v->id] || (v->is_extern && !d->device))
        return;
    written[v->id] = !d->tentative || v->is_extern;
    if (v->is_extern && v->declare_target == OMPV_DT_LINK)
        return; /* regions get it as an argument */
    cg_marker(cg, v->place);
    if (v->declare_target == OMPV_DT_GROUP) {
        write_group_variable(cg, d);
        return;
    }
    const char *type = cg_type(cg, v->type, v->name, CG_AS_IS),
               *symbol =
                   v->symbol && !v->is_static ? cg_strf(cg, " __asm__(\"%s\")", v->symbol) : "";
    if (v->is_extern) {
        cg_put(cg, "extern %s %s%s%s%s;\n", type, const_of(v), v->name, symbol, alias_of(cg, v));
        return;
    }
    if (v->declare_target != OMPV_DT_LINK)
        define_variable(cg, d, type, symbol);
    else if (!d->tentative)
        cg_put(cg, "static %s *%s;\n", type, v->name);
    if (!d->tentative && cg_is_device_variable(v))
        cg_put(cg, "__OMPGPU_VAR(%s, %s)\n", cg_export_id(cg, v), v->name);
}

/* Of a variable of the host that a type of this text takes the size of. */
static void declare_sized(struct cg *cg, const struct omp_var *v, bool *written)
{
    if (!written[v->id])
        cg_put(cg, "extern %s %s%s;\n", cg_type(cg, v->type, v->name, CG_AS_IS), const_of(v),
               v->name);
    written[v->id] = true;
}

/* A function's declaration: the type that it may define has been written. */
static void copy_declaration(struct cg *cg, const struct omp_function *f, struct omp_extent e)
{
    if (f && f->defined_name && f->defines.begin >= e.begin && f->defines.end <= e.end) {
        cg_copy(cg, (struct omp_extent){ e.begin, f->defines.begin });
        cg_put(cg, "%s\n", f->defined_name);
        e.begin = f->defines.end;
        cg_marker(cg, fe_place(cg->unit, e.begin));
    }
    cg_copy(cg, e);
}

static void write_text(struct cg *cg, const struct omp_decl *d, const char *end)
{
    cg_marker(cg, d->place.line ? d->place : fe_place(cg->unit, d->extent.begin));
    if (d->text)
        cg_puts(cg, d->text);
    else
        copy_declaration(cg, d->function, d->extent);
    cg_put(cg, "%s\n", end);
}

/* Types declared inside a function come before it. */
static void write_local_types(struct cg *cg, struct omp_extent function)
{
    const struct omp_unit *u = cg->unit;
    for (unsigned i = 0; i < u->nlocal_types; i++)
        if (u->local_types[i].text && u->local_types[i].extent.begin >= function.begin &&
            u->local_types[i].extent.end <= function.end)
            cg_put(cg, "%s\n", u->local_types[i].text);
}

static struct omp_extent head_of(const struct omp_unit *u, const struct omp_function *f)
{
    struct omp_extent head = { f->extent.begin, f->body.begin };
    while (head.end > head.begin && strchr(" \t\n", u->text[head.end - 1]))
        head.end--;
    return head;
}

static void declare_function(struct cg *cg, const struct omp_function *f)
{
    cg_marker(cg, fe_place(cg->unit, f->extent.begin));
    copy_declaration(cg, f, head_of(cg->unit, f));
    cg_puts(cg, ";\n");
}

static void write_function(struct cg *cg, const struct omp_function *f)
{
    struct cg_text text = { 0 }, before = { 0 }, *out = cg->out, *outer = cg->before;
    cg->before = &before;
    cg->out = &text;
    cg_marker(cg, fe_place(cg->unit, f->extent.begin));
    copy_declaration(cg, f, f->extent);
    cg_puts(cg, "\n");
    cg->out = out;
    cg->before = outer;
    if (before.n) /* outlined bodies may call the function */
        declare_function(cg, f);
    cg_write_within(cg, before.n ? f : NULL, &before, &text);
    free(text.s);
    free(before.s);
}

static void write_regions(struct cg *cg, const struct omp_function *f)
{
    for (unsigned i = 0; i < cg->unit->nconstructs; i++) {
        const struct omp_construct *c = cg->unit->constructs[i];
        if (c->function != f || !(c->leaves & OMPL_TARGET) || c->on_device)
            continue;
        cg_region(cg, c);
        for (const struct omp_construct *p = c->phases; p; p = p->next)
            cg_region(cg, p);
    }
}

static void write_decl(struct cg *cg, const struct omp_decl *d, bool *written)
{
    switch (d->kind) {
    case OMPD_VARIABLE:
        if (d->var && (cg_is_device_variable(d->var) || d->var->is_constexpr))
            write_variable(cg, d, written);
        else if (d->var && d->var->sized)
            declare_sized(cg, d->var, written);
        break;
    case OMPD_FUNCTION:
        write_local_types(cg, d->function->extent);
        if (d->device)
            write_function(cg, d->function);
        else if (d->function->in_types)
            declare_function(cg, d->function);
        write_regions(cg, d->function); /* which may call the function itself */
        break;
    default:
        if (d->device || (d->function && d->function->in_types))
            write_text(cg, d, d->kind == OMPD_TYPE ? ";" : "");
    }
}

static bool handles_construct(const struct cg *cg, const struct omp_construct *c)
{
    (void)cg;
    return !(c->leaves & (OMPL_DECLARE_TARGET | OMPL_END_DECLARE_TARGET));
}

static void write_assumptions(struct cg *cg)
{
    const struct omp_unit *u = cg->unit;
    for (unsigned i = 0; i < u->nfunctions; i++) {
        bool declared = false;
        for (unsigned d = 0; d < u->ndecls; d++)
            declared |= u->decls[d].function == u->functions[i] && u->decls[d].device;
        if (u->functions[i]->assumptions && declared)
            cg_function_assumptions(cg, u->functions[i]);
    }
}

/* What a block declares has a name of its own in this text, which no local variable hides. */
static void rename_variables(struct cg *cg)
{
    for (unsigned i = 0; i < cg->unit->nvars; i++) {
        struct omp_var *v = cg->unit->vars[i];
        if (!v->in_blocks)
            continue;
        v->symbol = v->name;
        v->name = cg_strf(cg, "@v_%s", v->symbol);
    }
}

static void give_names_back(const struct omp_unit *u)
{
    for (unsigned i = 0; i < u->nvars; i++)
        if (u->vars[i]->symbol) {
            u->vars[i]->name = u->vars[i]->symbol;
            u->vars[i]->symbol = NULL;
        }
}

static void write_unit(struct cg *cg)
{
    static const char atomic_types[] =
        "typedef unsigned char __attribute__((may_alias)) __ompgpu_a1; "
        "typedef unsigned short __attribute__((may_alias)) __ompgpu_a2; "
        "typedef unsigned __attribute__((may_alias)) __ompgpu_a4; "
        "typedef unsigned long long __attribute__((may_alias)) __ompgpu_a8;\n";
    const struct omp_unit *u = cg->unit;
    struct cg_gaps gaps = { 0 };
    bool *written = calloc(u->nvars + 1, sizeof *written), atomics = false;
    if (!written)
        abort();
    cg_put(cg, "// Device code of %s, written by omp-split.\n", cg_in_comment(cg, u->path));
    for (unsigned i = 0; i < u->nconstructs; i++)
        atomics = atomics || (u->constructs[i]->leaves & OMPL_ATOMIC);
    if (atomics)
        cg_puts(cg, atomic_types);
    for (unsigned i = 0; i < u->ndecls; i++) {
        if (u->decls[i].on_demand)
            cg_note_gap(cg, &gaps, i);
        else
            write_decl(cg, &u->decls[i], written);
    }
    write_assumptions(cg);
    cg_fill_gaps(cg, &gaps);
    free(written);
}

/* Does the host look for variables in the image? */
static bool has_variables(const struct omp_unit *u)
{
    for (unsigned i = 0; i < u->nvars; i++)
        if (cg_is_device_variable(u->vars[i]) && !u->vars[i]->is_extern &&
            u->vars[i]->declare_target != OMPV_DT_GROUP)
            return true;
    return false;
}

static bool requires(const struct omp_unit *u, enum omp_clause_kind kind)
{
    for (unsigned i = 0; i < u->nconstructs; i++)
        if (u->constructs[i]->directive == OMPDIR_REQUIRES && cg_clause(u->constructs[i], kind))
            return true;
    return false;
}

static const char *requirements(struct cg *cg)
{
    static const struct {
        enum omp_clause_kind kind;
        const char *spelling;
    } global[] = { { OMPC_UNIFIED_ADDRESS, "unified_address" },
                   { OMPC_UNIFIED_SHARED_MEMORY, "unified_shared_memory" } };
    const char *list = "";
    for (unsigned i = 0; i < sizeof global / sizeof *global; i++)
        if (requires(cg->unit, global[i].kind))
            list = cg_strf(cg, "%s%s%s", list, *list ? " " : "", global[i].spelling);
    return list;
}

int cg_write_device_c(FILE *out, const struct omp_unit *u)
{
    struct cg cg;
    struct cg_text text = { 0 };
    cg_init(&cg, u, &text);
    cg.renames = true;
    cg.construct = cg_device_construct;
    cg.handles = handles_construct;
    rename_variables(&cg);
    for (unsigned i = 0; i < u->nvars; i++)
        if (u->vars[i]->declare_target == OMPV_DT_LINK && !u->vars[i]->is_extern)
            cg.env[i] = cg.file_env[i] = cg_strf(&cg, "(*%s)", u->vars[i]->name);
    write_unit(&cg);
    const struct proto_unit unit = { .misread = u->misread,
                                     .rechosen = u->rechosen,
                                     .not_for_nvptx = u->not_for_nvptx,
                                     .needs_link = u->needs_link,
                                     .provides = u->provides,
                                     .entries = u->ntargets || has_variables(u),
                                     .host_only = u->host_only,
                                     .requires = requirements(&cg) };
    if (!cg.errors) {
        fprintf(out, "// %s\n", proto_write_unit(&unit));
        if (u->report)
            cg_describe_regions(&cg, out);
        if (requires(u, OMPC_UNIFIED_SHARED_MEMORY))
            fprintf(out, "__OMPGPU_UNIFIED\n");
        fwrite(text.s, 1, text.n, out);
    }
    int errors = cg.errors;
    free(text.s);
    give_names_back(u);
    cg_free(&cg);
    return errors;
}
