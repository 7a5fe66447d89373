/* info.c - reads what codegen's C writer left in the module about kernels and declare target
 * variables.
 *
 * __OMPGPU_INFO and __OMPGPU_VAR of devicertl/ompgpu_device.h define constants, so that C is the
 * only place that writes the layout; here they are read from their initialisers and then removed.
 */
#include "codegen/ir/tool.h"
#include <string.h>

enum {
    INFO_NAME,
    INFO_FUNCTION,
    INFO_FILE,
    INFO_DIRECTIVE,
    INFO_LINE,
    INFO_COLUMN,
    INFO_MODE,
    INFO_MAX_THREADS,
    INFO_REDUCE_BYTES,
    INFO_FLAGS,
    INFO_FIELDS
};
enum {
    RED_FILE,
    RED_NAMES,
    RED_LINE,
    RED_COLUMN,
    RED_VARIABLES,
    RED_ARRAYS,
    RED_BYTES,
    RED_HOW,
    RED_FIELDS
};
enum { VAR_NAME, VAR_ADDRESS, VAR_SIZE, VAR_FIELDS };
static const char info_prefix[] = "__ompgpu_info_", var_prefix[] = "__ompgpu_varinfo_",
                  red_prefix[] = "__ompgpu_reduction_", assume_prefix[] = "__ompgpu_assumeinfo_";
enum { ASSUME_FUNCTION, ASSUME_WORDS, ASSUME_FIELDS };

static LLVMValueRef field(LLVMValueRef global, unsigned i)
{
    return LLVMGetAggregateElement(LLVMGetInitializer(global), i);
}

static const char *string_field(LLVMValueRef global, unsigned i)
{
    return ir_string(LLVMGetInitializer(field(global, i)));
}

static unsigned int_field(LLVMValueRef global, unsigned i)
{
    return (unsigned)LLVMConstIntGetZExtValue(field(global, i));
}

static void check_shape(LLVMValueRef global, unsigned fields)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(global);
    if (LLVMGetTypeKind(type) != LLVMStructTypeKind ||
        LLVMCountStructElementTypes(type) != fields || !LLVMGetInitializer(global))
        diag_bug("'%s' does not have the shape that ompgpu_device.h gives it", ir_name(global));
}

/* ------------------------------------------------------------------ room and names */
static void *grow(void *list, unsigned n, size_t size)
{
    if (n & (n - 1)) /* doubled at each power of two */
        return list;
    void *more = mem_array(n ? 2 * (size_t)n : 1, size);
    return n ? memcpy(more, list, n * size) : more;
}

struct reading {
    struct ir_unit *u;
    LLVMModuleRef module;
    unsigned input;
    bool (*taken)(struct ir_unit *, unsigned, const char *);
};

/* The name to use for `name`, which the host asks for. */
static const char *free_name(const struct reading *r, const char *name)
{
    struct ir_unit *u = r->u;
    if (!r->taken || !r->taken(u, r->input, name))
        return name;
    const char *symbol = mem_printf("%s__m%u", name, r->input);
    u->aliases = grow(u->aliases, u->naliases, sizeof *u->aliases);
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
    check_shape(global, INFO_FIELDS);
    u->kernels = grow(u->kernels, u->nkernels, sizeof *u->kernels);
    struct ir_kernel *k = &u->kernels[u->nkernels++];
    *k = (struct ir_kernel){ .input = &u->opt->inputs[r->input] };
    const char *name = string_field(global, INFO_NAME);
    k->name = free_name(r, name);
    rename_function(r->module, name, k->name);
    rename_function(r->module, mem_printf("%s__region", name), mem_printf("%s__region", k->name));
    k->function = string_field(global, INFO_FUNCTION);
    k->file = string_field(global, INFO_FILE);
    k->directive = string_field(global, INFO_DIRECTIVE);
    k->line = int_field(global, INFO_LINE);
    k->column = int_field(global, INFO_COLUMN);
    k->mode = int_field(global, INFO_MODE);
    k->max_threads = int_field(global, INFO_MAX_THREADS);
    k->reduce_bytes = int_field(global, INFO_REDUCE_BYTES);
    k->flags = int_field(global, INFO_FLAGS);
    if (!ir_kernel_function(r->module, k))
        diag_bug("no function for kernel '%s'", k->name);
}

