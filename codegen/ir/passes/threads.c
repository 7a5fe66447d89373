/* threads.c - the emulated device's kernels for the threads of a team.
 *
 * A kernel in which no thread waits becomes a loop over the threads of teams, with the kernel
 * inside of it, so that LLVM makes vector code of what threads do beside each other:
 *
 *     k(params)          ──▶   __ompgpu_span_k(params, s)
 *     { … tid() … }            { for each team of s: for each thread tid of s: { … tid … } }
 *
 * The loops are those of devicertl/arch_emu.c, with a call there that says who runs; the calls that
 * ask for it (__ompgpu_emu_tid …) have been left alone by the optimiser, and take its arguments.
 * Everywhere else they become loads from what the plugin says of the thread.
 *
 * Threads that do not wait are not ordered, so memory that several of them use is no obstacle to
 * running them at once; locals, which they have one after the other, would be. */
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"
#include "hostrt/plugin.h"
#include <llvm-c/DebugInfo.h>
#include <string.h>

static const char *const who[] = { "__ompgpu_emu_tid", "__ompgpu_emu_ntid", "__ompgpu_emu_team",
                                   "__ompgpu_emu_nteams" };
enum { WHO = sizeof who / sizeof *who };
static const char says_who[] = "__ompgpu_emu_is", in_order[] = "__ompgpu_emu_threads",
                  at_once[] = "__ompgpu_emu_free_threads", renews[] = "__ompgpu_emu_renew";

static int find_who(LLVMValueRef v)
{
    for (unsigned i = 0; i < WHO; i++)
        if (ir_is_call_of(v, who[i]))
            return (int)i;
    return -1;
}

/* ------------------------------------------------------------------ the loop */
static bool is_harmless_call(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    return find_who(call) >= 0 || (LLVMIsAFunction(callee) && *ir_intrinsic(callee));
}

static bool needs_order(LLVMValueRef i)
{
    return LLVMIsAAllocaInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i) ||
           LLVMIsAFenceInst(i) || (LLVMIsACallInst(i) && !is_harmless_call(i)) ||
           ((LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) &&
            (LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic));
}

static bool can_run_at_once(const struct ir_unit *u, LLVMValueRef f)
{
    if (u->opt->level == '0')
        return false;
    IR_EACH_INSTRUCTION_OF(i, f)
        if (needs_order(i))
            return false;
    return true;
}

static void copy_attributes(LLVMValueRef to, LLVMValueRef from)
{
    LLVMAttributeIndex at = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    unsigned n = LLVMGetAttributeCountAtIndex(from, at);
    LLVMAttributeRef *list = mem_array(n, sizeof *list);
    LLVMGetAttributesAtIndex(from, at, list);
    for (unsigned i = 0; i < n; i++)
        LLVMAddAttributeAtIndex(to, at, list[i]);
    ir_remove_attribute(to, "memory"); /* the loop says who runs */
}

LLVMValueRef ir_emulated_kernel(const struct ir_unit *u, const struct ir_kernel *k)
{
    static const char *const forms[] = { OMPGPU_EMU_SPAN, OMPGPU_EMU_START, "" };
    LLVMValueRef f = NULL;
    for (unsigned i = 0; !f && i < sizeof forms / sizeof *forms; i++)
        f = LLVMGetNamedFunction(u->module, mem_printf("%s%s", forms[i], k->name));
    return f;
}

LLVMValueRef ir_take_over(const struct ir_unit *u, LLVMValueRef body, const char *name,
                          LLVMTypeRef type)
{
    LLVMValueRef f = LLVMAddFunction(u->module, name, type);
    copy_attributes(f, body);
    LLVMSetValueName2(body, "", 0);
    LLVMSetLinkage(body, LLVMInternalLinkage);
    ir_remove_attribute(body, "noinline");
    ir_remove_attribute(body, "optnone");
    ir_add_attribute(body, "alwaysinline");
    return f;
}

static void add_loop(struct ir_unit *u, const struct ir_kernel *k)
{
    LLVMValueRef body = ir_kernel_function(u->module, k), args[3];
    LLVMTypeRef params[] = { l_ptr(u), l_ptr(u) };
    const char *loop = can_run_at_once(u, body) ? at_once : in_order,
               *name = mem_printf(OMPGPU_EMU_SPAN "%s", k->name);
    LLVMValueRef f = ir_take_over(u, body, name, LLVMFunctionType(l_void(u), params, 2, 0));
    LLVMBuilderRef b = l_open_function(f);
    args[0] = LLVMGetParam(f, 0), args[1] = LLVMGetParam(f, 1), args[2] = body;
    l_call_runtime(u, b, loop, args, 3);
    l_close_function(b);
}

