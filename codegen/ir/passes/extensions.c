/* extensions.c - indices are extended to 64 bits where and as that costs least.
 *
 * In loops that a thread runs alone: with their sign.
 *
 *     for (k = 0; k < m; k++)
 *         if (i + k >= 0 && i + k < n)
 *             s += x[i + k] * w[k];
 *
 * LLVM extends i + k as a number without a sign where that is known, as it is behind the test. Both
 * extensions cost the same; but loop strength reduction, which keeps the address of x[i + k] from
 * one iteration to the next, only sees through the one with a sign: i + k does not wrap, and may
 * well begin below 0.
 *
 * Elsewhere: where the address is computed.
 *
 *     if (x[i] > 0)                      %i64 = cvt %i; … x + %i64 * 4
 *         y[i] = …                       y + %i64 * 4                    two additions of 32 bits
 *                                   ──▶  y + %i * 4                      one that multiplies, too
 *
 * A multiplication that extends is one instruction, but LLVM only makes it in the block of the
 * extension; and what lives from block to block has 32 bits.  The copy of an index is passed
 * through llvm.expect, so that LLVM does not put the two together again.
 *
 * A shift goes behind the extension, where it is a part of that multiplication:
 *
 *     x + (u64)(%i << 2) * 4         ──▶  x + (u64)%i * 16 */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"

static LLVMValueRef operand(LLVMValueRef v, unsigned i) { return LLVMGetOperand(v, i); }

/* ------------------------------------------------------------------ with their sign */
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

static bool is_sum(LLVMValueRef v)
{
    return LLVMIsABinaryOperator(v) &&
           (LLVMGetInstructionOpcode(v) == LLVMAdd || LLVMGetInstructionOpcode(v) == LLVMSub);
}