static void read_reduction(const struct reading *r, LLVMValueRef global)
{
    struct ir_unit *u = r->u;
    check_shape(global, RED_FIELDS);
    u->reductions = grow(u->reductions, u->nreductions, sizeof *u->reductions);
    u->reductions[u->nreductions++] = (struct ir_reduction){
        string_field(global, RED_FILE),   string_field(global, RED_NAMES),
        int_field(global, RED_LINE),      int_field(global, RED_COLUMN),
        int_field(global, RED_VARIABLES), int_field(global, RED_ARRAYS),
        int_field(global, RED_BYTES),     int_field(global, RED_HOW),
        &u->opt->inputs[r->input],
    };
}

static bool is_export(const struct ir_unit *u, const char *name)
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
    check_shape(global, VAR_FIELDS);
    const char *name = string_field(global, VAR_NAME);
    LLVMValueRef variable = field(global, VAR_ADDRESS);
    if (!LLVMIsAGlobalVariable(variable))
        diag_bug("declare target variable '%s' is not a variable", name);
    bool local = LLVMGetLinkage(variable) == LLVMInternalLinkage ||
                 LLVMGetLinkage(variable) == LLVMPrivateLinkage;
    if (local) {
        name = free_name(r, name);
        LLVMValueRef other = LLVMGetNamedGlobal(r->module, name);
        if (other && other != variable)
            diag_bug("declare target variable '%s' and another symbol have one name", name);
        LLVMSetValueName2(variable, name, strlen(name));
        LLVMSetLinkage(variable, LLVMExternalLinkage);
    }
    if (is_export(u, name)) /* weak, in several files */
        return;
    u->exports = grow(u->exports, u->nexports, sizeof *u->exports);
    u->exports[u->nexports++] = mem_strdup(name);
}

/* A declaration's attributes would not survive the link: the promise waits for the definition. */
static void read_promise(const struct reading *r, LLVMValueRef global)
{
    struct ir_unit *u = r->u;
    check_shape(global, ASSUME_FIELDS);
    LLVMValueRef f = field(global, ASSUME_FUNCTION);
    const char *words = string_field(global, ASSUME_WORDS);
    if (LLVMIsAFunction(f) && !LLVMIsDeclaration(f)) {
        ir_promise(u, f, words);
    } else if (LLVMIsAFunction(f)) {
        u->promises = grow(u->promises, u->npromises, sizeof *u->promises);
        u->promises[u->npromises++] = (struct ir_promise){ mem_strdup(ir_name(f)), words };
    }
}

static void delete_global(LLVMValueRef global)
{
    LLVMReplaceAllUsesWith(global, LLVMGetPoison(LLVMTypeOf(global)));
    LLVMDeleteGlobal(global);
}

LLVMValueRef ir_kernel_function(LLVMModuleRef module, const struct ir_kernel *k)
{
    LLVMValueRef f = LLVMGetNamedFunction(module, k->name);
    return f && !LLVMIsDeclaration(f) ? f : NULL;
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

bool ir_collect_info(struct ir_unit *u, LLVMModuleRef module, unsigned input,
                     bool (*taken)(struct ir_unit *, unsigned, const char *))
{
    struct reading r = { u, module, input, taken };
    static const struct {
        const char *prefix;
        void (*read)(const struct reading *, LLVMValueRef);
    } kinds[] = {
        { info_prefix, read_kernel },
        { var_prefix, export_variable },
        { red_prefix, read_reduction },
        { assume_prefix, read_promise },
    };
    delete_used_lists(module);
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
        ir_graph_reach(g, (unsigned)ir_graph_find(g, ir_kernel_function(u->module, k)), from, NULL);
        if (k->mode == IR_GENERIC && (!parallel || from[ir_graph_find(g, parallel)] < 0))
            k->flags &= ~(unsigned)IR_KERNEL_WORKERS;
    }
}

/* Protected: the image's own accesses need no indirection. */
bool ir_finish_info(struct ir_unit *u)
{
    if (u->opt->link)
        drop_workers(u);
    for (unsigned i = 0; i < u->npromises; i++) {
        LLVMValueRef f = LLVMGetNamedFunction(u->module, u->promises[i].function);
        if (f)
            ir_promise(u, f, u->promises[i].words);
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
