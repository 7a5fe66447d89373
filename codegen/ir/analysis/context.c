/* context.c - in which context the functions of a module run: as sequential code of a generic
 * kernel, inside of parallel regions, or both.
 *
 * A region encountered in sequential code is forked; one inside of another is serialised, a plain
 * call of its function between two that count the level.  Only in a function that runs in both
 * contexts does the runtime have to look.  So the call graph of a program without recursion has no
 * cycle, and ptxas knows the stack that it needs; and without nested regions nobody counts levels.
 *
 * Sequential is what a generic kernel reaches without passing through a function that only
 * __ompgpu_parallel calls.  Inside is what such a function reaches, when a kernel reaches it, and
 * all of an SPMD kernel. */
#include "codegen/ir/analysis/analysis.h"
#include <stdlib.h>
#include <string.h>

static bool is_parallel(LLVMValueRef f)
{
    return f && LLVMIsAFunction(f) && strcmp(ir_name(f), "__ompgpu_parallel") == 0;
}

/* Called by sequential code that all threads run, in place of __ompgpu_parallel. */
static bool is_called_by_all(LLVMValueRef call, LLVMValueRef f)
{
    return LLVMGetCalledValue(call) == f && LLVMGetOperand(call, 0) != f &&
           ir_string_attribute(ir_function_of(call), IR_ALL_THREADS);
}

bool ir_is_outlined(const struct ir_node *node)
{
    if (!LLVMIsAFunction(node->value) || !node->address_taken)
        return false;
    IR_EACH_USE(use, node->value) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsACallInst(user) && is_called_by_all(user, node->value))
            continue;
        if (!LLVMIsACallInst(user) || !is_parallel(LLVMGetCalledValue(user)) ||
            LLVMGetOperand(user, 0) != node->value || LLVMGetOperand(user, 1) == node->value)
            return false;
    }
    return true;
}

static void mark_reached(const struct ir_graph *g, unsigned root, bool *set,
                         bool (*leaf)(const struct ir_node *))
{
    int *from = mem_array(g->n, sizeof *from);
    ir_graph_reach(g, g->nodes[root].value, from, leaf);
    for (unsigned i = 0; i < g->n; i++) {
        const struct ir_node *node = &g->nodes[i];
        set[i] |= from[i] >= 0 && node->defined && LLVMIsAFunction(node->value) &&
                  !(leaf && (i == root || leaf(node)));
    }
}

void ir_find_contexts(const struct ir_unit *u, const struct ir_graph *g, bool *sequential,
                      bool *inside)
{
    bool *reached = mem_array(g->n, sizeof *reached);
    for (unsigned i = 0; i < u->nkernels; i++) {
        unsigned kernel = (unsigned)ir_graph_find(g, ir_kernel_function(u->module, &u->kernels[i]));
        mark_reached(g, kernel, reached, NULL);
        if (u->kernels[i].mode == IR_GENERIC)
            mark_reached(g, kernel, sequential, ir_is_outlined);
        else
            mark_reached(g, kernel, inside, NULL);
    }
    for (unsigned i = 0; i < g->n; i++)
        if (reached[i] && ir_is_outlined(&g->nodes[i]))
            mark_reached(g, i, inside, NULL);
}
