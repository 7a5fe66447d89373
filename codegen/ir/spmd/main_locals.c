/* main_locals.c - locals of a region function that only the main thread ever touches: they stay its
 * own, in registers where they fit.
 *
 * The usual one is the original of a reduction.  Sequential code sets it and reads the result,
 * guarded; the region's threads combine copies of their own, and the winner, which is the main
 * thread, updates the original:
 *
 *     double s = 0;                                    guarded
 *     #pragma omp parallel for reduction(+: s) …       if (__ompgpu_reduce_parallel(…)) *s += …;
 *     sum[i] = s;                                      guarded
 *
 * As a shared local it would cost its bytes and barriers for what nobody else looks at.  Each
 * thread has such a local; those of others than the main thread hold nothing of use, and nothing
 * uses them. So a value that is read from it may not leave its guard: where one would, planning
 * finds that out and the local becomes a shared one after all (plan.c). */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/spmd/spmd.h"
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ inside of the region */
static bool is_main_thread(LLVMValueRef condition)
{
    static const char *const ids[] = { "__ompgpu_thread_id", "omp_get_thread_num" };
    if (LLVMIsACallInst(condition))
        return ir_is_call_of(condition, "__ompgpu_reduce_parallel") ||
               ir_is_call_of(condition, "__ompgpu_reduce_array");
    if (!LLVMIsAICmpInst(condition) || LLVMGetICmpPredicate(condition) != LLVMIntEQ ||
        !LLVMIsACallInst(LLVMGetOperand(condition, 0)))
        return false;
    const char *name = spmd_callee(LLVMGetOperand(condition, 0));
    LLVMValueRef zero = LLVMGetOperand(condition, 1);
    return (strcmp(name, ids[0]) == 0 || strcmp(name, ids[1]) == 0) && LLVMIsAConstantInt(zero) &&
           LLVMConstIntGetZExtValue(zero) == 0;
}

bool spmd_only_main_thread(LLVMBasicBlockRef from, unsigned successor)
{
    LLVMValueRef last = LLVMGetBasicBlockTerminator(from);
    return successor == 0 && LLVMIsABranchInst(last) && LLVMIsConditional(last) &&
           LLVMGetSuccessor(last, 0) != LLVMGetSuccessor(last, 1) &&
           is_main_thread(LLVMGetCondition(last));
}

static bool is_run_by_others(LLVMValueRef instruction)
{
    LLVMBasicBlockRef at = LLVMGetInstructionParent(instruction);
    bool found = true,
         *reached = ir_reach_blocks(LLVMGetBasicBlockParent(at), spmd_only_main_thread);
    unsigned b = 0;
    IR_EACH_BLOCK(block, LLVMGetBasicBlockParent(at)) {
        if (block == at)
            found = reached[b];
        b++;
    }
    return found;
}

/* Others may compute the address, but do nothing with it. */
static bool used_by_others(LLVMValueRef pointer)
{
    IR_EACH_USE(use, pointer) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsAGetElementPtrInst(user) ? used_by_others(user) : is_run_by_others(user))
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------ through the context */
enum { UNKNOWN = -1 };

/* Bytes from the context's start to where `pointer`, made of `base` by constant offsets, points. */
static long long offset_in(const struct spmd_region *r, LLVMValueRef pointer, LLVMValueRef base)
{
    if (pointer == base)
        return 0;
    if (!LLVMIsAGetElementPtrInst(pointer))
        return UNKNOWN;
    long long before = offset_in(r, LLVMGetOperand(pointer, 0), base);
    LLVMTypeRef type = LLVMGetGEPSourceElementType(pointer);
    unsigned n = (unsigned)LLVMGetNumOperands(pointer);
    LLVMValueRef first = LLVMGetOperand(pointer, 1),
                 second = n == 3 ? LLVMGetOperand(pointer, 2) : NULL;
    if (before < 0 || n > 3 || !LLVMIsAConstantInt(first) ||
        (second && !LLVMIsAConstantInt(second)))
        return UNKNOWN;
    long long at =
        before + LLVMConstIntGetSExtValue(first) * (long long)LLVMABISizeOfType(r->u->layout, type);
    if (second && LLVMGetTypeKind(type) != LLVMStructTypeKind)
        return UNKNOWN;
    return second ? at + (long long)LLVMOffsetOfElement(r->u->layout, type,
                                                        (unsigned)LLVMConstIntGetZExtValue(second))
                  : at;
}

