/* spmd.c - late SPMD-zation: a generic kernel whose sequential code all threads can run becomes an
 * SPMD kernel.
 *
 * In generic mode thread 0 runs the code around parallel regions and wakes the others for each
 * region.  Here every thread runs that code: all compute the same values and take the same
 * branches, what others could see is done by thread 0 alone (a guard), and a parallel region is a
 * plain call of its function.  No worker waits in a state machine, and values that a region
 * captures stay in registers.
 *
 *   before: functions are inlined into the region function as far as possible, so that parallel
 * regions in called functions are seen
 *   1. which locals stay private to each thread, which become team-shared slots    (spmd/memory.c, spmd/own.c)
 *   2. what each instruction does to others                                        (spmd/effect.c)
 *   3. guards, barriers, broadcasts: planned, judged, then written                 (spmd/rewrite.c)
 *
 * One obstacle, and the kernel stays as it was; it is kept for the report with its place and what
 * would help. */
#include "codegen/ir/spmd/spmd.h"
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

enum { WORKERS = 1 }; /* flag of struct ir_kernel: it can reach a parallel region */
#define FUNCTION ((LLVMAttributeIndex)LLVMAttributeFunctionIndex)

/* ------------------------------------------------------------------ region functions */
LLVMAttributeRef ir_all_threads(LLVMContextRef ctx)
{
    return LLVMCreateStringAttribute(ctx, IR_ALL_THREADS, (unsigned)strlen(IR_ALL_THREADS), "", 0);
}

/* Who steps through code wants to see one thread in its sequential parts. */
bool ir_wants_spmd(const struct ir_unit *u, const struct ir_input *in)
{
    return in->mode == IR_MODE_SPMD ||
           (in->mode == IR_MODE_AUTO && !(u->opt->level == '0' && u->opt->debug));
}

static bool is_candidate(const struct ir_unit *u, const struct ir_kernel *k)
{
    return k->mode == IR_GENERIC && (k->flags & WORKERS) && ir_wants_spmd(u, k->input);
}

static LLVMValueRef region_function(struct ir_unit *u, const struct ir_kernel *k)
{
    LLVMValueRef f = LLVMGetNamedFunction(u->module, mem_printf("%s__region", k->name));
    return f && !LLVMIsDeclaration(f) && LLVMGetFirstUse(f) && !LLVMGetNextUse(LLVMGetFirstUse(f))
               ? f
               : NULL;
}

static void set_attribute(struct ir_unit *u, LLVMValueRef f, const char *remove, const char *add)
{
    LLVMRemoveEnumAttributeAtIndex(f, FUNCTION, ir_attribute_kind(remove));
    LLVMAddAttributeAtIndex(f, FUNCTION, ir_attribute(u->ctx, add));
}

/* ------------------------------------------------------------------ inlining */
/* a function that is noinline until the modes are chosen */
static const char kept[] = "ompgpu-kept";

static bool is_recursive(const struct ir_graph *g, unsigned node)
{
    int *from = mem_array(g->n, sizeof *from);
    bool cycle = false;
    for (unsigned i = 0; i < g->nodes[node].nedges && !cycle; i++) {
        ir_graph_reach(g, g->nodes[node].edges[i], from, NULL);
        cycle = from[node] >= 0;
    }
    return cycle;
}

static bool has_attribute(LLVMValueRef f, const char *name)
{
    return LLVMGetEnumAttributeAtIndex(f, FUNCTION, ir_attribute_kind(name)) != NULL;
}

/* A promise about a function is of use as long as it is one. */
static bool keep_promised(struct ir_unit *u, const struct ir_graph *g, unsigned node)
{
    LLVMValueRef f = g->nodes[node].value;
    unsigned promises = ir_promises(f);
    if (!g->nodes[node].defined || !(promises & (IR_AMENABLE | IR_NO_PARALLEL)) ||
        has_attribute(f, "noinline") || has_attribute(f, "alwaysinline"))
        return false;
    if (!(promises & IR_AMENABLE) && !spmd_needs_promise(u, f))
        return false;
    LLVMAddAttributeAtIndex(f, FUNCTION, ir_attribute(u->ctx, "noinline"));
    LLVMAddAttributeAtIndex(f, FUNCTION,
                            LLVMCreateStringAttribute(u->ctx, kept, sizeof kept - 1, "", 0));
    return true;
}

static void release_kept(struct ir_unit *u)
{
    IR_EACH_FUNCTION(f, u->module) {
        if (!LLVMGetStringAttributeAtIndex(f, FUNCTION, kept, sizeof kept - 1))
            continue;
        LLVMRemoveStringAttributeAtIndex(f, FUNCTION, kept, sizeof kept - 1);
        LLVMRemoveEnumAttributeAtIndex(f, FUNCTION, ir_attribute_kind("noinline"));
    }
}

