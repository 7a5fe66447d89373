/* link.c - the device runtime and libdevice join the user's module; what then still has no body is
 * reported.
 *
 * Both libraries are read lazily and all their definitions made linkonce_odr first: LLVM's linker
 * takes only those that something refers to, and reads only their bodies.  That is how 350
 * functions of libdevice cost next to nothing. */
#include "codegen/ir/tool.h"
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <string.h>

/* What the emulated device looks up by name in an image (hostrt/plugin.h). */
static const char *const emu_interface[] = { "__ompgpu_emu_ops", "__ompgpu_emu_set_self" };
enum { EMU_INTERFACE = sizeof emu_interface / sizeof *emu_interface };

static bool is_emu_interface(const char *name)
{
    for (unsigned i = 0; i < EMU_INTERFACE; i++)
        if (strcmp(name, emu_interface[i]) == 0)
            return true;
    return false;
}

/* ------------------------------------------------------------------ libraries */
static LLVMModuleRef read_lazily(struct ir_unit *u, const char *path)
{
    LLVMMemoryBufferRef buffer = ir_read_file(path);
    LLVMModuleRef module;
    if (!buffer)
        return NULL;
    if (!LLVMGetBitcodeModuleInContext2(u->ctx, buffer, &module))
        return module; /* owns the buffer */
    LLVMDisposeMemoryBuffer(buffer);
    diag_error("'%s' is not LLVM bitcode that this compiler can read", path);
    return NULL;
}

static void make_optional(LLVMValueRef global)
{
    LLVMLinkage linkage = LLVMGetLinkage(global);
    if (LLVMIsDeclaration(global) || linkage == LLVMInternalLinkage ||
        linkage == LLVMPrivateLinkage || linkage == LLVMAppendingLinkage ||
        is_emu_interface(ir_name(global)))
        return;
    LLVMSetLinkage(global, LLVMLinkOnceODRLinkage);
}

static bool link_library(struct ir_unit *u, const char *path)
{
    LLVMModuleRef library = read_lazily(u, path);
    if (!library)
        return false;
    IR_EACH_FUNCTION(f, library)
        make_optional(f);
    IR_EACH_GLOBAL(g, library)
        make_optional(g);
    /* libdevice carries the triple and the layout of an older LLVM; they mean the same. */
    LLVMSetTarget(library, LLVMGetTarget(u->module));
    LLVMSetDataLayout(library, LLVMGetDataLayoutStr(u->module));
    if (LLVMLinkModules2(u->module, library)) { /* takes `library` */
        diag_error("cannot link the device library '%s'", path);
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------ facts about the runtime */
/* In a context of its own, so that nothing of it is seen in the user's module. */
static struct ir_graph *read_runtime(const char *path, LLVMModuleRef *runtime)
{
    LLVMMemoryBufferRef buffer = ir_read_file(path);
    if (!buffer || LLVMParseBitcodeInContext2(LLVMContextCreate(), buffer, runtime))
        diag_bug("'%s' is not a device runtime that this compiler can read", path);
    LLVMDisposeMemoryBuffer(buffer);
    return ir_graph_build(*runtime);
}

bool ir_runtime_waits(const struct ir_unit *u, const char *name)
{
    static LLVMModuleRef runtime;
    static struct ir_graph *g;
    static bool *waits;
    if (!runtime) {
        g = read_runtime(u->opt->rtl, &runtime);
        waits = mem_array(g->n, sizeof *waits);
        waits[ir_graph_find(g, LLVMGetNamedFunction(runtime, "__ompgpu_arch_barrier_part"))] = true;
        ir_graph_reaching(g, waits);
    }
    LLVMValueRef f = LLVMGetNamedFunction(runtime, name);
    return f && waits[ir_graph_find(g, f)];
}

/* ------------------------------------------------------------------ unresolved symbols */
/* From whom it is reached: a kernel, or behind those a declare target variable.  path: "f, g"
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
    static const char *const cuda[] = { "vprintf", "malloc", "free", "__assertfail",
                                        "__nvvm_reflect" };
    if (u->opt->target == IR_X86)
        return true; /* see undefined_on_host */
    for (unsigned i = 0; i < sizeof cuda / sizeof *cuda; i++)
        if (strcmp(name, cuda[i]) == 0)
            return true;
    return false;
}

/* The region function and the clones that the optimiser or codegen's naming make are no news to the
 * user. */
static bool is_user_function(const struct ir_unit *u, const char *name)
{
    for (unsigned i = 0; i < u->nkernels; i++)
        if (text_starts(name, u->kernels[i].name) &&
            (!name[strlen(u->kernels[i].name)] ||
             text_starts(name + strlen(u->kernels[i].name), "__region")))
            return false;
    return !strstr(name, "__parallel") && !text_starts(name, "__");
}

static char *path_to(const struct ir_unit *u, const struct ir_graph *g, const int *from,
                     unsigned node)
{
    char *path = NULL;
    for (unsigned at = (unsigned)from[node]; from[at] != (int)at; at = (unsigned)from[at]) {
        const char *name = ir_name(g->nodes[at].value);
        if (is_user_function(u, name))
            path = path ? mem_printf("'%s', %s", name, path) : mem_printf("'%s'", name);
    }
    return path;
}

static bool is_missing(const struct ir_unit *u, const struct ir_node *node)
{
    const char *name = ir_name(node->value);
    return !node->defined && !text_starts(name, "llvm.") && !is_provided(u, name);
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
    ir_graph_reach(g, (unsigned)ir_graph_find(g, value), from, NULL);
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

static bool note_place(const struct missing *m, const char **file, unsigned *line)
{
    unsigned length;
    IR_EACH_USE(use, m->value) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsAInstruction(user) || !LLVMGetDebugLocLine(user))
            continue;
        *file = mem_strdup(LLVMGetDebugLocFilename(user, &length));
        *line = LLVMGetDebugLocLine(user);
        return true;
    }
    return false;
}

