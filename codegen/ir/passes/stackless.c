/* stackless.c - on the emulated device, threads that wait need no stack of their own.
 *
 * A kernel whose threads wait for each other becomes a coroutine.  Where a thread has to wait, its
 * function returns and leaves what it needs later in a frame; the plugin (hostrt/emu/team.c) runs
 * the next thread, and the first one again when it may go on.
 *
 *     k(params)                            __ompgpu_start_k(params)
 *     {                                    {
 *         …                                    … frame(size) …
 *         barrier(0, n, line);      ──▶        if (arrive(BARRIER, 0, n, line))
 *         …                                        suspend;
 *         x = shuffle(mask, v, from);          …
 *     }                                        if (arrive(SHUFFLE, mask, v, from))
 *                                                  suspend;
 *                                              x = result();
 *                                          }
 *
 * `arrive` says whether the caller has to wait: the last one goes on at once.  LLVM's passes for
 * coroutines make of it a function that starts a thread and returns its frame, and one that goes on
 * with a frame, of which it is the first word.  Both would have nearly all of the kernel's code: so
 * the first one suspends before it and calls the second.
 *
 * That needs all waits in the kernel itself.  Where a function that it calls waits, where a local
 * is aligned to more than a frame, and at -O0, where a debugger shall show what a thread does on a
 * stack, each thread has a fiber. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"
#include "hostrt/plugin.h"
#include <llvm-c/DebugInfo.h>
#include <string.h>

static const struct wait {
    const char *name;
    enum ompgpu_emu_wait kind;
} waits[] = {
    { "__ompgpu_emu_barrier", OMPGPU_EMU_BARRIER },
    { "__ompgpu_emu_shuffle", OMPGPU_EMU_SHUFFLE },
    { "__ompgpu_emu_ballot", OMPGPU_EMU_BALLOT },
    { "__ompgpu_emu_syncwarp", OMPGPU_EMU_SYNCWARP },
    { "__ompgpu_emu_redux", OMPGPU_EMU_REDUX },
    { "__ompgpu_emu_meet", OMPGPU_EMU_MEET },
    { "__ompgpu_emu_part", OMPGPU_EMU_PART },
    { "__ompgpu_emu_yield", OMPGPU_EMU_YIELD },
};
enum { WAITS = sizeof waits / sizeof *waits };
static const char waits_here[] = "__ompgpu_emu_wait", suspend[] = "llvm.coro.suspend";

static const struct wait *find_wait(LLVMValueRef call)
{
    for (unsigned i = 0; i < WAITS; i++)
        if (ir_is_call_of(call, waits[i].name))
            return &waits[i];
    return NULL;
}

/* ------------------------------------------------------------------ which kernels */
struct ir_waits ir_find_waits(const struct ir_unit *u)
{
    struct ir_waits w = { .g = ir_graph_build(u->module) };
    w.waiting = mem_array(w.g->n, sizeof *w.waiting);
    for (unsigned i = 0; i < WAITS; i++) {
        LLVMValueRef f = LLVMGetNamedFunction(u->module, waits[i].name);
        if (f)
            w.waiting[ir_graph_find(w.g, f)] = true;
    }
    ir_graph_reaching(w.g, w.waiting);
    return w;
}

static bool waits_elsewhere(const struct ir_waits *w, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMIsAInlineAsm(callee) || find_wait(call))
        return false;
    if (!LLVMIsAFunction(callee))
        return !ir_is_plugin_call(callee);
    int node = ir_graph_find(w->g, callee);
    return node >= 0 && w->waiting[node];
}

bool ir_can_be_coroutine(const struct ir_unit *u, const struct ir_waits *w,
                         const struct ir_kernel *k)
{
    if (u->opt->level == '0')
        return false;
    IR_EACH_INSTRUCTION_OF(i, ir_kernel_function(u->module, k))
        if ((LLVMIsAAllocaInst(i) &&
             (!ir_is_static_alloca(i) || LLVMGetAlignment(i) > OMPGPU_EMU_FRAME_ALIGN)) ||
            (LLVMIsACallInst(i) && waits_elsewhere(w, i)))
            return false;
    return true;
}

/* ------------------------------------------------------------------ waits */
static LLVMValueRef no_token(const struct ir_unit *u)
{
    return LLVMConstNull(LLVMTokenTypeInContext(u->ctx));
}

