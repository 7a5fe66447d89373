/* shifts.c - shifts of 65 to 128 bits by a count that varies, as shifts of halves.
 *
 * The NVPTX backend makes them of shifts by counts of 64 and more, which are defined in PTX and not
 * in LLVM: what it combines afterwards is wrong, ~(1 << n) becomes a rotation (LLVM 22).  Here no
 * count is more than 63. */
#include "codegen/ir/passes/passes.h"

enum { HALF = 64 };

static bool is_wide_shift(LLVMValueRef i)
{
    if (!LLVMIsABinaryOperator(i) || LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMIntegerTypeKind)
        return false;
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(i));
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    return (op == LLVMShl || op == LLVMLShr || op == LLVMAShr) && bits > HALF && bits <= 2 * HALF &&
           !LLVMIsConstant(LLVMGetOperand(i, 1));
}

struct shift {
    LLVMBuilderRef b;
    LLVMTypeRef half, whole;
    LLVMValueRef low, high;
    LLVMValueRef count, rest; /* below 64; 63 minus that */
    LLVMValueRef is_far;      /* by 64 and more */
};

static LLVMValueRef number(const struct shift *s, unsigned n)
{
    return LLVMConstInt(s->half, n, false);
}

static struct shift read_shift(LLVMBuilderRef b, LLVMValueRef i)
{
    LLVMContextRef ctx = LLVMGetTypeContext(LLVMTypeOf(i));
    struct shift s = { .b = b,
                       .half = LLVMIntTypeInContext(ctx, HALF),
                       .whole = LLVMIntTypeInContext(ctx, 2 * HALF) };
    bool is_signed = LLVMGetInstructionOpcode(i) == LLVMAShr;
    LLVMValueRef x = LLVMBuildIntCast2(b, LLVMGetOperand(i, 0), s.whole, is_signed, "");
    LLVMValueRef n = LLVMBuildTrunc(b, LLVMGetOperand(i, 1), s.half, "");
    LLVMValueRef up = LLVMBuildLShr(b, x, LLVMConstInt(s.whole, HALF, false), "");
    s.low = LLVMBuildTrunc(b, x, s.half, "");
    s.high = LLVMBuildTrunc(b, up, s.half, "");
    s.count = LLVMBuildAnd(b, n, number(&s, HALF - 1), "");
    s.rest = LLVMBuildXor(b, s.count, number(&s, HALF - 1), "");
    s.is_far =
        LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, n, number(&s, HALF), ""), number(&s, 0), "");
    return s;
}

/* The halves of the result in place of those of the operand. */
static void shift_left(struct shift *s)
{
    LLVMValueRef low = LLVMBuildShl(s->b, s->low, s->count, "");
    LLVMValueRef over =
        LLVMBuildLShr(s->b, LLVMBuildLShr(s->b, s->low, number(s, 1), ""), s->rest, "");
    LLVMValueRef high = LLVMBuildOr(s->b, LLVMBuildShl(s->b, s->high, s->count, ""), over, "");
    s->low = LLVMBuildSelect(s->b, s->is_far, number(s, 0), low, "");
    s->high = LLVMBuildSelect(s->b, s->is_far, low, high, "");
}

static void shift_right(struct shift *s, LLVMOpcode op)
{
    LLVMValueRef high = LLVMBuildBinOp(s->b, op, s->high, s->count, "");
    LLVMValueRef over =
        LLVMBuildShl(s->b, LLVMBuildShl(s->b, s->high, number(s, 1), ""), s->rest, "");
    LLVMValueRef low = LLVMBuildOr(s->b, LLVMBuildLShr(s->b, s->low, s->count, ""), over, "");
    LLVMValueRef fill =
        op == LLVMAShr ? LLVMBuildAShr(s->b, s->high, number(s, HALF - 1), "") : number(s, 0);
    s->low = LLVMBuildSelect(s->b, s->is_far, high, low, "");
    s->high = LLVMBuildSelect(s->b, s->is_far, fill, high, "");
}

static void split_shift(LLVMBuilderRef b, LLVMValueRef i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    LLVMPositionBuilderBefore(b, i);
    struct shift s = read_shift(b, i);
    if (op == LLVMShl)
        shift_left(&s);
    else
        shift_right(&s, op);
    LLVMValueRef up = LLVMBuildShl(b, LLVMBuildZExt(b, s.high, s.whole, ""),
                                   LLVMConstInt(s.whole, HALF, false), "");
    LLVMValueRef both = LLVMBuildOr(b, up, LLVMBuildZExt(b, s.low, s.whole, ""), "");
    LLVMReplaceAllUsesWith(i, LLVMBuildIntCast2(b, both, LLVMTypeOf(i), false, ""));
    ir_erase(i);
}

void ir_split_shifts(LLVMModuleRef m)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
    IR_EACH_FUNCTION(f, m)
        IR_EACH_BLOCK(block, f)
            for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (is_wide_shift(i))
                    split_shift(b, i);
            }
    LLVMDisposeBuilder(b);
}
