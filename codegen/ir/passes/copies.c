/* copies.c - how much of the team heap private copies of reduced arrays take
 * (devicertl/storage.c).
 *
 * Next to each place that takes some, the C writer has put a call of __ompgpu_copy_needs, which
 * says what is constant there and what is known of the rest.  Constructs in a row take the same
 * place, and what is nested adds up:
 *
 *   need of a function = what its own constructs take at most + the largest need of the functions
 * that it may call
 *
 *   region function, sequential code --> blocks of the team           the functions of parallel
 *                                                                     regions count for themselves
 *   functions of parallel regions    --> the slice of a thread        nested ones are serialised:
 *                                                                     calls
 *
 * Calls about room after copies, which checked images have, are deleted in the others.
 *
 * What the host can foresee it adds to the slice.  What is not known then, recursion included, has
 * a share of fixed size, which the user may set.  */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"
#include "devicertl/ompgpu_device.h"
#include <stdlib.h>
#include <string.h>

enum {
    FORESEEN = __OMPGPU_COPY_FORESEEN,
    UNKNOWN = __OMPGPU_COPY_UNKNOWN,
    OF_TEAM = __OMPGPU_COPY_OF_TEAM
};
struct need {
    uint64_t bytes;
    unsigned rest;
};
enum progress { NEW, ACTIVE, DONE };

struct walk {
    const struct ir_graph *g;
    const struct need *own; /* by node */
    bool (*leaf)(const struct ir_node *);
    struct need *found; /* by node */
    enum progress *state;
    bool *cycle; /* it was reached while active */
};

/* ------------------------------------------------------------------ what the C writer says */
static struct need *collect(const struct ir_graph *g, LLVMValueRef marker)
{
    struct need *own = mem_array(g->n, sizeof *own);
    IR_EACH_USE(use, marker) {
        LLVMValueRef call = LLVMGetUser(use);
        struct need *n = &own[ir_graph_find(g, ir_function_of(call))];
        for (unsigned i = 0; i < 3; i++)
            if (!LLVMIsAConstantInt(LLVMGetOperand(call, i)))
                diag_bug("an argument of __ompgpu_copy_needs is not constant");
        uint64_t bytes = LLVMConstIntGetZExtValue(LLVMGetOperand(call, 0)) +
                         LLVMConstIntGetZExtValue(LLVMGetOperand(call, 1));
        n->bytes = bytes > n->bytes ? bytes : n->bytes;
        n->rest |= (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(call, 2));
        ir_erase(call);
    }
    return own;
}

/* ------------------------------------------------------------------ the call graph */
static void visit(struct walk *w, unsigned node);

static void step(struct walk *w, struct need *most, unsigned to)
{
    if (!LLVMIsAFunction(w->g->nodes[to].value) || (w->leaf && w->leaf(&w->g->nodes[to])))
        return;
    visit(w, to);
    most->bytes = w->found[to].bytes > most->bytes ? w->found[to].bytes : most->bytes;
    most->rest |= w->found[to].rest;
}

/* A cycle's need is not known if there is any. */
static void visit(struct walk *w, unsigned node)
{
    if (w->state[node] != NEW) {
        w->cycle[node] |= w->state[node] == ACTIVE;
        return;
    }
    struct need most = { 0 };
    const struct ir_node *n = &w->g->nodes[node];
    w->state[node] = ACTIVE;
    for (unsigned i = 0; i < n->nedges; i++)
        step(w, &most, n->edges[i]);
    for (unsigned i = 0; n->indirect && i < w->g->n; i++)
        if (w->g->nodes[i].address_taken)
            step(w, &most, i);
    most.bytes += w->own[node].bytes;
    most.rest |= w->own[node].rest;
    if (w->cycle[node] && most.bytes)
        most.rest |= UNKNOWN;
    w->found[node] = most;
    w->state[node] = DONE;
}

static struct walk start(const struct ir_graph *g, const struct need *own,
                         bool (*leaf)(const struct ir_node *))
{
    return (struct walk){ g,
                          own,
                          leaf,
                          mem_array(g->n, sizeof(struct need)),
                          mem_array(g->n, sizeof(enum progress)),
                          mem_array(g->n, 1) };
}

/* ------------------------------------------------------------------ kernels */
static void note_slice(struct ir_kernel *k, struct need n)
{
    k->copy_bytes = n.bytes > k->copy_bytes ? n.bytes : k->copy_bytes;
    k->flags |= n.rest & UNKNOWN ? OMPGPU_KERNEL_COPIES : 0;
    k->more_copies |= n.rest & FORESEEN;
}

static void size_kernel(struct ir_unit *u, struct ir_kernel *k, struct walk *sequential,
                        struct walk *inside)
{
    const struct ir_graph *g = inside->g;
    LLVMValueRef f = ir_kernel_function(u->module, k);
    unsigned kernel = (unsigned)ir_graph_find(g, f);
    if (k->mode == IR_SPMD) {
        visit(inside, kernel);
        note_slice(k, inside->found[kernel]);
        return;
    }
    visit(sequential, kernel);
    k->block_bytes = sequential->found[kernel].bytes;
    k->more_copies |= sequential->found[kernel].rest & OF_TEAM;
    k->flags |= sequential->found[kernel].rest & (FORESEEN | UNKNOWN) ? OMPGPU_KERNEL_HEAP : 0;
    int *from = mem_array(g->n, sizeof *from);
    ir_graph_reach(g, f, from, ir_is_outlined);
    for (unsigned i = 0; i < g->n; i++)
        if (from[i] >= 0 && ir_is_outlined(&g->nodes[i])) {
            visit(inside, i);
            note_slice(k, inside->found[i]);
        }
}

/* ------------------------------------------------------------------ room after copies */
static void replace_calls(const struct ir_unit *u, const char *name,
                          LLVMValueRef (*value)(const struct ir_unit *, LLVMValueRef call))
{
    LLVMValueRef f = LLVMGetNamedFunction(u->module, name);
    if (!f)
        return;
    IR_EACH_USE(use, f) {
        LLVMValueRef call = LLVMGetUser(use);
        if (value)
            LLVMReplaceAllUsesWith(call, value(u, call));
        ir_erase(call);
    }
    LLVMDeleteFunction(f);
}

static LLVMValueRef first_operand(const struct ir_unit *u, LLVMValueRef call)
{
    (void)u;
    return LLVMGetOperand(call, 0);
}

static LLVMValueRef no_bytes(const struct ir_unit *u, LLVMValueRef call)
{
    (void)call;
    return l_i64(u, 0);
}

/* Where no image has any, nobody is to think about it. */
static void drop_room(const struct ir_unit *u)
{
    if (ir_has_guards(u))
        return;
    replace_calls(u, "__ompgpu_copy_begin", first_operand);
    replace_calls(u, "__ompgpu_copy_end", NULL);
    replace_calls(u, "__ompgpu_copy_room", no_bytes);
}

bool ir_size_copies(struct ir_unit *u)
{
    drop_room(u);
    LLVMValueRef marker = LLVMGetNamedFunction(u->module, "__ompgpu_copy_needs");
    if (!marker)
        return true;
    struct ir_graph *g = ir_graph_build(u->module);
    struct need *own = collect(g, marker);
    struct walk sequential = start(g, own, ir_is_outlined), inside = start(g, own, NULL);
    for (unsigned i = 0; i < u->nkernels; i++)
        size_kernel(u, &u->kernels[i], &sequential, &inside);
    LLVMDeleteFunction(marker);
    return true;
}
