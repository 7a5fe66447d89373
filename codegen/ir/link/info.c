/* info.c - reads what codegen's C writer left in the module about kernels and declare target
 * variables.
 *
 * __OMPGPU_INFO and __OMPGPU_VAR of devicertl/ompgpu_device.h define constants, so that C is the
 * only place that writes the layout; here they are read from their initialisers and then removed.
 */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/link/link.h"
#include "codegen/ir/passes/passes.h"
#include "devicertl/ompgpu_device.h"
#include <stdlib.h>
#include <string.h>

struct reading {
    struct ir_unit *u;
    LLVMModuleRef module;
    LLVMTargetDataRef layout;
    unsigned input;
    bool (*taken)(struct ir_unit *, unsigned, const char *);
};

_Static_assert(IR_GENERIC == __OMPGPU_GENERIC && IR_SPMD == __OMPGPU_SPMD, "modes of a kernel");

/* ------------------------------------------------------------------ records */
/* The member of a record's struct that begins at `offset`. */
static LLVMValueRef member_at(const struct reading *r, LLVMValueRef global, size_t offset)
{
    unsigned i = LLVMElementAtOffset(r->layout, LLVMGlobalGetValueType(global), offset);
    return LLVMGetAggregateElement(LLVMGetInitializer(global), i);
}

static const char *string_at(const struct reading *r, LLVMValueRef global, size_t offset)
{
    return ir_string(LLVMGetInitializer(member_at(r, global, offset)));
}

static unsigned int_at(const struct reading *r, LLVMValueRef global, size_t offset)
{
    return (unsigned)LLVMConstIntGetZExtValue(member_at(r, global, offset));
}

#define MEMBER(type, name) member_at(r, global, offsetof(struct type, name))
#define STRING(type, name) string_at(r, global, offsetof(struct type, name))
#define INT(type, name) int_at(r, global, offsetof(struct type, name))

static void check_shape(const struct reading *r, LLVMValueRef global, size_t size)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(global);
    if (LLVMGetTypeKind(type) != LLVMStructTypeKind || LLVMABISizeOfType(r->layout, type) != size ||
        !LLVMGetInitializer(global))
        diag_bug("'%s' does not have the shape that ompgpu_device.h gives it", ir_name(global));
}

/* ------------------------------------------------------------------ kernels */
/* The name to use for `name`, which the host asks for. */
static const char *free_name(const struct reading *r, const char *name)
{
    struct ir_unit *u = r->u;
    if (!r->taken || !r->taken(u, r->input, name))
        return name;
    const char *symbol;
    unsigned number = r->input;
    do {
        symbol = mem_printf("%s__m%u", name, number);
        number += u->opt->ninputs; /* so that no two files try the same */
    } while (ir_find_symbol(r->module, symbol) || r->taken(u, r->input, symbol));
    u->aliases = ir_grow(u->aliases, u->naliases, sizeof *u->aliases);
    u->aliases[u->naliases++] = (struct ir_alias){ r->input, name, symbol };
    return symbol;
}

static void rename_function(LLVMModuleRef m, const char *name, const char *to)
{
    LLVMValueRef f = LLVMGetNamedFunction(m, name);
    if (f && strcmp(name, to) != 0)
        LLVMSetValueName2(f, to, strlen(to));
}

static void read_kernel(const struct reading *r, LLVMValueRef global)
{
    struct ir_unit *u = r->u;
    check_shape(r, global, sizeof(struct __ompgpu_kernel_info));
    u->kernels = ir_grow(u->kernels, u->nkernels, sizeof *u->kernels);
    struct ir_kernel *k = &u->kernels[u->nkernels++];
    *k = (struct ir_kernel){ .input = &u->opt->inputs[r->input] };
    const char *name = STRING(__ompgpu_kernel_info, name);
    k->name = free_name(r, name);
    rename_function(r->module, name, k->name);
    k->function = STRING(__ompgpu_kernel_info, function);
    k->at.file = STRING(__ompgpu_kernel_info, file);
    k->directive = STRING(__ompgpu_kernel_info, directive);
    k->at.line = INT(__ompgpu_kernel_info, line);
    k->at.column = INT(__ompgpu_kernel_info, column);
    k->mode = INT(__ompgpu_kernel_info, mode);
    k->max_threads = INT(__ompgpu_kernel_info, max_threads);
    k->reduce_bytes = INT(__ompgpu_kernel_info, reduce_bytes);
    k->flags = INT(__ompgpu_kernel_info, flags);
    if (!ir_kernel_function(r->module, k))
        diag_bug("no function for kernel '%s'", k->name);
}

