/* undefined.c - GPUs: what is not defined is 0.
 *
 * The NVPTX backend writes nothing for an undefined value, so that PTX reads a register which was
 * never written, mostly where control flow meets:
 *
 *      %x = phi [ %v, %a ], [ undef, %b ]       a: mov r1, v;    b: (nothing)    c: mov r2, r1
 *
 * ptxas 12.8 and 13.0 take that for leave to give r1 the register of a value which c computes
 * later, and read it before that is there: wrong code of a valid program, in which r2 is not used
 * after b (tests/modes/undefined.t).  A zero costs an instruction on that way, and LLVM has left
 * out what it could. */
#include "codegen/ir/passes/passes.h"

static bool is_about_lifetime(LLVMValueRef i)
{
    static const char begins[] = "llvm.lifetime.start", ends[] = "llvm.lifetime.end";
    LLVMValueRef f = LLVMIsACallInst(i) ? LLVMIsAFunction(LLVMGetCalledValue(i)) : NULL;
    unsigned id = f ? LLVMGetIntrinsicID(f) : 0;
    return id && (id == LLVMLookupIntrinsicID(begins, sizeof begins - 1) ||
                  id == LLVMLookupIntrinsicID(ends, sizeof ends - 1));
}

static LLVMValueRef aggregate_like(LLVMValueRef v, LLVMValueRef *parts, unsigned n)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    if (LLVMIsAConstantVector(v))
        return LLVMConstVector(parts, n);
    if (LLVMIsAConstantArray(v))
        return LLVMConstArray2(LLVMGetElementType(type), parts, n);
    return LLVMGetStructName(type) ? LLVMConstNamedStruct(type, parts, n)
                                   : LLVMConstStructInContext(LLVMGetTypeContext(type), parts, n,
                                                              LLVMIsPackedStruct(type));
}

/* The same where all of it is defined. */
static LLVMValueRef defined(LLVMValueRef v)
{
    if (LLVMIsUndef(v))
        return LLVMConstNull(LLVMTypeOf(v));
    if (!LLVMIsAConstantVector(v) && !LLVMIsAConstantArray(v) && !LLVMIsAConstantStruct(v))
        return v;
    unsigned n = (unsigned)LLVMGetNumOperands(v);
    LLVMValueRef *parts = mem_array(n + 1, sizeof *parts);
    bool changed = false;
    for (unsigned i = 0; i < n; i++) {
        parts[i] = defined(LLVMGetOperand(v, i));
        changed |= parts[i] != LLVMGetOperand(v, i);
    }
    return changed ? aggregate_like(v, parts, n) : v;
}

void ir_define_values(LLVMModuleRef m)
{
    IR_EACH_FUNCTION(f, m)
        IR_EACH_INSTRUCTION_OF(i, f)
            for (int k = 0; k < LLVMGetNumOperands(i) && !is_about_lifetime(i); k++)
                LLVMSetOperand(i, (unsigned)k, defined(LLVMGetOperand(i, (unsigned)k)));
}
