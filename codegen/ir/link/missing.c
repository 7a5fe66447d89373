/* missing.c - what has no definition when all is linked, and which region needs it. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/link/link.h"
#include "codegen/ir/passes/passes.h"
#include <string.h>

/* From where it is reached: a kernel or, after those, a declare target variable.  path: "f, g"
 * between that and the user of value. */
struct missing {
    LLVMValueRef value;
    unsigned root;
    char *path;
};
struct missing_list {
    struct missing *at;
    unsigned n;
};

/* What the target's system provides. */
static bool is_provided(const struct ir_unit *u, const char *name)
{
    static const char *const cuda[] = {
        "vprintf",      "__ompgpu_driver_malloc", "__ompgpu_driver_free", "__ompgpu_dynamic_shared",
        "__assertfail", "__nvvm_reflect"
    };
    if (u->opt->target == IR_X86)
        return true; /* see undefined_on_host */
    for (unsigned i = 0; i < sizeof cuda / sizeof *cuda; i++)
        if (strcmp(name, cuda[i]) == 0)
            return true;
    return false;
}

/* Kernels, region functions and what else we made are no news to the user. */
static bool is_user_function(const struct ir_unit *u, LLVMValueRef f)
{
    static const char *const ours[] = { IR_REGION, IR_PARALLEL, IR_OURS };
    for (unsigned i = 0; i < u->nkernels; i++)
        if (strcmp(ir_name(f), u->kernels[i].name) == 0)
            return false;
    for (unsigned i = 0; i < sizeof ours / sizeof *ours; i++)
        if (ir_string_attribute(f, ours[i]))
            return false;
    return !text_starts(ir_name(f), "__ompgpu_");
}

static char *path_to(const struct ir_unit *u, const struct ir_graph *g, const int *from,
                     unsigned node)
{
    char *path = NULL;
    for (unsigned at = (unsigned)from[node]; from[at] != (int)at; at = (unsigned)from[at]) {
        const char *name = ir_name(g->nodes[at].value);
        if (is_user_function(u, g->nodes[at].value))
            path = path ? mem_printf("'%s', %s", name, path) : mem_printf("'%s'", name);
    }
    return path;
}

static bool is_missing(const struct ir_unit *u, const struct ir_node *node)
{
    const char *name = ir_name(node->value);
    return !node->defined && !*ir_intrinsic(node->value) && !is_provided(u, name);
}

static void add_missing(struct missing_list *list, struct missing m)
{
    for (unsigned i = 0; i < list->n; i++)
        if (list->at[i].value == m.value)
            return;
    list->at[list->n++] = m;
}

static unsigned roots(const struct ir_unit *u) { return u->nkernels + u->nexports; }

static void reach_root(struct ir_unit *u, const struct ir_graph *g, unsigned root, int *from)
{
    LLVMValueRef value = root < u->nkernels
                             ? ir_kernel_function(u->module, &u->kernels[root])
                             : LLVMGetNamedGlobal(u->module, u->exports[root - u->nkernels]);
    ir_graph_reach(g, value, from, NULL);
}

/* Symbols without a definition that some kernel or variable reaches. */
static struct missing_list find_missing(struct ir_unit *u)
{
    struct ir_graph *g = ir_graph_build(u->module);
    struct missing_list list = { mem_array(g->n, sizeof *list.at), 0 };
    int *from = mem_array(g->n, sizeof *from);
    for (unsigned k = 0; k < roots(u); k++) {
        reach_root(u, g, k, from);
        for (unsigned i = 0; i < g->n; i++)
            if (from[i] >= 0 && is_missing(u, &g->nodes[i]))
                add_missing(&list,
                            (struct missing){ g->nodes[i].value, k, path_to(u, g, from, i) });
    }
    return list;
}

/* Of an instruction that uses it, without the column, which is the device text's; file NULL: no
 * lines are known. */
static struct ir_place place_of_use(const struct missing *m, bool with_column)
{
    unsigned length;
    IR_EACH_USE(use, m->value) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsAInstruction(user) || !LLVMGetDebugLocLine(user))
            continue;
        return (struct ir_place){ .file = mem_strdup(LLVMGetDebugLocFilename(user, &length)),
                                  .line = LLVMGetDebugLocLine(user),
                                  .column = with_column ? LLVMGetDebugLocColumn(user) : 0 };
    }
    return (struct ir_place){ NULL, 0, 0 };
}

/* Each set of kernels (passes/sets.c) has its own list. */
static bool is_reported(const char *name)
{
    static VEC(const char *) reported;
    for (unsigned i = 0; i < reported.n; i++)
        if (strcmp(reported.at[i], name) == 0)
            return true;
    *VEC_PUSH(NULL, &reported) = mem_strdup(name);
    return false;
}

