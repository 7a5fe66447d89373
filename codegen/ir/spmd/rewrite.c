/* rewrite.c - carries a plan out: guards, barriers and direct calls of parallel regions. */
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"
#include "codegen/ir/report/report.h"
#include "codegen/ir/spmd/plan.h"
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

static void build_barrier(const struct spmd_region *r, LLVMBuilderRef b)
{
    LLVMValueRef line = l_i32(r->u, r->kernel->at.line);
    l_call_runtime(r->u, b, "__ompgpu_arch_barrier", &line, 1);
}

/* Uses outside of the group read the broadcast value; those of members end with the members. */
static void read_broadcast(struct spmd_plan *p, LLVMBuilderRef b, const struct spmd_event *e,
                           LLVMValueRef **cells)
{
    struct spmd_group *g = &p->groups[e->group];
    for (unsigned i = 0; i < g->n; i++)
        if (cells[e->group][i])
            LLVMReplaceAllUsesWith(g->members[i], LLVMBuildLoad2(b, LLVMTypeOf(g->members[i]),
                                                                 cells[e->group][i], ""));
}

/* void part(context, size, cond)
 * { if (__ompgpu_part_begin(size, cond)) { fn(context); __ompgpu_part_end(); } } */
static LLVMValueRef build_part(const struct spmd_region *r, LLVMValueRef fn)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(r->u->ctx), i1 = LLVMInt1TypeInContext(r->u->ctx),
                params[] = { l_ptr(r->u), i32, i1 };
    LLVMValueRef f =
        l_add_function(r->u, mem_printf("__ompgpu_part_%s", r->kernel->name), params, 3);
    ir_add_attribute(f, "alwaysinline");
    ir_add_attribute(f, "nounwind");
    ir_set_string_attribute(f, IR_ALL_THREADS, "");
    LLVMValueRef context = LLVMGetParam(f, 0), args[] = { LLVMGetParam(f, 1), LLVMGetParam(f, 2) };
    LLVMBuilderRef b = l_open_function(f);
    LLVMBasicBlockRef follows =
        l_open_if(b, l_call_runtime(r->u, b, "__ompgpu_part_begin", args, 2));
    l_call(b, fn, &context, 1);
    l_call_runtime(r->u, b, "__ompgpu_part_end", NULL, 0);
    l_close_if(b, follows);
    l_close_function(b);
    return f;
}

/* What a region without a num_threads clause, or with one that says nothing, gets of
 * omp_set_num_threads. */
static LLVMValueRef part_size(const struct spmd_region *r, LLVMBuilderRef b, LLVMValueRef clause)
{
    if (!r->nthreads_var)
        return clause;
    LLVMValueRef some = LLVMBuildICmp(b, LLVMIntSGT, clause, l_i32(r->u, 0), "");
    return LLVMBuildSelect(b, some, clause,
                           LLVMBuildLoad2(b, LLVMTypeOf(clause), r->nthreads_var, ""), "");
}

static void call_region(const struct spmd_region *r, LLVMBuilderRef b, LLVMValueRef call)
{
    LLVMValueRef fn = LLVMGetOperand(call, 0), context = LLVMGetOperand(call, 1);
    if (!spmd_is_part(r, call)) {
        l_call(b, fn, &context, 1);
        return;
    }
    LLVMValueRef part = build_part(r, fn),
                 args[] = { context, part_size(r, b, LLVMGetOperand(call, 2)),
                            LLVMGetOperand(call, 3) };
    l_call(b, part, args, 3);
    r->u->partial = true;
}

/* A call that may be inlined must have a place in a function that has places: the region's, where
 * the instruction has none. */
static void locate_builder(const struct spmd_region *r, LLVMBuilderRef b)
{
    LLVMMetadataRef function = LLVMGetSubprogram(r->function);
    if (function && !LLVMGetCurrentDebugLocation2(b))
        LLVMSetCurrentDebugLocation2(
            b, LLVMDIBuilderCreateDebugLocation(r->u->ctx, r->kernel->at.line, 0, function, NULL));
}

/* Into the loop for the main thread, past it for the others. */
static void enter_main_loop(struct spmd_region *r, const struct spmd_plan *p, LLVMBuilderRef b,
                            const struct spmd_main_loop *a)
{
    LLVMBasicBlockRef before = p->blocks[a->loop->preheader].at, after = p->blocks[a->exit].at,
                      header = p->blocks[a->loop->header].at;
    LLVMValueRef jump = LLVMGetBasicBlockTerminator(before);
    LLVMBuildCondBr(b, l_is_main_thread(r->u, b), header, after);
    ir_erase(jump);
    IR_EACH_INSTRUCTION(phi, after) {
        LLVMValueRef nothing = LLVMIsAPHINode(phi) ? LLVMGetPoison(LLVMTypeOf(phi)) : NULL;
        if (nothing)
            LLVMAddIncoming(phi, &nothing, &before, 1);
    }
}

static void rewrite_event(struct spmd_region *r, struct spmd_plan *p, LLVMBuilderRef b,
                          const struct spmd_event *e, LLVMValueRef **cells)
{
    LLVMPositionBuilderBefore(b, e->at); /* takes the debug location over */
    locate_builder(r, b);
    if (e->barrier)
        build_barrier(r, b);
    switch (e->kind) {
    case SPMD_GUARDED: cells[e->group] = spmd_call_guard(r, p, b, e->group); break;
    case SPMD_PARALLEL: call_region(r, b, e->at); break;
    case SPMD_RESET: l_call_runtime(r->u, b, "__ompgpu_part_reset", NULL, 0); break;
    case SPMD_MAIN_LOOP: enter_main_loop(r, p, b, &p->main_loops[e->group]); break;
    case SPMD_STORE_CELLS: spmd_store_cells(r, p, b, &p->main_loops[e->group]); break;
    case SPMD_LOAD_CELLS: spmd_load_cells(p, b, &p->main_loops[e->group]); break;
    case SPMD_LOAD:
        if (e->group >= 0)
            read_broadcast(p, b, e, cells);
        break;
    case SPMD_CALLED: break; /* stands as it is */
    }
    if (e->barrier_after)
        build_barrier(r, b);
}

