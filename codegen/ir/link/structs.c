/* structs.c - structs that functions take and return, on GPUs.
 *
 * Taken: the NVPTX backend copies the members of LLVM's type to the parameter, so that bytes which
 * belong to none of them, as of a union, are lost.  Where there are such, they are called an array.
 *
 *     ptr byval(%union.u) align 8 %p        ptr byval([2 x i64]) align 8 %p
 *
 * Returned: as values where these have all bytes that memory has, and are not large; in memory that
 * the caller names, else.
 *
 * clang returns values for nvptx64, and what they lack is lost: of a union, bytes that belong to no
 * member of LLVM's type.  In text that it has compiled for wasm64 (read.c), all that has several
 * members is written to memory.  With one way for both, files call each other, the device runtime,
 * and through pointers.
 *
 *     define void @f(ptr sret(T) %r, …)     define T @f(…)
 *     {                                     {
 *         …                                     %r = alloca T
 *         ret void                              …
 *     }                                         %v = load T, ptr %r
 *                                               ret T %v
 *                                           }
 *
 *     call void %p(ptr sret(T) %r, …)       %v = call T %p(…)
 *                                           store T %v, ptr %r
 *
 *     define T @f(…)                        define void @f(ptr sret(T) %r, …)
 *     {                                     {
 *         …                                     …
 *         %v = load T, ptr %p                   memcpy(%r, %p)
 *         ret T %v                              ret void
 *     }                                     }
 *
 *     %v = call T %p(…)                     call void %p(ptr sret(T) %t, …)
 *     %m = extractvalue %v, …               memcpy(%d, %t)
 *     store %m, ptr %d, … */
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

/* ------------------------------------------------------------------ taken */
static LLVMAttributeRef dense_byval(LLVMModuleRef m, LLVMAttributeRef byval)
{
    LLVMContextRef ctx = LLVMGetModuleContext(m);
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(m);
    LLVMTypeRef type = byval ? LLVMGetTypeAttributeValue(byval) : NULL;
    if (!type || is_dense(layout, type))
        return NULL;
    unsigned align = LLVMABIAlignmentOfType(layout, type);
    unsigned long long size = LLVMABISizeOfType(layout, type), unit = align < 8 ? align : 8;
    LLVMTypeRef array = LLVMArrayType2(LLVMIntTypeInContext(ctx, (unsigned)unit * 8), size / unit);
    return LLVMCreateTypeAttribute(ctx, ir_attribute_kind("byval"), array);
}

static void take_bytes(LLVMModuleRef m, LLVMValueRef f)
{
    const unsigned kind = ir_attribute_kind("byval");
    for (unsigned i = 1; i <= LLVMCountParams(f); i++) {
        LLVMAttributeRef dense = dense_byval(m, LLVMGetEnumAttributeAtIndex(f, i, kind));
        if (dense)
            LLVMAddAttributeAtIndex(f, i, dense);
    }
}

static void give_bytes(LLVMModuleRef m, LLVMValueRef call)
{
    const unsigned kind = ir_attribute_kind("byval");
    for (unsigned i = 1; i <= LLVMGetNumArgOperands(call); i++) {
        LLVMAttributeRef dense = dense_byval(m, LLVMGetCallSiteEnumAttribute(call, i, kind));
        if (dense)
            LLVMAddCallSiteAttribute(call, i, dense);
    }
}

void ir_pass_bytes(LLVMModuleRef m)
{
    IR_EACH_FUNCTION(f, m) {
        take_bytes(m, f);
        IR_EACH_INSTRUCTION_OF(i, f)
            if (LLVMIsACallInst(i))
                give_bytes(m, i);
    }
}

/* ------------------------------------------------------------------ returned */
static bool is_value(LLVMTargetDataRef layout, LLVMTypeRef type)
{
    enum { LARGEST = 1024 }; /* LLVM takes values apart */
    return LLVMABISizeOfType(layout, type) <= LARGEST && is_dense(layout, type);
}

