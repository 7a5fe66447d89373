/* graph.c - who mentions whom in a module; see analysis.h. */
#include "codegen/ir/analysis/analysis.h"
#include <stdlib.h>
#include <string.h>

static unsigned slot_of(const struct ir_graph *g, LLVMValueRef v)
{
    unsigned i = (unsigned)(((uintptr_t)v >> 4) * 2654435761u) & (g->room - 1);
    while (g->keys[i] && g->keys[i] != v)
        i = (i + 1) & (g->room - 1);
    return i;
}

int ir_graph_find(const struct ir_graph *g, LLVMValueRef v)
{
    unsigned slot = slot_of(g, v);
    return g->keys[slot] ? (int)g->index[slot] : -1;
}

static void add_node(struct ir_graph *g, LLVMValueRef v, bool defined)
{
    unsigned slot = slot_of(g, v);
    g->keys[slot] = v;
    g->index[slot] = g->n;
    g->nodes[g->n++] = (struct ir_node){ .value = v, .defined = defined };
}

static void add_edge(struct ir_node *from, unsigned to)
{
    for (unsigned i = 0; i < from->nedges; i++)
        if (from->edges[i] == to)
            return;
    from->edges = ir_grow(from->edges, from->nedges, sizeof *from->edges);
    from->edges[from->nedges++] = to;
}

/* Enters what the constant `v` mentions as mentioned by `node`; constants form no cycles except
 * through globals. */
static void mention(struct ir_graph *g, unsigned node, LLVMValueRef v, bool callee)
{
    if (!LLVMIsAConstant(v))
        return;
    int to = ir_graph_find(g, v);
    if (to >= 0) {
        add_edge(&g->nodes[node], (unsigned)to);
        if (!callee)
            g->nodes[to].address_taken = true;
        return;
    }
    if (LLVMIsABlockAddress(v))
        return;
    int n = LLVMGetNumOperands(v); /* constant expressions, aggregates and aliases */
    for (int i = 0; i < n; i++)
        mention(g, node, LLVMGetOperand(v, (unsigned)i), false);
}

static void scan_instruction(struct ir_graph *g, unsigned node, LLVMValueRef instruction)
{
    int n = LLVMGetNumOperands(instruction), callee = -1;
    if (LLVMIsACallInst(instruction)) {
        callee = n - 1;
        LLVMValueRef called = LLVMGetCalledValue(instruction);
        if (!LLVMIsAFunction(called) && !LLVMIsAInlineAsm(called))
            g->nodes[node].indirect = true;
    }
    for (int i = 0; i < n; i++)
        mention(g, node, LLVMGetOperand(instruction, (unsigned)i), i == callee);
}

static void scan_function(struct ir_graph *g, unsigned node)
{
    IR_EACH_INSTRUCTION_OF(instruction, g->nodes[node].value)
        scan_instruction(g, node, instruction);
}

struct ir_graph *ir_graph_build(LLVMModuleRef module)
{
    struct ir_graph *g = mem_array(1, sizeof *g);
    unsigned count = 0;
    IR_EACH_FUNCTION(f, module)
        count++;
    IR_EACH_GLOBAL(v, module)
        count++;
    for (g->room = 64; g->room < 3 * count; g->room *= 2)
        ;
    g->nodes = mem_array(count, sizeof *g->nodes);
    g->keys = mem_array(g->room, sizeof *g->keys);
    g->index = mem_array(g->room, sizeof *g->index);
    IR_EACH_FUNCTION(f, module)
        add_node(g, f, !LLVMIsDeclaration(f));
    IR_EACH_GLOBAL(v, module)
        add_node(g, v, !LLVMIsDeclaration(v));
    for (unsigned i = 0; i < g->n; i++) {
        LLVMValueRef v = g->nodes[i].value;
        if (LLVMIsAFunction(v))
            scan_function(g, i);
        else if (LLVMGetInitializer(v) && !text_starts(ir_name(v), "llvm."))
            mention(g, i, LLVMGetInitializer(v), false);
    }
    return g;
}

static void reach_node(unsigned node, unsigned via, int *from, unsigned *queue, unsigned *tail)
{
    if (from[node] >= 0)
        return;
    from[node] = (int)via;
    queue[(*tail)++] = node;
}

void ir_graph_reach(const struct ir_graph *g, LLVMValueRef start, int *from,
                    bool (*leaf)(const struct ir_node *))
{
    unsigned *queue = mem_array(g->n, sizeof *queue), head = 0, tail = 0;
    unsigned root = (unsigned)ir_graph_find(g, start);
    bool any_indirect = false;
    for (unsigned i = 0; i < g->n; i++)
        from[i] = -1;
    reach_node(root, root, from, queue, &tail);
    while (head < tail) {
        unsigned at = queue[head++];
        const struct ir_node *node = &g->nodes[at];
        if (leaf && leaf(node))
            continue;
        for (unsigned i = 0; i < node->nedges; i++)
            reach_node(node->edges[i], at, from, queue, &tail);
        if (node->indirect && !any_indirect) {
            any_indirect = true;
            for (unsigned i = 0; i < g->n; i++)
                if (g->nodes[i].address_taken && LLVMIsAFunction(g->nodes[i].value))
                    reach_node(i, at, from, queue, &tail);
        }
    }
}

static bool node_reaches(const struct ir_node *node, const bool *set, bool indirect_reaches)
{
    if (node->indirect && indirect_reaches)
        return true;
    for (unsigned i = 0; i < node->nedges; i++)
        if (set[node->edges[i]])
            return true;
    return false;
}

/* A plain fixpoint: device modules have some hundred functions and shallow call chains. */
void ir_graph_reaching(const struct ir_graph *g, bool *set)
{
    for (bool changed = true; changed;) {
        changed = false;
        bool indirect_reaches = false;
        for (unsigned i = 0; i < g->n; i++)
            indirect_reaches |=
                set[i] && g->nodes[i].address_taken && LLVMIsAFunction(g->nodes[i].value);
        for (unsigned i = 0; i < g->n; i++)
            if (!set[i] && node_reaches(&g->nodes[i], set, indirect_reaches))
                changed = set[i] = true;
    }
}

bool *ir_graph_reaching_parallel(const struct ir_graph *g, LLVMModuleRef module)
{
    bool *set = mem_array(g->n, sizeof *set);
    set[ir_graph_find(g, LLVMGetNamedFunction(module, "__ompgpu_parallel"))] = true;
    ir_graph_reaching(g, set);
    return set;
}

bool ir_reaches(LLVMModuleRef module, LLVMValueRef f, bool (*is)(const struct ir_node *, void *),
                void *data)
{
    struct ir_graph *g = ir_graph_build(module);
    int *from = mem_array(g->n, sizeof *from);
    bool found = false;
    ir_graph_reach(g, f, from, NULL);
    for (unsigned i = 0; i < g->n && !found; i++)
        found = from[i] >= 0 && is(&g->nodes[i], data);
    return found;
}