static LLVMValueRef build_suspend(const struct ir_unit *u, LLVMBuilderRef b)
{
    LLVMValueRef args[] = { no_token(u), l_bool(u, false) };
    return l_call_intrinsic(u, b, suspend, NULL, args, 2);
}

/* if (arrive(…)) suspend; always inlined: that divides the block where it is called. */
static LLVMValueRef make_wait(struct ir_unit *u)
{
    enum { PARAMS = 4 };
    LLVMTypeRef params[PARAMS];
    LLVMValueRef args[PARAMS], f;
    for (unsigned i = 0; i < PARAMS; i++)
        params[i] = LLVMInt32TypeInContext(u->ctx);
    f = l_add_function(u, waits_here, params, PARAMS);
    ir_add_attribute(f, "alwaysinline");
    LLVMGetParams(f, args);
    LLVMBuilderRef b = l_open_function(f);
    LLVMBasicBlockRef follows = l_open_if(b, l_call_runtime(u, b, IR_EMU_ARRIVE, args, PARAMS));
    build_suspend(u, b);
    l_close_if(b, follows);
    l_close_function(b);
    return f;
}

static void rewrite_wait(struct ir_unit *u, LLVMBuilderRef b, LLVMValueRef call,
                         const struct wait *w)
{
    LLVMValueRef wait = LLVMGetNamedFunction(u->module, waits_here);
    LLVMValueRef args[] = { l_i32(u, w->kind), l_i32(u, 0), l_i32(u, 0), l_i32(u, 0) };
    unsigned n = LLVMGetNumArgOperands(call);
    for (unsigned i = 0; i < n; i++)
        args[i + 1] = LLVMGetOperand(call, i);
    LLVMPositionBuilderBefore(b, call);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(call));
    l_call(b, wait ? wait : make_wait(u), args, 4);
    if (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind)
        LLVMReplaceAllUsesWith(call, l_call_runtime(u, b, IR_EMU_RESULT, NULL, 0));
    ir_erase(call);
}

static void rewrite_waits(struct ir_unit *u, LLVMValueRef f)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    IR_EACH_INSTRUCTION_OF(i, f) {
        const struct wait *w = LLVMIsACallInst(i) ? find_wait(i) : NULL;
        if (w)
            rewrite_wait(u, b, i, w);
    }
    LLVMDisposeBuilder(b);
}

/* ------------------------------------------------------------------ the coroutine */
static LLVMValueRef begin_coroutine(struct ir_unit *u, LLVMBuilderRef b)
{
    LLVMValueRef null = LLVMConstNull(l_ptr(u)), id_args[] = { l_i32(u, 0), null, null, null },
                 begin_args[2],
                 size = l_call_intrinsic(u, b, "llvm.coro.size", LLVMInt64TypeInContext(u->ctx),
                                         NULL, 0);
    begin_args[0] = l_call_intrinsic(u, b, "llvm.coro.id", NULL, id_args, 4);
    begin_args[1] = l_call_runtime(u, b, IR_EMU_FRAME, &size, 1);
    return l_call_intrinsic(u, b, "llvm.coro.begin", NULL, begin_args, 2);
}

/* Marks of the stack may outlive the arrays of run-time size that they were for, which optimisation
 * has removed: a thread that goes on has another stack.  Where paths meet, phis are left of them.
 */
static void drop_stack_marks(LLVMValueRef f)
{
    static const char *const names[] = { "llvm.stackrestore", "llvm.stacksave" };
    for (unsigned n = 0; n < sizeof names / sizeof *names; n++)
        IR_EACH_INSTRUCTION_OF(i, f)
            if (LLVMIsACallInst(i) && strcmp(ir_intrinsic(LLVMGetCalledValue(i)), names[n]) == 0)
                ir_erase_unneeded(i);
}