static bool has_struct(LLVMTypeRef type)
{
    while (LLVMGetTypeKind(type) == LLVMArrayTypeKind)
        type = LLVMGetElementType(type);
    return LLVMGetTypeKind(type) == LLVMStructTypeKind;
}

static bool has_lone_union(LLVMTypeRef type)
{
    LLVMTypeRef inner =
        LLVMCountStructElementTypes(type) == 1 ? LLVMStructGetTypeAtIndex(type, 0) : NULL;
    if (!inner || LLVMGetTypeKind(inner) != LLVMStructTypeKind)
        return false;
    for (unsigned i = 0; i < LLVMCountStructElementTypes(inner); i++)
        if (has_struct(LLVMStructGetTypeAtIndex(inner, i)))
            return false;
    return true;
}

/* As it is in a text without the unions of frontend/lone_member.c, so that calls find a function
 * of their type in another file, and it can be inlined. */
static LLVMTypeRef as_written(LLVMTypeRef type)
{
    LLVMTypeRef written;
    bool changed = false;
    if (LLVMGetTypeKind(type) == LLVMArrayTypeKind) {
        written = as_written(LLVMGetElementType(type));
        return written == LLVMGetElementType(type)
                   ? type
                   : LLVMArrayType2(written, LLVMGetArrayLength2(type));
    }
    if (LLVMGetTypeKind(type) != LLVMStructTypeKind)
        return type;
    if (has_lone_union(type))
        type = LLVMStructGetTypeAtIndex(type, 0);
    unsigned n = LLVMCountStructElementTypes(type);
    LLVMTypeRef *members = mem_array(n, sizeof *members);
    for (unsigned i = 0; i < n; i++) {
        members[i] = as_written(LLVMStructGetTypeAtIndex(type, i));
        changed |= members[i] != LLVMStructGetTypeAtIndex(type, i);
    }
    if (!changed)
        return type;
    written = LLVMStructCreateNamed(LLVMGetTypeContext(type), "");
    LLVMStructSetBody(written, members, n, LLVMIsPackedStruct(type));
    return written;
}

/* The type that the attribute names, where it is a value's. */
static LLVMTypeRef converted(LLVMValueRef f, LLVMAttributeRef sret)
{
    LLVMTypeRef type = sret ? LLVMGetTypeAttributeValue(sret) : NULL;
    return type && is_value(LLVMGetModuleDataLayout(LLVMGetGlobalParent(f)), type)
               ? as_written(type)
               : NULL;
}

static LLVMTypeRef struct_returned(LLVMValueRef f)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(f);
    LLVMAttributeRef sret = LLVMCountParamTypes(type)
                                ? LLVMGetEnumAttributeAtIndex(f, 1, ir_attribute_kind("sret"))
                                : NULL;
    return converted(f, sret);
}

static LLVMTypeRef struct_wanted(LLVMValueRef call)
{
    LLVMTypeRef type = LLVMGetCalledFunctionType(call);
    LLVMAttributeRef sret = LLVMCountParamTypes(type)
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
    return LLVMFunctionType(result, params + 1, n - 1, LLVMIsFunctionVarArg(type));
}

/* ------------------------------------------------------------------ functions */
/* What a function, or a call, says of one of its parts is said of one of another's. */
static void copy_attributes(LLVMValueRef from, LLVMValueRef to, LLVMAttributeIndex i,
                            LLVMAttributeIndex k)
{
    const bool call = LLVMIsACallInst(from);
    unsigned n =
        call ? LLVMGetCallSiteAttributeCount(from, i) : LLVMGetAttributeCountAtIndex(from, i);
    LLVMAttributeRef *all = mem_array(n + 1, sizeof *all);
    (call ? LLVMGetCallSiteAttributes : LLVMGetAttributesAtIndex)(from, i, all);
    for (unsigned a = 0; a < n; a++)
        (call ? LLVMAddCallSiteAttribute : LLVMAddAttributeAtIndex)(to, k, all[a]);
}

