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
 * out what it could.  The aggregates that values are put into one by one have no registers of
 * their own. */
#include "codegen/ir/passes/passes.h"

static bool is_about_lifetime(LLVMValueRef i)
{
    static const char begins[] = "llvm.lifetime.start", ends[] = "llvm.lifetime.end";
    LLVMValueRef f = LLVMIsACallInst(i) ? LLVMIsAFunction(LLVMGetCalledValue(i)) : NULL;
    unsigned id = f ? LLVMGetIntrinsicID(f) : 0;
    return id && (id == LLVMLookupIntrinsicID(begins, sizeof begins - 1) ||
                  id == LLVMLookupIntrinsicID(ends, sizeof ends - 1));
}

/* Operands from this one on: aggregates and vectors are made from nothing. */
static int first_operand(LLVMValueRef i)
{
    if (LLVMIsAShuffleVectorInst(i) || is_about_lifetime(i))
        return LLVMGetNumOperands(i);
    return LLVMIsAInsertValueInst(i) || LLVMIsAInsertElementInst(i);
}

void ir_define_values(LLVMModuleRef m)
{
    IR_EACH_FUNCTION(f, m)
        IR_EACH_INSTRUCTION_OF(i, f)
            for (int k = first_operand(i); k < LLVMGetNumOperands(i); k++) {
                LLVMValueRef v = LLVMGetOperand(i, (unsigned)k);
                if (LLVMIsUndef(v))
                    LLVMSetOperand(i, (unsigned)k, LLVMConstNull(LLVMTypeOf(v)));
            }
}