/* Each set of kernels (passes/specialise.c) has its own list. */
static bool is_reported(const char *name)
{
    static struct words reported;
    for (unsigned i = 0; i < reported.n; i++)
        if (strcmp(reported.v[i], name) == 0)
            return true;
    words_add(&reported, mem_strdup(name));
    return false;
}

/* At the call itself where lines are known (its column would be the device text's), else at the
 * region. */
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
    const char *file = k->file;
    unsigned line = k->line, column = note_place(m, &file, &line) ? 0 : k->column;
    if (u->opt->link)
        ir_error_at(file, line, column,
                    "%s '%s' is used on the device, by region '%s' (%s:%u)%s%s, but no file of "
                    "this link defines it there; "
                    "put 'declare target' around its definition, and link that file's object (not "
                    "a shared library)",
                    kind, name, k->name, k->file, k->line, through, path);
    else
        ir_error_at(file, line, column,
                    "%s '%s' has no definition in this file, but region '%s' (%s:%u) uses it%s%s "
                    "on the device",
                    kind, name, k->name, k->file, k->line, through, path);
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

static bool resolve_nvptx(struct ir_unit *u)
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
    static const char *const names[] = { "printf",        "vprintf", "puts",   "putchar", "malloc",
                                         "free",          "calloc",  "memcpy", "memmove", "memset",
                                         "memcmp",        "strlen",  "strcmp", "strncmp", "strcpy",
                                         "abs",           "labs",    "llabs",  "abort",   "exit",
                                         "__assert_fail", "__assert" };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return ir_is_math_name(name);
}

struct names {
    const char **at;
    unsigned n;
};

static struct names undefined_by_user(LLVMModuleRef module)
{
    unsigned n = 0;
    IR_EACH_FUNCTION(f, module)
        n++;
    IR_EACH_GLOBAL(g, module)
        n++;
    struct names names = { mem_array(n, sizeof *names.at), 0 };
    IR_EACH_FUNCTION(f, module)
        if (LLVMIsDeclaration(f) && !text_starts(ir_name(f), "llvm.") &&
            !is_device_libc(ir_name(f)))
            names.at[names.n++] = mem_strdup(ir_name(f));
    IR_EACH_GLOBAL(g, module)
        if (LLVMIsDeclaration(g))
            names.at[names.n++] = mem_strdup(ir_name(g));
    return names;
}

static LLVMValueRef find_symbol(LLVMModuleRef module, const char *name)
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

static bool resolve_x86(struct ir_unit *u, const struct names *names)
{
    struct ir_graph *g = ir_graph_build(u->module);
    for (unsigned i = 0; i < names->n; i++) {
        LLVMValueRef value = find_symbol(u->module, names->at[i]);
        if (value && LLVMIsDeclaration(value))
            report_if_reached(u, g, value);
    }
    return diag_errors() == 0;
}

