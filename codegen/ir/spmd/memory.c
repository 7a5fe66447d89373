/* memory.c - which locals of a region function stay private when every thread runs it, and what
 * pointers point to.
 *
 * A local stays private (each thread has its own, and all do the same with it) when its address
 * goes nowhere: it is only loaded from, stored to, or read by calls.  The context structure of a
 * parallel region counts as private, too, because each thread that calls the region's function
 * builds its own.  What only the main thread touches is the main thread's (main_locals.c).
 * Everything else becomes a shared local, written by the main thread.  One whose address is only
 * ever stored into such contexts has a bit of its own; others share that of all unknown memory. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/passes/passes.h"
#include "codegen/ir/spmd/spmd.h"
#include <string.h>

static bool is_offset(LLVMValueRef v)
{
    if (LLVMIsAInstruction(v))
        return LLVMGetInstructionOpcode(v) == LLVMGetElementPtr ||
               LLVMGetInstructionOpcode(v) == LLVMBitCast;
    return LLVMIsAConstantExpr(v) && (LLVMGetConstOpcode(v) == LLVMGetElementPtr ||
                                      LLVMGetConstOpcode(v) == LLVMAddrSpaceCast);
}

LLVMValueRef spmd_base(LLVMValueRef pointer)
{
    while (is_offset(pointer))
        pointer = LLVMGetOperand(pointer, 0);
    return pointer;
}

/* ----------------------------------------------------------------- contexts of parallel regions */
/* A region's function reads its context and passes it to nobody.  *leaks: a pointer that it finds
 * there may be kept. */
static bool only_reads_context(LLVMValueRef pointer, bool *leaks)
{
    IR_EACH_USE(use, pointer) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsAInstruction(user))
            return false;
        switch (LLVMGetInstructionOpcode(user)) {
        case LLVMLoad:
            *leaks |= LLVMGetTypeKind(LLVMTypeOf(user)) == LLVMPointerTypeKind &&
                      ir_pointer_escapes(user);
            break;
        case LLVMGetElementPtr:
        case LLVMBitCast:
            if (!only_reads_context(user, leaks))
                return false;
            break;
        default: return false;
        }
    }
    return true;
}

static bool takes_context(LLVMValueRef call, LLVMValueRef pointer, bool *leaks)
{
    LLVMValueRef fn = LLVMGetOperand(call, 0);
    return fn != pointer && LLVMGetOperand(call, 1) == pointer && LLVMIsAFunction(fn) &&
           !LLVMIsDeclaration(fn) && LLVMCountParams(fn) == 1 &&
           only_reads_context(LLVMGetParam(fn, 0), leaks);
}

static bool only_fills_context(LLVMValueRef call, LLVMValueRef pointer)
{
    const char *intrinsic = ir_intrinsic(LLVMGetCalledValue(call));
    return text_starts(intrinsic, "llvm.lifetime") || text_starts(intrinsic, "llvm.memset") ||
           (text_starts(intrinsic, "llvm.mem") && LLVMGetOperand(call, 1) != pointer);
}

