/* strides.c - loops that threads share are kept from loop strength reduction.
 *
 * LLVM's code generator gives each address in a loop an induction variable of its own, which saves
 * a multiplication an iteration in a loop that runs many times.  A loop that steps by the number of
 * threads runs once or a few times for each thread: there it costs registers, and additions in each
 * iteration.  The same holds for a loop around other loops, and for one with barriers, between
 * which threads skip what is not theirs.  The value of such a loop's counter is
 * passed through llvm.expect, which scalar evolution does not look through and which generates no
 * code. */
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"
#include <stdlib.h>

/* The addition that a counter gets its next value from, NULL for other phis.  *latch: where the
 * loop goes back. */
static LLVMValueRef increment_of(LLVMValueRef phi, LLVMBasicBlockRef *latch)
{
    if (LLVMGetTypeKind(LLVMTypeOf(phi)) != LLVMIntegerTypeKind || LLVMCountIncoming(phi) != 2)
        return NULL;
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef v = LLVMGetIncomingValue(phi, i);
        *latch = LLVMGetIncomingBlock(phi, i);
        if (LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == LLVMAdd &&
            (LLVMGetOperand(v, 0) == phi || LLVMGetOperand(v, 1) == phi))
            return v;
    }
    return NULL;
}

static bool listed(LLVMBasicBlockRef *list, unsigned n, LLVMBasicBlockRef b)
{
    for (unsigned i = 0; i < n; i++)
        if (list[i] == b)
            return true;
    return false;
}

static bool has_barrier(LLVMBasicBlockRef block)
{
    IR_EACH_INSTRUCTION(inst, block)
        if (LLVMIsACallInst(inst) &&
            text_starts(ir_intrinsic(LLVMGetCalledValue(inst)), "llvm.nvvm.barrier"))
            return true;
    return false;
}

/* Does a loop begin in the block that goes back from one of the list? */
static bool begins_loop(LLVMBasicBlockRef block, LLVMBasicBlockRef *list, unsigned n)
{
    LLVMBasicBlockRef latch;
    IR_EACH_INSTRUCTION(inst, block) {
        if (!LLVMIsAPHINode(inst))
            break;
        if (increment_of(inst, &latch) && listed(list, n, latch))
            return true;
    }
    return false;
}

/* Does the loop from `header` to `latch` hold another one, or a barrier?  Its blocks are those from
 * which the latch is reached without the header. */
static bool holds_others(LLVMValueRef f, LLVMBasicBlockRef header, LLVMBasicBlockRef latch)
{
    unsigned n = 0, room = LLVMCountBasicBlocks(f);
    LLVMBasicBlockRef *body = mem_array(room, sizeof *body);
    bool found = has_barrier(header);
    if (latch != header)
        body[n++] = latch;
    for (unsigned i = 0; i < n; i++)
        IR_EACH_USE(use, LLVMBasicBlockAsValue(body[i])) {
            LLVMValueRef user = LLVMGetUser(use);
            LLVMBasicBlockRef from =
                LLVMIsATerminatorInst(user) ? LLVMGetInstructionParent(user) : NULL;
            if (from && from != header && !listed(body, n, from))
                body[n++] = from;
        }
    for (unsigned i = 0; i < n && !found; i++)
        found = has_barrier(body[i]) || begins_loop(body[i], body, n);
    return found;
}

static void hide(const struct ir_unit *u, LLVMBuilderRef b, LLVMValueRef phi, LLVMValueRef add)
{
    LLVMTypeRef type = LLVMTypeOf(phi);
    LLVMValueRef arguments[] = { phi, LLVMConstInt(type, 0, false) };
    LLVMPositionBuilderBefore(b, l_first_after_phis(LLVMGetInstructionParent(phi)));
    LLVMValueRef hidden = l_call_intrinsic(u, b, "llvm.expect", type, arguments, 2);
    LLVMReplaceAllUsesWith(phi, hidden);
    LLVMSetOperand(hidden, 0, phi);
    LLVMSetOperand(add, LLVMGetOperand(add, 0) == hidden ? 0 : 1, phi);
}

/* The threads of a team of f, where they are a constant; else 0. */
static unsigned team_of(const struct ir_unit *u, LLVMValueRef f)
{
    for (unsigned i = 0; i < u->nkernels; i++)
        if (ir_is_exact(&u->kernels[i]) && ir_kernel_function(u->module, &u->kernels[i]) == f)
            return u->kernels[i].max_threads;
    return 0;
}

/* Is that what a loop that threads share steps by?  LLVM may have unrolled it. */
static bool is_stride(LLVMValueRef step, unsigned team)
{
    if (!LLVMIsAConstantInt(step))
        return !LLVMIsAConstant(step);
    return team > 1 && LLVMConstIntGetSExtValue(step) % team == 0;
}

static void hide_in(const struct ir_unit *u, LLVMBuilderRef b, LLVMValueRef f)
{
    unsigned team = team_of(u, f);
    IR_EACH_BLOCK(block, f)
        IR_EACH_INSTRUCTION(phi, block) {
            LLVMBasicBlockRef latch;
            if (!LLVMIsAPHINode(phi))
                break;
            LLVMValueRef add = increment_of(phi, &latch);
            if (add && (is_stride(LLVMGetOperand(add, LLVMGetOperand(add, 0) == phi), team) ||
                        holds_others(f, block, latch)))
                hide(u, b, phi, add);
        }
}

void ir_hide_strides(struct ir_unit *u)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    IR_EACH_FUNCTION(f, u->module)
        if (!LLVMIsDeclaration(f))
            hide_in(u, b, f);
    LLVMDisposeBuilder(b);
}