static LLVMValueRef find_call(LLVMValueRef f, const char *callee)
{
    IR_EACH_INSTRUCTION_OF(i, f)
        if (ir_is_call_of(i, callee))
            return i;
    return NULL;
}

/* Within the loop its variables say who runs. */
static void take_who_from_loop(LLVMValueRef f)
{
    LLVMValueRef saying = find_call(f, says_who);
    IR_EACH_INSTRUCTION_OF(i, f) {
        int which = find_who(i);
        if (which < 0)
            continue;
        LLVMReplaceAllUsesWith(i, LLVMGetOperand(saying, (unsigned)which));
        ir_erase(i);
    }
    ir_erase(saying);
}

/* ------------------------------------------------------------------ parameters */
static LLVMValueRef base_of(LLVMValueRef pointer)
{
    while (LLVMIsAGetElementPtrInst(pointer))
        pointer = LLVMGetOperand(pointer, 0);
    return pointer;
}

static bool is_parameter_load(LLVMValueRef v, LLVMValueRef params)
{
    return LLVMIsALoadInst(v) && base_of(LLVMGetOperand(v, 0)) == params;
}

static void mark_parameters(const struct ir_unit *u, LLVMValueRef f)
{
    static const char name[] = "invariant.load";
    unsigned kind = LLVMGetMDKindIDInContext(u->ctx, name, sizeof name - 1);
    LLVMValueRef none = LLVMMetadataAsValue(u->ctx, LLVMMDNodeInContext2(u->ctx, NULL, 0)),
                 params = LLVMGetParam(f, 0);
    IR_EACH_INSTRUCTION_OF(i, f)
        if (LLVMIsALoadInst(i) && (is_parameter_load(i, params) ||
                                   is_parameter_load(base_of(LLVMGetOperand(i, 0)), params)))
            LLVMSetMetadata(i, kind, none);
}

static void move_to(LLVMValueRef i, LLVMBuilderRef b)
{
    if (!LLVMIsAInstruction(i) || LLVMGetInstructionParent(i) == LLVMGetInsertBlock(b))
        return;
    if (LLVMIsAGetElementPtrInst(i) || LLVMIsALoadInst(i))
        move_to(LLVMGetOperand(i, 0), b);
    LLVMInstructionRemoveFromParent(i);
    LLVMInsertIntoBuilder(b, i);
}

static bool is_fixed(LLVMValueRef address)
{
    for (; LLVMIsAGetElementPtrInst(address); address = LLVMGetOperand(address, 0))
        for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(address); i++)
            if (!LLVMIsAConstantInt(LLVMGetOperand(address, i)))
                return false;
    return true;
}

/* an element of the array of pointers to parameters, or a parameter */
static bool is_read_first(LLVMValueRef v, LLVMValueRef params)
{
    LLVMValueRef from = LLVMIsALoadInst(v) ? LLVMGetOperand(v, 0) : NULL;
    if (from && is_parameter_load(from, params))
        from = LLVMGetOperand(from, 0);
    return from && base_of(from) == params && is_fixed(from);
}

/* What the host hands to the kernel does not change while it runs and is there as a whole: it is
 * read before the loop, also what a thread needs under a condition only.  Not members, whose
 * number the condition may be about. */
static void read_parameters_first(const struct ir_unit *u, LLVMValueRef f)
{
    LLVMValueRef params = LLVMGetParam(f, 0), next;
    LLVMBasicBlockRef first = LLVMGetEntryBasicBlock(f);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(first));
    for (LLVMBasicBlockRef at = LLVMGetNextBasicBlock(first); at; at = LLVMGetNextBasicBlock(at))
        for (LLVMValueRef i = LLVMGetFirstInstruction(at); i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (is_read_first(i, params))
                move_to(i, b);
        }
    LLVMDisposeBuilder(b);
}

/* ------------------------------------------------------------------ all of it */
static const char passes[] =
    "sroa,early-cse<memssa>,simplifycfg,loop-mssa(loop-rotate,licm,simple-loop-unswitch<nontrivial>"
    "),early-cse<memssa>,"
    "instcombine<no-verify-fixpoint>,simplifycfg,loop(indvars),loop-vectorize,"
    "instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm)";

