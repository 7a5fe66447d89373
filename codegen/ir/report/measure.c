/* measure.c - barriers, shared memory and flags of each kernel, from the final IR. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/report/report.h"
#include <stdlib.h>
#include <string.h>

static bool has_prefix(const char *name, const char *const *prefixes, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (text_starts(name, prefixes[i]))
            return true;
    return false;
}

/* A barrier of the team, by the names it has on both targets. */
static bool is_barrier(const char *name)
{
    static const char *const names[] = { "llvm.nvvm.barrier", "__ompgpu_gathered_barrier",
                                         "__ompgpu_arch_barrier_diverged", "__ompgpu_emu_barrier" };
    return has_prefix(name, names, sizeof names / sizeof *names);
}

/* Anything that makes threads of a team wait for each other: the emulated device then needs a fiber
 * per thread. */
static bool is_sync(const char *name)
{
    static const char *const names[] = {
        "llvm.nvvm.barrier",       "llvm.nvvm.bar.",      "llvm.nvvm.shfl",
        "llvm.nvvm.vote",          "llvm.nvvm.match",     "llvm.nvvm.redux",
        "llvm.nvvm.activemask",    "llvm.nvvm.nanosleep", "__ompgpu_emu_barrier",
        "__ompgpu_emu_shuffle",    "__ompgpu_emu_ballot", "__ompgpu_emu_syncwarp",
        "__ompgpu_emu_activemask", "__ompgpu_emu_yield",  "__ompgpu_emu_redux",
        "__ompgpu_emu_meet",       "__ompgpu_emu_part",
    };
    return has_prefix(name, names, sizeof names / sizeof *names);
}

/* The functions __ompgpu_emu_* call through the plugin's table, which is not the kernel's doing. */
static bool is_emu_call(const struct ir_node *node)
{
    return text_starts(ir_name(node->value), "__ompgpu_emu_");
}

static uint64_t frame_bytes(const struct ir_unit *u, LLVMValueRef alloca)
{
    LLVMValueRef count = LLVMGetOperand(alloca, 0);
    return LLVMIsAConstantInt(count) ? LLVMABISizeOfType(u->layout, LLVMGetAllocatedType(alloca)) *
                                           LLVMConstIntGetZExtValue(count)
                                     : 0;
}

static void measure_local(const struct ir_unit *u, struct ir_kernel *k, LLVMValueRef alloca)
{
    uint64_t bytes = frame_bytes(u, alloca);
    k->frame_bytes += bytes;
    if (bytes <= k->largest_bytes)
        return;
    const char *name = ir_name(alloca), *end = strchr(name, '.');
    k->largest_bytes = bytes;
    k->largest = *name && !text_starts(name, "__")
                     ? mem_strndup(name, end ? (size_t)(end - name) : strlen(name))
                     : NULL;
}

/* Locals of node i and, at most, of what it calls; what is recursive counts once. */
static uint64_t deepest_frame(const struct ir_unit *u, const struct ir_graph *g, unsigned i,
                              bool *seen, uint64_t *bytes)
{
    const struct ir_node *node = &g->nodes[i];
    uint64_t below = 0;
    if (seen[i] || !node->defined || !LLVMIsAFunction(node->value))
        return bytes[i];
    seen[i] = true;
    for (unsigned e = 0; e < node->nedges; e++) {
        uint64_t callee = deepest_frame(u, g, node->edges[e], seen, bytes);
        below = callee > below ? callee : below;
    }
    bytes[i] = below;
    IR_EACH_INSTRUCTION_OF(inst, node->value)
        if (LLVMIsAAllocaInst(inst))
            bytes[i] += frame_bytes(u, inst);
    return bytes[i];
}

static void measure_function(const struct ir_unit *u, struct ir_kernel *k, LLVMValueRef f)
{
    IR_EACH_INSTRUCTION_OF(i, f) {
        if (LLVMIsAAllocaInst(i))
            measure_local(u, k, i);
        LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
        if (!callee || LLVMIsAInlineAsm(callee))
            continue;
        if (!LLVMIsAFunction(callee))
            k->indirect_calls += !ir_is_plugin_call(callee);
        else
            k->barriers += is_barrier(ir_name(callee));
    }
}

