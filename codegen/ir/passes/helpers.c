/* helpers.c - -fompgpu-check: functions of the device runtime that become part of their callers
 * before the accesses there are checked.
 *
 * The iterator of a loop is a local whose address goes to the functions that begin and advance it:
 * as calls they would have to note that what they store there has a value, in each iteration.
 * Where they are inlined first, nothing of the iterator has to be checked.  That suits those that
 * write to nothing but locals, their own and their callers'.  What they read by a pointer is
 * marked (checks.c), since it is still the runtime's affair. */
#include "codegen/ir/passes/checks.h"
#include <string.h>

static LLVMValueRef destination_of(LLVMValueRef i)
{
    if (LLVMIsAStoreInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i))
        return LLVMGetOperand(i, LLVMIsAStoreInst(i) ? 1 : 0);
    LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    return callee && LLVMIsAFunction(callee) && text_starts(ir_intrinsic(callee), "llvm.mem")
               ? LLVMGetOperand(i, 0)
               : NULL;
}

/* Is it a local of all callers that f gets as this parameter? */
static bool gets_locals(LLVMValueRef f, LLVMValueRef parameter)
{
    unsigned n = 0;
    while (LLVMGetParam(f, n) != parameter)
        n++;
    IR_EACH_USE(use, f) {
        LLVMValueRef call = LLVMGetUser(use);
        if (!LLVMIsACallInst(call) || LLVMGetCalledValue(call) != f ||
            !LLVMIsAAllocaInst(ir_accessed_base(LLVMGetOperand(call, n))))
            return false;
    }
    return true;
}

static bool is_local(LLVMValueRef f, LLVMValueRef pointer)
{
    LLVMValueRef base = ir_accessed_base(pointer);
    return LLVMIsAAllocaInst(base) || (LLVMIsAArgument(base) && gets_locals(f, base));
}

bool ir_is_plain_helper(LLVMValueRef f)
{
    IR_EACH_INSTRUCTION_OF(i, f) {
        LLVMValueRef to = destination_of(i);
        if (ir_is_fence(i) || (to && !is_local(f, to)))
            return false;
    }
    return true;
}
