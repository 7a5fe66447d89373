/* prune.c - stores to the team's state that no code of a kernel reads.
 *
 * In a module with kernels of both modes the runtime cannot know at compile time which state
 * (devicertl/state.c) a kernel needs, so an SPMD kernel starts with stores that only generic ones
 * read.  After optimisation everything of an SPMD kernel is usually inlined into it; where nothing
 * that it reaches reads a variable `__ompgpu_state_*`, the kernel's own stores to it go. */
#include "codegen/ir/tool.h"

struct stores {
    LLVMValueRef *at;
    unsigned n, room;
};

static void push(struct stores *s, LLVMValueRef store)
{
    if (s->n == s->room)
        s->at = arena_grow(NULL, s->at, &s->room, sizeof *s->at);
    s->at[s->n++] = store;
}

static LLVMValueRef function_of(LLVMValueRef instruction)
{
    return LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
}

bool ir_is_address_of_same(LLVMValueRef user)
{
    if (LLVMIsAConstantExpr(user) || LLVMIsAGetElementPtrInst(user) ||
        LLVMIsAAddrSpaceCastInst(user) || LLVMIsABitCastInst(user))
        return true;
    LLVMValueRef callee = LLVMIsACallInst(user) ? LLVMGetCalledValue(user) : NULL;
    return callee && LLVMIsAFunction(callee) &&
           text_starts(ir_name(callee), "llvm.threadlocal.address");
}

/* True when `address` is only stored to, as far as the functions in `from` are concerned; the
 * stores in `kernel` are collected. */
static bool only_stored(LLVMValueRef address, const struct ir_graph *g, const int *from,
                        LLVMValueRef kernel, struct stores *stores)
{
    IR_EACH_USE(use, address) {
        LLVMValueRef user = LLVMGetUser(use);
        if (ir_is_address_of_same(user)) {
            if (!only_stored(user, g, from, kernel, stores))
                return false;
            continue;
        }
        if (!LLVMIsAInstruction(user))
            return false;
        if (from[ir_graph_find(g, function_of(user))] < 0)
            continue;
        if (!LLVMIsAStoreInst(user) || LLVMGetOperand(user, 0) == address || LLVMGetVolatile(user))
            return false;
        if (function_of(user) == kernel)
            push(stores, user);
    }
    return true;
}

static unsigned prune_variable(LLVMValueRef variable, const struct ir_graph *g, const int *from,
                               LLVMValueRef kernel)
{
    struct stores stores = { 0 };
    unsigned n = 0;
    if (only_stored(variable, g, from, kernel, &stores))
        for (; n < stores.n; n++)
            LLVMInstructionEraseFromParent(stores.at[n]);
    return n;
}

/* Returns whether anything was deleted. */
bool ir_prune_state(struct ir_unit *u)
{
    struct ir_graph *g = ir_graph_build(u->module);
    int *from = mem_array(g->n, sizeof *from);
    unsigned pruned = 0;
    for (unsigned i = 0; i < u->nkernels; i++) {
        LLVMValueRef kernel = ir_kernel_function(u->module, &u->kernels[i]);
        ir_graph_reach(g, (unsigned)ir_graph_find(g, kernel), from, NULL);
        IR_EACH_GLOBAL(v, u->module)
            if (text_starts(ir_name(v), "__ompgpu_state_"))
                pruned += prune_variable(v, g, from, kernel);
    }
    return pruned > 0;
}
