/* link.c - the device runtime and libdevice join the user's module.
 *
 * Both libraries are read lazily and all their definitions made linkonce_odr first: LLVM's linker
 * takes only those that something refers to, and reads only their bodies.  That is how 350
 * functions of libdevice cost next to nothing. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/link/link.h"
#include "codegen/ir/passes/passes.h"
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <string.h>

/* What the emulated device looks up by name in an image (hostrt/plugin.h), and what late passes
 * look for, as it is in the runtime, or call (passes/threads.c, stackless.c). */
static bool is_emu_interface(const char *name) { return text_starts(name, "__ompgpu_emu_"); }

/* ------------------------------------------------------------------ libraries */
static void make_optional(LLVMValueRef global)
{
    LLVMLinkage linkage = LLVMGetLinkage(global);
    if (LLVMIsDeclaration(global) || ir_is_local_linkage(global) ||
        linkage == LLVMAppendingLinkage || is_emu_interface(ir_name(global)))
        return;
    LLVMSetLinkage(global, LLVMLinkOnceODRLinkage);
}

/* A module flag is a node: behaviour, name, value. */
static LLVMValueRef find_flag(LLVMModuleRef m, LLVMValueRef name)
{
    static const char flags[] = "llvm.module.flags";
    unsigned n = LLVMGetNamedMetadataNumOperands(m, flags);
    LLVMValueRef *nodes = mem_array(n, sizeof *nodes), parts[3];
    LLVMGetNamedMetadataOperands(m, flags, nodes);
    for (unsigned i = 0; i < n; i++) {
        LLVMGetMDNodeOperands(nodes[i], parts);
        if (parts[1] == name)
            return nodes[i];
    }
    return NULL;
}

/* Flags of the user's on which modules must agree (wchar_size after -fshort-wchar) say nothing of
 * the library, which has none of the types concerned. */
static void take_flags(LLVMModuleRef library, LLVMModuleRef user)
{
    static const char flags[] = "llvm.module.flags";
    unsigned n = LLVMGetNamedMetadataNumOperands(library, flags);
    LLVMValueRef *nodes = mem_array(n, sizeof *nodes), own[3], theirs[3];
    LLVMGetNamedMetadataOperands(library, flags, nodes);
    for (unsigned i = 0; i < n; i++) {
        LLVMGetMDNodeOperands(nodes[i], own);
        LLVMValueRef flag = find_flag(user, own[1]);
        if (!flag || LLVMConstIntGetZExtValue(own[0]) - 1 != LLVMModuleFlagBehaviorError)
            continue;
        LLVMGetMDNodeOperands(flag, theirs);
        LLVMReplaceMDNodeOperandWith(nodes[i], 2, LLVMValueAsMetadata(theirs[2]));
    }
}

static bool link_library(struct ir_unit *u, const char *path)
{
    LLVMModuleRef library = ir_parse_library(u, path);
    if (!library)
        return false;
    IR_EACH_FUNCTION(f, library)
        make_optional(f);
    IR_EACH_GLOBAL(g, library)
        make_optional(g);
    /* libdevice carries the triple and the layout of an older LLVM; they mean the same. */
    LLVMSetTarget(library, LLVMGetTarget(u->module));
    LLVMSetDataLayout(library, LLVMGetDataLayoutStr(u->module));
    take_flags(library, u->module);
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

/* ------------------------------------------------------------------ all of it */
static bool check_emu_interface(struct ir_unit *u)
{
    static const char *const names[] = { "__ompgpu_emu_ops", "__ompgpu_emu_self_at",
                                         "__ompgpu_emu_outside" };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        LLVMValueRef value = ir_find_symbol(u->module, names[i]);
        if (!value || LLVMIsDeclaration(value))
            diag_bug("'%s' does not define %s", u->opt->rtl, names[i]);
    }
    return true;
}

/* The x86 backend makes calls of some operations, after all is linked: what it may call
 * (devicertl/builtins.c) is asked for here, as for GPUs what passes/arrays.c calls.  The names stay
 * visible (is_exported). */
static const char *const backend_calls[] = { "__udivti3",   "__umodti3",     "__divti3",
                                             "__modti3",    "__extendhfsf2", "__truncsfhf2",
                                             "__truncdfhf2" };
enum { BACKEND_CALLS = sizeof backend_calls / sizeof *backend_calls };

bool ir_is_backend_call(const char *name)
{
    for (unsigned i = 0; i < BACKEND_CALLS; i++)
        if (strcmp(name, backend_calls[i]) == 0)
            return true;
    return ir_is_frame_function(name);
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
    IR_EACH_INSTRUCTION_OF(i, f)
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
    struct ir_names names = { 0 };
    if (u->opt->target == IR_X86) {
        names = ir_undefined_by_user(u->module);
        want_backend_calls(u);
    } else {
        ir_want_frames(u);
    }
    if (!link_library(u, u->opt->rtl))
        return false;
    if (u->opt->target == IR_NVPTX)
        return ir_resolve_nvptx(u, link_library);
    return check_emu_interface(u) && ir_resolve_x86(u, &names);
}

/* ------------------------------------------------------------------ linkage */
/* The runtime's variable that the host sets, as it sets the user's. */
static bool is_team_icvs(const char *name) { return strcmp(name, OMPGPU_TEAM_ICVS) == 0; }

/* What passes/prints.c replaces after optimisation: until then it keeps its parameters and result.
 */
static bool is_print(const char *name)
{
    return text_starts(name, IR_VPRINTF) || strcmp(name, IR_PRINT) == 0;
}

static bool is_exported(const struct ir_unit *u, const char *name)
{
    for (unsigned i = 0; i < u->nkernels; i++)
        if (strcmp(u->kernels[i].name, name) == 0)
            return true;
    return ir_is_export(u, name) || is_team_icvs(name) || is_print(name) ||
           ir_is_backend_call(name) || (u->opt->target == IR_X86 && is_emu_interface(name));
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
    if (is_team_icvs(name)) {
        LLVMSetLinkage(global, LLVMExternalLinkage);
        LLVMSetVisibility(global, LLVMProtectedVisibility);
    }
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
