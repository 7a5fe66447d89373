/* agree.c - which kernels of a module agree, so that they can share device code (sets.c).
 *
 * Kernels agree when they have the same mode, can reach the same regions, both or neither can
 * allocate blocks for a team and, in generic mode with regions, they reach the same entries of the
 * runtime.  Kernels that may
 * call an address that depends on the kernel, or start a region that is not a constant, belong to
 * the home, together with all these functions: there nobody assumes anything.
 *
 * Growth is limited: once the copies are GROWTH times the module, kernels stay with the home and
 * pay for each other as they did. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/passes/passes.h"
#include <stdlib.h>
#include <string.h>

enum { GROWTH = 3, SMALL = 3000 }; /* SMALL: instructions of copies that are always allowed */

/* of one kernel; size: instructions that are its set's own */
struct needs {
    bool *nodes, unknown, team_memory;
    unsigned size;
};

static bool is_runtime_call(LLVMValueRef user)
{
    LLVMValueRef callee = LLVMIsACallInst(user) ? LLVMGetCalledValue(user) : NULL;
    return callee && LLVMIsAFunction(callee) && LLVMIsDeclaration(callee) &&
           text_starts(ir_name(callee), "__ompgpu_");
}

/* Is operand i of a call the callee, or something handed to the runtime, which calls it and keeps
 * nothing? */
bool ir_is_for_call(LLVMValueRef user, unsigned i)
{
    return LLVMIsACallInst(user) &&
           (is_runtime_call(user) || i + 1 == (unsigned)LLVMGetNumOperands(user));
}

/* Constants that nothing uses any more are still in the list of uses. */
static bool takes_address(LLVMValueRef user, LLVMValueRef f)
{
    if (LLVMIsAGlobalVariable(user))
        return true;
    if (LLVMIsAInstruction(user)) {
        for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(user); i++)
            if (LLVMGetOperand(user, i) == f && !ir_is_for_call(user, i))
                return true;
        return false;
    }
    IR_EACH_USE(use, user)
        if (LLVMIsAInstruction(LLVMGetUser(use)) || takes_address(LLVMGetUser(use), f))
            return true;
    return false;
}

static bool has_address_taken(LLVMValueRef f)
{
    IR_EACH_USE(use, f)
        if (takes_address(LLVMGetUser(use), f))
            return true;
    return false;
}

static bool is_plain_declaration(const struct ir_node *node)
{
    const char *name = ir_name(node->value);
    return *ir_intrinsic(node->value) || ir_is_math_name(name) || !LLVMIsAFunction(node->value);
}

/* Regions and helpers that the runtime calls depend on the kernel as the runtime does. */
static void note_runtime_call(struct ir_study *s, LLVMValueRef call)
{
    bool parallel = ir_is_call_of(call, "__ompgpu_parallel");
    for (unsigned i = 0, n = LLVMGetNumArgOperands(call); i < n; i++) {
        LLVMValueRef f = LLVMGetOperand(call, i);
        if (!LLVMIsAFunction(f))
            continue;
        int node = ir_graph_find(s->g, f);
        s->depends[node] = true;
        s->region[node] |= parallel && i == 0;
    }
}

static void study_function(struct ir_study *s, LLVMValueRef f)
{
    IR_EACH_INSTRUCTION_OF(i, f)
        if (is_runtime_call(i))
            note_runtime_call(s, i);
}

static void study_module(struct ir_study *s)
{
    struct ir_graph *g = s->g;
    for (unsigned i = 0; i < g->n; i++) {
        struct ir_node *node = &g->nodes[i];
        if (!*ir_name(node->value))
            LLVMSetValueName2(node->value, "__ompgpu_unnamed", 16);
        s->address[i] = node->address_taken =
            LLVMIsAFunction(node->value) && has_address_taken(node->value);
        s->depends[i] |=
            (!node->defined && !is_plain_declaration(node)) || ir_is_team_shared(s->u, node->value);
        if (LLVMIsAFunction(node->value))
            study_function(s, node->value);
    }
    for (unsigned k = 0; k < s->u->nkernels; k++) {
        int node = ir_graph_find(g, ir_kernel_function(s->u->module, &s->u->kernels[k]));
        s->kernel[node] = k + 1;
        s->depends[node] = true;
    }
    ir_graph_reaching(g, s->depends);
}

