/* ir_context.c - in which context the functions of a module run: as sequential code of a generic kernel, inside of parallel regions, or both.
 *
 * Sequential is what a generic kernel reaches without passing through a function that only __ompgpu_parallel calls.  Inside is what
 * such a function reaches, and all of an SPMD kernel. */
#include "codegen/ir_tool.h"
#include <stdlib.h>
#include <string.h>

static bool is_parallel(LLVMValueRef f) { return f && LLVMIsAFunction(f) && strcmp(ir_name(f), "__ompgpu_parallel") == 0; }

/* Called by sequential code that all threads run (ir_spmd.c), in place of __ompgpu_parallel. */
static bool is_called_by_all(LLVMValueRef call, LLVMValueRef f)
{
    LLVMValueRef caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    return LLVMGetCalledValue(call) == f && LLVMGetOperand(call, 0) != f &&
           LLVMGetStringAttributeAtIndex(caller, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, IR_ALL_THREADS, (unsigned)strlen(IR_ALL_THREADS));
}

bool ir_is_outlined(const struct ir_node *node)
{
    if (!LLVMIsAFunction(node->value) || !node->address_taken)
        return false;
    IR_EACH_USE(use, node->value) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsACallInst(user) && is_called_by_all(user, node->value))
            continue;
        if (!LLVMIsACallInst(user) || !is_parallel(LLVMGetCalledValue(user)) || LLVMGetOperand(user, 0) != node->value ||
            LLVMGetOperand(user, 1) == node->value)
            return false;
    }
    return true;
}

static void mark(const struct ir_graph *g, unsigned root, bool *set, bool (*leaf)(const struct ir_node *))
{
    int *from = ir_alloc(g->n, sizeof *from);
    ir_graph_reach(g, root, from, leaf);
    for (unsigned i = 0; i < g->n; i++) {
        const struct ir_node *node = &g->nodes[i];
        set[i] |= from[i] >= 0 && node->defined && LLVMIsAFunction(node->value) && !(leaf && (i == root || leaf(node)));
    }
    free(from);
}

void ir_find_contexts(const struct ir_unit *u, const struct ir_graph *g, bool *sequential, bool *inside)
{
    for (unsigned i = 0; i < u->nkernels; i++) {
        unsigned kernel = (unsigned)ir_graph_find(g, ir_kernel_function(u->module, &u->kernels[i]));
        if (u->kernels[i].mode == IR_GENERIC)
            mark(g, kernel, sequential, ir_is_outlined);
        else
            mark(g, kernel, inside, NULL);
    }
    for (unsigned i = 0; i < g->n; i++)
        if (ir_is_outlined(&g->nodes[i]))
            mark(g, i, inside, NULL);
}