/* At the use itself where lines are known, else at the region. */
static void report_missing(const struct ir_unit *u, const struct missing *m)
{
    const char *kind = LLVMIsAFunction(m->value) ? "function" : "variable",
               *name = ir_name(m->value), *path = m->path ? m->path : "";
    const char *through = m->path ? " through " : "";
    if (is_reported(name))
        return;
    if (m->root >= u->nkernels) {
        diag_error("%s '%s' has no definition for the device, but the initialiser of the declare "
                   "target variable '%s' needs it%s%s",
                   kind, name, u->exports[m->root - u->nkernels], through, path);
        return;
    }
    const struct ir_kernel *k = &u->kernels[m->root];
    struct ir_place at = place_of_use(m, !u->opt->link);
    if (!at.file)
        at = k->at;
    if (u->opt->link)
        ir_say_at(at, DIAG_ERROR,
                  "%s '%s' is used on the device, by region '%s' (%s:%u)%s%s, but no file of "
                  "this link defines it there; "
                  "put 'declare target' around its definition, and link that file's object (not "
                  "a shared library)",
                  kind, name, k->name, k->at.file, k->at.line, through, path);
    else
        ir_say_at(at, DIAG_ERROR,
                  "%s '%s' has no definition in this file, but region '%s' (%s:%u) uses it%s%s "
                  "on the device",
                  kind, name, k->name, k->at.file, k->at.line, through, path);
}

static void report_libdevice(const struct missing_list *list)
{
    char *names = NULL;
    for (unsigned i = 0; i < list->n; i++) {
        const char *name = ir_name(list->at[i].value);
        if (text_starts(name, "__nv_"))
            names = names ? mem_printf("%s, %s", names, name + 5) : mem_strdup(name + 5);
    }
    if (!is_reported("libdevice"))
        diag_error(
            "math functions (%s) on the device need libdevice of the CUDA Toolkit; set --cuda-path",
            names);
}

static bool needs_libdevice(const struct missing_list *list)
{
    for (unsigned i = 0; i < list->n; i++)
        if (text_starts(ir_name(list->at[i].value), "__nv_"))
            return true;
    return false;
}

bool ir_resolve_nvptx(struct ir_unit *u, bool (*link_library)(struct ir_unit *, const char *))
{
    struct missing_list list = find_missing(u);
    if (needs_libdevice(&list)) {
        if (!u->opt->libdevice)
            report_libdevice(&list);
        else if (link_library(u, u->opt->libdevice))
            list = find_missing(u);
    }
    for (unsigned i = 0; i < list.n; i++)
        if (u->opt->libdevice || !text_starts(ir_name(list.at[i].value), "__nv_"))
            report_missing(u, &list.at[i]);
    return diag_errors() == 0;
}

/* ------------------------------------------------------------------ the emulated device
 * Its image is a shared object in a host process, where any function of the C library could be
 * found; only those are let through that a kernel may call on the GPU, too.  What the runtime
 * itself declares is its own affair: hence the list is taken before it is linked. */
static bool is_device_libc(const char *name)
{
    static const char *const names[] = {
#define NAMES_MATH(name) #name, #name "f",
#define NAMES_STDLIB(name) #name,
#define NAMES_STRING(name) #name,
#define NAMES_STDIO(name) #name,
#define NAMES_ASSERT(name) #name,
#define NAMES_OMP_ANY(name)
#define NAMES_OMP(name)
#define NAMES_SCHEDULE(name)
#define NAMES_THREADS(name)
#define NAMES_TASK(name)
#define NAMES_LOCK(name)
#define DEVICE_FUNC(group, name) NAMES_##group(name)
#include "devicertl/device_funcs.def"
        "vprintf", "__assert"
    };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return ir_is_math_name(name);
}

/* Variables of stdio.h: devicertl/libc.c has them. */
static bool is_stream(const char *name)
{
    return strcmp(name, "stdout") == 0 || strcmp(name, "stderr") == 0;
}

struct ir_names ir_undefined_by_user(LLVMModuleRef module)
{
    unsigned n = 0;
    IR_EACH_FUNCTION(f, module)
        n++;
    IR_EACH_GLOBAL(g, module)
        n++;
    struct ir_names names = { mem_array(n, sizeof *names.at), 0 };
    IR_EACH_FUNCTION(f, module)
        if (LLVMIsDeclaration(f) && !LLVMGetIntrinsicID(f) && !is_device_libc(ir_name(f)))
            names.at[names.n++] = mem_strdup(ir_name(f));
    IR_EACH_GLOBAL(g, module)
        if (LLVMIsDeclaration(g) && !is_stream(ir_name(g)))
            names.at[names.n++] = mem_strdup(ir_name(g));
    return names;
}

LLVMValueRef ir_find_symbol(LLVMModuleRef module, const char *name)
{
    LLVMValueRef f = LLVMGetNamedFunction(module, name);
    return f ? f : LLVMGetNamedGlobal(module, name);
}

static void report_if_reached(struct ir_unit *u, const struct ir_graph *g, LLVMValueRef value)
{
    int *from = mem_array(g->n, sizeof *from), node = ir_graph_find(g, value);
    for (unsigned k = 0; k < roots(u); k++) {
        reach_root(u, g, k, from);
        if (from[node] < 0)
            continue;
        report_missing(u, &(struct missing){ value, k, path_to(u, g, from, (unsigned)node) });
        break;
    }
}

bool ir_resolve_x86(struct ir_unit *u, const struct ir_names *names)
{
    struct ir_graph *g = ir_graph_build(u->module);
    for (unsigned i = 0; i < names->n; i++) {
        LLVMValueRef value = ir_find_symbol(u->module, names->at[i]);
        if (value && LLVMIsDeclaration(value))
            report_if_reached(u, g, value);
    }
    return diag_errors() == 0;
}