/* Parameter `into` of `to` and those after it are `first` of `from` and those after it. */
static void copy_all_attributes(LLVMValueRef from, LLVMValueRef to, unsigned first, unsigned into)
{
    unsigned n = LLVMIsACallInst(from) ? LLVMGetNumArgOperands(from) : LLVMCountParams(from);
    copy_attributes(from, to, LLVMAttributeFunctionIndex, LLVMAttributeFunctionIndex);
    for (unsigned i = first; i < n; i++)
        copy_attributes(from, to, i + 1, i - first + into + 1);
}

/* It takes the name of f. */
static LLVMValueRef declare_like(LLVMValueRef f, LLVMTypeRef type)
{
    const char *name = mem_strdup(ir_name(f));
    LLVMSetValueName2(f, "", 0);
    LLVMValueRef g = LLVMAddFunction(LLVMGetGlobalParent(f), name, type);
    LLVMSetLinkage(g, LLVMGetLinkage(f));
    LLVMSetVisibility(g, LLVMGetVisibility(f));
    LLVMSetFunctionCallConv(g, LLVMGetFunctionCallConv(f));
    return g;
}

/* All that f is called for is g, which has its body, if there is one. */
static void replace_function(LLVMValueRef f, LLVMValueRef g)
{
    LLVMReplaceAllUsesWith(f, g);
    if (LLVMGetSubprogram(f))
        LLVMSetSubprogram(g, LLVMGetSubprogram(f));
    for (LLVMBasicBlockRef block; (block = LLVMGetFirstBasicBlock(f));) {
        LLVMRemoveBasicBlockFromParent(block);
        LLVMAppendExistingBasicBlock(g, block);
    }
    LLVMDeleteFunction(f);
}

static LLVMValueRef call_like(LLVMBuilderRef b, LLVMValueRef call, LLVMTypeRef type,
                              LLVMValueRef *args, unsigned n)
{
    LLVMValueRef other = LLVMBuildCall2(b, type, LLVMGetCalledValue(call), args, n, "");
    LLVMSetInstructionCallConv(other, LLVMGetInstructionCallConv(call));
    return other;
}

static LLVMValueRef make_room(LLVMBuilderRef b, LLVMValueRef f, LLVMTypeRef result)
{
    LLVMAttributeRef align = LLVMGetEnumAttributeAtIndex(f, 1, ir_attribute_kind("align"));
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f)));
    LLVMSetCurrentDebugLocation2(b, NULL);
    LLVMValueRef room = LLVMBuildAlloca(b, result, "");
    if (align && LLVMGetEnumAttributeValue(align) > LLVMGetAlignment(room))
        LLVMSetAlignment(room, (unsigned)LLVMGetEnumAttributeValue(align));
    return room;
}

static void return_value(LLVMBuilderRef b, LLVMValueRef f, LLVMTypeRef result)
{
    LLVMValueRef room = LLVMIsDeclaration(f) ? NULL : make_room(b, f, result);
    LLVMValueRef g = declare_like(f, type_of_value(LLVMGlobalGetValueType(f), result));
    copy_all_attributes(f, g, 1, 0);
    for (unsigned i = 1; i < LLVMCountParams(f); i++)
        LLVMReplaceAllUsesWith(LLVMGetParam(f, i), LLVMGetParam(g, i - 1));
    if (room)
        LLVMReplaceAllUsesWith(LLVMGetParam(f, 0), room);
    replace_function(f, g);
    IR_EACH_BLOCK(block, g) {
        LLVMValueRef ret = LLVMGetBasicBlockTerminator(block);
        if (!LLVMIsAReturnInst(ret))
            continue;
        LLVMPositionBuilderBefore(b, ret);
        LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(ret));
        LLVMBuildRet(b, LLVMBuildLoad2(b, result, room, ""));
        ir_erase(ret);
    }
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
    LLVMValueRef value =
        call_like(b, call, type_of_value(LLVMGetCalledFunctionType(call), result), args, n - 1);
    copy_all_attributes(call, value, 1, 0);
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
    IR_EACH_FUNCTION(f, m) {
        LLVMTypeRef result = struct_returned(f);
        if (result)
            return_value(b, f, result);
    }
    LLVMDisposeBuilder(b);
}

