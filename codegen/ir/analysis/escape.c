/* escape.c - whether somebody may keep a pointer, or reach what it points to by another way. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/passes/passes.h"
#include <string.h>

enum { MAX_DEPTH = 12 }; /* of calls that are followed */

static bool contains(const ir_values *v, LLVMValueRef value)
{
    for (unsigned i = 0; i < v->n; i++)
        if (v->at[i] == value)
            return true;
    return false;
}

static bool escapes(LLVMValueRef pointer, ir_values *seen, unsigned depth);

/* Functions without a body here that do not keep the pointers they are given. */
static bool is_harmless(LLVMValueRef f)
{
    static const char *const intrinsics[] = { "llvm.lifetime",   "llvm.dbg", "llvm.mem",
                                              "llvm.objectsize", "llvm.va_", "llvm.prefetch",
                                              "llvm.invariant" };
    static const char *const names[] = { "printf", "vprintf", "fprintf", "vfprintf",
                                         "memcpy", "memmove", "memset",  "memcmp",
                                         "strlen", "strcmp",  "free" };
    const char *name = ir_name(f), *intrinsic = ir_intrinsic(f);
    if (text_starts(name, "__ompgpu_"))
        return strcmp(name, "__ompgpu_parallel") != 0;
    for (unsigned i = 0; i < sizeof intrinsics / sizeof *intrinsics; i++)
        if (text_starts(intrinsic, intrinsics[i]))
            return true;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return ir_is_math_name(name);
}

/* __attribute__((noescape)) of a parameter. */
static bool is_noescape(LLVMAttributeRef captures)
{
    return captures && LLVMGetEnumAttributeValue(captures) == 0;
}

/* Those whose result is their first argument. */
static bool returns_argument(LLVMValueRef f)
{
    static const char *const names[] = { "memcpy", "memmove", "memset" };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(ir_name(f), names[i]) == 0)
            return true;
    return false;
}

static bool argument_escapes(LLVMValueRef call, unsigned i, ir_values *seen, unsigned depth)
{
    unsigned byval = ir_attribute_kind("byval"), captures = ir_attribute_kind("captures");
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMGetCallSiteEnumAttribute(call, i + 1, byval) ||
        is_noescape(LLVMGetCallSiteEnumAttribute(call, i + 1, captures)))
        return false; /* the callee gets a copy, or keeps nothing */
    if (!LLVMIsAFunction(callee))
        return true;
    if (i < LLVMCountParams(callee) &&
        is_noescape(LLVMGetEnumAttributeAtIndex(callee, i + 1, captures)))
        return false;
    if (LLVMIsDeclaration(callee))
        return !is_harmless(callee) ||
               (i == 0 && returns_argument(callee) && escapes(call, seen, depth));
    if (i >= LLVMCountParams(callee) || depth >= MAX_DEPTH)
        return true;
    return escapes(LLVMGetParam(callee, i), seen, depth + 1);
}

static bool call_escapes(LLVMValueRef call, LLVMValueRef pointer, ir_values *seen, unsigned depth)
{
    unsigned n = LLVMGetNumArgOperands(call);
    if ((unsigned)LLVMGetNumOperands(call) != n + 1)
        return true; /* operand bundles */
    if (LLVMGetCalledValue(call) == pointer)
        return true;
    for (unsigned i = 0; i < n; i++)
        if (LLVMGetOperand(call, i) == pointer && argument_escapes(call, i, seen, depth))
            return true;
    return false;
}

/* The arguments of a printf, as clang lays them out for vprintf, which reads them and keeps
 * nothing. */
bool ir_is_print_buffer(LLVMValueRef pointer)
{
    IR_EACH_USE(use, pointer) {
        LLVMValueRef user = LLVMGetUser(use),
                     callee = LLVMIsACallInst(user) ? LLVMGetCalledValue(user) : NULL;
        bool harmless =
            callee ? ir_is_call_of(user, "vprintf") || ir_is_call_of(user, IR_VPRINTF) ||
                         text_starts(ir_intrinsic(callee), "llvm.lifetime")
            : LLVMIsAStoreInst(user) ? LLVMGetOperand(user, 0) != pointer
                                     : LLVMIsAGetElementPtrInst(user) && ir_is_print_buffer(user);
        if (!harmless)
            return false;
    }
    return true;
}

static bool into_print_buffer(LLVMValueRef store)
{
    LLVMValueRef into = LLVMGetOperand(store, 1);
    while (LLVMIsAGetElementPtrInst(into))
        into = LLVMGetOperand(into, 0);
    return LLVMIsAAllocaInst(into) && ir_is_print_buffer(into);
}

static bool use_escapes(LLVMValueRef user, LLVMValueRef pointer, ir_values *seen, unsigned depth)
{
    if (!LLVMIsAInstruction(user))
        return true;
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad:
    case LLVMICmp: return false;
    case LLVMStore: return LLVMGetOperand(user, 0) == pointer && !into_print_buffer(user);
    case LLVMAtomicRMW: return LLVMGetOperand(user, 1) == pointer;
    case LLVMAtomicCmpXchg:
        return LLVMGetOperand(user, 1) == pointer || LLVMGetOperand(user, 2) == pointer;
    case LLVMGetElementPtr:
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMPHI:
    case LLVMSelect: return escapes(user, seen, depth);
    case LLVMCall: return call_escapes(user, pointer, seen, depth);
    default: return true;
    }
}

/* `seen` also ends cycles: through phis, and through recursive functions. */
static bool escapes(LLVMValueRef pointer, ir_values *seen, unsigned depth)
{
    if (contains(seen, pointer))
        return false;
    *VEC_PUSH(NULL, seen) = pointer;
    IR_EACH_USE(use, pointer)
        if (use_escapes(LLVMGetUser(use), pointer, seen, depth))
            return true;
    return false;
}

bool ir_call_keeps(LLVMValueRef call, LLVMValueRef pointer)
{
    ir_values seen = { 0 };
    bool result = call_escapes(call, pointer, &seen, 0);
    return result;
}

bool ir_pointer_escapes(LLVMValueRef pointer)
{
    ir_values seen = { 0 };
    bool result = escapes(pointer, &seen, 0);
    return result;
}

bool ir_is_address_of_same(LLVMValueRef user)
{
    if (LLVMIsAConstantExpr(user) || LLVMIsAGetElementPtrInst(user) ||
        LLVMIsAAddrSpaceCastInst(user) || LLVMIsABitCastInst(user))
        return true;
    LLVMValueRef callee = LLVMIsACallInst(user) ? LLVMGetCalledValue(user) : NULL;
    return callee && LLVMIsAFunction(callee) &&
           strcmp(ir_intrinsic(callee), "llvm.threadlocal.address") == 0;
}