enum { POINTER_BYTES = 8 };

/* A load from the context at `here` finds another member than the one at `at`, or only the main
 * thread uses what it points to. */
static bool load_does_not_use(const struct spmd_region *r, LLVMValueRef load, long long here,
                              long long at)
{
    LLVMTypeRef type = LLVMTypeOf(load);
    if (here < 0)
        return false;
    if (here + (long long)LLVMABISizeOfType(r->u->layout, type) <= at || at + POINTER_BYTES <= here)
        return true;
    return here == at && LLVMGetTypeKind(type) == LLVMPointerTypeKind &&
           !ir_pointer_escapes(load) && !used_by_others(load);
}

/* The region's function, whose context is `base`. */
static bool region_does_not_use(const struct spmd_region *r, LLVMValueRef pointer,
                                LLVMValueRef base, long long at)
{
    IR_EACH_USE(use, pointer) {
        LLVMValueRef user = LLVMGetUser(use);
        bool fits = LLVMIsAGetElementPtrInst(user)
                        ? region_does_not_use(r, user, base, at)
                        : LLVMIsALoadInst(user) &&
                              load_does_not_use(r, user, offset_in(r, pointer, base), at);
        if (!fits)
            return false;
    }
    return true;
}

/* All regions that get the context into which the address is stored. */
static bool regions_do_not_use(const struct spmd_region *r, LLVMValueRef store)
{
    LLVMValueRef context = spmd_base(LLVMGetOperand(store, 1));
    long long at =
        LLVMIsAAllocaInst(context) ? offset_in(r, LLVMGetOperand(store, 1), context) : UNKNOWN;
    if (at < 0)
        return false;
    IR_EACH_USE(use, context) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsACallInst(user) || !spmd_is_parallel(user))
            continue;
        LLVMValueRef fn = LLVMGetOperand(user, 0);
        if (!LLVMIsAFunction(fn) || LLVMIsDeclaration(fn) || LLVMCountParams(fn) != 1 ||
            !region_does_not_use(r, LLVMGetParam(fn, 0), LLVMGetParam(fn, 0), at))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------ in sequential code */
/* One that only the main thread makes, and that keeps no pointer. */
static bool is_guarded_call(const struct spmd_region *r, LLVMValueRef call, LLVMValueRef pointer)
{
    static const char *const names[] = { "llvm.lifetime", "llvm.memset", "llvm.memcpy",
                                         "llvm.memmove" };
    const char *intrinsic = ir_intrinsic(LLVMGetCalledValue(call));
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (text_starts(intrinsic, names[i]))
            return true;
    return !*intrinsic && spmd_effect(r, call).action == SPMD_GUARD &&
           !ir_call_keeps(call, pointer);
}

static bool is_main_local(const struct spmd_region *r, LLVMValueRef pointer)
{
    IR_EACH_USE(use, pointer) {
        LLVMValueRef user = LLVMGetUser(use);
        bool fits = LLVMIsALoadInst(user) ? true
                    : LLVMIsAStoreInst(user)
                        ? LLVMGetOperand(user, 0) != pointer || regions_do_not_use(r, user)
                    : LLVMIsAGetElementPtrInst(user)
                        ? is_main_local(r, user)
                        : LLVMIsACallInst(user) && is_guarded_call(r, user, pointer);
        if (!fits)
            return false;
    }
    return true;
}

bool spmd_is_main_local(const struct spmd_region *r, const struct spmd_object *o)
{
    return o->storage == SPMD_SHARED ? !o->leaked && is_main_local(r, o->alloca)
                                     : ir_is_print_buffer(o->alloca);
}
