/* emit_helpers.c - thin helpers to build IR. */
#include "codegen/ir/emit_helpers.h"
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ calls */
static void copy_attributes(LLVMValueRef to, LLVMValueRef from, LLVMAttributeIndex at)
{
    unsigned n = LLVMGetAttributeCountAtIndex(from, at);
    LLVMAttributeRef *list = mem_array(n, sizeof(LLVMAttributeRef));
    LLVMGetAttributesAtIndex(from, at, list);
    for (unsigned i = 0; i < n; i++)
        LLVMAddAttributeAtIndex(to, at, list[i]);
}

void l_copy_attributes(LLVMValueRef to, LLVMValueRef from)
{
    copy_attributes(to, from, (LLVMAttributeIndex)LLVMAttributeFunctionIndex);
    copy_attributes(to, from, LLVMAttributeReturnIndex);
    for (unsigned i = 1; i <= LLVMCountParams(to); i++)
        copy_attributes(to, from, i);
}

LLVMValueRef l_runtime(const struct ir_unit *u, const char *name)
{
    LLVMValueRef f = LLVMGetNamedFunction(u->module, name),
                 there = f ? NULL : LLVMGetNamedFunction(u->runtime, name);
    if (f)
        return f;
    if (!there)
        diag_bug("the device runtime has no function '%s'", name);
    f = LLVMAddFunction(u->module, name, LLVMGlobalGetValueType(there));
    LLVMSetFunctionCallConv(f, LLVMGetFunctionCallConv(there));
    copy_attributes(f, there, LLVMAttributeReturnIndex);
    for (unsigned i = 1; i <= LLVMCountParams(f); i++)
        copy_attributes(f, there, i);
    ir_add_attribute(f, "convergent"); /* as all that generated code may call */
    return f;
}

/* A call passes its arguments as the function expects them. */
LLVMValueRef l_call(LLVMBuilderRef b, LLVMValueRef f, LLVMValueRef *args, unsigned n)
{
    LLVMValueRef call = LLVMBuildCall2(b, LLVMGlobalGetValueType(f), f, args, n, "");
    unsigned zeroext = ir_attribute_kind("zeroext");
    for (unsigned i = 1; i <= n; i++) {
        LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(f, i, zeroext);
        if (a)
            LLVMAddCallSiteAttribute(call, i, a);
    }
    return call;
}

LLVMValueRef l_call_runtime(const struct ir_unit *u, LLVMBuilderRef b, const char *name,
                            LLVMValueRef *args, unsigned n)
{
    return l_call(b, l_runtime(u, name), args, n);
}

LLVMValueRef l_call_intrinsic(const struct ir_unit *u, LLVMBuilderRef b, const char *name,
                              LLVMTypeRef type, LLVMValueRef *args, unsigned n)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name)), types = type != NULL;
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(u->module, id, &type, types);
    return LLVMBuildCall2(b, LLVMGlobalGetValueType(f), f, args, n, "");
}

LLVMValueRef l_is_main_thread(const struct ir_unit *u, LLVMBuilderRef b)
{
    LLVMValueRef tid = l_call_runtime(u, b, "__ompgpu_arch_tid", NULL, 0);
    return LLVMBuildICmp(b, LLVMIntEQ, tid, l_i32(u, 0), "");
}

/* ------------------------------------------------------------------ functions and blocks */
LLVMValueRef l_add_function(const struct ir_unit *u, const char *name, LLVMTypeRef *params,
                            unsigned n)
{
    LLVMTypeRef type = LLVMFunctionType(l_void(u), params, n, false);
    LLVMValueRef f = LLVMAddFunction(u->module, name, type);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    ir_add_attribute(f, "convergent");
    ir_set_string_attribute(f, IR_OURS, "");
    return f;
}

static LLVMBasicBlockRef append_block(LLVMValueRef f, const char *name)
{
    return LLVMAppendBasicBlockInContext(LLVMGetModuleContext(LLVMGetGlobalParent(f)), f, name);
}

LLVMBuilderRef l_open_function(LLVMValueRef f)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(LLVMGetGlobalParent(f)));
    LLVMPositionBuilderAtEnd(b, append_block(f, "entry"));
    return b;
}

void l_close_function(LLVMBuilderRef b)
{
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);
}

LLVMBasicBlockRef l_open_if(LLVMBuilderRef b, LLVMValueRef condition)
{
    LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInsertBlock(b));
    LLVMBasicBlockRef then = append_block(f, "then"), follows = append_block(f, "follows");
    LLVMBuildCondBr(b, condition, then, follows);
    LLVMPositionBuilderAtEnd(b, then);
    return follows;
}

void l_close_if(LLVMBuilderRef b, LLVMBasicBlockRef follows)
{
    LLVMBuildBr(b, follows);
    LLVMPositionBuilderAtEnd(b, follows);
}

LLVMValueRef l_first_after_phis(LLVMBasicBlockRef block)
{
    LLVMValueRef i = LLVMGetFirstInstruction(block);
    while (LLVMIsAPHINode(i))
        i = LLVMGetNextInstruction(i);
    return i;
}