static void want_inlined(struct ir_unit *u, const struct ir_graph *g, const bool *reaches_parallel)
{
    for (unsigned i = 0; i < g->n; i++) {
        const struct ir_node *node = &g->nodes[i];
        bool direct = reaches_parallel[i] && !(ir_promises(node->value) & IR_NO_PARALLEL);
        if (!direct && keep_promised(u, g, i))
            continue;
        if (direct && LLVMIsAFunction(node->value) && node->defined && !node->address_taken &&
            !has_attribute(node->value, "noinline") && LLVMGetFirstUse(node->value) &&
            !is_recursive(g, i))
            LLVMAddAttributeAtIndex(node->value, FUNCTION, ir_attribute(u->ctx, "alwaysinline"));
    }
}

/* Functions that hold parallel regions go into the region functions, whatever their size; those
 * stay functions for now. */
static void inline_regions(struct ir_unit *u)
{
    struct ir_graph *g = ir_graph_build(u->module);
    bool *reaches_parallel = mem_array(g->n, sizeof *reaches_parallel);
    reaches_parallel[ir_graph_find(g, LLVMGetNamedFunction(u->module, "__ompgpu_parallel"))] = true;
    ir_graph_reaching(g, reaches_parallel);
    want_inlined(u, g, reaches_parallel);
}

static void simplify(struct ir_unit *u)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    const char *passes =
        u->opt->level == '0'
            ? "always-inline,function(sroa,early-cse,simplifycfg,adce,loop-simplify)"
            : "function(sroa,early-cse,simplifycfg),cgscc(inline,function-attrs),"
              "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,adce,loop-"
              "simplify)";
    LLVMErrorRef failed = LLVMRunPasses(u->module, passes, NULL, options);
    if (failed)
        diag_bug("%s", LLVMGetErrorMessage(failed));
    LLVMDisposePassBuilderOptions(options);
}

/* -------------------------------------------------------------- parallel regions without effect */
static void run_passes(LLVMValueRef f, const char *passes)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef failed = LLVMRunPassesOnFunction(f, passes, NULL, options);
    if (failed)
        diag_bug("%s", LLVMGetErrorMessage(failed));
    LLVMDisposePassBuilderOptions(options);
}

/* Its loops end: those that must are deleted, with nothing in them. */
static bool is_without_effect(LLVMValueRef fn)
{
    if (!LLVMIsAFunction(fn) || LLVMIsDeclaration(fn) || !spmd_is_idle(fn))
        return false;
    if (ir_find_loops(fn).n)
        run_passes(fn, "loop-simplify,lcssa,loop(loop-deletion),simplifycfg,adce");
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
        ir_note(k, ir_place_of(k, i), "OMP160", "a parallel region without effect is removed");
        LLVMInstructionEraseFromParent(i);
        any = true;
    }
    if (any)
        run_passes(f, "sroa,instcombine<no-verify-fixpoint>,simplifycfg,adce,loop-simplify");
}

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

static void prepare(struct ir_unit *u, LLVMValueRef *functions)
{
    inline_regions(u);
    for (unsigned i = 0; i < u->nkernels; i++)
        if (is_candidate(u, &u->kernels[i]) &&
            (functions[i] = region_function(u, &u->kernels[i]))) {
            set_attribute(u, functions[i], "alwaysinline", "noinline");
            localise_parameters(u, functions[i]);
        }
    simplify(u);
    for (unsigned i = 0; i < u->nkernels; i++)
        if (functions[i]) {
            drop_idle_regions(u, &u->kernels[i], functions[i]);
            ir_share_arrays(u, &u->kernels[i], functions[i]);
        }
}

/* ------------------------------------------------------------------ obstacles */
void spmd_refuse(struct spmd_region *r, LLVMValueRef where, const char *why, const char *id,
                 const char *remedy)
{
    if (r->why)
        return;
    r->why = why;
    r->id = id;
    r->remedy = remedy;
    r->where = where;
}

/* ------------------------------------------------------------------ conversion */
static void set_mode(struct ir_unit *u, struct ir_kernel *k)
{
    static const char *const calls[] = { "__ompgpu_kernel_begin", "__ompgpu_kernel_end" };
    IR_EACH_INSTRUCTION_OF(i, ir_kernel_function(u->module, k)) {
        const char *name = LLVMIsACallInst(i) ? spmd_callee(i) : "";
        if (strcmp(name, calls[0]) == 0 || strcmp(name, calls[1]) == 0)
            LLVMSetOperand(i, 1, LLVMConstInt(LLVMTypeOf(LLVMGetOperand(i, 1)), IR_SPMD, false));
    }
    k->mode = IR_SPMD;
    k->late = true;
}

