/* ir_info.c - reads what codegen's C writer left in the module about kernels and declare target variables.
 *
 * __OMPGPU_INFO and __OMPGPU_VAR of devicertl/ompgpu_device.h define constants, so that C is the only place that writes the
 * layout; here they are read from their initialisers and then removed. */
#include "codegen/ir_tool.h"
#include <string.h>

enum { INFO_NAME, INFO_FUNCTION, INFO_FILE, INFO_DIRECTIVE, INFO_LINE, INFO_COLUMN, INFO_MODE, INFO_MAX_THREADS, INFO_REDUCE_BYTES,
       INFO_FLAGS, INFO_FIELDS };
enum { RED_FILE, RED_NAMES, RED_LINE, RED_COLUMN, RED_VARIABLES, RED_ARRAYS, RED_BYTES, RED_HOW, RED_FIELDS };
enum { VAR_NAME, VAR_ADDRESS, VAR_SIZE, VAR_FIELDS };
static const char info_prefix[] = "__ompgpu_info_", var_prefix[] = "__ompgpu_varinfo_", red_prefix[] = "__ompgpu_reduction_";

static LLVMValueRef field(LLVMValueRef global, unsigned i)
{
    return LLVMGetAggregateElement(LLVMGetInitializer(global), i);
}

static const char *string_field(LLVMValueRef global, unsigned i)
{
    LLVMValueRef string = LLVMGetInitializer(field(global, i));
    if (!LLVMIsConstantString(string))
        return "";                    /* "" is a zero initialiser */
    size_t length;
    const char *text = LLVMGetAsString(string, &length);
    return ir_format("%.*s", (int)strnlen(text, length), text);
}

static unsigned int_field(LLVMValueRef global, unsigned i) { return (unsigned)LLVMConstIntGetZExtValue(field(global, i)); }

static void check_shape(LLVMValueRef global, unsigned fields)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(global);
    if (LLVMGetTypeKind(type) != LLVMStructTypeKind || LLVMCountStructElementTypes(type) != fields || !LLVMGetInitializer(global))
        ir_bug("'%s' does not have the shape that ompgpu_device.h gives it", ir_name(global));
}

static void read_kernel(struct ir_unit *u, LLVMValueRef global)
{
    check_shape(global, INFO_FIELDS);
    struct ir_kernel *k = &u->kernels[u->nkernels++];
    k->name = string_field(global, INFO_NAME);
    k->function = string_field(global, INFO_FUNCTION);
    k->file = string_field(global, INFO_FILE);
    k->directive = string_field(global, INFO_DIRECTIVE);
    k->line = int_field(global, INFO_LINE);
    k->column = int_field(global, INFO_COLUMN);
    k->mode = int_field(global, INFO_MODE);
    k->max_threads = int_field(global, INFO_MAX_THREADS);
    k->reduce_bytes = int_field(global, INFO_REDUCE_BYTES);
    k->flags = int_field(global, INFO_FLAGS);
    if (!ir_kernel_function(u->module, k))
        ir_bug("no function for kernel '%s'", k->name);
}

static void read_reduction(struct ir_unit *u, LLVMValueRef global)
{
    check_shape(global, RED_FIELDS);
    u->reductions[u->nreductions++] = (struct ir_reduction){
        string_field(global, RED_FILE), string_field(global, RED_NAMES), int_field(global, RED_LINE), int_field(global, RED_COLUMN),
        int_field(global, RED_VARIABLES), int_field(global, RED_ARRAYS), int_field(global, RED_BYTES), int_field(global, RED_HOW),
    };
}

/* The host finds the variable by its exported name.  Protected: the image's own accesses need no indirection. */
static void export_variable(struct ir_unit *u, LLVMValueRef global)
{
    check_shape(global, VAR_FIELDS);
    const char *name = string_field(global, VAR_NAME);
    LLVMValueRef variable = field(global, VAR_ADDRESS);
    if (!LLVMIsAGlobalVariable(variable))
        ir_bug("declare target variable '%s' is not a variable", name);
    LLVMValueRef other = LLVMGetNamedGlobal(u->module, name);
    if (other && other != variable)
        ir_bug("declare target variable '%s' and another symbol have one name", name);
    LLVMSetValueName2(variable, name, strlen(name));
    LLVMSetLinkage(variable, LLVMExternalLinkage);
    if (LLVMGetInitializer(variable))
        LLVMSetVisibility(variable, LLVMProtectedVisibility);
    u->exports[u->nexports++] = ir_format("%s", name);
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

/* Nothing outside of the image refers to its symbols by other ways than kernels and exported variables. */
static void delete_used_lists(LLVMModuleRef module)
{
    static const char *const lists[] = { "llvm.used", "llvm.compiler.used" };
    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++) {
        LLVMValueRef list = LLVMGetNamedGlobal(module, lists[i]);
        if (list)
            LLVMDeleteGlobal(list);
    }
}

bool ir_read_info(struct ir_unit *u)
{
    unsigned globals = 0;
    IR_EACH_GLOBAL(g, u->module) globals++;
    u->kernels = ir_alloc(globals, sizeof *u->kernels);
    u->reductions = ir_alloc(globals, sizeof *u->reductions);
    u->exports = ir_alloc(globals, sizeof *u->exports);
    delete_used_lists(u->module);
    static const struct { const char *prefix; void (*read)(struct ir_unit *, LLVMValueRef); } kinds[] = {
        { info_prefix, read_kernel }, { var_prefix, export_variable }, { red_prefix, read_reduction },
    };
    IR_EACH_GLOBAL(g, u->module)
        for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (ir_starts(ir_name(g), kinds[i].prefix)) {
                kinds[i].read(u, g);
                delete_global(g);
                break;
            }
    return true;
}
