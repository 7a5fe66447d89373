/* aliases.c - functions and variables that are other names of others.
 *
 * Such a function becomes one that calls the other:
 *
 *     define i32 @other(i32 %x) { %r = call i32 @real(i32 %x)  ret i32 %r }
 *
 * A variable's name stays one until the device link has found what refers to it; then all do so to
 * the variable itself.
 *
 * PTX has an alias only for what is not weak, and the passes need not know of them.  One with
 * variable arguments, which cannot be handed on, is replaced by its function where this file uses
 * it. */
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/link/link.h"
#include <string.h>

static void copy_attributes(LLVMValueRef from, LLVMValueRef to)
{
    const LLVMAttributeIndex all = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    unsigned n = LLVMGetAttributeCountAtIndex(from, all);
    LLVMAttributeRef *list = mem_array(n + 1, sizeof *list);
    LLVMGetAttributesAtIndex(from, all, list);
    for (unsigned i = 0; i < n; i++)
        LLVMAddAttributeAtIndex(to, all, list[i]);
}

static void write_call(LLVMContextRef ctx, LLVMValueRef f, LLVMValueRef callee, LLVMTypeRef type)
{
    unsigned n = LLVMCountParams(f);
    LLVMValueRef *args = mem_array(n + 1, sizeof *args);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(ctx);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(ctx, f, ""));
    LLVMGetParams(f, args);
    LLVMValueRef result = LLVMBuildCall2(b, type, callee, args, n, "");
    if (LLVMGetTypeKind(LLVMGetReturnType(type)) == LLVMVoidTypeKind)
        LLVMBuildRetVoid(b);
    else
        LLVMBuildRet(b, result);
    LLVMDisposeBuilder(b);
}

static void replace_alias(LLVMModuleRef m, LLVMValueRef alias, LLVMValueRef callee)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(callee);
    const char *name = mem_strdup(ir_name(alias));
    LLVMValueRef f = callee;
    if (!LLVMIsFunctionVarArg(type)) {
        LLVMSetValueName2(alias, "", 0);
        f = LLVMAddFunction(m, name, type);
        LLVMSetLinkage(f, LLVMGetLinkage(alias));
        LLVMSetVisibility(f, LLVMGetVisibility(alias));
        copy_attributes(callee, f);
        write_call(LLVMGetModuleContext(m), f, callee, type);
    }
    LLVMReplaceAllUsesWith(alias, f);
}

static LLVMValueRef named_by(LLVMValueRef alias)
{
    while (LLVMIsAGlobalAlias(alias)) /* of one that is still to come */
        alias = LLVMAliasGetAliasee(alias);
    return alias;
}

static void drop_aliases(LLVMModuleRef m, bool any)
{
    if (any)
        ir_run_passes(m, "globaldce", NULL);
}

void ir_replace_function_aliases(LLVMModuleRef m)
{
    bool any = false;
    for (LLVMValueRef alias = LLVMGetFirstGlobalAlias(m); alias;
         alias = LLVMGetNextGlobalAlias(alias)) {
        LLVMValueRef callee = named_by(alias);
        if (!LLVMIsAFunction(callee))
            continue;
        replace_alias(m, alias, callee);
        LLVMSetLinkage(alias, LLVMInternalLinkage);
        any = true;
    }
    drop_aliases(m, any);
}

void ir_replace_variable_aliases(LLVMModuleRef m)
{
    LLVMValueRef first = LLVMGetFirstGlobalAlias(m);
    for (LLVMValueRef alias = first; alias; alias = LLVMGetNextGlobalAlias(alias)) {
        LLVMReplaceAllUsesWith(alias, named_by(alias));
        LLVMSetLinkage(alias, LLVMInternalLinkage);
    }
    drop_aliases(m, first != NULL);
}
