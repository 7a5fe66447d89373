/* prepare.c - attributes of kernels and functions that do not depend on the output. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/passes/passes.h"
#include <limits.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>

/* The output's architecture counts, not the one that clang was given. */
static void drop_target_attributes(LLVMValueRef f)
{
    static const char *const names[] = { "target-cpu", "target-features", "tune-cpu" };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        LLVMRemoveStringAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                         names[i], (unsigned)strlen(names[i]));
}

/* ptxas may give a thread so many registers that a full team no longer fits; where the launch can
 * be large, say so.  An SPMD kernel without a clause is launched with what occupancy allows and
 * needs no bound. */
unsigned ir_max_team(const struct ir_kernel *k)
{
    if (k->max_threads)
        return k->max_threads;
    return k->mode == IR_GENERIC && (k->flags & OMPGPU_KERNEL_WORKERS) ? 1024 : 0;
}

/* A generic kernel that reaches no parallel region is launched with a thread. */
bool ir_is_exact(const struct ir_kernel *k)
{
    return (k->flags & OMPGPU_KERNEL_EXACT) &&
           (k->mode == IR_SPMD || (k->flags & OMPGPU_KERNEL_WORKERS));
}

/* With reqntid the driver refuses a launch of another size. */
static void bound_threads(const struct ir_unit *u, const struct ir_kernel *k)
{
    unsigned threads = ir_max_team(k);
    if (threads)
        ir_set_string_attribute(ir_kernel_function(u->module, k),
                                ir_is_exact(k) ? "nvvm.reqntid" : "nvvm.maxntid",
                                mem_printf("%u", threads));
}

static bool is_function(const struct ir_node *n, void *f) { return n->value == f; }

/* Teams that scan wait most of the time, so what counts is how many iterations are under way on a
 * multiprocessor.  ptxas takes 90 to 110 registers where 64 are enough but for a few bytes. */
static void bound_registers(const struct ir_unit *u, const struct ir_kernel *k)
{
    LLVMValueRef f = ir_kernel_function(u->module, k),
                 end = LLVMGetNamedFunction(u->module, "__ompgpu_scan_end");
    if (end && LLVMGetFirstUse(end) && ir_reaches(u->module, f, is_function, end))
        ir_set_string_attribute(f, "nvvm.maxnreg", "64");
}

/* One module has one way with subnormal numbers, since libdevice is told for all of it. */
static bool flushes_subnormals(const struct ir_unit *u)
{
    for (unsigned i = 0; i < u->opt->ninputs; i++)
        if (!u->opt->inputs[i].fast_math && (!u->members || u->members[i]))
            return false;
    return true;
}

/* For libdevice, which asks __nvvm_reflect("__CUDA_FTZ"), and for the backend. */
static void set_subnormals(struct ir_unit *u)
{
    static const char name[] = "nvvm-reflect-ftz";
    bool flush = flushes_subnormals(u);
    LLVMValueRef value = LLVMConstInt(LLVMInt32TypeInContext(u->ctx), flush, false);
    if (!LLVMGetModuleFlag(u->module, name, sizeof name - 1))
        LLVMAddModuleFlag(u->module, LLVMModuleFlagBehaviorOverride, name, sizeof name - 1,
                          LLVMValueAsMetadata(value));
    IR_EACH_FUNCTION(f, u->module)
        if (flush && !LLVMIsDeclaration(f))
            ir_set_string_attribute(f, "denormal-fp-math-f32", "preserve-sign,preserve-sign");
}

/* With a PIE flag LLVM would place thread-local storage as in an executable, which the linker
 * refuses in a shared object. */
static void check_pic(const struct ir_unit *u)
{
    if (LLVMGetModuleFlag(u->module, "PIE Level", 9))
        diag_bug("bitcode for the emulated device was not compiled with -fPIC");
}

/* A large frame touches its pages in order, so that a stack overflow always meets the guard below
 * the stack (hostrt/emu/fiber.c). */
static void probe_stacks(struct ir_unit *u)
{
    IR_EACH_FUNCTION(f, u->module)
        if (!LLVMIsDeclaration(f))
            ir_set_string_attribute(f, "probe-stack", "inline-asm");
}

/* Whatever clang says of a thread-local variable, storage of a team begins undefined: without this
 * LLVM drops a store of the initial value, or makes the only value that is stored the initial one.
 */
static void forget_initial_values(struct ir_unit *u)
{
    IR_EACH_GLOBAL(v, u->module)
        if (ir_is_team_shared(u, v) && LLVMGetInitializer(v))
            LLVMSetExternallyInitialized(v, true);
}

/* ------------------------------------------------------------------ columns */
/* The file as it was named, or with the directory that clang has taken away from its name. */
static const unsigned *users_columns(LLVMMetadataRef at, unsigned *columns)
{
    unsigned n = 0, length = 0, line = LLVMDILocationGetLine(at);
    LLVMMetadataRef file = LLVMDIScopeGetFile(LLVMDILocationGetScope(at));
    const char *name = LLVMDIFileGetFilename(file, &n), *in = LLVMDIFileGetDirectory(file, &length);
    const unsigned *of = ir_users_columns(mem_printf("%.*s", (int)n, name), line, columns);
    if (!of && length)
        of =
            ir_users_columns(mem_printf("%.*s/%.*s", (int)length, in, (int)n, name), line, columns);
    return of;
}