/* ------------------------------------------------------------------ single instructions */
static LLVMValueRef next_size(const struct spmd_region *r, LLVMBuilderRef b)
{
    if (!r->nthreads_var)
        return l_call_runtime(r->u, b, "__ompgpu_arch_ntid", NULL, 0);
    LLVMValueRef size = LLVMBuildLoad2(b, LLVMInt32TypeInContext(r->u->ctx), r->nthreads_var, "");
    return l_call_runtime(r->u, b, "__ompgpu_part_size", &size, 1);
}

static void set_size(const struct spmd_region *r, LLVMBuilderRef b, LLVMValueRef size)
{
    LLVMValueRef some = LLVMBuildICmp(b, LLVMIntSGT, size, l_i32(r->u, 0), "");
    LLVMValueRef old = LLVMBuildLoad2(b, LLVMTypeOf(size), r->nthreads_var, "");
    LLVMBuildStore(b, LLVMBuildSelect(b, some, size, old, ""), r->nthreads_var);
}

static void fold_call(struct spmd_region *r, LLVMBuilderRef b, const struct spmd_inst *i)
{
    LLVMTypeRef type = LLVMTypeOf(i->value);
    LLVMPositionBuilderBefore(b, i->value);
    r->folded += i->effect.action == SPMD_FOLD;
    if (i->effect.action == SPMD_FOLD && text_starts(spmd_callee(i->value), "omp_"))
        ir_note(r->kernel, ir_place_of(r->kernel, i->value), "OMP180",
                "replaced the call of '%s' by %u, its value in sequential code",
                spmd_callee(i->value), i->effect.value);
    if (i->effect.action == SPMD_FOLD)
        LLVMReplaceAllUsesWith(i->value, LLVMConstInt(type, i->effect.value, false));
    else if (i->effect.action == SPMD_SIZE)
        LLVMReplaceAllUsesWith(i->value, next_size(r, b));
    else if (i->effect.action == SPMD_SET)
        set_size(r, b, LLVMGetOperand(i->value, 0));
}

/* nthreads-var: 0, until omp_set_num_threads is called.  Each thread has its own, and all the same
 * value. */
static void add_nthreads_var(struct spmd_region *r, LLVMBuilderRef b)
{
    if (!r->nthreads_var)
        return;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(r->u->ctx);
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(r->function)));
    r->nthreads_var = LLVMBuildAlloca(b, i32, "nthreads");
    LLVMBuildStore(b, l_i32(r->u, 0), r->nthreads_var);
}

static bool is_replaced(const struct spmd_inst *i)
{
    if (i->main_loop >= 0)
        return i->effect.action == SPMD_FOLD || i->effect.action == SPMD_DROP;
    return i->group >= 0 || (i->effect.action != SPMD_EVERY && i->effect.action != SPMD_CALL);
}

/* ------------------------------------------------------------------ variables */
static LLVMValueRef make_object(struct spmd_region *r, LLVMBuilderRef b,
                                const struct spmd_object *o)
{
    LLVMTypeRef type = LLVMGetAllocatedType(o->alloca);
    uint64_t count = LLVMConstIntGetZExtValue(LLVMGetOperand(o->alloca, 0));
    unsigned align = LLVMGetAlignment(o->alloca);
    if (count != 1)
        type = LLVMArrayType2(type, count);
    if (!o->in_heap)
        return ir_make_shared(r->u, r->function, ir_name(o->alloca), type, align);
    LLVMPositionBuilderBefore(b, o->alloca);
    return ir_make_heap_object(r->u, b, ir_name(o->alloca), l_bool(r->u, true),
                               &r->kernel->heap_bytes, LLVMABISizeOfType(r->u->layout, type),
                               align);
}

static void move_objects(struct spmd_region *r, LLVMBuilderRef b)
{
    for (unsigned i = 0; i < r->nobjects; i++) {
        const struct spmd_object *o = &r->objects[i];
        if (o->storage == SPMD_PRIVATE)
            continue;
        ir_drop_lifetime_marks(o->alloca); /* guards stand where their last member stood */
        if (o->storage == SPMD_MAIN)
            continue;
        LLVMReplaceAllUsesWith(o->alloca, make_object(r, b, o));
        ir_erase(o->alloca);
    }
}

/* ------------------------------------------------------------------ the function */
static void delete_replaced(const struct spmd_plan *p)
{
    for (unsigned i = p->ninsts; i-- > 0;)
        if (is_replaced(&p->insts[i]))
            ir_erase_unneeded(p->insts[i].value);
}

void spmd_rewrite(struct spmd_region *r, struct spmd_plan *p)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->u->ctx);
    LLVMValueRef **cells = mem_array(p->ngroups + 1, sizeof *cells);
    add_nthreads_var(r, b);
    for (unsigned i = 0; i < p->ninsts; i++)
        if (p->insts[i].group < 0)
            fold_call(r, b, &p->insts[i]);
    for (unsigned i = 0; i < p->nblocks; i++)
        for (unsigned e = 0; e < p->blocks[i].nevents; e++)
            rewrite_event(r, p, b, &p->blocks[i].events[e], cells);
    delete_replaced(p);
    /* last: what deletes marks would delete instructions that the plan knows */
    move_objects(r, b);
    LLVMDisposeBuilder(b);
}