/* The kernel's text goes into a function that returns the frame. */
void ir_add_coroutine(struct ir_unit *u, const struct ir_kernel *k)
{
    LLVMValueRef body = ir_kernel_function(u->module, k), params;
    drop_stack_marks(body);
    rewrite_waits(u, body);
    LLVMTypeRef ptr = l_ptr(u);
    const char *name = mem_printf(OMPGPU_EMU_START "%s", k->name);
    LLVMValueRef f = ir_take_over(u, body, name, LLVMFunctionType(ptr, &ptr, 1, 0));
    ir_add_attribute(f, "presplitcoroutine");
    LLVMBuilderRef b = l_open_function(f);
    LLVMValueRef handle = begin_coroutine(u, b),
                 end_args[] = { handle, l_bool(u, false), no_token(u) };
    params = LLVMGetParam(f, 0);
    LLVMBasicBlockRef run = LLVMAppendBasicBlockInContext(u->ctx, f, "run"),
                      exit = LLVMAppendBasicBlockInContext(u->ctx, f, "exit");
    build_suspend(u, b);
    LLVMBuildBr(b, run);
    LLVMPositionBuilderAtEnd(b, run);
    l_call(b, body, &params, 1);
    LLVMBuildBr(b, exit);
    LLVMPositionBuilderAtEnd(b, exit);
    l_call_intrinsic(u, b, "llvm.coro.end", NULL, end_args, 3);
    LLVMBuildRet(b, handle);
    LLVMDisposeBuilder(b);
}

static LLVMBasicBlockRef find_exit(LLVMValueRef f)
{
    LLVMBasicBlockRef exit = NULL;
    IR_EACH_BLOCK(b, f)
        if (LLVMIsAReturnInst(LLVMGetBasicBlockTerminator(b)))
            exit = b;
    return exit;
}

/* Where the thread goes on, or leaves. */
static void end_suspend(const struct ir_unit *u, LLVMValueRef how, LLVMBasicBlockRef exit)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(LLVMGetInstructionParent(how));
    LLVMBasicBlockRef goes_on = LLVMGetSuccessor(end, 0);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    LLVMPositionBuilderBefore(b, end);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(how));
    LLVMValueRef to = LLVMBuildSwitch(b, how, exit, 2);
    LLVMAddCase(to, LLVMConstInt(LLVMTypeOf(how), 0, false), goes_on);
    LLVMAddCase(to, LLVMConstInt(LLVMTypeOf(how), 1, false), exit);
    ir_erase(end);
    LLVMDisposeBuilder(b);
}

void ir_end_suspends(struct ir_unit *u, LLVMValueRef f)
{
    LLVMBasicBlockRef exit = find_exit(f);
    IR_EACH_INSTRUCTION_OF(i, f)
        if (LLVMIsACallInst(i) && strcmp(ir_intrinsic(LLVMGetCalledValue(i)), suspend) == 0) {
            end_suspend(u, i, exit);
            break;
        }
}

/* The function that starts a thread needs none of the kernel's locals, which would take the stack
 * twice. */
static void drop_locals(LLVMValueRef start)
{
    IR_EACH_INSTRUCTION_OF(i, start)
        if (LLVMIsAAllocaInst(i) && !LLVMGetFirstUse(i))
            ir_erase(i);
}

/* It goes on with the thread, once that has a frame. */
static void go_on(struct ir_unit *u, LLVMValueRef start)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(find_exit(start)),
                 frame = LLVMGetOperand(end, 0);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    LLVMPositionBuilderBefore(b, end);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(end));
    LLVMTypeRef ptr = l_ptr(u),
                type = LLVMFunctionType(LLVMVoidTypeInContext(u->ctx), &ptr, 1, false);
    LLVMValueRef call = LLVMBuildCall2(b, type, LLVMBuildLoad2(b, ptr, frame, ""), &frame, 1, "");
    LLVMSetInstructionCallConv(call, LLVMFastCallConv); /* as coro-split makes it */
    LLVMDisposeBuilder(b);
}

/* After the gates, which a frame needs none of. */
void ir_split_coroutines(struct ir_unit *u, LLVMTargetMachineRef machine)
{
    bool any = false;
    for (unsigned i = 0; i < u->nkernels; i++)
        any |= text_starts(ir_name(ir_emulated_kernel(u, &u->kernels[i])), OMPGPU_EMU_START);
    if (!any)
        return;
    ir_run_passes(u->module, "coro-early,cgscc(coro-split),coro-cleanup,globaldce", machine);
    for (unsigned i = 0; i < u->nkernels; i++) {
        LLVMValueRef start = ir_emulated_kernel(u, &u->kernels[i]);
        if (text_starts(ir_name(start), OMPGPU_EMU_START))
            go_on(u, start);
    }
    ir_run_passes(u->module, "function(early-cse<memssa>,simplifycfg)", machine);
    for (unsigned i = 0; i < u->nkernels; i++) {
        LLVMValueRef start = ir_emulated_kernel(u, &u->kernels[i]);
        if (text_starts(ir_name(start), OMPGPU_EMU_START))
            drop_locals(start);
    }
}
