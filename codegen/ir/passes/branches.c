/* branches.c - loops of GPUs' code go back where their condition holds, and other branches fall
 * through where it does not.
 *
 * The NVPTX backend writes `br i1 c, label %a, label %b` as `@c bra a; bra b`, leaves out the
 * second branch where b comes next, and never inverts a condition.  LLVM's passes compare with ==
 * at the end of some loops, so that these go back by the second branch:
 *
 *      @done bra next;                 @again bra loop;
 *      bra loop;                 =>    next:
 *      next:
 *
 * That is a branch more in each iteration, and ptxas does not unroll the loop.  So does an `if`
 * whose first block comes next (blocks.c) cost a branch more. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/passes/passes.h"

static const LLVMRealPredicate inverse_real[] = {
    [LLVMRealPredicateFalse] = LLVMRealPredicateTrue,
    [LLVMRealOEQ] = LLVMRealUNE,
    [LLVMRealOGT] = LLVMRealULE,
    [LLVMRealOGE] = LLVMRealULT,
    [LLVMRealOLT] = LLVMRealUGE,
    [LLVMRealOLE] = LLVMRealUGT,
    [LLVMRealONE] = LLVMRealUEQ,
    [LLVMRealORD] = LLVMRealUNO,
    [LLVMRealUNO] = LLVMRealORD,
    [LLVMRealUEQ] = LLVMRealONE,
    [LLVMRealUGT] = LLVMRealOLE,
    [LLVMRealUGE] = LLVMRealOLT,
    [LLVMRealULT] = LLVMRealOGE,
    [LLVMRealULE] = LLVMRealOGT,
    [LLVMRealUNE] = LLVMRealOEQ,
    [LLVMRealPredicateTrue] = LLVMRealPredicateFalse,
};
static const LLVMIntPredicate inverse_int[] = {
    [LLVMIntEQ] = LLVMIntNE,   [LLVMIntNE] = LLVMIntEQ,   [LLVMIntUGT] = LLVMIntULE,
    [LLVMIntUGE] = LLVMIntULT, [LLVMIntULT] = LLVMIntUGE, [LLVMIntULE] = LLVMIntUGT,
    [LLVMIntSGT] = LLVMIntSLE, [LLVMIntSGE] = LLVMIntSLT, [LLVMIntSLT] = LLVMIntSGE,
    [LLVMIntSLE] = LLVMIntSGT,
};

/* The same comparison the other way, where it is: one that only the branch uses.  NULL: it is
 * something else. */
static LLVMValueRef invert(LLVMBuilderRef b, LLVMValueRef compare)
{
    LLVMUseRef use = LLVMGetFirstUse(compare);
    if (!LLVMIsACmpInst(compare) || !use || LLVMGetNextUse(use))
        return NULL;
    LLVMValueRef x = LLVMGetOperand(compare, 0), y = LLVMGetOperand(compare, 1), inverse;
    LLVMPositionBuilderBefore(b, compare);
    if (LLVMIsAICmpInst(compare))
        return LLVMBuildICmp(b, inverse_int[LLVMGetICmpPredicate(compare)], x, y, "");
    inverse = LLVMBuildFCmp(b, inverse_real[LLVMGetFCmpPredicate(compare)], x, y, "");
    if (LLVMIsAInstruction(inverse))
        LLVMSetFastMathFlags(inverse, LLVMGetFastMathFlags(compare));
    return inverse;
}

static void turn(LLVMBuilderRef b, LLVMValueRef branch)
{
    LLVMValueRef compare = LLVMGetCondition(branch), inverse = invert(b, compare);
    LLVMContextRef ctx = LLVMGetTypeContext(LLVMTypeOf(compare));
    LLVMBasicBlockRef yes = LLVMGetSuccessor(branch, 0);
    if (!inverse)
        return;
    LLVMSetCondition(branch, inverse);
    LLVMSetSuccessor(branch, 0, LLVMGetSuccessor(branch, 1));
    LLVMSetSuccessor(branch, 1, yes);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(ctx, "prof", 4),
                    NULL); /* weights of the two */
    ir_erase(compare);
}

/* It goes back where its condition does not hold. */
static bool goes_back_second(LLVMValueRef last, LLVMBasicBlockRef header)
{
    return LLVMIsABranchInst(last) && LLVMIsConditional(last) &&
           LLVMGetSuccessor(last, 1) == header && LLVMGetSuccessor(last, 0) != header;
}

/* It jumps over its own second branch. */
static bool jumps_to_next(LLVMValueRef last)
{
    LLVMBasicBlockRef next = LLVMGetNextBasicBlock(LLVMGetInstructionParent(last));
    return next && LLVMIsABranchInst(last) && LLVMIsConditional(last) &&
           LLVMGetSuccessor(last, 0) == next && LLVMGetSuccessor(last, 1) != next;
}

static void turn_all(LLVMBuilderRef b, LLVMValueRef f)
{
    const struct ir_loops loops = ir_find_loops(f);
    unsigned n = LLVMCountBasicBlocks(f);
    LLVMBasicBlockRef *blocks = mem_array(n, sizeof *blocks);
    LLVMGetBasicBlocks(f, blocks);
    for (unsigned i = 0; i < loops.n; i++)
        for (unsigned k = 0; k < n; k++) {
            LLVMValueRef last = LLVMGetBasicBlockTerminator(blocks[k]);
            if (loops.at[i].body[k] && goes_back_second(last, blocks[loops.at[i].header]))
                turn(b, last);
        }
    for (unsigned k = 0; k < n; k++)
        if (jumps_to_next(LLVMGetBasicBlockTerminator(blocks[k])))
            turn(b, LLVMGetBasicBlockTerminator(blocks[k]));
}

void ir_turn_branches(struct ir_unit *u)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    IR_EACH_FUNCTION(f, u->module)
        if (!LLVMIsDeclaration(f))
            turn_all(b, f);
    LLVMDisposeBuilder(b);
}