/* ------------------------------------------------------------------ which kernels agree */
static unsigned count_instructions(LLVMValueRef f)
{
    unsigned n = 0;
    IR_EACH_INSTRUCTION_OF(i, f)
        n++;
    return n;
}

static bool starts_unknown(LLVMValueRef f)
{
    IR_EACH_INSTRUCTION_OF(i, f)
        if (is_runtime_call(i) && ir_is_call_of(i, "__ompgpu_parallel") &&
            !LLVMIsAFunction(LLVMGetOperand(i, 0)))
            return true;
    return false;
}

/* Something can be called through a pointer that depends on the kernel. */
static bool any_address(const struct ir_study *s)
{
    for (unsigned i = 0; i < s->g->n; i++)
        if (s->address[i] && s->depends[i])
            return true;
    return false;
}

static bool reaches_region(const struct ir_study *s, const int *from)
{
    for (unsigned i = 0; i < s->g->n; i++)
        if (from[i] >= 0 && s->region[i])
            return true;
    return false;
}

static struct needs find_needs(const struct ir_study *s, const struct ir_kernel *k)
{
    const struct ir_graph *g = s->g;
    struct needs needs = { .nodes = mem_array(g->n, sizeof *needs.nodes) };
    int *from = mem_array(g->n, sizeof *from);
    ir_graph_reach(g, ir_kernel_function(s->u->module, k), from, NULL);
    bool addresses = any_address(s), entries = k->mode == IR_GENERIC && reaches_region(s, from);
    for (unsigned i = 0; i < g->n; i++) {
        const struct ir_node *node = &g->nodes[i];
        if (from[i] < 0 || !LLVMIsAFunction(node->value))
            continue;
        needs.unknown |= (node->indirect && addresses) || starts_unknown(node->value);
        needs.nodes[i] = s->region[i] || (entries && !node->defined && s->depends[i]);
        needs.team_memory = needs.team_memory || ir_allocates_for_team(s->u, node->value);
        if (node->defined && s->depends[i])
            needs.size += count_instructions(node->value);
    }
    return needs;
}

static bool agree(const struct ir_study *s, const struct needs *needs, unsigned a, unsigned b)
{
    const struct ir_kernel *x = &s->u->kernels[a], *y = &s->u->kernels[b];
    if (needs[a].unknown || needs[b].unknown)
        return needs[a].unknown && needs[b].unknown;
    return x->mode == y->mode && !x->partial == !y->partial && x->queries == y->queries &&
           needs[a].team_memory == needs[b].team_memory &&
           memcmp(needs[a].nodes, needs[b].nodes, s->g->n * sizeof *needs->nodes) == 0;
}

/* The home is number 0. */
static void make_sets(struct ir_study *s)
{
    const struct ir_unit *u = s->u;
    struct needs *needs = mem_array(u->nkernels, sizeof *needs);
    unsigned all = 0, copies = 0, home = 0;
    IR_EACH_FUNCTION(f, u->module)
        all += count_instructions(f);
    for (unsigned k = 0; k < u->nkernels; k++) {
        needs[k] = find_needs(s, &u->kernels[k]);
        if (needs[k].unknown && !needs[home].unknown)
            home = k;
    }
    s->nsets = 1;
    for (unsigned k = 0; k < u->nkernels; k++) {
        unsigned other = 0;
        while (other < k && !agree(s, needs, k, other))
            other++;
        if (agree(s, needs, k, home)) {
            s->set[k] = 0;
        } else if (other < k) {
            s->set[k] = s->set[other];
        } else if (copies + needs[k].size <= SMALL + GROWTH * all) {
            s->set[k] = s->nsets++;
            copies += needs[k].size;
        }
    }
}

struct ir_study *ir_study_kernels(struct ir_unit *u)
{
    struct ir_study *s = mem_array(1, sizeof *s);
    *s = (struct ir_study){ .u = u,
                            .g = ir_graph_build(u->module),
                            .set = mem_array(u->nkernels, sizeof *s->set) };
    s->depends = mem_array(s->g->n, sizeof *s->depends);
    s->region = mem_array(s->g->n, sizeof *s->region);
    s->address = mem_array(s->g->n, sizeof *s->address);
    s->kernel = mem_array(s->g->n, sizeof *s->kernel);
    study_module(s);
    make_sets(s);
    return s;
}
