/* results.c - structs that functions return, in text that was compiled for wasm64 (read.c).
 *
 * Such code has structs of several members written to memory that it names, where nvptx64 code
 * returns them as values.  Here it is made to do so, too, whoever calls: this text, that of other
 * files, the device runtime, or a pointer.
 *
 *     define void @f(ptr sret(T) %r, …)     define internal void @f.1(ptr sret(T) %r, …)
 *                                           define T @f(…)
 *                                           {
 *                                               %r = alloca T
 *                                               call void @f.1(ptr sret(T) %r, …)
 *                                               %v = load T, ptr %r
 *                                               ret T %v
 *                                           }
 *
 *     call void %p(ptr sret(T) %r, …)       %v = call T %p(…)
 *                                           store T %v, ptr %r
 *
 * Not done: a struct of one member is passed and returned as that member, which nobody can see
 * here; a function with variable arguments cannot be called with those of another one; bytes that
 * belong to no member of LLVM's type, as of a union, are not in a value; and LLVM takes values
 * apart. */
#include "codegen/ir/link/link.h"
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <string.h>

/* Does a value have all bytes that memory has? */
static bool is_dense(LLVMTargetDataRef layout, LLVMTypeRef type)
{
    unsigned long long size = 0;
    if (LLVMGetTypeKind(type) == LLVMArrayTypeKind)
        return is_dense(layout, LLVMGetElementType(type));
    if (LLVMGetTypeKind(type) != LLVMStructTypeKind)
        return LLVMABISizeOfType(layout, type) * 8 == LLVMSizeOfTypeInBits(layout, type);
    for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++) {
        LLVMTypeRef member = LLVMStructGetTypeAtIndex(type, i);
        if (!is_dense(layout, member) || LLVMOffsetOfElement(layout, type, i) != size)
            return false;
        size += LLVMABISizeOfType(layout, member);
    }
    return size == LLVMABISizeOfType(layout, type);
}

/* The type that the attribute names, where it is converted. */
static LLVMTypeRef converted(LLVMValueRef f, LLVMAttributeRef sret)
{
    enum { LARGEST = 1024 };
    LLVMTypeRef type = sret ? LLVMGetTypeAttributeValue(sret) : NULL;
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(LLVMGetGlobalParent(f));
    bool is = type && LLVMABISizeOfType(layout, type) <= LARGEST && is_dense(layout, type);
    return is ? type : NULL;
}

static LLVMTypeRef struct_returned(LLVMValueRef f)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(f);
    LLVMAttributeRef sret = LLVMCountParamTypes(type) && !LLVMIsFunctionVarArg(type)
                                ? LLVMGetEnumAttributeAtIndex(f, 1, ir_attribute_kind("sret"))
                                : NULL;
    return converted(f, sret);
}

static LLVMTypeRef struct_wanted(LLVMValueRef call)
{
    LLVMTypeRef type = LLVMGetCalledFunctionType(call);
    LLVMAttributeRef sret = LLVMCountParamTypes(type) && !LLVMIsFunctionVarArg(type)
                                ? LLVMGetCallSiteEnumAttribute(call, 1, ir_attribute_kind("sret"))
                                : NULL;
    return converted(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)), sret);
}

/* That of a function with the parameters after the first. */
static LLVMTypeRef type_of_value(LLVMTypeRef type, LLVMTypeRef result)
{
    unsigned n = LLVMCountParamTypes(type);
    LLVMTypeRef *params = mem_array(n, sizeof *params);
    LLVMGetParamTypes(type, params);
    return LLVMFunctionType(result, params + 1, n - 1, false);
}

/* ------------------------------------------------------------------ functions */
static void copy_attributes(LLVMValueRef from, LLVMValueRef to, LLVMAttributeIndex i,
                            LLVMAttributeIndex k)
{
    unsigned n = LLVMGetAttributeCountAtIndex(from, i);
    LLVMAttributeRef *all = mem_array(n + 1, sizeof *all);
    LLVMGetAttributesAtIndex(from, i, all);
    for (unsigned a = 0; a < n; a++)
        LLVMAddAttributeAtIndex(to, k, all[a]);
}

static LLVMValueRef declare_value(LLVMValueRef f, LLVMTypeRef result)
{
    const char *name = mem_strdup(ir_name(f)), *other = mem_printf("__ompgpu_memory_%s", name);
    LLVMSetValueName2(f, other, strlen(other));
    LLVMValueRef g = LLVMAddFunction(LLVMGetGlobalParent(f), name,
                                     type_of_value(LLVMGlobalGetValueType(f), result));
    LLVMSetLinkage(g, LLVMGetLinkage(f));
    LLVMSetVisibility(g, LLVMGetVisibility(f));
    LLVMSetFunctionCallConv(g, LLVMGetFunctionCallConv(f));
    copy_attributes(f, g, LLVMAttributeFunctionIndex, LLVMAttributeFunctionIndex);
    for (unsigned i = 1; i < LLVMCountParams(f); i++)
        copy_attributes(f, g, i + 1, i);
    return g;
}