static void measure_node(const struct ir_unit *u, struct ir_kernel *k, const struct ir_node *node)
{
    if (LLVMIsAGlobalVariable(node->value)) {
        if (strcmp(ir_name(node->value), OMPGPU_TEAM_ICVS) == 0)
            k->uses |= OMPGPU_USES_TEAM_ICVS;
        if (text_starts(ir_name(node->value), OMPGPU_TEAM_MEMORY))
            k->uses |= OMPGPU_USES_TEAM_MEMORY;
        if (ir_is_team_shared(u, node->value))
            k->shared_bytes += LLVMABISizeOfType(u->layout, LLVMGlobalGetValueType(node->value));
        return;
    }
    if (is_sync(ir_name(node->value)))
        k->flags |= OMPGPU_KERNEL_SYNC;
    if (strcmp(ir_name(node->value), "malloc") == 0)
        k->flags |= OMPGPU_KERNEL_MALLOC;
    if (u->opt->target == IR_NVPTX && !node->defined &&
        strcmp(ir_name(node->value), "vprintf") == 0)
        k->uses |= OMPGPU_USES_PRINTS;
    if (node->defined && !is_emu_call(node) && !is_barrier(ir_name(node->value)))
        measure_function(u, k, node->value);
}

/* By node: whatever it reaches, nothing reaches itself. */
static bool *find_acyclic(const struct ir_graph *g)
{
    bool *acyclic = mem_array(g->n, sizeof *acyclic);
    for (bool changed = true; changed;) {
        changed = false;
        for (unsigned i = 0; i < g->n; i++) {
            bool all = !acyclic[i];
            for (unsigned e = 0; all && e < g->nodes[i].nedges; e++)
                all = acyclic[g->nodes[i].edges[e]];
            if (acyclic[i] || !(all || is_emu_call(&g->nodes[i])))
                continue;
            changed = acyclic[i] = true;
        }
    }
    return acyclic;
}

static void measure_kernel(const struct ir_unit *u, struct ir_kernel *k, const struct ir_graph *g,
                           int *from, const bool *acyclic)
{
    unsigned root = (unsigned)ir_graph_find(g, ir_kernel_function(u->module, k));
    ir_graph_reach(g, g->nodes[root].value, from, is_emu_call);
    for (unsigned i = 0; i < g->n; i++)
        if (from[i] >= 0)
            measure_node(u, k, &g->nodes[i]);
    k->deepest_bytes =
        deepest_frame(u, g, root, mem_array(g->n, sizeof(bool)), mem_array(g->n, sizeof(uint64_t)));
    if (k->indirect_calls || !acyclic[root])
        k->flags |= OMPGPU_KERNEL_RECURSIVE;
    if (k->indirect_calls || (k->mode == IR_GENERIC && (k->flags & OMPGPU_KERNEL_WORKERS)))
        k->flags |= OMPGPU_KERNEL_SYNC; /* what an indirect call does is not known */
}

/* A thread of a GPU has 512 KB at most, and memory for all threads that can run at a time is
 * reserved at once: 64 KB each are 10 GB on a large one. */
static void check_stack(const struct ir_unit *u, const struct ir_kernel *k)
{
    enum { MUCH = 64 << 10, MOST = 512 << 10 };
    if (k->deepest_bytes <= MUCH || u->opt->quiet || (k->flags & OMPGPU_KERNEL_FORM))
        return;
    const char *largest = k->largest ? mem_printf("'%s' ", k->largest) : "the largest ";
    ir_say_at(k->at, k->deepest_bytes > MOST ? DIAG_ERROR : DIAG_WARNING,
              "region '%s': each thread needs %llu bytes of stack for its locals, %s%llu of them%s",
              k->name, (unsigned long long)k->deepest_bytes, largest,
              (unsigned long long)k->largest_bytes,
              k->deepest_bytes > MOST ? "; a thread of a GPU has at most 512 KB"
                                      : "; a GPU reserves that for every thread it can run");
}

bool ir_measure(struct ir_unit *u)
{
    struct ir_graph *g = ir_graph_build(u->module);
    int *from = mem_array(g->n, sizeof *from);
    bool *acyclic = find_acyclic(g);
    for (unsigned i = 0; i < u->nkernels; i++)
        measure_kernel(u, &u->kernels[i], g, from, acyclic);
    for (unsigned i = 0; i < u->nkernels; i++)
        check_stack(u, &u->kernels[i]);
    return diag_errors() == 0;
}
