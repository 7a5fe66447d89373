/* globalise.c - locals of sequential code that a parallel region can reach move to shared memory or
 * to the team heap.
 *
 * In a generic kernel the main thread runs the code around parallel regions; what it hands to a
 * region by address must be visible to the other threads, which its own stack is not (on the GPU it
 * never is).  A local matters when
 *   - its function can run as sequential code of a generic kernel: it is reached from such a kernel
 *     without passing through a function that only __ompgpu_parallel calls (inside of those, nested
 *     regions run on the same thread),
 *   - its function can reach __ompgpu_parallel (otherwise the local is dead before the next region
 *     starts), and
 *   - its address escapes: anything but loads, stores to it and calls that provably do not keep it.
 *
 * Where it goes:
 *   a function that is never active       a variable in shared memory, as long as there is room;
 *   twice in one team                     then a fixed place in the team heap (devicertl/storage.c)
 *   a recursive one, run-time sizes       a block of the team heap, given back before each return,
 *   (VLAs, alloca)                        and by llvm.stackrestore
 *
 * A function that also runs inside of parallel regions asks at its start for the level: there its
 * locals stay on the thread's stack. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/passes/frame.h"
#include "codegen/ir/passes/passes.h"
#include <stdlib.h>

struct globaliser {
    struct ir_unit *u;
    struct ir_graph *graph;
    bool *sequential, *inside; /* by node, as of ir_find_contexts */
    LLVMBuilderRef b;
    unsigned shared_budget; /* bytes of shared memory left for other than region functions */
    uint64_t fixed;         /* end of the fixed places that such functions have */
    bool *uses_fixed, *uses_blocks; /* by node */
};

/* ------------------------------------------------------------------ which functions */
/* The generic kernel whose region function `f` is: called once, by the kernel, which calls it once
 * a team. */
static struct ir_kernel *kernel_of_region(struct globaliser *g, LLVMValueRef f)
{
    LLVMUseRef use = LLVMGetFirstUse(f);
    if (!use || LLVMGetNextUse(use))
        return NULL;
    LLVMValueRef call = LLVMGetUser(use);
    if (!LLVMIsACallInst(call) || LLVMGetCalledValue(call) != f)
        return NULL;
    LLVMValueRef caller = ir_function_of(call);
    for (unsigned i = 0; i < g->u->nkernels; i++)
        if (ir_kernel_function(g->u->module, &g->u->kernels[i]) == caller)
            return LLVMGetFirstUse(caller) ? NULL : &g->u->kernels[i];
    return NULL;
}

static bool mentions(const struct ir_node *node, unsigned other)
{
    for (unsigned i = 0; i < node->nedges; i++)
        if (node->edges[i] == other)
            return true;
    return false;
}

/* Can the function be called, in sequential code, while it is active? */
static bool is_recursive(const struct globaliser *g, unsigned f)
{
    int *from = mem_array(g->graph->n, sizeof *from);
    bool cycle = false;
    ir_graph_reach(g->graph, g->graph->nodes[f].value, from, ir_is_outlined);
    for (unsigned i = 0; i < g->graph->n && !cycle; i++) {
        const struct ir_node *node = &g->graph->nodes[i];
        if (from[i] >= 0 && (i == f || !ir_is_outlined(node)))
            cycle = mentions(node, f) || (node->indirect && g->graph->nodes[f].address_taken);
    }
    return cycle;
}

/* ------------------------------------------------------------------ all functions */
static void rewrite_region(struct globaliser *g, struct ir_kernel *k, LLVMValueRef f)
{
    unsigned budget = IR_SHARED_BYTES;
    struct ir_frame frame = { .u = g->u,
                              .b = g->b,
                              .kernel = k,
                              .function = f,
                              .once = true,
                              .budget = &budget,
                              .fixed = &k->heap_bytes };
    ir_move_locals(&frame);
    if (frame.mark)
        k->flags |= OMPGPU_KERNEL_HEAP;
}

