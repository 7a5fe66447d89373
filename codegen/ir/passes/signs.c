/* signs.c - indices in loops that a thread runs alone are extended with their sign.
 *
 *     for (k = 0; k < m; k++)
 *         if (i + k >= 0 && i + k < n)
 *             s += x[i + k] * w[k];
 *
 * LLVM extends i + k as a number without a sign where that is known, as it is behind the test. Both
 * extensions cost the same; but loop strength reduction, which keeps the address of x[i + k] from
 * one iteration to the next, only sees through the one with a sign: i + k does not wrap, and may
 * well begin below 0. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/passes/passes.h"

static LLVMValueRef operand(LLVMValueRef v, unsigned i) { return LLVMGetOperand(v, i); }

/* strides.c has hidden it. */
static bool is_hidden(LLVMValueRef phi)
{
    IR_EACH_USE(use, phi) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsACallInst(user) &&
            text_starts(ir_intrinsic(LLVMGetCalledValue(user)), "llvm.expect"))
            return true;
    }
    return false;
}

/* A counter of the loop that goes on by a constant. */
static bool is_own_counter(LLVMValueRef phi)
{
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef next = LLVMGetIncomingValue(phi, i);
        if (LLVMIsABinaryOperator(next) && LLVMGetInstructionOpcode(next) == LLVMAdd &&
            operand(next, 0) == phi && LLVMIsAConstantInt(operand(next, 1)))
            return !is_hidden(phi);
    }
    return false;
}

static bool has_own_counter(LLVMBasicBlockRef header)
{
    IR_EACH_INSTRUCTION(phi, header) {
        if (!LLVMIsAPHINode(phi))
            break;
        if (is_own_counter(phi))
            return true;
    }
    return false;
}

static bool holds_others(const struct ir_loops *loops, const struct ir_loop *l)
{
    for (unsigned i = 0; i < loops->n; i++)
        if (&loops->at[i] != l && l->body[loops->at[i].header])
            return true;
    return false;
}

static bool is_index(LLVMValueRef v)
{
    IR_EACH_USE(use, v)
        if (!LLVMIsAGetElementPtrInst(LLVMGetUser(use)))
            return false;
    return true;
}

/* A sum that does not wrap, extended for addresses alone. */
static bool is_unsigned_index(LLVMValueRef v)
{
    return LLVMIsAZExtInst(v) && LLVMGetNNeg(v) && LLVMIsABinaryOperator(operand(v, 0)) &&
           LLVMGetInstructionOpcode(operand(v, 0)) == LLVMAdd && LLVMGetNSW(operand(v, 0)) &&
           is_index(v);
}

static void extend_in(LLVMBuilderRef b, LLVMBasicBlockRef block)
{
    IR_EACH_INSTRUCTION(v, block)
        if (is_unsigned_index(v)) {
            LLVMPositionBuilderBefore(b, v);
            LLVMReplaceAllUsesWith(v, LLVMBuildSExt(b, operand(v, 0), LLVMTypeOf(v), ""));
            ir_erase(v);
        }
}

static void extend_in_loops(LLVMBuilderRef b, LLVMValueRef f)
{
    const struct ir_loops loops = ir_find_loops(f);
    unsigned n = LLVMCountBasicBlocks(f);
    LLVMBasicBlockRef *blocks = mem_array(n, sizeof *blocks);
    LLVMGetBasicBlocks(f, blocks);
    for (unsigned i = 0; i < loops.n; i++) {
        const struct ir_loop *l = &loops.at[i];
        if (!holds_others(&loops, l) && has_own_counter(blocks[l->header]))
            for (unsigned k = 0; k < n; k++)
                if (l->body[k])
                    extend_in(b, blocks[k]);
    }
}

void ir_extend_with_sign(struct ir_unit *u)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    IR_EACH_FUNCTION(f, u->module)
        if (!LLVMIsDeclaration(f))
            extend_in_loops(b, f);
    LLVMDisposeBuilder(b);
}
