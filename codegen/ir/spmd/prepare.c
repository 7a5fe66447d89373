/* prepare.c - region functions made ready: functions with parallel regions inlined into them,
 * regions without effect removed, parameters in memory made locals. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/passes/passes.h"
#include "codegen/ir/report/report.h"
#include "codegen/ir/spmd/spmd.h"
#include <stdlib.h>

static bool is_generic(const struct ir_kernel *k)
{
    return k->mode == IR_GENERIC && (k->flags & OMPGPU_KERNEL_WORKERS);
}

static bool is_candidate(const struct ir_unit *u, const struct ir_kernel *k)
{
    return is_generic(k) && ir_wants_spmd(u, k->input);
}

/* The kernel calls it, once, and nobody else does. */
static LLVMValueRef region_function(struct ir_unit *u, const struct ir_kernel *k)
{
    IR_EACH_INSTRUCTION_OF(i, ir_kernel_function(u->module, k)) {
        LLVMValueRef f = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
        if (f && ir_string_attribute(f, IR_REGION))
            return LLVMIsDeclaration(f) || LLVMGetNextUse(LLVMGetFirstUse(f)) ? NULL : f;
    }
    return NULL;
}

static void replace_attribute(LLVMValueRef f, const char *old, const char *attribute)
{
    ir_remove_attribute(f, old);
    ir_add_attribute(f, attribute);
}

/* ------------------------------------------------------------------ inlining */
/* a function that is noinline until the modes are chosen; its value is what it is again then */
static const char kept[] = "ompgpu.kept";

static bool is_recursive(const struct ir_graph *g, unsigned node)
{
    int *from = mem_array(g->n, sizeof *from);
    bool cycle = false;
    for (unsigned i = 0; i < g->nodes[node].nedges && !cycle; i++) {
        ir_graph_reach(g, g->nodes[g->nodes[node].edges[i]].value, from, NULL);
        cycle = from[node] >= 0;
    }
    return cycle;
}

/* An assumption about a function is of use as long as it is one. */
static bool keep_assumed(struct ir_unit *u, const struct ir_graph *g, unsigned node)
{
    LLVMValueRef f = g->nodes[node].value;
    unsigned assumptions = ir_assumptions(f);
    if (!g->nodes[node].defined || !(assumptions & (IR_SPMD_AMENABLE | IR_NO_PARALLELISM)) ||
        ir_has(f, "noinline") || ir_has(f, "alwaysinline"))
        return false;
    if (!(assumptions & IR_SPMD_AMENABLE) && !spmd_needs_assumption(u, f))
        return false;
    ir_add_attribute(f, "noinline");
    ir_set_string_attribute(f, kept, "");
    return true;
}

static void release_kept(struct ir_unit *u)
{
    IR_EACH_FUNCTION(f, u->module) {
        const char *was = ir_string_attribute(f, kept);
        if (!was)
            continue;
        ir_remove_attribute(f, "noinline");
        if (*was)
            ir_add_attribute(f, was);
        LLVMRemoveStringAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kept,
                                         sizeof kept - 1);
    }
}

static void want_inlined(struct ir_unit *u, const struct ir_graph *g, const bool *reaches_parallel)
{
    for (unsigned i = 0; i < g->n; i++) {
        const struct ir_node *node = &g->nodes[i];
        bool direct = reaches_parallel[i] && !(ir_assumptions(node->value) & IR_NO_PARALLELISM);
        if (!direct && keep_assumed(u, g, i))
            continue;
        if (direct && LLVMIsAFunction(node->value) && node->defined && !node->address_taken &&
            !ir_has(node->value, "noinline") && LLVMGetFirstUse(node->value) && !is_recursive(g, i))
            ir_add_attribute(node->value, "alwaysinline");
    }
}

/* Functions that hold parallel regions go into the region functions, whatever their size; those
 * stay functions for now. */
static void inline_regions(struct ir_unit *u)
{
    struct ir_graph *g = ir_graph_build(u->module);
    bool *reaches_parallel = ir_graph_reaching_parallel(g, u->module);
    want_inlined(u, g, reaches_parallel);
}

