/* context.c - in which context the functions of a module run: as sequential code of a generic
 * kernel, inside of parallel regions, or both.
 *
 * A region met in sequential code is forked; one met inside of another is serialised, a plain call
 * of its function between two that count the level.  Only in a function that runs in both contexts
 * does the runtime have to look.  So the call graph of a program without recursion has no cycle,
 * and ptxas knows the stack that it needs; and without nested regions nobody counts levels.
 *
 * Sequential is what a generic kernel reaches without passing through a function that only
 * __ompgpu_parallel calls.  Inside is what such a function reaches, when a kernel reaches it, and
 * all of an SPMD kernel. */
#include "codegen/ir/tool.h"
#include <string.h>

static bool is_parallel(LLVMValueRef f)
{
    return f && LLVMIsAFunction(f) && strcmp(ir_name(f), "__ompgpu_parallel") == 0;
}

/* Called by sequential code that all threads run (spmd/spmd.c), in place of __ompgpu_parallel. */
static bool is_called_by_all(LLVMValueRef call, LLVMValueRef f)
{
    LLVMValueRef caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    return LLVMGetCalledValue(call) == f && LLVMGetOperand(call, 0) != f &&
           LLVMGetStringAttributeAtIndex(caller, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                         IR_ALL_THREADS, (unsigned)strlen(IR_ALL_THREADS));
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

static void mark(const struct ir_graph *g, unsigned root, bool *set,
                 bool (*leaf)(const struct ir_node *))
{
    int *from = mem_array(g->n, sizeof *from);
    ir_graph_reach(g, root, from, leaf);
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
        mark(g, kernel, reached, NULL);
        if (u->kernels[i].mode == IR_GENERIC)
            mark(g, kernel, sequential, ir_is_outlined);
        else
            mark(g, kernel, inside, NULL);
    }
    for (unsigned i = 0; i < g->n; i++)
        if (reached[i] && ir_is_outlined(&g->nodes[i]))
            mark(g, i, inside, NULL);
}

/* ------------------------------------------------------------------ regions */
static LLVMValueRef runtime(const struct ir_unit *u, const char *name, LLVMTypeRef type)
{
    LLVMValueRef f = LLVMGetNamedFunction(u->module, name);
    return f ? f : LLVMAddFunction(u->module, name, type);
}

/* nest_enter(); fn(ctx); nest_leave(); */
static void serialise(struct ir_unit *u, LLVMBuilderRef b, LLVMValueRef call)
{
    LLVMTypeRef none = LLVMVoidTypeInContext(u->ctx), ptr = LLVMPointerTypeInContext(u->ctx, 0);
    LLVMTypeRef plain = LLVMFunctionType(none, NULL, 0, false),
                region = LLVMFunctionType(none, &ptr, 1, false);
    LLVMValueRef ctx = LLVMGetOperand(call, 1);
    LLVMPositionBuilderBefore(b, call); /* takes the debug location over */
    LLVMBuildCall2(b, plain, runtime(u, "__ompgpu_nest_enter", plain), NULL, 0, "");
    LLVMBuildCall2(b, region, LLVMGetOperand(call, 0), &ctx, 1, "");
    LLVMBuildCall2(b, plain, runtime(u, "__ompgpu_nest_leave", plain), NULL, 0, "");
    LLVMInstructionEraseFromParent(call);
}

static void sort_region(struct ir_unit *u, LLVMBuilderRef b, LLVMValueRef call, bool sequential,
                        bool inside)
{
    LLVMValueRef parallel = LLVMGetCalledValue(call);
    u->nested |= inside;
    if (!sequential && !inside)
        /* no kernel reaches it: its region is nobody's */
        LLVMInstructionEraseFromParent(call);
    else if (sequential && !inside)
        LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1,
                       runtime(u, "__ompgpu_fork", LLVMGlobalGetValueType(parallel)));
    else if (inside && !sequential && !u->asks)
        serialise(u, b, call);
}

bool ir_sort_regions(struct ir_unit *u)
{
    LLVMValueRef parallel = LLVMGetNamedFunction(u->module, "__ompgpu_parallel");
    if (!parallel)
        return true;
    struct ir_graph *g = ir_graph_build(u->module);
    bool *sequential = mem_array(g->n, sizeof *sequential),
         *inside = mem_array(g->n, sizeof *inside);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    ir_find_contexts(u, g, sequential, inside);
    IR_EACH_USE(use, parallel) {
        LLVMValueRef call = LLVMGetUser(use);
        if (!LLVMIsACallInst(call) || LLVMGetCalledValue(call) != parallel)
            diag_bug("__ompgpu_parallel is used for other than a call");
        int f = ir_graph_find(g, LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)));
        sort_region(u, b, call, sequential[f], inside[f]);
    }
    LLVMDisposeBuilder(b);
    return true;
}
