/* exact.c - kernels whose team has a constant size.
 *
 * Where the clauses that decide a team's size are constants (OMPGPU_KERNEL_EXACT), the number of
 * threads is a constant in the kernel: a loop with no more iterations than threads is an `if`, and
 * the addresses of a thread's iterations have constant distances.  What a kernel calls may be
 * called by others, too; so functions are inlined first, as LLVM would do in the course of its
 * passes. */
#include "codegen/ir/passes/passes.h"

static void fix_team(const struct ir_unit *u, const struct ir_kernel *k)
{
    LLVMTypeRef type = LLVMInt32TypeInContext(u->ctx);
    uint64_t first = 0, end = k->max_threads;
    unsigned range = LLVMGetEnumAttributeKindForName("range", 5);
    LLVMAttributeRef numbers = LLVMCreateConstantRangeAttribute(u->ctx, range, 32, &first, &end);
    IR_EACH_INSTRUCTION_OF(i, ir_kernel_function(u->module, k)) {
        if (ir_is_call_of(i, "llvm.nvvm.read.ptx.sreg.ntid.x"))
            LLVMReplaceAllUsesWith(i, LLVMConstInt(type, k->max_threads, false));
        if (ir_is_call_of(i, "llvm.nvvm.read.ptx.sreg.tid.x"))
            LLVMAddCallSiteAttribute(i, LLVMAttributeReturnIndex, numbers);
    }
}

/* A tiled form has no loop that would gain from it. */
static bool is_fixed(const struct ir_kernel *k)
{
    return ir_is_exact(k) && (k->flags & OMPGPU_KERNEL_FORM) != OMPGPU_KERNEL_TILED;
}

void ir_fix_teams(struct ir_unit *u, LLVMTargetMachineRef machine)
{
    bool any = false;
    for (unsigned i = 0; i < u->nkernels; i++)
        any |= is_fixed(&u->kernels[i]);
    if (!any)
        return;
    ir_run_passes(u->module, "always-inline,cgscc(inline)", machine);
    for (unsigned i = 0; i < u->nkernels; i++)
        if (is_fixed(&u->kernels[i]))
            fix_team(u, &u->kernels[i]);
}
