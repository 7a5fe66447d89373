/* ends.c - parallel regions that end with a reduction over the team, which has a barrier in it.
 *
 *     for (…) s += …;                                 all that threads could notice of each other
 *     if (__ompgpu_reduce_parallel(…))                the barrier
 *         *original += s;                             the main thread
 *     return;                                         the others do nothing more
 *
 * So what follows the region needs no barrier for what its threads have done: all have come to the
 * one of the reduction, and what is done after it is the main thread's. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/spmd/spmd.h"

static LLVMValueRef find_reduction(LLVMValueRef f)
{
    LLVMValueRef found = NULL;
    IR_EACH_INSTRUCTION_OF(i, f) {
        if (!LLVMIsACallInst(i) || !ir_is_call_of(i, "__ompgpu_reduce_parallel"))
            continue;
        if (found)
            return NULL;
        found = i;
    }
    return found;
}

static bool is_after_reduction(LLVMBasicBlockRef from, unsigned successor)
{
    LLVMValueRef last = LLVMGetBasicBlockTerminator(from);
    (void)successor;
    return LLVMIsABranchInst(last) && LLVMIsConditional(last) &&
           LLVMIsACallInst(LLVMGetCondition(last)) &&
           ir_is_call_of(LLVMGetCondition(last), "__ompgpu_reduce_parallel");
}

static bool is_local(LLVMValueRef pointer) { return LLVMIsAAllocaInst(spmd_base(pointer)); }

/* Of the main thread, or one that no other thread could notice. */
static bool may_follow(LLVMValueRef i, bool by_main)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: return by_main || is_local(LLVMGetOperand(i, 0));
    case LLVMStore: return by_main || is_local(LLVMGetOperand(i, 1));
    case LLVMCall:
        return text_starts(ir_intrinsic(LLVMGetCalledValue(i)),
                           by_main ? "llvm." : "llvm.lifetime");
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMFence:
    case LLVMVAArg:
    case LLVMInvoke:
    case LLVMCallBr:
    case LLVMIndirectBr: return false;
    default: return true;
    }
}

static bool block_may_follow(LLVMBasicBlockRef block, bool by_main)
{
    IR_EACH_INSTRUCTION(i, block)
        if (!may_follow(i, by_main))
            return false;
    return true;
}

/* What no thread reaches but through the reduction comes after it, once, and ends the function. */
static bool follows(const struct ir_flow *g, const bool *before, unsigned b)
{
    for (unsigned e = g->first[b]; e < g->first[b + 1]; e++)
        if (before[g->succ[e]])
            return false;
    return true;
}

bool spmd_ends_with_barrier(LLVMValueRef f)
{
    LLVMValueRef reduction = find_reduction(f);
    if (!reduction || !LLVMGetNextInstruction(reduction) ||
        !is_after_reduction(LLVMGetInstructionParent(reduction), 0) ||
        LLVMGetNextInstruction(reduction) !=
            LLVMGetBasicBlockTerminator(LLVMGetInstructionParent(reduction)))
        return false;
    struct ir_flow g = ir_read_flow(f);
    const bool *before = ir_reach_blocks(f, is_after_reduction),
               *by_others = ir_reach_blocks(f, spmd_only_main_thread);
    for (unsigned b = 0; b < g.n; b++) {
        bool ends = g.first[b] == g.first[b + 1];
        if (before[b] ? ends : !follows(&g, before, b) || !block_may_follow(g.at[b], !by_others[b]))
            return false;
    }
    return true;
}