static void read_reduction(const struct reading *r, LLVMValueRef global)
{
    struct ir_unit *u = r->u;
    check_shape(r, global, sizeof(struct __ompgpu_reduction_info));
    u->reductions = ir_grow(u->reductions, u->nreductions, sizeof *u->reductions);
    u->reductions[u->nreductions++] = (struct ir_reduction){
        .at.file = STRING(__ompgpu_reduction_info, file),
        .names = STRING(__ompgpu_reduction_info, names),
        .at.line = INT(__ompgpu_reduction_info, line),
        .at.column = INT(__ompgpu_reduction_info, column),
        .variables = INT(__ompgpu_reduction_info, variables),
        .arrays = INT(__ompgpu_reduction_info, arrays),
        .bytes = INT(__ompgpu_reduction_info, bytes),
        .how = INT(__ompgpu_reduction_info, how),
        .input = &u->opt->inputs[r->input],
    };
}

bool ir_is_export(const struct ir_unit *u, const char *name)
{
    for (unsigned i = 0; i < u->nexports; i++)
        if (strcmp(u->exports[i], name) == 0)
            return true;
    return false;
}

/* The host finds the variable by its exported name, which for a static variable is not its own. */
static void export_variable(const struct reading *r, LLVMValueRef global)
{
    struct ir_unit *u = r->u;
    check_shape(r, global, sizeof(struct __ompgpu_var_info));
    const char *name = STRING(__ompgpu_var_info, export_name);
    LLVMValueRef variable = MEMBER(__ompgpu_var_info, address);
    if (!LLVMIsAGlobalVariable(variable))
        diag_bug("declare target variable '%s' is not a variable", name);
    if (ir_is_local_linkage(variable)) {
        const char *users_name = mem_strdup(ir_name(variable));
        name = free_name(r, name);
        LLVMValueRef other = LLVMGetNamedGlobal(r->module, name);
        if (other && other != variable)
            diag_bug("declare target variable '%s' and another symbol have one name", name);
        if (u->opt->check)
            ir_keep_name(u->ctx, variable, users_name);
        LLVMSetValueName2(variable, name, strlen(name));
        LLVMSetLinkage(variable, LLVMExternalLinkage);
    }
    if (ir_is_export(u, name)) /* weak, in several files */
        return;
    u->exports = ir_grow(u->exports, u->nexports, sizeof *u->exports);
    u->exports[u->nexports++] = mem_strdup(name);
}

/* A declaration's attributes would not survive the link: the assumption waits for the definition.
 */
static void read_assumption(const struct reading *r, LLVMValueRef global)
{
    struct ir_unit *u = r->u;
    check_shape(r, global, sizeof(struct __ompgpu_assume_info));
    LLVMValueRef f = MEMBER(__ompgpu_assume_info, function);
    const char *words = STRING(__ompgpu_assume_info, words);
    if (LLVMIsAFunction(f) && !LLVMIsDeclaration(f)) {
        ir_assume(f, words);
    } else if (LLVMIsAFunction(f)) {
        u->assumptions = ir_grow(u->assumptions, u->nassumptions, sizeof *u->assumptions);
        u->assumptions[u->nassumptions++] = (struct ir_assumption){ mem_strdup(ir_name(f)), words };
    }
}

static void note_unified_memory(const struct reading *r, LLVMValueRef global)
{
    (void)global;
    r->u->unified = true;
}