/* They are those of the preprocessed text, until now. */
static void restore_columns(const struct ir_unit *u, LLVMValueRef f)
{
    LLVMMetadataRef scope = NULL;
    const unsigned *of = NULL;
    unsigned line = 0, n = 0;
    IR_EACH_INSTRUCTION_OF(i, f) {
        LLVMMetadataRef at = LLVMInstructionGetDebugLoc(i);
        if (!at || !LLVMDILocationGetColumn(at))
            continue;
        if (LLVMDILocationGetScope(at) != scope || LLVMDILocationGetLine(at) != line) {
            scope = LLVMDILocationGetScope(at), line = LLVMDILocationGetLine(at);
            of = users_columns(at, &n);
        }
        unsigned column = LLVMDILocationGetColumn(at);
        if (of)
            LLVMInstructionSetDebugLoc(
                i, LLVMDIBuilderCreateDebugLocation(u->ctx, line, column <= n ? of[column - 1] : 0,
                                                    scope, LLVMDILocationGetInlinedAt(at)));
    }
}

/* What is inlined there is where it was. */
static bool is_inlined(LLVMValueRef i)
{
    LLVMMetadataRef at = LLVMInstructionGetDebugLoc(i);
    return at && LLVMDILocationGetInlinedAt(at);
}

/* The entry of a kernel is our text, without lines of its own: its code is at the directive. */
static void place_entry(const struct ir_unit *u, const struct ir_kernel *k)
{
    LLVMValueRef f = ir_kernel_function(u->module, k);
    LLVMMetadataRef scope = LLVMGetSubprogram(f);
    if (!scope)
        return;
    LLVMMetadataRef at =
        LLVMDIBuilderCreateDebugLocation(u->ctx, k->at.line, k->at.column, scope, NULL);
    IR_EACH_INSTRUCTION_OF(i, f)
        if (!is_inlined(i))
            LLVMInstructionSetDebugLoc(i, at);
}

/* The local in which clang keeps the kernel's parameter: nothing but that is stored there. */
static LLVMValueRef home_of(LLVMValueRef param)
{
    LLVMUseRef first = LLVMGetFirstUse(param);
    LLVMValueRef store = first && !LLVMGetNextUse(first) ? LLVMGetUser(first) : NULL,
                 home = store && LLVMIsAStoreInst(store) ? LLVMGetOperand(store, 1) : NULL;
    if (!home || !LLVMIsAAllocaInst(home))
        return NULL;
    IR_EACH_USE(use, home)
        if (LLVMGetUser(use) != store && !LLVMIsALoadInst(LLVMGetUser(use)))
            return NULL;
    return home;
}

/* At -O0, too, it can be seen what comes from there. */
static void read_parameters(const struct ir_unit *u, const struct ir_kernel *k)
{
    LLVMValueRef param = LLVMGetParam(ir_kernel_function(u->module, k), 0), home = home_of(param);
    for (LLVMUseRef use = home ? LLVMGetFirstUse(home) : NULL, next; use; use = next) {
        LLVMValueRef load = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        if (!LLVMIsALoadInst(load))
            continue;
        LLVMReplaceAllUsesWith(load, param);
        LLVMInstructionEraseFromParent(load);
    }
}

/* To which the CUDA driver aligns what a module has in global memory, whatever the module says. */
enum { MOST_ALIGNED = 256 };

/* Before LLVM draws conclusions from it. */
static void limit_alignment(const struct ir_unit *u)
{
    IR_EACH_GLOBAL(v, u->module) {
        if (LLVMGetAlignment(v) <= MOST_ALIGNED || ir_is_team_shared(u, v))
            continue;
        diag_warning("'%s' is aligned to %d bytes on the GPU, not to %u: the CUDA driver aligns "
                     "no variable to more",
                     LLVMGetValueName2(v, &(size_t){ 0 }), MOST_ALIGNED, LLVMGetAlignment(v));
        LLVMSetAlignment(v, MOST_ALIGNED);
    }
}

bool ir_prepare(struct ir_unit *u)
{
    IR_EACH_FUNCTION(f, u->module)
        if (LLVMGetSubprogram(f))
            restore_columns(u, f);
    if (u->opt->target == IR_X86) {
        for (unsigned i = 0; i < u->nkernels; i++) {
            place_entry(u, &u->kernels[i]);
            read_parameters(u, &u->kernels[i]);
        }
        check_pic(u);
        probe_stacks(u);
        forget_initial_values(u);
        return true;
    }
    IR_EACH_FUNCTION(f, u->module)
        drop_target_attributes(f);
    for (unsigned i = 0; i < u->nkernels; i++) {
        bound_threads(u, &u->kernels[i]);
        bound_registers(u, &u->kernels[i]);
    }
    set_subnormals(u);
    limit_alignment(u);
    return true;
}