/* A sum or difference that does not wrap, extended for addresses alone. */
static bool is_unsigned_index(LLVMValueRef v)
{
    return LLVMIsAZExtInst(v) && LLVMGetNNeg(v) && is_sum(operand(v, 0)) &&
           LLVMGetNSW(operand(v, 0)) && is_index(v);
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

/* ------------------------------------------------------------------ where the address is */
struct blocks {
    LLVMBasicBlockRef *at;
    unsigned n;
    const struct ir_loops *loops;
};

static unsigned number_of(const struct blocks *b, LLVMValueRef instruction)
{
    unsigned i = 0;
    while (b->at[i] != LLVMGetInstructionParent(instruction))
        i++;
    return i;
}

/* No loop that LLVM counts is around the address, and none at all that the index is not in. */
static bool is_apart(const struct blocks *b, LLVMValueRef address, LLVMValueRef index)
{
    unsigned at = number_of(b, address), from = number_of(b, index);
    for (unsigned i = 0; i < b->loops->n; i++) {
        const struct ir_loop *l = &b->loops->at[i];
        if (l->body[at] && (!l->body[from] || has_own_counter(b->at[l->header])))
            return false;
    }
    return at != from;
}

/* An address is computed from it right away: there the extension costs nothing. */
static bool is_used_at_once(LLVMValueRef index)
{
    IR_EACH_USE(use, index)
        if (LLVMGetInstructionParent(LLVMGetUser(use)) == LLVMGetInstructionParent(index) &&
            LLVMIsAGetElementPtrInst(LLVMGetUser(use)))
            return true;
    return false;
}

static bool is_extension(LLVMValueRef v)
{
    return (LLVMIsASExtInst(v) || (LLVMIsAZExtInst(v) && LLVMGetNNeg(v))) &&
           LLVMGetIntTypeWidth(LLVMTypeOf(operand(v, 0))) == 32;
}

static void extend_at(const struct ir_unit *u, LLVMBuilderRef b, LLVMValueRef address)
{
    LLVMValueRef index = operand(address, 1), narrow = operand(index, 0);
    LLVMValueRef arguments[] = { narrow, LLVMConstInt(LLVMTypeOf(narrow), 0, false) };
    LLVMPositionBuilderBefore(b, address);
    LLVMValueRef copy = l_call_intrinsic(u, b, "llvm.expect", LLVMTypeOf(narrow), arguments, 2);
    LLVMSetOperand(address, 1,
                   LLVMIsASExtInst(index) ? LLVMBuildSExt(b, copy, LLVMTypeOf(index), "")
                                          : LLVMBuildZExt(b, copy, LLVMTypeOf(index), ""));
}

static void extend_at_addresses(const struct ir_unit *u, LLVMBuilderRef b,
                                const struct blocks *blocks)
{
    for (unsigned k = 0; k < blocks->n; k++)
        IR_EACH_INSTRUCTION(i, blocks->at[k])
            if (LLVMIsAGetElementPtrInst(i) && LLVMGetNumOperands(i) == 2 &&
                is_extension(operand(i, 1)) && is_used_at_once(operand(i, 1)) &&
                is_apart(blocks, i, operand(i, 1)))
                extend_at(u, b, i);
}

/* ------------------------------------------------------------------ shifts */
static bool counts_on(const struct blocks *b, unsigned block)
{
    for (unsigned i = 0; i < b->loops->n; i++)
        if (b->loops->at[i].body[block] && has_own_counter(b->at[b->loops->at[i].header]))
            return true;
    return false;
}

/* An index, extended from a shift that does not wrap and has no other use. */
static bool is_extended_shift(LLVMValueRef v)
{
    if (!(LLVMIsASExtInst(v) || LLVMIsAZExtInst(v)) || !is_index(v))
        return false;
    LLVMValueRef shift = operand(v, 0);
    return LLVMIsABinaryOperator(shift) && LLVMGetInstructionOpcode(shift) == LLVMShl &&
           (LLVMIsASExtInst(v) ? LLVMGetNSW(shift) : LLVMGetNUW(shift)) &&
           LLVMIsAConstantInt(operand(shift, 1)) && !LLVMGetNextUse(LLVMGetFirstUse(shift));
}

static void shift_extended(LLVMBuilderRef b, LLVMValueRef v)
{
    LLVMValueRef shift = operand(v, 0);
    LLVMTypeRef wide = LLVMTypeOf(v);
    LLVMPositionBuilderBefore(b, v);
    LLVMValueRef extended = LLVMIsASExtInst(v) ? LLVMBuildSExt(b, operand(shift, 0), wide, "")
                                               : LLVMBuildZExt(b, operand(shift, 0), wide, "");
    LLVMValueRef count = LLVMBuildZExt(b, operand(shift, 1), wide, "");
    LLVMReplaceAllUsesWith(v, LLVMBuildShl(b, extended, count, ""));
    ir_erase(v);
    ir_erase(shift);
}

static void shift_behind(LLVMBuilderRef b, const struct blocks *blocks)
{
    for (unsigned k = 0; k < blocks->n; k++)
        if (!counts_on(blocks, k))
            IR_EACH_INSTRUCTION(v, blocks->at[k])
                if (is_extended_shift(v))
                    shift_extended(b, v);
}

/* ------------------------------------------------------------------ functions */
static void extend_in_loops(LLVMBuilderRef b, const struct blocks *blocks)
{
    for (unsigned i = 0; i < blocks->loops->n; i++) {
        const struct ir_loop *l = &blocks->loops->at[i];
        if (!holds_others(blocks->loops, l) && has_own_counter(blocks->at[l->header]))
            for (unsigned k = 0; k < blocks->n; k++)
                if (l->body[k])
                    extend_in(b, blocks->at[k]);
    }
}

static void extend_indices(const struct ir_unit *u, LLVMBuilderRef b, LLVMValueRef f)
{
    const struct ir_loops loops = ir_find_loops(f);
    struct blocks blocks = { .n = LLVMCountBasicBlocks(f), .loops = &loops };
    blocks.at = mem_array(blocks.n, sizeof *blocks.at);
    LLVMGetBasicBlocks(f, blocks.at);
    extend_in_loops(b, &blocks);
    extend_at_addresses(u, b, &blocks);
    shift_behind(b, &blocks);
}

void ir_extend_indices(struct ir_unit *u)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    IR_EACH_FUNCTION(f, u->module)
        if (!LLVMIsDeclaration(f))
            extend_indices(u, b, f);
    LLVMDisposeBuilder(b);
}