static bool check_emu_interface(struct ir_unit *u)
{
    for (unsigned i = 0; i < EMU_INTERFACE; i++) {
        LLVMValueRef value = find_symbol(u->module, emu_interface[i]);
        if (!value || LLVMIsDeclaration(value))
            diag_bug("'%s' does not define %s", u->opt->rtl, emu_interface[i]);
    }
    return true;
}

/* The x86 backend makes calls of some operations, after all is linked: what it may call
 * (devicertl/builtins.c) is asked for here.  The names stay visible (is_exported). */
static const char *const backend_calls[] = { "__udivti3",   "__umodti3",     "__divti3",
                                             "__modti3",    "__extendhfsf2", "__truncsfhf2",
                                             "__truncdfhf2" };
enum { BACKEND_CALLS = sizeof backend_calls / sizeof *backend_calls };

bool ir_is_backend_call(const char *name)
{
    for (unsigned i = 0; i < BACKEND_CALLS; i++)
        if (strcmp(name, backend_calls[i]) == 0)
            return true;
    return false;
}

static bool becomes_call(LLVMValueRef inst)
{
    LLVMTypeRef half = LLVMHalfTypeInContext(LLVMGetTypeContext(LLVMTypeOf(inst))),
                type = LLVMTypeOf(inst);
    LLVMOpcode op = LLVMGetInstructionOpcode(inst);
    bool division = op == LLVMUDiv || op == LLVMSDiv || op == LLVMURem || op == LLVMSRem;
    if (type == half || (division && LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
                         LLVMGetIntTypeWidth(type) > 64))
        return true;
    for (int i = 0; i < LLVMGetNumOperands(inst); i++)
        if (LLVMTypeOf(LLVMGetOperand(inst, (unsigned)i)) == half)
            return true;
    return false;
}

static bool function_needs_backend_calls(LLVMValueRef f)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (becomes_call(i))
                return true;
    return false;
}

static void want_backend_calls(struct ir_unit *u)
{
    bool needed = false;
    IR_EACH_FUNCTION(f, u->module)
        needed = needed || function_needs_backend_calls(f);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(u->ctx), NULL, 0, false);
    for (unsigned i = 0; needed && i < BACKEND_CALLS; i++)
        /* replaced by the definition, with its type */
        LLVMAddFunction(u->module, backend_calls[i], type);
}

bool ir_link(struct ir_unit *u)
{
    struct names names = { 0 };
    if (u->opt->target == IR_X86) {
        names = undefined_by_user(u->module);
        want_backend_calls(u);
    }
    if (!link_library(u, u->opt->rtl))
        return false;
    if (u->opt->target == IR_NVPTX)
        return resolve_nvptx(u);
    return check_emu_interface(u) && resolve_x86(u, &names);
}

/* ------------------------------------------------------------------ linkage */
static bool is_exported(const struct ir_unit *u, const char *name)
{
    for (unsigned i = 0; i < u->nkernels; i++)
        if (strcmp(u->kernels[i].name, name) == 0)
            return true;
    for (unsigned i = 0; i < u->nexports; i++)
        if (strcmp(u->exports[i], name) == 0)
            return true;
    return u->opt->target == IR_X86 && (is_emu_interface(name) || ir_is_backend_call(name));
}

static void internalise(const struct ir_unit *u, LLVMValueRef global)
{
    const char *name = ir_name(global);
    if (LLVMIsDeclaration(global) || text_starts(name, "llvm.") ||
        LLVMGetLinkage(global) == LLVMPrivateLinkage)
        return;
    if (!is_exported(u, name))
        LLVMSetLinkage(global, LLVMInternalLinkage);
    else if (ir_is_backend_call(name))
        LLVMSetLinkage(global, LLVMExternalLinkage); /* nothing calls it yet */
}

/* Only kernels and declare target variables are seen from outside; the optimiser may do as it likes
 * with the rest. */
bool ir_internalise(struct ir_unit *u)
{
    IR_EACH_FUNCTION(f, u->module)
        internalise(u, f);
    IR_EACH_GLOBAL(g, u->module)
        internalise(u, g);
    return true;
}
