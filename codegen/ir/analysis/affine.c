/* affine.c - addresses as base + offset + stride × index, where base is a parameter or a variable.
 *
 * The index is a 32-bit number between 0 and 2^31 - 1.  What is added and multiplied keeps its
 * value when it is extended: in 64 bits because nothing here is large enough to wrap, in 32 bits
 * because LLVM says so (nsw). */
#include "codegen/ir/analysis/analysis.h"

enum { LARGEST = 1 << 20 }; /* strides and offsets, so that sums and products stay far below 2^63 */

static bool is_small(long long v) { return v >= -LARGEST && v <= LARGEST; }

static bool number(LLVMValueRef v, long long *n)
{
    if (!LLVMIsAConstantInt(v) || LLVMGetIntTypeWidth(LLVMTypeOf(v)) > 64)
        return false;
    *n = LLVMConstIntGetSExtValue(v);
    return is_small(*n);
}

/* LLVM writes 2 * i + 1 as an `or` of numbers that have no bit in common. */
static bool is_sum(LLVMValueRef v, LLVMOpcode op)
{
    return op == LLVMAdd || (op == LLVMOr && LLVMGetIsDisjoint(v));
}

static bool wraps(LLVMValueRef v, LLVMOpcode op)
{
    return LLVMGetIntTypeWidth(LLVMTypeOf(v)) != 64 && op != LLVMOr && !LLVMGetNSW(v);
}

static bool combine(LLVMOpcode op, struct ir_affine *x, long long n)
{
    long long factor = op == LLVMMul ? n : op == LLVMShl && n >= 0 && n < 20 ? 1ll << n : 1;
    if (op == LLVMShl && factor == 1 && n)
        return false;
    if (op == LLVMAdd || op == LLVMOr || op == LLVMSub)
        x->offset += op == LLVMSub ? -n : n;
    x->offset *= factor;
    x->stride *= factor;
    return is_small(x->offset) && is_small(x->stride);
}

/* The operand of a sum beside what is 0. */
static LLVMValueRef sum_with_zero(LLVMValueRef v, const struct ir_index *index)
{
    if (!index->zero || !LLVMIsAInstruction(v) || LLVMGetInstructionOpcode(v) != LLVMAdd)
        return NULL;
    LLVMValueRef a = LLVMGetOperand(v, 0), b = LLVMGetOperand(v, 1);
    return a == index->zero ? b : b == index->zero ? a : NULL;
}

/* The value of an integer. */
static bool read_integer(LLVMValueRef v, const struct ir_index *index, struct ir_affine *x)
{
    long long n;
    LLVMValueRef other = sum_with_zero(v, index);
    if (other)
        return read_integer(other, index, x);
    if (v == index->value) {
        *x = (struct ir_affine){ .stride = 1 };
        return true;
    }
    if (v == index->zero) {
        *x = (struct ir_affine){ .offset = 0 };
        return true;
    }
    if (number(v, &n)) {
        *x = (struct ir_affine){ .offset = n };
        return true;
    }
    LLVMOpcode op = LLVMIsAInstruction(v) ? LLVMGetInstructionOpcode(v) : LLVMRet;
    if (op == LLVMSExt)
        return read_integer(LLVMGetOperand(v, 0), index, x);
    if (op == LLVMZExt) /* of a number that is not negative: LLVM says so, or it is the index */
        return read_integer(LLVMGetOperand(v, 0), index, x) &&
               (LLVMGetNNeg(v) || (x->stride == 1 && x->offset == 0));
    if (ir_is_call_of(v, "llvm.expect.i32") || ir_is_call_of(v, "llvm.expect.i64"))
        return read_integer(LLVMGetOperand(v, 0), index, x);
    bool known = is_sum(v, op) || op == LLVMSub || op == LLVMMul || op == LLVMShl;
    return known && !wraps(v, op) && read_integer(LLVMGetOperand(v, 0), index, x) &&
           number(LLVMGetOperand(v, 1), &n) && combine(op, x, n);
}

static bool add_scaled(struct ir_affine *x, struct ir_affine index, unsigned long long size)
{
    if (size > LARGEST)
        return false;
    x->stride += index.stride * (long long)size;
    x->offset += index.offset * (long long)size;
    return is_small(x->stride) && is_small(x->offset);
}

static bool add_indices(LLVMTargetDataRef layout, LLVMValueRef gep, const struct ir_index *index,
                        struct ir_affine *x)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(gep); i++) {
        struct ir_affine by;
        if (!read_integer(LLVMGetOperand(gep, i), index, &by))
            return false;
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            x->offset += (long long)LLVMOffsetOfElement(layout, type, (unsigned)by.offset);
            type = LLVMStructGetTypeAtIndex(type, (unsigned)by.offset);
            continue;
        }
        if (i > 1 && LLVMGetTypeKind(type) != LLVMArrayTypeKind)
            return false;
        type = i > 1 ? LLVMGetElementType(type) : type;
        if (!add_scaled(x, by, LLVMABISizeOfType(layout, type)))
            return false;
    }
    return is_small(x->offset);
}

bool ir_affine_address(LLVMTargetDataRef layout, LLVMValueRef address, const struct ir_index *index,
                       struct ir_affine *x)
{
    *x = (struct ir_affine){ .offset = 0 };
    while (LLVMIsAGetElementPtrInst(address) ||
           (LLVMIsAConstantExpr(address) && LLVMGetConstOpcode(address) == LLVMGetElementPtr)) {
        if (!add_indices(layout, address, index, x))
            return false;
        address = LLVMGetOperand(address, 0);
    }
    x->base = address;
    return LLVMIsAArgument(address) || LLVMIsAGlobalVariable(address);
}