/* Each object that turns out not to be thread 0's own is taken for a slot the next time; loops that
 * would need many barriers are left to thread 0. */
static struct spmd_plan *try_plan(struct spmd_region *r)
{
    *r = (struct spmd_region){ .u = r->u,
                               .kernel = r->kernel,
                               .function = r->function,
                               .objects = r->objects,
                               .alone = r->alone };
    if (r->alone)
        run_passes(r->function, "loop-simplify,lcssa");
    spmd_find_objects(r);
    return r->why ? NULL : spmd_plan(r);
}

static void note_objects(const struct spmd_region *r)
{
    for (unsigned i = 0; i < r->nobjects && r->kernel->input->remarks; i++) {
        const struct spmd_object *o = &r->objects[i];
        struct ir_variable v = ir_variable_of(r->u, r->kernel, o->alloca);
        if (o->place == SPMD_SLOT)
            ir_note_shared(r->u, r->kernel, o->alloca, o->bytes, o->in_heap, IR_LATE_SLOTS);
        else if (v.name)
            ir_note(r->kernel, v.at, "OMP110", "%s is %s", v.text,
                    o->place == SPMD_OWN ? "thread 0's alone: no other touches it"
                                         : "private to each thread");
    }
}

static void note_obstacle(struct ir_kernel *k)
{
    ir_note(k, k->why_at, k->id, "this keeps region '%s' generic: %s%s%s", k->name, k->why,
            k->remedy ? "; " : "", k->remedy ? k->remedy : "");
}

static void convert(struct ir_unit *u, struct ir_kernel *k, LLVMValueRef f)
{
    struct spmd_region r = { .u = u, .kernel = k, .function = f };
    struct spmd_plan *plan;
    do
        plan = try_plan(&r);
    while (r.again);
    if (plan) {
        note_objects(&r);
        spmd_rewrite(&r, plan);
        set_mode(u, k);
        k->guards = r.guards;
        k->broadcast_bytes = r.broadcast_bytes;
        k->parts = r.parts;
        k->placed = r.barriers;
        k->folded = r.folded;
        k->slot_bytes = r.slot_bytes;
        for (unsigned i = 0; i < r.nobjects; i++)
            ++*(r.objects[i].place == SPMD_SLOT  ? &k->slots
                : r.objects[i].place == SPMD_OWN ? &k->own_locals
                                                 : &k->private_locals);
        LLVMAddAttributeAtIndex(f, FUNCTION, ir_all_threads(u->ctx));
    } else {
        k->why = r.why;
        k->id = r.id ? r.id : "OMP121";
        k->remedy = r.remedy;
        k->why_at = ir_place_of(k, r.where);
        note_obstacle(k);
    }
    k->regions = r.regions;
}

static void refuse_flag(const struct ir_kernel *k)
{
    struct ir_place at =
        k->why_at.file ? k->why_at : (struct ir_place){ k->file, k->line, k->column };
    ir_error_at(at.file, at.line, at.column,
                "region '%s' cannot run in SPMD mode, as -fompgpu-mode=spmd demands, because of %s",
                k->name, k->why);
}

static bool convert_all(struct ir_unit *u)
{
    LLVMValueRef parallel = LLVMGetNamedFunction(u->module, "__ompgpu_parallel");
    bool any = false;
    for (unsigned i = 0; i < u->nkernels; i++)
        any |= is_candidate(u, &u->kernels[i]);
    if (!any || !parallel)
        return true;
    LLVMValueRef *functions = mem_array(u->nkernels, sizeof *functions);
    prepare(u, functions);
    for (unsigned i = 0; i < u->nkernels; i++) {
        if (!functions[i])
            continue;
        convert(u, &u->kernels[i], functions[i]);
        if (u->kernels[i].input->mode == IR_MODE_SPMD && u->kernels[i].mode != IR_SPMD)
            refuse_flag(&u->kernels[i]);
    }
    for (unsigned i = 0; i < u->nkernels; i++)
        if (functions[i])
            set_attribute(u, functions[i], "noinline", "alwaysinline");
    release_kept(u);
    return diag_errors() == 0;
}

bool ir_spmd(struct ir_unit *u)
{
    ir_mark_variables(u);
    ir_begin_assuming(u);
    bool ok = convert_all(u);
    ir_end_assuming(u);
    return ok;
}