static void simplify(struct ir_unit *u)
{
    const char *passes =
        u->opt->level == '0'
            ? "always-inline,function(sroa,early-cse,simplifycfg,adce,loop-simplify)"
            : "function(sroa,early-cse,simplifycfg),cgscc(inline,function-attrs),"
              "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,adce,loop-"
              "simplify)";
    ir_run_passes(u->module, passes, NULL);
}

/* ------------------------------------------------------------- parallel regions without effect */
/* Its loops end: those that must are deleted, with nothing in them. */
static bool is_without_effect(LLVMValueRef fn)
{
    if (!LLVMIsAFunction(fn) || LLVMIsDeclaration(fn) || !spmd_is_idle(fn))
        return false;
    if (ir_find_loops(fn).n)
        ir_run_function_passes(fn, "loop-simplify,lcssa,loop(loop-deletion),simplifycfg,adce",
                               NULL);
    return !ir_find_loops(fn).n;
}

/* Only its fork and join would be left of it. */
static void drop_idle_regions(struct ir_unit *u, struct ir_kernel *k, LLVMValueRef f)
{
    bool any = false;
    IR_EACH_INSTRUCTION_OF(i, f) {
        if (!spmd_is_parallel(i) || u->opt->level == '0' ||
            !is_without_effect(LLVMGetOperand(i, 0)))
            continue;
        ir_note(k, ir_place_of(k, i), "OMP160", "removed a parallel region without effect");
        ir_erase(i);
        any = true;
    }
    if (any)
        ir_run_function_passes(
            f, "sroa,instcombine<no-verify-fixpoint>,simplifycfg,adce,loop-simplify", NULL);
}

/* ------------------------------------------------------------------ parameters */
/* A parameter that is passed by value in memory is each thread's own object: it becomes a local,
 * for which the rules of locals hold. */
static void localise_parameters(struct ir_unit *u, LLVMValueRef f)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f));
    for (unsigned i = 0, n = LLVMCountParams(f); i < n; i++) {
        LLVMValueRef param = LLVMGetParam(f, i);
        LLVMAttributeRef byval = LLVMGetEnumAttributeAtIndex(f, i + 1, ir_attribute_kind("byval"));
        if (!byval)
            continue;
        LLVMTypeRef type = LLVMGetTypeAttributeValue(byval);
        unsigned align = LLVMABIAlignmentOfType(u->layout, type);
        LLVMPositionBuilderBefore(b, first);
        LLVMValueRef local = LLVMBuildAlloca(b, type, "");
        LLVMSetAlignment(local, align);
        LLVMReplaceAllUsesWith(param, local);
        LLVMBuildMemCpy(b, local, align, param, align,
                        LLVMConstInt(LLVMInt64TypeInContext(u->ctx),
                                     LLVMABISizeOfType(u->layout, type), false));
    }
    LLVMDisposeBuilder(b);
}

static bool any_candidate(const struct ir_unit *u)
{
    for (unsigned i = 0; i < u->nkernels; i++)
        if (is_candidate(u, &u->kernels[i]))
            return true;
    return false;
}

bool spmd_prepare(struct ir_unit *u, LLVMValueRef *functions)
{
    if (!any_candidate(u) || !LLVMGetNamedFunction(u->module, "__ompgpu_parallel"))
        return false;
    inline_regions(u);
    for (unsigned i = 0; i < u->nkernels; i++) {
        const struct ir_kernel *k = &u->kernels[i];
        LLVMValueRef f = is_generic(k) ? region_function(u, k) : NULL;
        if (!f)
            continue;
        replace_attribute(f, "alwaysinline", "noinline");
        if (is_candidate(u, k)) {
            functions[i] = f;
            localise_parameters(u, f);
        } else { /* of a file that wants it generic: sequential code is that of a function */
            ir_set_string_attribute(f, kept, "alwaysinline");
        }
    }
    simplify(u);
    for (unsigned i = 0; i < u->nkernels; i++)
        if (functions[i]) {
            drop_idle_regions(u, &u->kernels[i], functions[i]);
            ir_share_arrays(u, &u->kernels[i], functions[i]);
        }
    return true;
}

/* Sequential code that all threads run is inlined into its kernel in the end. */
void spmd_finish(struct ir_unit *u, LLVMValueRef *functions)
{
    for (unsigned i = 0; i < u->nkernels; i++)
        if (functions[i])
            replace_attribute(functions[i], "noinline", "alwaysinline");
    release_kept(u);
}
