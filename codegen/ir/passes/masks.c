/* masks.c - GPUs: pointers with bits masked off, as `__builtin_align_up` makes them.
 *
 *     call ptr @llvm.ptrmask(p, mask)      ──▶      getelementptr i8, p, (p & mask) - p
 *
 * The NVPTX backend's SeparateConstOffsetFromGEP crashes on the intrinsic (LLVM 22).  In this form
 * it is a pointer into the same object still, and LLVM makes no ptrmask of it again. */
#include "codegen/ir/passes/passes.h"
#include <llvm-c/DebugInfo.h>

static bool is_mask(LLVMValueRef i)
{
    return LLVMIsACallInst(i) && text_starts(ir_intrinsic(LLVMGetCalledValue(i)), "llvm.ptrmask") &&
           LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMPointerTypeKind;
}

static void replace_mask(LLVMBuilderRef b, LLVMValueRef call)
{
    LLVMValueRef p = LLVMGetOperand(call, 0), mask = LLVMGetOperand(call, 1);
    LLVMTypeRef integer = LLVMTypeOf(mask);
    LLVMPositionBuilderBefore(b, call);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(call));
    LLVMValueRef address = LLVMBuildPtrToInt(b, p, integer, ""),
                 distance = LLVMBuildSub(b, LLVMBuildAnd(b, address, mask, ""), address, "");
    LLVMReplaceAllUsesWith(
        call,
        LLVMBuildGEP2(b, LLVMInt8TypeInContext(LLVMGetTypeContext(integer)), p, &distance, 1, ""));
    ir_erase(call);
}

void ir_replace_masks(LLVMModuleRef m)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
    IR_EACH_FUNCTION(f, m)
        IR_EACH_INSTRUCTION_OF(i, f)
            if (is_mask(i))
                replace_mask(b, i);
    LLVMDisposeBuilder(b);
}
