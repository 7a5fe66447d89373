/* ir_own.c - what each thread keeps of itself becomes a local of the kernel.
 *
 * The runtime's functions share a thread's nesting level, the size of its region (devicertl/state.c) and what it has taken of its slice
 * (storage.c), so these live in shared memory, an element for each thread, which only that thread touches.  After optimisation all of it is usually inlined into the kernel.  Then the
 * element is a local:
 *
 *     store i16 n, @__ompgpu_state_size[tid]              %size = alloca i16; store i16 n, %size
 *     barrier; … load i16 @__ompgpu_state_size[tid]  =>   barrier; … load i16 %size                   (no barrier hides its value)
 *
 * and the passes that follow make a constant or a register of it.  A kernel that reaches another function which touches the
 * variable keeps it. */
#include "codegen/ir_tool.h"
#include <stdlib.h>
#include <string.h>

static const char *const own_state[] = { "__ompgpu_state_nest", "__ompgpu_state_size", "__ompgpu_state_copies_used" };

struct accesses { LLVMValueRef *at; unsigned n, room; };

static void add_access(struct accesses *l, LLVMValueRef access)
{
    if (l->n == l->room) {
        l->room = l->room ? 2 * l->room : 8;
        l->at = realloc(l->at, l->room * sizeof *l->at);
        if (!l->at)
            ir_bug("out of memory");
    }
    l->at[l->n++] = access;
}

/* Collects the loads and stores of `address` in the kernel; false when it is used in another way, or elsewhere, by what the kernel reaches. */
static bool find_accesses(LLVMValueRef address, const struct ir_graph *g, const int *from, LLVMValueRef kernel, LLVMTypeRef element,
                          struct accesses *l)
{
    IR_EACH_USE(use, address) {
        LLVMValueRef user = LLVMGetUser(use);
        if (ir_is_address_of_same(user)) {
            if (!find_accesses(user, g, from, kernel, element, l))
                return false;
            continue;
        }
        if (!LLVMIsAInstruction(user))
            return false;
        LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
        if (from[ir_graph_find(g, f)] < 0)
            continue;
        bool is_load = LLVMIsALoadInst(user), is_store = LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != address;
        if (f != kernel || (!is_load && !is_store) || LLVMTypeOf(is_load ? user : LLVMGetOperand(user, 0)) != element)
            return false;
        add_access(l, user);
    }
    return true;
}

static bool make_local(struct ir_unit *u, LLVMValueRef variable, const struct ir_graph *g, const int *from, LLVMValueRef kernel)
{
    struct accesses l = { 0 };
    LLVMTypeRef element = LLVMGetElementType(LLVMGlobalGetValueType(variable));
    bool changed = find_accesses(variable, g, from, kernel, element, &l) && l.n;
    if (changed) {
        LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
        LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(kernel)));
        LLVMValueRef local = LLVMBuildAlloca(b, element, ir_name(variable) + sizeof "__ompgpu_state_" - 1);
        LLVMDisposeBuilder(b);
        for (unsigned i = 0; i < l.n; i++)
            LLVMSetOperand(l.at[i], LLVMIsALoadInst(l.at[i]) ? 0 : 1, local);
    }
    free(l.at);
    return changed;
}

/* Each set of kernels has its own (ir_specialise.c), with a number behind the name. */
static bool is_own_state(const char *name)
{
    for (unsigned i = 0; i < sizeof own_state / sizeof *own_state; i++) {
        size_t n = strlen(own_state[i]);
        if (ir_starts(name, own_state[i]) && (!name[n] || name[n] == '.'))
            return true;
    }
    return false;
}

bool ir_localise_state(struct ir_unit *u)
{
    struct ir_graph *g = ir_graph_build(u->module);
    int *from = ir_alloc(g->n, sizeof *from);
    bool changed = false;
    for (unsigned i = 0; i < u->nkernels; i++) {
        LLVMValueRef kernel = ir_kernel_function(u->module, &u->kernels[i]);
        ir_graph_reach(g, (unsigned)ir_graph_find(g, kernel), from, NULL);
        IR_EACH_GLOBAL(variable, u->module)
            if (is_own_state(ir_name(variable)))
                changed |= make_local(u, variable, g, from, kernel);
    }
    free(from);
    ir_graph_free(g);
    return changed;
}
