/* state.c - the runtime's state (devicertl/state.c), after optimisation, when everything of a
 * kernel is usually inlined into it.
 *
 * What each thread keeps of itself becomes a local of the kernel.  The runtime's functions share a
 * thread's nesting level, the size of its region and what it has taken of its slice (storage.c), so
 * these live in shared memory, an element for each thread, which only that thread touches:
 *
 *     store i16 n, @__ompgpu_state_size[tid]              %size = alloca i16; store i16 n, %size
 *     barrier; … load i16 @__ompgpu_state_size[tid]  =>   barrier; … load i16 %size
 *
 * and the passes that follow make a constant or a register of it, which no barrier hides.  A kernel
 * that reaches another function which touches the variable keeps it.
 *
 * Stores to the team's state that no code of a kernel reads go.  In a module with kernels of both
 * modes the runtime cannot know at compile time which state a kernel needs, so an SPMD kernel
 * starts with stores that only generic ones read. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/passes/passes.h"
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ threads */
static const char *const own_state[] = { "__ompgpu_state_nest", "__ompgpu_state_size",
                                         "__ompgpu_state_copies_used" };

/* All that the kernel does with `address`, itself and through what it reaches, is to load and store
 * elements in its own function. */
static bool only_loads_and_stores(LLVMValueRef address, const struct ir_graph *g, const int *from,
                                  LLVMValueRef kernel, LLVMTypeRef element)
{
    IR_EACH_USE(use, address) {
        LLVMValueRef user = LLVMGetUser(use);
        if (ir_is_address_of_same(user)) {
            if (!only_loads_and_stores(user, g, from, kernel, element))
                return false;
            continue;
        }
        if (!LLVMIsAInstruction(user))
            return false;
        LLVMValueRef f = ir_function_of(user);
        if (from[ir_graph_find(g, f)] < 0)
            continue;
        bool is_load = LLVMIsALoadInst(user),
             is_store = LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != address;
        if (f != kernel || (!is_load && !is_store) ||
            LLVMTypeOf(is_load ? user : LLVMGetOperand(user, 0)) != element)
            return false;
    }
    return true;
}

/* The kernel's loads and stores of `address` are those of `local`; returns how many there are. */
static unsigned redirect(LLVMValueRef address, LLVMValueRef kernel, LLVMValueRef local)
{
    unsigned n = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(address), next; use; use = next) {
        LLVMValueRef user = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        if (ir_is_address_of_same(user)) {
            n += redirect(user, kernel, local);
        } else if (ir_function_of(user) == kernel) {
            LLVMSetOperand(user, LLVMIsALoadInst(user) ? 0 : 1, local);
            n++;
        }
    }
    return n;
}

static bool make_local(struct ir_unit *u, LLVMValueRef variable, const struct ir_graph *g,
                       const int *from, LLVMValueRef kernel)
{
    LLVMTypeRef element = LLVMGetElementType(LLVMGlobalGetValueType(variable));
    if (!only_loads_and_stores(variable, g, from, kernel, element))
        return false;
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(kernel)));
    LLVMValueRef local =
        LLVMBuildAlloca(b, element, ir_name(variable) + sizeof "__ompgpu_state_" - 1);
    LLVMDisposeBuilder(b);
    unsigned n = redirect(variable, kernel, local);
    if (!n)
        ir_erase(local);
    return n > 0;
}

/* Each set of kernels has its own (sets.c), with a number after the name. */
static bool is_own_state(const char *name)
{
    for (unsigned i = 0; i < sizeof own_state / sizeof *own_state; i++) {
        size_t n = strlen(own_state[i]);
        if (text_starts(name, own_state[i]) && (!name[n] || name[n] == '.'))
            return true;
    }
    return false;
}

bool ir_localise_state(struct ir_unit *u)
{
    struct ir_graph *g = ir_graph_build(u->module);
    int *from = mem_array(g->n, sizeof *from);
    bool changed = false;
    for (unsigned i = 0; i < u->nkernels; i++) {
        LLVMValueRef kernel = ir_kernel_function(u->module, &u->kernels[i]);
        ir_graph_reach(g, kernel, from, NULL);
        IR_EACH_GLOBAL(variable, u->module)
            if (is_own_state(ir_name(variable)))
                changed |= make_local(u, variable, g, from, kernel);
    }
    return changed;
}

/* ------------------------------------------------------------------ teams */
/* True when `address` is only stored to, as far as the functions in `from` are concerned; the
 * stores in `kernel` are collected; NULL: all. */
static bool only_stored(LLVMValueRef address, const struct ir_graph *g, const int *from,
                        LLVMValueRef kernel, ir_values *stores)
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
        if (from[ir_graph_find(g, ir_function_of(user))] < 0)
            continue;
        if (!LLVMIsAStoreInst(user) || LLVMGetOperand(user, 0) == address || LLVMGetVolatile(user))
            return false;
        if (!kernel || ir_function_of(user) == kernel)
            *VEC_PUSH(NULL, stores) = user;
    }
    return true;
}

/* With what only computes its address, which nothing deletes at -O0 and which keeps the variable.
 */
static void erase_store(LLVMValueRef store)
{
    LLVMValueRef address = LLVMGetOperand(store, 1), next;
    ir_erase(store);
    for (; LLVMIsAGetElementPtrInst(address) && !LLVMGetFirstUse(address); address = next) {
        next = LLVMGetOperand(address, 0);
        ir_erase(address);
    }
}

static unsigned prune_variable(LLVMValueRef variable, const struct ir_graph *g, const int *from,
                               LLVMValueRef kernel)
{
    ir_values stores = { 0 };
    unsigned n = 0;
    if (only_stored(variable, g, from, kernel, &stores))
        for (; n < stores.n; n++)
            erase_store(stores.at[n]);
    return n;
}

bool ir_prune_state(struct ir_unit *u)
{
    struct ir_graph *g = ir_graph_build(u->module);
    int *from = mem_array(g->n, sizeof *from);
    unsigned pruned = 0;
    IR_EACH_GLOBAL(v,
                   u->module) /* … of no kernel; at -O0 the functions that store are not inlined */
        if (text_starts(ir_name(v), "__ompgpu_state_"))
            pruned += prune_variable(v, g, from, NULL);
    for (unsigned i = 0; i < u->nkernels; i++) {
        LLVMValueRef kernel = ir_kernel_function(u->module, &u->kernels[i]);
        ir_graph_reach(g, kernel, from, NULL);
        IR_EACH_GLOBAL(v, u->module)
            if (text_starts(ir_name(v), "__ompgpu_state_"))
                pruned += prune_variable(v, g, from, kernel);
    }
    return pruned > 0;
}
