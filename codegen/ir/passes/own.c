/* own.c - what each thread keeps of itself becomes a local of the kernel.
 *
 * The runtime's functions share a thread's nesting level, the size of its region
 * (devicertl/state.c) and what it has taken of its slice (storage.c), so these live in shared
 * memory, an element for each thread, which only that thread touches.  After optimisation all of it
 * is usually inlined into the kernel.  Then the element is a local:
 *
 *     store i16 n, @__ompgpu_state_size[tid]              %size = alloca i16; store i16 n, %size
 *     barrier; … load i16 @__ompgpu_state_size[tid]  =>   barrier; … load i16 %size                   (no barrier hides its value)
 *
 * and the passes that follow make a constant or a register of it.  A kernel that reaches another
 * function which touches the variable keeps it. */
#include "codegen/ir/tool.h"
#include <string.h>

static const char *const own_state[] = { "__ompgpu_state_nest", "__ompgpu_state_size",
                                         "__ompgpu_state_copies_used" };

/* All that the kernel does with `address`, itself and through what it reaches, is to load and store
 * elements in its own function. */
static bool is_own(LLVMValueRef address, const struct ir_graph *g, const int *from,
                   LLVMValueRef kernel, LLVMTypeRef element)
{
    IR_EACH_USE(use, address) {
        LLVMValueRef user = LLVMGetUser(use);
        if (ir_is_address_of_same(user)) {
            if (!is_own(user, g, from, kernel, element))
                return false;
            continue;
        }
        if (!LLVMIsAInstruction(user))
            return false;
        LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
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
        } else if (LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)) == kernel) {
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
    if (!is_own(variable, g, from, kernel, element))
        return false;
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(kernel)));
    LLVMValueRef local =
        LLVMBuildAlloca(b, element, ir_name(variable) + sizeof "__ompgpu_state_" - 1);
    LLVMDisposeBuilder(b);
    unsigned n = redirect(variable, kernel, local);
    if (!n)
        LLVMInstructionEraseFromParent(local);
    return n > 0;
}

/* Each set of kernels has its own (passes/specialise.c), with a number behind the name. */
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
        ir_graph_reach(g, (unsigned)ir_graph_find(g, kernel), from, NULL);
        IR_EACH_GLOBAL(variable, u->module)
            if (is_own_state(ir_name(variable)))
                changed |= make_local(u, variable, g, from, kernel);
    }
    return changed;
}