/* ------------------------------------------------------------------ the other way: into memory */
/* The result of a function of the type, where it is no value for us. */
static LLVMTypeRef result_for_memory(LLVMModuleRef m, LLVMTypeRef type)
{
    LLVMTypeRef result = LLVMGetReturnType(type);
    bool memory = LLVMGetTypeKind(result) == LLVMStructTypeKind &&
                  !is_value(LLVMGetModuleDataLayout(m), result);
    return memory ? result : NULL;
}

static LLVMTypeRef type_with_memory(LLVMContextRef ctx, LLVMTypeRef type)
{
    unsigned n = LLVMCountParamTypes(type);
    LLVMTypeRef *params = mem_array(n + 1, sizeof *params);
    params[0] = LLVMPointerTypeInContext(ctx, 0);
    LLVMGetParamTypes(type, params + 1);
    return LLVMFunctionType(LLVMVoidTypeInContext(ctx), params, n + 1, LLVMIsFunctionVarArg(type));
}

static void copy_bytes(LLVMBuilderRef b, LLVMTargetDataRef layout, LLVMTypeRef type,
                       LLVMValueRef to, LLVMValueRef from)
{
    unsigned align = LLVMABIAlignmentOfType(layout, type);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(LLVMGetTypeContext(type));
    LLVMBuildMemCpy(b, to, align, from, align,
                    LLVMConstInt(i64, LLVMABISizeOfType(layout, type), false));
}

/* Where from the value that an instruction is about to return has been loaded. */
static LLVMValueRef returned_from(LLVMValueRef ret)
{
    LLVMValueRef v = LLVMGetNumOperands(ret) == 1 ? LLVMGetOperand(ret, 0) : NULL;
    return v && LLVMIsALoadInst(v) && LLVMGetNextInstruction(v) == ret ? LLVMGetOperand(v, 0)
                                                                       : NULL;
}

static bool returns_what_it_loads(LLVMValueRef f)
{
    IR_EACH_BLOCK(block, f) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
        if (LLVMIsAReturnInst(end) && !returned_from(end))
            return false;
    }
    return true;
}

static void return_in_memory(LLVMBuilderRef b, LLVMValueRef f, LLVMTypeRef result)
{
    LLVMModuleRef m = LLVMGetGlobalParent(f);
    LLVMContextRef ctx = LLVMGetModuleContext(m);
    LLVMValueRef g = declare_like(f, type_with_memory(ctx, LLVMGlobalGetValueType(f)));
    copy_all_attributes(f, g, 0, 1);
    LLVMAddAttributeAtIndex(g, 1, LLVMCreateTypeAttribute(ctx, ir_attribute_kind("sret"), result));
    for (unsigned i = 0; i < LLVMCountParams(f); i++)
        LLVMReplaceAllUsesWith(LLVMGetParam(f, i), LLVMGetParam(g, i + 1));
    replace_function(f, g);
    IR_EACH_BLOCK(block, g) {
        LLVMValueRef ret = LLVMGetBasicBlockTerminator(block), from;
        if (!LLVMIsAReturnInst(ret))
            continue;
        from = returned_from(ret);
        LLVMValueRef value = LLVMGetOperand(ret, 0);
        LLVMPositionBuilderBefore(b, ret);
        LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(ret));
        copy_bytes(b, LLVMGetModuleDataLayout(m), result, LLVMGetParam(g, 0), from);
        LLVMBuildRetVoid(b);
        ir_erase(ret);
        ir_erase(value);
    }
}