static void note_fast_math(const struct reading *r, LLVMValueRef global)
{
    (void)global;
    r->u->opt->inputs[r->input].fast_math = true;
}

static void delete_global(LLVMValueRef global)
{
    LLVMReplaceAllUsesWith(global, LLVMGetPoison(LLVMTypeOf(global)));
    LLVMDeleteGlobal(global);
}

/* Nothing outside of the image refers to its symbols by other ways than kernels and exported
 * variables. */
static void delete_used_lists(LLVMModuleRef module)
{
    static const char *const lists[] = { "llvm.used", "llvm.compiler.used" };
    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++) {
        LLVMValueRef list = LLVMGetNamedGlobal(module, lists[i]);
        if (list)
            LLVMDeleteGlobal(list);
    }
}

/* The C writer says by a section what a function of its own is (__OMPGPU_REGION and others of
 * ompgpu_device.h); from here on an attribute does, which functions keep. */
static void read_marks(LLVMModuleRef module)
{
    IR_EACH_FUNCTION(f, module) {
        const char *section = LLVMGetSection(f);
        if (!section || !text_starts(section, "ompgpu."))
            continue;
        ir_set_string_attribute(f, section, "");
        LLVMSetSection(f, "");
    }
}

bool ir_collect_info(struct ir_unit *u, LLVMModuleRef module, unsigned input,
                     bool (*taken)(struct ir_unit *, unsigned, const char *))
{
    struct reading r = { u, module, LLVMGetModuleDataLayout(module), input, taken };
    static const struct {
        const char *prefix;
        void (*read)(const struct reading *, LLVMValueRef);
    } kinds[] = {
        { "__ompgpu_info_", read_kernel },
        { "__ompgpu_varinfo_", export_variable },
        { "__ompgpu_reduction_", read_reduction },
        { "__ompgpu_assumeinfo_", read_assumption },
        { "__ompgpu_unified_", note_unified_memory },
        { "__ompgpu_fastmath_", note_fast_math },
    };
    delete_used_lists(module);
    read_marks(module);
    IR_EACH_GLOBAL(g, module)
        for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (text_starts(ir_name(g), kinds[i].prefix)) {
                kinds[i].read(&r, g);
                delete_global(g);
                break;
            }
    return true;
}

/* What the frontend took for possible, because it did not know the functions that a region calls,
 * is known after a device link. */
static void drop_workers(struct ir_unit *u)
{
    LLVMValueRef parallel = LLVMGetNamedFunction(u->module, "__ompgpu_parallel");
    struct ir_graph *g = ir_graph_build(u->module);
    int *from = mem_array(g->n, sizeof *from);
    for (unsigned i = 0; i < u->nkernels; i++) {
        struct ir_kernel *k = &u->kernels[i];
        ir_graph_reach(g, ir_kernel_function(u->module, k), from, NULL);
        if (k->mode == IR_GENERIC && (!parallel || from[ir_graph_find(g, parallel)] < 0))
            k->flags &= ~(unsigned)OMPGPU_KERNEL_WORKERS;
    }
}

/* Protected: the image's own accesses need no indirection. */
bool ir_finish_info(struct ir_unit *u)
{
    if (u->opt->link)
        drop_workers(u);
    for (unsigned i = 0; i < u->nassumptions; i++) {
        LLVMValueRef f = LLVMGetNamedFunction(u->module, u->assumptions[i].function);
        if (f)
            ir_assume(f, u->assumptions[i].words);
    }
    for (unsigned i = 0; i < u->nexports; i++) {
        LLVMValueRef variable = LLVMGetNamedGlobal(u->module, u->exports[i]);
        if (!variable)
            diag_bug("declare target variable '%s' got lost", u->exports[i]);
        LLVMSetLinkage(variable, LLVMExternalLinkage);
        if (LLVMGetInitializer(variable))
            LLVMSetVisibility(variable, LLVMProtectedVisibility);
    }
    return true;
}