static void copy_call_attributes(LLVMValueRef from, LLVMValueRef to, LLVMAttributeIndex i,
                                 LLVMAttributeIndex k)
{
    unsigned n = LLVMGetCallSiteAttributeCount(from, i);
    LLVMAttributeRef *all = mem_array(n + 1, sizeof *all);
    LLVMGetCallSiteAttributes(from, i, all);
    for (unsigned a = 0; a < n; a++)
        LLVMAddCallSiteAttribute(to, k, all[a]);
}

static void write_body(LLVMValueRef g, LLVMValueRef f, LLVMTypeRef result)
{
    unsigned n = LLVMCountParams(f);
    LLVMValueRef *args = mem_array(n, sizeof *args);
    LLVMContextRef ctx = LLVMGetModuleContext(LLVMGetGlobalParent(f));
    LLVMBuilderRef b = LLVMCreateBuilderInContext(ctx);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(ctx, g, ""));
    args[0] = LLVMBuildAlloca(b, result, "");
    LLVMAttributeRef align = LLVMGetEnumAttributeAtIndex(f, 1, ir_attribute_kind("align"));
    if (align && LLVMGetEnumAttributeValue(align) > LLVMGetAlignment(args[0]))
        LLVMSetAlignment(args[0], (unsigned)LLVMGetEnumAttributeValue(align));
    for (unsigned i = 1; i < n; i++)
        args[i] = LLVMGetParam(g, i - 1);
    LLVMValueRef call = LLVMBuildCall2(b, LLVMGlobalGetValueType(f), f, args, n, "");
    for (unsigned i = 0; i < n; i++) {
        LLVMAttributeRef byval = LLVMGetEnumAttributeAtIndex(f, i + 1, ir_attribute_kind("byval"));
        if (byval)
            LLVMAddCallSiteAttribute(call, i + 1, byval);
    }
    LLVMBuildRet(b, LLVMBuildLoad2(b, result, args[0], ""));
    LLVMDisposeBuilder(b);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMSetVisibility(f, LLVMDefaultVisibility);
}

/* All that is called or has its address taken is the new one. */
static void return_value(LLVMValueRef f, LLVMTypeRef result)
{
    LLVMValueRef g = declare_value(f, result);
    LLVMReplaceAllUsesWith(f, g);
    if (LLVMIsDeclaration(f))
        LLVMDeleteFunction(f);
    else
        write_body(g, f, result);
}

/* ------------------------------------------------------------------ calls */
static void take_value(LLVMBuilderRef b, LLVMValueRef call, LLVMTypeRef result)
{
    unsigned n = LLVMGetNumArgOperands(call);
    LLVMValueRef *args = mem_array(n, sizeof *args);
    for (unsigned i = 1; i < n; i++)
        args[i - 1] = LLVMGetOperand(call, i);
    LLVMPositionBuilderBefore(b, call);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(call));
    LLVMValueRef value = LLVMBuildCall2(b, type_of_value(LLVMGetCalledFunctionType(call), result),
                                        LLVMGetCalledValue(call), args, n - 1, "");
    LLVMSetInstructionCallConv(value, LLVMGetInstructionCallConv(call));
    copy_call_attributes(call, value, LLVMAttributeFunctionIndex, LLVMAttributeFunctionIndex);
    for (unsigned i = 1; i < n; i++)
        copy_call_attributes(call, value, i + 1, i);
    LLVMBuildStore(b, value, LLVMGetOperand(call, 0));
    ir_erase(call);
}

static void take_values(LLVMBuilderRef b, LLVMValueRef f)
{
    IR_EACH_BLOCK(block, f)
        IR_EACH_INSTRUCTION(i, block) {
            LLVMTypeRef result = LLVMIsACallInst(i) ? struct_wanted(i) : NULL;
            if (result)
                take_value(b, i, result);
        }
}

void ir_return_values(LLVMModuleRef m)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
    IR_EACH_FUNCTION(f, m)
        take_values(b, f);
    LLVMDisposeBuilder(b);
    IR_EACH_FUNCTION(f, m) {
        LLVMTypeRef result = struct_returned(f);
        if (result)
            return_value(f, result);
    }
}