/* What puts the value into its place, as clang writes it: each member, or all of it.  *first: of
 * the first member.  A store of less than all bytes leaves the others undefined.  false: the value
 * is used in another way. */
static bool find_stores(LLVMValueRef value, LLVMValueRef *first)
{
    *first = NULL;
    IR_EACH_USE(use, value) {
        LLVMValueRef user = LLVMGetUser(use), store = user;
        if (LLVMIsAExtractValueInst(user)) {
            LLVMUseRef only = LLVMGetFirstUse(user);
            if (!only || LLVMGetNextUse(only) || LLVMGetNumIndices(user) != 1)
                return false;
            store = LLVMGetUser(only);
        }
        if (!LLVMIsAStoreInst(store) || LLVMGetVolatile(store))
            return false;
        if (store == user || LLVMGetIndices(user)[0] == 0)
            *first = store;
    }
    return *first;
}

static void erase_stores(LLVMValueRef value)
{
    IR_EACH_USE(use, value) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsAExtractValueInst(user))
            ir_erase(LLVMGetUser(LLVMGetFirstUse(user)));
        ir_erase(user);
    }
}

static void take_from_memory(LLVMBuilderRef b, LLVMValueRef call, LLVMTypeRef result)
{
    LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    LLVMModuleRef m = LLVMGetGlobalParent(f);
    LLVMContextRef ctx = LLVMGetModuleContext(m);
    unsigned n = LLVMGetNumArgOperands(call);
    LLVMValueRef *args = mem_array(n + 1, sizeof *args),
                 first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f));
    LLVMPositionBuilderBefore(b, first);
    LLVMSetCurrentDebugLocation2(b, NULL);
    args[0] = LLVMBuildAlloca(b, result, "");
    for (unsigned i = 0; i < n; i++)
        args[i + 1] = LLVMGetOperand(call, i);
    LLVMPositionBuilderBefore(b, call);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(call));
    LLVMValueRef other =
        call_like(b, call, type_with_memory(ctx, LLVMGetCalledFunctionType(call)), args, n + 1);
    copy_all_attributes(call, other, 0, 1);
    LLVMAddCallSiteAttribute(other, 1,
                             LLVMCreateTypeAttribute(ctx, ir_attribute_kind("sret"), result));
    LLVMValueRef store;
    if (find_stores(call, &store)) {
        LLVMPositionBuilderBefore(b, store);
        LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(store));
        copy_bytes(b, LLVMGetModuleDataLayout(m), result, LLVMGetOperand(store, 1), args[0]);
        erase_stores(call);
    } else if (LLVMGetFirstUse(call)) {
        LLVMReplaceAllUsesWith(call, LLVMBuildLoad2(b, result, args[0], ""));
    }
    ir_erase(call);
}

/* Of a module with a function that returns in another way than clang does, all stays as it is. */
void ir_return_bytes(LLVMModuleRef m)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
    IR_EACH_FUNCTION(f, m)
        if (result_for_memory(m, LLVMGlobalGetValueType(f)) && !returns_what_it_loads(f)) {
            LLVMDisposeBuilder(b);
            return;
        }
    IR_EACH_FUNCTION(f, m)
        IR_EACH_BLOCK(block, f)
            IR_EACH_INSTRUCTION(i, block) {
                LLVMTypeRef result =
                    LLVMIsACallInst(i) ? result_for_memory(m, LLVMGetCalledFunctionType(i)) : NULL;
                if (result && !LLVMGetIntrinsicID(LLVMGetCalledValue(i)))
                    take_from_memory(b, i, result);
            }
    IR_EACH_FUNCTION(f, m) {
        LLVMTypeRef result =
            LLVMGetIntrinsicID(f) ? NULL : result_for_memory(m, LLVMGlobalGetValueType(f));
        if (result)
            return_in_memory(b, f, result);
    }
    LLVMDisposeBuilder(b);
}
