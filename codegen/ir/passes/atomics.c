/* atomics.c - atomics and fences of device code as the NVPTX backend needs them.
 *
 * Two corrections, before optimisation:
 *   scope   clang writes the system scope everywhere.  A target region synchronises with the
 *           threads of its own device only, and for team-shared storage with those of its team; the
 *           narrower fences cost a fraction.
 *   order   the backend selects every read-modify-write as relaxed, whatever its order says.  The
 *           order becomes fences around it.
 *
 * And one after it, when inlining has shown what the addresses are:
 *   locals  a variable that only its thread can see needs no atomic, and PTX has none for it. */
#include "codegen/ir/passes/passes.h"

enum { SYSTEM_SCOPE = 1 }; /* LLVM's fixed id of the unnamed scope */

struct scopes {
    unsigned device, block;
};

static unsigned scope_for(const struct scopes *s, LLVMValueRef address)
{
    return LLVMGetPointerAddressSpace(LLVMTypeOf(address)) == 3 ? s->block : s->device;
}

static LLVMValueRef address_of(LLVMValueRef i)
{
    return LLVMGetOperand(i, LLVMIsAStoreInst(i) ? 1 : 0);
}

static bool releases(LLVMAtomicOrdering o)
{
    return o == LLVMAtomicOrderingRelease || o == LLVMAtomicOrderingAcquireRelease ||
           o == LLVMAtomicOrderingSequentiallyConsistent;
}

static bool acquires(LLVMAtomicOrdering o)
{
    return o == LLVMAtomicOrderingAcquire || o == LLVMAtomicOrderingAcquireRelease ||
           o == LLVMAtomicOrderingSequentiallyConsistent;
}

static void order_by_fences(LLVMBuilderRef b, LLVMValueRef rmw, unsigned scope)
{
    LLVMAtomicOrdering order = LLVMGetOrdering(rmw);
    if (order == LLVMAtomicOrderingMonotonic)
        return;
    bool strongest = order == LLVMAtomicOrderingSequentiallyConsistent;
    LLVMPositionBuilderBefore(b, rmw);
    if (releases(order))
        LLVMBuildFenceSyncScope(b, strongest ? order : LLVMAtomicOrderingRelease, scope, "");
    LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(rmw));
    if (acquires(order))
        LLVMBuildFenceSyncScope(b, LLVMAtomicOrderingAcquire, scope, "");
    LLVMSetOrdering(rmw, LLVMAtomicOrderingMonotonic);
}

static void correct(LLVMBuilderRef b, const struct scopes *s, LLVMValueRef i)
{
    if (!LLVMIsAtomic(i) || LLVMGetAtomicSyncScopeID(i) != SYSTEM_SCOPE)
        return;
    unsigned scope = LLVMIsAFenceInst(i) ? s->device : scope_for(s, address_of(i));
    LLVMSetAtomicSyncScopeID(i, scope);
    if (LLVMIsAAtomicRMWInst(i))
        order_by_fences(b, i, scope);
}

bool ir_correct_atomics(struct ir_unit *u)
{
    if (u->opt->target != IR_NVPTX)
        return true;
    struct scopes s = { LLVMGetSyncScopeID(u->ctx, "device", 6),
                        LLVMGetSyncScopeID(u->ctx, "block", 5) };
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    IR_EACH_FUNCTION(f, u->module)
        IR_EACH_INSTRUCTION_OF(i, f)
            correct(b, &s, i);
    LLVMDisposeBuilder(b);
    return true;
}

/* ------------------------------------------------------------------ locals */
static bool is_local(LLVMValueRef address)
{
    while (LLVMIsAGetElementPtrInst(address) || LLVMIsABitCastInst(address) ||
           LLVMIsAAddrSpaceCastInst(address))
        address = LLVMGetOperand(address, 0);
    return LLVMIsAAllocaInst(address);
}

static void make_plain_exchange(LLVMBuilderRef b, LLVMValueRef exchange)
{
    LLVMValueRef address = LLVMGetOperand(exchange, 0), expected = LLVMGetOperand(exchange, 1),
                 desired = LLVMGetOperand(exchange, 2);
    LLVMPositionBuilderBefore(b, exchange);
    LLVMValueRef old = LLVMBuildLoad2(b, LLVMTypeOf(expected), address, "");
    LLVMValueRef equal = LLVMBuildICmp(b, LLVMIntEQ, old, expected, "");
    LLVMBuildStore(b, LLVMBuildSelect(b, equal, desired, old, ""), address);
    LLVMValueRef pair = LLVMBuildInsertValue(b, LLVMGetPoison(LLVMTypeOf(exchange)), old, 0, "");
    LLVMReplaceAllUsesWith(exchange, LLVMBuildInsertValue(b, pair, equal, 1, ""));
    ir_erase(exchange);
}

/* Read-modify-writes are left to the backend, which does this for them. */
static void make_plain(LLVMBuilderRef b, LLVMValueRef i)
{
    if (!LLVMIsAtomic(i) || LLVMIsAFenceInst(i) || !is_local(address_of(i)))
        return;
    if (LLVMIsAAtomicCmpXchgInst(i)) {
        make_plain_exchange(b, i);
    } else if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) {
        LLVMSetAtomicSyncScopeID(i, SYSTEM_SCOPE);
        LLVMSetOrdering(i, LLVMAtomicOrderingNotAtomic);
    }
}

void ir_plain_locals(struct ir_unit *u)
{
    if (u->opt->target != IR_NVPTX)
        return;
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    IR_EACH_FUNCTION(f, u->module)
        IR_EACH_INSTRUCTION_OF(i, f)
            make_plain(b, i);
    LLVMDisposeBuilder(b);
}