static void finish_loop(const struct ir_unit *u, const struct ir_kernel *k, LLVMValueRef f,
                        LLVMTargetMachineRef machine)
{
    take_who_from_loop(f);
    if (!k->shared_bytes)
        ir_erase(find_call(f, renews));
    mark_parameters(u, f);
    if (u->opt->level == '0')
        return;
    read_parameters_first(u, f);
    ir_run_function_passes(f, passes, machine);
}

/* The optimiser has let it alone so far. */
static void let_inline(const struct ir_unit *u, const char *name)
{
    LLVMValueRef f = LLVMGetNamedFunction(u->module, name);
    if (!f)
        return;
    ir_remove_attribute(f, "noinline");
    ir_remove_attribute(f, "optnone");
    ir_remove_attribute(f, "memory");
    ir_add_attribute(f, "alwaysinline");
    ir_run_function_passes(f, "sroa", NULL);
}

/* The loop over threads may become vector code; whether it does is LLVM's decision. */
static void unforce_vectors(const struct ir_unit *u)
{
    unsigned kind = LLVMGetMDKindIDInContext(u->ctx, "llvm.loop", 9);
    IR_EACH_INSTRUCTION_OF(i, LLVMGetNamedFunction(u->module, at_once)) {
        LLVMValueRef loop = LLVMGetMetadata(i, kind), parts[8];
        unsigned n = loop ? LLVMGetMDNodeNumOperands(loop) : 0;
        if (n < 2 || n > 8)
            continue;
        LLVMGetMDNodeOperands(loop, parts);
        LLVMReplaceMDNodeOperandWith(loop, n - 1,
                                     /* the wish; 1: that it ends */ LLVMValueAsMetadata(parts[1]));
    }
}

/* The plugin looks for what is not a function, and for one that is (passes/gates.c). */
static void drop_functions(const struct ir_unit *u)
{
    IR_EACH_FUNCTION(f, u->module) {
        const char *name = ir_name(f);
        if (LLVMIsDeclaration(f) || !text_starts(name, "__ompgpu_emu_") ||
            strcmp(name, "__ompgpu_emu_outside") == 0)
            continue;
        if (LLVMGetFirstUse(f))
            LLVMSetLinkage(f, LLVMInternalLinkage);
        else
            LLVMDeleteFunction(f);
    }
}

/* Kernels whose threads do not wait become loops, others coroutines where they can. */
static void take_kernels_over(struct ir_unit *u)
{
    struct ir_waits waits = ir_find_waits(u);
    for (unsigned i = 0; i < u->nkernels; i++)
        if (!(u->kernels[i].flags & OMPGPU_KERNEL_SYNC))
            add_loop(u, &u->kernels[i]);
        else if (ir_can_be_coroutine(u, &waits, &u->kernels[i]))
            ir_add_coroutine(u, &u->kernels[i]);
}

static void finish_kernel(struct ir_unit *u, const struct ir_kernel *k, LLVMMetadataRef lines,
                          LLVMTargetMachineRef machine)
{
    LLVMValueRef f = ir_emulated_kernel(u, k);
    if (lines)
        LLVMSetSubprogram(f, lines);
    if (text_starts(ir_name(f), OMPGPU_EMU_SPAN))
        finish_loop(u, k, f, machine);
    else if (text_starts(ir_name(f), OMPGPU_EMU_START))
        ir_end_suspends(u, f);
}

void ir_run_threads(struct ir_unit *u, LLVMTargetMachineRef machine)
{
    LLVMMetadataRef *lines = mem_array(u->nkernels, sizeof(LLVMMetadataRef));
    for (unsigned i = 0; i < u->nkernels; i++)
        lines[i] = LLVMGetSubprogram(ir_kernel_function(u->module, &u->kernels[i]));
    take_kernels_over(u);
    unforce_vectors(u);
    let_inline(u, in_order);
    let_inline(u, at_once);
    ir_run_passes(u->module, "always-inline,always-inline", machine);
    for (unsigned i = 0; i < u->nkernels; i++)
        finish_kernel(u, &u->kernels[i], lines[i], machine);
    for (unsigned i = 0; i < WHO; i++)
        let_inline(u, who[i]);
    let_inline(u, IR_EMU_RESULT);
    let_inline(u, IR_EMU_SELF);
    let_inline(u, IR_EMU_ARRIVE);
    ir_run_passes(u->module, "always-inline", machine);
    drop_functions(u);
}
