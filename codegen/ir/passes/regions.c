/* regions.c - calls of __ompgpu_parallel become calls of what they do where that is known
 * (analysis/context.c): a fork in sequential code, a plain call of the region inside of another. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"
#include <stdlib.h>

/* nest_enter(); fn(ctx); nest_leave(); */
static void serialise(struct ir_unit *u, LLVMBuilderRef b, LLVMValueRef call)
{
    LLVMTypeRef ptr = l_ptr(u), region = LLVMFunctionType(l_void(u), &ptr, 1, false);
    LLVMValueRef ctx = LLVMGetOperand(call, 1);
    LLVMPositionBuilderBefore(b, call); /* takes the debug location over */
    l_call_runtime(u, b, "__ompgpu_nest_enter", NULL, 0);
    LLVMBuildCall2(b, region, LLVMGetOperand(call, 0), &ctx, 1, "");
    l_call_runtime(u, b, "__ompgpu_nest_leave", NULL, 0);
    ir_erase(call);
}

static void sort_region(struct ir_unit *u, LLVMBuilderRef b, LLVMValueRef call, bool sequential,
                        bool inside)
{
    u->nested |= inside;
    if (!sequential && !inside)
        /* no kernel reaches it: its region is nobody's */
        ir_erase(call);
    else if (sequential && !inside)
        LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, l_runtime(u, "__ompgpu_fork"));
    else if (inside && !sequential && !u->queries)
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
        int f = ir_graph_find(g, ir_function_of(call));
        sort_region(u, b, call, sequential[f], inside[f]);
    }
    LLVMDisposeBuilder(b);
    return true;
}
