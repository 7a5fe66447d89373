/* rooms.c - -fompgpu-check: room after locals that is nobody's, so that an access past the end of
 * one through a pointer is seen (hostrt/emu/guard.c).
 *
 *     int k[10];   ──▶   char k[40 + ROOM];
 *     sum(k, n);         object(k, 40, k + 40 + ROOM, "'k'");
 *     return;            sum(k, n);
 *                        forget(k, k + 40 + ROOM);
 *                        return;
 *
 * An index into a local itself is compared with its size (checks.c), so this is for those whose
 * address escapes, and for arrays of variable length.  These are forgotten where the stack goes
 * back to what it was.  Locals that lie in registers in the end have nothing around them: first
 * comes what is found of them (ir_find_exposed), then the accesses are checked, then they grow. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/passes/checks.h"
#include <string.h>

/* Not what we declare, but for private copies of arrays. */
static bool is_users(LLVMValueRef alloca)
{
    return !text_starts(ir_name(alloca), "__") ||
           LLVMGetTypeKind(LLVMGetAllocatedType(alloca)) == LLVMArrayTypeKind;
}

/* To a function, or it is kept. */
static bool is_handed_on(LLVMValueRef pointer)
{
    IR_EACH_USE(use, pointer) {
        LLVMValueRef user = LLVMGetUser(use);
        if ((LLVMIsACallInst(user) && !LLVMIsAIntrinsicInst(user)) ||
            (LLVMIsAGetElementPtrInst(user) && is_handed_on(user)))
            return true;
    }
    return ir_pointer_escapes(pointer);
}

void ir_find_exposed(LLVMValueRef f, ir_values *found)
{
    IR_EACH_INSTRUCTION_OF(i, f)
        if (LLVMIsAAllocaInst(i) && (!ir_is_static_alloca(i) || (is_users(i) && is_handed_on(i))))
            *VEC_PUSH(NULL, found) = i;
}

struct rooms {
    struct checks *c;
    LLVMValueRef stack;  /* where it is at the start; NULL: nothing of run-time size */
    ir_values at, sizes; /* what is forgotten before the function returns */
};

/* ------------------------------------------------------------------ room */
static LLVMValueRef with_room(const struct checks *c, LLVMValueRef alloca, uint64_t size)
{
    LLVMTypeRef bytes = LLVMArrayType2(LLVMInt8TypeInContext(c->u->ctx), size + OMPGPU_EMU_GUARD);
    char *name = mem_strdup(ir_name(alloca));
    LLVMPositionBuilderBefore(c->b, alloca);
    LLVMValueRef larger = LLVMBuildAlloca(c->b, bytes, "");
    LLVMSetAlignment(larger, LLVMGetAlignment(alloca));
    ir_drop_lifetime_marks(alloca); /* others may have its place at other times */
    LLVMReplaceAllUsesWith(alloca, larger);
    ir_erase(alloca);
    LLVMSetValueName2(larger, name, strlen(name));
    return larger;
}

static void room_for_static(struct rooms *r, LLVMValueRef alloca)
{
    const struct checks *c = r->c;
    LLVMValueRef size = l_i64(c->u, ir_known_size(c->u, alloca)),
                 larger = with_room(c, alloca, LLVMConstIntGetZExtValue(size)), after = larger;
    while (LLVMIsAAllocaInst(after))
        after = LLVMGetNextInstruction(after);
    ir_place_before(r->c, after);
    ir_note_object(c->u, c->b, larger, size, ir_quoted_name(ir_users_name(c->u, larger)));
    *VEC_PUSH(NULL, &r->at) = larger;
    *VEC_PUSH(NULL, &r->sizes) = size;
}

static LLVMValueRef stack_pointer(const struct checks *c)
{
    return l_call_intrinsic(c->u, c->b, "llvm.stacksave", l_ptr(c->u), NULL, 0);
}

static void room_for_dynamic(struct rooms *r, LLVMValueRef alloca)
{
    const struct checks *c = r->c;
    LLVMValueRef n = LLVMGetOperand(alloca, 0);
    uint64_t unit = LLVMABISizeOfType(c->u->layout, LLVMGetAllocatedType(alloca)),
             more = unit ? (OMPGPU_EMU_GUARD + unit - 1) / unit : 0;
    ir_place_before(r->c, alloca);
    LLVMSetOperand(alloca, 0, LLVMBuildAdd(c->b, n, LLVMConstInt(LLVMTypeOf(n), more, false), ""));
    LLVMValueRef size =
        LLVMBuildMul(c->b, LLVMBuildZExtOrBitCast(c->b, n, LLVMInt64TypeInContext(c->u->ctx), ""),
                     l_i64(c->u, unit), "");
    ir_drop_lifetime_marks(alloca);
    LLVMPositionBuilderBefore(c->b, LLVMGetNextInstruction(alloca));
    ir_note_object(c->u, c->b, alloca, size, "an array of variable length");
    if (r->stack)
        return;
    LLVMPositionBuilderBefore(
        c->b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(ir_function_of(alloca))));
    r->stack = stack_pointer(c);
}

/* ------------------------------------------------------------------ where they end */
static void forget(const struct checks *c, LLVMValueRef from, LLVMValueRef end)
{
    LLVMValueRef args[] = { from, end };
    l_call_runtime(c->u, c->b, "__ompgpu_emu_forget", args, 2);
}

static void forget_all(const struct rooms *r, LLVMValueRef ret)
{
    const struct checks *c = r->c;
    ir_place_before(r->c, ret);
    if (r->stack)
        forget(c, stack_pointer(c), r->stack);
    for (unsigned i = 0; i < r->at.n; i++) {
        LLVMValueRef all = l_i64(c->u, LLVMConstIntGetZExtValue(r->sizes.at[i]) + OMPGPU_EMU_GUARD);
        forget(c, r->at.at[i],
               LLVMBuildGEP2(c->b, LLVMInt8TypeInContext(c->u->ctx), r->at.at[i], &all, 1, ""));
    }
}

static bool is_restore(LLVMValueRef i)
{
    LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    return callee && LLVMIsAFunction(callee) &&
           text_starts(ir_intrinsic(callee), "llvm.stackrestore");
}

void ir_give_room(struct checks *c, LLVMValueRef f, const ir_values *found)
{
    struct rooms r = { .c = c };
    for (unsigned i = 0; i < found->n; i++)
        (ir_is_static_alloca(found->at[i]) ? room_for_static : room_for_dynamic)(&r, found->at[i]);
    IR_EACH_INSTRUCTION_OF(i, f) {
        if (LLVMIsAReturnInst(i) && found->n)
            forget_all(&r, i);
        if (!r.stack || !is_restore(i))
            continue;
        ir_place_before(c, i);
        forget(c, stack_pointer(c), LLVMGetOperand(i, 0));
    }
}