/* Of a function that several may call. */
static struct ir_kernel *kernel_for_remarks(const struct ir_unit *u)
{
    for (unsigned i = 0; i < u->nkernels; i++)
        if (u->kernels[i].mode == IR_GENERIC && (u->kernels[i].flags & OMPGPU_KERNEL_WORKERS) &&
            u->kernels[i].input->report)
            return &u->kernels[i];
    return NULL;
}

static void rewrite_function(struct globaliser *g, unsigned node)
{
    struct ir_frame frame = { .u = g->u,
                              .b = g->b,
                              .kernel = kernel_for_remarks(g->u),
                              .function = g->graph->nodes[node].value,
                              .mixed = g->inside[node],
                              .once = !is_recursive(g, node),
                              .budget = &g->shared_budget,
                              .fixed = &g->fixed };
    ir_move_locals(&frame);
    g->uses_fixed[node] = frame.uses_fixed;
    g->uses_blocks[node] = frame.mark != NULL;
}

/* Functions that several kernels may call have one place in the team heap of each, after the places
 * of all region functions. */
static void rewrite_functions(struct globaliser *g)
{
    bool *is_region = mem_array(g->graph->n, sizeof *is_region);
    for (unsigned i = 0; i < g->graph->n; i++) {
        struct ir_kernel *k =
            g->sequential[i] ? kernel_of_region(g, g->graph->nodes[i].value) : NULL;
        is_region[i] = k != NULL;
        if (k)
            rewrite_region(g, k, g->graph->nodes[i].value);
    }
    for (unsigned i = 0; i < g->u->nkernels; i++)
        if (g->u->kernels[i].heap_bytes > g->fixed)
            g->fixed = g->u->kernels[i].heap_bytes;
    for (unsigned i = 0; i < g->graph->n; i++)
        if (g->sequential[i] && !is_region[i])
            rewrite_function(g, i);
}

static void note_needs(struct globaliser *g, struct ir_kernel *k)
{
    int *from = mem_array(g->graph->n, sizeof *from);
    ir_graph_reach(g->graph, ir_kernel_function(g->u->module, k), from, NULL);
    for (unsigned i = 0; i < g->graph->n; i++) {
        if (from[i] < 0)
            continue;
        if (g->uses_fixed[i])
            k->heap_bytes = g->fixed;
        if (g->uses_blocks[i])
            k->flags |= OMPGPU_KERNEL_HEAP;
    }
}

static bool any_generic(const struct ir_unit *u)
{
    for (unsigned i = 0; i < u->nkernels; i++)
        if (u->kernels[i].mode == IR_GENERIC)
            return true;
    return false;
}

/* Sequential functions from which no region starts need nothing: their locals are dead before the
 * next one does. */
static void find_functions(struct globaliser *g)
{
    bool *reaches_parallel = ir_graph_reaching_parallel(g->graph, g->u->module);
    ir_find_contexts(g->u, g->graph, g->sequential, g->inside);
    for (unsigned i = 0; i < g->graph->n; i++)
        g->sequential[i] &= reaches_parallel[i];
}

bool ir_globalise(struct ir_unit *u)
{
    LLVMValueRef parallel = LLVMGetNamedFunction(u->module, "__ompgpu_parallel");
    if (!parallel || !LLVMGetFirstUse(parallel) || !any_generic(u))
        return true;
    /* pointers that only pass through stack slots of parameters would all seem to escape */
    if (u->opt->level != '0')
        ir_run_passes(u->module, "function(sroa,early-cse)", NULL);
    struct globaliser g = { .u = u,
                            .b = LLVMCreateBuilderInContext(u->ctx),
                            .graph = ir_graph_build(u->module),
                            .shared_budget = IR_SHARED_BYTES };
    bool **sets[] = { &g.sequential, &g.inside, &g.uses_fixed, &g.uses_blocks };
    for (unsigned i = 0; i < 4; i++)
        *sets[i] = mem_array(g.graph->n, sizeof **sets[i]);
    find_functions(&g);
    rewrite_functions(&g);
    for (unsigned i = 0; i < u->nkernels; i++)
        note_needs(&g, &u->kernels[i]);
    LLVMDisposeBuilder(g.b);
    return true;
}