/* Written, and given to parallel regions; never read here. */
static bool is_context(LLVMValueRef pointer, bool *leaks)
{
    IR_EACH_USE(use, pointer) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsAInstruction(user))
            return false;
        switch (LLVMGetInstructionOpcode(user)) {
        case LLVMStore:
            if (LLVMGetOperand(user, 0) == pointer)
                return false;
            break;
        case LLVMGetElementPtr:
        case LLVMBitCast:
            if (!is_context(user, leaks))
                return false;
            break;
        case LLVMCall:
            if (spmd_is_parallel(user) ? !takes_context(user, pointer, leaks)
                                       : !only_fills_context(user, pointer))
                return false;
            break;
        default: return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------ objects */
/* A local array that is copied into a context would hide pointers; only single stores are followed.
 */
static void stored_address(struct spmd_object *o, LLVMValueRef store)
{
    LLVMValueRef into = spmd_base(LLVMGetOperand(store, 1));
    bool leaks = false;
    o->storage = SPMD_SHARED;
    o->leaked |= !LLVMIsAAllocaInst(into) || !is_context(into, &leaks) || leaks;
}

static void passed_address(const struct spmd_region *r, struct spmd_object *o, LLVMValueRef call,
                           LLVMValueRef pointer)
{
    bool leaks = false;
    if (spmd_call_only_reads(call) || spmd_call_is_amenable(r, call, pointer) ||
        (spmd_is_parallel(call) && pointer == spmd_base(pointer) && is_context(pointer, &leaks)))
        return;
    o->storage = SPMD_SHARED;
    o->leaked |= !spmd_call_keeps_nothing(call) && ir_call_keeps(call, pointer);
}

static void share_leaked(struct spmd_object *o)
{
    o->storage = SPMD_SHARED;
    o->leaked = true;
}

static void follow_pointer(const struct spmd_region *r, struct spmd_object *o, LLVMValueRef pointer)
{
    IR_EACH_USE(use, pointer) {
        LLVMValueRef user = LLVMGetUser(use);
        switch (LLVMIsAInstruction(user) ? LLVMGetInstructionOpcode(user) : (LLVMOpcode)0) {
        case LLVMLoad:
        case LLVMICmp: break;
        case LLVMStore:
            if (LLVMGetOperand(user, 0) == pointer)
                stored_address(o, user);
            break;
        case LLVMAtomicRMW:
        case LLVMAtomicCmpXchg:
            if (LLVMGetOperand(user, 0) != pointer)
                share_leaked(o);
            break;
        case LLVMGetElementPtr:
        case LLVMBitCast: follow_pointer(r, o, user); break;
        case LLVMCall: passed_address(r, o, user, pointer); break;
        default: share_leaked(o);
        }
    }
}

spmd_mask spmd_new_bit(struct spmd_region *r)
{
    if (r->nbits < SPMD_BITS)
        return (spmd_mask)1 << r->nbits++;
    /* the last one is shared by all that come late */
    return (spmd_mask)1 << (SPMD_BITS - 1);
}

static void add_object(struct spmd_region *r, LLVMValueRef alloca)
{
    struct spmd_object *o = &r->objects[r->nobjects++];
    *o = (struct spmd_object){ .alloca = alloca, .not_main = o->not_main };
    follow_pointer(r, o, alloca);
    if (!o->not_main && ir_is_static_alloca(alloca) && spmd_is_main_local(r, o))
        o->storage = SPMD_MAIN;
    if (o->storage != SPMD_SHARED)
        return;
    o->mask = o->leaked ? SPMD_OTHER : spmd_new_bit(r);
    if (!ir_is_static_alloca(alloca)) {
        spmd_refuse(r, alloca,
                    "an array of variable length that is shared with a parallel region or a call",
                    NULL, "give it a constant size, or allocate it outside of the region");
        return;
    }
    o->bytes = LLVMABISizeOfType(r->u->layout, LLVMGetAllocatedType(alloca)) *
               LLVMConstIntGetZExtValue(LLVMGetOperand(alloca, 0));
    o->in_heap = o->bytes > IR_SPMD_SHARED_BYTES - r->shared_bytes;
    r->shared_bytes += o->in_heap ? 0 : o->bytes;
}

void spmd_find_objects(struct spmd_region *r)
{
    unsigned n = 0;
    IR_EACH_INSTRUCTION_OF(i, r->function)
        n += LLVMIsAAllocaInst(i) != NULL;
    if (!r->objects)
        r->objects = mem_array(n + 1, sizeof *r->objects);
    r->nobjects = 0;
    r->nbits = 1;
    r->shared_bytes = 0;
    IR_EACH_INSTRUCTION_OF(i, r->function)
        if (LLVMIsAAllocaInst(i))
            add_object(r, i);
}

struct spmd_object *spmd_object_of(const struct spmd_region *r, LLVMValueRef pointer)
{
    LLVMValueRef base = spmd_base(pointer);
    for (unsigned i = 0; i < r->nobjects && LLVMIsAAllocaInst(base); i++)
        if (r->objects[i].alloca == base)
            return &r->objects[i];
    return NULL;
}

spmd_mask spmd_pointer_mask(const struct spmd_region *r, LLVMValueRef pointer)
{
    const struct spmd_object *o = spmd_object_of(r, pointer);
    return o ? o->mask : SPMD_OTHER;
}
