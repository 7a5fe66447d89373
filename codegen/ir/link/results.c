/* results.c - complex results of the device runtime's functions, for text that was compiled for
 * wasm64 (read.c).
 *
 * Such code expects structs in memory that it names, where nvptx64 code gets them as values.  Among
 * the user's functions both ends agree; the runtime's are called by a function of this module:
 *
 *     declare void @cexp(ptr sret, ptr byval)      define internal void @cexp.1(ptr %r, ptr %z)
 *                                                  {
 *                                                      %v = call { double, double } @cexp(ptr %z)
 *                                                      store { double, double } %v, ptr %r
 *                                                      ret void
 *                                                  }
 */
#include "codegen/ir/link/link.h"
#include <string.h>

/* The runtime's function of the name, if that returns what this one writes to its first parameter.
 */
static LLVMValueRef returning_function(const struct ir_unit *u, LLVMValueRef f)
{
    LLVMValueRef g = LLVMGetNamedFunction(u->runtime, ir_name(f));
    LLVMTypeRef type = LLVMGlobalGetValueType(f), other = g ? LLVMGlobalGetValueType(g) : NULL;
    bool differs = g && LLVMGetTypeKind(LLVMGetReturnType(type)) == LLVMVoidTypeKind &&
                   LLVMGetTypeKind(LLVMGetReturnType(other)) == LLVMStructTypeKind &&
                   LLVMCountParamTypes(type) == LLVMCountParamTypes(other) + 1;
    return differs ? g : NULL;
}

static void copy_parameter(LLVMValueRef from, LLVMValueRef to, unsigned i)
{
    LLVMAttributeRef byval = LLVMGetEnumAttributeAtIndex(from, i + 1, ir_attribute_kind("byval"));
    if (byval)
        LLVMAddAttributeAtIndex(to, i + 1, byval);
}

/* In the module of f, which is in the same context as the runtime. */
static LLVMValueRef declare_like(LLVMValueRef f, LLVMValueRef g)
{
    const char *name = mem_strdup(ir_name(f));
    LLVMSetValueName2(f, "", 0);
    LLVMValueRef callee = LLVMAddFunction(LLVMGetGlobalParent(f), name, LLVMGlobalGetValueType(g));
    for (unsigned i = 0; i < LLVMCountParams(callee); i++)
        copy_parameter(g, callee, i);
    return callee;
}

static void write_body(LLVMValueRef f, LLVMValueRef callee)
{
    LLVMContextRef ctx = LLVMGetModuleContext(LLVMGetGlobalParent(f));
    unsigned n = LLVMCountParams(callee);
    LLVMValueRef *args = mem_array(n + 1, sizeof *args);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(ctx);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(ctx, f, ""));
    for (unsigned i = 0; i < n; i++)
        args[i] = LLVMGetParam(f, i + 1);
    LLVMValueRef call = LLVMBuildCall2(b, LLVMGlobalGetValueType(callee), callee, args, n, "");
    for (unsigned i = 0; i < n; i++) {
        LLVMAttributeRef byval =
            LLVMGetEnumAttributeAtIndex(callee, i + 1, ir_attribute_kind("byval"));
        if (byval)
            LLVMAddCallSiteAttribute(call, i + 1, byval);
    }
    LLVMBuildStore(b, call, LLVMGetParam(f, 0));
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);
    LLVMGlobalEraseMetadata(f, LLVMGetMDKindIDInContext(ctx, "dbg", 3)); /* of a declaration */
    LLVMSetLinkage(f, LLVMInternalLinkage);
}

void ir_return_in_memory(const struct ir_unit *u, LLVMModuleRef m)
{
    IR_EACH_FUNCTION(f, m) {
        LLVMValueRef g = LLVMIsDeclaration(f) ? returning_function(u, f) : NULL;
        if (g)
            write_body(f, declare_like(f, g));
    }
}
